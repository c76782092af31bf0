"""Stored turns that the next prompt of their session took back."""

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from memlayer.edge.capture.payload import IN_WORDS
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, TurnId
from memlayer.ports import MemoryQuery, Store
from memlayer.text.terms import index_terms
from memlayer.turns.retraction import Order, not_held, order_of
from memlayer.turns.turn_memory import prompt_of

MAX_SESSIONS = 200
MAX_TERMS = 20_000
MAX_EVENTS = 800  # of a session that began under another daemon
SAID = ("user", "assistant")
MAX_TURNS = 10_000  # of one session


@dataclass
class SessionWords:
    """prompts: number of earlier prompts. terms: those in the session's context."""

    prompts: int = 0
    terms: set[str] = field(default_factory=set)

    def hear(self, kind: str, text: str) -> None:
        self.prompts += kind == "user"
        if len(self.terms) < MAX_TERMS:
            self.terms.update(index_terms(text[:20_000]).split())


class LiveSessions:
    """The words of each session by its id. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._words: OrderedDict[str, SessionWords] = OrderedDict()
        self._lock = threading.Lock()

    def heard(self, event: Mapping[str, Any]) -> None:
        """Take in a hook's redacted event (edge.capture.payload.SPOOL_FIELDS)."""
        session_id, kind = event["session_id"], event["kind"]
        with self._lock:
            if kind in SAID and event["detail"] in IN_WORDS:
                if session_id in self._words:  # an unknown one is read from the store first: it may hold earlier turns
                    self._known(session_id).hear(kind, event["text"])
            elif kind == "session_start" and event["detail"] in ("startup", "clear"):
                self._words[session_id] = SessionWords()  # a new session has nothing in the store
                self._trim()
            elif kind == "session_start" and event["detail"] == "compact" and session_id in self._words:
                self._words[session_id].terms.clear()  # a compaction empties the context
            elif kind == "session_end":
                self._words.pop(session_id, None)

    def begin(self, session_id: str) -> None:
        """Note a session that has nothing in the store."""
        with self._lock:
            self._known(session_id)

    def of(self, session_id: str, since_ms: int = 0) -> SessionWords:
        """Return a session's words since a moment, before the prompt. Raises StoreError."""
        with self._lock:
            if session_id in self._words:
                return self._words[session_id]
        # The daemon may be younger than the session.
        events = self._store.events(session_id=session_id, kind=SAID, limit=MAX_EVENTS)
        with self._lock:
            words = self._known(session_id)
            if not words.prompts:
                for event in events:
                    if event.detail in IN_WORDS and event.at_ms >= since_ms:
                        words.hear(event.kind, event.text)
            return words

    def knows(self, session_id: str) -> bool:
        """Return whether a session's words need not be read from the store."""
        with self._lock:
            return session_id in self._words

    def clear(self) -> None:
        """Drop everything, since some may be forgotten; read again on demand."""
        with self._lock:
            self._words.clear()

    def _known(self, session_id: str) -> SessionWords:
        words = self._words.setdefault(session_id, SessionWords())
        self._words.move_to_end(session_id)
        self._trim()
        return words

    def _trim(self) -> None:
        while len(self._words) > MAX_SESSIONS:
            self._words.popitem(last=False)


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
