"""The version on a machine without a runtime: at once, and nothing is made."""

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


@pytest.mark.parametrize("words", [["stats"], ["--help"], ["remember", "--", "doctor"], []])
def test_work_needs_a_runtime(tmp_path: Path, words: list[str]) -> None:
    done = launched(tmp_path, *words, MEMLAYER_RUNTIME_DIR=str(tmp_path / "none"))
    assert done.returncode == 1 and "MEMLAYER_RUNTIME_DIR" in done.stderr


@pytest.mark.parametrize("words", [["doctor", "--frobnicate"], ["--version", "이제"]])
def test_wrong_words_are_a_usage_error(tmp_path: Path, words: list[str]) -> None:
    assert launched(tmp_path, *words).returncode == 2


def test_doctor_on_a_fresh_machine_finds_nothing_wrong(tmp_path: Path) -> None:
    done = launched(tmp_path, "doctor")
    assert "not built yet" in done.stdout and "the next session builds it" in done.stdout
    assert "At risk" not in done.stdout and "fail" not in done.stdout


def test_doctor_fails_where_a_build_was_left(tmp_path: Path) -> None:
    (tmp_path / "기억" / "runtime").mkdir(parents=True, mode=0o700)
    done = launched(tmp_path, "doctor")
    assert done.returncode == 1 and "run `memlayer setup`" in done.stdout
