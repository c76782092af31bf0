"""Notes: the notebook, a note with its history, refusals, the review."""

import datetime
from collections.abc import Sequence

from starlette.responses import Response
from starlette.routing import Route

from memlayer.edge.counting import counted
from memlayer.errors import UserError
from memlayer.kinds import CATEGORIES, KINDS, Category, Kind
from memlayer.view.pages.today import day_of, span_ms
from memlayer.view.problems import NotFound
from memlayer.view.texts import harmless, paged
from memlayer.view.visit import Visit, endpoint
from memlayer.wire import curation as curation_ops
from memlayer.wire import memories as memory_ops
from memlayer.wire import memories as ops
from memlayer.wire import notes as note_ops
from memlayer.wire import sharing as share_ops
from memlayer.wire.memories import MemoryRow

HITS = 20
PARTS = {
    "relevance": "how near it is, from 0 to 1",
    "lexical": "shared words",
    "vector": "shared meaning",
    "importance": "how much it binds",
    "recency": "how new it is",
}
PAGE_ROWS = 50
ROWS = 10_000
STATES = ("", "pinned", "used", "unused", "ended")


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


def listing(visit: Visit) -> Response:
    """Return the notebook by kind, filtered."""
    query, kind, state = visit.text("q"), visit.text("kind"), visit.text("state")
    rows = visit.ask(
        memory_ops.List(visit.folder, category=Category.CORE, limit=ROWS, with_superseded=state == "ended")
    ).memories
    kinds = sorted({row.kind for row in rows}, key=_place)
    rows = [row for row in rows if _is_wanted(row, query, kind, state)]
    rows.sort(key=lambda row: (_place(row.kind), not row.pinned, -row.at_ms))
    number = visit.number("page", 1)
    shown, pages = paged(rows, number, PAGE_ROWS)
    return visit.page(
        "notes.html", "Notes", rows=shown, total=len(rows), kinds=kinds, kind=kind, state=state, states=STATES,
        query=query, number=min(number, pages), page_count=pages,
    )  # fmt: skip


def _place(kind: str) -> int:
    names = [str(known) for known in KINDS]
    return names.index(kind) if kind in names else len(names)


def _is_wanted(row: MemoryRow, query: str, kind: str, state: str) -> bool:
    words = harmless(query).casefold().split()
    told = harmless("%s %s %s" % (row.text, row.headline, row.subject)).casefold()
    fits = {
        "": not row.ended_because,
        "pinned": row.pinned,
        "used": row.level > 0,
        "unused": row.level == 0,
        "ended": bool(row.ended_because),
    }
    return fits.get(state, True) and kind in ("", row.kind) and all(word in told for word in words)


def note(visit: Visit) -> Response:
    """Return one memory: its words in their turn, its history, its uses."""
    shown = _matches(visit, visit.path["id"])
    matches = [(match, _versions(visit, match.memory)) for match in shown]
    team = visit.ask(share_ops.TeamStatus(visit.folder)).address if visit.folder else ""
    return visit.page("note.html", "Note", matches=matches, is_core=Category.CORE, team=team)


def _matches(visit: Visit, name: str) -> Sequence[memory_ops.Shown]:
    matches = visit.ask(memory_ops.Show((name,))).matches
    if not matches:
        raise NotFound(f"Nothing is known by {harmless(name)[:40]!r}: it was forgotten, or never there")
    return matches


def _versions(visit: Visit, memory: MemoryRow) -> Sequence[MemoryRow]:
    """Return the versions of a statement, newest first."""
    is_turn = memory.category is Category.CONVERSATION
    return [] if is_turn else visit.ask(memory_ops.History(memory.id)).versions


def forgetting(visit: Visit) -> Response:
    """Return the list of all that would go, and the question."""
    keeps = visit.text("keep") == "1"
    [match, *_] = _matches(visit, visit.path["id"])
    memory = match.memory
    found = visit.ask(curation_ops.Forget((memory.id,), keep_sources=keeps, dry_run=True))
    return visit.page("forget.html", "Forget", memory=memory, found=found, keeps=keeps)


