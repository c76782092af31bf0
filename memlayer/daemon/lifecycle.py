"""Start, lock, signals, log and end of a daemon."""

import contextlib
import fcntl
import gc
import json
import logging
import logging.handlers
import os
import signal
import socket
import sys
import threading
import time
from io import TextIOWrapper
from typing import cast

from memlayer import compose
from memlayer.config import load_what_holds, plugin_option, settings_stamp, write_daemon_variables, write_own_patterns
from memlayer.daemon import opening
from memlayer.daemon.dispatch import Dispatch, Server
from memlayer.daemon.ops import deletion, maintenance
from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import switch_often
from memlayer.daemon.resources.state import HeldSettings, State
from memlayer.daemon.tasks import batches, derived, flush, intake, reading, sharing, topics, vectors
from memlayer.edge.bootstrap.runtime import find_runtime, plugin_root
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.edge.redaction.own_patterns import OWN
from memlayer.records.metrics import Metrics
from memlayer.records.sessions import Sessions

TOLD_TO_GO = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

# A daemon that is told to go settles first. The next one waits for it this long.
LOCK_WAIT_S = 15.0
SETTLE_S = 10.0
REST_S = 60.0  # without a request, after which memory that nobody uses is given back
TICK_S = 5.0
STOPPED = b"stopped"  # first word of the lock of a daemon that was told to go
MAX_LOG_BYTES = 1_000_000

logger = logging.getLogger(__name__)


def set_on_signal(event: threading.Event) -> None:
    """Have `event` set when a signal of TOLD_TO_GO arrives.

    To be called in the main thread. Python runs a handler in the main thread, between any two of its instructions:
    while that thread waits for the event itself it may hold the event's lock, which no handler could take a second
    time. So the handler does nothing, and a thread waits for the byte that the interpreter writes when a signal comes
    (signal.set_wakeup_fd).
    """
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    for number in TOLD_TO_GO:
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        while os.read(reading, 1):
            event.set()

    threading.Thread(target=wait, name="signals", daemon=True).start()


def hold(home: str, wait_s: float) -> int | None:
    """Take the lock and return its open file.

    None if another process still holds it after wait_s. The kernel frees it with the process, however that ends. The
    file's text, pid and start, is for people, but for the time of a stop: see _was_stopped.
    """
    fd = paths.open_fd(paths.lock(home), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    ends = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                os.close(fd)
                return None
            time.sleep(0.05)
            continue
        if still_ours(home, fd):
            return fd
        os.close(fd)  # the file was replaced while we waited for it: a lock on a ghost
        return hold(home, max(0.0, ends - time.monotonic()))


def still_ours(home: str, fd: int) -> bool:
    """Return False once the home or its lock was deleted or replaced."""
    try:
        named = os.stat(paths.lock(home))
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)


def run(home: str, began_ns: int = sys.maxsize) -> int:
    """Be the daemon of `home` unless there is one; return exit code.

    began_ns: when this process began. A stop asked for since then is meant for it, too.
    """
    os.umask(0o077)
    if not os.path.isdir(home):  # whoever starts a daemon makes its home. It was deleted since, and stays so
        return 0
    lock_fd = _take_over(home)
    if lock_fd is None or _was_stopped(lock_fd, began_ns):
        return 0
    _sign(lock_fd, b"%d %d\n" % (os.getpid(), int(time.time())))
    stamp = settings_stamp(home)  # first: a file written while it is read counts as changed
    answered = plugin_option.notes_answer(home)
    settings, problem = load_what_holds(home, os.environ)
    start_log(home)
    if problem:
        logger.error("the settings are wrong: %s", problem)
    else:
        with contextlib.suppress(OSError):  # for the next one, should this one lack a variable
            write_daemon_variables(home, settings)
    OWN.use(settings.privacy.pairs)
    with contextlib.suppress(OSError):  # a disk that refuses must not keep the daemon from taking them out itself
        write_own_patterns(home, settings.privacy)
    compose.language_model_since(
        settings, home, time.time_ns() // 1_000_000
    )  # before anything is taken in: that comes after it
    state = State(
        home=home,
        held=HeldSettings(home, settings, problem, stamp),
        projects=compose.open_projects(home),
        sessions=Sessions(home),
        metrics=Metrics(home),
        listeners=(derived.rules, derived.starts, derived.files, reading.begin_turns, vectors.embed_left),
    )
    set_on_signal(state.life.leaving)
    # Listening comes first: capture needs neither the store nor the model.
    opening.begin(state)
    server = Server(home, Dispatch(state))
    server.start()
    logger.info("listening")
    state.jobs.start()
    state.loader.submit("model", lambda: opening.load_model(state))
    state.loader.start()
    state.reader.start()
    state.share.jobs.start()
    at_home = _live(state, lock_fd, answered)
    _leave(state, server, lock_fd, at_home)
    return 0


