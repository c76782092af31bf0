"""Figures: pictures of counts, each with its table."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from memlayer.edge.counting import counted, size
from memlayer.kinds import Category
from memlayer.view.charts import Bar, bars
from memlayer.view.texts import moment, percent
from memlayer.view.visit import Visit, heading_of
from memlayer.wire import memories as memory_ops
from memlayer.wire import notes as note_ops
from memlayer.wire import record as record_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire import upkeep as upkeep_ops
from memlayer.wire.record import DayCount
from memlayer.wire.sessions import GivenPrompt

SPANS = (7, 30, 90)
PROMPTS = 500
ROWS = 10_000
WHOLE_WIDTH = 1180  # of a picture as wide as the page
TURNS = ("prompts", "tool calls")


class Figure(NamedTuple):
    """A picture with its table.

    note: how to read it. numbers: (name, number) in the picture's place, where nothing is a series.
    """

    title: str
    note: str
    picture: Markup
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    series: Sequence[str] = ()
    is_whole: bool = False
    numbers: Sequence[tuple[str, str]] = ()


def page(visit: Visit) -> Response:
    """Return the figures of some days."""
    span = visit.number("days", 30, most=366)
    first = datetime.date.today() - datetime.timedelta(days=span - 1)
    since_ms = int(datetime.datetime.combine(first, datetime.time()).timestamp() * 1000)
    days = _every_day(visit.ask(record_ops.Days(visit.folder, since_ms)).days, first, span)
    prompts = [row for row in visit.ask(session_ops.Given(PROMPTS, "", visit.folder)).prompts if row.at_ms >= since_ms]
    figures = [
        _turns(days),
        _kinds(visit),
        _silence(prompts),
        _use(visit, span),
        _tokens(days),
        _reader(visit),
        _sizes(visit),
    ]
    return visit.page("figures.html", "Figures", figures=figures, span=span, spans=SPANS)


def _every_day(found: Sequence[DayCount], first: datetime.date, span: int) -> list[DayCount]:
    """Return each day of a span, also those without an event."""
    known = {row.date: row for row in found}
    dates = [(first + datetime.timedelta(days=at)).isoformat() for at in range(span)]
    return [known.get(date) or DayCount(date) for date in dates]


def _turns(days: Sequence[DayCount]) -> Figure:
    values = [(row.date, (row.by_kind.get("user", 0), row.by_kind.get("tool", 0))) for row in days]
    rows = [(row.date, str(row.sessions), *map(str, two)) for row, (_, two) in zip(days, values, strict=True)]
    picture = bars([Bar(date, two) for date, two in values], "Prompts and tool calls a day", WHOLE_WIDTH)
    return Figure("Turns a day", "", picture, ("Day", "Sessions", "Prompts", "Tool calls"), rows[::-1], TURNS, True)


def _kinds(visit: Visit) -> Figure:
    rows = visit.ask(memory_ops.List(visit.folder, category=Category.CORE, limit=ROWS)).memories
    counts = Counter(heading_of(row.kind) for row in rows)
    picture = bars([Bar(name, (count,)) for name, count in counts.most_common()], "Notes by kind")
    return Figure("Notes by kind", "", picture, ("Kind", "Notes"), [(k, f"{n:,}") for k, n in counts.most_common()])


def _silence(prompts: Sequence[GivenPrompt]) -> Figure:
    told: dict[str, list[int]] = {}
    for row in reversed(prompts):
        if row.is_prompt:
            day = told.setdefault(moment(row.at_ms, "%Y-%m-%d"), [0, 0])
            day[0 if row.given and row.delivered else 1] += 1
    picture = bars([Bar(day, (given, silent)) for day, (given, silent) in told.items()], "Prompts given notes, or none")
    rows = [(day, str(given), str(silent), percent(silent / (given + silent))) for day, (given, silent) in told.items()]
    note = "Of the prompts that are still on record. Silence is the default."
    head, series = ("Day", "Given", "Silent", "Share silent"), ("given", "silent")
    if len(rows) == 1:
        numbers = list(zip((*series, "share silent"), rows[0][1:], strict=True))
        return Figure("Given, or silent", note, Markup(""), head, rows, numbers=numbers)
    return Figure("Given, or silent", note, picture, head, rows[::-1], series)


def _use(visit: Visit, span: int) -> Figure:
    share = visit.ask(memory_ops.CountUses(span))
    rows = [("shown", f"{share.shown:,}"), ("cited", f"{share.cited:,}"), ("opened", f"{share.opened:,}")]
    rows.append(("cited of shown", percent(share.cited_of_shown) if share.shown else "–"))
    note = "Notes, counted once a session, in every project."
    return Figure("Shown and cited", note, Markup(""), ("Use", "Notes"), (), numbers=rows)


def _tokens(days: Sequence[DayCount]) -> Figure:
    picture = bars([Bar(row.date, (row.tokens,)) for row in days], "Tokens in contexts by day")
    rows = [(row.date, f"{row.tokens:,}") for row in reversed(days) if row.tokens]
    note = "In the contexts of the sessions that were last active on the day, as the host counts them."
    return Figure("Tokens by day", note, picture, ("Day", "Tokens"), rows)


def _reader(visit: Visit) -> Figure:
    found = visit.ask(note_ops.Notes(visit.folder))
    rows = [("read", f"{found.read:,}"), ("waiting", f"{found.waiting:,}"), ("given up", f"{found.gave_up:,}")]
    rows += [("notes kept", f"{found.notes:,}"), ("notes refused", f"{found.refused_notes:,}")]
    rows += [("calls", f"{found.calls:,}"), ("tokens today", f"{found.use.today.tokens:,}")]
    rows += [("tokens in all", f"{found.use.all.tokens:,}")]
    note = f"By {found.use.provider}." if found.is_on else "No model reads sessions: nothing is spent."
    return Figure("The reader and its cost", note, Markup(""), (), (), numbers=rows if found.is_on else ())


def _sizes(visit: Visit) -> Figure:
    stats = visit.ask(upkeep_ops.Stats())
    tables = [(name, int(row.rows)) for name, row in stats.tables.items()]
    rows = [(f"rows of {name}", f"{count:,}") for name, count in tables]
    rows += [("store on disk", size(stats.disk_bytes)), ("memory of the daemon", size(stats.daemon.rss_bytes))]
    rows += [(f"hidden: {kind}", counted(count, "mark")) for kind, count in stats.redacted.items()]
    note = "Of every project."
    return Figure("Sizes", note, Markup(""), (), (), numbers=rows)
