"""What is to go out of the store: how it is told, and what it comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counted:
    """How many rows of a kind of a project. what: a memory's category, or an event's kind; oldest_ms: of these."""

    project_id: str
    what: str
    rows: int
    oldest_ms: int


@dataclass(frozen=True)
class Doomed:
    """The rows that are to go; the chunks of these memories go with them. counts: only where they were asked for."""

    event_ids: tuple[str, ...] = ()
    memory_ids: tuple[str, ...] = ()
    counts: tuple[Counted, ...] = ()


@dataclass(frozen=True)
class Cutoffs:
    """What is older (Unix time in ms) is to go; 0: nothing of the kind.

    conversation_ms: turns, and all events but those of tools. daily_ms, core_ms: memories of that category, core ones
    with those of category custom; what is pinned stays.
    """

    conversation_ms: int = 0
    tools_ms: int = 0
    daily_ms: int = 0
    core_ms: int = 0
