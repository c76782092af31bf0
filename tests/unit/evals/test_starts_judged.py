"""Judged lines of starts are counted by kind and source turn."""

from __future__ import annotations

from typing import Any

from evals.starts_judged import counted


def row(turn: int, lines: list[list[Any]], *, is_due: bool) -> dict[str, Any]:
    facts = [{"fact": "정산은 test-shop-2에서만"}] if is_due else []
    return {"turn": turn, "start_lines": lines[:1], "first_lines": lines[1:], "facts": facts, "needs": []}


def test_lines_are_counted_with_those_without_a_label() -> None:
    rows = [
        row(10, [["preference", 3], ["decision", 3], ["turn", 9]], is_due=True),
        row(20, [["preference", 3]], is_due=True),
        row(30, [["preference", 3]], is_due=False),
        row(40, [["preference", 3]], is_due=True),
    ]
    labels = {
        "10": {"preference": {"3": 0}, "decision": {"3": 1}},
        "20": {"preference": {"3": -1}},
        "30": {"preference": {"3": 0}},
    }
    figures = counted(rows, labels)
    assert (figures["sessions judged"], figures["lines judged"], figures["lines without a label"]) == (3, 4, 1)
    assert (figures["useful, %"], figures["true background, %"], figures["misleading, %"]) == (25, 50, 25)
    assert (figures["sessions that had something due"], figures["of them with a useful line"]) == (2, 1)
