"""Operations on memories under review: the list, a decision, its undoing."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from memlayer.daemon.ops.requests import Progress, Table, memory_row, one_named, project_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.edge.capture.payload import clean
from memlayer.edge.ipc import answers, ops
from memlayer.errors import UserError
from memlayer.model import Memory
from memlayer.notes.review import How, Item, Place, Review
from memlayer.notes.review_log import ReviewLog

Value = TypeVar("Value")


def review(state: State, arguments: ops.Review, progress: Progress) -> answers.ReviewList:
    """Return a project's memories under review, the most urgent first."""
    items = _review_of(state).items(_place_of(state, arguments.project_dir), _now_ms())
    return {"items": [_item_fields(state, item) for item in items[: arguments.limit]], "total": len(items)}


def decide(state: State, arguments: ops.Decide, progress: Progress) -> answers.Decided:
    """Carry out a person's decision on a memory under review."""
    reviewer, place = _review_of(state), _place_of(state, arguments.project_dir)
    try:
        how = How(arguments.how)
    except ValueError:
        raise UserError("%.40r is no decision. Give one of %s" % (arguments.how, ", ".join(How))) from None
    store = services_of(state).store
    memory = one_named(store, arguments.id_)
    other = one_named(store, arguments.other) if arguments.other else None
    if other is not None and (other.id == memory.id or other.project_id != memory.project_id or other.superseded_by):
        raise UserError(f"{other.key} cannot be merged with {memory.key}: give another memory in force of its project")
    item = _item_of(reviewer.items(place, _now_ms()), memory)
    text = clean(arguments.text).strip()
    held = _written(state, lambda: reviewer.decide(item, how, _now_ms(), text=text, other=other))
    return {"how": how, "memory": memory_row(state, held)}


def undo(state: State, arguments: ops.UndoReview, progress: Progress) -> answers.Undone:
    """Take the last decision of a project back.

    memory: None for a kept one.
    """
    reviewer, project_id = _review_of(state), _place_of(state, arguments.project_dir).project_id
    decision, memory = _written(state, lambda: reviewer.undo(project_id))
    return {"how": decision.how, "memory": memory_row(state, memory) if memory is not None else None}


def _item_of(items: list[Item], memory: Memory) -> Item:
    """Return the item about a memory, from its side.

    Raises UserError for none.
    """
    for item in items:
        if item.memory.id == memory.id:
            return item
        if item.against is not None and item.against.id == memory.id:
            return Item(memory, item.reason, item.why, item.memory)
    raise UserError(f"{memory.key} is not under review. `memlayer edit` and `memlayer forget` change any memory")


def _item_fields(state: State, item: Item) -> answers.ReviewItem:
    against = memory_row(state, item.against) if item.against is not None else None
    return {"memory": memory_row(state, item.memory), "reason": item.reason, "why": item.why, "against": against}


def _review_of(state: State) -> Review:
    services = services_of(state)
    return Review(services.store, services.readings, ReviewLog(state.home), services.consolidator)


def _place_of(state: State, folder: str) -> Place:
    project_id = project_of(state, folder)
    moments = [session.last_ms for session in state.sessions.all() if session.project_id == project_id]
    return Place(project_id, state.projects.root(project_id), lambda at_ms: sum(last > at_ms for last in moments))


def _written(state: State, change: Callable[[], Value]) -> Value:
    """Have the writer make a change and publish it."""

    def job() -> Value:
        value = change()
        derived.memories_changed(state, services_of(state).consolidator.changed_projects())
        return value

    result: Value = state.jobs.submit("review %d" % id(change), job).result()
    return result


def _now_ms() -> int:
    return int(time.time() * 1000)


OPERATIONS: Table = {ops.Review: review, ops.Decide: decide, ops.UndoReview: undo}
