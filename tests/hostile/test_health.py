"""Honest health.

It reports swallowed errors, waiting events, and turns that only a transcript has.
"""

import json
import os
import time
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import health
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import read_payload
from memlayer.edge.home import error_log, paths
from memlayer.model import Event
from memlayer.ports import Selection
from memlayer.records.sessions import Sessions
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import catch_up
from memlayer.transcripts.audit import audit_sessions, finding
from memlayer.wire.upkeep import Witnessed
from tests.support.corpus import transcript
from tests.support.memory_store import MemoryStore
from tests.support.processes import HookRunner

LATER_S = 3600.0


def test_healthy_home_says_nothing(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "잘 지낸다", "네, 잘 지냅니다.")
    found = health.trouble(str(home), time.time())
    assert (found.lost, found.late, found.waiting, found.aside) == (0, 0, 2, 0)
    assert health.sentence(found) == ""
    assert health.notice(str(home), time.time()) == ""
    assert not (home / "health.noticed").exists()
    assert health.sentence(health.trouble(str(home / "none"), time.time())) == ""


def test_stuck_turns_are_reported(hook: HookRunner, home: Path) -> None:
    """The store does not open for weeks.

    Everything is spooled, nothing is recalled, and the person knows.
    """
    hook.turn("s1", "p1", "기다린다", "네")
    later_s = time.time() + 5 * 3600
    assert health.notice(str(home), later_s) == ""  # the machine slept: nobody has called a daemon since
    os.utime(home / "setup.stamp", (later_s, later_s))
    assert health.notice(str(home), later_s) == (
        "memlayer: 2 events have waited up to 5 h for the store; they are on disk, "
        "but not recalled. /memlayer:memory-doctor says more."
    )
    assert health.notice(str(home), later_s + 60) == ""


def test_failed_setup_is_told_once(home: Path) -> None:
    home.mkdir()
    now_s = time.time()
    failed = home / "runtime.failed"
    for minute in (0, 11):  # each attempt, and that it failed, is news
        failed.write_text("setup failed while installing packages: 색인 없음 (log: /x)\n")
        os.utime(failed, (now_s + minute * 60, now_s + minute * 60))
        assert health.notice(str(home), now_s + minute * 60 + 1) == (
            "memlayer: setup failed while installing packages: 색인 없음 (log: /x). Turns are kept on disk meanwhile, "
            "but not recalled. /memlayer:memory-doctor says more."
        )
        assert health.notice(str(home), now_s + minute * 60 + 30) == ""
    failed.unlink()
    assert health.notice(str(home), now_s + 2 * health.DAY_S) == ""


def test_finished_setup_is_told_once(home: Path) -> None:
    home.mkdir()
    assert health.ready(str(home)) == ""
    (home / "setup.noticed").write_bytes(b"")  # of an earlier version: nobody waits
    assert health.ready(str(home)) == ""
    (home / "setup.noticed").write_bytes(health.PREPARING)
    assert [health.ready(str(home)), health.ready(str(home))] == [health.READY, ""]


def test_last_daemon_error_is_cause(home: Path) -> None:
    logs = Path(paths.make_folder(paths.logs(str(home))))
    now_ms = int(time.time() * 1000)
    lines = [("error", "job open failed: StoreError at lance_open.py:1 open"), ("info", "listening")]
    (logs / "daemon.log").write_text(
        "".join(json.dumps({"at_ms": now_ms, "level": level, "what": text}) + "\n" for level, text in lines)
    )
    assert health.cause(str(home), time.time()) == "job open failed: StoreError"
    assert health.cause(str(home), time.time() + 2 * health.DAY_S) == ""


def test_failed_calls_come_first(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "기다린다", "네")
    for _ in range(2):
        error_log.write(paths.hook_log(str(home)), "failed", hook="stop", error="OSError", at=["spool.py:20 put"])
    found = health.trouble(str(home), time.time() + 2 * 3600)
    assert (found.lost, found.waiting) == (2, 2)
    assert health.sentence(found).startswith("memlayer: 2 hook calls failed in the last day (OSError)")


def test_failed_hook_is_counted(hook: HookRunner, home: Path) -> None:
    (home / "spool").write_text("not a folder")
    hook.turn("s1", "p1", "디스크가 거절한다", "네")
    found = health.trouble(str(home), time.time())
    assert found.lost == 2
    assert "may be lost" in health.sentence(found)


