"""A task event with a row that cannot be read keeps the others."""

import json
from typing import Any

import pytest

from memlayer.edge.capture.payload import clean
from memlayer.edge.capture.task_use import task_text
from memlayer.model import Event
from memlayer.tasks.events import content_of

GOOD = [{"wish": "created", "title": "결제 오류 고치기"}, {"wish": "done", "title": "write the release notes"}]
BAD: list[Any] = [
    {"wish": 7, "title": "x"}, {"title": "no wish"}, {"wish": "done", "title": ["x"]}, None, 7, "done", [], {},
    {"wish": "done", "sources": 3}, {"wish": "done", "is_exact": "yes"}, {"wish": "done", "title": "\ud800"},
    {"wish": "done", "blockers": [["#1"]]},
]  # fmt: skip


def read(**content: Any) -> Any:
    return content_of(Event("e1", "task", "s1", "p1", "t1", json.dumps({"by": "host", **content}), 1))


@pytest.mark.parametrize("bad", BAD, ids=repr)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_other_rows_count(bad: Any, at: int) -> None:
    rows = [*GOOD[:at], bad, *GOOD[at:]]
    content = read(observed=rows, answers="q1")
    assert [one.title for one in content.observed] == [one["title"] for one in GOOD]
    assert (content.by.value, content.answers) == ("host", "q1")


@pytest.mark.parametrize(
    "odd", [{"answers": 7}, {"questions": "x"}, {"steps": {"a": 1}}, {"refused": [7]}, {"takes_back": None}], ids=repr
)
def test_other_fields_count(odd: dict[str, Any]) -> None:
    assert [one.title for one in read(observed=GOOD, **odd).observed] == [one["title"] for one in GOOD]


@pytest.mark.parametrize(
    "text", ["", "[", "7", "null", "[]", '{"by": "nobody"}', '{"by": 7, "observed": 7}', "[" * 5000]
)
def test_event_without_a_readable_row_says_nothing(text: str) -> None:
    content = content_of(Event("e1", "task", "s1", "p1", "t1", text, 1))
    assert content.observed == content.steps == ()


@pytest.mark.parametrize("title", ["u\x8b", "\u200b배포", "결제\x07", "fix it\u202e", "a\x85b"])
def test_title_in_the_json_stays_as_it_is_when_cleaned_again(title: str) -> None:
    text = task_text("task_created", {"task_id": "1", "task_subject": title}, clean)
    assert clean(text) == text and any(char.isalnum() for char in json.loads(text)["observed"][0]["title"])
