"""Two things of a kind, told of in the same words, are two; what one thing has become is told by its name."""

import pytest

from memlayer.consolidation.conflict.compare import Verdict, judge
from tests.support.tables import tables

TABLES = tables("consolidation/siblings")

SIBLINGS = TABLES["siblings"]
CHANGES = TABLES["changes"]


@pytest.mark.parametrize(("older", "newer"), SIBLINGS)
def test_another_thing_of_its_kind_replaces_nothing(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.KEEP
    assert judge(newer, older) == Verdict.KEEP


@pytest.mark.parametrize(("older", "newer"), CHANGES)
def test_another_value_of_the_same_thing_does(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.SUPERSEDE
