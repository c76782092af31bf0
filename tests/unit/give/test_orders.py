"""Orders apart from opinions, on sentences of both languages."""

import json
from pathlib import Path

import pytest

from memlayer.give.standing_orders import is_order

EXAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "order_examples.jsonl").read_text("utf-8").splitlines()
]
LEAST = {"tuned": 1.0, "held out": 0.94, "held out, second": 0.94}


@pytest.mark.parametrize("part", sorted(LEAST))
@pytest.mark.parametrize("expected", [True, False])
def test_orders_and_opinions_are_told_apart(part: str, expected: bool) -> None:
    rows = [row["text"] for row in EXAMPLES if row["part"] == part and row["is_order"] is expected]
    wrong = [text for text in rows if is_order("preference", text) is not expected]
    assert len(rows) >= 20 and len(wrong) <= (1 - LEAST[part]) * len(rows), wrong


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("decision", "앞으로 브랜치는 main 에서 딴다", False),
        ("decision", "주문 이벤트는 ClickHouse 에 저장하기로 했다", False),
        ("fact", "항상 켜져 있는 서버는 a1 이다", False),
        ("preference", "", True),
    ],
)
def test_kind_counts_as_well(kind: str, text: str, expected: bool) -> None:
    assert is_order(kind, text) is expected
