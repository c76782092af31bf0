"""Sessions: the list by day, and a session as a talk."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from starlette.responses import Response
from starlette.routing import Route

from memlayer.kinds import Category, Kind
from memlayer.turns.remembered import is_husk
from memlayer.turns.turn import prompt_and_answer
from memlayer.view.problems import NotFound
from memlayer.view.texts import harmless, moment
from memlayer.view.visit import Visit, endpoint
from memlayer.wire import memories as memory_ops
from memlayer.wire import record as record_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire.sessions import SessionRow

PAGE_ROWS = 30
EVENTS_SHOWN = 200
EVERY_EVENT = 10_000
SUMMARIES = 1000
PROMPTS = 500
TURNS = 200  # of a session without a summary, to find its first


def listing(visit: Visit) -> Response:
    """Return the sessions by day, newest first."""
    number = visit.number("page", 1)
    found = visit.ask(session_ops.Sessions("", visit.folder, PAGE_ROWS, (number - 1) * PAGE_ROWS))
    days = [
        (day, list(rows)) for day, rows in groupby(found.sessions, key=lambda row: moment(row.last_ms, "%A, %d %B %Y"))
    ]
    return visit.page(
        "sessions.html", "Sessions", days=days, titles=titles(visit, found.sessions), total=found.total, number=number,
        page_count=max(1, -(-found.total // PAGE_ROWS)),
    )  # fmt: skip


def titles(visit: Visit, rows: Sequence[SessionRow]) -> dict[str, str]:
    """Return session id -> its summary, else its first prompt."""
    daily = visit.ask(memory_ops.List(visit.folder, category=Category.DAILY, limit=SUMMARIES)).memories
    out = {row.session_id: row.text for row in daily if row.kind == Kind.SESSION_SUMMARY}
    for row in rows:
        if row.turns and row.id not in out:
            turns = memory_ops.List(session_id=row.id, category=Category.CONVERSATION, limit=min(row.turns, TURNS))
            found = visit.ask(turns).memories
            prompts = (prompt_and_answer(turn.text)[0] for turn in reversed(found))
            out[row.id] = next((prompt for prompt in prompts if not is_husk(prompt)), "")
    return out


def session(visit: Visit) -> Response:
    """Return a session as a talk, its notes beside it."""
    query = visit.text("q")
    row = one(visit, visit.path["id"])
    before_ms = visit.number("before", 0, most=10**15)
    limit = EVERY_EVENT if query else EVENTS_SHOWN
    found = visit.ask(record_ops.Events(session_id=row.id, before_ms=before_ms, limit=limit))
    events = [event for event in reversed(found.events) if event.kind != Kind.TASK]
    words = harmless(query).casefold()
    shown = [event for event in events if not words or words in harmless(event.text).casefold()]
    notes = visit.ask(memory_ops.List("", session_id=row.id, category=Category.CORE, limit=200)).memories
    given: dict[str, Any] = {}
    for prompt in visit.ask(session_ops.Given(PROMPTS, row.id, "")).prompts:
        given.setdefault(prompt.event_id, prompt)
    earlier = events[0].at_ms + 1 if not query and len(found.events) >= limit else 0
    return visit.page(
        "session.html", "Session", row=row, about=titles(visit, [row]).get(row.id, ""), events=shown,
        notes=notes, given=given, query=query, earlier=earlier,
        is_part=bool(before_ms or earlier), total=found.total,
    )  # fmt: skip


def one(visit: Visit, start: str) -> SessionRow:
    """Return the session of an id, or of its start. Raises NotFound."""
    rows = visit.ask(session_ops.Sessions(start, limit=2)).sessions
    exact = [row for row in rows if row.id == start] or rows
    if len(exact) != 1:
        raise NotFound("Several sessions begin so. Give more of the id")
    return exact[0]


ROUTES = (Route("/sessions", endpoint(listing)), Route("/sessions/{id}", endpoint(session)))
