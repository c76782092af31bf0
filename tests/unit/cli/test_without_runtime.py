"""The version on a machine without a runtime: at once, and nothing is made."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BASE_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))


def launched(home: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    """bin/memlayer in an empty home, with a Python that has no packages."""
    environment = {"PATH": os.defpath, "HOME": str(home), "MEMLAYER_HOME": str(home / "기억"), **more}
    return subprocess.run(
        [BASE_PYTHON, "-I", "-S", str(ROOT / "bin" / "memlayer"), *words],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30,
    )  # fmt: skip


@pytest.mark.parametrize("words", [["--version"], ["--version", "--json"]])
def test_version_needs_no_runtime(tmp_path: Path, words: list[str]) -> None:
    done = launched(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "") and "memlayer" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["stats"], ["--help"], ["daemon", "status"], ["remember", "--", "doctor"], []])
def test_work_needs_a_runtime(tmp_path: Path, words: list[str]) -> None:
    done = launched(tmp_path, *words, MEMLAYER_RUNTIME_DIR=str(tmp_path / "none"))
    assert done.returncode == 1 and "MEMLAYER_RUNTIME_DIR" in done.stderr


@pytest.mark.parametrize("words", [["doctor", "--frobnicate"], ["--version", "이제"]])
def test_wrong_words_are_a_usage_error(tmp_path: Path, words: list[str]) -> None:
    assert launched(tmp_path, *words).returncode == 2
