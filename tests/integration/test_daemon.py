"""The daemon as a process, one a home.

Gone when told, idle or homeless; nothing lost, nothing left behind.
"""

import fcntl
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent


def test_capture_survives_a_stop(hook: HookRunner, daemon: Daemon) -> None:
    hook.turn("s1", "p1", "포트는 5433으로 정했어", "네, 5433으로 기록했습니다.")
    assert daemon.stop() == 0
    assert not (daemon.home / "daemon.sock").exists()
    daemon.start()
    daemon.settle()
    stored = daemon.call("list", project_dir=str(hook.project), category="conversation")["memories"]
    assert [memory["text"] for memory in stored] == [
        "User: 포트는 5433으로 정했어\nAssistant: 네, 5433으로 기록했습니다."
    ]
    assert hook.spooled == []


def test_spooled_events_are_taken_in(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "we deploy on Tuesdays", "Noted: deploys happen on Tuesdays.")
    assert len(hook.spooled) == 2
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        assert daemon.call("stats")["events"] == 2
        assert hook.spooled == []


def test_damaged_files_are_quarantined(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "keep this one", "kept")
    (home / "spool" / "0000000000001-torn.json").write_bytes(b'{"v": 1, "id": "x", "text": "half')
    (home / "spool" / "0000000000002-foreign.json").write_bytes(b'{"v": 1}')
    (home / "spool" / "0000000000003-link.json").symlink_to("/etc/hostname")
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        stats = daemon.call("stats")
        assert (stats["events"], stats["quarantined"], stats["daemon"]["spool_waiting"]) == (2, 3, 0)
    reasons = sorted(path.read_text() for path in (home / "quarantine").glob("*.reason"))
    assert reasons == ["foreign: no id\n", "not a regular file\n", "torn: not JSON\n"]


@pytest.mark.parametrize("is_later", [False, True])
def test_waiting_daemon_heeds_stop(home: Path, is_later: bool) -> None:
    home.mkdir(mode=0o700)
    lock = paths.lock(str(home))
    with open(lock, "w", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        second = Daemon(ROOT, home)
        with ThreadPoolExecutor(1) as pool:
            started = pool.submit(second.start)
            held.write("stopped %d\n" % (0 if is_later else time.time_ns() + 60 * 10**9))
            held.flush()
            fcntl.flock(held, fcntl.LOCK_UN)
            if is_later:
                started.result()
                assert second.stop() == 0
                return
            with pytest.raises(AssertionError):  # it has gone without an answer
                started.result()
    assert second.process is not None and second.process.wait(5) == 0
    second.process.stderr.close()  # type: ignore[union-attr]
    assert not (home / "daemon.sock").exists()


def test_stop_is_written_for_those_that_wait(daemon: Daemon) -> None:
    assert daemon.client.stop(deadline_s=20)
    assert daemon.stop() == 0  # reaped
    assert Path(paths.lock(str(daemon.home))).read_text().startswith("stopped ")
    daemon.start()
    assert Path(paths.lock(str(daemon.home))).read_text().split()[0].isdigit()


def test_late_daemon_makes_no_deleted_home_anew(home: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(home.parent), "MEMLAYER_HOME": str(home)}
    script = ROOT / "memlayer" / "daemon" / "__main__.py"
    done = subprocess.run([sys.executable, "-I", str(script)], env=environment, cwd="/", timeout=50, check=False)
    assert done.returncode == 0 and not home.exists()


def test_second_daemon_leaves_at_once(daemon: Daemon) -> None:
    second = Daemon(ROOT, daemon.home, settings=daemon.settings).start()
    assert second.process is not None and second.process.wait(20) == 0
    second.stop()
    assert daemon.call("status")["pid"] == daemon.process.pid  # type: ignore[union-attr]


def test_leaves_when_idle(home: Path) -> None:
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}, "daemon": {"idle_minutes": 0.05}}) as daemon:
        assert daemon.process is not None
        assert daemon.process.wait(40) == 0


def test_leaves_when_home_disappears(home: Path) -> None:
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        shutil.rmtree(home)
        assert daemon.process is not None
        assert daemon.process.wait(40) == 0
        assert not home.exists()


def test_daemon_leaves_without_its_socket(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "order events moved to ClickHouse", "noted, 주문 이벤트는 ClickHouse로")
        (home / "daemon.sock").unlink()
        assert daemon.process is not None
        assert daemon.process.wait(40) == 0  # by itself: stop() below only collects the remains
        daemon.stop()
        daemon.start()
        daemon.settle()
        assert daemon.call("stats")["events"] == 2


