"""The words of live sessions, to find a prompt's new ones."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memlayer.edge.capture.payload import IN_WORDS
from memlayer.ports import Store
from memlayer.text.terms import index_terms

MAX_SESSIONS = 200
MAX_TERMS = 20_000
MAX_EVENTS = 800  # of a session that began under another daemon
SAID = ("user", "assistant")


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
