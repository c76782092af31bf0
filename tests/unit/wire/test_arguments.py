"""Arguments of operations: the same after a round trip, and checked when somebody else sends them."""

import json
from typing import Any

import pytest

from memlayer.daemon.dispatch import OPERATIONS
from memlayer.errors import UserError
from memlayer.wire.curation import Forget
from memlayer.wire.memories import Edit, List, Pin, Search, Show
from memlayer.wire.message import MAX_LISTED, Asking
from memlayer.wire.tools import MemDetails
from memlayer.wire.transfer import Export, Import


@pytest.mark.parametrize("op", OPERATIONS)
def test_defaults_survive_the_wire(op: str) -> None:
    kind = OPERATIONS[op][0]
    assert kind.parse(json.loads(json.dumps(kind().fields()))) == kind() == kind.parse({"unknown": 1})
    assert kind().op == op


def test_values_survive_the_wire() -> None:
    sent = Forget(("a7Bc3x",), "s1", "/집", "전화", 17, True, True, True)
    assert Forget.parse(json.loads(json.dumps(sent.fields()))) == sent
    assert List(with_superseded=True).fields()["all"] is True
    assert Pin("a7Bc3x").fields() == {"id": "a7Bc3x", "off": False}


NULL = r"Expected `str` matching regex '\\\\A\[\^\\\\0\]\*\\\\Z'"


@pytest.mark.parametrize(
    ("kind", "sent", "message"),
    [
        (Search, {"query": ["a"]}, r"Expected `str`, got `array` - at `\$\.query`"),
        (Search, {"query": {"한글": 1}}, r"Expected `str`, got `object` - at `\$\.query`"),
        (Search, {"min_score": "many"}, r"Expected `float`, got `str` - at `\$\.min_score`"),
        (Search, {"since_ms": 2**63}, r"Expected `int` <= \d+ - at `\$\.since_ms`"),
        (Search, {"since_ms": -(2**63)}, r"Expected `int` >= -\d+ - at `\$\.since_ms`"),
        (Search, {"min_score": float("nan")}, r"Expected `float` >= 0.0 - at `\$\.min_score`"),
        (Search, {"limit": float("inf")}, r"Expected `int`, got `float` - at `\$\.limit`"),
        (Search, {"limit": 0}, r"Expected `int` >= 1 - at `\$\.limit`"),
        (List, {"limit": MAX_LISTED + 1}, r"Expected `int` <= 10000 - at `\$\.limit`"),
        (List, {"project_dir": "/a\0b"}, NULL + r" - at `\$\.project_dir`"),
        (Export, {"path": 1}, r"Expected `str`, got `int` - at `\$\.path`"),
        (Show, {"ids": "a7Bc3x"}, r"Expected `array`, got `str` - at `\$\.ids`"),
        (Show, {"ids": [7]}, r"Expected `str`, got `int` - at `\$\.ids\[0\]`"),
        (Import, {"paths": ["/집\0"]}, NULL + r" - at `\$\.paths\[0\]`"),
        (Pin, {"id": 7}, r"Expected `str`, got `int` - at `\$\.id`"),
        (Pin, {"off": "배포"}, r"Expected `bool`, got `str` - at `\$\.off`"),
        (Edit, {"headline": ["a"]}, r"Expected `str \| null`, got `array` - at `\$\.headline`"),
        (Pin, [], "Expected `object`, got `array`"),
        (Pin, "배포", "Expected `object`, got `str`"),
        (Pin, None, "Expected `object`, got `null`"),
    ],
)
def test_wrong_value_is_named(kind: type[Asking[Any]], sent: object, message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}$"):
        kind.parse(sent)


@pytest.mark.parametrize(("sent", "limit"), [(None, 50), (7, 7), (7.0, 7), ("7", 7), (MAX_LISTED, MAX_LISTED)])
def test_numbers_are_read_as_json_and_addresses_have_them(sent: object, limit: int) -> None:
    assert List.parse({"limit": sent}).limit == limit


def test_null_stands_for_the_default() -> None:
    assert List.parse({"limit": None, "project_dir": None, "global": None}) == List()


def test_numbers_stand_for_a_flag() -> None:
    assert Pin.parse({"id": "a", "off": 1}).off is True
    assert MemDetails.parse({"ids": ["a7Bc3x"], "from": 12.0}) == MemDetails(("a7Bc3x",), 12)


@pytest.mark.parametrize(("sent", "text"), [(None, None), ("", ""), ("배포", "배포"), ("\ud800", "\ufffd")])
def test_empty_text_is_not_a_missing_one_where_that_differs(sent: object, text: str | None) -> None:
    assert Edit.parse({"headline": sent}).headline == text
    assert Edit.parse({}).headline is None


def test_text_can_be_written_as_utf_8() -> None:
    assert Search.parse({"query": "과제 \ud800", "project_dir": "/\udcff"}) == Search("과제 \ufffd", "/\udcff")


def test_arguments_are_made_of_others() -> None:
    asked = Forget(query="부엉이", dry_run=True)
    changed = asked.changed(query="", ids=("a",))
    assert (changed.query, changed.ids, changed.dry_run) == ("", ("a",), True)
    assert asked.query == "부엉이" and changed == Forget(ids=("a",), dry_run=True)
