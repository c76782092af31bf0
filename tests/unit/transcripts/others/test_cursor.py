"""Cursor's store and transcripts, made to the documented form (no public sample of a store is known)."""

import os
from pathlib import Path

import pytest

from tests.support.other_agents import LONG_AGO_S, database, jsonl, value
from tests.support.past import Past

CWD = "/home/dev/상점"
MS = 1_790_000_000_000
STORE = """
create table ItemTable (key text unique on conflict replace, value blob);
create table cursorDiskKV (key text unique on conflict replace, value blob);
"""
PROMPT, ANSWER = "로그인 form에 검증을 넣어 줘", "검증을 넣었습니다. Added validation."


def store(user: Path, *, inline: bool = False, **bubble: object) -> Path:
    """A store with one chat. inline: of the older form. bubble: more fields of the prompt's."""
    bubbles = [
        {"bubbleId": "b1", "type": 1, "text": PROMPT, "createdAt": "2026-09-21T08:00:00.000Z", **bubble},
        {"bubbleId": "b2", "type": 2, "text": "", "toolFormerData": {"name": "run_terminal_cmd", "toolCallId": "c1",
         "rawArgs": value({"command": "npm test"}), "status": "error", "result": value({"output": "실패: 1 failed"})}},
        {"bubbleId": "b3", "type": 2, "text": "", "toolFormerData": {"name": "search_replace", "toolCallId": "c2",
         "rawArgs": value({"file_path": "src/login.ts", "old_string": "가", "new_string": "나"}), "status": "completed",
         "result": "{}"}},
        {"bubbleId": "b4", "type": 2, "text": ANSWER, "createdAt": "2026-09-21T08:01:00.000Z"},
    ]  # fmt: skip
    chat: dict[str, object] = {"_v": 10, "composerId": "chat-1", "createdAt": MS, "lastUpdatedAt": MS + 60_000}
    if inline:
        chat["conversation"] = bubbles
    else:
        chat["fullConversationHeadersOnly"] = [{"bubbleId": one["bubbleId"], "type": one["type"]} for one in bubbles]
    put = "insert into cursorDiskKV values (?, ?)"
    rows = [(put, ("composerData:chat-1", value(chat))), (put, ("composerData:gone", None))]
    rows += [(put, ("bubbleId:chat-1:%s" % one["bubbleId"], value(one))) for one in bubbles if not inline]
    rows.append((put, ("checkpointId:x", value({"token": "비밀"}))))
    return database(user / "globalStorage" / "state.vscdb", STORE, rows)


def workspace(user: Path) -> None:
    """A workspace whose store knows the chat."""
    folder = user / "workspaceStorage" / "hash1"
    known = value({"allComposers": [{"composerId": "chat-1"}]})
    database(folder / "state.vscdb", STORE, [("insert into ItemTable values ('composer.composerData', ?)", (known,))])
    (folder / "workspace.json").write_text(value({"folder": "file:///home/dev/%EC%83%81%EC%A0%90"}))
    (user / "workspaceStorage" / "broken").mkdir()


def test_a_chat_of_the_store(past: Past, tmp_path: Path) -> None:
    path = store(tmp_path, workspaceUris=["file:///home/dev/%EC%83%81%EC%A0%90"])
    counts = past.run(path, agent="cursor")
    assert past.turns == ["User: %s\nAssistant: %s" % (PROMPT, ANSWER)]
    assert past.told("tool") == ["Bash failed: npm test\n실패: 1 failed", "Edit: %s/src/login.ts\n- 가\n+ 나" % CWD]
    assert [(row.folder, row.sessions, row.turns) for row in counts.found] == [(CWD, 1, 1)]
    assert counts.skipped == {}
    assert past.run(path, agent="cursor").unchanged == 1


@pytest.mark.parametrize("inline", [False, True])
def test_the_folder_stands_in_the_workspaces_store(past: Past, tmp_path: Path, inline: bool) -> None:
    path = store(tmp_path, inline=inline)
    workspace(tmp_path)
    assert [row.folder for row in past.run(path, agent="cursor").found] == [CWD]
    assert past.told("user") == [PROMPT]


def test_a_chat_without_a_folder_is_told(past: Past, tmp_path: Path) -> None:
    assert past.run(store(tmp_path), agent="cursor").skipped == {"files without a folder of this machine": 1}


def test_another_form_is_an_error(past: Past, tmp_path: Path) -> None:
    path = store(tmp_path, workspaceProjectDir=CWD, type="사람")
    [problem] = past.run(path, agent="cursor").problems
    assert "form 10" in problem


def slug(folder: Path) -> str:
    return "".join(char if char.isascii() and char.isalnum() else "-" for char in str(folder)).strip("-")


def said(role: str, text: str, *blocks: object) -> dict[str, object]:
    return {"role": role, "message": {"content": [{"type": "text", "text": text}, *blocks]}}


def test_a_transcript_of_the_command_line(past: Past, tmp_path: Path) -> None:
    folder = tmp_path / "my-shop" / "web_app"
    folder.mkdir(parents=True)
    edit = {"type": "tool_use", "name": "StrReplace", "input": {"path": "a.ts", "old_string": "가", "new_string": "나"}}
    shell = {"type": "tool_use", "name": "Shell", "input": {"command": "npm test"}}
    path = tmp_path / "projects" / slug(folder) / "agent-transcripts" / "chat-2.jsonl"
    lines = [
        said("user", "<user_info>리눅스</user_info>\n<user_query>\n%s\n</user_query>" % PROMPT),
        said("assistant", "먼저 봅니다", edit, shell),
        said("assistant", ANSWER),
        {"type": "turn_ended", "status": "success"},
    ]
    jsonl(path, lines)
    counts = past.run(tmp_path / "projects", agent="cursor")
    assert past.turns == ["User: %s\nAssistant: %s" % (PROMPT, ANSWER)]
    assert past.told("tool") == ["Edit: %s/a.ts\n- 가\n+ 나" % folder]
    [row] = counts.found
    assert row.folder == str(folder) and row.first_ms >= LONG_AGO_S * 1000
    jsonl(path, [*lines, said("user", PROMPT), said("assistant", "이미 했습니다")])
    os.utime(path, (LONG_AGO_S + 500, LONG_AGO_S + 500))
    again = past.run(tmp_path / "projects", agent="cursor")
    assert (again.new_turns, again.known_turns) == (1, 1)


def test_an_older_transcript_is_plain_text(past: Past, tmp_path: Path) -> None:
    folder = tmp_path / "shop"
    folder.mkdir()
    path = tmp_path / "projects" / slug(folder) / "agent-transcripts" / "chat-3.txt"
    path.parent.mkdir(parents=True)
    path.write_text("user:\n%s\n\nassistant:\n봅니다\n\nassistant:\n%s\nuser: 가 아니라\n" % (PROMPT, ANSWER))
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    past.run(tmp_path / "projects", agent="cursor")
    assert past.told("user") == [PROMPT, "가 아니라"]
    assert past.told("assistant") == [ANSWER]


def test_lines_without_a_role_are_an_error(past: Past, tmp_path: Path) -> None:
    for number in range(28):
        path = tmp_path / "projects" / slug(tmp_path) / "agent-transcripts" / ("%d.jsonl" % number)
        jsonl(path, [{"who": "나", "say": "새 형식"}])
    [problem] = past.run(tmp_path / "projects", agent="cursor").problems
    assert problem.startswith("Cursor: 28 files, 0 turns")
