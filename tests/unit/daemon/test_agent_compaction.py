"""Constraints of a compacted talk: the person's own words, as far as they hold."""

from memlayer.daemon.ops.agent_turns import session_constraints
from memlayer.kinds import Ended
from memlayer.model import Event, replace
from tests.support.memory_store import MemoryStore
from tests.unit.give.test_standing_orders import order


def prompt(number: int, text: str, detail: str = "") -> Event:
    """The prompt that a memory of this number comes from."""
    return Event("e%d" % number, "user", "s1", "p1", "q%d" % number, text, 1_000 + number, detail=detail)


def test_constraints_are_statements_and_rules_of_prompts() -> None:
    store = MemoryStore()
    said = [
        "절대 main 브랜치에 직접 푸시하지 마. 그리고 README도 봐줘",
        "앞으로 답은 한국어로 해줘",
        "항상 그렇게 하나요?",
        "로그 좀 봐줘",
        "/memory 항상 켜줘",
    ]
    store.add_events([prompt(number, text, "command" if text[0] == "/" else "") for number, text in enumerate(said)])
    store.put_memories([order(1, "앞으로 답은 한국어로 해줘"), order(9, "배포는 화요일로 결정했다", kind="decision")])
    found = session_constraints(store, "s1")
    assert found == ["절대 main 브랜치에 직접 푸시하지 마.", "앞으로 답은 한국어로 해줘", "배포는 화요일로 결정했다"]
    assert session_constraints(store, "s1", ["m1"]) == [found[0], found[2]]
    assert session_constraints(store, "s2") == []


def test_constraint_that_holds_no_more_stays_out() -> None:
    store = MemoryStore()
    store.add_events([prompt(1, "배포는 화요일에 하기로 했어"), prompt(2, "배포는 수요일에 하기로 했어")])
    gone = replace(
        order(1, "배포는 화요일에 하기로 했어", kind="decision"),
        superseded_by="m2",
        ended_because=Ended.REPLACED,
        ended_ms=5,
    )
    store.put_memories([gone, order(2, "배포는 수요일에 하기로 했어", kind="decision")])
    assert session_constraints(store, "s1") == ["배포는 수요일에 하기로 했어"]


def test_newest_constraints_fit() -> None:
    store = MemoryStore()
    store.add_events([prompt(number, "항상 %d번 규칙을 지켜줘 %s" % (number, "가" * 200)) for number in range(40)])
    found = session_constraints(store, "s1")
    assert sum(map(len, found)) < 4_000 and found[-1].startswith("항상 39번") and len(found) > 15
