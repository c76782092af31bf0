"""Arguments of operations: the same after a round trip, and checked when somebody else sends them."""

from __future__ import annotations

import json

import pytest

from memlayer.daemon.dispatch import OPERATIONS
from memlayer.edge.ipc import arguments, ops
from memlayer.errors import UserError
from memlayer.wire import transfer
from memlayer.wire.message import Asking


def read(kind, sent):
    return kind.read(sent) if issubclass(kind, Asking) else arguments.read(kind, sent)


@pytest.mark.parametrize("op", OPERATIONS)
def test_defaults_survive_the_wire(op: str) -> None:
    kind = OPERATIONS[op][0]
    assert read(kind, json.loads(json.dumps(kind().fields()))) == kind() == read(kind, {"unknown": 1})


def test_values_survive_the_wire() -> None:
    sent = ops.Forget(("a7Bc3x",), "s1", "/집", True, "전화", 17, True, True, True)
    assert read(ops.Forget, json.loads(json.dumps(sent.fields()))) == sent
    assert sent.fields()["global"] is True
    assert ops.List(with_superseded=True).fields()["all"] is True
    assert ops.Pin("a7Bc3x").fields() == {"id": "a7Bc3x", "off": False}


@pytest.mark.parametrize(
    ("kind", "sent", "message"),
    [
        (ops.Search, {"query": ["a"]}, "query: a text is expected"),
        (ops.Search, {"min_score": "0.5"}, "min_score: a number is expected"),
        (ops.Search, {"since_ms": 2**63}, "since_ms: a number is expected"),
        (ops.Search, {"min_score": float("nan")}, "min_score: a number is expected"),
        (ops.List, {"project_dir": "/a\0b"}, "project_dir: there is a null character in it"),
        (transfer.Export, {"path": 1}, r"Expected `str`, got `int` - at `\$.path`"),
        (ops.Show, {"ids": "a7Bc3x"}, "ids: a list is expected"),
        (transfer.Import, {"paths": ["/a\0b"]}, "paths: there is a null character in it"),
    ],
)
def test_wrong_value_is_named(kind: type[arguments.Arguments], sent: dict[str, object], message: str) -> None:
    with pytest.raises(UserError, match=message):
        read(kind, sent)


@pytest.mark.parametrize(("sent", "limit"), [(None, 50), (0, 50), (7, 7), (-3, 1), (10**9, arguments.MAX_LISTED)])
def test_limit_is_bounded(sent: object, limit: int) -> None:
    assert read(ops.List, {"limit": sent}).limit == limit


def test_text_can_be_written_as_utf_8() -> None:
    assert read(ops.Search, {"query": "과제 \ud800", "project_dir": "/\udcff"}) == ops.Search("과제 \ufffd", "/\udcff")


def test_arguments_are_made_of_others() -> None:
    asked = ops.Forget(query="부엉이", dry_run=True)
    changed = asked.changed(query="", ids=("a",))
    assert (changed.query, changed.ids, changed.dry_run) == ("", ("a",), True)
    assert asked.query == "부엉이" and changed == ops.Forget(ids=("a",), dry_run=True)
