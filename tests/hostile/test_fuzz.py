"""Bent payloads for every hook and for the socket.

Exit 0, no traceback, no hang, and the daemon still answers. MEMLAYER_FUZZ=10000 makes it that many for each hook, with
and without a daemon, and for the socket.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import SPOOL_FIELDS, read_payload
from memlayer.edge.home import paths
from memlayer.edge.ipc import protocol
from tests.hostile.mutate import ASKED, EVENTS, frames, payloads, rounds
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
LONG = bool(ASKED)
SEED = int(os.environ.get("MEMLAYER_SEED") or 20)
OPS = [
    *("hook." + hook for hook in EVENTS.values()),
    "search", "recall", "show", "list", "stats", "status", "forget", "flush", "nonsense", "",
]  # fmt: skip


def call_many(hook: HookRunner, name: str, many: list[bytes]) -> dict[str, float]:
    """Send every payload to a process of its own.

    Returns the counts. Fails on the first broken rule.
    """
    script = Path(__file__).with_name("hook_forks.py")
    lines = b"".join(raw.hex().encode() + b"\n" for raw in many)
    done = subprocess.run(
        [hook.python, "-I", "-S", str(script), str(ROOT), name], input=lines,
        capture_output=True, env=hook.environment, cwd=hook.project, timeout=60 + len(many), check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    *broken, counts = [json.loads(line) for line in done.stdout.splitlines()]
    assert broken == []
    return dict(counts)


def swallowed(home: Path) -> list[str]:
    """Return exceptions that a hook or the daemon caught.

    At its edge: no payload should reach one.
    """
    found = []
    for log in (paths.hook_log(str(home)), paths.daemon_log(str(home))):
        with contextlib.suppress(FileNotFoundError):
            lines = Path(log).read_text("utf-8", "replace").splitlines()
            found += [line[:400] for line in lines if '"failed"' in line or "failed: " in line]
    return found


@pytest.mark.timeout(20_000 if LONG else 60)
@pytest.mark.parametrize("name", EVENTS.values())
def test_payloads_break_no_lone_hook(hook: HookRunner, home: Path, name: str) -> None:
    many = list(payloads(name, rounds(120), SEED))
    counts = call_many(hook, name, many)
    assert counts["calls"] == len(many)
    assert swallowed(home) == []
    for path in spool.waiting(str(home)):
        event, why = spool.load(path)
        assert event is not None, why
        assert set(event) == set(SPOOL_FIELDS)
    assert name == "session_end" or spool.waiting(str(home))


@pytest.mark.fault
@pytest.mark.timeout(40_000 if LONG else 60)
def test_payloads_break_no_daemon(hook: HookRunner, daemon: Daemon) -> None:
    """Takes long: a hook process for each payload."""
    for name in EVENTS.values():
        many = list(payloads(name, rounds(40), SEED + 1))
        counts = call_many(hook, name, many)
        assert counts["calls"] == len(many)
        assert counts["slowest_s"] < 5
    hook.turn("after", "p1", "퍼징 뒤에도 기억한다 qzafter", "네, qzafter 기억합니다.")
    daemon.settle(7200 if LONG else 40)  # some thousand payloads are embedded
    assert any("qzafter" in memory["text"] for memory in daemon.call("list", limit=10_000)["memories"])
    assert daemon.call("stats")["quarantined"] == 0
    assert swallowed(daemon.home) == []


@pytest.mark.parametrize("name", EVENTS.values())
def test_real_scripts_on_bent_payloads(hook: HookRunner, name: str) -> None:
    for raw in [b"", b"\xff", b"{", b"[]", b"[" * 100_000, *list(payloads(name, 40, SEED + 2))[-3:]]:
        done = hook.raw(name, raw)
        assert (done.returncode, done.stderr) == (0, b""), raw[:200]
        assert not done.stdout or isinstance(json.loads(done.stdout), dict)


def exchange(home: Path, raw: bytes, timeout_s: float = 20.0) -> bytes:
    """Send bytes, close the sending side, read to the end."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(timeout_s)
        folder = os.open(home, os.O_RDONLY)
        try:
            sock.connect("/proc/self/fd/%d/%s" % (folder, paths.SOCKET_NAME))
        finally:
            os.close(folder)
        answer = b""
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it need not hear us out
            sock.sendall(raw)
            sock.shutdown(socket.SHUT_WR)
            while part := sock.recv(65536):
                answer += part
        return answer


