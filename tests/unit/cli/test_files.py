"""`memlayer stats --files`: the output for a daemon's answer."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.scripted_daemon import ScriptedDaemon

FOUND: dict[str, Any] = {
    "folder": "/집/projects/상점-01234567",
    "files": ["/집/projects/상점-01234567/MEMORY.md"],
    "taken_back": {"added": 2, "edited": 1, "removed": 0},
    "notices": ["/집/projects/상점-01234567/MEMORY.md: left alone and not read: it is not UTF-8 text"],
    "extra": {"~/노트": 3},
}


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({}, ["Read back: 2 added, 1 edited.", FOUND["files"][0], "~/노트  also searched: 3 files", "Note: "]),
        ({"files": [], "taken_back": {}}, ["empty: nothing is remembered yet"]),
        ({"folder": "", "files": []}, ["files.enabled is false"]),
    ],
)
def test_files(home: Path, project: Path, changed: dict[str, Any], says: list[str]) -> None:
    with ScriptedDaemon(home, {"files": {**FOUND, **changed}}):
        done = Cli(home, project)("stats", "--files")
    assert (done.returncode, done.stderr) == (0, "")
    assert all(one in done.stdout for one in says), done.stdout
