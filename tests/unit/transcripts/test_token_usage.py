"""Token use from the end of a transcript: sub-agents, torn lines, huge files."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from memlayer.transcripts.token_usage import read_token_use, window_tokens
from tests.support.tables import tables

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"


def answer(total: int, *, message: str = "msg_1", model: str = "claude-opus-4-8", **fields: Any) -> dict[str, Any]:
    usage = {"input_tokens": total - 60, "cache_creation_input_tokens": 10, "cache_read_input_tokens": 20}
    content = [{"type": "text", "text": "네, 했습니다."}]
    said = {"id": message, "model": model, "content": content, "usage": {**usage, "output_tokens": 30}}
    return {"type": "assistant", "isSidechain": False, "message": {**said, "role": "assistant"}, **fields}


def asked(**fields: Any) -> dict[str, Any]:
    return {"type": "user", "isSidechain": False, "message": {"role": "user", "content": "다음은?"}, **fields}


def boundary(**metadata: int) -> dict[str, Any]:
    return {"type": "system", "subtype": "compact_boundary", "isSidechain": False, "compactMetadata": metadata}


def transcript(tmp_path: Path, *records: dict[str, Any], torn: str = "") -> str:
    path = tmp_path / "대화.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in records) + torn, "utf-8")
    return str(path)


def total_of(path: str) -> int:
    found = read_token_use(path)
    assert found is not None
    return found.total_tokens


def test_all_four_counts_of_the_last_answer_are_added(tmp_path: Path) -> None:
    path = transcript(tmp_path, asked(), answer(90_000), asked(), answer(95_000, message="msg_2"))
    assert read_token_use(path) == (95_000, "claude-opus-4-8", False, -1)


def test_answer_time_is_its_last_line(tmp_path: Path) -> None:
    first = answer(50_000, timestamp="2026-11-21T09:12:44.092Z")
    last = answer(50_000, timestamp="2026-11-21T18:12:45.500+09:00")
    found = read_token_use(transcript(tmp_path, answer(40_000, message="msg_0"), first, last))
    assert found is not None and found.at_ms == 1795252365500
    for odd in ("yesterday", "2026-11-21T09:12:44", 7, None):
        found = read_token_use(transcript(tmp_path, answer(50_000, timestamp=odd)))
        assert found is not None and found.at_ms == -1


def test_lines_of_a_message_count_once(tmp_path: Path) -> None:
    late = answer(50_000)
    late["message"]["usage"]["output_tokens"] = 2
    assert total_of(transcript(tmp_path, answer(40_000, message="msg_0"), answer(50_000), late)) == 50_000


@pytest.mark.parametrize(
    "other",
    [
        answer(900_000, message="msg_9", isSidechain=True),
        answer(900_000, message="msg_9", model="<synthetic>"),
        answer(900_000, message="msg_9", isApiErrorMessage=True),
        {"type": "api-request", "message": {"role": "assistant", "usage": {"input_tokens": 900_000}}},
        {"type": "attachment", "attachment": {"type": "hook_success", "stdout": '"usage" "assistant"'}},
        {"type": "assistant", "message": {"id": "msg_9", "usage": "many"}},
    ],
    ids=["sidechain", "synthetic", "error", "embedded", "attachment", "wrong type"],
)
def test_only_answers_of_the_main_conversation_count(tmp_path: Path, other: dict[str, Any]) -> None:
    assert total_of(transcript(tmp_path, asked(), answer(70_000), other)) == 70_000


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    torn = json.dumps(answer(99_000, message="msg_2"))[:-9]
    assert total_of(transcript(tmp_path, asked(), answer(70_000), torn=torn)) == 70_000


def test_question_after_answer_is_behind(tmp_path: Path) -> None:
    behind = read_token_use(transcript(tmp_path, answer(70_000), asked()))
    assert behind is not None
    assert (behind.total_tokens, behind.is_behind) == (70_000, True)
    there = read_token_use(transcript(tmp_path, answer(70_000), asked(), answer(71_000, message="msg_2")))
    assert there is not None
    assert (there.total_tokens, there.is_behind) == (71_000, False)


def test_only_text_after_a_compaction_counts(tmp_path: Path) -> None:
    assert total_of(transcript(tmp_path, answer(190_000), boundary(preTokens=190_000, postTokens=609))) == 609
    assert total_of(transcript(tmp_path, answer(190_000), boundary())) == 0
    assert total_of(transcript(tmp_path, answer(190_000), boundary(), asked(), answer(8_000, message="m"))) == 8_000


@pytest.mark.parametrize("text", ["", "\n\n", "no json\n", "[1]\n", '{"type": "user"}\n'])
def test_unknown_token_use_is_none(tmp_path: Path, text: str) -> None:
    assert read_token_use(transcript(tmp_path, torn=text)) is None


def test_no_transcript_is_no_number(tmp_path: Path) -> None:
    assert read_token_use(str(tmp_path / "none.jsonl")) is None


@pytest.mark.parametrize(
    ("name", "total"), [("transcript_compact_2.1.197.jsonl", 22), ("transcript_tools_2.1.197.jsonl", 17_077)]
)
def test_recorded_transcripts(name: str, total: int) -> None:
    assert total_of(str(FIXTURES / name)) == total


def test_a_transcript_of_500_mb_costs_milliseconds(tmp_path: Path) -> None:
    path = transcript(tmp_path, answer(10_000))
    with open(path, "r+b") as file:
        file.truncate(500 * 2**20)  # a hole: nothing is written, yet all of it would have to be read
        file.seek(0, 2)
        file.write(b"\n" + json.dumps(asked()).encode() + b"\n" + json.dumps(answer(123_456)).encode() + b"\n")
        for _ in range(300):
            file.write(json.dumps({"type": "attachment", "attachment": {"content": "결과 " * 600}}).encode() + b"\n")
    started = time.process_time()
    assert total_of(path) == 123_456
    assert time.process_time() - started < 0.25  # seen: 0.02 to 0.1, on a busy machine


def test_the_search_for_an_answer_ends(tmp_path: Path) -> None:
    path = transcript(tmp_path, answer(10_000))
    with open(path, "r+b") as file:
        file.truncate(300 * 2**20)
    assert read_token_use(path) is None


@pytest.mark.parametrize(("model", "window"), tables("transcripts/token_usage")["windows_by_name"])
def test_windows_by_name(model: str, window: int) -> None:
    assert window_tokens(model) == window
