"""Today: notes given and the reasons, notes made, work that waits, cost."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import NamedTuple

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
from memlayer.wire.sessions import GivenPrompt, SessionRow

PROMPTS = 200
ROWS = 500
SESSIONS = 60


class Talk(NamedTuple):
    """A session of the day: its starts, its prompts in order."""

    session: SessionRow
    starts: list[GivenPrompt]
    prompts: list[GivenPrompt]

    @property
    def answered(self) -> int:
        """How many prompts were given a note."""
        return sum(bool(row.given) and row.delivered for row in self.prompts)


def page(visit: Visit) -> Response:
    """Return a day's page, by default the last with a session."""
    day = day_of(visit.text("day")) if visit.text("day") else _last_day(visit)
    start_ms, end_ms = span_ms(day)
    folder, is_today = visit.folder, day == datetime.date.today()
    prompts = visit.ask(session_ops.Given(PROMPTS, "", folder)).prompts
    prompts = [row for row in prompts if start_ms <= row.at_ms < end_ms]
    asked = [row for row in prompts if row.is_prompt]
    noted = visit.ask(memory_ops.List(folder, category=Category.CORE, limit=ROWS)).memories
    noted = [row for row in noted if start_ms <= row.at_ms < end_ms]
    sessions = visit.ask(session_ops.Sessions("", folder, SESSIONS)).sessions
    sessions = [row for row in sessions if row.since_ms < end_ms and row.last_ms >= start_ms]
    review = visit.ask(curation_ops.Review(folder, 1)) if folder else None
    to_review = review.total + len(review.task_questions) if review else 0
    return visit.page(
        "today.html", "Today" if is_today else f"{day:%A, %d %B %Y}",
        day=day, is_today=is_today, yesterday=day - datetime.timedelta(days=1),
        tomorrow=day + datetime.timedelta(days=1), noted=noted, titles=titles(visit, sessions),
        talks=talks(prompts, sessions), asked=len(asked), given=sum(bool(row.given) and row.delivered for row in asked),
        review=to_review, open_tasks=visit.ask(task_ops.Tasks(folder)).tasks or [],
        notes=visit.ask(note_ops.Notes(folder)),
    )  # fmt: skip


def _last_day(visit: Visit) -> datetime.date:
    newest = visit.ask(session_ops.Sessions("", visit.folder, 1)).sessions
    return datetime.date.fromtimestamp(newest[0].last_ms / 1000) if newest else datetime.date.today()


def talks(prompts: Sequence[GivenPrompt], sessions: Sequence[SessionRow]) -> list[Talk]:
    """Return sessions, newest first, their prompts in order.

    prompts: newest first. Some may be of sessions beyond those.
    """
    rows = {row.id: row for row in sessions}
    for prompt in prompts:
        rows.setdefault(prompt.session_id, SessionRow(prompt.session_id, project=prompt.project, last_ms=prompt.at_ms))
    made = {id_: Talk(row, [], []) for id_, row in rows.items()}
    for prompt in reversed(prompts):
        talk = made[prompt.session_id]
        (talk.prompts if prompt.is_prompt else talk.starts).append(prompt)
    return sorted(made.values(), key=lambda talk: -talk.session.last_ms)


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
