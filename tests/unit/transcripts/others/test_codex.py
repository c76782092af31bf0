"""Rollouts of Codex, made to the documented form of 0.98 to 0.171 (no recorded one is free to copy)."""

import json
import os
from pathlib import Path

import pytest

from memlayer.adapters import packed
from memlayer.adapters.sqlite_files import ImportLog
from memlayer.edge.capture.payload import read_payload
from memlayer.kinds import Kind
from memlayer.ports import MemoryQuery
from memlayer.transcripts.discovery import UNREADABLE
from memlayer.transcripts.lines import Tally, open_transcript, whole_lines
from tests.support.other_agents import LONG_AGO_S, THREAD, Rollout, jsonl, pack
from tests.support.past import Past
from tests.support.tables import tables

CWD = "/home/dev/상점"
KEY = "AKIA" + "QZ3EGTV7MNB2LPX5"
PATCH = """*** Begin Patch
*** Update File: src/cart.py
@@ def total
-    return 0
+    return sum(prices)  # 합계
*** Add File: docs/장바구니.md
+# 장바구니
*** End Patch"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "codex" / "sessions"


@pytest.mark.parametrize("version", ["0.98.0", "0.147.2", "0.148.0", "0.171.0"])
def test_a_turn_comes_once_with_its_last_answer(past: Past, folder: Path, version: str) -> None:
    rollout = Rollout(CWD, version=version)
    rollout.turn("t1", "장바구니 total이 왜 0이야?", "합계를 안 더해서입니다. It never summed the prices.")
    rollout.turn("t2", "Fix it, 그리고 test도 추가해 줘", "고쳤습니다. Fixed in src/cart.py.")
    rollout.write(folder)
    counts = past.run(folder, agent="codex")
    assert (counts.turns, counts.new_turns, counts.problems) == (2, 2, [])
    assert past.told("user") == ["장바구니 total이 왜 0이야?", "Fix it, 그리고 test도 추가해 줘"]
    assert past.told("assistant") == [
        "합계를 안 더해서입니다. It never summed the prices.",
        "고쳤습니다. Fixed in src/cart.py.",
    ]
    [row] = counts.found
    assert (row.agent, row.folder, row.sessions, row.turns) == ("codex", CWD, 1, 2)
    assert 0 < row.first_ms < row.last_ms
    assert {event.session_id for event in past.store.events()} == {THREAD}
    again = past.run(folder, agent="codex")
    assert (again.new, again.unchanged) == (0, 1)
    past.log = ImportLog(past.home / "cache" / "anew.sqlite")
    assert past.run(folder, agent="codex").new == 0


def test_failed_calls_and_edits_stay(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.begin("t1", "테스트를 돌려 줘")
    rollout.run("c1", "pytest -q", 1, "E   assert 0 == 3\n장바구니 실패")
    rollout.run("c2", "ls", 0, "cart.py")
    rollout.patch("c3", PATCH)
    rollout.patch("c4", PATCH, output="Exit code: 1\nOutput:\nInvalid context")
    rollout.say("t1", "고쳤습니다")
    rollout.write(folder)
    past.run(folder, agent="codex")
    told = past.told("tool")
    assert told == [
        "Bash failed: pytest -q\nE   assert 0 == 3\n장바구니 실패",
        "Edit: %s/src/cart.py\n- return 0\n+ return sum(prices)  # 합계" % CWD,
        "Edit: %s/docs/장바구니.md\n+ # 장바구니" % CWD,
        "Edit failed: %s/src/cart.py\nInvalid context" % CWD,
    ]
    assert {event.detail for event in past.store.events(kind="tool")} == {"Bash failed", "Edit", "Edit failed"}
    assert {event.prompt_id for event in past.store.events()} == {"t1"}


def test_a_packed_file_is_read_as_a_plain_one(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "장바구니 total이 왜 0이야?", "합계를 안 더해서입니다.")
    plain = rollout.write(folder)
    past.run(folder, agent="codex")
    pack(plain)
    counts = past.run(folder, agent="codex")
    assert (counts.files, counts.turns, counts.new, counts.problems) == (1, 1, 0, [])
    past.run(folder, agent="codex")
    assert past.turns == ["User: 장바구니 total이 왜 0이야?\nAssistant: 합계를 안 더해서입니다."]


@pytest.mark.parametrize("cut", [20, 100, -10])
def test_a_broken_packed_file_is_counted(past: Past, folder: Path, cut: int) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "배포는 언제 해?", "금요일입니다")
    packed = pack(rollout.write(folder))
    packed.write_bytes(packed.read_bytes()[:cut])
    assert past.run(folder, agent="codex").skipped == {UNREADABLE: 1}
    assert past.turns == []


def test_a_bomb_unpacks_to_no_more_than_the_limit(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "MAX_BYTES", 1 << 20)
    folder.mkdir(parents=True)
    bomb = folder / "rollout-가.jsonl"
    bomb.write_bytes(b"0" * (64 << 20))
    bomb = pack(bomb)
    assert bomb.stat().st_size < 20_000
    tally = Tally()
    with pytest.raises(OSError, match="unpacks to more than"), open_transcript(str(bomb)) as file:
        list(whole_lines(file, 0, tally))
    assert tally.lines == 0


@pytest.mark.parametrize("version", ["0.147.2", "0.171.0"])
def test_prompts_of_one_turn_are_the_hooks_events(past: Past, folder: Path, version: str) -> None:
    rollout = Rollout(CWD, version=version)
    rollout.begin("t1", "배포 서버는 오사카로 정했어")
    rollout.say("t1", "오사카로 하겠습니다")
    rollout.begin("t1", "아니, Seoul로 하자")  # typed while the model worked
    rollout.say("t1", "서울로 바꿨습니다")
    rollout.write(folder)
    for prompt in ("배포 서버는 오사카로 정했어", "아니, Seoul로 하자"):
        sent = {"session_id": THREAD, "turn_id": "t1", "prompt": prompt, "cwd": "/", "host": "codex"}
        event = read_payload("user_prompt_submit", json.dumps(sent).encode(), project_dir="/", at_ms=1).event
        assert event is not None
        past.ingest.take([event])
    past.end(THREAD)
    assert past.run(folder, agent="codex").new == 1
    assert past.turns == ["User: 배포 서버는 오사카로 정했어\n아니, Seoul로 하자\nAssistant: 서울로 바꿨습니다"]


def test_a_thread_in_several_files_is_one_session(past: Past, folder: Path) -> None:
    first, rest = Rollout(CWD), Rollout(CWD)
    for rollout in (first, rest):
        rollout.turn("t1", "배포는 언제 해?", "금요일입니다")
    rest.turn("t2", "그럼 Friday 저녁에 하자", "네, 저녁에 하겠습니다")
    first.write(folder)
    rest.write(folder, "rollout-2026-09-22T08-00-00-b.jsonl")
    assert past.run(folder, agent="codex").new_turns == 2
    assert len(past.turns) == 2


def test_a_forks_copies_come_once(past: Past, folder: Path) -> None:
    parent, fork = Rollout(CWD), Rollout(CWD, thread="fork-1", forked_from_id=THREAD)
    for rollout in (parent, fork):
        rollout.turn("t1", "캐시는 redis로 가자", "redis로 하겠습니다")
    fork.turn("t2", "아니, memcached로", "memcached로 바꿨습니다")
    parent.write(folder)
    fork.write(folder, "rollout-2026-09-22T08-00-00-b.jsonl")
    counts = past.run(folder, agent="codex")
    assert len(past.turns) == 2
    assert counts.skipped["copies of another session"] == 2


def test_rolled_back_turns_are_left(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "색은 파랑으로", "파랑입니다")
    rollout.turn("t2", "아니 빨강으로 always", "빨강입니다")
    rollout.event("thread_rolled_back", num_turns=1)
    rollout.turn("t3", "초록으로", "초록입니다")
    rollout.write(folder)
    past.run(folder, agent="codex")
    kinds = {memory.prompt_id: memory.known_kind for memory in past.store.memories(MemoryQuery())}
    assert (kinds["t1"], kinds["t2"], kinds["t3"]) == (Kind.TURN, Kind.REWOUND, Kind.TURN)


def test_secrets_private_spans_and_own_blocks_stay_out(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "열쇠는 %s 야 <private>둘만의 비밀</private> 알겠지?" % KEY, "key %s 확인" % KEY)
    rollout.turn("t2", "또 물어볼게\n[Memory context]\n- turn_1: 남의 말 [mem:a7Bc3x]", "네")
    rollout.begin("t3", "로그인해 봐")
    rollout.run("c1", "curl -H 'X-Key: %s' x" % KEY, 1, "denied %s" % KEY)
    rollout.write(folder)
    past.run(folder, agent="codex")
    raw = "\n".join(past.said + past.turns)
    assert "열쇠는" in raw and "denied" in raw
    assert not [text for text in (KEY, "둘만의", "남의 말") if text in raw]


def test_a_secret_of_the_prompt_is_hidden_in_a_call(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.begin("t1", "DB 비밀번호는 Qz7rT2wLx9Kd 야, 접속해 봐")
    rollout.run("c1", "psql -h db", 1, "psql: 사용자 Qz7rT2wLx9Kd 거부")
    rollout.run("c2", "psql -W Qz7rT2wLx9Kd", 1, "denied")
    rollout.write(folder)
    past.run(folder, agent="codex")
    told = past.told("tool")
    assert len(told) == 2 and "거부" in told[0]
    assert not [text for text in (*told, *past.turns) if "Qz7rT2wLx9Kd" in text]


def test_runs_and_sub_agents_are_told_apart(past: Past, folder: Path) -> None:
    run = Rollout(CWD, thread="run-1", source="exec")
    run.turn("t1", "밤마다 dependency를 올려", "올렸습니다")
    run.write(folder)
    agent = Rollout(CWD, thread="agent-1", source={"subagent": {"other": "review"}})
    agent.turn("t9", "조사해 줘", "조사 결과")
    agent.write(folder, "rollout-2026-09-22T08-00-00-b.jsonl")
    past.run(folder, agent="codex")
    assert [memory.known_kind for memory in past.store.memories(MemoryQuery())] == [Kind.RUN]


def test_a_file_without_events_is_read_from_the_models_items(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    for text in ("# AGENTS.md instructions for /x\n\n규칙", "<user_instructions>x</user_instructions>", "색을 정하자"):
        rollout.message("user", "input_text", text)
    rollout.message("assistant", "output_text", "파랑 어떠세요?")
    rollout.write(folder)
    past.run(folder, agent="codex")
    assert past.turns == ["User: 색을 정하자\nAssistant: 파랑 어떠세요?"]


def test_an_editors_context_is_no_word_of_the_person(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    head = (
        "# Context from my IDE setup:\n\n## Active file: 비밀.py\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\n"
    )
    rollout.turn("t1", head + "이 함수 refactor 해 줘", "했습니다")
    rollout.write(folder)
    past.run(folder, agent="codex")
    assert past.told("user") == ["이 함수 refactor 해 줘"]


def test_two_prompts_of_one_turn_are_both_kept(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.begin("t1", "빌드해 줘")
    rollout.say("t1", "빌드 중입니다")
    rollout.begin("t1", "아, release로 build")
    rollout.say("t1", "release로 했습니다")
    rollout.write(folder)
    past.run(folder, agent="codex")
    assert past.told("user") == ["빌드해 줘", "아, release로 build"]


def test_files_without_a_turn_are_an_error(past: Past, folder: Path) -> None:
    for number in range(28):
        rollout = Rollout(CWD, thread="t%d" % number, version="0.200.0")
        rollout.event("thread_said", who="user", what="새 형식입니다")
        rollout.write(folder, "rollout-%02d.jsonl" % number)
    counts = past.run(folder, agent="codex")
    [problem] = counts.problems
    assert problem.startswith("Codex: 28 files, 0 turns. Version 0.200.0 ")
    assert counts.skipped["unknown records: thread_said"] == 28


def test_unknown_records_beside_turns_are_counted(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "안녕 Codex, 구조를 설명해 줘", "설명입니다")
    rollout.add("brand_new", {})
    rollout.add("response_item", {"type": "hologram_call"})
    rollout.write(folder)
    counts = past.run(folder, agent="codex")
    assert (counts.problems, counts.new_turns) == ([], 1)
    assert counts.skipped == {"unknown records: brand_new": 1, "unknown records: hologram_call": 1}


def test_odd_lines_break_nothing(past: Past, folder: Path) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", "한 턴만", "네, one turn")
    path = rollout.write(folder)
    odd = [
        {"type": "event_msg"}, {"type": 3, "payload": 4}, {"type": "response_item", "payload": {"type": ["x"]}},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": "말"}},
        {"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": "많이"}},
        {"type": "response_item", "payload": {"type": "function_call_output", "output": {"content": 5}, "call_id": 1}},
    ]  # fmt: skip
    jsonl(path, [*rollout.records, *odd])
    with path.open("ab") as file:
        file.write(b'{"type": "event_msg", "pay\xff\n[1,2]\n"\xed\xa0\x80"\n{"torn')
    os.utime(path, (LONG_AGO_S, LONG_AGO_S))
    counts = past.run(folder, agent="codex")
    assert (counts.new_turns, counts.problems) == (1, [])


@pytest.mark.parametrize(
    ("text", "is_kept"), tables("transcripts/others/codex")["a_text_that_is_a_hosts_block_is_no_prompt"]
)
def test_a_text_that_is_a_hosts_block_is_no_prompt(past: Past, folder: Path, text: str, is_kept: bool) -> None:
    rollout = Rollout(CWD)
    rollout.turn("t1", text, "네, yes")
    rollout.write(folder)
    past.run(folder, agent="codex")
    assert bool(past.told("user")) == is_kept
