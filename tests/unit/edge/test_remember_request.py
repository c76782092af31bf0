"""The request before a compaction, told apart from other messages."""

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.hosts import CLAUDE
from memlayer.edge.capture.payload import REQUEST, continuation, is_no_reply, is_request, read_payload
from memlayer.transcripts.reader import read_turns

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "host"


def test_request_in_the_hosts_form() -> None:
    assert json.loads(continuation()) == {"decision": "block", "reason": REQUEST}
    assert is_request("Stop hook feedback:\n" + REQUEST)


@pytest.mark.parametrize("text", ["NO_REPLY", " NO_REPLY\n", "`NO_REPLY`", "**NO_REPLY**.", "no_reply"])
def test_no_reply_is_recognised(text: str) -> None:
    assert is_no_reply(text)


@pytest.mark.parametrize("text", ["", "NO_REPLY 라고 답하면 됩니다", "NO_REPLY means nothing to store", "저장했습니다"])
def test_real_answer_is_kept(text: str) -> None:
    assert not is_no_reply(text)


@pytest.mark.parametrize("text", ["what does memlayer do?", "", "a" * 1000 + REQUEST])
def test_foreign_text_is_no_request(text: str) -> None:
    assert not is_request(text)


@pytest.mark.parametrize("version", ["2.1.197", "2.1.330"])
def test_transcript_skips_request_and_no_reply(version: str) -> None:
    """Each prompt was answered, then the host went on because of a Stop hook, and the model answered NO_REPLY."""
    path = FIXTURES / ("transcript_compacted_after_stop_feedback_%s.jsonl" % version)
    messages = [(message.kind, message.text) for message in read_turns(str(path))]
    assert [kind for kind, _ in messages] == ["user", "assistant", "user", "assistant", "compact", "user", "assistant"]
    assert messages[0][1] == "첫 질문: 결제 모듈은?"
    assert not [text for _, text in messages if "NO_REPLY" in text or "memlayer asks" in text]


def test_continued_stop_keeps_real_answer() -> None:
    for is_continued, answer, is_kept in ((True, "NO_REPLY", False), (False, "NO_REPLY", True), (True, "고쳤다", True)):
        stdin = {
            "session_id": "s",
            "prompt_id": "p",
            "stop_hook_active": is_continued,
            "last_assistant_message": answer,
        }
        found = read_payload("stop", json.dumps(stdin).encode(), project_dir="/p", at_ms=1)
        assert (found.event is not None) is is_kept
        assert found.prompt_id == "p"


def test_compaction_hooks_print_plain_text() -> None:
    assert CLAUDE.output("pre_compact", "두 줄을\n 한 줄로  ", "a notice") == "두 줄을 한 줄로".encode()
    assert CLAUDE.output("pre_compact", "", "a notice") == b""
    assert CLAUDE.output("post_compact", "x", "a notice") == b""
