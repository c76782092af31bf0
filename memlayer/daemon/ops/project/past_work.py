"""Operations on a project's past work: a file's history, an error's cures."""

from __future__ import annotations

from memlayer.daemon.ops.requests import Progress, limit_of, memory_row, services_of
from memlayer.daemon.resources.state import State
from memlayer.model import citation_of, turn_memory_id
from memlayer.moments import known_errors
from memlayer.moments.file_history import history_of
from memlayer.wire import sessions as ops
from memlayer.wire.sessions import CureRow, Cures, FileHistory


def blame(state: State, arguments: ops.Blame, progress: Progress) -> FileHistory:
    """Return the notes, failed attempts and sessions of a file, newest first."""
    history = history_of(services_of(state).store, limit_of(state, arguments.project_dir), arguments.path)
    return FileHistory(
        memories=[memory_row(state, row) for row in history.notes[: arguments.limit]],
        attempts=[memory_row(state, row) for row in history.attempts[: arguments.limit]],
        sessions=list(history.sessions[: arguments.limit]),
    )


def fix(state: State, arguments: ops.Fix, progress: Progress) -> Cures:
    """Return the notes on an error, and the calls that worked."""
    known = known_errors.of_project(services_of(state).store, limit_of(state, arguments.project_dir))
    cures: list[CureRow] = [
        CureRow(
            line=cure.line, command=cure.command, sessions=cure.sessions, at_ms=cure.failed.at_ms,
            citation=citation_of(turn_memory_id(cure.failed.session_id, cure.failed.prompt_id)),
        )
        for cure in known.cures(arguments.error)
    ]  # fmt: skip
    notes = known.explanations(arguments.error)
    return Cures(
        memories=[memory_row(state, row) for row in notes[: arguments.limit]],
        cures=cures[: arguments.limit],
        met=known.met(arguments.error),
    )
