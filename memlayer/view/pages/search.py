"""Search: the hits of a question, and the reasons for their order."""

from __future__ import annotations

import datetime

from starlette.responses import Response

from memlayer.errors import UserError
from memlayer.kinds import CATEGORIES, Category, Kind
from memlayer.view.pages.today import day_of, span_ms
from memlayer.view.visit import Visit
from memlayer.wire import memories as ops

HITS = 20
PARTS = {
    "relevance": "how near it is, from 0 to 1",
    "lexical": "shared words",
    "vector": "shared meaning",
    "importance": "how much it binds",
    "recency": "how new it is",
}


def page(visit: Visit) -> Response:
    """Return the hits of the words in the address."""
    query, category, kind = visit.text("q"), visit.text("category"), visit.text("kind")
    since, until, file = visit.text("since"), visit.text("until"), visit.text("file")
    found = None
    if query:
        if category not in ("", *(one.value for one in Category)):
            raise UserError("category: that is none")
        wanted = ops.Search(
            query, visit.folder, visit.number("limit", HITS, most=200), 0.0, _start(since), _end(until), category, kind,
            visit.text("session"), file,
        )  # fmt: skip
        found = visit.ask(wanted)
    names = [(one.value, row.noun) for one, row in CATEGORIES.items()]
    return visit.page(
        "search.html", "Search", query=query, found=found, category=category, kind=kind, since=since, until=until,
        file=file, categories=names, kinds=[str(one) for one in Kind], parts_meaning=PARTS,
    )  # fmt: skip


def _start(day: str) -> int:
    return span_ms(day_of(day))[0] if day else 0


def _end(day: str) -> int:
    return span_ms(day_of(day) if day else datetime.date.today())[1] if day else 0
