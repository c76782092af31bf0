"""Two subjects are kept apart and changes supersede, through a real daemon."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

TABLES = tables("integration/superseding")

ROOT = Path(__file__).resolve().parents[2]
SIDE_BY_SIDE = TABLES["side_by_side"]
TALK = TABLES["talk"]


class Told:
    """A home with daemon, hooks and command line in one project."""

    def __init__(self, home: Path, project: Path) -> None:
        self.daemon = Daemon(ROOT, home, settings={})  # with the model that ships
        self.hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
        self.hook.forbid_background()
        self.cli = Cli(home, project)

    def verb(self, *arguments: str) -> dict[str, Any]:
        done = self.cli(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    def texts(self) -> list[str]:
        """Core memories that hold, oldest first."""
        return [one["text"] for one in self.daemon.call("list", category="core", limit=1000)["memories"]][::-1]


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    (tmp_path / "project").mkdir()
    told = Told(tmp_path / "home", tmp_path / "project")
    with told.daemon:
        yield told


def test_remember_keeps_numbered_things(told: Told) -> None:
    for text in SIDE_BY_SIDE:
        assert told.verb("remember", text)["older"] == []
    assert told.texts() == SIDE_BY_SIDE
    [gone] = told.verb("remember", "worker 2 now listens on port 9100")["older"]
    assert gone["text"] == "worker 2 listens on port 9002"
    assert told.texts() == [
        *(text for text in SIDE_BY_SIDE if text != gone["text"]),
        "worker 2 now listens on port 9100",
    ]


def test_plain_talk_keeps_numbered_things(told: Told) -> None:
    for number, turn in enumerate(TALK):
        told.hook.turn("s1", f"p{number}", *turn)
    told.daemon.settle()
    held = " ".join(told.texts())
    assert all(name in held for name in ("9001", "9002", "스프린트 4", "스프린트 5", "v1", "v2")), held
    assert told.daemon.call("stats")["ended_count"] == 0


def test_remember_names_pinned_memory(told: Told) -> None:
    first = told.verb("remember", "The API port is 8080.")["memory"]
    told.verb("edit", "--pin", first["citation"])
    done = told.cli("remember", "The API port is 9090 now.")
    assert "pinned" in done.stdout and "memlayer edit" in done.stdout and first["citation"] in done.stdout
    assert told.texts() == ["The API port is 8080.", "The API port is 9090 now."]
