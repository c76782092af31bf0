"""Stored turns that the next prompt of their session took back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, TypeVar

from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, TurnId
from memlayer.ports import MemoryQuery, Store
from memlayer.turns.retraction import Order, not_held, order_of
from memlayer.turns.turn_memory import prompt_of

MAX_TURNS = 10_000  # of one session


class _OfPrompt(Protocol):
    @property
    def prompt_id(self) -> str: ...


Row = TypeVar("Row", bound=_OfPrompt)


def retracted(store: Store, made: Sequence[Memory]) -> tuple[set[TurnId], set[TurnId]]:
    """Return turns that did not hold, and stored ones to make again.

    made: turns as they are about to be stored. Both sets are of their sessions. Of a session whose newest turn is made
    anew, and takes nothing back, nothing else is read: that is every turn of a day but a few. Raises StoreError.
    """
    gone: set[TurnId] = set()
    changed: set[TurnId] = set()
    by_session: dict[str, list[Memory]] = {}
    for memory in made:
        by_session.setdefault(memory.session_id, []).append(memory)
    for session_id, own in by_session.items():
        if _is_newest(store, session_id, own) and all(order_of(prompt_of(turn)) is Order.NONE for turn in own):
            continue
        stored = store.memories(MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=MAX_TURNS))
        rows = {turn.id: turn for turn in stored}
        rows.update(
            (turn.id, turn) for turn in own if turn.id not in rows or rows[turn.id].known_kind is not Kind.REWOUND
        )
        not_held_now = taken_back(rows.values())
        gone |= not_held_now
        changed |= {
            _turn(row) for row in stored if (row.known_kind is Kind.DID_NOT_HOLD) != (_turn(row) in not_held_now)
        }
    return gone, changed


def taken_back(turns: Iterable[Memory]) -> set[TurnId]:
    """Return those of a session's turns that did not hold.

    A run's prompt takes nothing back, nor does one that was left.
    """
    told = [turn for turn in turns if turn.by is not Author.RUN and turn.known_kind is not Kind.REWOUND]
    ordered = sorted(told, key=lambda turn: (turn.at_ms, turn.id))
    return {_turn(ordered[place]) for place in not_held([prompt_of(turn) for turn in ordered])}


def not_left(store: Store, session_id: str, rows: Sequence[Row]) -> list[Row]:
    """Return a session's rows without those of turns that its conversation left."""
    query = MemoryQuery(session_id=session_id, category=Category.CONVERSATION, kind=Kind.REWOUND, limit=MAX_TURNS)
    left = {turn.prompt_id for turn in store.memories(query)}
    return [row for row in rows if row.prompt_id not in left]


def wrongly_marked(store: Store) -> set[TurnId]:
    """Return stored turns whose mark is out of date. Raises StoreError."""
    sessions: dict[str, list[Memory]] = {}
    for turn in store.memories(MemoryQuery(category=Category.CONVERSATION, limit=10_000_000)):
        sessions.setdefault(turn.session_id, []).append(turn)
    return {
        _turn(turn)
        for turns in sessions.values()
        for gone in [taken_back(turns)]
        for turn in turns
        if (turn.known_kind is Kind.DID_NOT_HOLD) != (_turn(turn) in gone)
    }


def _is_newest(store: Store, session_id: str, own: Sequence[Memory]) -> bool:
    """True if no other stored turn of the session is later."""
    first_ms = min(turn.at_ms for turn in own)
    ids = {turn.id for turn in own}
    newest = store.memories(MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=len(own) + 1))
    return all(row.id in ids or row.at_ms < first_ms for row in newest)


def _turn(memory: Memory) -> TurnId:
    return memory.session_id, memory.prompt_id
