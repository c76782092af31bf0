"""A pipe in the home keeps no hook waiting, and no daemon."""

import os
import time
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import extras, health, runtime
from memlayer.edge.capture import spool
from memlayer.edge.home import error_log, given_notes, paths
from memlayer.edge.ipc import client
from memlayer.records import small_files
from memlayer.records.tombstones import Tombstones
from tests.support.processes import HookRunner

READS = {
    "projects.json": lambda home: paths.read_object(paths.projects(home)),
    "daemon_variables": runtime.daemon_variables,
    "python": runtime.remembers_python,
    "runtime.failed": runtime.setup_failure,
    "runtime.lock": runtime.setup_is_running,
    "daemon.lock": lambda home: client.last_line(paths.lock(home)),
    "setup.noticed": health.ready,
    "extras": extras.remembered,
    "quarantine/사건.reason": spool.quarantined,
    "reviewed.json": lambda home: small_files.read(paths.reviewed(home), dict[str, str]),
    "forgotten.txt": lambda home: Tombstones(home).ids(),
}
APPENDS = {
    "logs/hook.log": lambda home: error_log.write(paths.hook_log(home), "시험"),
    "given.jsonl": lambda home: given_notes.put(home, {"at_ms": 1}),
    "logs/daemon.err": lambda home: paths.open_fd(os.path.join(paths.logs(home), "daemon.err"), os.O_WRONLY),
}


def piped(home: Path, name: str) -> str:
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    os.mkfifo(home / name)
    return str(home)


@pytest.mark.timeout(5)
@pytest.mark.parametrize("name", READS)
def test_pipe_is_read_as_nothing(tmp_path: Path, name: str) -> None:
    assert not READS[name](piped(tmp_path, name)) or name == "quarantine/사건.reason"


@pytest.mark.timeout(5)
@pytest.mark.parametrize("name", APPENDS)
def test_nothing_is_written_to_a_pipe(tmp_path: Path, name: str) -> None:
    home = piped(tmp_path, name)
    with pytest.raises(OSError):
        APPENDS[name](home)


NAMES = ["projects.json", "logs/hook.log", "daemon_variables", "wake.stamp", "python", "runtime.lock", "runtime.failed"]


@pytest.mark.timeout(30)
@pytest.mark.parametrize("name", NAMES)
def test_hook_waits_for_no_pipe(hook: HookRunner, name: str) -> None:
    piped(hook.home, name)
    started = time.monotonic()
    hook("session_start", "s1", source="startup")
    hook.turn("s1", "p1", "결제 포트는 8443", "네, 8443입니다.")
    assert time.monotonic() - started < 5
    assert [one["kind"] for one in hook.spooled] == ["session_start", "user", "assistant"]
