"""Failing memory says so at a session's start.

One line, once a day, with the cause, through the real hooks.
"""

import json
import os
import re
import sys
import time
from pathlib import Path

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from memlayer.edge.home import paths
from tests.support.cli_process import diagnosis
from tests.support.corpus import transcript
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
HOURS_S = 3600.0


def notice(hook: HookRunner, session: str) -> str:
    """Return the notice that the person gets at a session's start."""
    done = hook("session_start", session, source="startup")
    assert (done.returncode, done.stderr) == (0, b"")
    return str(done.output.get("systemMessage", ""))


def captured(project: Path, prompt: str, at_ms: int) -> dict[str, object]:
    raw = json.dumps({"session_id": "old", "prompt_id": "p%d" % at_ms, "prompt": prompt}).encode()
    event = read_payload("user_prompt_submit", raw, project_dir=str(project), at_ms=at_ms).event
    assert event is not None
    return event


def test_closed_store_is_reported_once(hook: HookRunner, home: Path) -> None:
    (home / "store").write_text("in the way")
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] == "failed", "failure")
        hook.turn("s1", "p1", "어디에도 저장되지 않을 턴", "네")
        said = notice(hook, "s2")
        assert said.startswith("memlayer: the store does not open (the store folder cannot be used")
        assert "turns are safe on disk" in said and "\n" not in said
        assert notice(hook, "s3") == ""  # once a day
        found = diagnosis(home)
        assert found["store"][0] == "fail" and found["turns kept"][0] == "warn"
    assert len(hook.spooled) == 4  # a turn and two starts


@pytest.mark.fault
def test_daemon_reopens_repaired_store(hook: HookRunner, home: Path) -> None:
    (home / "store").write_text("in the way")
    with Daemon(ROOT, home, {}) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] == "failed", "failure")
        hook.turn("s1", "p1", "스토어가 없을 때 한 말: 배포는 화요일", "noted")
        (home / "store").unlink()
        daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "open store", 60)
        daemon.settle()
        daemon.wait_for(lambda: daemon.call("status")["mode"] == "hybrid", "loaded model", 60)
        texts = [str(memory["text"]) for memory in daemon.call("list", limit=10)["memories"]]
        assert any("배포는 화요일" in text for text in texts)
        assert notice(hook, "s2") == ""
    assert hook.spooled == []


def test_waiting_events_reported_with_cause(hook: HookRunner, home: Path) -> None:
    now_s = time.time()
    path = spool.put(str(home), captured(hook.project, "몇 주째 기다린다", int((now_s - 5 * HOURS_S) * 1000)))
    os.utime(path, (now_s - 5 * HOURS_S, now_s - 5 * HOURS_S))
    logs = Path(paths.make_folder(paths.logs(str(home))))
    last = {"at_ms": int(now_s * 1000), "level": "error", "what": "job drain failed: StoreError at lance_table.py:9"}
    (logs / "daemon.log").write_text(json.dumps(last) + "\n")
    (home / "wake.stamp").touch()
    said = notice(hook, "s1")
    assert "1 event has waited up to 5 h for the store (job drain failed: StoreError)" in said
    assert notice(hook, "s2") == ""


def test_sleep_is_no_trouble(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "자러 간다", "네")
    then_s = time.time() - 9 * HOURS_S
    for path in [*spool.waiting(str(home)), str(home / "setup.stamp")]:
        os.utime(path, (then_s, then_s))
    assert notice(hook, "s2") == ""


def test_growing_quarantine_is_reported(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "찢어진다", "네")
    for path in spool.waiting(str(home)):
        Path(path).write_text('{"torn')
    with Daemon(ROOT, home) as daemon:
        daemon.settle()
    said = notice(hook, "s2")
    assert "2 events of the last day could not be read and were set aside (torn: not JSON)" in said
    assert diagnosis(home)["quarantine"] == ("warn", "2 files set aside: 2x torn: not JSON")


@pytest.mark.timeout(120)
def test_doctor_fails_on_missed_turns(hook: HookRunner, home: Path, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("")
    with Daemon(ROOT, home) as daemon:
        hook("session_start", "s1", source="startup", transcript_path=str(path))
        daemon.settle()
        assert diagnosis(home)["turns kept"][0] == "ok"
        # The host goes on, and no hook runs any more.
        said = transcript("s1", str(hook.project), ["질문 %d번" % number for number in range(3)])
        path.write_text(re.sub(r'"timestamp": "[^"]+"', '"timestamp": "2026-01-01T00:00:00.000Z"', said))
        session = next((home / "sessions").glob("*.json"))
        daemon.stop()
        known = json.loads(session.read_text())
        session.write_text(json.dumps({**known, "since_ms": 0, "ended": "other"}))
        daemon.start()
        state, says = diagnosis(home)["turns kept"]
        assert state == "fail" and "6 stand in transcripts and nowhere else" in says
        assert daemon.call("witness")["worst_session"] == "s1"


def test_refusals_are_counted_by_reason(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "이건 남는다", "네")
        hook("user_prompt_submit", "s1", "p2", prompt="of a helper", agent_id="a1")
        hook.raw("stop", b"{torn")
        (hook.project / ".memlayer.yaml").write_text("enabled: false\n")
        hook.turn("s1", "p3", "꺼진 프로젝트", "네")
        assert notice(hook, "s2") == ""
        found = daemon.call("stats")
        assert found["arrived"] == 2
        assert found["refused"] == {
            "sub-agent": 1, "stdin is not JSON": 1, "memory is switched off for the project": 3,
        }  # fmt: skip
        daemon.stop()  # the counts outlive it
        daemon.start()
        assert daemon.call("stats")["arrived"] == 2


def test_doctor_reports_disabled_capture(hook: HookRunner, home: Path) -> None:
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}, "capture": {"enabled": False}}) as daemon:
        hook.turn("s1", "p1", "저장하지 마", "네")
        assert daemon.call("stats")["refused"] == {"capture.enabled is false": 2}
        assert diagnosis(home)["capture"][0] == "warn"


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX")
def test_unwritable_home_still_reports(hook: HookRunner, home: Path) -> None:
    (home / "store").write_text("in the way")
    (home / "health.noticed").mkdir()  # the stamp cannot be written
    with Daemon(ROOT, home) as daemon:
        daemon.wait_for(lambda: daemon.call("status")["store"] == "failed", "failure")
        assert notice(hook, "s1") == ""


def test_each_other_mistake_in_the_settings_is_told(hook: HookRunner, home: Path) -> None:
    quiet = {"embedding": {"provider": "none"}}
    wrong = {
        "s1": {"recall": {"enabled": "뭐"}}, "s2": {"recall": {"enabled": "뭐"}}, "s3": {"foo": 1},
        "s4": {"recall": {"max_entries": -3}}, "s5": {},
    }  # fmt: skip
    told = {}
    for session, settings in wrong.items():
        with Daemon(ROOT, home, {**quiet, **settings}) as daemon:
            daemon.wait_for(lambda: daemon.call("status")["store"] == "open", "store")
            told[session] = "settings are wrong" in notice(hook, session)
    assert told == {"s1": True, "s2": False, "s3": True, "s4": True, "s5": False}
