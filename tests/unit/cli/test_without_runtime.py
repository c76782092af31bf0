"""Help, version and completion on a machine without a runtime: at once, and nothing is made."""

from __future__ import annotations

import json
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


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["--help"], "memlayer [--version] VERB"),
        (["-h"], "memlayer [--version] VERB"),
        (["search", "--help"], "memlayer search [OPTIONS]"),
        (["search", "결제", "모듈", "-h"], "memlayer search [OPTIONS]"),
        (["list", "--project", "/집", "--help"], "memlayer list [OPTIONS]"),
        (["--help", "stats"], "memlayer stats [OPTIONS]"),
        (["task", "--help"], "memlayer task [OPTIONS] [COMMAND]"),
        (["store", "quarantine", "drop", "--help"], "memlayer store quarantine drop [OPTIONS]"),
        (["show", "--around", "--help"], "memlayer show --around [OPTIONS]"),
        (["task", "list", "--help"], "memlayer task list [OPTIONS]"),
        (["task", "add", "--help"], "memlayer task add [OPTIONS]"),
        (["team", "push", "-h"], "memlayer team push [OPTIONS]"),
        (["config", "set", "recall.enabled", "--help"], "memlayer config set [OPTIONS]"),
        (["setup", "--help"], "memlayer setup [OPTIONS]"),
        (["mcp", "install", "--help"], "memlayer mcp install [OPTIONS]"),
        (["completion", "--help"], "memlayer completion [OPTIONS]"),
        (["no-such-verb", "--help"], "memlayer [--version] VERB"),
    ],
)
def test_help_needs_no_runtime(tmp_path: Path, words: list[str], usage: str) -> None:
    done = launched(tmp_path, *words)
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith(f"Usage: {usage}") and done.stdout.rstrip().count("Usage: ") == 1
    assert list(tmp_path.iterdir()) == []


def test_no_word_at_all_is_a_usage_error(tmp_path: Path) -> None:
    done = launched(tmp_path)
    assert (done.returncode, done.stdout.startswith("Usage: memlayer [--version] VERB")) == (2, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_needs_no_runtime(tmp_path: Path, shell: str) -> None:
    done = launched(tmp_path, "completion", shell)
    assert (done.returncode, done.stderr) == (0, "") and "_MEMLAYER_COMPLETE" in done.stdout
    as_json = json.loads(launched(tmp_path, "completion", shell, "--json").stdout)
    assert as_json == {"shell": shell, "script": done.stdout}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["completion"], ["completion", "tcsh"]])
def test_completion_of_no_known_shell_is_a_usage_error(tmp_path: Path, words: list[str]) -> None:
    assert launched(tmp_path, *words).returncode == 2


@pytest.mark.parametrize("words", [["--version"], ["--version", "--json"]])
def test_version_needs_no_runtime(tmp_path: Path, words: list[str]) -> None:
    done = launched(tmp_path, *words)
    assert (done.returncode, done.stderr) == (0, "") and "memlayer" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("words", [["stats"], ["search", "--", "--help"], ["remember", "--", "-h"]])
def test_work_still_needs_a_runtime(tmp_path: Path, words: list[str]) -> None:
    """Behind `--` stands text, not a question for help."""
    done = launched(tmp_path, *words, MEMLAYER_RUNTIME_DIR=str(tmp_path / "none"))
    assert done.returncode == 1 and "MEMLAYER_RUNTIME_DIR" in done.stderr
