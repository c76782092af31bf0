"""Operations on a project's past work: a file's history, an error's cures."""

from collections.abc import Iterable, Sequence

from memlayer.daemon.ops.requests import Progress, limit_of, memory_row, services_of
from memlayer.daemon.resources.state import State
from memlayer.edge.capture.tool_use import EDITS
from memlayer.give import at_action
from memlayer.kinds import NOT_HELD
from memlayer.model import Event, citation_of, turn_memory_id
from memlayer.ports import memories_by_id, notes_in_force
from memlayer.turns.outcome import call_of, is_same_file
from memlayer.wire import sessions as ops
from memlayer.wire.sessions import CureRow, Cures, FileHistory, FileSession

MAX_EVENTS = 20_000
MAX_MEMORIES = 2000


def blame(state: State, arguments: ops.Blame, progress: Progress) -> FileHistory:
    """Return the notes, failed attempts and sessions of a file, newest first."""
    store, project_id = services_of(state).store, limit_of(state, arguments.project_dir)
    notes = notes_in_force(store, project_id, MAX_MEMORIES)
    about = [row for row in notes if any(is_same_file(file, arguments.path) for file in row.files)]
    edits = list(_edits(store.events(project_id=project_id, kind="tool", limit=MAX_EVENTS), arguments.path))
    turns = memories_by_id(store, {turn_memory_id(event.session_id, event.prompt_id) for event in edits}).values()
    failed = [row for row in (*about, *turns) if row.known_kind in NOT_HELD]
    attempts = sorted(failed, key=lambda row: -row.at_ms)
    return FileHistory(
        memories=[memory_row(state, row) for row in about if row not in failed][: arguments.limit],
        attempts=[memory_row(state, row) for row in attempts[: arguments.limit]],
        sessions=_sessions(edits)[: arguments.limit],
    )


def _edits(events: Iterable[Event], path: str) -> Iterable[Event]:
    for event in events:
        call = call_of(event.text, event.detail)
        if call.tool in EDITS and not call.is_failed and is_same_file(call.target, path):
            yield event


def _sessions(edits: Sequence[Event]) -> list[FileSession]:
    by_session: dict[str, list[Event]] = {}
    for event in edits:
        by_session.setdefault(event.session_id, []).append(event)
    rows = [
        FileSession(
            name, max(event.at_ms for event in of_session), len(of_session),
            list(dict.fromkeys(citation_of(turn_memory_id(name, event.prompt_id)) for event in of_session)),
        )
        for name, of_session in by_session.items()
    ]  # fmt: skip
    return sorted(rows, key=lambda row: -row.at_ms)


def fix(state: State, arguments: ops.Fix, progress: Progress) -> Cures:
    """Return the notes on an error, and the calls that worked."""
    known = at_action.errors_of(services_of(state).store, limit_of(state, arguments.project_dir))
    cures: list[CureRow] = [
        CureRow(
            line=cure.line, command=cure.command, sessions=cure.sessions, at_ms=cure.failed.at_ms,
            citation=citation_of(turn_memory_id(cure.failed.session_id, cure.failed.prompt_id)),
        )
        for cure in known.cures(arguments.error)
    ]  # fmt: skip
    notes = known.explanations(known.named_by(arguments.error))
    return Cures(
        memories=[memory_row(state, row) for row in notes[: arguments.limit]],
        cures=cures[: arguments.limit],
        met=known.met(arguments.error),
    )
