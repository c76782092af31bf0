"""State shared by the daemon's handlers: settings, registries, services."""

import logging
import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from memlayer import __version__, compose
from memlayer.config import Settings, load_project_settings, load_what_holds, settings_stamp
from memlayer.config.model import RELOADED_GROUPS
from memlayer.daemon.resources.jobs import Jobs
from memlayer.daemon.resources.memory import rss_bytes
from memlayer.daemon.resources.rule_notices import RuleNotices
from memlayer.edge.bootstrap.program import Program
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.home.project import settings_files
from memlayer.edge.ipc import protocol
from memlayer.errors import EmbedderError
from memlayer.give.at_action import AtAction
from memlayer.keep.keep import Change
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
logger = logging.getLogger(__name__)
Progress = Callable[[str, int, int], None]  # (phase, done, total)
Send = Callable[[bytes, bytes], None]  # (tag, body). Raises OSError when the client has gone


def _done() -> Future[Any]:
    done: Future[Any] = Future()
    done.set_result(None)
    return done


@dataclass
class Waiting:
    """The sessions with events that are not readable yet. Thread-safe.

    taking: the last batch that was asked for. unfollowed: sessions with new answers, not looked at for branches. In
    memory alone: events that a hook spooled by itself have no session here.
    """

    taking: Future[Any] = field(default_factory=_done)
    unfollowed: set[str] = field(default_factory=set)
    _heard: dict[tuple[str, str], int] = field(default_factory=dict)  # (project id, session id) -> its last event
    _answered: dict[tuple[str, str], int] = field(default_factory=dict)  # the same for answers
    _count: int = 0  # of events
    _begun: int = 0  # of these when the last batch began
    _readable: int = 0  # of these that can be read
    _answering: set[str] = field(default_factory=set)  # ids of prompts
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def heard(self, project_id: str, session_id: str, *, is_answer: bool) -> int:
        """Note an event on disk; return how many the next batch has."""
        with self._changed:
            self._count += 1
            self._heard[project_id, session_id] = self._count
            if is_answer:
                self._answered[project_id, session_id] = self._count
            return self._count - self._begun

    @property
    def count(self) -> int:
        """Number of events that cannot be read yet."""
        with self._changed:
            return self._count - self._readable

    @property
    def is_begun(self) -> bool:
        """True while a batch has all events that cannot be read yet."""
        with self._changed:
            return self._readable < self._begun == self._count

    def holds(self, project_id: str, session_id: str) -> bool:
        """Return whether events of a session cannot be read yet."""
        with self._changed:
            return (project_id, session_id) in self._heard

    def answered(self, project_id: str) -> frozenset[str]:
        """Return a project's sessions with answers that cannot be read yet.

        Until it is answered a turn tells nobody else anything.
        """
        with self._changed:
            return frozenset(session_id for place, session_id in self._answered if place == project_id)

    def wait_readable(self, job: Future[Any], wait_s: float) -> bool:
        """Wait until a batch's events can be read, or its job ended."""
        with self._changed:
            until = self._count
        job.add_done_callback(lambda _: self._wake())
        with self._changed:
            self._changed.wait_for(lambda: self._readable >= until or job.done(), max(0.0, wait_s))
            return self._readable >= until

    def _wake(self) -> None:
        with self._changed:
            self._changed.notify_all()

    @contextmanager
    def answering(self, event_id: str) -> Iterator[None]:
        """Keep a prompt out of batches while recall answers it."""
        with self._changed:
            self._answering.add(event_id)
        try:
            yield
        finally:
            with self._changed:
                self._answering.discard(event_id)

    @contextmanager
    def batch(self) -> Iterator[Collection[str]]:
        """Take in a batch; yields the ids of events to leave out."""
        with self._changed:
            self._begun = until = self._count
            left_out = frozenset(self._answering)
        yield left_out
        with self._changed:
            self._heard = {key: number for key, number in self._heard.items() if number > until}
            self._answered = {key: number for key, number in self._answered.items() if number > until}
            self._readable = until
            self._changed.notify_all()


