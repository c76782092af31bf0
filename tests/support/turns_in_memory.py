"""Ingest and recall over a store in memory.

The doubles are those that ship.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from memlayer.consolidation.consolidator import Consolidator
from memlayer.consolidation.rules.own_words import own_words
from memlayer.edge.capture.payload import read_payload
from memlayer.give.outcomes import Outcomes, SupersededStatements
from memlayer.give.project_notes import ProjectNotes
from memlayer.give.recall import Recall, Recalled, RecallRules
from memlayer.give.retriever import Retriever
from memlayer.indexing.ingest import Ingest
from memlayer.indexing.retracted import LiveSessions
from memlayer.keep.indexer import Indexer, TermStats
from memlayer.keep.keep import Keep
from memlayer.model import Memory, Scope, turn_memory_id
from memlayer.ports import Embedder, MemoryQuery, Store, Vector
from memlayer.records.projects import Projects
from memlayer.records.sessions import Session, Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.tasks.book import TaskBook
from memlayer.tasks.graph import Graph, link
from tests.support.memory_store import MemoryStore

T0_MS = 1_795_260_000_000
PROJECT = "/home/dev/상점"


class NoCache:
    """A vector cache that keeps nothing."""

    def get_many(self, fingerprint: str, texts: Sequence[str]) -> dict[str, Vector]:
        return {}

    def put_many(self, fingerprint: str, vectors: Mapping[str, Vector]) -> None:
        """Nothing is kept."""

    def keep_only(self, scan: Callable[[Callable[[str], None]], None]) -> None:
        """Nothing was kept."""


def keep_over(store: Store, home: Path, embedder: Embedder | None = None) -> Keep:
    """Return the way of memories into a store, without tasks."""
    terms = TermStats()
    indexer = Indexer(store, embedder=lambda: embedder, cache=NoCache(), terms=terms)
    return Keep(store, indexer, Tombstones(str(home)))


class TurnsInMemory:
    """Takes hook events and recalls them.

    Times are milliseconds after T0_MS.
    """

    def __init__(self, home: Path, embedder: Embedder | None = None) -> None:
        self.store = MemoryStore() if embedder is None else MemoryStore(embedder.dimensions)
        self.sessions = Sessions(str(home))
        self.projects = Projects(str(home), lambda _: "")
        terms = TermStats()
        self.tombstones = Tombstones(str(home))
        self.indexer = Indexer(self.store, embedder=lambda: embedder, cache=NoCache(), terms=terms)
        self.graph = Graph(home / "graph.sqlite")
        self.keep = Keep(self.store, self.indexer, self.tombstones, partial(link, self.store, self.graph))
        self.tasks = TaskBook(self.keep, self.graph, lambda: T0_MS + 10**9, own_words)
        self.consolidator = Consolidator(self.keep, self.sessions, self.tasks, self._now)
        self.ingest = Ingest(
            home=str(home), consolidator=self.consolidator, projects=self.projects, sessions=self.sessions
        )
        self.live = LiveSessions(self.store)
        superseded = SupersededStatements(self.store)
        notes = ProjectNotes(self.store, terms)
        self.outcomes = Outcomes(self.store, terms)
        retriever = Retriever(self.store, lambda: embedder, terms)
        self.recall = Recall(retriever, self.live, superseded, notes, self.outcomes)

    def _now(self) -> int:
        return T0_MS + 10**9

    @classmethod
    def by_the_shipped_model(cls, home: Path, said: Sequence[tuple[str, str]], a_session: int = 5) -> "TurnsInMemory":
        """Return turns embedded by the model that ships.

        Each is a prompt and an answer, so many a session.
        """
        from memlayer.adapters.embedding.fastembed_embedder import (
            load,  # it takes half a second, and most need no model
        )
        from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL

        memory = cls(home, load(SHIPPED_MODEL, home))
        for number, (prompt, answer) in enumerate(said):
            memory.turn("s%d" % (number // a_session), "p%d" % number, prompt, answer, at=1000 * number)
        return memory

    def hook(self, name: str, session: str, prompt_id: str, at: int, project: str = PROJECT, **said: str) -> None:
        """Take in the event of one hook."""
        raw = json.dumps({"session_id": session, "prompt_id": prompt_id, **said}).encode()
        event: dict[str, Any] | None = read_payload(name, raw, project_dir=project, at_ms=T0_MS + at).event
        assert event is not None
        self.ingest.take([event])
        self.live.heard(event)

    def turn(
        self, session: str, prompt_id: str, prompt: str, answer: str = "", *, at: int = 0, project: str = PROJECT
    ) -> Memory:
        """A turn, without an answer when that is ""; returns its memory."""
        self.hook("user_prompt_submit", session, prompt_id, at, project, prompt=prompt)
        if answer:
            self.hook("stop", session, prompt_id, at + 1, project, last_assistant_message=answer)
        [memory] = self.store.memories(MemoryQuery(ids=[turn_memory_id(session, prompt_id)]))
        return memory

    def ask(
        self, prompt: str, rules: RecallRules | None = None, session: Session | None = None, project: str = PROJECT
    ) -> Recalled:
        """Return the recall result of a prompt.

        It comes in another session unless one is given.
        """
        scope = Scope((self.projects.resolve(project)[0],))
        return self.recall.answer(prompt, scope, rules or RecallRules(), session or Session(id="another"))