def test_late_stop_costs_no_memories(home: Path) -> None:
    for _ in range(10):
        error_log.write(paths.hook_log(str(home)), "daemon late", hook="stop")
    found = health.trouble(str(home), time.time())
    assert (found.late, health.sentence(found)) == (10, "")


def test_many_late_answers_are_reported(home: Path) -> None:
    for count in range(1, 6):
        error_log.write(paths.hook_log(str(home)), "daemon late", hook="user_prompt_submit")
        said = health.sentence(health.trouble(str(home), time.time()))
        assert bool(said) == (count > health.FEW), count
    assert "5 prompts" in said


def test_notice_comes_once_a_day(home: Path) -> None:
    error_log.write(paths.hook_log(str(home)), "failed", hook="stop", error="OSError")
    now_s = time.time()
    assert health.notice(str(home), now_s)
    assert health.notice(str(home), now_s + 60) == ""
    assert health.notice(str(home), now_s + health.DAY_S - 60) == ""
    os.utime(paths.hook_log(str(home)))
    assert health.notice(str(home), now_s + health.DAY_S + 60) == ""  # the trouble is a day old by then
    assert health.notice(str(home), now_s - 3600)  # the clock was set back: better twice than never


def test_old_trouble_and_damaged_log(home: Path) -> None:
    error_log.write(paths.hook_log(str(home)), "failed", hook="stop", error="OSError")
    path = Path(paths.hook_log(str(home)))
    path.write_bytes(
        b'{"at_ms": 1, "what": "failed"}\n\xff\xfe{\n[1]\n' + b"[" * 5000 + b"\n" + path.read_bytes() + b'{"at'
    )
    assert health.trouble(str(home), time.time()).lost == 1
    assert health.trouble(str(home), time.time() + 2 * health.DAY_S).lost == 0


def test_quarantined_events_are_counted(hook: HookRunner, home: Path) -> None:
    hook.turn("s1", "p1", "한 줄", "네")
    spool.quarantine(str(home), spool.waiting(str(home))[0], "torn: not JSON")
    found = health.trouble(str(home), time.time())
    assert (found.waiting, found.aside, found.aside_new) == (1, 1, 1)
    assert "1 event of the last day could not be read and was set aside (torn: not JSON)" in health.sentence(found)
    later = health.trouble(str(home), time.time() + 2 * health.DAY_S)
    assert (later.aside, later.aside_new) == (1, 0)


# --- the audit


class Host:
    """A session with `turns` turns in its transcript, and the store.

    Hooks filled the store, or did not.
    """

    def __init__(self, home: Path, folder: Path, turns: int = 4) -> None:
        self.home, self.store = home, MemoryStore()
        self.sessions, self.tombstones = Sessions(str(home)), Tombstones(str(home))
        self.path = folder / "session.jsonl"
        self.prompts = ["질문 %d번" % i for i in range(turns)]
        self.path.write_text(transcript("s1", "/home/dev/shop", self.prompts), "utf-8")
        self.start = self.event("session_start", source="startup")
        self.sessions.heard(self.start, "p")

    def event(self, hook: str, prompt_id: str = "", **said: str) -> dict[str, object]:
        raw = json.dumps(
            {
                "session_id": "s1",
                "prompt_id": prompt_id,
                "transcript_path": str(self.path),
                "cwd": "/home/dev/shop",
                **said,
            }
        ).encode()
        event = read_payload(hook, raw, project_dir="/home/dev/shop", at_ms=1000).event
        assert event is not None
        return event

    def bring(self, number: int, source: str = "hook") -> None:
        """Send the events of both hooks of a turn."""
        for event in self.of_turn(number):
            self.bring_one(event, source)

    def bring_one(self, event: dict[str, object], source: str = "hook") -> None:
        names = ("id", "kind", "session_id", "prompt_id", "text", "at_ms", "uuid", "detail")
        self.store.add_events(
            [Event(**{name: event[name] for name in names}, project_id="p", source=source)]  # type: ignore[arg-type]
        )

    def of_turn(self, number: int) -> list[dict[str, object]]:
        prompt = self.prompts[number]
        return [
            self.event("user_prompt_submit", "pt%d" % number, prompt=prompt),
            self.event("stop", "pt%d" % number, last_assistant_message="You said: " + prompt),
        ]

    def seen(self) -> Witnessed:
        now_ms = int((time.time() + LATER_S) * 1000)
        return audit_sessions(str(self.home), self.sessions.all(), self.store, self.tombstones, now_ms)