class Timetable:
    """When each work, by its name, was last done, and how often."""

    def __init__(self) -> None:
        self._done_s: dict[str, float] = {}  # monotonic clock
        self._rounds: Counter[str] = Counter()

    def since(self, work: str) -> float:
        """Return the seconds since a work was done, endless for never."""
        return time.monotonic() - self._done_s.get(work, -math.inf)

    def done(self, work: str) -> None:
        self._done_s[work] = time.monotonic()

    def is_due(self, work: str, every_s: float) -> bool:
        """Return whether a work is due; then it counts as done."""
        is_due = self.since(work) > every_s
        if is_due:
            self.done(work)
        return is_due

    def is_round(self, work: str, every: int) -> bool:
        """Count a run of a job; return whether it is the nth."""
        self._rounds[work] += 1
        return self._rounds[work] % every == 0

    def forget(self, work: str) -> None:
        """Have a work be due at once."""
        self._done_s.pop(work, None)


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
        self.behind_why = ""  # the provider's problem that may have left chunks without vectors
        self.to_embed = 0  # chunks without a vector when the present embedding began

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
class HeldSettings:
    """The settings that hold, and the rules made of them.

    problem: the first mistake in the files, one line. Then `settings` is their valid part. stamp: of the files that
    they were read from.
    """

    home: str
    settings: Settings
    problem: str = ""
    stamp: str = ""
    _by_folder: dict[str, tuple[float, compose.RoomSettings]] = field(default_factory=dict)
    _file: tuple[int, int] | None = None  # modification time and size of the settings when they were read

    def __post_init__(self) -> None:
        self.rules = compose.RoomSettings.of(self.settings)
        self._file = _file_of(self.home)

    def read(self) -> bool:
        """Take changed settings of giving from the file; True if any."""
        file = _file_of(self.home)
        if file == self._file:
            return False
        self._file = file
        stamp = settings_stamp(self.home)
        settings, problem = load_what_holds(self.home, os.environ)
        changed = {name: getattr(settings, name) for name in RELOADED_GROUPS}
        before = self.settings
        self.settings = before if problem else before.model_copy(update=changed)
        if not problem and self.settings.model_dump() == settings.model_dump():
            self.stamp = stamp
        if self.settings == before:
            return False
        self.rules = compose.RoomSettings.of(self.settings)
        self._by_folder.clear()
        return True

    def rules_for(self, folder: str) -> compose.RoomSettings:
        """Return the user's rules, with the changes of a folder's project."""
        cached = self._by_folder.get(folder)
        now = time.monotonic()
        if cached is not None and now - cached[0] < PROJECT_SETTINGS_KEPT_S:
            return cached[1]
        rules = self.rules
        if settings_files(folder):
            rules = compose.RoomSettings.of(self.settings.for_project(load_project_settings(folder)))
        self._by_folder[folder] = (now, rules)
        return rules


@dataclass
class Life:
    """Who came to a daemon, and whether it is to go.

    leaving: set when it is to go. stopped_ns: when a person said so. last_request: for the idle clock. begins_anew: as
    the program that is on disk now.
    """

    leaving: threading.Event = field(default_factory=threading.Event)
    stopped_ns: int = 0
    started_ms: int = field(default_factory=lambda: int(time.time() * 1000))
    last_request: float = field(default_factory=time.monotonic)
    last_own_client: float = field(default_factory=time.monotonic)
    rested_s: float = 0.0  # when memory was last given back for want of requests (monotonic clock)
    program: Program = field(default_factory=Program)
    begins_anew: bool = False

    def begin_anew(self) -> None:
        """Leave for the program that is on disk now."""
        logger.info("leaving: the program's files have changed")
        self.begins_anew = True
        self.leaving.set()


class Derived:
    """Caches that are drawn from the store, and renewed when it changes."""

    def __init__(self, home: str) -> None:
        self.ground = Ground(home)  # names of code in notes
        self.left_out = small_files.Folder(paths.working_sets(home), dict[str, str])  # of a start: citation -> why
        self.unfiled: set[str] = set()  # projects whose memory files are behind
        self.has_global = False  # some memories are for every project
        self.topics_ms: dict[str, int] = {}  # when a project's topics were last made
        self.host_memory = HostMemory()
        self.at_action = AtAction()


@dataclass
class State:
    """State of one daemon, by its owners. listeners: see derived.publish."""

    home: str
    held: HeldSettings
    projects: Projects
    sessions: Sessions
    metrics: Metrics
    listeners: Sequence[Callable[["State", Change], object]] = ()
    jobs: Jobs = field(default_factory=lambda: Jobs("writer"))
    loader: Jobs = field(default_factory=lambda: Jobs("loader"))
    reader: Jobs = field(default_factory=lambda: Jobs("reader"))  # reads sessions with a language model
    share: ShareWork = field(default_factory=ShareWork)
    recalls: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(8, thread_name_prefix="recall"))
    embedder: EmbedderSlot = field(default_factory=EmbedderSlot)
    services: Future[compose.Services] = field(default_factory=Future)
    life: Life = field(default_factory=Life)
    times: Timetable = field(default_factory=Timetable)
    importing: threading.Lock = field(default_factory=threading.Lock)  # one import at a time
    waiting: Waiting = field(default_factory=Waiting)
    rule_notices: RuleNotices = field(init=False)
    derived: Derived = field(init=False)

    def __post_init__(self) -> None:
        self.rule_notices = RuleNotices(paths.untold_rules(self.home))
        self.derived = Derived(self.home)

    @property
    def settings(self) -> Settings:
        return self.held.settings

    @property
    def rules(self) -> compose.RoomSettings:
        return self.held.rules

    def scope(self, project_id: str) -> Scope:
        """Return the scope of a project: itself, and memories for every project."""
        services = self.ready()
        is_shared = self.derived.has_global or (services is not None and services.files.extra.has_global)
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
            since_ms=self.life.started_ms,
            settings_stamp=self.held.stamp,
            settings_problem=self.held.problem,
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
            at_action=self.metrics.at_action(),
            rebuilding=self.jobs.progress,
            file_notices=services.files.notices() if services is not None else [],
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
