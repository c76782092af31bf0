"""Turns read back from the host's transcript, recorded and made in the recorded shape."""

import json
import tracemalloc
from collections.abc import Mapping
from pathlib import Path

import pytest

from memlayer.transcripts.lines import MAX_LINE_BYTES
from memlayer.transcripts.reader import TranscriptRecord, read_turns
from tests.support.tables import tables
from tests.support.transcripts import turn

RECORDED = Path(__file__).parents[2] / "fixtures"
SESSION = "352af829-c0b1-4317-a35b-a32e4695a386"


def said(records: list[TranscriptRecord]) -> list[tuple[str, str, str]]:
    return [(record.kind, record.prompt_id, record.text) for record in records]


def user(prompt_id: str, content: object, **more: object) -> dict[str, object]:
    record: dict[str, object] = {
        "parentUuid": None,
        "isSidechain": False,
        "promptId": prompt_id,
        "type": "user",
        "message": {"role": "user", "content": content},
        "uuid": f"u-{prompt_id}",
        "timestamp": "2026-11-21T09:12:43.892Z",
        "cwd": "/home/dev/shop",
        "sessionId": SESSION,
    }
    return {**record, **more}


def assistant(message_id: str, uuid: str, *blocks: object, **more: object) -> dict[str, object]:
    message = {"id": message_id, "type": "message", "role": "assistant", "content": list(blocks)}
    record: dict[str, object] = {
        "isSidechain": False,
        "message": message,
        "type": "assistant",
        "uuid": uuid,
        "timestamp": "2026-11-21T09:12:44.092Z",
        "cwd": "/home/dev/shop",
        "sessionId": SESSION,
    }
    return {**record, **more}


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def write(path: Path, *records: Mapping[str, object]) -> Path:
    path.write_bytes(b"".join(json.dumps(record).encode() + b"\n" for record in records))
    return path


def test_recorded_session_with_tools() -> None:
    records = list(read_turns(str(RECORDED / "transcript_tools_2.1.197.jsonl")))
    prompt_id = "742f5132-5a21-40e0-a030-ab7a9299bfaa"
    assert said(records) == [
        ("user", prompt_id, "Please do the work"),
        ("assistant", prompt_id, "All done: final answer."),
    ]
    assert records[0].uuid == "516328cf-5dc6-40e9-8413-0d7319ac3fdf"
    assert records[0].session_id == "f771e7ec-e341-4e5a-b975-22819446a952"
    assert records[0].cwd == "/home/dev/shop"
    assert records[0].at_ms == 1795252363892
    assert records[1].uuid == "48ccce6c-e038-4cc5-9a40-eff3fcdce368"


def test_recorded_session_with_compaction() -> None:
    path = str(RECORDED / "transcript_compact_2.1.197.jsonl")
    kinds = [(record.kind, record.text) for record in read_turns(path)]
    assert kinds == [
        ("user", "first question"),
        ("assistant", "Mock answer 1."),
        ("user", "second question"),
        ("assistant", "Mock answer 2."),
        ("compact", ""),
        ("user", "third question"),
        ("assistant", "Mock answer 4."),
    ]


def test_last_message_with_text_is_the_answer(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        user("p1", [text("결제 모듈을 고쳐줘"), {"type": "image", "source": {"data": "iVBOR"}}]),
        assistant("m1", "a1", text("먼저 볼게요.")),
        assistant("m1", "a2", {"type": "tool_use", "id": "t1", "name": "Bash", "input": {}}),
        user("p1", [{"type": "tool_result", "tool_use_id": "t1", "content": "out"}], toolUseResult={"stdout": "out"}),
        assistant("m2", "a3", {"type": "thinking", "thinking": "hm"}),
        assistant("m2", "a4", text("고쳤습니다.")),
        assistant("m2", "a4", text("고쳤습니다.")),  # the same line twice, as after a resume
        assistant("m2", "a5", text("테스트도 통과했습니다.")),
        assistant("m3", "a6", {"type": "tool_use", "id": "t2", "name": "Bash", "input": {}}),
    )
    assert said(list(read_turns(str(path)))) == [
        ("user", "p1", "결제 모듈을 고쳐줘"),
        ("assistant", "p1", "고쳤습니다.\n\n테스트도 통과했습니다."),
    ]