@pytest.fixture
def host(home: Path, tmp_path: Path) -> Host:
    return Host(home, tmp_path)


def test_all_is_well(host: Host) -> None:
    for number in range(4):
        host.bring(number)
    assert host.seen() == Witnessed(sessions=1, by_hook=8)
    assert finding(host.seen())[0] == "ok"


def test_lost_turns_are_a_failure(host: Host) -> None:
    """Every hook answered and nothing arrived.

    No counter of ours would have known.
    """
    assert host.seen() == Witnessed(sessions=1, lost=8, worst_session="s1")
    state, says, remedy = finding(host.seen())
    assert state == "fail"
    assert "8 stand in transcripts and nowhere else" in says
    assert remedy


def test_capture_off_loses_nothing(host: Host) -> None:
    state, says, remedy = finding(host.seen(), is_capturing=False)
    assert state == "warn"
    assert "8 were not kept: capture.enabled is false" in says
    assert "capture.enabled" in remedy


def test_spooled_turn_is_not_lost(host: Host) -> None:
    host.bring(0)
    for event in host.of_turn(1):
        spool.put(str(host.home), event)
    assert host.seen() == Witnessed(sessions=1, by_hook=2, waiting=2, lost=4, worst_session="s1")


def test_forgotten_turn_is_not_lost(host: Host) -> None:
    for number in range(4):
        host.bring(number)
    gone = host.store.plan_deletion(Selection(session_id="s1"))
    host.store.forget(gone)
    host.tombstones.add(gone.event_ids)
    assert host.seen() == Witnessed(sessions=1, forgotten=8)
    assert finding(host.seen())[0] == "ok"


def test_transcript_only_turns_count_missed(host: Host) -> None:
    host.bring(0)
    for number in (1, 2, 3):
        host.bring(number, source="transcript")
    seen = host.seen()
    assert (seen.by_hook, seen.by_transcript, seen.lost) == (2, 6, 0)
    assert finding(seen)[0] == "warn"


def test_extended_answer_lost_until_reread(host: Host) -> None:
    for number in range(3):
        host.bring(number)
    asked, answered = host.of_turn(3)
    host.bring_one(asked)
    host.bring_one({**answered, "text": "Let me look.", "uuid": "in mid-turn"}, source="transcript")
    assert host.seen() == Witnessed(sessions=1, by_hook=7, by_transcript=1, lost=1, worst_session="s1")
    [grown], _ = catch_up.missed(host.sessions.all()[0], host.store)
    host.bring_one(grown, source="transcript")
    assert host.seen() == Witnessed(sessions=1, by_hook=7, by_transcript=1)


def test_running_turn_is_not_lost(host: Host) -> None:
    now_ms = int(time.time() * 1000)
    seen = audit_sessions(str(host.home), host.sessions.all(), host.store, host.tombstones, now_ms)
    assert seen.lost == 0


def test_transcript_that_was_never_found_is_named(host: Host) -> None:
    host.path.rename(host.path.with_suffix(".moved"))
    host.sessions.heard(host.event("user_prompt_submit", "p1", prompt="배포 언제?"), "p")
    assert host.seen() == Witnessed(left_out=1, unfound=["s1"])
    state, says, remedy = finding(host.seen())
    assert state == "warn" and "no transcript was found of s1" in says and "memlayer import" in remedy
    host.sessions.all()[0].read_bytes = 90  # it was read once: the host removes old ones
    assert host.seen() == Witnessed(left_out=1)
    assert finding(host.seen())[0] == "ok"


@pytest.mark.parametrize("said", ["배포 언제?", "/memory-doctor 뒤에 물어본 말", "when do we ship?"])
def test_a_session_that_has_just_begun_needs_no_transcript_yet(host: Host, said: str) -> None:
    host.path.rename(host.path.with_suffix(".moved"))
    host.sessions.heard(host.event("user_prompt_submit", "p1", prompt=said), "p")
    [session] = host.sessions.all()
    for age_ms, ended, unfound in ((900, "", []), (900, "other", ["s1"]), (120_000, "", ["s1"])):
        session.ended = ended
        seen = audit_sessions(str(host.home), [session], host.store, host.tombstones, session.said_ms + age_ms)
        assert seen.unfound == unfound, (age_ms, ended)


def test_missing_transcript_is_skipped(host: Host) -> None:
    host.path.unlink()
    assert host.seen() == Witnessed(left_out=1)
    assert finding(host.seen())[0] == "ok"
