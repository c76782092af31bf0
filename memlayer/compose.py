"""Composition root: adapters, rules and services of a home from settings."""

import contextlib
import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from memlayer.config import Settings
from memlayer.config.providers import PROVIDERS, VECTOR_PROVIDERS, is_loopback
from memlayer.consolidation.consolidator import Consolidator
from memlayer.consolidation.rules.own_words import own_words
from memlayer.deletion.erase import Erasure
from memlayer.deletion.forget import Forget, Retention, RetentionRules
from memlayer.edge.capture.tool_use import ToolRules
from memlayer.edge.home import paths
from memlayer.errors import EmbedderError, ShareError
from memlayer.give.outcomes import Outcomes, SupersededStatements
from memlayer.give.project_notes import ProjectNotes
from memlayer.give.recall import Recall, RecallRules
from memlayer.give.retriever import Retriever, Weights
from memlayer.give.working_set import WorkingSetRules
from memlayer.indexing.ingest import Ingest
from memlayer.indexing.retracted import LiveSessions
from memlayer.keep.indexer import CurrentEmbedder, Indexer, TermStats
from memlayer.keep.keep import Keep
from memlayer.memory_files.edits import Edits
from memlayer.memory_files.extra_files import ExtraFiles
from memlayer.memory_files.folders import FileRules
from memlayer.memory_files.sync import MemoryFiles
from memlayer.model import Event
from memlayer.notes.keeper import NoteKeeper
from memlayer.notes.reader import SessionReader
from memlayer.notes.reading_log import ReadingLog
from memlayer.ports import Embedder, ModelMissing, Store
from memlayer.providers.chosen import language_model
from memlayer.records.model_budget import ModelBudget
from memlayer.records.projects import Projects, root_commit, turned_off, turned_on
from memlayer.records.sessions import Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.records.usages import UsageLog
from memlayer.sharing.engine import shown
from memlayer.sharing.share import read_share
from memlayer.sharing.sync import Sharing
from memlayer.tasks.book import TaskBook
from memlayer.tasks.graph import Graph, link
from memlayer.team.places import IN_ORIGIN, IN_WORK_TREE, projects_with_team, read_team
from memlayer.team.teams import Teams
from memlayer.text.context_block import Budget
from memlayer.transcripts import host_memory
from memlayer.transcripts.importer import ImportRecord
from memlayer.transfer.export import Exports
from memlayer.wire.notes import ModelUse

PROMPT_S = 0.5  # what the hook of a prompt waits for the daemon at most
DAILY_CALLS = 1000  # of the reader, beside its tokens
VECTORS_S = 20.0  # for one request of a provider of vectors, in the background
QUERY_SHARE = 0.6  # of a recall's time for the vector of its query. The rest is for the search by words


@dataclass(frozen=True)
class RoomSettings:
    """The user's settings as each room takes them."""

    recall: RecallRules
    retention: RetentionRules
    tools: ToolRules
    working_set: WorkingSetRules

    @classmethod
    def of(cls, settings: Settings) -> "RoomSettings":
        """Make the rules of settings."""
        recall, retention, tools = settings.recall, settings.retention, settings.tools
        return cls(
            recall=RecallRules(
                enabled=recall.enabled,
                budget=Budget(recall.max_entries, max_chars=recall.max_chars),
                min_chance=recall.min_chance,
                weights=Weights(lexical=1 - recall.weight_vector, vector=recall.weight_vector),
            ),
            retention=RetentionRules(
                retention.conversation_days, retention.daily_days, retention.core_days, retention.tools_days
            ),
            tools=ToolRules(tools.enabled, tools.kept),
            working_set=WorkingSetRules(settings.working_set.enabled),
        )


@dataclass(frozen=True)
class Process:
    """The process around services; the default does all of it at once.

    in_writer: runs a job in the thread that writes the store. reads_later: whether turns are consolidated later than
    they are kept. heard: called with new events. forget: erases rows that another machine has forgotten, by ids, and
    returns how many. arrived: called when rows of another machine or person came.
    """

    in_writer: Callable[[str, Callable[[], Any]], Any] = lambda name, job: job()
    reads_later: Callable[[], bool] = lambda: True
    heard: Callable[[Sequence[Event]], object] = lambda events: None
    forget: Callable[[Sequence[str]], int] = lambda ids: 0
    arrived: Callable[[], object] = lambda: None


@dataclass(frozen=True)
class Services:
    """The services of an open store."""

    store: Store
    keep: Keep
    ingest: Ingest
    recall: Recall
    tasks: TaskBook
    forget: Forget
    retention: Retention
    imports: ImportRecord
    consolidator: Consolidator
    files: MemoryFiles
    exports: Exports
    usages: UsageLog
    readings: ReadingLog
    reader: SessionReader | None
    sharing: Sharing
    teams: Teams

    def close(self) -> None:
        """Settle and release the store."""
        self.store.close()


def open_projects(home: str) -> Projects:
    """Open the project registry, with git to ask for root commits."""
    return Projects(home, root_commit)


