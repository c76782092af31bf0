"""Answers of operations: of the struct that is written down, and whole after the wire."""

import json
from importlib import import_module
from pkgutil import iter_modules
from typing import get_type_hints

import pytest

from memlayer import wire
from memlayer.daemon.dispatch import OPERATIONS
from memlayer.errors import ProtocolError
from memlayer.kinds import Category
from memlayer.model import Memory
from memlayer.wire.memories import MemoryRow, Neighbour, Recall, Remember, Show
from memlayer.wire.message import Asking
from memlayer.wire.sessions import GivenNote, GivenPrompt
from memlayer.wire.tasks import TaskStep
from tests.support.store_rows import make_memory

MODULES = [import_module("memlayer.wire." + module.name) for module in iter_modules(wire.__path__)]
ROW = make_memory(1, "배포는 화요일에").fields()


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
    kind = arguments.answer_type()
    empty = kind.parse({"memory": ROW} if "memory" in kind.__struct_fields__ else {})
    assert arguments().read_answer(json.loads(json.dumps(empty.fields()))) == empty
    assert arguments().read_answer({**empty.fields(), "later": 1}) == empty


def test_missing_names_are_empty() -> None:
    shown = Show().read_answer({"matches": [{"memory": ROW}]})
    assert shown.unknown == []
    match = shown.matches[0]
    assert (match.memory.text, match.memory.pinned, match.memory.at_ms) == ("배포는 화요일에", False, ROW["at_ms"])
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
    memory = make_memory(1, "배포")
    near = Neighbour.of(memory, text="다른 글", mine=True)
    assert near == Neighbour(memory.key, memory.citation, memory.at_ms, "다른 글", True)


def test_names_that_python_does_not_allow_are_those_of_the_json() -> None:
    assert TaskStep(from_="pending").fields()["from"] == "pending"
    assert TaskStep.parse({"from": "대기"}).from_ == "대기"


def test_facts_that_nobody_knows_are_left_out() -> None:
    prompt = GivenPrompt(given=[GivenNote(id="m1", chance=0.0)])
    told = prompt.fields()
    assert told["given"] == [{"id": "m1", "chance": 0.0}] and told["prompt"] is None
    assert "gate" not in told and "took_ms" not in told and told["delivered"] is True


def test_an_own_list_for_each_message() -> None:
    first = Show().read_answer({})
    first.unknown.append("a")
    assert Show().read_answer({}).unknown == []


def test_row_of_an_answer_is_the_stored_one() -> None:
    memory = make_memory(1, "배포는 화요일에", category=Category.CORE)
    row = memory.as_row(MemoryRow, project="쇼핑")
    assert set(MemoryRow.__struct_fields__) - set(Memory.__struct_fields__) == {"project", "host"}
    assert row.fields() == {**memory.fields(), "project": "쇼핑", "host": ""} and row.known_kind is memory.known_kind
    later = {**row.fields(), "category": "a later one", "ended_because": "for a later reason"}
    assert Remember().read_answer({"memory": later}).memory.holds is False
