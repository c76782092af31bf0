"""OpenCode's databases, made to both of its schemas (1.18's tables, and 2's as its sources word them)."""

import sqlite3
from pathlib import Path

import pytest

from memlayer.kinds import Kind
from memlayer.transcripts.others.databases import opened
from tests.support.other_agents import database, value
from tests.support.past import Past

CWD = "/home/dev/상점"
MS = 1_790_000_000_000
SECRET = "sk-live-비밀"
ONE = """
create table session (id text primary key, project_id text not null, parent_id text, directory text not null,
  title text, version text, revert text, time_created integer, time_updated integer);
create table message (`id` text primary key, `session_id` text not null, `time_created` integer, `data` text);
create table part (id text primary key, message_id text, session_id text, data text);
create table account (email text, access_token text);
"""
TWO = """
create table session_v2 (id text primary key, directory text, title text, time_created integer, time_updated integer);
create table session_message (id text primary key, session_id text not null, type text not null, seq integer not null,
  time_created integer, data text not null);
create table credential (value text);
"""
PROMPTS = ["검색이 왜 느려? index가 있나?", "index를 추가해 줘"]


def first_schema(path: Path, *, revert: str = "", parent: str | None = None, version: str = "1.18.33") -> Path:
    rows: list[tuple[str, tuple[object, ...]]] = [
        ("insert into account values (?, ?)", ("a@b.c", SECRET)),
        ("insert into session values (?, 'p', ?, ?, '제목', ?, ?, ?, ?)",
         ("ses_1", parent, CWD, version, value({"messageID": revert}) if revert else None, MS, MS + 90_000)),
    ]  # fmt: skip
    for number, prompt in enumerate(PROMPTS):
        for name, role in (("u", "user"), ("w", "assistant"), ("x", "assistant")):
            at_ms = MS + number * 10_000 + ord(name)
            told = {"role": role, "time": {"created": at_ms}}
            rows.append(("insert into message values (?, 'ses_1', ?, ?)", (name + str(number), at_ms, value(told))))
        said = [
            ("u", {"type": "text", "text": prompt}),
            ("u", {"type": "text", "text": "주인이 덧붙인 말", "synthetic": True}),
            ("w", {"type": "text", "text": "살펴보겠습니다"}),
            ("w", {"type": "tool", "tool": "bash", "callID": "c%d" % number, "state": {
                "status": "completed", "input": {"command": "npm test"}, "output": "실패 1건",
                "metadata": {"exit": number}}}),
            ("w", {"type": "tool", "tool": "edit", "callID": "e%d" % number, "state": {
                "status": "completed", "input": {"filePath": "db.sql", "oldString": "가", "newString": "나"}}}),
            ("x", {"type": "step-start"}),
            ("x", {"type": "text", "text": "답 %d: done" % number}),
        ]  # fmt: skip
        for place, (name, part) in enumerate(said):
            rows.append(
                (
                    "insert into part values (?, ?, 'ses_1', ?)",
                    ("p%d%d" % (number, place), name + str(number), value(part)),
                )
            )
    return database(path, ONE, rows)


def second_schema(path: Path) -> Path:
    rows: list[tuple[str, tuple[object, ...]]] = [
        ("insert into credential values (?)", (SECRET,)),
        ("insert into session_v2 values ('ses_2', ?, 't', ?, ?)", (CWD, MS, MS)),
    ]
    told: list[tuple[str, dict[str, object]]] = [
        ("agent-switched", {}),
        ("user", {"text": PROMPTS[0], "time": {"created": MS}}),
        ("assistant", {"time": {"created": MS + 5}, "content": [
            {"type": "reasoning", "text": "생각"},
            {"type": "tool", "id": "c1", "name": "bash", "state": {"status": "error", "input": {"command": "make 색인"},
             "error": {"message": "명령이 없습니다"}}},
            {"type": "text", "text": "색인이 없습니다. No index."}]}),
        ("compaction", {"summary": "요약"}),
        ("idle", {}),
    ]  # fmt: skip
    for seq, (kind, data) in enumerate(told):
        rows.append(
            (
                "insert into session_message values (?, 'ses_2', ?, ?, ?, ?)",
                ("z%d" % (9 - seq), kind, seq, MS, value(data)),
            )
        )
    return database(path, TWO, rows)


