"""State shared by the daemon's handlers: settings, registries, services."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from memlayer import __version__, compose
from memlayer.config import GIVING, Settings, load_project_settings, load_what_holds, settings_stamp
from memlayer.daemon.resources.jobs import Jobs
from memlayer.daemon.resources.memory import rss_bytes
from memlayer.daemon.resources.rule_notices import RuleNotices
from memlayer.daemon.resources.waiting import Waiting
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.home.project import Place
from memlayer.edge.ipc import protocol
from memlayer.errors import EmbedderError
from memlayer.model import GLOBAL, Scope
from memlayer.ports import Embedder
from memlayer.records import small_files
from memlayer.records.ground import Ground
from memlayer.records.metrics import Metrics
from memlayer.records.projects import Projects
from memlayer.records.sessions import Sessions
from memlayer.transcripts.host_memory import HostMemory
from memlayer.wire.upkeep import EmbeddingModel, StatusFound

PROJECT_SETTINGS_KEPT_S = 2.0
Progress = Callable[[str, int, int], None]  # (phase, done, total)
Send = Callable[[bytes, bytes], None]  # (tag, body). Raises OSError when the client has gone


def no_report(phase: str, done: int, total: int) -> None:
    """Report no progress: nobody waits for the job."""


def _file_of(home: str) -> tuple[int, int] | None:
    try:
        found = os.stat(paths.settings(home))
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


class EmbedderSlot:
    """Holder of the embedder, or of why there is none. Thread-safe."""

    def __init__(self) -> None:
        self._embedder: Embedder | None = None
        self.why = "the embedding model is still loading"
        self.settled = threading.Event()  # loaded, or known not to load

    def __call__(self) -> Embedder | None:
        return self._embedder

    def mode(self) -> tuple[str, str]:
        """Return ("hybrid" | "lexical", why it is lexical)."""
        embedder = self._embedder
        if embedder is None:
            return "lexical", self.why
        return ("lexical", embedder.problem) if embedder.problem else ("hybrid", "")

    def load(self, make: Callable[[], Embedder] | None, fit: Callable[[int], object]) -> None:
        """Load with `make`. None: the user wants no embedder.

        An EmbedderError becomes `why`. fit: makes room in the store for vectors of that length. Nobody sees the
        embedder before it has returned.
        """
        try:
            if make is None:
                self.why = "embedding.provider is none"
            else:
                embedder = make()
                fit(embedder.dimensions)
                self._embedder = embedder
                self.why = ""
        except EmbedderError as bad:
            self.why = str(bad)
        except BaseException:  # a panic in Rust as well: whoever waits reads why
            self.why = "the embedding model could not be loaded; see logs/daemon.log"
            raise
        finally:
            self.settled.set()


@dataclass
class ShareWork:
    """The background work of a share.

    is_due: at a start and an end of a session. next_s: not before (monotonic clock). wait_s: after a failure.
    """

    jobs: Jobs = field(default_factory=lambda: Jobs("sharer"))
    is_due: bool = True
    next_s: float = 0.0
    wait_s: float = 60.0


@dataclass
class State:
    """State of one daemon.

    leaving: set when it is to go. last_request: for the idle clock. settings_problem: the first mistake in the
    settings, one line. Then `settings` is their valid part. settings_stamp: of the settings that they were read from.
    rules: made of the settings, once.
    """

    home: str
    settings: Settings
    projects: Projects
    sessions: Sessions
    metrics: Metrics
    settings_problem: str = ""
    settings_stamp: str = ""
    jobs: Jobs = field(default_factory=lambda: Jobs("writer"))
    loader: Jobs = field(default_factory=lambda: Jobs("loader"))
    reader: Jobs = field(default_factory=lambda: Jobs("reader"))  # reads sessions with a language model
    share: ShareWork = field(default_factory=ShareWork)
    recalls: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8, thread_name_prefix="recall"))
    embedder: EmbedderSlot = field(default_factory=EmbedderSlot)
    services: Future[compose.Services] = field(default_factory=Future)
    leaving: threading.Event = field(default_factory=threading.Event)
    stopped_ns: int = 0  # when a person told it to go
    started_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    last_request: float = field(default_factory=time.monotonic)
    last_own_client: float = field(default_factory=time.monotonic)
    drains: int = 0  # how often the spool was taken in
    batches: int = 0  # of turns consolidated
    published_s: float = 0.0  # when changes of consolidation were last published (monotonic clock)
    unpublished: set[str] = field(default_factory=set)  # projects whose memories changed. The writer's
    importing: threading.Lock = field(default_factory=threading.Lock)  # one import at a time
    unfollowed: set[str] = field(default_factory=set)  # sessions with new answers, not looked at for branches
    unfiled: set[str] = field(default_factory=set)  # projects whose memory files are behind. The writer's
    orders_due: set[str] = field(default_factory=set)  # sessions that were told no rules after a compaction
    filed_s: float = 0.0  # monotonic: when memory files were last written, and the extra ones looked at
    extra_s: float = 0.0
    has_global: bool = False  # some memories are for every project
    topics_s: float = -1e9  # when due topics were last looked for (monotonic clock)
    topics_ms: dict[str, int] = field(default_factory=dict)  # when a project's topics were last made
    grown_s: float = -1e9  # when levels of memories were last computed (monotonic clock)
    rested_s: float = 0.0  # when memory was last given back for want of requests (monotonic clock)
    gc_s: float = -1e9  # when deletion by age was last begun by itself (monotonic clock)
    opened_s: float = 0.0  # when the store was last begun to be opened (monotonic clock)
    rechecked_s: float = -1e9  # when the store was last opened anew because something had failed (monotonic clock)
    embedder_tried_s: float = 0.0  # when the embedding model was last loaded, or failed to (monotonic clock)
    embedded_s: float = 0.0  # when chunks without a vector were last looked for (monotonic clock)
    unembedded_why: str = ""  # the provider's problem that may have left chunks without vectors
    is_slow_opening_logged: bool = False
    rebuilding: str = ""  # progress of a rebuild of the index, for people
    to_embed: int = 0  # chunks without a vector when the present embedding began
    host_memory: HostMemory = field(default_factory=HostMemory)
    rule_notices: RuleNotices = field(default_factory=RuleNotices)
    waiting: Waiting = field(default_factory=Waiting)
    rules: compose.Rules = field(init=False)
    ground: Ground = field(init=False)
    left_out: small_files.Folder[dict[str, str]] = field(init=False)  # of a project's start: citation -> why
    _by_project: dict[str, tuple[float, compose.Rules]] = field(default_factory=dict)

    _file: tuple[int, int] | None = None  # modification time and size of the settings when they were read

    def __post_init__(self) -> None:
        self.rules = compose.Rules.of(self.settings)
        self.ground = Ground(self.home)
        self.left_out = small_files.Folder(paths.working_sets(self.home), dict[str, str])
        self._file = _file_of(self.home)

    def read_settings(self) -> bool:
        """Take changed settings of giving from the file; True if any."""
        file = _file_of(self.home)
        if file == self._file:
            return False
        self._file = file
        stamp = settings_stamp(self.home)
        settings, problem = load_what_holds(self.home, os.environ)
        changed = {name: getattr(settings, name) for name in GIVING}
        before = self.settings
        self.settings = before if problem else before.model_copy(update=changed)
        if not problem and self.settings.model_dump() == settings.model_dump():
            self.settings_stamp = stamp
        if self.settings == before:
            return False
        self.rules = compose.Rules.of(self.settings)
        self._by_project.clear()
        return True

    def rules_for(self, place: Place) -> compose.Rules:
        """Return the user's rules, with the changes of a project's own file."""
        cached = self._by_project.get(place.root)
        now = time.monotonic()
        if cached is not None and now - cached[0] < PROJECT_SETTINGS_KEPT_S:
            return cached[1]
        if os.path.lexists(os.path.join(place.root, ".memlayer.yaml")):
            rules = compose.Rules.of(self.settings.for_project(load_project_settings(place.root)))
        else:
            rules = self.rules
        self._by_project[place.root] = (now, rules)
        return rules

    def scope(self, project_id: str) -> Scope:
        """Return the scope of a project: itself, and memories for every project."""
        services = self.ready()
        is_shared = self.has_global or (services is not None and services.extra.has_global)
        return Scope((project_id, GLOBAL) if is_shared else (project_id,)) if project_id else Scope(())

    def ready(self, wait_s: float = 0.0) -> compose.Services | None:
        """Return the services; None if not open within wait_s. Raises `failure`."""
        try:
            return self.services.result(timeout=max(0.0, wait_s))
        except TimeoutError:
            return None

    @property
    def failure(self) -> BaseException | None:
        """The error of opening the store; None while opening or open."""
        return self.services.exception() if self.services.done() else None

    @property
    def is_open(self) -> bool:
        """Return whether the store is open."""
        return self.services.done() and self.failure is None

    @property
    def has_broken_runtime(self) -> bool:
        """True if an import failed; another process may be luckier."""
        return self.failure is not None and isinstance(self.failure.__cause__, ImportError)

    def mode(self) -> tuple[str, str]:
        """Return ("hybrid" | "lexical", why it is lexical)."""
        return self.embedder.mode()

    def status(self) -> StatusFound:
        """Return counts and states, without text of memories."""
        mode, why = self.mode()
        services = self.services.result() if self.is_open else None
        embedder = self.embedder()
        return StatusFound(
            build=__version__,
            protocol=protocol.PROTOCOL,
            pid=os.getpid(),
            python=sys.executable,
            since_ms=self.started_ms,
            settings_stamp=self.settings_stamp,
            settings_problem=self.settings_problem,
            mode=mode,
            why=why,
            store="opening" if not self.services.done() else "open" if self.is_open else "failed",
            store_error=str(self.failure or ""),
            damage=services.store.damage() if services is not None else [],
            job=self.jobs.running,
            jobs_waiting=self.jobs.pending,
            job_errors=len(self.jobs.failing),
            last_job_error=next(reversed(list(self.jobs.failing.values())), ""),
            hooks_worked_ms=self.metrics.worked_ms(),
            rebuilding=self.rebuilding,
            file_notices=services.files.notices() + services.extra.notices() if services is not None else [],
            rss_bytes=rss_bytes(),
            language_model=compose.model_use(self.settings, self.home),
            spool_waiting=len(spool.waiting(self.home)),
            sends=compose.sends(self.settings, self.home, embedder.place if embedder is not None else ""),
            model=EmbeddingModel(
                name=self.settings.embedding.model_name,
                provider=self.settings.embedding.provider,
                fingerprint=embedder.fingerprint if embedder is not None else "",
                place=embedder.place if embedder is not None else "",
                calibrated=embedder.calibration.made if embedder is not None else "",
            ),
        )
