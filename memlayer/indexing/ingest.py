"""Spool to store: events, the turns they make, and the chunks of the search index. Doing it twice changes nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import spool_event
from memlayer.edge.capture.tool_use import EVERY_TOOL, ToolRules
from memlayer.errors import EmbedderError
from memlayer.indexing.term_stats import TermStats
from memlayer.indexing.turn_memories import carried_over, full_text, is_searched, turn_memory
from memlayer.model import GLOBAL, Chunk, Event, Memory, chunk_id, turn_memory_id
from memlayer.ports import Embedder, Store, Vector
from memlayer.records.projects import Projects
from memlayer.records.self_references import without_repeats
from memlayer.records.sessions import Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.text.terms import index_terms
from memlayer.turns.turn import pieces, unlabelled

BATCH = 200  # spool files taken in at once: LanceDB wants batches, a person who waits wants progress
# What an event can raise that no hook of ours has written. A store or a disk that fails raises something else.
FOREIGN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
log = logging.getLogger(__name__)

CurrentEmbedder = Callable[[], "Embedder | None"]


class VectorCache(Protocol):
    """Vectors by content; see adapters.embedding_cache."""

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]: ...

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None: ...

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None: ...


class Ingest:
    """Takes events into the store. One thread calls it (the daemon's writer)."""

    def __init__(
        self,
        *,
        home: str,
        store: Store,
        projects: Projects,
        sessions: Sessions,
        embedder: CurrentEmbedder,
        cache: VectorCache,
        terms: TermStats,
        tombstones: Tombstones,
        max_tokens: int,
        overlap_tokens: int,
        capturing: bool = True,
        tools: ToolRules = EVERY_TOOL,
    ) -> None:
        self._home = home
        self._store = store
        self._projects = projects
        self._sessions = sessions
        self._embedder = embedder
        self._cache = cache
        self._terms = terms
        self._tombstones = tombstones
        self._max_tokens = max_tokens
        self._overlap_tokens = overlap_tokens
        self._capturing = capturing
        self._tools = tools
        self.lock = threading.RLock()  # one batch at a time, whoever drives it
        # What becomes of events of kind `remember`; they leave the spool only after it.
        self.on_remember: Callable[[Sequence[Event]], object] = lambda events: None
        self.on_new: Callable[[Sequence[Event]], object] = lambda events: None  # events that were not there before

    def drain(self, on_progress: Callable[[int, int], None] | None = None) -> tuple[int, set[str]]:
        """Take in everything that waits in the spool now; returns (events taken, ids of the projects they belong to).

        What comes meanwhile has a drain of its own: under a steady load this one would never end. Files that are torn
        or foreign, or cannot be taken in, go to quarantine. Raises StoreError or OSError; the files then stay.
        """
        taken = 0
        touched: set[str] = set()
        waiting = spool.waiting(self._home)
        for start in range(0, len(waiting), BATCH):
            batch: list[dict[str, object]] = []
            done: list[str] = []
            for path in waiting[start : start + BATCH]:
                try:
                    event, reason = spool.load(path)
                    if event is None:
                        spool.quarantine(self._home, path, reason)
                    else:
                        batch.append(event)
                        done.append(path)
                except FileNotFoundError:
                    continue
                except OSError as bad:  # unreadable now; it stays and is tried again on the next drain
                    log.warning("spool file not readable: %s", bad.strerror)
            try:
                with self.lock:
                    touched |= self.take(batch)
            except FOREIGN:
                touched |= self._one_by_one(batch, done)
            spool.drop(done)
            taken += len(done)
            if on_progress is not None:
                on_progress(taken, len(waiting))
        return taken, touched

    def _one_by_one(self, batch: Sequence[dict[str, Any]], files: Sequence[str]) -> set[str]:
        """Take what can be taken of a batch that failed; what cannot goes to quarantine, and holds up nothing."""
        touched: set[str] = set()
        for event, path in zip(batch, files, strict=True):
            try:
                with self.lock:
                    touched |= self.take([event])
            except FOREIGN as bad:
                log.error("an event cannot be taken in: %s", type(bad).__name__)
                spool.quarantine(self._home, path, "cannot be taken in: %s" % type(bad).__name__)
        return touched

    @property
    def forgotten(self) -> Tombstones:
        """What must not be made again."""
        return self._tombstones

    def take(self, captured: Iterable[dict[str, Any]], *, is_history: bool = False) -> set[str]:
        """Take captured events (payload.SPOOL_FIELDS) into the store; returns the ids of the projects touched.

        They are on disk when it returns. Switched off, it drops them: a hook without a daemon spools all the same.
        is_history: a person asked for them; they change no session's record, and embed_some gives them their vectors.
        """
        given = list(captured)
        standing = {id(one) for one in self._tombstones.standing(given, is_history=is_history)}
        events = []
        for one in given:
            if not (self._capturing or is_history) and one["kind"] != "remember":
                continue
            if one["kind"] == "tool" and not self._tools.keeps(one["detail"]):
                continue  # a hook without a daemon keeps what it might want
            event = self._event(one)
            # Before the event can be found: whose context it is in must be known by then.
            if event.kind != "remember" and not is_history:  # said for the memory, perhaps outside any session
                self._sessions.heard(one, event.project_id)
            if id(one) in standing:
                events.append(event)
        if not events:
            return set()
        events = self._told_apart(without_repeats(events, self._store))
        added = frozenset(self._store.add_events(events))
        self.on_new([event for event in events if event.id in added])
        # All turns of the batch, not only those of new events: a crash may have come between events and memories.
        self.remember({(event.session_id, event.prompt_id) for event in events if event.prompt_id}, not is_history)
        self.on_remember([event for event in events if event.kind == "remember"])
        return {event.project_id for event in events}

    def remember(self, turns: set[tuple[str, str]], embed: bool = True) -> None:
        """Make or renew memories and chunks of the turns (session id, prompt id), from their events in the store."""
        memories, chunks = [], []
        found = self._store.events(prompt_ids=sorted({prompt_id for _, prompt_id in turns}), limit=100_000)
        ids = [turn_memory_id(*turn) for turn in turns]
        known = {memory.id: memory for memory in self._store.memories(ids=ids, limit=len(ids))}
        for session_id, prompt_id in sorted(turns):
            events = [event for event in found if (event.session_id, event.prompt_id) == (session_id, prompt_id)]
            memory = turn_memory(events)
            if memory is not None:
                memory = carried_over(known.get(memory.id), memory)
                memories.append(memory)
            if memory is not None and is_searched(memory):
                chunks += self.chunks_of(memory, full_text(sorted(events, key=lambda e: (e.kind != "user", e.at_ms))))
        if memories:
            self._store.put_memories(memories)
            self.index(memories, chunks, embed)

    def index(self, memories: Sequence[Memory], chunks: Sequence[Chunk], embed: bool = True) -> None:
        """Replace the chunks of these memories."""
        embedded = self._embedded(chunks) if embed else chunks  # takes long: until it is done the old chunks are found
        self._store.drop_chunks([memory.id for memory in memories])
        self._store.put_chunks(embedded)
        for one in chunks:
            self._terms.add(one.id, one.terms.split())

    def chunks_of(self, memory: Memory, text: str) -> list[Chunk]:
        """The chunks of a memory whose whole text is `text`, without vectors."""
        out = []
        cut = pieces(text, max_tokens=self._max_tokens, overlap_tokens=self._overlap_tokens)
        for ordinal, (start, end, piece) in enumerate(cut):
            out.append(
                Chunk(
                    id=chunk_id(memory.id, memory.id, ordinal),
                    memory_id=memory.id,
                    event_id=memory.source_ids[0] if memory.source_ids else "",
                    role=memory.kind,
                    session_id=memory.session_id,
                    project_id=memory.project_id,
                    prompt_id=memory.prompt_id,
                    category=memory.category,
                    importance=1.0 if memory.pinned else memory.importance,
                    at_ms=memory.at_ms,
                    start=start,
                    end=end,
                    text=piece,
                    terms=index_terms(unlabelled(piece)),
                )
            )
        return out

    def vectors_of(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of passages, from the cache where it has them; [] without an embedder. Raises EmbedderError."""
        embedder = self._embedder()
        return self._vectors(embedder, texts) if embedder is not None else []

    def embed_missing(self, batch: int, on_progress: Callable[[int, int], None] | None = None) -> int:
        """Give vectors to chunks that have none of the current model, `batch` at a time; returns how many."""
        embedder = self._embedder()
        if embedder is None:
            return 0
        done, total = 0, self._store.count_unembedded(embedder.fingerprint)
        while made := self.embed_some(batch):
            done += made
            if on_progress is not None:
                on_progress(done, max(total, done))
        return done

    def embed_some(self, batch: int) -> int:
        """Give vectors to up to `batch` chunks that have none of the current model; returns how many."""
        embedder = self._embedder()
        if embedder is None:
            return 0
        with self.lock:
            missing = self._store.unembedded(embedder.fingerprint, batch)
            if missing:
                vectors = self._vectors(embedder, [unlabelled(chunk.text) for chunk in missing])
                self._store.set_vectors(
                    [(chunk.id, vector) for chunk, vector in zip(missing, vectors, strict=True)], embedder.fingerprint
                )
            return len(missing)

    def _event(self, captured: dict[str, Any]) -> Event:
        is_global = captured["kind"] == "remember" and captured.get("detail") == GLOBAL
        project_id = GLOBAL if is_global else self._projects.resolve(captured["project_dir"])[0]
        return Event(
            id=captured["id"], kind=captured["kind"], session_id=captured["session_id"], project_id=project_id,
            prompt_id=captured["prompt_id"], text=captured["text"], at_ms=captured["at_ms"], source=captured["source"],
            uuid=str(captured.get("uuid", "")), detail=str(captured.get("detail", "")),
        )  # fmt: skip

    def _told_apart(self, events: Sequence[Event]) -> list[Event]:
        """Two hooks that saw different texts under one id saw two things: the later one gets an id of its own.

        A transcript that differs from what a hook saw before is the same thing seen twice; a hook that comes after the
        transcript was read in mid-turn has seen more.
        """
        known = {event.id: event for event in self._store.events(ids=[event.id for event in events], limit=100_000)}
        out = []
        for event in events:
            first = known.get(event.id)
            if first is None:
                known[event.id] = event
            elif first.text != event.text and event.source == "hook":
                made = spool_event(
                    kind=event.kind, session_id=event.session_id, prompt_id=event.prompt_id, text=event.text,
                    at_ms=event.at_ms, extra=event.text,
                )  # fmt: skip
                event = Event(**{**event.__dict__, "id": str(made["id"])})
            out.append(event)
        return out

    def _embedded(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        embedder = self._embedder()
        if embedder is None or not chunks:
            return list(chunks)
        try:
            vectors = self._vectors(embedder, [unlabelled(chunk.text) for chunk in chunks])
        except EmbedderError as bad:  # searchable by its words now; embed_missing tries again
            log.warning("chunks stay without vectors: %s", bad)
            return list(chunks)
        return [
            Chunk(**{**chunk.__dict__, "vector": vector, "model": embedder.fingerprint})
            for chunk, vector in zip(chunks, vectors, strict=True)
        ]

    def _vectors(self, embedder: Embedder, texts: Sequence[str]) -> list[Vector]:
        vectors = self._cache.get_many(embedder.fingerprint, texts)
        missing = [text for text in dict.fromkeys(texts) if text not in vectors]
        if missing:
            made = dict(zip(missing, embedder.embed_passages(missing), strict=True))
            self._cache.put_many(embedder.fingerprint, made)
            vectors = {**vectors, **made}
        return [vectors[text] for text in texts]
