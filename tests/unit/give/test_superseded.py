"""A superseded statement is never recalled as if it held."""

from pathlib import Path

import pytest

from memlayer.consolidation.statement import statement_of
from memlayer.give.candidate import Reason
from memlayer.give.recall import RecallRules
from memlayer.kinds import Author, Ended
from memlayer.model import Memory
from tests.support.turns_in_memory import T0_MS, TurnsInMemory

SAID = [
    ("관리자 페이지 포트는 8443 이야", "관리자 페이지 포트를 9000 으로 옮겼습니다", "관리자 페이지 포트가 뭐였지?"),
    ("the admin page listens on port 8443", "We moved the admin page to port 9000", "which port has the admin page?"),
]

EVERYTHING = RecallRules(min_chance=0.0)


def drawn(memory: TurnsInMemory, turn: Memory, text: str) -> Memory:
    """The core memory that consolidation draws from a turn, in the store and in the index."""
    made = statement_of(
        turn.project_id, text, "fact", by=Author.PERSON, origin=turn.id + text, session_id=turn.session_id,
        prompt_id=turn.prompt_id, source_ids=turn.source_ids, at_ms=turn.at_ms,
    )  # fmt: skip
    memory.store.put_memories([made])
    memory.indexer.index([made])
    return made


def superseded(memory: TurnsInMemory, older: Memory, by: str) -> None:
    memory.store.put_memories([older.ended(Ended.REPLACED, T0_MS + 100, by)])
    memory.store.drop_chunks([older.id])
    memory.recall.refresh(older.project_id)


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_superseded_statement_gives_way_to_its_successor(home: Path, first: str, then: str, question: str) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.")
    older = drawn(memory, turn, first)
    newer = drawn(memory, memory.turn("s2", "q2", "ㅇㅋ 그거 반영해", "네.", at=50), then)
    memory.store.drop_chunks([newer.id])  # it shares too little with the question to be found by itself
    assert "8443" in memory.ask(question, EVERYTHING).block
    superseded(memory, older, newer.id)
    block = memory.ask(question, EVERYTHING).block
    assert newer.citation in block and "9000" in block and "8443" not in block


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_one_successor_of_several_turns_is_told_once(home: Path, first: str, then: str, question: str) -> None:
    """Each of two turns said the older value in words of its own."""
    memory = TurnsInMemory(home)
    said = [memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.")]
    said.append(memory.turn("s2", "q2", first + ", 8443", "네. 재고 화면도 열어 두었습니다.", at=20))
    older = [drawn(memory, turn, text) for turn, text in zip(said, (first, first + ", 8443"), strict=True)]
    newer = drawn(memory, memory.turn("s3", "q3", "ㅇㅋ 그거 반영해", "네.", at=50), then)
    memory.store.drop_chunks([newer.id])
    for row in older:
        superseded(memory, row, newer.id)
    block = memory.ask(question, EVERYTHING).block
    assert block.count(newer.citation) == 1


@pytest.mark.parametrize(("first", "then", "question"), SAID)
def test_retired_statement_is_not_recalled(home: Path, first: str, then: str, question: str) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", first, "기록했습니다. Noted, I wrote it down.")
    older = drawn(memory, turn, first)
    assert memory.ask(question, EVERYTHING).block
    superseded(memory, older, older.id)
    found = memory.ask(question, EVERYTHING)
    assert found.block == ""
    assert Reason.TAKEN_BACK in [one.reason for one in found.candidates]


def test_turn_keeps_its_valid_sentence(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", "배포는 화요일에 하자", "배포 요일을 화요일로 적었습니다. 담당은 민서입니다.")
    older = drawn(memory, turn, "릴리스 노트 담당은 지훈이다")
    superseded(memory, older, older.id)
    assert "화요일" in memory.ask("배포는 무슨 요일에 하지?", EVERYTHING).block


def test_statement_and_its_turn_are_one_entry(home: Path) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", "캐시 만료는 얼마로 해?", "캐시 만료는 45초로 했습니다. 더 길면 재고가 틀립니다.")
    core = drawn(memory, turn, "캐시 만료는 45초로 했습니다.")
    [one] = memory.ask("캐시 만료 몇 초였지?", EVERYTHING).entries
    assert one.citation in (turn.citation, core.citation) and "45초" in one.snippet


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
def test_other_fact_of_a_superseded_turn_stays(
    home: Path, said: str, facts: tuple[str, str], questions: tuple[str, str]
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", said, "Okay, noted. 네, 기록했습니다.")
    older, held = (drawn(memory, turn, fact) for fact in facts)
    newer = drawn(memory, memory.turn("s2", "q2", "ㅇㅋ", "네.", at=50), "바뀐 값 changed value 9191")
    superseded(memory, older, newer.id)
    about_the_old, about_the_other = (memory.ask(question, EVERYTHING).block for question in questions)
    assert newer.text in about_the_old and older.text.rstrip(".") not in about_the_old
    assert held.text.rstrip(".") in about_the_other and older.text.rstrip(".") not in about_the_other


@pytest.mark.parametrize(("said", "facts", "questions"), TWO_FACTS)
def test_remaining_fact_of_a_turn_comes(
    home: Path, said: str, facts: tuple[str, str], questions: tuple[str, str]
) -> None:
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "q1", said, "Okay, noted. 네, 기록했습니다.")
    gone, held = (drawn(memory, turn, fact) for fact in facts)
    superseded(memory, gone, gone.id)
    block = memory.ask(questions[1], EVERYTHING).block
    assert held.text.rstrip(".") in block and gone.text.rstrip(".") not in block
