"""What each live session said last, kept in memory: how a follow-up ("why did we choose that?") is to be read."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from memlayer.ports import Store

MAX_SESSIONS = 200
KEPT_CHARS = 300  # of a prompt, and of its answer: the subject is often named there for the first time


class RecentTurns:
    """session id -> the last prompt and the head of its answer. Thread-safe. Costs nothing until it is asked."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._asked: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def heard(self, event: Mapping[str, Any]) -> None:
        """A redacted event (core.payload.SPOOL_FIELDS) that a hook brought."""
        if event["kind"] == "user" and not event["detail"]:
            self._keep(event["session_id"], event["text"])
        elif event["kind"] == "assistant" and not event["detail"]:
            self._answered(event["session_id"], event["text"])
        elif event["kind"] == "session_start" and event["detail"] in ("startup", "clear"):
            self._keep(event["session_id"], "")  # nothing was said yet: no need to ask the store
        elif event["kind"] == "session_end":
            with self._lock:
                self._asked.pop(event["session_id"], None)

    def before(self, session_id: str, known: bool) -> str:
        """The turn before the prompt at hand, "" for the first. known: this session has a past that the store may hold
        (the daemon may have been started in its middle). Raises StoreError."""
        with self._lock:
            if session_id in self._asked:
                return self._asked[session_id]
        if not known:
            return ""
        spoken = [self._store.events(session_id=session_id, kind=kind, limit=3) for kind in ("user", "assistant")]
        for event in sorted((event for kind in spoken for event in kind), key=lambda event: event.at_ms):
            if event.kind == "user":
                self._keep(session_id, event.text)
            else:
                self._answered(session_id, event.text)
        with self._lock:
            return self._asked.setdefault(session_id, "")

    def clear(self) -> None:
        """Some of it may have been forgotten: the store is asked anew."""
        with self._lock:
            self._asked.clear()

    def _answered(self, session_id: str, text: str) -> None:
        with self._lock:
            asked = self._asked.get(session_id, "")
            self._asked[session_id] = "%s\n%s" % (asked.split("\n", 1)[0], text[:KEPT_CHARS])

    def _keep(self, session_id: str, text: str) -> None:
        with self._lock:
            self._asked[session_id] = " ".join(text[:KEPT_CHARS].split())
            self._asked.move_to_end(session_id)
            while len(self._asked) > MAX_SESSIONS:
                self._asked.popitem(last=False)
