"""A session's end, through the real hooks.

Summed up after the host has gone, whatever happens to the daemon.
"""

import json
import time
from pathlib import Path
from typing import Any

from memlayer.edge.home import paths
from tests.support.processes import Daemon, HookRunner

DONE = "재시도를 세 번으로 제한했습니다. 남은 작업은 정산 배치에 같은 값을 넣는 것입니다."


def work(hook: HookRunner, session: str = "s1") -> None:
    """Send a session with an edit and a failing command.

    All but its end.
    """
    hook("session_start", session, source="startup")
    hook("user_prompt_submit", session, "p1", prompt="결제 재시도 횟수를 세 번으로 제한해줘")
    edit = {"file_path": str(hook.project / "app" / "결제.py"), "old_string": "a", "new_string": "b"}
    hook("post_tool_use", session, "p1", tool_name="Edit", tool_use_id="t1", tool_input=edit, tool_response={})
    ran = {"command": "make lint"}
    failed = {"tool_name": "Bash", "tool_use_id": "t2", "tool_input": ran, "error": "Exit code 2\n결제.py:3 너무 길다"}
    hook("post_tool_use_failure", session, "p1", is_interrupt=False, **failed)
    hook("stop", session, "p1", last_assistant_message=DONE)


def summaries(daemon: Daemon) -> list[dict[str, Any]]:
    """The session summaries in the store."""
    found = daemon.call("list", category="daily", limit=100)["memories"]
    return [one for one in found if one["kind"] == "session_summary"]


def summed_up(daemon: Daemon) -> dict[str, Any]:
    """The one summary, once it is there."""
    daemon.wait_for(lambda: summaries(daemon), "summary")
    (found,) = summaries(daemon)
    return found


def test_ended_session_is_summarized(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    assert summaries(daemon) == []
    hook("session_end", "s1", reason="other")
    found = summed_up(daemon)
    lines = dict(line.split(": ", 1) for line in found["text"].splitlines())
    assert lines["목표"].startswith("결제 재시도 횟수를 세 번으로 제한해줘")
    assert lines["파일"] == "app/결제.py"
    assert "make lint" in lines["오류"]
    assert (found["category"], found["kind"], found["session_id"]) == ("daily", "session_summary", "s1")
    assert found["key"].startswith("daily_")
    assert len(found["source_ids"]) == 4
    line = "제한해줘 (결제.py; failing)"
    daemon.wait_for(lambda: line in hook("session_start", "s2", source="startup").context, "working set")


def test_end_known_only_to_spool(daemon: Daemon, hook: HookRunner) -> None:
    """The machine went down after the hooks had kept their events.

    No daemon had taken them in.
    """
    daemon.kill()
    work(hook)
    hook("session_end", "s1", reason="other")
    daemon.start()
    assert "세 번으로 제한했습니다" in summed_up(daemon)["text"]


def test_next_daemon_writes_missing_summary(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    hook("session_end", "s1", reason="other")
    daemon.kill()
    daemon.start()
    assert "세 번으로 제한했습니다" in summed_up(daemon)["text"]
    daemon.settle()
    assert len(summaries(daemon)) == 1


def test_start_finds_dead_session(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    daemon.settle()
    daemon.stop()
    (path,) = Path(paths.sessions(str(daemon.home))).glob("*.json")
    record = json.loads(path.read_text())
    hour_ago = int(time.time() * 1000) - 3_600_000
    path.write_text(json.dumps({**record, "last_ms": hour_ago, "said_ms": hour_ago}))
    daemon.start()
    assert summed_up(daemon)["session_id"] == "s1"


def test_small_talk_ends_without_a_summary(daemon: Daemon, hook: HookRunner) -> None:
    hook.turn("talk", "p1", "안녕", "안녕하세요!")
    hook.turn("talk", "p2", "고마워", "천만에요.")
    hook("session_end", "talk", reason="other")
    work(hook, "s2")
    hook("session_end", "s2", reason="other")
    assert summed_up(daemon)["session_id"] == "s2"


def test_forget_turn_forgets_its_summary(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    hook("session_end", "s1", reason="other")
    summed_up(daemon)
    daemon.settle()
    (turn,) = daemon.call("list", category="conversation", limit=10)["memories"]
    daemon.call("forget", ids=[turn["id"]])
    daemon.settle()
    assert summaries(daemon) == []
    assert hook("session_start", "s3", source="startup").context == ""


def gone_on(hook: HookRunner) -> None:
    """The session goes on, and ends again."""
    hook("session_start", "s1", source="resume")
    hook.turn("s1", "p2", "배포도 해줘", "`ops/stg.yml` 을 고치고 스테이징에 배포했습니다.")
    hook("session_end", "s1", reason="other")


def test_forgotten_summary_never_returns(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    hook("session_end", "s1", reason="other")
    daemon.call("forget", ids=[summed_up(daemon)["id"]])
    daemon.settle()
    assert summaries(daemon) == [] and len(daemon.call("list", category="conversation")["memories"]) == 1
    gone_on(hook)
    daemon.settle()
    daemon.stop()
    daemon.start()  # it looks for sessions that are not summed up
    work(hook, "s2")
    hook("session_end", "s2", reason="other")
    assert summed_up(daemon)["session_id"] == "s2"


def test_session_continues_after_forget(daemon: Daemon, hook: HookRunner) -> None:
    work(hook)
    hook("session_end", "s1", reason="other")
    summed_up(daemon)
    (turn,) = daemon.call("list", category="conversation")["memories"]
    daemon.call("forget", ids=[turn["id"]])
    gone_on(hook)
    found = summed_up(daemon)["text"]
    assert "스테이징에 배포" in found and "정산" not in found and "결제" not in found


def test_own_turns_hidden_after_compaction(daemon: Daemon, hook: HookRunner) -> None:
    work(hook, "before")
    hook("session_end", "before", reason="other")
    summed_up(daemon)
    hook.turn("now", "p9", "색인을 밤마다 다시 만드는 작업을 추가해줘", "크론에 추가했습니다. 매일 03:20 에 돕니다.")
    daemon.settle()
    hook("pre_compact", "now", trigger="auto", custom_instructions=None)
    told = hook("session_start", "now", source="compact").context
    assert "결제 재시도 횟수를 세 번으로" in told
    assert "색인을 밤마다" not in told
    assert "색인을 밤마다" in hook("session_start", "other", source="startup").context
