"""Hooks with the daemon in every state, and with none.

Each hook is done within its deadline, exits 0, and its event is on disk.

OVERHEAD_S is the allowance of a hook beyond its deadline and a bare interpreter start. Other processes share the
machine: the time that a hook waited for a processor is taken off, and the best of a few calls counts.
"""

import contextlib
import fcntl
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge import HOOKS
from memlayer.edge.capture import spool
from memlayer.edge.ipc import protocol
from tests.support.processes import HookRunner
from tests.support.witness import BARE, ROOT, Witness

OVERHEAD_S = 0.05
TRIES = 6
LONG = bool(os.environ.get("MEMLAYER_TORTURE"))
RACES = 100 if LONG else 6
STEMS = (
    "session_start", "user_prompt_submit", "post_tool_use", "post_tool_use_failure", "stop", "session_end",
    "pre_compact", "post_compact",
)  # fmt: skip
Behaviour = Callable[[socket.socket], None]


@contextlib.contextmanager
def daemon_that(home: Path, behaves: Behaviour | None, backlog: int = 8) -> Iterator[socket.socket]:
    """Listen on the home's socket in place of a daemon.

    behaves: its handling of a connection; None: accepts nothing.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.getcwd()
    os.chdir(home)
    listening.bind("daemon.sock")
    os.chdir(here)
    listening.listen(backlog)
    ended = threading.Event()

    def serve() -> None:
        while not ended.is_set():
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection,), daemon=True).start()

    def answer(connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            assert behaves is not None
            behaves(connection)
            ended.wait(10)

    if behaves is not None:
        threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening
    finally:
        ended.set()
        with contextlib.suppress(OSError):
            listening.shutdown(socket.SHUT_RDWR)
        listening.close()
        (home / "daemon.sock").unlink(missing_ok=True)


def says_nothing(connection: socket.socket) -> None:
    return


def reads_and_says_nothing(connection: socket.socket) -> None:
    while connection.recv(65536):
        pass


def dribbles(connection: socket.socket) -> None:
    """Half a frame, byte after byte, for longer than anyone waits."""
    connection.recv(65536)
    for _ in range(60):
        connection.sendall(b"d")
        time.sleep(0.05)


def garbles(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(bytes(range(256)) * 4000)


def floods(connection: socket.socket) -> None:
    """Well-formed frames without an end."""
    connection.recv(65536)
    while True:
        connection.sendall(b"progress 2\n{}" * 1000)


def promises_much(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(b"reply 999999999\n")
    while True:
        connection.sendall(bytes(65536))


def speaks_another_version(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(protocol.answer(protocol.VERSION, b"9 99.0.0"))


def fails(connection: socket.socket) -> None:
    connection.recv(65536)
    connection.sendall(protocol.answer(protocol.ERROR, b"daemon: no space left on device"))


def hangs_up(connection: socket.socket) -> None:
    connection.recv(10)
    connection.shutdown(socket.SHUT_RDWR)


BEHAVIOURS: dict[str, Behaviour | None] = {
    "accepts nothing": None,
    **{one.__name__: one for one in (
        says_nothing, reads_and_says_nothing, dribbles, garbles, floods, promises_much, speaks_another_version, fails,
        hangs_up,
    )},
}  # fmt: skip


def timed(argv: list[str], stdin: bytes, **more: Any) -> tuple[float, int, bytes]:
    """Return (seconds, exit code, all that was printed).

    Seconds without those spent waiting for a processor.
    """
    started = time.perf_counter()
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(argv, **pipes, **more) as process:
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(stdin)
            process.stdin.close()
        printed = process.stdout.read()
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        took_s = time.perf_counter() - started
        schedule = Path("/proc/%d/schedstat" % process.pid)
        waited_ns = int(schedule.read_text().split()[1]) if schedule.exists() else 0
    return took_s - waited_ns / 1e9, process.returncode, printed


@pytest.fixture(scope="module")
def bare_s() -> float:
    """Seconds that a bare interpreter start takes, the median of nine."""
    return statistics.median(timed([BARE, "-I", "-S", "-c", "pass"], b"")[0] for _ in range(9))


def fastest(hook: HookRunner, stem: str, limit_s: float = 0.0, size: int = 0) -> float:
    """Return the seconds of the fastest call.

    Of up to TRIES calls, or the first within limit_s; each must exit with 0, print nothing and leave its event.
    """
    best = 1e9
    for number in range(TRIES):
        before = len(spool.waiting(str(hook.home)))
        text = "얼마나 걸리나 %s %d " % (stem, number) + "x" * size
        payload = {"session_id": "s1", "prompt_id": "p%d" % number, "cwd": str(hook.project), "prompt": text,
                   "last_assistant_message": text, "source": "startup", "reason": "other",
                   "tool_name": "Bash", "tool_input": {"command": text}, "tool_use_id": "t%d" % number}  # fmt: skip
        argv = [hook.python, "-I", "-S", str(ROOT / "hooks" / (stem + ".py"))]
        took_s, code, printed = timed(argv, json.dumps(payload).encode(), env=hook.environment, cwd=hook.project)
        best = min(best, took_s)
        assert (code, printed) == (0, b"")
        assert len(spool.waiting(str(hook.home))) == before + 1
        if best <= limit_s:
            break
    return best


@pytest.mark.parametrize("stem", STEMS)
@pytest.mark.parametrize("behaviour", BEHAVIOURS)
def test_hooks_survive_broken_daemon(hook: HookRunner, home: Path, bare_s: float, behaviour: str, stem: str) -> None:
    (home / "wake.stamp").touch()
    with daemon_that(home, BEHAVIOURS[behaviour]):
        limit_s = HOOKS[stem].wait_s + bare_s + OVERHEAD_S
        assert fastest(hook, stem, limit_s) <= limit_s
    assert all(event is not None for event, _ in map(spool.load, spool.waiting(str(home))))


@pytest.mark.parametrize("stem", STEMS)
def test_no_daemon(hook: HookRunner, bare_s: float, stem: str) -> None:
    assert fastest(hook, stem, bare_s + OVERHEAD_S) <= bare_s + OVERHEAD_S


def test_full_queue_counts_as_absent(hook: HookRunner, home: Path, bare_s: float) -> None:
    with daemon_that(home, None, backlog=0), contextlib.ExitStack() as held:
        waits_before(home, held)
        assert fastest(hook, "stop", bare_s + OVERHEAD_S) <= bare_s + OVERHEAD_S


def test_prompt_larger_than_socket(hook: HookRunner, home: Path) -> None:
    """Nobody reads, so sending blocks.

    It may cost the deadline once, not once more for the answer.
    """
    size = 3_000_000
    own_s = fastest(hook, "user_prompt_submit", size=size)  # the cost of such a text without a daemon
    limit_s = HOOKS["user_prompt_submit"].wait_s + own_s + OVERHEAD_S
    with daemon_that(home, None):
        assert fastest(hook, "user_prompt_submit", limit_s, size=size) <= limit_s


def waits_before(home: Path, held: contextlib.ExitStack) -> None:
    """Another client takes the only place in the queue."""
    here = os.getcwd()
    os.chdir(home)
    held.enter_context(socket.socket(socket.AF_UNIX)).connect("daemon.sock")
    os.chdir(here)


def test_stale_socket_file(hook: HookRunner, home: Path, bare_s: float) -> None:
    with daemon_that(home, None):
        os.link(home / "daemon.sock", home / "kept.sock")
    os.rename(home / "kept.sock", home / "daemon.sock")
    for stem in STEMS:
        assert fastest(hook, stem, bare_s + OVERHEAD_S) <= bare_s + OVERHEAD_S


def test_dead_process_lock_is_free(witness: Witness, project: Path) -> None:
    (witness.home / "daemon.lock").write_text("1 1\n")  # process 1 lives, and is no daemon of ours
    witness.call("user_prompt_submit", project, "s1", "p1", "누가 자물쇠를 쥐고 있나")
    witness.settle_and_stop()
    assert witness.verdict().faults() == {}
    assert witness.verdict().stored == 1


def test_lock_without_listener(hook: HookRunner, home: Path, bare_s: float) -> None:
    with (home / "daemon.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert fastest(hook, "user_prompt_submit", bare_s + OVERHEAD_S) <= bare_s + OVERHEAD_S


@pytest.mark.timeout(60 + 6 * RACES)
def test_concurrent_starts_leave_one_daemon(witness: Witness, project: Path) -> None:
    """All but one leave by themselves with exit code 0.

    The remaining one serves.
    """
    environment = {**witness.environment(project), "PYTHONDONTWRITEBYTECODE": "1"}
    script = str(ROOT / "memlayer" / "daemon" / "__main__.py")
    for number in range(RACES):
        racing = [subprocess.Popen([sys.executable, "-I", script], env=environment, cwd="/") for _ in range(2)]
        loser = wait_for_one(racing)
        assert loser.returncode == 0
        (winner,) = [one for one in racing if one is not loser]
        assert witness.daemon_pid() == winner.pid
        witness.call("user_prompt_submit", project, "s1", "p%d" % number, "race %d" % number)
        winner.kill()
        winner.wait(20)
    witness.settle_and_stop()
    assert witness.verdict().faults() == {}
    assert witness.verdict().stored == RACES


def wait_for_one(racing: list[subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        for one in racing:
            if one.poll() is not None:
                return one
        time.sleep(0.02)
    raise AssertionError("two daemons serve one home")
