"""Exports of claude.ai and ChatGPT, made to the documented form (nobody's own export is public)."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.support.past import Past

KEY = "AKIA" + "QZ3EGTV7MNB2LPX5"
ROOT = "00000000-0000-4000-8000-000000000000"


def message(name: str, parent: str, who: str, text: str, minute: int, **more: Any) -> dict[str, Any]:
    at = "2026-05-01T08:%02d:00.000000Z" % minute
    content = [{"type": "thinking", "thinking": "생각"}, {"type": "text", "text": text}]
    return {"uuid": name, "parent_message_uuid": parent, "sender": who, "created_at": at, "content": content, **more}


def claude_ai() -> list[dict[str, Any]]:
    messages = [
        message("a", ROOT, "human", "여행 app의 이름을 지어 줘", 1),
        message("b", "a", "assistant", "나들이 어떠세요?", 2),
        message("c", "b", "human", "다른 것, always 영어로", 3),
        message("d", "c", "assistant", "Roam.", 4),
        message("e", "b", "human", "한국어로 더", 5),
        message("f", "e", "assistant", "바람길, 발자국.", 6),
        message("g", "f", "human", "", 7, attachments=[{"file_name": "paste.txt", "extracted_content": "붙인 긴 글"}]),
    ]
    chat = {
        "uuid": "chat-1",
        "name": "이름",
        "created_at": "2026-05-01T08:00:00Z",
        "updated_at": "2026-05-01T09:00:00Z",
    }
    return [{**chat, "chat_messages": messages}, {**chat, "uuid": "chat-2", "chat_messages": []}]


def chatgpt(**more: Any) -> list[dict[str, Any]]:
    def node(name: str, parent: str | None, role: str, text: str, second: int, **fields: Any) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [text]}
        told = {
            "id": name,
            "author": {"role": role},
            "create_time": 1_780_000_000.5 + second,
            "content": content,
            **fields,
        }
        return {"id": name, "parent": parent, "message": told, "children": []}

    nodes = [
        {"id": "root", "parent": None, "message": None, "children": ["s"]},
        node("s", "root", "system", "시스템", 0),
        node("h", "s", "user", "숨은 설정", 1, metadata={"is_visually_hidden_from_conversation": True}),
        node("a", "h", "user", "SQL window 함수 알려 줘", 2),
        node("t", "a", "assistant", "search('비밀')", 3, recipient="web.search"),
        node("o", "t", "tool", "결과", 4),
        node("b", "o", "assistant", "row_number()가 있습니다.", 5),
        node("x", "b", "user", "버린 질문", 6),
        node("c", "b", "user", "예를 들어 줘, with postgres", 7),
        node("d", "c", "assistant", "select row_number() over (order by 이름)", 8),
    ]
    mapping = {one["id"]: one for one in nodes}
    return [{"id": "gpt-1", "update_time": 1_780_000_100.0, "mapping": mapping, "current_node": "d", **more}]


def written(folder: Path, form: str, chats: Any) -> Path:
    """conversations.json, in a folder or in a zip."""
    text = json.dumps(chats, ensure_ascii=False)
    if form == "zip":
        with zipfile.ZipFile(folder / "export.zip", "w") as archive:
            archive.writestr("data/conversations.json", text)
            archive.writestr("user.json", "{}")
        return folder / "export.zip"
    path = folder / "data" / "conversations.json"
    path.parent.mkdir()
    path.write_text(text)
    return path if form == "file" else path.parent


@pytest.mark.parametrize("form", ["file", "folder", "zip"])
def test_the_newest_branch_of_claude_ai(past: Past, tmp_path: Path, project: Path, form: str) -> None:
    path = written(tmp_path, form, claude_ai())
    counts = past.run(path, agent="claude-ai", project=str(project))
    assert past.told("user") == ["여행 app의 이름을 지어 줘", "한국어로 더", "붙인 긴 글"]
    assert past.told("assistant") == ["나들이 어떠세요?", "바람길, 발자국."]
    assert (counts.skipped, counts.problems) == ({"turns of branches that were left": 1}, [])
    assert [(row.agent, row.sessions, row.turns) for row in counts.found] == [("claude-ai", 1, 3)]
    assert past.run(path, agent="claude-ai", project=str(project)).new == 0


@pytest.mark.parametrize("form", ["file", "folder", "zip"])
@pytest.mark.parametrize("current", ["d", None])
def test_the_newest_branch_of_chatgpt(
    past: Past, tmp_path: Path, project: Path, form: str, current: str | None
) -> None:
    path = written(tmp_path, form, chatgpt(current_node=current))
    counts = past.run(path, agent="chatgpt", project=str(project))
    assert past.told("user") == ["SQL window 함수 알려 줘", "예를 들어 줘, with postgres"]
    assert past.told("assistant") == ["row_number()가 있습니다.", "select row_number() over (order by 이름)"]
    assert counts.skipped == {"turns of branches that were left": 1}


def test_a_chat_that_went_on_adds_its_new_turns(past: Past, tmp_path: Path, project: Path) -> None:
    chats = claude_ai()
    path = written(tmp_path, "file", chats)
    past.run(path, agent="claude-ai", project=str(project))
    chats[0]["updated_at"] = "2026-05-02T09:00:00Z"
    chats[0]["chat_messages"].append(message("h", "g", "assistant", "요약: 좋습니다 %s" % KEY, 9))
    path.write_text(json.dumps(chats, ensure_ascii=False))
    counts = past.run(path, agent="claude-ai", project=str(project))
    assert (counts.new, counts.unchanged) == (1, 1)
    assert not [text for text in past.said if KEY in text]


def test_a_flat_list_is_read_in_its_order(past: Past, tmp_path: Path, project: Path) -> None:
    chats = claude_ai()
    for one in chats[0]["chat_messages"]:
        del one["parent_message_uuid"]
        one["text"] = one.pop("content")[1]["text"]
    past.run(written(tmp_path, "file", chats), agent="claude-ai", project=str(project))
    assert past.told("user")[:3] == ["여행 app의 이름을 지어 줘", "다른 것, always 영어로", "한국어로 더"]


@pytest.mark.parametrize("agent", ["claude-ai", "chatgpt"])
def test_another_form_is_an_error(past: Past, tmp_path: Path, project: Path, agent: str) -> None:
    chats = [{"uuid": "u%d" % number, "dialogue": [{"말": "새 형식"}]} for number in range(28)]
    [problem] = past.run(written(tmp_path, "file", chats), agent=agent, project=str(project)).problems
    assert "28 files, 0 turns" in problem


@pytest.mark.parametrize(
    "text", ["", "{}", "글", '[1, {"uuid": 3}, {}]', '[{"uuid": "a", "mapping": {"x": 3}}]', "PK\x03"]
)
def test_an_odd_file_is_told(past: Past, tmp_path: Path, project: Path, text: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_text(text)
    counts = past.run(tmp_path, agent="chatgpt", project=str(project))
    assert counts.new == 0 and (counts.skipped or counts.files)
