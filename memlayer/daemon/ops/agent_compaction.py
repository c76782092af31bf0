"""Compacted talks: their summaries, their constraints, their restoration.

The host keeps its own transcripts. The agent's talks are kept here alone.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from memlayer.consolidation.rules.extraction import has
from memlayer.consolidation.rules.own_words import own_words
from memlayer.edge.capture.spool import event_id
from memlayer.kinds import KINDS, Author, Category, Ended, Kind
from memlayer.model import Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import flatten
from memlayer.text.sentences import USER, candidates
from memlayer.turns.salience import new_memory

SAID = ("user", "assistant", "tool")
MAX_EVENTS = 20_000
MAX_CONSTRAINT_CHARS = 4_000  # of all constraints
MAX_RULE_CHARS = 300  # of a sentence of a prompt
_LOOKED_AT = 300
_PROMPTS = 2000


@dataclass(frozen=True)
class OpenTalk:
    """A talk as it goes on.

    summary: of the turns that were compacted, "" for none. events: what came after them, oldest first.
    """

    summary: str
    events: tuple[Event, ...]


def put_summary(store: Store, session_id: str, text: str, *, kept: Collection[str], at_ms: int) -> Memory | None:
    """Store the summary of a session's turns as a daily memory.

    kept: prompt ids of the turns that it does not cover. None without a turn that it covers. Forgetting one of these
    turns forgets the summary. Raises StoreError.
    """
    events = [event for event in _said(store, session_id) if event.prompt_id not in kept]
    if not events or not text.strip():
        return None
    made = event_id(session_id, "", Kind.COMPACTION, str(at_ms))
    memory = new_memory(
        made, Category.DAILY, Kind.COMPACTION, text.strip(), at_ms, project_id=events[-1].project_id,
        session_id=session_id, by=Author.MODEL, source_ids=tuple(event.id for event in events),
    )  # fmt: skip
    store.put_memories([memory])
    return memory


def undo(store: Store, session_id: str, at_ms: int) -> Memory | None:
    """Retire the last summary of a session, None without one.

    Its turns come back with the next restored(). Raises StoreError.
    """
    last = _last(store, session_id)
    if last is not None:
        store.put_memories([last.ended(Ended.LET_GO, at_ms)])
    return last


def restored(store: Store, session_id: str) -> OpenTalk:
    """Return a session's talk from its events. Raises StoreError."""
    last = _last(store, session_id)
    covered = frozenset(last.source_ids) if last is not None else frozenset()
    events = tuple(event for event in _said(store, session_id) if event.id not in covered)
    return OpenTalk(last.text if last is not None else "", events)


def _last(store: Store, session_id: str) -> Memory | None:
    query = MemoryQuery(session_id=session_id, category=Category.DAILY, kind=Kind.COMPACTION, is_current=True, limit=1)
    return next(iter(store.memories(query)), None)


def _said(store: Store, session_id: str) -> list[Event]:
    events = store.events(session_id=session_id, limit=MAX_EVENTS)
    return [event for event in events if event.kind in SAID]


def session_constraints(store: Store, session_id: str, excluded_ids: Collection[str] = ()) -> list[str]:
    """Return texts with the person's preferences and decisions in a session.

    Oldest first, at most MAX_CONSTRAINT_CHARS of the newest: statements that hold, and sentences of prompts that sound
    like a rule or a decision and became no statement. Too many are no harm in a compacted context, a missing one is.
    excluded_ids: memories that stand there already. Raises StoreError.
    """
    core = store.memories(MemoryQuery(session_id=session_id, category=Category.CORE, limit=_LOOKED_AT))
    over = {source for memory in core if not memory.holds for source in memory.source_ids}
    current = [memory for memory in core if memory.holds]
    stated = [row for row in current if KINDS[row.known_kind].binds and row.by is Author.PERSON]
    dated = [(memory.at_ms, flatten(memory.text)) for memory in stated if memory.id not in excluded_ids]
    known = [flatten(memory.text) for memory in current]
    for event in store.events(session_id=session_id, kind="user", limit=_PROMPTS):
        if event.detail or event.id in over:
            continue
        rules = (
            flatten(sentence.text)
            for sentence in candidates(own_words(event.text), USER)
            if not sentence.asks and _is_rule(sentence.text)
        )
        dated += [(event.at_ms, rule) for rule in rules if not any(rule in text for text in known)]
    left, kept = MAX_CONSTRAINT_CHARS, []
    for _, text in sorted(dict.fromkeys(dated), key=lambda pair: -pair[0]):
        left -= len(text) + 1
        if left < 0:
            break
        kept.append(text)
    return kept[::-1]


def _is_rule(sentence: str) -> bool:
    return len(sentence) <= MAX_RULE_CHARS and (has("standing", sentence) or has("decided", sentence))
