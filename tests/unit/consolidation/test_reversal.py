"""A later sentence that takes a decision or a wish back ends it; one on another thing does not."""

from pathlib import Path

import pytest

from memlayer.consolidation.conflict.reversal import reverses
from memlayer.kinds import Ended
from memlayer.model import Memory
from tests.support.tables import tables
from tests.unit.consolidation.test_keep_new import Batches

TABLES = tables("consolidation/reversal")

TAKEN_BACK = TABLES["taken_back"]
STANDING = TABLES["standing"]


def told(home: Path, *prompts: str) -> list[Memory]:
    """Core memories, oldest first."""
    memory = Batches(home, is_at_once=True)
    memory.tell([[(prompt, "Done.")] for prompt in prompts])
    return sorted(memory.core(None), key=lambda row: row.at_ms)


@pytest.mark.parametrize(("older", "newer"), TAKEN_BACK)
def test_what_the_person_takes_back_holds_no_more(tmp_path: Path, older: str, newer: str) -> None:
    before, after = told(tmp_path, older, newer)
    assert (before.ended_because, after.ended_because) == (Ended.REPLACED, Ended.NOT)
    assert before.superseded_by == after.id


@pytest.mark.parametrize(("older", "newer"), STANDING)
def test_words_on_another_thing_end_nothing(tmp_path: Path, older: str, newer: str) -> None:
    assert not reverses(older, newer)
    assert all(row.holds for row in told(tmp_path, older, newer))


@pytest.mark.parametrize("newer", ["아니다, ClickHouse 말고 Postgres로", "Redis는 빼자.", "scrap the old banner"])
def test_words_that_drop_nothing_of_before_are_no_memory(tmp_path: Path, newer: str) -> None:
    assert told(tmp_path, "배포는 항상 화요일에 해.", newer)[1:] == []


def test_of_two_decisions_with_the_value_none_ends(tmp_path: Path) -> None:
    rows = told(
        tmp_path, "이벤트는 Mongo에 저장하기로 했다.", "세션은 Mongo에 두기로 결정했다.", "Mongo 말고 Postgres로 가자"
    )
    assert [row.holds for row in rows] == [True, True, True]
