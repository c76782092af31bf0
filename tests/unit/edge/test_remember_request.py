"""What memlayer asks the model before a compaction: how it is told apart from what the person and the model say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from memlayer.edge.capture.payload import read_payload
from memlayer.edge.capture.reply import REQUEST, continuation, hook_reply, is_no_reply, is_request
from memlayer.transcripts.reader import read_turns

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "host"


def test_the_hosts_form_of_it() -> None:
    assert json.loads(continuation()) == {"decision": "block", "reason": REQUEST}
    assert is_request("Stop hook feedback:\n" + REQUEST)


@pytest.mark.parametrize("text", ["NO_REPLY", " NO_REPLY\n", "`NO_REPLY`", "**NO_REPLY**.", "no_reply"])
def test_an_answer_that_is_none(text: str) -> None:
    assert is_no_reply(text)


@pytest.mark.parametrize("text", ["", "NO_REPLY 라고 답하면 됩니다", "NO_REPLY means nothing to store", "저장했습니다"])
def test_an_answer_that_says_something(text: str) -> None:
    assert not is_no_reply(text)


@pytest.mark.parametrize("text", ["what does memlayer do?", "", "a" * 1000 + REQUEST])
def test_what_others_say_is_no_request(text: str) -> None:
    assert not is_request(text)


@pytest.mark.parametrize("version", ["2.1.197", "2.1.330"])
def test_the_transcripts_answers_are_those_to_the_person(version: str) -> None:
    """Each prompt was answered, then the host went on because of a Stop hook, and the model said NO_REPLY."""
    path = FIXTURES / ("transcript_compacted_after_stop_feedback_%s.jsonl" % version)
    said = [(one.kind, one.text) for one in read_turns(str(path))]
    assert [kind for kind, _ in said] == ["user", "assistant", "user", "assistant", "compact", "user", "assistant"]
    assert said[0][1] == "첫 질문: 결제 모듈은?"
    assert not [text for _, text in said if "NO_REPLY" in text or "memlayer asks" in text]


def test_a_stop_that_goes_on_for_another_reason_is_kept() -> None:
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


def test_a_compactions_hooks_print_plain_text_or_nothing() -> None:
    assert hook_reply("pre_compact", "두 줄을\n 한 줄로  ", "a notice") == "두 줄을 한 줄로".encode()
    assert hook_reply("pre_compact", "", "a notice") == b""
    assert hook_reply("post_compact", "x", "a notice") == b""
