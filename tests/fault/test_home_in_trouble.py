"""A home with a full disk, no permission or an odd path.

Also one that is gone, a clock set back, and no process to be had. The host is unharmed, acknowledged events are there
once the cause is gone, and doctor names the fault.
"""

import contextlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.bootstrap.health import entries
from memlayer.edge.capture import spool
from memlayer.edge.ipc.client import Client
from tests.fault.confined import NOBODY, NotHere, fill, powerless, python_for_others, small_disk, with_clock
from tests.support.cli_process import diagnosis
from tests.support.processes import Daemon, HookRunner
from tests.support.witness import BARE, ROOT, Witness

MB = 1 << 20
FIELDS: dict[str, Any] = {
    "prompt": "자리가 없어도 남는가", "last_assistant_message": "it stays", "source": "startup", "reason": "other",
    "tool_name": "Bash", "tool_input": {"command": "make"}, "error": "Exit code 2",
}  # fmt: skip
STEMS = (
    "session_start", "user_prompt_submit", "post_tool_use", "post_tool_use_failure", "stop", "session_end",
    "pre_compact", "post_compact",
)  # fmt: skip


def texts(home: Path) -> list[str]:
    """Return the stored texts, oldest first.

    The daemon settles first and leaves then.
    """
    client = Client(str(home), str(ROOT), wait_s=30)
    client.call("flush", {"wait": True}, deadline_s=60)
    found = client.call("list", {"limit": 1000, "category": "conversation"})["memories"]
    client.stop()
    return [str(one["text"]) for one in sorted(found, key=lambda one: one["at_ms"])]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 40 MB."""
    with contextlib.ExitStack() as held:
        try:
            yield held.enter_context(small_disk(tmp_path / "disk", 40 * MB))
        except NotHere as why:
            pytest.skip("no small disk can be mounted here: %s" % why)


def test_full_disk_without_daemon(disk: Path, project: Path) -> None:
    hook = HookRunner(ROOT, disk / "home", project, python=BARE)
    hook.forbid_background()
    hook.turn("s1", "p1", "before the disk was full", "noted, 가득 차기 전")
    hog = fill(disk)
    for stem in STEMS:
        done = hook(stem, "s1", "p2", **FIELDS)
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    hog.unlink()
    hook.turn("s1", "p3", "after", "there is room again")
    assert [event["prompt_id"] for event in hook.spooled] == ["p1", "p1", "p3", "p3"]
    assert not list((disk / "home" / "spool").glob(".tmp-*"))
    failed = entries(str(disk / "home" / "logs" / "hook.log"), time.time())
    assert {line["error"] for line in failed if line["what"] == "failed"} <= {"OSError"}
    assert {line["what"] for line in failed} <= {"failed", "daemon absent"}


def test_full_disk_under_daemon(disk: Path, project: Path) -> None:
    home = disk / "home"
    hook = HookRunner(ROOT, home, project, python=BARE)
    hook.forbid_background()
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "before the disk was full", "noted, 가득 차기 전")
        daemon.settle()
        hog = fill(disk, leave_bytes=64 * 1024)  # room for the spool, none for the store
        hook.turn("s1", "p2", "결제 재시도는 세 번", "three retries, then the queue")
        fill(disk)
        for stem in STEMS:
            done = hook(stem, "s1", "p3", **FIELDS)
            assert (done.returncode, done.stderr) == (0, b"")
        assert daemon.call("status")["store"] == "open"
        found = diagnosis(home)
        assert found["disk"][0] == "fail" and "free" in found["disk"][1]
        for path in disk.glob("hog*"):
            path.unlink()
        assert not hog.exists()
        hook.turn("s1", "p4", "after", "there is room again")
        daemon.settle()
        assert daemon.call("stats")["quarantined"] == 0
        kept = {memory["prompt_id"] for memory in daemon.call("list", limit=100)["memories"]}
        assert {"p1", "p2", "p4"} <= kept
        assert hook.spooled == []
        daemon.stop()
        daemon.start()  # the rest of the store opens after the full disk
        assert {memory["prompt_id"] for memory in daemon.call("list", limit=100)["memories"]} == kept


def test_disk_full_at_start(disk: Path, project: Path) -> None:
    home = disk / "home"
    hook = HookRunner(ROOT, home, project, python=BARE)
    hook.forbid_background()
    hook.turn("s1", "p1", "the first turn ever", "noted")
    hog = fill(disk, leave_bytes=32 * 1024)
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] != "opening", "opened or failed store")
        status = daemon.call("status")
        assert status["store"] == "failed" and "space" in status["store_error"]
        assert diagnosis(home)["store"][0] == "fail"
        hog.unlink()
        daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "open store", 60)
    assert texts(home) == ["User: the first turn ever\nAssistant: noted"]


def run_as(wrap: list[str], hook: HookRunner, stem: str, prompt_id: str) -> tuple[int, bytes, bytes]:
    payload = {"session_id": "s1", "prompt_id": prompt_id, "cwd": str(hook.project), **FIELDS}
    done = subprocess.run(
        [*wrap, hook.python, "-I", "-S", str(ROOT / "hooks" / (stem + ".py"))], input=json.dumps(payload).encode(),
        capture_output=True, env=hook.environment, cwd="/", timeout=30, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("which", ["the home", "the spool", "the home before there is one"])
def test_unwritable_folder(hook: HookRunner, home: Path, which: str) -> None:
    try:
        wrap = powerless([])
    except NotHere as why:
        pytest.skip(str(why))
    hook.turn("s1", "p1", "before", "noted, 권한이 있을 때")
    locked = home / "spool" if which == "the spool" else home
    if which == "the home before there is one":
        locked = home.parent / "locked"
        locked.mkdir()
        hook.environment["MEMLAYER_HOME"] = str(locked / "home")
    locked.chmod(0o500)
    try:
        for stem in STEMS:
            assert run_as(wrap, hook, stem, "p2") == (0, b"", b"")
        if locked != home.parent / "locked":
            state, says = diagnosis(home, wrap)["permissions"]
            assert state == "fail" and "cannot be written" in says
    finally:
        locked.chmod(0o700)
        hook.environment["MEMLAYER_HOME"] = str(home)
    hook.turn("s1", "p3", "after", "noted")
    kept = [event["prompt_id"] for event in hook.spooled if event["prompt_id"] != "p2"]
    assert [one for one in kept if one] == ["p1", "p1", "p3", "p3"]
    # A spool that is there already needs nothing of the home: every hook's event was kept.
    assert len(hook.spooled) == (4 + len(STEMS) if which == "the home" else 4)


def test_home_of_another_user(project: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root can be somebody else")
    try:
        python = python_for_others()
    except NotHere as why:
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o755)
        hook = HookRunner(ROOT, base / "home", base, python=python)
        hook.forbid_background()
        hook.turn("s1", "p1", "root's own", "noted")
        done = subprocess.run(
            [python, "-I", "-S", str(ROOT / "hooks" / "stop.py")], user=NOBODY, group=NOBODY, extra_groups=[],
            input=b'{"session_id": "s1", "prompt_id": "p9", "last_assistant_message": "x"}', capture_output=True,
            env=hook.environment, cwd="/", timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        assert len(hook.spooled) == 2


def test_no_process_can_start() -> None:
    """The hook cannot fork, so no daemon and no setup starts.

    Its event is kept all the same.
    """
    if os.getuid() != 0:
        pytest.skip("root has to become a user who has no process left; RLIMIT_NPROC would hit this very user")
    try:
        python = python_for_others()
    except NotHere as why:
        pytest.skip(str(why))
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        os.chown(base, NOBODY, NOBODY)
        venv = base / "venv"  # a runtime, as far as finding one goes: the hook then tries to fork a daemon
        (venv / "bin").mkdir(parents=True)
        (venv / "bin" / "python").symlink_to(python)
        shutil.copy(ROOT / "requirements.lock", venv)
        environment = {
            "PATH": "/usr/bin:/bin", "MEMLAYER_HOME": str(base / "home"), "CLAUDE_PROJECT_DIR": str(base),
            "MEMLAYER_RUNTIME_DIR": str(venv),
        }  # fmt: skip
        done = subprocess.run(
            ["prlimit", "--nproc=1", python, "-I", "-S", str(ROOT / "hooks" / "user_prompt_submit.py")],
            user=NOBODY, group=NOBODY, extra_groups=[], env=environment, cwd="/", capture_output=True, timeout=30,
            input=json.dumps({"session_id": "s1", "prompt_id": "p1", "prompt": "포크 없이"}).encode(), check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
        (path,) = spool.waiting(str(base / "home"))
        assert "포크 없이" in Path(path).read_text()
        absent, line = (base / "home" / "logs" / "hook.log").read_text().splitlines()
        assert "daemon absent" in absent
        assert json.loads(line)["error"] == "BlockingIOError"


@pytest.mark.parametrize("name", ["x" * 200, "메모리 " * 12, "'quotes', $signs; %s"], ids=["long", "한글", "signs"])
def test_home_on_odd_path(tmp_path: Path, project: Path, name: str) -> None:
    witness = Witness(tmp_path / name / "home")
    try:
        witness.call("session_start", project, "s1")
        witness.call("user_prompt_submit", project, "s1", "p1", "어디에 있든")
        ends = time.monotonic() + 20
        while witness.client.status() is None and time.monotonic() < ends:
            time.sleep(0.05)
        witness.call("stop", project, "s1", "p1", "wherever it is")
        assert witness.client.status() is not None
        assert not spool.waiting(str(witness.home)) or witness.daemon_pid()
        witness.settle_and_stop()
        assert witness.verdict().faults() == {}
        assert witness.verdict().stored == 2
    finally:
        witness.kill_daemon()


def test_home_deleted_while_running(witness: Witness, project: Path) -> None:
    witness.call("user_prompt_submit", project, "s1", "p1", "before")
    witness.client.call("flush", {"wait": True}, deadline_s=60)
    pid = witness.daemon_pid()
    shutil.rmtree(witness.home)
    Witness(witness.home)  # the settings of these tests, in a new home
    witness.call("user_prompt_submit", project, "s1", "p2", "홈이 사라진 뒤")
    ends = time.monotonic() + 20
    while os.path.exists("/proc/%d" % pid) and time.monotonic() < ends:
        time.sleep(0.05)
    assert not os.path.exists("/proc/%d" % pid)
    (witness.home / "wake.stamp").unlink(missing_ok=True)
    witness.settle_and_stop()
    verdict = witness.verdict()
    assert (verdict.stored, verdict.lost, verdict.failures) == (1, [("s1", "p1", "user")], [])


@pytest.mark.parametrize("shift_s", [-400 * 86400.0, 400 * 86400.0], ids=["back", "ahead"])
def test_clock_jumps_lose_nothing(hook: HookRunner, home: Path, shift_s: float) -> None:
    """Only the order comes from the clock.

    A turn of an odd time is kept, and found.
    """
    hook.turn("s1", "p1", "where do order events go?", "주문 이벤트는 ClickHouse로 간다")
    payload = {"session_id": "s1", "prompt_id": "p2", "cwd": str(hook.project), **FIELDS}
    for stem in ("user_prompt_submit", "stop"):
        command = [hook.python, "-I", "-S", str(ROOT / "hooks" / (stem + ".py"))]
        done = subprocess.run(
            with_clock(command, shift_s), input=json.dumps(payload).encode(), capture_output=True,
            env=hook.environment, cwd="/", timeout=30, check=False,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    for stamp in ("wake.stamp", "setup.stamp"):
        (home / stamp).touch()
        os.utime(home / stamp, (time.time() + 86400 * 400, time.time() + 86400 * 400))
    hook.turn("s1", "p3", "after", "the clock is right again")
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
        assert daemon.call("stats")["events"] == 6
        turns = daemon.call("list", category="conversation", limit=9)["memories"]
        assert {memory["prompt_id"] for memory in turns} == {"p1", "p2", "p3"}
        assert daemon.call("search", query="it stays")["hits"]
        assert diagnosis(home)["spool"][0] == "ok"
