"""Today: notes given and the reasons, notes made, work that waits, cost."""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from starlette.responses import Response

from memlayer.errors import UserError
from memlayer.kinds import Category
from memlayer.view.pages.sessions import titles
from memlayer.view.visit import Visit
from memlayer.wire import curation as curation_ops
from memlayer.wire import memories as memory_ops
from memlayer.wire import notes as note_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire import tasks as task_ops

PROMPTS = 200
ROWS = 500


def page(visit: Visit) -> Response:
    """Return a day's page, by default the last with a session."""
    day = day_of(visit.text("day")) if visit.text("day") else _last_day(visit)
    start_ms, end_ms = span_ms(day)
    folder = visit.folder
    prompts = visit.ask(session_ops.Given(PROMPTS, "", folder)).prompts
    prompts = by_session([row for row in prompts if start_ms <= row.at_ms < end_ms])
    asked = [row for row in prompts if row.is_prompt]
    noted = visit.ask(memory_ops.List(folder, category=Category.CORE, limit=ROWS)).memories
    noted = [row for row in noted if start_ms <= row.at_ms < end_ms]
    sessions = visit.ask(session_ops.Sessions("", folder, 60)).sessions
    sessions = [row for row in sessions if row.since_ms < end_ms and row.last_ms >= start_ms]
    status, notes = visit.source.status(), visit.ask(note_ops.Notes(folder))
    review = visit.ask(curation_ops.Review(folder, 1)) if folder else None
    to_review = review.total + len(review.task_questions) if review else 0
    tasks = visit.ask(task_ops.Tasks(folder))
    return visit.page(
        "today.html", "Today" if day == datetime.date.today() else f"{day:%A, %d %B %Y}",
        day=day, is_today=day == datetime.date.today(), yesterday=day - datetime.timedelta(days=1),
        tomorrow=day + datetime.timedelta(days=1), prompts=prompts, noted=noted, sessions=sessions,
        titles=titles(visit, sessions),
        asked=len(asked), given=sum(bool(row.given) and row.delivered for row in asked),
        waiting=int(status.get("spool_waiting") or 0), review=to_review,
        open_tasks=tasks.tasks or [], notes=notes,
    )  # fmt: skip


def _last_day(visit: Visit) -> datetime.date:
    newest = visit.ask(session_ops.Sessions("", visit.folder, 1)).sessions
    return datetime.date.fromtimestamp(newest[0].last_ms / 1000) if newest else datetime.date.today()


def by_session(prompts: Sequence[session_ops.GivenPrompt]) -> list[session_ops.GivenPrompt]:
    """Return the prompts by session, newest first, each start above them."""
    newest: dict[str, int] = {}
    for row in prompts:
        newest.setdefault(row.session_id, row.at_ms)
    return sorted(prompts, key=lambda row: (-newest[row.session_id], not row.start, -row.at_ms))


def day_of(text: str) -> datetime.date:
    """Return the day of an address. Raises UserError."""
    try:
        return datetime.date.fromisoformat(text) if text else datetime.date.today()
    except ValueError:
        raise UserError("day: a date such as 2026-11-19 is expected") from None


def span_ms(day: datetime.date) -> tuple[int, int]:
    """Return a day's bounds in milliseconds. Raises UserError."""
    try:
        starts = [
            datetime.datetime.combine(date, datetime.time()).timestamp() for date in (day, day + datetime.timedelta(1))
        ]
    except (OverflowError, ValueError, OSError):
        raise UserError("day: that is too far away") from None
    return int(starts[0] * 1000), int(starts[1] * 1000)