def test_turns_of_the_first_schema(past: Past, tmp_path: Path) -> None:
    first_schema(tmp_path / "opencode.db")
    counts = past.run(tmp_path, agent="opencode")
    assert past.told("user") == PROMPTS
    assert past.told("assistant") == ["답 0: done", "답 1: done"]
    assert sorted(past.told("tool")) == [
        "Bash failed: npm test\n실패 1건", "Edit: %s/db.sql\n- 가\n+ 나" % CWD, "Edit: %s/db.sql\n- 가\n+ 나" % CWD
    ]  # fmt: skip
    assert [(row.agent, row.folder, row.sessions, row.turns) for row in counts.found] == [("opencode", CWD, 1, 2)]
    assert (counts.problems, counts.skipped) == ([], {})
    again = past.run(tmp_path, agent="opencode")
    assert (again.unchanged, again.new) == (1, 0)


def test_turns_of_the_second_schema(past: Past, tmp_path: Path) -> None:
    second_schema(tmp_path / "opencode-beta.db")
    counts = past.run(tmp_path, agent="opencode")
    assert past.turns == ["User: %s\nAssistant: 색인이 없습니다. No index." % PROMPTS[0]]
    assert past.told("tool") == ["Bash failed: make 색인\n명령이 없습니다"]
    assert counts.skipped == {}


def test_a_session_that_went_on_is_read_again(past: Past, tmp_path: Path) -> None:
    path = first_schema(tmp_path / "opencode.db")
    past.run(tmp_path, agent="opencode")
    with sqlite3.connect(path) as made:
        made.execute("update session set time_updated = time_updated + 5000")
        told = value({"role": "user", "time": {"created": MS + 95_000}})
        made.execute("insert into message values ('y9', 'ses_1', ?, ?)", (MS + 95_000, told))
        made.execute(
            "insert into part values ('q', 'y9', 'ses_1', ?)", (value({"type": "text", "text": "고마워, commit 해"}),)
        )
    made.close()
    counts = past.run(tmp_path, agent="opencode")
    assert (counts.new, counts.known) == (1, 7)


def test_reverted_messages_are_left(past: Past, tmp_path: Path) -> None:
    first_schema(tmp_path / "opencode.db", revert="u1")
    past.run(tmp_path, agent="opencode")
    assert past.kinds == {PROMPTS[0]: Kind.TURN, PROMPTS[1]: Kind.REWOUND}


def test_sub_agents_are_left_out(past: Past, tmp_path: Path) -> None:
    first_schema(tmp_path / "opencode.db", parent="ses_0")
    assert past.run(tmp_path, agent="opencode").files == 0


def test_no_other_table_is_read_and_nothing_is_written(past: Past, tmp_path: Path) -> None:
    path = first_schema(tmp_path / "opencode.db")
    before = path.read_bytes()
    with opened(str(path), ("session",)) as seen:
        assert len(list(seen.rows("SELECT id FROM session"))) == 1
        for asked in ("SELECT access_token FROM account", "SELECT data FROM part"):
            with pytest.raises(sqlite3.DatabaseError, match="prohibited"):
                list(seen.rows(asked))
        for asked in ("DELETE FROM session", "ATTACH 'x' AS y", "PRAGMA journal_mode = WAL"):
            with pytest.raises(sqlite3.DatabaseError):
                list(seen.rows(asked))
    past.run(tmp_path, agent="opencode")
    assert path.read_bytes() == before
    assert not [text for text in past.said if SECRET in text]
    assert sorted(one.name for one in tmp_path.iterdir() if "opencode" in one.name) == ["opencode.db"]


def test_another_form_is_an_error(past: Past, tmp_path: Path) -> None:
    path = first_schema(tmp_path / "opencode.db", version="9.0.0")
    with sqlite3.connect(path) as made:
        made.execute("update message set data = ?", (value({"speaker": "나", "text": "새 형식"}),))
    made.close()
    [problem] = past.run(tmp_path, agent="opencode").problems
    assert "Version 9.0.0" in problem


@pytest.mark.parametrize("raw", [b"", b"SQLite format 3\0", b"SQLite format 3\0" + b"\xff" * 4096, "글".encode()])
def test_a_broken_file_is_told(past: Past, tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "opencode.db").write_bytes(raw)
    assert past.run(tmp_path, agent="opencode").skipped == {"files that cannot be read": 1}
