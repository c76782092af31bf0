"""The story without a network.

It runs where only loopback exists, and reaches out to no address but unix sockets.
"""

import functools
import json
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

STORY = Path(__file__).with_name("offline_story.py")
ALONE = ["unshare", "--map-root-user", "--net"]
PROBE = "import socket; socket.create_connection(('192.0.2.1', 80), 3)"


@functools.cache
def namespaces() -> str:
    """Why there can be no network namespace; "" when there can."""
    if not shutil.which("unshare"):
        return "there is no unshare"
    done = subprocess.run([*ALONE, "true"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "this machine allows no network namespace: %s" % done.stderr.decode().strip()


@functools.cache
def tracer() -> str:
    """Why system calls cannot be traced; "" when they can."""
    if not shutil.which("strace"):
        return "there is no strace"
    done = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    return "" if done.returncode == 0 else "this machine allows no tracing"


@pytest.mark.timeout(180)
def test_story_needs_no_network(tmp_path: Path) -> None:
    """Takes long: daemon and verbs start fresh, without a network, traced."""
    if namespaces():
        pytest.skip(namespaces())
    trace = tmp_path / "trace"
    traced = (
        [] if tracer() else ["strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=connect,sendto", "-o", str(trace)]
    )
    done = subprocess.run(
        [*ALONE, *traced, sys.executable, str(STORY), str(tmp_path)], capture_output=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    told = json.loads(done.stdout)
    assert told["mode"] == "hybrid"
    assert "3번" in told["prompt"] and "[Memory context]" in told["prompt"]
    assert "결제 재시도는 몇 번까지 할까?" in told["start"]
    assert "ClickHouse" in told["search"]
    assert "memories" in told["stats"]
    if traced:
        calls = trace.read_text("utf-8", "replace")
        assert "AF_UNIX" in calls  # the hooks and the command line did talk to the daemon
        assert spoken_to(calls) == {"AF_UNIX"}, [line for line in calls.splitlines() if "AF_UNIX" not in line]


def spoken_to(calls: str) -> set[str]:
    """Address families that somebody tried to reach."""
    return set(re.findall(r"sa_family=(AF_\w+)", calls))


def test_namespace_has_no_network() -> None:
    """The test above can fail.

    From where it runs, nothing outside can be reached.
    """
    if namespaces():
        pytest.skip(namespaces())
    done = subprocess.run([*ALONE, sys.executable, "-c", PROBE], capture_output=True, timeout=30, check=False)
    assert b"unreachable" in done.stderr or b"OSError" in done.stderr


def test_trace_sees_an_attempt(tmp_path: Path) -> None:
    if tracer():
        pytest.skip(tracer())
    trace = tmp_path / "trace"
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        subprocess.run(
            ["strace", "-f", "-qq", "-e", "trace=connect,sendto", "-o", str(trace), sys.executable, "-c",
             "import socket; socket.create_connection(('127.0.0.1', %d), 3)" % port],
            capture_output=True, timeout=30, check=True,
        )  # fmt: skip
    assert "AF_INET" in spoken_to(trace.read_text("utf-8", "replace"))
