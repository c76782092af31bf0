"""Figures: days, kinds of notes, their use, the reader, sizes."""

import datetime
from collections import Counter
from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from memlayer.edge.counting import size
from memlayer.kinds import Category
from memlayer.view.pages.today import days, on_record, span_ms
from memlayer.view.visit import Visit, endpoint, heading_of
from memlayer.wire import memories as memory_ops
from memlayer.wire import notes as note_ops
from memlayer.wire import upkeep as upkeep_ops

SPANS = (7, 30, 90)
ROWS = 10_000
Rows = Sequence[tuple[str, int | str]]


def page(visit: Visit) -> Response:
    """Return the figures of some days."""
    span = visit.number("days", SPANS[0], most=366)
    first = datetime.date.today() - datetime.timedelta(days=span - 1)
    rows = visit.ask(memory_ops.List(visit.folder, category=Category.CORE, limit=ROWS)).memories
    kinds = Counter(heading_of(row.kind) for row in rows).most_common()
    return visit.page(
        "figures.html", "Figures", span=span, spans=SPANS, days=_days(visit, first), kinds=kinds,
        tiles=[_use(visit, span), _reader(visit), _sizes(visit)],
    )  # fmt: skip


def _days(visit: Visit, first: datetime.date) -> list[tuple[str, int, int, int, int, int]]:
    """Return days, newest first.

    Each with its prompts, those given a note, tool calls, sessions and tokens.
    """
    return [
        (
            row.date[5:].replace("-", "\u2011"), row.by_kind.get("user", 0), given, row.by_kind.get("tool", 0),
            row.sessions, row.tokens,
        )
        for row, given in reversed(days(visit, span_ms(first)[0], on_record(visit)))
    ]  # fmt: skip


def _use(visit: Visit, span: int) -> tuple[str, str, Rows]:
    share = visit.ask(memory_ops.CountUses(span))
    rows = [("given", share.shown), ("cited in an answer", share.cited), ("looked up by the model", share.opened)]
    return "Notes used", "Counted once a session, in every project.", rows


def _reader(visit: Visit) -> tuple[str, str, Rows]:
    found = visit.ask(note_ops.Notes(visit.folder))
    if not found.is_on:
        return "Notes by a model", "No model reads sessions: nothing is spent.", ()
    rows = [
        ("sessions read", found.read), ("sessions waiting", found.waiting), ("notes written", found.notes),
        ("notes refused", found.refused_notes), ("tokens today", found.use.today.tokens),
        ("tokens in all", found.use.all.tokens),
    ]  # fmt: skip
    return "Notes by a model", f"By {found.use.provider}.", rows


def _sizes(visit: Visit) -> tuple[str, str, Rows]:
    stats = visit.ask(upkeep_ops.Stats())
    rows: list[tuple[str, int | str]] = [
        ("memories", stats.memories), ("prompts, answers and calls", stats.events),
        ("on disk", size(stats.disk_bytes)), ("memory in use", size(stats.daemon.rss_bytes)),
    ]  # fmt: skip
    return "Kept", "Of every project.", [*rows, *((f"hidden: {kind}", count) for kind, count in stats.redacted.items())]


ROUTES = (Route("/figures", endpoint(page)),)