def forget(visit: Visit) -> Response:
    """Forget a memory for good."""
    keeps = visit.form.get("keep") == "1"
    done = visit.ask(curation_ops.Forget((visit.path["id"],), keep_sources=keeps))
    removed = done.removed
    rows = ((removed.memories, "memory"), (removed.events, "event"), (removed.chunks, "chunk"))
    told = f"Forgotten: {', '.join(counted(*row) for row in rows)}."
    told += "".join(f" It may still stand in {place}." for place in done.left)
    return visit.back("/notes", told)


def edit(visit: Visit) -> Response:
    """Give a note another text, headline or subject."""
    text = visit.form.get("text", "").strip()
    if not text:
        raise UserError("The text is empty. To take a note away, forget it")
    done = visit.ask(memory_ops.Edit(visit.path["id"], text, visit.form.get("headline"), visit.form.get("subject")))
    return _told(visit, done, "Changed. The earlier text is in its history; restore brings it back.")


def pin(visit: Visit) -> Response:
    """Pin a note, or unpin it."""
    is_off = visit.form.get("off") == "1"
    done = visit.ask(memory_ops.Pin(visit.path["id"], is_off))
    return _told(visit, done, "Unpinned." if is_off else "Pinned: it ranks first.")


def promote(visit: Visit) -> Response:
    """Give a note to the project's team, or take it back."""
    is_back = visit.form.get("off") == "1"
    done = visit.ask(share_ops.Promote(visit.path["id"], is_back))
    told = "Taken back from the team." if is_back else "The team has it."
    return visit.back(f"/notes/{done.memory.id}", f"Not yet: {done.problem}" if done.problem else told)


def restore(visit: Visit) -> Response:
    """Bring an earlier version back."""
    done = visit.ask(memory_ops.Restore(visit.path["id"], visit.form.get("both") == "1"))
    return _told(visit, done, "Back again.")


def _told(visit: Visit, done: memory_ops.Changed, told: str) -> Response:
    told = told if done.is_changed else "Nothing is changed: it is so already."
    return visit.back(f"/notes/{done.memory.id}", told)


def refused(visit: Visit) -> Response:
    """Return the notes of the reading model that were not kept."""
    found, state = visit.ask(note_ops.RefusedNotes(visit.folder, 500)), visit.ask(note_ops.Notes(visit.folder))
    return visit.page("refused.html", "Refused notes", found=found, state=state)


def review(visit: Visit) -> Response:
    """Return the memories that a person should look at."""
    found = visit.ask(curation_ops.Review(visit.folder, 100)) if visit.folder else curation_ops.ReviewList()
    return visit.page("review.html", "Review", found=found)


def decide(visit: Visit) -> Response:
    """Carry out a decision of the review, or take the last back."""
    how = visit.form.get("how", "")
    if how == "undo":
        done = visit.ask(curation_ops.UndoReview(visit.folder))
        return visit.back("/review", f"Undone: {done.how}.")
    visit.ask(
        curation_ops.Decide(
            how, visit.form.get("id", ""), visit.form.get("other", ""), visit.form.get("text", ""), visit.folder
        )
    )
    told = {"keep": "Kept.", "edit": "Changed.", "merge": "Merged.", "drop": "Dropped.", "yes": "The task is changed."}
    return visit.back("/review", told.get(how, "Noted."))


ROUTES = (
    Route("/search", endpoint(page)),
    Route("/notes", endpoint(listing)),
    Route("/notes/refused", endpoint(refused)),
    Route("/notes/{id}", endpoint(note)),
    Route("/notes/{id}/forget", endpoint(forgetting)),
    Route("/notes/{id}/forget", endpoint(forget), methods=["POST"]),
    Route("/notes/{id}/edit", endpoint(edit), methods=["POST"]),
    Route("/notes/{id}/pin", endpoint(pin), methods=["POST"]),
    Route("/notes/{id}/promote", endpoint(promote), methods=["POST"]),
    Route("/notes/{id}/restore", endpoint(restore), methods=["POST"]),
    Route("/review", endpoint(review)),
    Route("/review", endpoint(decide), methods=["POST"]),
)