def test_kill_nine_loses_nothing(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home) as daemon:
        for number in range(5):
            hook.turn("s1", "p%d" % number, "fact number %d 사실" % number, "noted %d" % number)
        daemon.kill()
        hook.turn("s1", "p9", "while nobody was there", "noted 9")
        daemon.start()
        daemon.settle()
        assert daemon.call("stats")["events"] == 12


def test_hung_daemon_loses_no_event(hook: HookRunner, home: Path) -> None:
    home.mkdir(exist_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.getcwd()
    os.chdir(home)
    listening.bind("daemon.sock")
    os.chdir(here)
    listening.listen(8)
    try:
        hook.turn("s1", "p1", "hung daemon", "무슨 일이 있어도 남는다")
    finally:
        listening.close()
    assert [event["kind"] for event in hook.spooled] == ["user", "assistant"]
    assert "late" in (home / "logs" / "hook.log").read_text()


@pytest.mark.parametrize(
    "answer", [b"", b"garbage\n" * 100, b"reply 99999999999\n", b"\xff" * 5000, b"durable 0\n", b"version 3\n1 9"]
)
def test_nonsense_answer_is_survived(hook: HookRunner, home: Path, answer: bytes) -> None:
    home.mkdir(exist_ok=True)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.getcwd()
    os.chdir(home)
    listening.bind("daemon.sock")
    os.chdir(here)
    listening.listen(8)

    def serve() -> None:
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    done = hook("user_prompt_submit", "s1", "p1", prompt="nonsense daemon")
    thread.join()
    listening.close()
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    # `durable` is a promise that the daemon gave; everything else leaves the event to the hook.
    assert len(hook.spooled) == (0 if answer.startswith(b"durable") else 1)


def test_another_version_makes_the_daemon_leave(daemon: Daemon, hook: HookRunner) -> None:
    daemon.settle()
    newer = protocol.request("status", b"{}", build="99.0.0", deadline_ms=1000, at_ms=0)
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    here = os.getcwd()
    os.chdir(daemon.home)
    connection.connect("daemon.sock")
    os.chdir(here)
    connection.sendall(newer)
    assert connection.recv(100).startswith(b"version ")
    connection.close()
    assert daemon.process is not None and daemon.process.wait(20) == 0
    hook.turn("s1", "p1", "between two versions", "kept")
    assert len(hook.spooled) == 2


def test_bad_frames_do_no_harm(daemon: Daemon) -> None:
    here = os.getcwd()
    for raw in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x00" * 100_000, b"memlayer/1 0.1.0 stats 1 1 - 99999999999999\n"):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        os.chdir(daemon.home)
        connection.connect("daemon.sock")
        os.chdir(here)
        try:
            connection.sendall(raw)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1000)
        except OSError:
            pass
        connection.close()
    assert daemon.call("status")["store"] in ("open", "opening")


def test_idle_daemon_uses_no_cpu(daemon: Daemon) -> None:
    daemon.settle()
    assert daemon.process is not None
    pid = daemon.process.pid
    children = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout.split()
    assert children == []
    before = _ticks(pid)
    time.sleep(3)
    assert (_ticks(pid) - before) / os.sysconf("SC_CLK_TCK") < 0.06  # 2 % of one core


def test_sigterm_settles_first(daemon: Daemon, hook: HookRunner) -> None:
    daemon.settle()
    hook("user_prompt_submit", "s1", "p1", prompt="the last words before the end, 마지막 말")
    assert daemon.process is not None
    daemon.process.send_signal(signal.SIGTERM)
    assert daemon.process.wait(20) == 0
    assert hook.spooled == []


def test_files_are_for_this_user_only(daemon: Daemon, hook: HookRunner) -> None:
    hook.turn("s1", "p1", "modes", "modes of files")
    hook("session_end", "s1", reason="other")
    daemon.settle()
    daemon.stop()
    for path in [daemon.home, *daemon.home.rglob("*")]:
        if path.name in ("config.yaml", "setup.stamp", "setup.noticed"):
            continue  # made by the tests
        mode = path.lstat().st_mode & 0o777
        assert mode & 0o077 == 0, (path, oct(mode))


def _ticks(pid: int) -> int:
    fields = Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])
