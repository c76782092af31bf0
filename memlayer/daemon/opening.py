"""Opening of the store, tried again if it fails; the model's loading."""

import logging
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial

from memlayer import compose
from memlayer.daemon.ops import deletion, maintenance
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import frames_of
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, derived, intake, reading, sharing, vectors
from memlayer.edge.capture import spool
from memlayer.edge.home import registry
from memlayer.errors import StoreError
from memlayer.model import GLOBAL
from memlayer.ports import Calibration, Embedder, Vector, notes_in_force

log = logging.getLogger(__name__)
AGAIN_S = 15.0  # no disk is full for ever
SLOW_AGAIN_S = 1e9  # once a daemon
SLOW_S = 20.0  # a second or two is usual. Ten when every processor has eight other things to do
WARM_WAIT_S = 60.0
EMBEDDER_AGAIN_S = 60.0

Took = Callable[[str, int, float], None]  # ("query" | "passage", texts, milliseconds)


def begin(state: State) -> None:
    """Have the writer open the store, first of all."""
    state.services = _submit(state, "open")


def look(state: State) -> None:
    """Have an unopened store tried again, every AGAIN_S.

    Until the outcome is known everybody is told of the last failure.
    """
    # A half imported package stays so in this process.
    if state.failure is None or state.has_broken_runtime or state.times.since("open") < AGAIN_S:
        return
    _submit(state, "open again").add_done_callback(lambda outcome: _note(state, outcome))


def look_at_slow(state: State) -> None:
    """Log once where every thread stands during a slow opening."""
    took_s = time.time() - state.life.started_ms / 1000
    if state.services.done() or took_s < SLOW_S or not state.times.is_due("slow opening", SLOW_AGAIN_S):
        return
    names = {thread.ident: thread.name for thread in threading.enumerate()}
    for ident, frame in sys._current_frames().items():
        where = frames_of(traceback.extract_stack(frame))
        log.error("the store is still opening; thread %s at %s", names.get(ident, "of native code"), where)


def _submit(state: State, name: str) -> Future[compose.Services]:
    state.times.done("open")
    return state.jobs.submit(name, lambda: _open(state))


def _open(state: State) -> compose.Services:
    """Open the store and take in the spool: the writer's first job.

    Raises StoreError. Then `status` says so, and the spool keeps every event.
    """
    process = compose.Process(
        in_writer=lambda name, job: state.jobs.submit(name, job).result(),
        reads_later=partial(intake.reads_later, state),
        heard=partial(intake.heard, state),
        forget=partial(sharing.forget, state),
        arrived=partial(sharing.settle, state),
    )
    try:
        services = compose.open_services(
            state.home, state.settings, projects=state.projects, sessions=state.sessions, embedder=state.embedder,
            process=process,
        )  # fmt: skip
    except ImportError as bad:
        raise StoreError("memlayer's runtime does not work (%s): run `memlayer setup`" % bad) from bad

    state.derived.has_global = bool(notes_in_force(services.store, GLOBAL, 1))
    state.rule_notices.load(services.store)
    deletion.resume(state, services)
    spool.sweep(state.home, time.time())
    registry.sweep_working_sets(state.home)
    state.sessions.all()  # read once, here, and not while a session start waits
    state.jobs.submit("tasks", lambda: intake.catch_up_tasks(state))
    state.jobs.submit("unread turns", lambda: reading.begin_unread(state))
    batches.take_soon(state)
    if services.store.damage():
        maintenance.submit_repair(state, services.store)
    else:
        maintenance.reindex_if_stale(state, services.store)
    state.times.done("opened")
    return services


def _note(state: State, outcome: Future[compose.Services]) -> None:
    state.services = outcome
    if outcome.exception() is None and state.embedder() is None:  # a model is not ready before it fits the store
        state.loader.submit("model", lambda: load_model(state))


def load_model(state: State) -> None:
    """Load the embedding model, then embed chunks without vectors."""
    _load_embedder(state)
    intake.begin_consolidation(state)  # turns of the last daemon, and of the time until now
    derived.begin(state)
    state.jobs.submit("find sessions that are over", lambda: intake.submit_summaries(state))


def _load_embedder(state: State) -> None:
    def fit(dimensions: int) -> None:
        services = state.services.result()
        if services.store.dimensions != dimensions:
            state.jobs.submit("fit", lambda: services.store.fit(dimensions)).result()

    make, why = compose.embedder_maker(state.home, state.settings), state.embedder.why
    state.embedder.load((lambda: TimedEmbedder(make(), state.metrics.embedded)) if make is not None else None, fit)
    state.times.done("model")
    if state.embedder() is not None:
        vectors.submit_embedding(state)
        memory.loaded()
    elif state.embedder.why != why:
        log.warning("recall is lexical: %s", state.embedder.why)


def look_at_embedder(state: State) -> None:
    """Have a provider that did not answer at first tried again.

    A local model that does not load stays so until somebody mends it.
    """
    if not state.is_open or not state.settings.embedding.is_remote or state.loader.pending:
        return
    is_missing = state.embedder.settled.is_set() and state.embedder() is None
    if is_missing and state.times.since("model") > EMBEDDER_AGAIN_S:
        state.loader.submit("model again", lambda: _load_embedder(state))


def warm(state: State, project_id: str) -> None:
    """Load notes and vectors before a first prompt, behind the model."""
    services, embedder = state.ready(WARM_WAIT_S), state.embedder()
    if services is None:
        return
    scopes = state.scope(project_id).project_ids or ()
    for scope in scopes[:1]:  # a first prompt is given its own project's notes
        services.recall.notes.of(scope)
        services.recall.outcomes.of(scope, "")
    if embedder is not None:
        for scope in scopes:
            services.store.warm(scope, embedder.fingerprint)


class TimedEmbedder:
    """Embedder that reports each call's time, but not of raising calls."""

    def __init__(self, embedder: Embedder, took: Took) -> None:
        self._embedder, self._took = embedder, took

    @property
    def fingerprint(self) -> str:
        return self._embedder.fingerprint

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def calibration(self) -> Calibration:
        return self._embedder.calibration

    @property
    def place(self) -> str:
        return self._embedder.place

    @property
    def problem(self) -> str:
        return self._embedder.problem

    def embed_query(self, text: str) -> Vector:
        started = time.perf_counter()
        vector = self._embedder.embed_query(text)
        self._took("query", 1, (time.perf_counter() - started) * 1000)
        return vector

    def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        started = time.perf_counter()
        vectors = self._embedder.embed_passages(texts)
        self._took("passage", len(texts), (time.perf_counter() - started) * 1000)
        return vectors
