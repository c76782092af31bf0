"""A context that fills up, through real hooks and a daemon.

It is flushed once, and a compaction begins anew.
"""

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memlayer.daemon.tasks import flush as flushing
from memlayer.edge.capture.payload import REQUEST
from memlayer.edge.home import paths
from memlayer.records.sessions import Session
from tests.conftest import ROOT
from tests.support.processes import Daemon, HookResult, HookRunner

LEXICAL = {"embedding": {"provider": "none"}}
WINDOW = 200_000
FULL, ROOM = WINDOW - 24_000, WINDOW - 24_001


class Host:
    """The host around a session: hooks, and a transcript that grows."""

    def __init__(self, hook: HookRunner, folder: Path) -> None:
        self.hook, self.path = hook, folder / "대화.jsonl"
        self.turns = 0

    def write(self, *records: dict[str, Any]) -> None:
        """Append records to the transcript."""
        with self.path.open("a", encoding="utf-8") as file:
            for record in records:
                file.write(json.dumps({"isSidechain": False, **record}, ensure_ascii=False) + "\n")

    def turn(
        self, total_tokens: int, answer: str = "네, 재시도는 세 번으로 정했습니다.", late_s: float = 0.0
    ) -> HookResult:
        """Send one prompt and its answer; return Stop's output.

        late_s: the transcript tells of it so long after.
        """
        self.turns += 1
        prompt_id = "p%d" % self.turns
        self("user_prompt_submit", prompt_id, prompt="결제 재시도를 몇 번 할까 %d" % self.turns)
        usage = {"input_tokens": 10, "cache_read_input_tokens": total_tokens - 40, "output_tokens": 30}
        content = [{"type": "text", "text": answer}]
        said = {"id": "m%d" % self.turns, "model": "claude-opus-4-8", "usage": usage, "content": content}
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        records = (
            {"type": "user", "promptId": prompt_id, "timestamp": at, "message": {"content": "말"}},
            {"type": "assistant", "timestamp": at, "message": said},
        )
        if not late_s:
            self.write(*records)
        done = self("stop", prompt_id, last_assistant_message=answer, stop_hook_active=False)
        if late_s:
            time.sleep(late_s)
            self.write(*records)
        return done

    def compact(self) -> None:
        """The hooks of a compaction, in the host's order."""
        self("pre_compact", trigger="auto", custom_instructions=None)
        self.write({"type": "system", "subtype": "compact_boundary", "compactMetadata": {"postTokens": 900}})
        self("session_start", source="compact", model="claude-opus-4-8")
        self("post_compact", trigger="auto", compact_summary="요약")

    def __call__(self, name: str, prompt_id: str = "", **fields: Any) -> HookResult:
        done = self.hook(name, "s1", prompt_id, transcript_path=str(self.path), **fields)
        assert (done.returncode, done.stderr) == (0, b"")
        return done


@pytest.fixture
def host(hook: HookRunner, tmp_path: Path) -> Host:
    return Host(hook, tmp_path)


@pytest.fixture
def started(home: Path) -> Iterator[Daemon]:
    """A daemon with a small window, not yet started.

    A test may change its settings.
    """
    daemon = Daemon(ROOT, home, LEXICAL)
    yield daemon
    if daemon.process is not None:
        daemon.__exit__()


def record(daemon: Daemon) -> dict[str, Any]:
    """Return the session's record on disk, or a fresh one."""
    found = [json.loads(path.read_text()) for path in Path(paths.sessions(str(daemon.home))).glob("*.json")]
    return dict(found[0]) if found else Session(id="").fields()


def flushed(daemon: Daemon, cycle: int) -> Any:
    """A condition: the record says that memories were flushed in this cycle."""
    return lambda: record(daemon)["memory_flush_compaction_count"] == cycle


def flushes(daemon: Daemon) -> list[str]:
    """Return the log entry of each flush."""
    lines = Path(paths.daemon_log(str(daemon.home))).read_text("utf-8").splitlines()
    return [line for line in lines if "flushed a session" in line]


def test_full_context_flushes_once_per_compaction(started: Daemon, host: Host) -> None:
    started.start()
    host("session_start", source="startup")
    host.turn(ROOM)
    started.wait_for(lambda: record(started)["total_tokens"] == ROOM, "measure")
    assert record(started)["memory_flush_compaction_count"] == -1
    host.turn(FULL)
    started.wait_for(flushed(started, 0), "flush")
    first = record(started)
    assert (first["total_tokens"], first["compaction_count"]) == (FULL, 0)
    assert first["memory_flush_at"] > 0
    host.turn(FULL + 500)
    started.wait_for(lambda: record(started)["total_tokens"] == FULL + 500, "measure")
    started.settle()
    assert len(flushes(started)) == 1
    host.compact()
    started.settle()
    after = record(started)
    assert (after["compaction_count"], after["total_tokens"]) == (1, 0)
    host.turn(9_000)
    started.wait_for(lambda: record(started)["total_tokens"] == 9_000, "measure")
    assert record(started)["memory_flush_compaction_count"] == 0
    host.turn(FULL)
    started.wait_for(flushed(started, 1), "flush of the second cycle")


def test_late_transcript_is_awaited(started: Daemon, host: Host) -> None:
    """Neither the prompt nor its answer is there yet.

    The transcript ends with the turn before.
    """
    started.start()
    host.turn(ROOM)
    started.wait_for(lambda: record(started)["total_tokens"] == ROOM, "measure")
    host.turn(FULL, late_s=0.5)
    started.wait_for(flushed(started, 0), "flush")
    assert record(started)["total_tokens"] == FULL


