"""The daemon's operations on a project's team, and their answers.

Hooks do not import this module.
"""

from __future__ import annotations

from typing import TypedDict

from memlayer.edge.ipc.answers import MemoryRow
from memlayer.edge.ipc.arguments import Arguments, Path


class LeftOut(TypedDict):
    """Notes that were not taken in: how many, and why."""

    why: str
    notes: int


class TeamState(TypedDict):
    """A project's team; address is "" without one.

    offered: notes in the work tree that the person has not accepted. promoted: own notes that travel; withheld: those
    of them that were replaced or forgotten. notes: of colleagues, as of the last pull. problem: of the last push or
    pull, "" when it went well.
    """

    address: str
    name: str
    is_automatic: bool
    offered: int
    promoted: int
    withheld: int
    notes: int
    authors: list[str]
    left_out: list[LeftOut]
    push_ms: int
    pull_ms: int
    problem: str
    problem_ms: int


class TeamPushed(TypedDict):
    """Counts of a push. withdrawn: own notes that left the place."""

    notes: int
    withdrawn: int


class TeamPulled(TypedDict):
    """Counts of a pull.

    new: or changed; gone: their authors took them back.
    """

    notes: int
    new: int
    gone: int
    left_out: list[LeftOut]


class TeamLeft(TypedDict):
    """address: of the team that was left."""

    address: str


class Promoted(TypedDict):
    """A promoted memory, and the address of its team.

    problem: why it has not travelled yet, or "".
    """

    memory: MemoryRow
    address: str
    problem: str


class TeamSetup(Arguments[TeamState], op="team.setup"):
    """Arguments of a setup.

    address: folder, git, or that of a place; "" for folder. is_accepting: a team that is there, wherever it is.
    """

    project_dir: Path = ""
    address: str = ""
    name: str = ""
    by_hand: bool = False
    is_accepting: bool = False


class TeamStatus(Arguments[TeamState], op="team.status"):
    project_dir: Path = ""


class TeamPush(Arguments[TeamPushed], op="team.push"):
    project_dir: Path = ""


class TeamPull(Arguments[TeamPulled], op="team.pull"):
    project_dir: Path = ""


class TeamLeave(Arguments[TeamLeft], op="team.leave"):
    """keep: own notes stay at the place."""

    project_dir: Path = ""
    keep: bool = False


class Promote(Arguments[Promoted], op="promote"):
    """undo: the note travels no more."""

    id_: str = ""
    undo: bool = False
