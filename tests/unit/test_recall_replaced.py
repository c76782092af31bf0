"""A statement that was superseded is never recalled as if it held: its turn is marked, and what holds comes with it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from memlayer.core.model import Memory
from memlayer.service.statement import statement_of
from tests.turns_in_memory import T0_MS, TurnsInMemory

SAID = [
    ("관리자 페이지 포트는 8443 이야", "관리자 페이지 포트를 9000 으로 옮겼습니다", "관리자 페이지 포트가 뭐였지?"),
    ("the admin page listens on port 8443", "We moved the admin page to port 9000", "which port has the admin page?"),
]


def drawn(memory: TurnsInMemory, turn: Memory, text: str) -> Memory:
    """The core memory that consolidation draws from a turn, in the store and in the index."""
    made = statement_of(
        turn.project_id, text, "fact", origin=turn.id + text, session_id=turn.session_id, prompt_id=turn.prompt_id,
        source_ids=turn.source_ids, at_ms=turn.at_ms,
    )  # fmt: skip
    memory.store.put_memories([made])
    memory.ingest.index([made], memory.ingest.chunks_of(made, text))
    return made


def superseded(memory: TurnsInMemory, older: Memory, by: str) -> None:
    memory.store.put_memories([replace(older, superseded_by=by, superseded_ms=T0_MS + 100)])
    memory.store.drop_chunks([older.id])
    memory.recall.renew(older.project_id)


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_the_turn_of_a_superseded_statement_is_marked_and_the_newer_one_comes_with_it(
    home: Path, first: str, then: str, question: str
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.")
    older = drawn(memory, turn, first)
    elsewhere = memory.turn("s2", "q2", "ㅇㅋ 그거 반영해", "네.", at=50)
    newer = drawn(memory, elsewhere, then)
    memory.store.drop_chunks([newer.id])  # it shares too little with the question to be found by itself
    assert "(older; newer:" not in memory.ask(question).block
    superseded(memory, older, newer.id)
    block = memory.ask(question).block
    assert f"(older; newer: [mem:{newer.citation}])" in block
    assert then in block


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_what_the_user_took_back_is_not_recalled_from_its_turn_either(
    home: Path, first: str, then: str, question: str
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.")
    older = drawn(memory, turn, first)
    assert memory.ask(question).block
    superseded(memory, older, older.id)
    found = memory.ask(question)
    assert found.block == ""
    assert "what it says was taken back" in [one.reason for one in found.candidates]


def test_a_turn_whose_other_sentence_was_superseded_is_recalled_as_it_is(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", "배포는 화요일에 하자", "배포 요일을 화요일로 적었습니다. 담당은 민서입니다.")
    older = drawn(memory, turn, "릴리스 노트 담당은 지훈이다")
    superseded(memory, older, older.id)
    assert "화요일" in memory.ask("배포는 무슨 요일에 하지?").block


def test_a_statement_and_its_turn_are_one_entry_and_the_turn_tells_more(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다. 더 길면 재고가 틀립니다.")
    core = drawn(memory, turn, "캐시 만료는 45초로 했습니다.")
    block = memory.ask("캐시 만료 몇 초였지?").block
    assert turn.citation in block
    assert core.citation not in block
    assert block.count("45초") == 1
    memory.store.drop_chunks([turn.id])
    assert core.citation in memory.ask("캐시 만료 몇 초였지?").block


TWO_FACTS = [
    (
        "We settled on port 8080 for the gateway. We settled on Postgres 15 for the billing database.",
        ("We settled on port 8080 for the gateway.", "We settled on Postgres 15 for the billing database."),
        ("Which port has the gateway?", "Which Postgres does the billing database use?"),
    ),
    (
        "게이트웨이 타임아웃은 30초로 정했어. 이미지 저장소는 S3로 하기로 했어.",
        ("게이트웨이 타임아웃은 30초로 정했어.", "이미지 저장소는 S3로 하기로 했어."),
        ("게이트웨이 타임아웃은 몇 초였지?", "이미지 저장소는 어디였지?"),
    ),
]


@pytest.mark.parametrize(("said", "facts", "questions"), TWO_FACTS)
def test_of_two_facts_of_a_turn_the_one_that_was_superseded_is_left_out(
    home: Path, said: str, facts: tuple[str, str], questions: tuple[str, str]
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", said, "Okay, noted. 네, 기록했습니다.")
    older, held = (drawn(memory, turn, fact) for fact in facts)
    newer = drawn(memory, memory.turn("s2", "q2", "ㅇㅋ", "네.", at=50), "바뀐 값 changed value 9191")
    superseded(memory, older, newer.id)
    about_the_old, about_the_other = (memory.ask(question).block for question in questions)
    assert f"(older; newer: [mem:{newer.citation}])" in about_the_old and newer.text in about_the_old
    assert held.text.rstrip(".") in about_the_other
    assert facts[0].rstrip(".") not in about_the_other and "older" not in about_the_other.split("\n", 2)[2]


@pytest.mark.parametrize(("said", "facts", "questions"), TWO_FACTS)
def test_of_two_facts_of_a_turn_the_one_that_was_not_taken_back_still_comes(
    home: Path, said: str, facts: tuple[str, str], questions: tuple[str, str]
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", said, "Okay, noted. 네, 기록했습니다.")
    gone, held = (drawn(memory, turn, fact) for fact in facts)
    superseded(memory, gone, gone.id)
    block = memory.ask(questions[1]).block
    assert held.text.rstrip(".") in block and gone.text.rstrip(".") not in block


@pytest.mark.parametrize(
    ("said", "facts", "question"),
    [
        (
            "배포 서버는 web-2 이고 배포 포트는 7000 이야",
            ("배포 서버는 web-2", "배포 포트는 7000"),
            "배포 서버가 어디지?",
        ),
        (
            "deploys go to web-2, and to port 7000",
            ("deploys go to web-2", "deploys go to port 7000"),
            "deploys to web-2?",
        ),
    ],
)
def test_of_a_sentence_that_was_taken_back_in_part_the_rest_comes_by_itself(
    home: Path, said: str, facts: tuple[str, str], question: str
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", said, "Noted. 네.")
    held, gone = (drawn(memory, turn, fact) for fact in facts)
    assert turn.citation in memory.ask(question).block
    superseded(memory, gone, gone.id)
    block = memory.ask(question).block
    assert held.citation in block and turn.citation not in block and "7000" not in block


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        (SAID[0][0], SAID[0][1], "관리자 페이지 포트 옮긴 것"),
        (SAID[1][0], SAID[1][1], "did we move the port of the admin page?"),
    ],
)
def test_what_holds_comes_once_in_its_turn(home: Path, first: str, then: str, question: str) -> None:
    memory = TurnsInMemory(home)
    older = drawn(memory, memory.turn("s1", "q1", first, "기록했습니다. Noted."), first)
    turn = memory.turn("s2", "q2", then, "네, 옮겼습니다. Moved, as you said.", at=50)
    newer = drawn(memory, turn, then)
    superseded(memory, older, newer.id)
    block = memory.ask(question).block
    assert f"(older; newer: [mem:{turn.citation}])" in block
    assert block.count(then) == 1 and newer.citation not in block


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_an_older_turn_that_says_what_was_taken_back_does_not_come_for_it(
    home: Path, first: str, then: str, question: str
) -> None:
    memory = TurnsInMemory(home)
    memory.turn("s0", "q0", first, "기록했습니다. Noted, I wrote it down.")
    turn = memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.", at=50)
    older = drawn(memory, turn, first)
    superseded(memory, older, older.id)
    assert memory.ask(question).block == ""