def open_services(
    home: str,
    settings: Settings,
    *,
    projects: Projects,
    sessions: Sessions,
    embedder: CurrentEmbedder,
    process: Process = Process(),
) -> Services:
    """Open the store and its services, slowly. Raises StoreError."""
    from memlayer.adapters.embedding import lazy_import

    with lazy_import.ONE_AT_A_TIME:
        lazy_import.import_lancedb()
        from memlayer.adapters.lance.store import LanceStore
        from memlayer.adapters.sqlite_files import EmbeddingCache, ImportLog

    # 0: the vectors keep the length that the store has, until the model is loaded and says its own.
    store = LanceStore.open(Path(paths.store(home)), 0)
    paths.make_folder(paths.cache(home))
    cache = EmbeddingCache(Path(paths.cache(home)) / "embeddings.sqlite")
    terms_path = Path(paths.cache(home)) / "terms.bin"
    terms = TermStats.load(terms_path, store.stats().chunks) or TermStats.counted(store)
    tombstones = Tombstones(home)
    indexer = Indexer(store, embedder=embedder, cache=cache, terms=terms)
    graph = Graph(Path(paths.cache(home)) / "graph.sqlite")
    keep = Keep(store, indexer, tombstones, partial(link, store, graph))
    tasks = TaskBook(keep, graph, own_words=own_words)
    consolidator = Consolidator(keep, sessions, tasks)
    usages = UsageLog(home, store, is_tracking=settings.citations.track)

    ingest = Ingest(
        home=home,
        consolidator=consolidator,
        projects=projects,
        sessions=sessions,
        capturing=settings.capture.enabled,
        tools=RoomSettings.of(settings).tools,
        on_new=(usages.heard, process.heard),
        reads_later=process.reads_later,
    )
    retriever = Retriever(store=store, embedder=embedder, terms=terms)
    live = LiveSessions(store)
    outcomes = Outcomes(store, terms)
    recall = Recall(retriever, live, SupersededStatements(store), ProjectNotes(store, terms), outcomes)
    readings = ReadingLog(home)
    erasure = Erasure(home, sessions, readings, tasks)
    forget = Forget(home, store, erasure, tombstones, sessions, projects)
    retention = Retention(home, store, erasure, tombstones)
    extra = ExtraFiles(
        home=home,
        keep=keep,
        projects=projects,
        named=settings.files.extra_paths,
        host_folders=(lambda: host_memory.folders(sessions.all())) if settings.files.host_memory else dict,
    )
    files = MemoryFiles(
        home=home,
        store=store,
        projects=projects,
        edits=Edits(consolidator),
        extra=extra,
        rules=FileRules(settings.files.enabled, settings.files.location == "project"),
    )
    return Services(
        store=store, keep=keep, ingest=ingest, recall=recall, tasks=tasks, forget=forget,
        retention=retention, consolidator=consolidator, files=files,
        exports=Exports(keep, projects, sessions),
        imports=ImportLog(Path(paths.cache(home)) / "imports.sqlite"), usages=usages, readings=readings,
        reader=session_reader(settings, home, store, NoteKeeper(keep, tasks)),
        sharing=Sharing(home, keep, projects, process.in_writer, process.forget, process.arrived),
        teams=Teams(home, keep, projects, process.in_writer, process.arrived),
    )  # fmt: skip


def embedder_maker(home: str, settings: Settings) -> Callable[[], Embedder] | None:
    """Return a slow loader of the embedding model (EmbedderError), or None."""
    chosen = settings.embedding
    if chosen.provider == "none":
        return None

    def make() -> Embedder:
        provider = _embedding_provider(settings)
        if provider in VECTOR_PROVIDERS:
            return _remote_embedder(home, settings, provider)
        from memlayer.adapters.embedding import lazy_import, model_folder

        with lazy_import.ONE_AT_A_TIME:
            lazy_import.import_fastembed(to_fetch=model_folder.find(chosen.local_model) is None)
            from memlayer.adapters.embedding.fastembed_embedder import load

        return load(chosen.local_model, os.path.join(paths.cache(home), "models"))

    return make


def _embedding_provider(settings: Settings) -> str:
    """Return the provider; for `auto` the first that can be had.

    Its order: the files of a local model, a key of OpenAI, a key of Gemini. Raises EmbedderError when there is none.
    """
    chosen = settings.embedding
    if chosen.provider != "auto":
        return chosen.provider
    from memlayer.adapters.embedding import model_folder

    with contextlib.suppress(EmbedderError):
        if model_folder.find(chosen.local_model) is not None:
            return "fastembed"
    for provider in VECTOR_PROVIDERS:
        if os.environ.get(PROVIDERS[provider].key_variable, "").strip():
            return provider
    raise EmbedderError(
        "embedding.provider is auto, and there is no local model and no key in %s where the daemon was started"
        % " or ".join(PROVIDERS[provider].key_variable for provider in VECTOR_PROVIDERS)
    )


