"""Answers what a person does with single memories: remember, pin, edit, restore, and their history."""

from __future__ import annotations

from collections.abc import Callable

from memlayer.consolidation import lineage
from memlayer.daemon.ops.arguments import text_of
from memlayer.daemon.ops.queries import Fields, Operation, Progress, memory_fields, named, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import upkeep
from memlayer.edge.capture.payload import clean
from memlayer.errors import UserError
from memlayer.model import Memory
from memlayer.ports import Store
from memlayer.text.citation import bare_id

SAID = ("user", "assistant", "remember")


def remember(state: State, asked: Fields, progress: Progress) -> Fields:
    """The core memory of a `remember` event that waits in the spool (by its id), what it superseded, what was said so
    soon after it that it holds no more, and the pinned memories that say otherwise."""
    store = services_of(state).store
    event_id = text_of(asked, "id")
    state.jobs.submit("drain", lambda: upkeep.drain(state)).result()
    # Its own, or the one it was merged with; an older statement of a file may be superseded from the start.
    found = store.memories(source_ids=[event_id], category="core") if event_id else []
    if not found:
        raise UserError("Nothing to remember: it is empty, private, or was forgotten before")
    ids = {one.id for one in found}
    held = [one for one in found if one.superseded_by not in ids]  # not earlier wordings of one of them
    memory = next((one for one in held if not one.superseded_by), (held or found)[0])
    newest = lineage.head(store, memory)
    older = [one for one in store.memories(superseded_by=[memory.id]) if not lineage.is_wording_of(one, memory)]
    return {
        "memory": memory_fields(state, memory),
        "is_new": memory.source_ids == (event_id,),
        "older": [memory_fields(state, one) for one in older if one.superseded_ms == memory.at_ms],
        "newer": [memory_fields(state, newest)] if newest.id != memory.id else [],
        "contradicts": [memory_fields(state, one) for one in services_of(state).consolidator.pinned_against(memory)],
    }


def pin(state: State, asked: Fields, progress: Progress) -> Fields:
    """Pin a memory, or unpin it (`off`)."""
    memory = _one(services_of(state).store, asked)
    is_on = not asked.get("off")
    return _done(state, lambda: services_of(state).consolidator.pin(memory, is_on))


def edit(state: State, asked: Fields, progress: Progress) -> Fields:
    """Give a memory another text; it is redacted here, too."""
    memory = _one(services_of(state).store, asked)
    text = clean(text_of(asked, "text"))
    return _done(state, lambda: services_of(state).consolidator.edit(memory, text))


def restore(state: State, asked: Fields, progress: Progress) -> Fields:
    """Have a superseded memory hold again."""
    memory = _one(services_of(state).store, asked)
    keep_both = bool(asked.get("keep_both"))
    return _done(state, lambda: services_of(state).consolidator.restore(memory, keep_both=keep_both))


def history(state: State, asked: Fields, progress: Progress) -> Fields:
    """Every version of a memory, the one that holds first, each with its state and its sources."""
    store = services_of(state).store
    memory = _one(store, asked)
    newest = lineage.head(store, memory)
    versions = [newest, *lineage.before(store, newest)]
    by_id = {one.id: one for one in versions}
    ids = sorted({source for one in versions for source in one.source_ids})
    events = {event.id: event for event in store.events(ids=ids, limit=len(ids))} if ids else {}
    return {
        "asked": memory.id,
        "versions": [
            {
                **memory_fields(state, one),
                "state": lineage.state_of(one, by_id.get),
                "sources": [
                    {name: getattr(events[key], name) for name in ("id", "kind", "at_ms", "session_id", "source")}
                    for key in one.source_ids
                    if key in events and events[key].kind in SAID
                ],
            }
            for one in versions
        ],
    }


OPERATIONS: dict[str, Operation] = {
    "remember": remember,
    "pin": pin,
    "edit": edit,
    "restore": restore,
    "history": history,
}


def _done(state: State, change: Callable[[], Memory]) -> Fields:
    """Have the writer make a change; what is made of the project's memories is made again."""

    def job() -> Memory:
        memory = change()
        upkeep.memories_changed(state, services_of(state).consolidator.changed_projects())
        return memory

    return {"memory": memory_fields(state, state.jobs.submit("change %d" % id(change), job).result())}


def _one(store: Store, asked: Fields) -> Memory:
    """The one memory that is meant. Raises UserError for none and for several."""
    wanted = bare_id(text_of(asked, "id"))
    found = named(store, wanted)
    if not found:
        raise UserError("Nothing is known by %r. `memlayer list` and `memlayer search` show citations" % wanted)
    if len(found) > 1:
        raise UserError("%r means several memories. Give a key: %s" % (wanted, ", ".join(one.key for one in found)))
    return found[0]
