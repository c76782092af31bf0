"""The one place that chooses adapters: from settings to the services of one memlayer home."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from memlayer.config import Settings
from memlayer.core.context import Budget
from memlayer.core.scoring import Weights
from memlayer.ports import Embedder, Store
from memlayer.service.embedder_slot import EmbedderSlot
from memlayer.service.forget import Forget
from memlayer.service.ingest import Ingest, VectorCache
from memlayer.service.projects import Projects
from memlayer.service.recall import Recall, RecallRules
from memlayer.service.recent_turns import RecentTurns
from memlayer.service.retriever import Retriever
from memlayer.service.sessions import Sessions
from memlayer.service.term_stats import TermStats
from memlayer.service.tombstones import Tombstones
from memlayer.service.working_set import WorkingSetRules
from memlayer.wire import paths


@dataclass(frozen=True)
class Services:
    """Everything the daemon's handlers speak to once the store is open."""

    store: Store
    cache: VectorCache
    terms: TermStats
    ingest: Ingest
    retriever: Retriever
    recent: RecentTurns
    recall: Recall
    forget: Forget

    def close(self) -> None:
        """Settle and release the store."""
        self.store.close()


def open_projects(home: str) -> Projects:
    """The project registry, with git to ask for root commits."""
    from memlayer.adapters.git import root_commit

    return Projects(home, root_commit)


def open_services(
    home: str, settings: Settings, *, projects: Projects, sessions: Sessions, embedder: EmbedderSlot
) -> Services:
    """Open the store and everything on it. Takes a second or two: LanceDB is slow to import. Raises StoreError."""
    from memlayer.adapters.lean_import import import_lancedb

    import_lancedb()
    from memlayer.adapters.embedding_cache import EmbeddingCache
    from memlayer.adapters.lance_store import LanceStore

    # 0: the length of the vectors is what the store has, until the model is loaded and says what it is.
    store = LanceStore.open(Path(paths.store(home)), 0)
    paths.make_folder(paths.cache(home))
    cache = EmbeddingCache(Path(paths.cache(home)) / "embeddings.sqlite", settings.embedding.cache_max_bytes)
    terms_path = Path(paths.cache(home)) / "terms.bin"
    terms = TermStats.load(terms_path, store.stats().chunks) or TermStats.counted(store)
    tombstones = Tombstones(home)
    ingest = Ingest(
        home=home,
        store=store,
        projects=projects,
        sessions=sessions,
        embedder=embedder,
        cache=cache,
        terms=terms,
        tombstones=tombstones,
        max_tokens=settings.chunking.max_tokens,
        overlap_tokens=settings.chunking.overlap_tokens,
        capturing=settings.capture.enabled,
    )
    retriever = Retriever(store=store, embedder=embedder, terms=terms)
    recent = RecentTurns(store)
    recall = Recall(retriever, recent)
    forget = Forget(home=home, store=store, cache=cache, tombstones=tombstones, sessions=sessions)
    return Services(
        store=store, cache=cache, terms=terms, ingest=ingest, retriever=retriever, recent=recent, recall=recall,
        forget=forget,
    )  # fmt: skip


def embedder_maker(home: str, settings: Settings) -> Callable[[], Embedder] | None:
    """What loads the embedding model (slow; may raise EmbedderError); None when the user wants none."""
    chosen = settings.embedding
    if chosen.provider == "none":
        return None

    def make() -> Embedder:
        from memlayer.adapters import lean_import, model_folder

        if model_folder.find(chosen.model) is not None:
            lean_import.import_fastembed()
        from memlayer.adapters.fastembed_embedder import load

        return load(chosen.model, chosen.cache_dir or os.path.join(paths.cache(home), "models"))

    return make


def recall_rules(settings: Settings) -> RecallRules:
    """The user's settings as the recall service takes them."""
    chosen = settings.recall
    return RecallRules(
        enabled=chosen.enabled,
        budget=Budget(chosen.max_entries, chosen.max_entry_chars, chosen.max_chars),
        min_score=chosen.min_score,
        candidates=chosen.candidates,
        weights=Weights(
            lexical=chosen.weight_lexical,
            vector=chosen.weight_vector,
            relevance=chosen.weight_relevance,
            importance=chosen.weight_importance,
            recency=chosen.weight_recency,
            half_life_days=chosen.half_life_days,
        ),
    )


def working_set_rules(settings: Settings) -> WorkingSetRules:
    """The user's settings as the working set takes them."""
    chosen = settings.working_set
    return WorkingSetRules(chosen.enabled, chosen.max_entries, chosen.max_chars)