@pytest.mark.timeout(20_000 if LONG else 60)
def test_no_frame_breaks_the_daemon(daemon: Daemon, hook: HookRunner) -> None:
    hook.turn("s1", "p1", "소켓으로 온 것", "네, 소켓으로 왔습니다.")
    slowest_s = 0.0
    for raw in frames(rounds(250), SEED, OPS):
        started = time.monotonic()
        answer = exchange(daemon.home, raw)
        slowest_s = max(slowest_s, time.monotonic() - started)
        answered = protocol.AnswerReader().feed(answer)
        assert not answer or answered, (raw[:300], answer[:300])
        for tag, body in answered:
            assert tag in (protocol.DURABLE, protocol.PROGRESS, protocol.REPLY, protocol.ERROR, protocol.VERSION)
            assert b"Traceback" not in body and b"inside the daemon" not in body, raw[:300]
    assert slowest_s < 15
    assert daemon.call("status")["store"] == "open"
    assert swallowed(daemon.home) == []


def test_half_requests_block_nobody(daemon: Daemon, hook: HookRunner) -> None:
    """More connections than the daemon serves at once.

    Each is silent after half a header: the next hook is kept.
    """
    crowd = []
    folder = os.open(daemon.home, os.O_RDONLY)
    for _ in range(100):
        sock = socket.socket(socket.AF_UNIX)
        sock.connect("/proc/self/fd/%d/%s" % (folder, paths.SOCKET_NAME))
        sock.sendall(b"memlayer/1 0.0 hook.st")
        crowd.append(sock)
    os.close(folder)
    try:
        hook.turn("s1", "p1", "붐벼도 남는다", "네, 남습니다.")
        assert daemon.call("status")["store"] == "open"
    finally:
        for sock in crowd:
            sock.close()
    daemon.settle()
    assert daemon.call("stats")["events"] == 2


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(alphabet=st.characters(), max_size=60),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=8,
)
FIELDS = st.sampled_from(
    ["session_id", "prompt_id", "prompt", "cwd", "source", "reason", "transcript_path", "last_assistant_message",
     "agent_id", "hook_event_name", "stop_hook_active"]
)  # fmt: skip


@pytest.mark.timeout(20_000 if LONG else 60)
@settings(max_examples=rounds(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(list(EVENTS.values())), told=st.dictionaries(FIELDS, ANY_JSON, max_size=8), raw=st.binary())
def test_reading_a_payload_never_raises(name: str, told: dict[str, object], raw: bytes) -> None:
    sound = {"session_id": "s1", "prompt_id": "p1", "prompt": "x", "last_assistant_message": "y", "cwd": "/tmp"}
    text = json.dumps({**sound, **told}).encode("utf-8", "surrogatepass")
    for data in (text, raw, text[: len(raw)], raw + text):
        payload = read_payload(name, data, project_dir="/tmp", at_ms=1)
        if payload.event is not None:
            assert set(payload.event) == set(SPOOL_FIELDS)
            json.dumps(payload.event, ensure_ascii=False).encode("utf-8")
        else:
            assert payload.problem or json.loads(data)


def test_fuzzer_can_fail(hook: HookRunner, tmp_path: Path) -> None:
    """A hook that prints a traceback, hangs or exits 2 is seen."""
    broken = tmp_path / "memlayer" / "edge" / "hook"
    broken.mkdir(parents=True)
    for folder in (broken.parent.parent, broken.parent, broken):
        (folder / "__init__.py").touch()
    (broken / "fallback.py").write_text("keep_without_daemon = True")
    for body, sign in (
        ("import sys; sys.stderr.write('Traceback'); sys.exit(0)", "stderr"),
        ("import os; os.write(1, b'oops'); os._exit(0)", "no JSON"),
        ("import os; os._exit(2)", "wait status 512"),
    ):
        (broken / "main.py").write_text("def run(hook):\n    " + body + "\n")
        done = subprocess.run(
            [sys.executable, "-I", "-B", str(Path(__file__).with_name("hook_forks.py")), str(tmp_path), "stop"],
            input=b"7b7d\n", capture_output=True, timeout=30, check=True,
        )  # fmt: skip
        assert sign in done.stdout.decode()
