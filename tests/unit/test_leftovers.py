"""The search for processes that tests leave behind."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.leftovers import end_all, left_running

pytestmark = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="processes are read from /proc")
WAITS = [sys.executable, "-I", "-S", "-c", "input()"]


@pytest.mark.parametrize("trace", ["folder", "variable", "file", "argument"])
def test_process_of_a_folder_is_told(tmp_path: Path, trace: str) -> None:
    own, other = tmp_path / "집", tmp_path / "other"
    own.mkdir()
    with (own / "log").open("w") as log:
        process = subprocess.Popen(
            [*WAITS, *([str(own)] if trace == "argument" else [])],
            stdin=subprocess.PIPE,
            stdout=log if trace == "file" else subprocess.DEVNULL,
            cwd=own if trace == "folder" else "/",
            env={"MEMLAYER_HOME": str(own)} if trace == "variable" else {},
        )
    try:
        assert "input()" in left_running(own, grace_s=0)[process.pid]
        assert left_running(other, grace_s=0) == {}
    finally:
        process.communicate(b"\n", timeout=20)
    assert left_running(own) == {}


def test_processes_of_a_folder_are_ended(tmp_path: Path) -> None:
    process = subprocess.Popen(WAITS, stdin=subprocess.PIPE, cwd=tmp_path)
    end_all(tmp_path)
    assert process.wait(20) < 0
    assert process.stdin is not None
    process.stdin.close()
