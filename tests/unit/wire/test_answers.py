"""Answers of operations: of the struct that is written down, and whole after the wire."""

from __future__ import annotations

import json
from dataclasses import fields
from typing import Any, get_type_hints

import pytest

from memlayer.daemon.dispatch import OPERATIONS
from memlayer.errors import ProtocolError
from memlayer.model import Memory
from memlayer.wire import curation, memories, notes, record, sessions, sharing, tasks, tools, transfer, upkeep
from memlayer.wire.memories import MemoryRow, Neighbour, Recall, Remember, Show
from memlayer.wire.message import Asking
from memlayer.wire.sessions import GivenNote, GivenPrompt, SessionRow
from memlayer.wire.tasks import TaskStep

MODULES = (curation, memories, notes, record, sessions, sharing, tasks, tools, transfer, upkeep)
ROW = {
    "id": "m1",
    "key": "turn_1",
    "citation": "a7Bc3x",
    "category": "core",
    "kind": "decision",
    "text": "배포는 화요일에",
}


@pytest.mark.parametrize("op", OPERATIONS)
def test_handler_gives_the_answer_of_its_operation(op: str) -> None:
    arguments, handler = OPERATIONS[op]
    assert get_type_hints(handler)["return"] is arguments.answer_type()


def test_every_operation_has_a_handler() -> None:
    kinds = {kind for module in MODULES for kind in vars(module).values() if isinstance(kind, type)}
    asked = {kind for kind in kinds if issubclass(kind, Asking) and kind is not Asking}
    assert asked == {kind for kind, _ in OPERATIONS.values()} and len(asked) > 60


@pytest.mark.parametrize("op", OPERATIONS)
def test_an_empty_answer_survives_the_wire(op: str) -> None:
    arguments = OPERATIONS[op][0]
    empty = arguments.answer_type()()
    assert arguments().read_answer(json.loads(json.dumps(empty.fields()))) == empty
    assert arguments().read_answer({"later": 1}) == empty


def test_missing_names_are_empty() -> None:
    shown = Show().read_answer({"matches": [{"memory": ROW}]})
    assert shown.unknown == []
    match = shown.matches[0]
    assert (match.memory.text, match.memory.pinned, match.memory.at_ms) == ("배포는 화요일에", False, 0)
    assert (match.newer, match.events, match.growth) == ([], [], {})


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"newer": [ROW, "비밀"]}, r"Expected `object`, got `str` - at `$.newer[1]`"),
        ({"newer": {"비밀": 1}}, r"Expected `array`, got `object` - at `$.newer`"),
        ({"memory": {**ROW, "id": 7}}, r"Expected `str`, got `int` - at `$.memory.id`"),
        ({"is_new": 1}, r"Expected `bool`, got `int` - at `$.is_new`"),
        ([], r"Expected `object`, got `array`"),
    ],
)
def test_wrong_value_is_an_error_without_its_text(sent: object, message: str) -> None:
    with pytest.raises(ProtocolError) as bad:
        Remember().read_answer(sent)
    assert str(bad.value).endswith(": " + message) and "비밀" not in str(bad.value)


def test_values_stay_and_unknown_names_go() -> None:
    candidate = {"citation": "a7Bc3x", "score": 1, "parts": {"lexical": None, "vector": 0.5}, "later": "새 값"}
    recalled = Recall().read_answer({"block": "기억", "candidates": [candidate]})
    assert recalled.candidates[0].parts == {"lexical": None, "vector": 0.5}
    assert recalled.candidates[0].score == 1 and "later" not in recalled.candidates[0].fields()


def test_message_of_a_record_has_its_fields_and_the_given_ones() -> None:
    row = MemoryRow(key="turn_1", text="배포", citation="a7Bc3x")
    near = Neighbour.of(row, text="다른 글", mine=True)
    assert near == Neighbour("turn_1", "a7Bc3x", 0, "다른 글", True)
    with pytest.raises(AttributeError):
        SessionRow.of(row)


def test_names_that_python_does_not_allow_are_those_of_the_json() -> None:
    assert TaskStep(from_="pending").fields()["from"] == "pending"
    assert TaskStep.parse({"from": "대기"}).from_ == "대기"


def test_facts_that_nobody_knows_are_left_out() -> None:
    prompt = GivenPrompt(given=[GivenNote(id="m1", chance=0.0)])
    told = prompt.fields()
    assert told["given"] == [{"id": "m1", "chance": 0.0}] and told["prompt"] is None
    assert "gate" not in told and "took_ms" not in told and told["delivered"] is False


def test_an_own_list_for_each_message() -> None:
    first = Show().read_answer({})
    first.unknown.append("a")
    assert Show().read_answer({}).unknown == []


@pytest.mark.parametrize(
    ("record", "row", "more"),
    [
        (Memory, MemoryRow, {"project"}),
    ],
)
def test_row_has_every_field_of_its_record(record: Any, row: Any, more: set[str]) -> None:
    assert {field.name for field in fields(record)} | more == set(row.__struct_fields__)
