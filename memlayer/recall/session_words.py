"""The words that each live session has said, kept in memory: a prompt is compared with them to see its new ones."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from memlayer.ports import Store
from memlayer.text.terms import index_terms

MAX_SESSIONS = 200
MAX_TERMS = 20_000
MAX_EVENTS = 400  # of a session that began under another daemon


@dataclass
class SessionWords:
    """prompts: how many the session had before. terms: the terms that stand in its context."""

    prompts: int = 0
    terms: set[str] = field(default_factory=set)

    def hear(self, kind: str, text: str) -> None:
        self.prompts += kind == "user"
        if len(self.terms) < MAX_TERMS:
            self.terms.update(index_terms(text[:20_000]).split())


class LiveSessions:
    """Session id -> its words. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._words: OrderedDict[str, SessionWords] = OrderedDict()
        self._lock = threading.Lock()

    def heard(self, event: Mapping[str, Any]) -> None:
        """Take in a redacted event (edge.capture.payload.SPOOL_FIELDS) that a hook brought."""
        session_id, kind = event["session_id"], event["kind"]
        with self._lock:
            if kind in ("user", "assistant") and not event["detail"]:
                if session_id in self._words:  # of another the store is asked first: it may hold earlier turns
                    self._known(session_id).hear(kind, event["text"])
            elif kind == "session_start" and event["detail"] in ("startup", "clear"):
                self._words[session_id] = SessionWords()  # nothing was said yet: no need to ask the store
                self._trim()
            elif kind == "session_start" and event["detail"] == "compact" and session_id in self._words:
                self._words[session_id].terms.clear()  # a compaction takes the words out of the context
            elif kind == "session_end":
                self._words.pop(session_id, None)

    def of(self, session_id: str, since_ms: int = 0) -> SessionWords:
        """The words of a session before the prompt at hand, since that moment. Raises StoreError."""
        with self._lock:
            if session_id in self._words:
                return self._words[session_id]
        events = [  # the daemon may be younger than the session
            event
            for kind in ("user", "assistant")
            for event in self._store.events(session_id=session_id, kind=kind, limit=MAX_EVENTS)
        ]
        with self._lock:
            words = self._known(session_id)
            if not words.prompts:
                for event in events:
                    if not event.detail and event.at_ms >= since_ms:
                        words.hear(event.kind, event.text)
            return words

    def clear(self) -> None:
        """Drop everything: some of it may have been forgotten, and the store is asked anew."""
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
