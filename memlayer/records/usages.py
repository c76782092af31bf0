"""Uses of memories: shown by recall, cited by answers, opened by look-ups."""

import logging
import os
import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from memlayer.edge.home import given_notes
from memlayer.errors import StoreError
from memlayer.model import CITED, GLOBAL, OPENED, SHOWN, Event, Memory, Usage, usage_of
from memlayer.ports import MemoryQuery, Store, UsageQuery, events_by_id, memories_by_id
from memlayer.wire.memories import UsageShare

MAX_CITED = 50  # in one answer: a longer list is a listing
MANY = 1_000_000
DAY_MS = 86_400_000
_CITATION = re.compile(r"\[mem:([0-9A-Za-z]{6})\]")
log = logging.getLogger(__name__)


class UsageLog:
    """Writer of uses to the store, each once; in the daemon's writer."""

    def __init__(self, home: str, store: Store, *, is_tracking: bool = True) -> None:
        self._home = home
        self._store = store
        self._is_tracking = is_tracking
        self._recorded: frozenset[str] = frozenset()  # prompts and starts whose notes are recorded
        self._read: tuple[int, int] = (-1, -1)  # size and time of the record of given notes when it was read

    def heard(self, events: Iterable[Event]) -> None:
        """Record the memories that new answers cite.

        A citation counts where it names a memory of the answer's own project, or of every project: forged ones and
        those of other projects name none. A failure is logged: the answer itself is kept whatever becomes of its uses.
        """
        self._put(lambda: self._cited_by(events))

    def _cited_by(self, events: Iterable[Event]) -> list[Usage]:
        named = {event: cited_in(event.text) for event in events if event.kind == "assistant"}
        citations = sorted({citation for cited in named.values() for citation in cited})
        known = self._store.memories(MemoryQuery(citations=citations, limit=MANY)) if citations else []
        return [
            usage_of(memory, CITED, session_id=event.session_id, prompt_id=event.prompt_id, at_ms=event.at_ms)
            for event, cited in named.items()
            for memory in known
            if memory.citation in cited and memory.project_id in (event.project_id, GLOBAL)
        ]

    def shown(self) -> None:
        """Record the notes given by the record on disk."""
        if not self._is_tracking:
            return
        try:
            info = os.stat(given_notes.path_of(self._home))
        except OSError:
            return
        if (info.st_size, info.st_mtime_ns) == self._read:
            return
        entries = [entry for entry in given_notes.entries(self._home) if entry.get("delivered") and entry.get("given")]
        self._store.put_usages(self._usages_of([entry for entry in entries if entry["event_id"] not in self._recorded]))
        self._recorded = frozenset(entry["event_id"] for entry in entries)
        self._read = info.st_size, info.st_mtime_ns

    def _usages_of(self, entries: Sequence[dict[str, Any]]) -> list[Usage]:
        rows = [row for entry in entries for row in entry["given"]]
        citations = sorted({str(row["citation"]) for row in rows if row.get("citation")})
        memories = [
            *memories_by_id(self._store, (str(row["id"]) for row in rows if row.get("id"))).values(),
            *(self._store.memories(MemoryQuery(citations=citations, limit=MANY)) if citations else ()),
        ]
        events = events_by_id(self._store, (str(entry["event_id"]) for entry in entries))
        prompts = {id_: event.prompt_id for id_, event in events.items()}
        return [
            usage_of(
                memory,
                SHOWN,
                session_id=entry["session_id"],
                prompt_id="" if "start" in entry else prompts.get(entry["event_id"], ""),
                at_ms=entry["at_ms"],
            )
            for entry in entries
            for row in entry["given"]
            for memory in memories
            if memory.id == row.get("id")
            or (memory.citation == row.get("citation") and memory.project_id in (entry["project_id"], GLOBAL))
        ]

    def opened(self, memories: Sequence[Memory], session_id: str, at_ms: int) -> None:
        """Record the memories that a person or model opened; log failures."""
        self._put(
            lambda: [usage_of(memory, OPENED, session_id=session_id, prompt_id="", at_ms=at_ms) for memory in memories]
        )

    def _put(self, uses: Callable[[], list[Usage]]) -> None:
        try:
            if self._is_tracking:
                self._store.put_usages(uses())
        except StoreError as bad:
            log.warning("uses are not recorded: %s", bad)


def cited_in(text: str) -> list[str]:
    """The citations of an answer, each once; none of a listing."""
    citations = list(dict.fromkeys(_CITATION.findall(text)))
    return citations if len(citations) <= MAX_CITED else []


def uses_within(store: Store, days: int) -> UsageShare:
    """Count uses of some days, a memory once a session. Raises StoreError.

    The lines that a session starts with are no answer to anything: they count as shown to nobody. A person's
    look-up has no session, and is no use by a model.
    """
    seen: dict[str, set[tuple[str, str]]] = {SHOWN: set(), CITED: set(), OPENED: set()}
    for use in store.usages(UsageQuery(since_ms=int(time.time() * 1000) - days * DAY_MS, limit=MANY)):
        if use.prompt_id if use.how == SHOWN else use.session_id or use.how != OPENED:
            seen[use.how].add((use.memory_id, use.session_id))
    return UsageShare(days, len(seen[SHOWN]), len(seen[CITED]), len(seen[OPENED]), len(seen[SHOWN] & seen[CITED]))


def sessions_citing(store: Store, memory_id: str) -> list[Usage]:
    """Return the last citation of each session, newest first."""
    newest: dict[str, Usage] = {}
    for use in store.usages(UsageQuery(memory_ids=[memory_id], how=CITED)):
        newest.setdefault(use.session_id, use)
    return list(newest.values())
