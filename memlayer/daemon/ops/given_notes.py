"""Answers which notes prompts were given, and what is known of each session."""

from __future__ import annotations

from dataclasses import asdict

from memlayer.briefing.session_summary import SESSION_SUMMARY
from memlayer.daemon.ops.arguments import folder_of, limit_of, text_of
from memlayer.daemon.ops.queries import Fields, Operation, Progress, services_of
from memlayer.daemon.resources.state import State
from memlayer.edge.home import given_notes as record
from memlayer.errors import UserError
from memlayer.model import Memory
from memlayer.ports import Store
from memlayer.recall.given_notes import is_unanswered, unanswered, with_texts
from memlayer.records.sessions import Session

MAX_TURNS = 100_000


def given(state: State, asked: Fields, progress: Progress) -> Fields:
    store = services_of(state).store
    wanted, folder, limit = text_of(asked, "session_id"), folder_of(asked), limit_of(asked, 5)
    if wanted:
        wanted = _one_session(state, wanted)
    project_id = state.projects.find(folder)[0] if folder else ""
    recorded = record.entries(state.home)
    entries = [
        entry
        for entry in recorded
        if (not wanted or entry["session_id"] == wanted) and (not folder or entry["project_id"] == project_id)
    ]
    if recorded and (project_id or not folder):
        told = {entry["event_id"] for entry in recorded}
        asked_at = store.events(session_id=wanted, project_id=project_id, kind="user", limit=limit)
        entries += [unanswered(one) for one in asked_at if is_unanswered(one, told, recorded[-1]["at_ms"])]
        entries.sort(key=lambda entry: -int(entry["at_ms"]))
    prompts = with_texts(entries[:limit], store, state.home)
    for prompt in prompts:
        prompt["project"] = state.projects.name(prompt["project_id"])
    return {"prompts": prompts}


def _one_session(state: State, wanted: str) -> str:
    """The id of the session that is named by its id or the beginning of it. Raises UserError when several are."""
    known = [one.id for one in state.sessions.all() if one.id.startswith(wanted)]
    if wanted in known or not known:
        return wanted
    if len(known) > 1:
        raise UserError("%d sessions begin with %r: give more of the id" % (len(known), wanted[:80]))
    return known[0]


def sessions(state: State, asked: Fields, progress: Progress) -> Fields:
    store = services_of(state).store
    wanted, folder = text_of(asked, "id"), folder_of(asked)
    known = state.sessions.all()
    if wanted:
        known = [one for one in known if one.id == wanted] or [one for one in known if one.id.startswith(wanted)]
        if not known:
            raise UserError("no session is known by %r; `memlayer sessions --all-projects` lists them" % wanted[:80])
    elif folder:
        project_id = state.projects.find(folder)[0]
        known = [one for one in known if one.project_id == project_id]
    shown = known[: limit_of(asked, 20)]
    found = [_session(state, store, one) for one in shown]
    if wanted and len(shown) == 1:
        found[0].update(_in_full(state, store, shown[0]))
    return {"sessions": found, "total": len(known)}


def _session(state: State, store: Store, session: Session) -> Fields:
    facts = asdict(session)
    for name in ("shown", "inherited"):  # marks of notes, no names
        facts[name] = len(facts[name])
    turns = store.memories(session_id=session.id, category="conversation", limit=MAX_TURNS)
    return {
        **facts,
        "project": state.projects.name(session.project_id),
        "turns": len(turns),
        "flush_count": session.flush_count or int(session.memory_flush_at > 0),
    }


def _in_full(state: State, store: Store, session: Session) -> Fields:
    """What else is known of a single session: what was drawn from it, and what it was given."""
    entries = [entry for entry in record.entries(state.home) if entry["session_id"] == session.id]
    prompts = [entry for entry in entries if "start" not in entry]
    summaries: list[Memory] = store.memories(session_id=session.id, category="daily", kind=SESSION_SUMMARY, limit=1)
    return {
        "core": len(store.memories(session_id=session.id, category="core", limit=MAX_TURNS)),
        "events": len(store.events(session_id=session.id, limit=MAX_TURNS)),
        "summary": summaries[0].text if summaries else "",
        "given": {
            "prompts": len(prompts),
            "answered": sum(bool(entry["given"]) and bool(entry["delivered"]) for entry in prompts),
            "notes": sum(len(entry["given"]) for entry in prompts if entry.get("delivered")),
        },
    }


OPERATIONS: dict[str, Operation] = {"given": given, "sessions": sessions}
