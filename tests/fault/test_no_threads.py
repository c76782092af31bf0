"""A moment in which the system gives no threads.

The daemon answers again when it is over.
"""

import json
import resource
import socket
import sys
from pathlib import Path

import pytest

from tests.support.processes import Daemon, HookRunner

SPARE_BYTES = 1_000_000  # less than a thread's stack
AT_ONCE = 24  # more than the stacks of ended threads that the C library keeps for new ones


def address_space_bytes(pid: int) -> int:
    lines = Path("/proc/%d/status" % pid).read_text().splitlines()
    return int(next(line.split()[1] for line in lines if line.startswith("VmSize"))) * 1024


@pytest.mark.skipif(sys.platform != "linux", reason="prlimit is Linux's")
def test_daemon_recovers_from_thread_shortage(
    daemon: Daemon, hook: HookRunner, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    daemon.settle()
    assert daemon.process is not None
    pid = daemon.process.pid
    before = resource.prlimit(pid, resource.RLIMIT_AS)
    resource.prlimit(pid, resource.RLIMIT_AS, (address_space_bytes(pid) + SPARE_BYTES, before[1]))
    held = []
    monkeypatch.chdir(home)  # the address of a socket must be short
    try:
        for _ in range(AT_ONCE):
            client = socket.socket(socket.AF_UNIX)
            held.append(client)
            client.settimeout(1)
            client.connect("daemon.sock")
        hook("user_prompt_submit", "s1", "p1", prompt="스레드가 없다")
        daemon.wait_for((home / "logs" / "daemon.log").exists, "log")
        daemon.wait_for(lambda: "no thread" in (home / "logs" / "daemon.log").read_text(), "refusal")
    finally:
        for client in held:
            client.close()
        resource.prlimit(pid, resource.RLIMIT_AS, before)
    assert daemon.settle()["waiting"] == 0
    hook("stop", "s1", "p1", last_assistant_message="they are back")
    daemon.settle()
    [turn] = daemon.call("list", limit=10, category="conversation")["memories"]
    assert turn["text"] == "User: 스레드가 없다\nAssistant: they are back"
    told = [json.loads(line) for line in (home / "logs" / "hook.log").read_text().splitlines()]
    assert [entry["what"] for entry in told if entry["hook"] == "stop"] == []
