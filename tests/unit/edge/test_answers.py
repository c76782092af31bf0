"""Answers of operations: of the type that is written down, and whole after the wire."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, get_type_hints

import pytest

from memlayer.daemon.dispatch import TABLE
from memlayer.edge.ipc import answers, ops, session_answers
from memlayer.model import Memory
from memlayer.records.sessions import Session

ROW = {
    "id": "m1",
    "key": "turn_1",
    "citation": "a7Bc3x",
    "category": "core",
    "kind": "decision",
    "text": "배포는 화요일에",
}


@pytest.mark.parametrize("arguments", TABLE, ids=lambda kind: kind.op)
def test_handler_takes_and_gives_the_types_of_its_operation(arguments: type[Any]) -> None:
    hints = get_type_hints(TABLE[arguments])
    assert hints["arguments"] is arguments
    assert hints["return"] == arguments.answer_type()


def test_missing_names_are_empty() -> None:
    shown = ops.Show().read_answer({"matches": [{"memory": ROW}], "unknown": None})
    assert shown["unknown"] == []
    match = shown["matches"][0]
    assert (match["memory"]["text"], match["memory"]["pinned"], match["memory"]["at_ms"]) == (
        "배포는 화요일에",
        False,
        0,
    )
    assert (match["newer"], match["events"]) == ([], [])


def test_values_of_another_type_are_empty() -> None:
    done = ops.Remember().read_answer({"memory": {**ROW, "id": 7}, "is_new": 1, "older": None})
    assert (done["memory"]["id"], done["memory"]["key"], done["is_new"], done["older"]) == ("", "turn_1", False, [])


@pytest.mark.parametrize(
    ("newer", "message"),
    [([ROW, "비밀"], "a dict of an answer is a str"), ({"비밀": 1}, "a list of an answer is a dict")],
)
def test_wrong_list_or_object_is_an_error_without_its_text(newer: object, message: str) -> None:
    with pytest.raises(TypeError, match=f"^{message}$"):
        ops.Remember().read_answer({"newer": newer})


def test_values_and_unknown_names_stay() -> None:
    candidate = {"citation": "a7Bc3x", "score": 1, "parts": {"lexical": None, "vector": 0.5}, "later": "새 값"}
    recalled = ops.Recall().read_answer({"block": "기억", "candidates": [candidate]})
    assert recalled["candidates"][0]["parts"] == {"lexical": None, "vector": 0.5}
    assert (recalled["candidates"][0]["score"], dict(recalled["candidates"][0])["later"]) == (1, "새 값")


@pytest.mark.parametrize(
    ("record", "row", "more"),
    [
        (Memory, answers.MemoryRow, {"project"}),
        (Session, session_answers.SessionRow, {"project", "turns"}),
    ],
)
def test_row_has_every_field_of_its_record(record: Any, row: Any, more: set[str]) -> None:
    assert {field.name for field in fields(record)} | more == row.__required_keys__
