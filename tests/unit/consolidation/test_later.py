"""A person's later words end older ones, and leave others alone."""

from collections.abc import Iterable, Mapping

import pytest

from memlayer.consolidation.conflict.later import Changes
from memlayer.text.sentences import sentences
from tests.support.tables import tables

TABLES = tables("consolidation/later")


def alike(terms: Iterable[str]) -> Mapping[str, float]:
    return dict.fromkeys(terms, 2.0)


def ended(older: str, newer: str, answer: str = "") -> list[str]:
    """The sentences of the older prompt that hold no more."""
    changes = Changes(alike)
    changes.add(newer, 2, answer)
    said = (older[span.start : span.end] for span in sentences(older))
    return [text for text in said if changes.ended(text, "User: " + older, 1)]


@pytest.mark.parametrize(("older", "newer"), TABLES["a_named_end_or_another_value_of_the_thing"])
def test_a_named_end_or_another_value_of_the_thing(older: str, newer: str) -> None:
    assert ended(older, newer) == [older]


@pytest.mark.parametrize(
    ("older", "newer"),
    TABLES["a_bound_that_came_and_work_that_is_done"],
)  # fmt: skip
def test_a_bound_that_came_and_work_that_is_done(older: str, newer: str) -> None:
    assert ended(older, newer) == [older]


@pytest.mark.parametrize(("older", "newer"), TABLES["a_state_that_is_lifted_left_or_switched"])
def test_a_state_that_is_lifted_left_or_switched(older: str, newer: str) -> None:
    assert ended(older, newer) == [older]


@pytest.mark.parametrize(("older", "newer"), TABLES["what_holds_for_once_failed_or_is_another_thing"])
def test_what_holds_for_once_failed_or_is_another_thing(older: str, newer: str) -> None:
    assert ended(older, newer) == []


@pytest.mark.parametrize(("wish", "newer", "is_allowed"), TABLES["a_part_of_a_wish_is_allowed"])
def test_a_part_of_a_wish_is_allowed(wish: str, newer: str, is_allowed: bool) -> None:
    changes = Changes(alike)
    changes.add(newer, 2)
    assert changes.loosened(wish, 1) == (2 if is_allowed else 0)


@pytest.mark.parametrize(("older", "newer"), TABLES["another_thing_and_what_is_undecided_end_nothing"])
def test_another_thing_and_what_is_undecided_end_nothing(older: str, newer: str) -> None:
    assert ended(older, newer) == []


@pytest.mark.parametrize(
    ("older", "newer"),
    TABLES["the_same_change_said_again_ends_nothing"],
)  # fmt: skip
def test_the_same_change_said_again_ends_nothing(older: str, newer: str) -> None:
    assert ended(older, newer) == []


@pytest.mark.parametrize(
    ("older", "newer", "holds"),
    TABLES["the_new_value_said_before_its_change_holds"],
)  # fmt: skip
def test_the_new_value_said_before_its_change_holds(older: str, newer: str, holds: bool) -> None:
    assert (ended(older, newer) == []) is holds


def test_what_stands_beside_it_holds() -> None:
    older = "03:30 에 cron 으로 sync 돌려. retry 는 3번까지만 해, 더 하면 call 제한 까먹으니까."
    assert ended(older, "sync 는 05:10 으로 옮기자") == [older.split(". ")[0] + "."]


def test_an_answer_tells_what_its_prompt_changed() -> None:
    older, reported = "`ops/crontab`: `30 3 * * * sync`", "`ops/crontab` 을 `10 5 * * * sync` 로 바꿨습니다."
    assert ended(older, "sync 는 05:10 으로 옮기자", reported) == [older]
    assert ended(older, "thanks", reported) == []


def test_a_pasted_text_changes_nothing() -> None:
    pasted = "look at this review:\n\n> The gateway port changed to 7443.\n\n- port is 7443 now\n- retry moved"
    assert ended("the gateway listens on port 7001", pasted) == []


def test_a_matter_that_is_spoken_of_again() -> None:
    changes = Changes(alike)
    changes.add("JSONB 로는 통계 join 이 지저분해. allergens 컬럼은 없애고 테이블로 바꾸자", 5)
    assert changes.changed("JSONB 컬럼 allergens, 코드 숫자 배열", 1) == 5
    assert changes.changed("배포는 목요일에만 한다", 1) == changes.changed("JSONB 컬럼 allergens", 9) == 0


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("deploys of the api need an approval of Kim", "the api deploys moved to Fridays"),
        ("장바구니는 14일 보관하기로 했어", "장바구니 보관 화면 이름을 바꿨어"),
    ],
)
def test_a_change_in_its_own_sentence_points_at_the_matter(older: str, newer: str) -> None:
    changes = Changes(alike)
    changes.add(newer, 2)
    assert changes.changed(older, 1) and not changes.ended(older, older, 1)