def test_generated_text_is_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        user("p1", "real prompt"),
        user("p1", "Caveat: isMeta body", isMeta=True),
        user("p0", "side question", isSidechain=True),
        assistant("s1", "s1", text("side answer"), isSidechain=True),
        assistant("e1", "e1", text("API Error: 529"), isApiErrorMessage=True),
        user("p1", "Summary of it all", isCompactSummary=True),
        {"type": "api-request", "message": {"role": "user", "content": "a copy of real prompt"}},
        {"type": "queue-operation", "operation": "enqueue", "content": 'real prompt "user"'},
        assistant("m1", "a1", text("answer")),
        user("p1", [text("[Request interrupted by user]")]),
    )
    assert said(list(read_turns(str(path)))) == [("user", "p1", "real prompt"), ("assistant", "p1", "answer")]


def test_generated_prompts_have_answers_of_their_own(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        user("p1", "start the build"),
        assistant("m1", "a1", text("started")),
        user("p2", "<task-notification>\n<task-id>b1</task-id></task-notification>"),
        assistant("m2", "a2", text("the build is done")),
        user("p3", "keep an eye on it", origin={"kind": "scheduled-trigger"}),
        user("p4", "<command-message>x</command-message>\n<command-name>/memory-search</command-name>"),
        assistant("m3", "a3", text("found: ...")),
    )
    records = list(read_turns(str(path)))
    assert said(records) == [
        ("user", "p1", "start the build"),
        ("assistant", "p1", "started"),
        ("assistant", "p2", "the build is done"),
        ("assistant", "p4", "found: ..."),
    ]
    assert [record.command for record in records] == ["", "", "", "/memory-search"]


def test_prompt_typed_while_the_model_works(tmp_path: Path) -> None:
    queued = {
        "type": "attachment",
        "uuid": "q1",
        "sessionId": SESSION,
        "timestamp": "2026-11-21T09:12:44Z",
        "attachment": {"type": "queued_command", "prompt": "포트는 5433이야", "commandMode": "prompt"},
    }
    note = {**queued, "attachment": {"type": "queued_command", "prompt": "done", "commandMode": "task-notification"}}
    path = write(
        tmp_path / "t.jsonl",
        user("p1", "set up the db"),
        assistant("m1", "a1", text("working")),
        queued,
        note,
        assistant("m2", "a2", text("all set on 5433")),
    )
    assert said(list(read_turns(str(path)))) == [
        ("user", "p1", "set up the db"),
        ("user", "q1", "포트는 5433이야"),
        ("assistant", "p1", "all set on 5433"),
    ]


def test_before_prompt_ids_the_record_id_serves(tmp_path: Path) -> None:
    old = user("x", "old prompt", uuid="u-old")
    del old["promptId"]
    path = write(tmp_path / "t.jsonl", old, assistant("m1", "a1", text("old answer")))
    assert {record.prompt_id for record in read_turns(str(path))} == {"u-old"}


def test_resume_reads_the_open_turn_again(tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        user("p1", "one"),
        assistant("m1", "a1", text("first")),
        user("p2", "two"),
        assistant("m2", "a2", text("so far")),
    )
    offset = list(read_turns(str(path)))[-1].resume_offset
    with path.open("ab") as file:
        file.write(json.dumps(assistant("m3", "a3", text("final"))).encode() + b"\n")
        file.write(json.dumps(user("p3", "three")).encode() + b"\n")
    again = list(read_turns(str(path), start_offset=offset))
    assert said(again) == [("user", "p2", "two"), ("assistant", "p2", "final"), ("user", "p3", "three")]
    assert said(list(read_turns(str(path), start_offset=10**9))) == said(list(read_turns(str(path))))


def test_torn_last_line_waits(tmp_path: Path) -> None:
    path = write(tmp_path / "t.jsonl", user("p1", "whole"))
    with path.open("ab") as file:
        file.write(json.dumps(user("p2", "torn")).encode()[:-5])
    assert said(list(read_turns(str(path)))) == [("user", "p1", "whole")]


def test_absent_file_is_an_empty_transcript(tmp_path: Path) -> None:
    assert list(read_turns(str(tmp_path / "none.jsonl"))) == []


