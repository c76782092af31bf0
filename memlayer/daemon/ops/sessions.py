"""Operations on sessions: their facts, and the notes given."""

from typing import Any

from memlayer.daemon.ops.requests import Progress, limit_of, project_of, scope_of, services_of, session_named
from memlayer.daemon.resources.state import State
from memlayer.edge.home import given_notes as record
from memlayer.errors import UserError
from memlayer.give.given_notes import is_of_prompt, is_unanswered, unanswered, with_texts
from memlayer.kinds import Category, Kind
from memlayer.ports import MemoryQuery, Store
from memlayer.records.sessions import Session
from memlayer.text.context_block import quoted
from memlayer.wire import sessions as ops
from memlayer.wire.sessions import GivenCounts, GivenPrompts, SessionRow, SessionsFound

MAX_TURNS = 100_000


def given(state: State, arguments: ops.Given, progress: Progress) -> GivenPrompts:
    """Return the record of the last prompts with their notes, newest first."""
    store = services_of(state).store
    folder, limit = arguments.project_dir, arguments.limit
    project_id = project_of(state, folder)
    gone = services_of(state).forget.tombstones  # the record holds ids alone, also of forgotten prompts
    recorded = [entry for entry in record.entries(state.home) if entry["event_id"] not in gone]
    session_id = session_named(state, arguments.session_id, scope_of(state, folder))
    entries = [
        entry
        for entry in recorded
        if (not session_id or entry["session_id"] == session_id) and (not folder or entry["project_id"] == project_id)
    ]
    if recorded and (project_id or not folder):
        known = {entry["event_id"] for entry in recorded}
        asked = store.events(session_id=session_id, project_id=project_id, kind="user", limit=limit)
        oldest_ms = recorded[-1]["at_ms"]
        entries += [unanswered(event) for event in asked if is_unanswered(event, known, oldest_ms)]
        entries.sort(key=lambda entry: -int(entry["at_ms"]))
    prompts = with_texts(entries[:limit], store, state.home)
    for prompt in prompts:
        prompt.project = state.projects.name(prompt.project_id)
        prompt.host = state.sessions.host_of(prompt.session_id)
    return GivenPrompts(prompts=prompts)


def sessions(state: State, arguments: ops.Sessions, progress: Progress) -> SessionsFound:
    """Return the sessions of a project, or a single session's facts."""
    store = services_of(state).store
    start = arguments.id_
    project_id = limit_of(state, arguments.project_dir)
    known = state.sessions.named(start) if start else state.sessions.all()
    known = [session for session in known if project_id in ("", session.project_id)]
    if start and not known:
        raise UserError("No session is known by %s. `memlayer sessions --all-projects` lists them" % quoted(start))
    skip = max(0, arguments.skip)
    shown = known[skip : skip + arguments.limit]
    turns = store.turn_counts([session.id for session in shown]) if shown else {}
    rows = [
        SessionRow.of(
            session,
            project=state.projects.name(session.project_id),
            turns=turns.get(session.id, 0),
            shown=len(session.shown),
            inherited=len(session.inherited),
            flush_count=session.flush_count or int(session.memory_flush_at > 0),
        )
        for session in shown
    ]
    if start and len(shown) == 1:
        rows = [rows[0].changed(**_details(state, store, shown[0]))]
    return SessionsFound(sessions=rows, total=len(known))


def _details(state: State, store: Store, session: Session) -> dict[str, Any]:
    """Return a session's core memories, events, summary and notes, counted."""
    entries = [entry for entry in record.entries(state.home) if entry["session_id"] == session.id]
    prompts = [entry for entry in entries if is_of_prompt(entry)]
    summaries = store.memories(
        MemoryQuery(session_id=session.id, category=Category.DAILY, kind=Kind.SESSION_SUMMARY, limit=1)
    )
    return dict(
        core=len(store.memories(MemoryQuery(session_id=session.id, category=Category.CORE, limit=MAX_TURNS))),
        events=len(store.events(session_id=session.id, limit=MAX_TURNS)),
        summary=summaries[0].text if summaries else "",
        given=GivenCounts(
            prompts=len(prompts),
            answered=sum(bool(entry["given"]) and bool(entry["delivered"]) for entry in prompts),
            notes=sum(len(entry["given"]) for entry in prompts if entry.get("delivered")),
        ),
    )
