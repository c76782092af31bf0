"""Today: notes given and the reasons, notes made, work that waits, cost."""

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from starlette.responses import Response
from starlette.routing import Route

from memlayer.errors import UserError
from memlayer.kinds import Category
from memlayer.view.pages.sessions import titles
from memlayer.view.texts import moment
from memlayer.view.visit import Visit, endpoint
from memlayer.wire import curation as curation_ops
from memlayer.wire import memories as memory_ops
from memlayer.wire import notes as note_ops
from memlayer.wire import record as ops
from memlayer.wire import sessions as session_ops
from memlayer.wire import tasks as task_ops
from memlayer.wire.record import DayCount, Days
from memlayer.wire.sessions import GivenPrompt, SessionRow

PROMPTS = 500
ROWS = 500
SESSIONS = 60


def listing(visit: Visit) -> Response:
    """Return every project; the shown one's folder can be given to another."""
    rows = visit.ask(ops.Projects()).projects
    can_choose = bool(visit.folder) and not visit.keys.is_read_only
    return visit.page("projects.html", "Projects", rows=rows, folder=visit.folder, can_choose=can_choose)


def choose(visit: Visit) -> Response:
    """Join, move or part the shown project's folder, as `memlayer project` does."""
    how, name = visit.form.get("how", ""), visit.form.get("name", "")
    if how not in ("join", "part") or (how == "part") == bool(name) or not visit.folder:
        raise UserError("how: join with a project's name, or part, for the folder of one project")
    done = visit.ask(ops.ChooseProject(visit.folder, name))
    told = f"{visit.folder} belongs to {done.project} from now on. To take it back, join {done.former_id}."
    return visit.back("/projects", told, project=done.project_id)


class Talk(NamedTuple):
    """A session of the day: starts, prompts, lines at calls."""

    session: SessionRow
    starts: list[GivenPrompt]
    prompts: list[GivenPrompt]

    @property
    def asked(self) -> int:
        """How many prompts were asked."""
        return sum(row.is_prompt for row in self.prompts)

    @property
    def answered(self) -> int:
        """How many prompts were given a note."""
        return sum(row.is_prompt and bool(row.given) and row.delivered for row in self.prompts)


def page(visit: Visit) -> Response:
    """Return a day's page, by default the last with a session."""
    day = day_of(visit.text("day")) if visit.text("day") else _last_day(visit)
    start_ms, end_ms = span_ms(day)
    folder, is_today = visit.folder, day == datetime.date.today()
    prompts = on_record(visit)
    counts = {row.date: (row.by_kind.get("user", 0), given) for row, given in days(visit, start_ms, prompts)}
    asked, given = counts.get(day.isoformat(), (0, 0))
    prompts = [row for row in prompts if start_ms <= row.at_ms < end_ms]
    noted = visit.ask(memory_ops.List(folder, category=Category.CORE, limit=ROWS)).memories
    noted = [row for row in noted if start_ms <= row.at_ms < end_ms]
    sessions = visit.ask(session_ops.Sessions("", folder, SESSIONS)).sessions
    sessions = [row for row in sessions if start_ms <= row.last_ms < end_ms or start_ms <= row.since_ms < end_ms]
    review = visit.ask(curation_ops.Review(folder, 1)) if folder else None
    to_review = review.total + len(review.task_questions) if review else 0
    return visit.page(
        "today.html", "Today" if is_today else f"{day:%A, %d %B %Y}",
        day=day, is_today=is_today, yesterday=day - datetime.timedelta(days=1),
        tomorrow=day + datetime.timedelta(days=1), noted=noted, titles=titles(visit, sessions),
        talks=talks(prompts, sessions), asked=asked, given=given,
        review=to_review, open_tasks=visit.ask(task_ops.Tasks(folder)).tasks or [],
        notes=visit.ask(note_ops.Notes(folder)),
    )  # fmt: skip


def on_record(visit: Visit) -> list[GivenPrompt]:
    """Return the prompts, starts and calls on record, newest first."""
    return visit.ask(session_ops.Given(PROMPTS, "", visit.folder)).prompts


def days(visit: Visit, since_ms: int, prompts: Sequence[GivenPrompt]) -> list[tuple[DayCount, int]]:
    """Return the days, each with its prompts that got a note."""
    given = Counter(moment(row.at_ms, "%Y-%m-%d") for row in prompts if row.is_prompt and row.given and row.delivered)
    return [(row, given[row.date]) for row in visit.ask(Days(visit.folder, since_ms)).days]


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
        (talk.starts if prompt.start else talk.prompts).append(prompt)
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


ROUTES = (
    Route("/", endpoint(page)),
    Route("/projects", endpoint(listing)),
    Route("/projects", endpoint(choose), methods=["POST"]),
)