def test_huge_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    output = "x" * (50 * 1024 * 1024)
    pasted = "y" * (MAX_LINE_BYTES + 10)
    with path.open("wb") as file:
        for record in (
            user("p1", "before"),
            user("p1", [{"type": "tool_result", "tool_use_id": "t", "content": output}]),
            user("p2", pasted),
            assistant("m1", "a1", text("after")),
        ):
            file.write(json.dumps(record).encode() + b"\n")
    del output
    tracemalloc.start()
    records = list(read_turns(str(path)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(record.kind, len(record.text)) for record in records] == [
        ("user", 6),
        ("user", len(pasted)),
        ("assistant", 5),
    ]
    assert peak < 40 * 1024 * 1024


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b'"user"\n',
        b'["user"]\n',
        b'{"type":"user"}\n',
        b'{"type":"user","message":"x"}\n',
        b'{"type":"user","message":{"content":[1,null,{"type":"text","text":5}]}}\n',
        b'{"type":"assistant","message":{"content":{"a":1},"id":7}}\n',
        b'{"type":"attachment","attachment":{"type":"queued_command","prompt":3}}\n',
        b'{"type":"user","n":' + b"[" * 100_000 + b"\n",
        b'{"type":"user","promptId":"p9","message":{"content":"\xff\xfe"}}\r\n',
        b'{"type":"user","promptId":"p9","timestamp":"9999-99-99T99:99:99Z","message":{"content":"\\ud800"}}\n',
    ],
)
def test_odd_lines_do_no_harm(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "t.jsonl"
    good = json.dumps(user("p1", "good")).encode() + b"\n"
    path.write_bytes(good + line + good)
    records = list(read_turns(str(path)))
    assert [record.text for record in records if record.prompt_id == "p1"] == ["good", "good"]
    for record in records:
        record.text.encode()


@pytest.mark.parametrize("begins", ["", "\ufeff"])
@pytest.mark.parametrize("cut", [0, 1, 2, 5, 40])
def test_first_and_last_line_are_read_as_far_as_they_are_whole(tmp_path: Path, begins: str, cut: int) -> None:
    """A byte order mark stands before the first; no line end, or half a line, behind the last."""
    text = begins + turn(1, session="s1", cwd="/가게") + turn(2, session="s1", cwd="/가게")
    path = tmp_path / "s1.jsonl"
    path.write_text(text[: len(text) - cut])
    said = [record.text for record in read_turns(str(path))]
    assert said == ["질문 1", "대답 1: answer 1", "질문 2", "대답 2: answer 2"][: 4 if cut < 2 else 3]


COMMANDS = tables("transcripts/reader")["commands"]


def command_record(name: str, words: str, **more: object) -> dict[str, object]:
    tags = f"<command-message>{name.lstrip('/')}</command-message>\n<command-name>{name}</command-name>"
    return user("p1", f"{tags}\n<command-args>{words}</command-args>", **more)


@pytest.mark.parametrize(("name", "words"), COMMANDS)
def test_words_behind_a_command(tmp_path: Path, name: str, words: str) -> None:
    path = write(tmp_path / "t.jsonl", command_record(name, words), assistant("m1", "a1", text("됐습니다.")))
    assert said(list(read_turns(str(path)))) == [
        ("user", "p1", f"/{name.lstrip('/')} {words.strip()}"),
        ("assistant", "p1", "됐습니다."),
    ]


def test_commands_without_words_or_answer(tmp_path: Path) -> None:
    """The host's own commands (/model opus) get no answer, a plugin's message is no person's."""
    bare = write(tmp_path / "a.jsonl", command_record("/review", " "), assistant("m1", "a1", text("ok")))
    assert [kind for kind, _, _ in said(list(read_turns(str(bare))))] == ["assistant"]
    own = write(tmp_path / "b.jsonl", command_record("/model", "opus"), user("p2", "다음 질문"))
    assert [words for _, _, words in said(list(read_turns(str(own))))] == ["다음 질문"]
    machine = command_record("/x", "항상 푸시해", origin={"kind": "plugin"})
    path = write(tmp_path / "c.jsonl", machine, assistant("m1", "a1", text("ok")))
    assert [kind for kind, _, _ in said(list(read_turns(str(path))))] == ["assistant"]
