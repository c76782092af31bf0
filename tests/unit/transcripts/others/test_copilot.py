"""Copilot CLI's events, made to the form of 1.0.71 (the shape of deja-vu's fixture, MIT; the texts are our own)."""

from pathlib import Path
from typing import Any

from memlayer.kinds import Kind
from tests.support.other_agents import jsonl
from tests.support.past import Past

CWD = "/home/dev/상점"


def events(*told: tuple[str, dict[str, Any]], cwd: str = CWD) -> list[dict[str, Any]]:
    start = {"sessionId": "cop-1", "copilotVersion": "1.0.71", "context": {"cwd": cwd, "repository": "dev/shop"}}
    rows = [("session.start", start), ("session.model_change", {}), ("system.message", {"content": "시스템"}), *told]
    return [
        {"type": kind, "data": data, "id": "e%d" % number, "timestamp": "2026-07-20T05:%02d:00.000Z" % number}
        for number, (kind, data) in enumerate(rows)
    ]


def call(call_id: str, tool: str, given: dict[str, Any], *, ok: bool, output: str) -> list[tuple[str, dict[str, Any]]]:
    done: dict[str, Any] = {"toolCallId": call_id, "success": ok}
    done |= {"result": {"content": output}} if ok else {"error": {"message": output}}
    start = {"toolCallId": call_id, "toolName": tool, "arguments": given}
    return [("tool.execution_start", start), ("tool.execution_complete", done)]


def test_a_turn_comes_once_with_its_last_answer(past: Past, tmp_path: Path) -> None:
    told = [
        ("user.message", {"content": "pool이 왜 고갈돼?", "transformedContent": "주인의 말 + pool이 왜 고갈돼?"}),
        ("assistant.turn_start", {}),
        ("assistant.message", {"content": "살펴봅니다", "messageId": "m1"}),
        *call("c1", "bash", {"command": "go vet ./..."}, ok=False, output="모듈이 없습니다"),
        *call("c2", "edit", {"path": "main.go", "old_str": "가", "new_str": "나"}, ok=True, output="1"),
        *call("c3", "view", {"path": "main.go"}, ok=True, output="긴 내용"),
        ("assistant.message", {"content": "첫 문단.", "apiCallId": "a", "chunkIndex": 0}),
        ("assistant.message", {"content": "Second part.", "apiCallId": "a", "chunkIndex": 1}),
        ("assistant.message", {"content": "하위 대답", "parentToolCallId": "c9"}),
        ("session.shutdown", {}),
    ]
    jsonl(tmp_path / "cop-1" / "events.jsonl", events(*told))
    counts = past.run(tmp_path, agent="copilot")
    assert past.turns == ["User: pool이 왜 고갈돼?\nAssistant: 첫 문단.\n\nSecond part."]
    assert past.told("tool") == ["Bash failed: go vet ./...\n모듈이 없습니다", "Edit: %s/main.go\n- 가\n+ 나" % CWD]
    assert (counts.skipped, counts.problems) == ({"sub-agents": 1}, [])
    assert past.run(tmp_path, agent="copilot").unchanged == 1


def test_a_rewind_leaves_turns(past: Past, tmp_path: Path) -> None:
    told = [
        ("user.message", {"content": "색은 파랑"}), ("assistant.message", {"content": "네"}),
        ("user.message", {"content": "아니 always 빨강"}), ("assistant.message", {"content": "네"}),
        ("session.snapshot_rewind", {"upToEventId": "e5"}),
        ("user.message", {"content": "초록"}),
    ]  # fmt: skip
    jsonl(tmp_path / "cop-1" / "events.jsonl", events(*told))
    past.run(tmp_path, agent="copilot")
    assert past.kinds == {"색은 파랑": Kind.TURN, "아니 always 빨강": Kind.REWOUND, "초록": Kind.TURN}


def test_files_without_a_turn_are_an_error(past: Past, tmp_path: Path) -> None:
    for number in range(28):
        made = events(("person.spoke", {"text": "새 형식"}))
        made[0]["data"] |= {"sessionId": "s%d" % number, "copilotVersion": "2.5.0"}
        jsonl(tmp_path / str(number) / "events.jsonl", made)
    [problem] = past.run(tmp_path, agent="copilot").problems
    assert problem.startswith("Copilot CLI: 28 files, 0 turns. Version 2.5.0")
