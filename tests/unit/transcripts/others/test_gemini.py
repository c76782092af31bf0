"""Gemini CLI's sessions, made to the form of chatRecordingTypes.ts (0.20 to 0.61; no recorded one is free to copy)."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from memlayer.adapters.sqlite_files import ImportLog
from memlayer.kinds import Kind
from tests.support.other_agents import LONG_AGO_S, gemini_messages, gemini_meta, jsonl
from tests.support.past import Past
from tests.support.tables import tables

CWD = "/home/dev/상점"
TURNS = [("배포 script는 어디 있어?", "deploy/run.sh 입니다."), ("그걸 staging에서 돌려 줘", "돌렸습니다. It ran.")]
CALLS = tables("transcripts/others/gemini")["calls"]


@pytest.fixture
def chats(tmp_path: Path) -> Path:
    folder = tmp_path / ".gemini" / "tmp" / "shop"
    folder.mkdir(parents=True)
    (folder / ".project_root").write_text(CWD + "\n")
    return folder / "chats"


@pytest.mark.parametrize("form", ["json", "jsonl", "set"])
def test_a_turn_comes_once_with_its_last_answer(past: Past, chats: Path, form: str) -> None:
    messages = gemini_messages(TURNS, calls=CALLS)
    path = chats / ("session-2026-07-22T07-00-a." + form.replace("set", "jsonl"))
    if form == "json":
        path.parent.mkdir()
        path.write_text(json.dumps({**gemini_meta(), "messages": messages}, ensure_ascii=False))
        os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    elif form == "jsonl":
        jsonl(path, [gemini_meta(), *messages[:3], {**messages[3], "content": "돌리는 중"}, messages[3]])
    else:
        jsonl(path, [gemini_meta(), {"$set": {"messages": messages[:2]}}, {"$set": {"messages": messages}}])
    counts = past.run(chats.parent.parent, agent="gemini")
    assert past.told("user") == [prompt for prompt, _ in TURNS]
    assert past.told("assistant") == [answer for _, answer in TURNS]
    assert past.told("tool") == [
        "Bash failed: sh deploy/run.sh\n권한이 없습니다: permission denied",
        "Edit: /home/dev/상점/deploy/run.sh\n- a\n+ 나",
    ]
    assert [(row.folder, row.sessions, row.turns) for row in counts.found] == [(CWD, 1, 2)]
    assert counts.problems == [] and not [reason for reason in counts.skipped if "unknown" in reason]
    past.log = ImportLog(past.home / "cache" / "anew.sqlite")
    assert past.run(chats, agent="gemini").new == 0


def test_a_step_back_leaves_turns(past: Past, chats: Path) -> None:
    first, second, third = gemini_messages([*TURNS, ("색은 always 파랑", "파랑")])[::2]
    jsonl(chats / "s.jsonl", [gemini_meta(), first, second, {"$rewindTo": "u1"}, third, {"$rewindTo": "없는 것"}])
    past.run(chats, agent="gemini")
    assert past.kinds == {TURNS[0][0]: Kind.OPEN_QUESTION, TURNS[1][0]: Kind.REWOUND, "색은 always 파랑": Kind.TURN}


@pytest.mark.parametrize("named", ["short", "hash", "nothing"])
def test_the_folder_is_known_by_its_name(past: Past, tmp_path: Path, named: str) -> None:
    hashed = hashlib.sha256(CWD.encode()).hexdigest()
    (tmp_path / "projects.json").write_text(json.dumps({"projects": {CWD: "sangjeom"}}))
    place = {"short": "sangjeom", "hash": hashed, "nothing": "누구"}[named]
    jsonl(tmp_path / "tmp" / place / "chats" / "s.jsonl", [gemini_meta(), *gemini_messages(TURNS)])
    counts = past.run(tmp_path / "tmp", agent="gemini")
    if named == "nothing":
        assert (counts.new, counts.skipped) == (0, {"files without a folder of this machine": 1})
    else:
        assert [row.folder for row in counts.found] == [CWD]


def test_sub_agents_are_left_out(past: Past, chats: Path) -> None:
    jsonl(chats / "gem-1" / "sub.jsonl", [gemini_meta("sub"), *gemini_messages(TURNS)])
    jsonl(chats / "b.jsonl", [gemini_meta("sub-2", kind="subagent"), *gemini_messages(TURNS)])
    assert past.run(chats, agent="gemini").files == 0


def test_results_and_notices_are_no_prompts(past: Past, chats: Path) -> None:
    more = [
        {"id": "r1", "type": "user", "content": [{"functionResponse": {"response": {"output": "비밀 출력"}}}]},
        {"id": "i1", "type": "info", "content": "업데이트 available"},
        {"id": "d1", "timestamp": "2026-07-22T09:00:00Z", "type": "user", "content": "@긴 파일 내용",
         "displayContent": "@a.md 요약"},
        {"id": "n1", "type": "hologram", "content": "새것"}, {"foo": 1}, {"$rewindTo": 5}, {"$set": "말"},
    ]  # fmt: skip
    jsonl(chats / "s.jsonl", [gemini_meta(), *gemini_messages(TURNS[:1]), *more])
    counts = past.run(chats, agent="gemini")
    assert past.told("user") == [TURNS[0][0], "@a.md 요약"]
    assert counts.skipped == {
        "unknown records: hologram": 1,
        "unknown records: foo": 1,
        "unknown records: $rewindTo": 1,
    }


def test_files_without_a_turn_are_an_error(past: Past, chats: Path) -> None:
    for number in range(28):
        jsonl(chats / ("%d.jsonl" % number), [gemini_meta("g%d" % number), {"turn": {"prompt": "새 형식"}}])
    [problem] = past.run(chats, agent="gemini").problems
    assert problem.startswith("Gemini CLI: 28 files, 0 turns")
