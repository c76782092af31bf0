"""Operations on single memories: remember, pin, edit, restore, history."""

from collections.abc import Callable

from memlayer.daemon.ops.requests import Progress, memory_row, one_named, row_of, scope_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, derived
from memlayer.edge.capture.payload import clean
from memlayer.errors import UserError
from memlayer.keep import keep
from memlayer.kinds import Category
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery, events_by_id, memories_by_id
from memlayer.turns.turn_memory import MAX_HEADLINE_CHARS, MAX_SUBJECT_CHARS
from memlayer.wire import memories as ops

SAID = ("user", "assistant", "remember")


def remember(state: State, arguments: ops.Remember, progress: Progress) -> ops.Remembered:
    """Take in a `remember` event from the spool. Return its core memory.

    older: memories that it replaced. newer: the memory that replaced it already. contradicts: pinned memories that
    say otherwise.
    """
    services = services_of(state)
    store, event_id = services.store, arguments.id_
    batches.take_soon(state).result()
    # Its own, or the one it was merged with. An older statement of a file may be replaced from the start.
    memories = store.memories(MemoryQuery(source_ids=[event_id], category=Category.CORE)) if event_id else []
    if not memories:
        raise UserError("Nothing to remember: it is empty, private, or was forgotten before")
    ids = {memory.id for memory in memories}
    latest = [memory for memory in memories if memory.superseded_by not in ids]  # no earlier wording of another one
    memory = next((memory for memory in latest if memory.holds), (latest or memories)[0])
    newest = keep.head(store, memory)
    older = [
        old for old in store.memories(MemoryQuery(superseded_by=[memory.id])) if not keep.is_wording_of(old, memory)
    ]
    return ops.Remembered(
        memory=memory_row(state, memory),
        is_new=memory.source_ids == (event_id,),
        older=[memory_row(state, old) for old in older if old.ended_ms == memory.at_ms],
        newer=[memory_row(state, newest)] if newest.id != memory.id else [],
        contradicts=[memory_row(state, pinned) for pinned in services.consolidator.pinned_against(memory)],
    )


def pin(state: State, arguments: ops.Pin, progress: Progress) -> ops.Changed:
    """Pin a memory, or unpin it (`off`)."""
    services = services_of(state)
    memory = one_named(services.store, arguments.id_)
    return _changed(state, memory, lambda: services.consolidator.pin(memory, not arguments.off))


def edit(state: State, arguments: ops.Edit, progress: Progress) -> ops.Changed:
    """Give a memory another text, headline or subject, redacted here."""
    services = services_of(state)
    memory = one_named(services.store, arguments.id_)
    is_headed = arguments.headline is not None or arguments.subject is not None
    text = memory.text if is_headed and not arguments.text else clean(arguments.text)
    headline, subject = (None if given is None else clean(given) for given in (arguments.headline, arguments.subject))
    for name, line, most in (("headline", headline, MAX_HEADLINE_CHARS), ("subject", subject, MAX_SUBJECT_CHARS)):
        if line and len(line) > most:
            raise UserError("a %s has at most %d characters, this one has %d" % (name, most, len(line)))
    return _changed(state, memory, lambda: services.consolidator.edit(memory, text, headline, subject))


def restore(state: State, arguments: ops.Restore, progress: Progress) -> ops.Changed:
    """Make an ended memory hold again."""
    services = services_of(state)
    memory = one_named(services.store, arguments.id_)
    newest = keep.head(services.store, memory)
    done = _changed(state, memory, lambda: services.consolidator.restore(memory, keep_both=arguments.keep_both))
    ended = memories_by_id(services.store, [newest.id] if newest.holds else []).values()
    return done.changed(replaces=[memory_row(state, row) for row in ended if not row.holds])


def _changed(state: State, memory: Memory, change: Callable[[], Memory]) -> ops.Changed:
    """Have the writer make a change and publish it.

    memory: the named one. An earlier wording of it that comes back changes its successor.
    """
    before = [memory, *memories_by_id(services_of(state).store, [memory.superseded_by]).values()]
    after = derived.written(state, "change", change)
    return ops.Changed(memory=memory_row(state, after), is_changed=after not in before)


def history(state: State, arguments: ops.History, progress: Progress) -> ops.Versions:
    """Return a memory's versions, newest first, with sources."""
    store = services_of(state).store
    memory = one_named(store, arguments.id_, scope_of(state, arguments.limit_dir))
    newest = keep.head(store, memory)
    versions = [newest, *keep.before(store, newest)]
    events = events_by_id(store, (source for version in versions for source in version.source_ids))
    said = {key: replace(event, text="") for key, event in events.items() if event.kind in SAID}
    return ops.Versions(
        asked=memory.id,
        versions=[
            row_of(state, version, ops.Version, sources=[said[key] for key in version.source_ids if key in said])
            for version in versions
        ],
    )