def test_spooled_answer_is_measured(started: Daemon, host: Host) -> None:
    host.turn(FULL)
    assert [event["kind"] for event in host.hook.spooled] == ["user", "assistant"]
    started.start()
    started.wait_for(flushed(started, 0), "flush")


def test_pre_compact_flushes_unfinished_turn(started: Daemon, host: Host) -> None:
    """The turn that a compaction interrupts has had no Stop.

    Its words are in the transcript alone.
    """
    started.start()
    host("session_start", source="startup")
    host("user_prompt_submit", "p1", prompt="정산 배치는 몇 시에 돌지?")
    host.write({"type": "user", "promptId": "p1", "message": {"content": "정산 배치는 몇 시에 돌지?"}})
    words = {"id": "m1", "model": "x", "content": [{"type": "text", "text": "정산 배치는 매일 04:10 에 돕니다."}]}
    host.write({"type": "assistant", "timestamp": "2099-01-01T00:00:00.000Z", "message": words})
    host("pre_compact", trigger="auto", custom_instructions=None)
    started.wait_for(flushed(started, 0), "flush")
    assert any("04:10" in one["text"] for one in started.call("list", limit=10)["memories"])


def test_aborted_compaction_ends_no_cycle(started: Daemon, host: Host) -> None:
    started.start()
    host.turn(1_000)
    for _ in range(3):
        host("pre_compact", trigger="manual", custom_instructions="")
    started.settle()
    assert record(started)["compaction_count"] == 0


def test_disabled_flush_measures_nothing(started: Daemon, host: Host) -> None:
    started.settings = {**LEXICAL, "flush": {"enabled": False, "summarizer_line": "x"}}
    started.start()
    host.turn(FULL)
    assert host("pre_compact", trigger="auto").stdout == b""
    started.settle()
    assert record(started)["memory_flush_at"] == 0
    assert flushes(started) == []


def test_summarizer_line_is_plain_text(started: Daemon, host: Host) -> None:
    line = "Keep every [mem:…] citation.\n  결정은 그대로 남겨라"
    started.settings = {**LEXICAL, "flush": {"summarizer_line": line}}
    started.start()
    done = host("pre_compact", trigger="auto", custom_instructions=None)
    assert done.stdout.decode() == "Keep every [mem:…] citation. 결정은 그대로 남겨라"
    assert host("post_compact", trigger="auto", compact_summary="x").stdout == b""
    started.stop()
    assert host("pre_compact", trigger="auto", custom_instructions=None).stdout == b""
    assert [event["kind"] for event in host.hook.spooled][-1] == "pre_compact"


@pytest.mark.parametrize("name", ["structured", " Structured "])
def test_summarizer_preset_is_its_text(started: Daemon, host: Host, name: str) -> None:
    started.settings = {**LEXICAL, "flush": {"summarizer_line": name}}
    started.start()
    said = host("pre_compact", trigger="auto", custom_instructions=None).stdout.decode()
    assert said == flushing.SUMMARIZER_PRESETS["structured"] and "\n" not in said and len(said) < 900
    for section in ("Task Overview", "Work Completed", "Important Context", "Current State", "[mem:"):
        assert section in said


@pytest.mark.parametrize("line", ["structured notes, please", "구조화", "unstructured"])
def test_line_that_is_no_preset_is_taken_as_it_is(line: str) -> None:
    assert flushing.summarizer_line(line) == line


def test_model_asked_once_per_compaction(started: Daemon, host: Host) -> None:
    started.settings = {**LEXICAL, "flush": {"ask_model": True}}
    started.start()
    host("session_start", source="startup")
    assert host.turn(ROOM).stdout == b""
    asked = host.turn(FULL)
    assert asked.output == {"decision": "block", "reason": REQUEST}
    stored = host("stop", "p2", last_assistant_message="포트를 저장했습니다 qz1", stop_hook_active=True)
    assert stored.stdout == b""
    later = host("stop", "p2", last_assistant_message="다른 플러그인 때문에 계속했습니다 qz2", stop_hook_active=True)
    assert later.stdout == b""
    assert host.turn(FULL + 10).stdout == b""
    host.compact()
    assert host.turn(FULL, "두 번째 주기 qz3").output["reason"] == REQUEST
    assert host("stop", "p4", last_assistant_message="NO_REPLY", stop_hook_active=True).stdout == b""
    started.settle()
    texts = "\n".join(one["text"] for one in started.call("list", limit=100)["memories"])
    assert "qz1" not in texts and "NO_REPLY" not in texts
    assert "qz2" in texts and "qz3" in texts


def test_new_daemon_asks_no_second_time(started: Daemon, host: Host) -> None:
    started.settings = {**LEXICAL, "flush": {"ask_model": True}}
    started.start()
    assert host.turn(FULL).output["decision"] == "block"
    started.kill()
    started.start()
    assert host.turn(FULL).stdout == b""
    assert host("stop", "p1", last_assistant_message="NO_REPLY", stop_hook_active=True).stdout == b""


def test_host_window_size_counts(started: Daemon, host: Host) -> None:
    """Only SessionStart tells that the window is the long one.

    The transcript names the bare model.
    """
    started.settings = LEXICAL
    started.start()
    host("session_start", source="startup", model="claude-opus-4-8[1m]")
    host.turn(180_000)
    started.wait_for(lambda: record(started)["total_tokens"] == 180_000, "measure")
    host.turn(976_000)
    started.wait_for(flushed(started, 0), "flush")
    started.settle()  # the log comes after the record
    assert len(flushes(started)) == 1