def _remote_embedder(home: str, settings: Settings, provider: str) -> Embedder:
    """Load the embedder of a provider that texts are sent to."""
    from memlayer.providers.endpoint import Asker, Endpoint
    from memlayer.providers.remote_embedder import ServiceCalls, load
    from memlayer.providers.vector_services import SERVICES

    chosen, row = settings.embedding, PROVIDERS[provider]
    is_named = chosen.provider == provider  # `auto` takes what is usual
    base_url, api_key_env, model = (chosen.base_url, chosen.api_key_env, chosen.model) if is_named else ("", "", "")
    endpoint = Endpoint(row, Asker("embedding"), base_url, row.key_for(base_url, api_key_env))
    service = SERVICES[provider](endpoint, model or row.vectors, row.dimensions)
    recall_s = min(settings.recall.deadline_ms / 1000, PROMPT_S)
    budget = _embedding_budget(home, settings)
    asking = ServiceCalls(service, budget, query_deadline_s=QUERY_SHARE * recall_s, deadline_s=VECTORS_S)
    return load(asking, Path(os.path.join(paths.cache(home), "models")))


def _embedding_budget(home: str, settings: Settings) -> ModelBudget:
    return ModelBudget(paths.embedding_use(home), daily_tokens=settings.embedding.daily_tokens)


def embedding_use(settings: Settings, home: str) -> ModelUse:
    """Return the tokens of the provider of embeddings."""
    return _embedding_budget(home, settings).summary().changed(is_on=settings.embedding.is_remote)


def sends(settings: Settings, home: str, place: str) -> list[str]:
    """Return all that leaves this machine as chosen, and where to.

    place: of the embedding model that is loaded, "" on this machine.
    """
    reader, talks = settings.consolidation, settings.agent
    out = []
    if reader.provider != "rules" and settings.notes.enabled and not is_loopback(reader.base_url):
        read = "finished sessions" if reader.reads == "session" else "turns"
        out.append(f"{read} to {_server(reader.provider, reader.base_url)}")
    vectors = settings.embedding
    if (vectors.provider in VECTOR_PROVIDERS or place) and not is_loopback(vectors.base_url):
        out.append(f"stored texts and prompts to {place or _server(vectors.provider, vectors.base_url)}, for vectors")
    if talks.provider and not is_loopback(talks.base_url):
        out.append(f"talks of `memlayer agent` to {_server(talks.provider, talks.base_url)}")
    try:
        share = read_share(home)
        teams = [read_team(home, project_id) for project_id in projects_with_team(home)]
    except ShareError as bad:
        return [*out, str(bad)]
    if share is not None:
        how = " by hand" * (not share.is_automatic)
        out.append(f"prompts, answers and memories to {shown(share.address)}{how}")
    addresses = dict.fromkeys(row.address for row in teams if row is not None)
    near = {IN_WORK_TREE: "a repository's .memlayer/team", IN_ORIGIN: "a repository's remote"}
    return [*out, *(f"promoted notes to {near.get(address) or shown(address)}" for address in addresses)]


def _server(provider: str, base_url: str) -> str:
    return urlsplit(base_url).hostname or provider


def language_model_since(settings: Settings, home: str, now_ms: int) -> int:
    """Note since when (Unix ms) a language model is on, or off."""
    chosen = settings.consolidation
    if chosen.provider == "rules":
        turned_off(home)
        return now_ms
    return turned_on(home, ("%s %s" % (chosen.provider, chosen.base_url)).strip(), now_ms)


def session_reader(settings: Settings, home: str, store: Store, keeper: NoteKeeper) -> SessionReader | None:
    """Return the reader of sessions, if a model is on; loads nothing."""
    chosen = settings.consolidation
    if chosen.provider == "rules" or not settings.notes.enabled:
        return None
    model = language_model(settings)
    return SessionReader(
        store=store,
        keeper=keeper,
        readings=ReadingLog(home),
        model=model,
        budget=ModelBudget(paths.model_use(home), daily_calls=DAILY_CALLS, daily_tokens=chosen.daily_tokens),
        since_ms=language_model_since(settings, home, time.time_ns() // 1_000_000),
        each_turn=chosen.reads_turns,
        own_tokens=PROVIDERS[chosen.provider].own_tokens,
        hang_up=getattr(model, "close", lambda: None),  # of a program. A request dies with this process
    )


def model_use(settings: Settings, home: str) -> ModelUse:
    """Return the language model's budget and use."""
    chosen, lacks = settings.consolidation, ""
    is_on = chosen.provider != "rules"
    budget = ModelBudget(paths.model_use(home), daily_calls=DAILY_CALLS, daily_tokens=chosen.daily_tokens)
    if is_on:
        try:
            language_model(settings).check()
        except ModelMissing as bad:
            lacks = str(bad)
    return budget.summary().changed(
        is_on=is_on, provider=chosen.provider, model=chosen.model_name, base_url=chosen.base_url, reads=chosen.reads,
        lacks=lacks,
    )  # fmt: skip
