"""History of a file: its notes, the attempts that failed, its sessions."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memlayer.edge.capture.tool_use import EDITS
from memlayer.kinds import NOT_HELD, Kind
from memlayer.model import Event, Memory, citation_of, turn_memory_id
from memlayer.ports import Store, memories_by_id, notes_in_force
from memlayer.turns.outcome import call_of
from memlayer.wire.sessions import FileSession

MAX_EVENTS = 20_000
MAX_MEMORIES = 2000
FAILED_KINDS = (Kind.ATTEMPT, *NOT_HELD)


@dataclass(frozen=True)
class FileHistory:
    """All that is kept about a file, newest first."""

    notes: tuple[Memory, ...]
    attempts: tuple[Memory, ...]
    sessions: tuple[FileSession, ...]


def is_same_file(path: str, wanted: str) -> bool:
    """True for the same path, or one that ends with the other."""
    own, other = posixpath.normpath(path), posixpath.normpath(wanted)
    return own == other or own.endswith("/" + other) or (other.endswith("/" + own) and "/" in own)


def history_of(store: Store, project_id: str, path: str) -> FileHistory:
    """Return the history of a path, or its end. Raises StoreError."""
    rows = notes_in_force(store, project_id, MAX_MEMORIES)
    about = [row for row in rows if any(is_same_file(file, path) for file in row.files)]
    events = store.events(project_id=project_id, kind="tool", limit=MAX_EVENTS)
    sessions = _sessions(events, path)
    ids = {turn_memory_id(event.session_id, event.prompt_id) for event in _edits(events, path)}
    turns = memories_by_id(store, ids).values()
    failed = [row for row in (*about, *turns) if row.known_kind in FAILED_KINDS]
    return FileHistory(
        tuple(row for row in about if row not in failed),
        tuple(sorted(failed, key=lambda row: -row.at_ms)),
        tuple(sessions),
    )


def _edits(events: Iterable[Event], path: str) -> Iterable[Event]:
    for event in events:
        call = call_of(event.text, event.detail)
        if call.tool in EDITS and not call.is_failed and is_same_file(call.target, path):
            yield event


def _sessions(events: Sequence[Event], path: str) -> list[FileSession]:
    by_session: dict[str, list[Event]] = {}
    for event in _edits(events, path):
        by_session.setdefault(event.session_id, []).append(event)
    rows = [
        FileSession(
            name, max(event.at_ms for event in of_session), len(of_session),
            list(dict.fromkeys(citation_of(turn_memory_id(name, event.prompt_id)) for event in of_session)),
        )
        for name, of_session in by_session.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row.at_ms)