def _live(state: State, lock_fd: int, answered: bool | None) -> bool:
    """Wait for the end and return whether the home is still there.

    answered: the plugin's own setting when the settings were loaded.
    """
    idle_s = state.settings.daemon.idle_minutes * 60
    while not state.life.leaving.wait(min(TICK_S, idle_s or TICK_S)):
        if not still_ours(state.home, lock_fd):
            return False
        if not os.path.lexists(paths.socket(state.home)):
            logger.error("leaving: the socket was deleted, nobody can reach this daemon any more")
            break
        if state.life.program.is_replaced():
            state.life.begin_anew()
        opening.look_at_slow(state)
        opening.look(state)
        opening.look_at_embedder(state)
        batches.look(state, time.time())
        if state.services.done() and not state.jobs.pending and not state.reader.pending:
            deletion.begin_gc_if_due(state)
            maintenance.look(state)
            vectors.look(state)
            flush.look(state)
            reading.look(state)
            derived.look_at_levels(state)
            _look_at_rest(state, time.monotonic())
            topics.look(state)
            sharing.look(state)
            if _is_answered_anew(state, answered):
                logger.info("leaving: the plugin's setting of notes has changed")
                break
            if not derived.look(state) and idle_s and time.monotonic() - state.life.last_request > idle_s:
                logger.info("leaving: idle")
                break
    return still_ours(state.home, lock_fd)


def _look_at_rest(state: State, now_s: float) -> None:
    """Give memory back once a rest, behind the writer's jobs."""
    if now_s - state.life.last_request > REST_S and state.life.rested_s < state.life.last_request:
        state.life.rested_s = now_s
        state.jobs.submit("rest", memory.rest)


def _is_answered_anew(state: State, answered: bool | None) -> bool:
    """True where a changed setting of the plugin asks for another daemon.

    The variables that the next one needs are written then: no command line does it.
    """
    answer = plugin_option.notes_answer(state.home)
    if answer == answered:
        return False
    settings, problem = load_what_holds(state.home, os.environ)
    if problem or settings.consolidation == state.settings.consolidation:
        return False
    with contextlib.suppress(OSError):
        write_daemon_variables(state.home, settings)
    return True


def _leave(state: State, server: Server, lock_fd: int, at_home: bool) -> None:
    """Settle within SETTLE_S; the spool keeps the rest for the next daemon."""
    state.life.leaving.set()
    if state.is_open and (reader := state.services.result().reader) is not None:
        reader.hang_up()  # no process of ours outlives the daemon
    server.close(2.0)
    if at_home:
        if state.is_open:
            if spool.waiting(state.home):
                batches.take_soon(state)
            state.jobs.submit("save", lambda: intake.save_small(state))
        settled = state.jobs.close(SETTLE_S)
        logger.info("gone, %s", "settled" if settled else "with jobs left to the next one")
        with contextlib.suppress(FileNotFoundError):
            os.unlink(paths.socket(state.home))
        if state.life.stopped_ns:
            _sign(lock_fd, b"%s %d\n" % (STOPPED, state.life.stopped_ns))
        elif state.life.begins_anew:
            _begin_anew(state.home)
    # Threads of onnxruntime and LanceDB may be in the middle of things. Nothing of theirs is worth waiting for.
    os._exit(0)


def _begin_anew(home: str) -> None:
    """Become the daemon of the program that is on disk now."""
    python, script = find_runtime(home, plugin_root()), os.path.join(plugin_root(), "memlayer", "daemon", "__main__.py")
    if python and os.path.exists(script):
        with contextlib.suppress(OSError):
            os.execv(python, [python, "-I", script])


def _take_over(home: str) -> int | None:
    """Return the lock, or None if a daemon serves this home.

    A daemon that holds the lock but does not listen is on its way out, or has only just begun: wait and see.
    """
    ends = time.monotonic() + LOCK_WAIT_S
    while True:
        lock_fd = hold(home, 0.1)
        if lock_fd is not None or _listens(home) or time.monotonic() > ends:
            return lock_fd


def _was_stopped(lock_fd: int, began_ns: int) -> bool:
    """Return whether a person stopped the daemon of this home after began_ns.

    A busy machine starts two: the second waits for the lock, and must not come back behind the person's word.
    """
    word, _, stopped_ns = os.pread(lock_fd, 64, 0).partition(b" ")
    return word == STOPPED and stopped_ns.strip().isdigit() and int(stopped_ns) > began_ns


def _sign(lock_fd: int, text: bytes) -> None:
    os.ftruncate(lock_fd, 0)
    os.pwrite(lock_fd, text, 0)


def _listens(home: str) -> bool:
    os.chdir(home)  # the address is relative: see Server
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(paths.SOCKET_NAME)
        except OSError:
            return False
        return True


class _Lines(logging.Formatter):
    """A JSON line a record: ids and numbers, no memory's text."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "at_ms": int(record.created * 1000),
            "level": record.levelname.lower(),
            "where": record.name,
            "what": record.getMessage(),
            "pid": os.getpid(),
        }
        return json.dumps(line, ensure_ascii=False)


class _File(logging.handlers.RotatingFileHandler):
    def _open(self) -> TextIOWrapper:
        """Open the file, but no link or pipe in its place."""
        return cast(TextIOWrapper, open(self.baseFilename, self.mode, encoding=self.encoding, opener=paths.open_fd))

    def handleError(self, record: logging.LogRecord) -> None:
        """Ignore a full disk, which must not stop the daemon."""


def start_log(home: str) -> None:
    """Send this process's log to the home's log file."""
    paths.make_folder(paths.logs(home))
    handler = _File(paths.daemon_log(home), maxBytes=MAX_LOG_BYTES, backupCount=1, encoding="utf-8", delay=True)
    handler.setFormatter(_Lines())
    own = logging.getLogger("memlayer")
    own.handlers[:] = [handler]
    own.setLevel(logging.INFO)
    own.propagate = False


def main(began_ns: int) -> None:
    """Run the daemon of MEMLAYER_HOME; began_ns as for run."""
    gc.freeze()
    switch_often()
    home = paths.home_of()
    sys.exit(run(home, began_ns))
