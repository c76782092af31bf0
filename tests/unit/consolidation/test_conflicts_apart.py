"""Statements that have nothing to do with each other are kept apart, whatever words they share."""

from itertools import combinations

import pytest

from evals.consolidation import rows
from memlayer.consolidation.conflict.compare import Verdict, judge
from tests.support.tables import tables


def test_hardly_any_two_statements_of_different_turns_are_taken_for_the_same_matter() -> None:
    statements = [(row["id"], label["text"]) for row in rows("turns.jsonl", "all") for label in row["keep"]][:240]
    pairs = [(one, other) for (turn, one), (later, other) in combinations(statements, 2) if turn != later]
    taken = [pair for pair in pairs if judge(*pair) != Verdict.KEEP]
    assert len(pairs) > 20_000
    assert len(taken) <= 0.0005 * len(pairs), taken


@pytest.mark.parametrize(
    ("older", "newer"),
    tables("consolidation/conflicts_apart")["one_word_in_common_is_no_change"],
)  # fmt: skip
def test_one_word_in_common_is_no_change(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.KEEP


def test_a_merge_loses_no_value() -> None:
    older = "we got the green light for the second warehouse, it goes by WH2 everywhere, ids start at 20000"
    newer = "May 4 is the go-live for WH2, everything on the board with the label wh2 has to be done by then"
    assert judge(older, newer) == Verdict.KEEP
    assert judge("The API port is 8080.", "the API port is 8080, please") == Verdict.MERGE
