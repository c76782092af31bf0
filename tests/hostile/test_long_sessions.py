"""Sessions of other agents that are long, or lack fields.

Ten thousand records are read in about the time of a plain session of that length.
"""

import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from memlayer.transcripts import sources
from memlayer.transcripts.lines import Tally
from memlayer.transcripts.reader import TranscriptRecord

LENGTH = 10_000
MOST_S = 1.5  # about 0.5 on a quiet machine; each took 2 s to 45 s
SAID = "p %d 포트"
Form = Callable[[Path], Path]


def jsonl(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def rolled_back(folder: Path) -> Path:
    rows: list[dict[str, object]] = [{"type": "session_meta", "payload": {"id": "s", "cwd": "/tmp"}}]
    for number in range(LENGTH):
        for event in (
            {"type": "user_message", "message": SAID % number},
            {"type": "thread_rolled_back", "num_turns": 1},
        ):
            rows.append({"type": "event_msg", "payload": event})
    return jsonl(folder / "rollout-a.jsonl", rows)


def answered_in_parts(folder: Path) -> Path:
    def said(role: str, text: str) -> dict[str, object]:
        content = [{"type": "text", "text": text}]
        return {"type": "response_item", "payload": {"type": "message", "id": "m", "role": role, "content": content}}

    rows: list[dict[str, object]] = [{"type": "session_meta", "payload": {"id": "s"}}, said("user", "가자")]
    return jsonl(folder / "rollout-b.jsonl", rows + [said("assistant", "말 " * 60)] * LENGTH)


def rewound(folder: Path) -> Path:
    rows: list[dict[str, object]] = [{"sessionId": "s"}]
    for number in range(LENGTH):
        rows.append({"type": "user", "id": "m%d" % number, "content": SAID % number})
        rows.append({"$rewindTo": "m0"})
    return jsonl(folder / "tmp" / "x" / "chats" / "s.jsonl", rows)


def snapshots(folder: Path) -> Path:
    rows: list[dict[str, object]] = [{"type": "session.start", "id": "e0", "data": {"sessionId": "s"}}]
    for number in range(LENGTH):
        rows.append({"type": "user.message", "id": "e%d" % (number + 1), "data": {"content": SAID % number}})
        rows.append({"type": "session.snapshot_rewind", "id": "r%d" % number, "data": {"upToEventId": "e1"}})
    return jsonl(folder / "events.jsonl", rows)


def claude_ai(folder: Path) -> Path:
    messages = [
        {"uuid": "m%d" % at, "parent_message_uuid": "m%d" % (at - 1), "sender": "human", "text": SAID % at}
        for at in range(LENGTH)
    ]
    messages[-1]["created_at"] = "2026-01-01T00:00:00Z"
    (folder / "conversations.json").write_text(json.dumps([{"uuid": "c", "chat_messages": messages}]))
    return folder / "conversations.json"


def chatgpt(folder: Path) -> Path:
    def told(at: int) -> dict[str, object]:
        return {"author": {"role": "user"}, "content": {"content_type": "text", "parts": [SAID % at]}}

    nodes = {"m%d" % at: {"parent": "m%d" % (at - 1), "message": told(at)} for at in range(LENGTH)}
    chat = {"id": "c", "mapping": nodes, "current_node": "m%d" % (LENGTH - 1)}
    (folder / "conversations.json").write_text(json.dumps([chat]))
    return folder / "conversations.json"


def opencode(folder: Path, *, sessions: int = 1) -> Path:
    """No column of it has an index."""
    path = folder / "opencode.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.executescript(
            "create table session (id, directory); create table message (id, session_id, time_created, data);"
            "create table part (id, message_id, data)"
        )
        for number in range(sessions):
            made.execute("insert into session values (?, '/tmp')", ("s%d" % number,))
        for number in range(LENGTH):
            session = "s%d" % (number % sessions)
            made.execute("insert into message values (?, ?, ?, ?)", (number, session, number, '{"role": "user"}'))
            part = json.dumps({"type": "text", "text": SAID % number})
            made.execute("insert into part values (?, ?, ?)", (number, number, part))
    return path


def read(agent: str, path: Path) -> list[TranscriptRecord]:
    told = []
    for file in sources.find(agent, [str(path)], lambda reason: None):
        reading = sources.SOURCES[agent].read(file, 0, Tally())
        told += list(reading.records)
        reading.left()
    return told


FORMS: dict[str, tuple[str, Form, int]] = {
    "rolled back": ("codex", rolled_back, LENGTH),
    "an answer in parts": ("codex", answered_in_parts, 2),
    "rewound": ("gemini", rewound, LENGTH),
    "snapshots": ("copilot", snapshots, LENGTH),
    "a long branch": ("claude-ai", claude_ai, LENGTH),
    "a long mapping": ("chatgpt", chatgpt, LENGTH),
    "no index": ("opencode", opencode, LENGTH),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_long_session_takes_no_longer_than_its_length(tmp_path: Path, name: str) -> None:
    agent, made, number = FORMS[name]
    path = made(tmp_path)
    started = time.thread_time()
    assert len(read(agent, path)) == number
    assert time.thread_time() - started < MOST_S


def test_many_sessions_of_a_database_are_counted_at_once(tmp_path: Path) -> None:
    path = opencode(tmp_path, sessions=LENGTH // 2)
    started = time.thread_time()
    found = sources.find("opencode", [str(path)], lambda reason: None)
    assert time.thread_time() - started < MOST_S
    assert len(found) == LENGTH // 2 and {file.size for file in found} == {3}


def test_a_missing_field_is_no_word(tmp_path: Path) -> None:
    """Neither of a message, nor of a report."""
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as made, made:
        made.executescript(
            "create table session (id, directory); create table message (id, session_id, time_created, data);"
            "create table part (id, message_id, data); insert into session values ('s', null), (null, '/tmp');"
            'insert into message values (null, \'s\', null, \'{"role": "user", "text": "포트는?"}\');'
            "insert into message values ('m', 's', 2, null), ('n', 's', 3, '{\"role\": \"assistant\"}')"
        )
        state = {"status": "error", "input": {"command": [None]}}
        call = {"type": "tool", "callID": "c", "tool": "bash", "state": state}
        made.execute("insert into part values (null, 'n', ?)", (json.dumps(call),))
    [file] = sources.find("opencode", [str(path)], lambda reason: None)
    tally = Tally()
    told = list(sources.SOURCES["opencode"].read(file, 0, tally).records)
    assert [record.kind for record in told] == ["user", "tool"]
    assert "None" not in repr([*told, *tally.passed])
