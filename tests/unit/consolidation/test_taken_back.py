"""A turn that the next prompt takes back: its statements, its place in recall and lists."""

from pathlib import Path

import pytest

from memlayer.give.working_set import WorkingSetRules, compose
from memlayer.indexing.repair import mark_turns
from memlayer.kinds import KINDS, Kind
from memlayer.model import Memory, replace
from memlayer.ports import MemoryQuery
from memlayer.topics.session_summary import sum_up
from tests.support.consolidating_in_memory import Consolidating

DECISION = "주문 이벤트는 ClickHouse에 저장하기로 했어."
OLDER = "주문 이벤트는 Postgres에 저장하기로 했어."
ANSWER = "네, orders 테이블을 ClickHouse로 옮겼습니다."
BACK = "안 되네 원래대로"
MARK = KINDS[Kind.DID_NOT_HOLD].mark


@pytest.fixture
def story(tmp_path: Path) -> Consolidating:
    return Consolidating(tmp_path)


def turn_of(story: Consolidating, prompt_id: str) -> Memory:
    found = story.store.memories(MemoryQuery(category="conversation"))
    return next(turn for turn in found if turn.prompt_id == prompt_id)


def test_statement_ends_with_its_turn_and_older_holds_again(story: Consolidating) -> None:
    story.say("s0", "p0", OLDER, "네.", at=-1000)
    story.say("s1", "p1", DECISION, ANSWER)
    assert story.texts() == [DECISION]
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    assert story.texts() == [OLDER]
    assert turn_of(story, "p1").kind == Kind.DID_NOT_HOLD


def test_ordinary_next_prompt_changes_nothing(story: Consolidating) -> None:
    story.say("s1", "p1", DECISION, ANSWER)
    story.say("s1", "p2", "마지막 커밋 되돌려줘", "되돌렸습니다.", at=1000)
    assert story.texts() == [DECISION] and turn_of(story, "p1").kind != Kind.DID_NOT_HOLD


def test_another_session_takes_nothing_back(story: Consolidating) -> None:
    story.say("s1", "p1", DECISION, ANSWER)
    story.say("s2", "p2", BACK, "되돌렸습니다.", at=1000)
    assert story.texts() == [DECISION]


def test_reinstated_turn_holds_again(story: Consolidating) -> None:
    story.say("s1", "p1", DECISION, ANSWER)
    before = story.core()
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    assert story.texts() == []
    story.say("s1", "p3", "되돌린 거 취소해", "다시 적용했습니다.", at=2000)
    assert story.core() == before
    assert turn_of(story, "p1").kind != Kind.DID_NOT_HOLD and turn_of(story, "p2").kind == Kind.DID_NOT_HOLD


def test_retired_by_a_person_stays_retired(story: Consolidating) -> None:
    [memory] = story.say("s1", "p1", DECISION, ANSWER)
    story.consolidator.retire(memory)
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    story.say("s1", "p3", "되돌린 거 취소해", "다시 적용했습니다.", at=2000)
    assert story.texts() == []


def test_rule_beside_the_work_stays(story: Consolidating) -> None:
    story.say("s1", "p1", "장바구니 버그 고쳐줘. main 에는 절대 직접 푸시하지 마.", "고쳤습니다.")
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    assert any("절대 직접 푸시하지 마" in text for text in story.texts())


def test_pinned_statement_stays(story: Consolidating) -> None:
    [memory] = story.say("s1", "p1", DECISION, ANSWER)
    story.consolidator.pin(memory, True)
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    assert story.texts() == [DECISION]


def test_order_of_arrival_does_not_matter(story: Consolidating, tmp_path: Path) -> None:
    story.say("s1", "p1", DECISION, ANSWER)
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    other = Consolidating(tmp_path / "other")
    other.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    other.say("s1", "p1", DECISION, ANSWER)
    assert turn_of(other, "p1").kind == Kind.DID_NOT_HOLD
    assert other.texts() == story.texts() == []


def test_reindex_marks_the_turns_of_an_older_version(story: Consolidating) -> None:
    story.say("s1", "p1", DECISION, ANSWER)
    story.say("s1", "p2", BACK, "되돌렸습니다.", at=1000)
    whole = turn_of(story, "p1")
    story.store.put_memories([replace(whole, kind="turn")])
    assert mark_turns(story.store, story.ingest) == 1
    assert turn_of(story, "p1").kind == Kind.DID_NOT_HOLD
    assert mark_turns(story.store, story.ingest) == 0


def test_recall_says_that_it_did_not_hold(story: Consolidating) -> None:
    prompt = "Why does the checkout throw KeyError currency for legacy carts?"
    answer = "Root cause: the currency middleware runs twice for legacy carts. Fixed in checkout.py."
    story.say("s1", "p1", prompt, answer)
    story.say("s1", "p2", "did not work, restore it", "Restored checkout.py.", at=1000)
    block = story.ask("KeyError currency in the checkout of legacy carts again, have we seen this before?").block
    assert MARK + "Root cause" in block or MARK + "Why does" in block, block


def test_start_and_summary_leave_it_out(story: Consolidating) -> None:
    story.say("s1", "p1", "Move the cart to Redis", "I moved the cart to Redis in cart/store.py and changed the tests.")
    story.say("s1", "p2", "did not work, restore it", "I restored cart/store.py to the Postgres version.", at=1000)
    story.say("s1", "p3", "Add a test for the empty cart", "I added tests/test_cart.py for the empty cart.", at=2000)
    project = turn_of(story, "p1").project_id
    summary = sum_up(story.keep, story.sessions.get("s1"), with_transcript=False)
    assert summary is not None and "to Redis" not in summary.text
    assert "to Redis" not in compose(story.store, project, WorkingSetRules())
