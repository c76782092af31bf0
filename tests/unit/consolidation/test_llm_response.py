"""Parsing of a language model's answer, however it is wrapped."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.consolidation.llm.response import Answer, parse

HISTORY = "결제 모듈을 포트원으로 바꾸기로 했다."
UPDATE = "- [decision] 결제 모듈은 포트원을 쓴다.\n- [fact] The API listens on port 8443."
LINES = ("[decision] 결제 모듈은 포트원을 쓴다.", "[fact] The API listens on port 8443.")
GOOD = json.dumps({"history_entry": HISTORY, "memory_update": UPDATE}, ensure_ascii=False)


@pytest.mark.parametrize(
    "said",
    [
        GOOD,
        json.dumps({"history_entry": HISTORY, "memory_update": UPDATE}),  # escaped
        "```json\n%s\n```" % GOOD,
        "Sure! Here is the JSON you asked for:\n\n%s\n\nLet me know if you need {anything} else." % GOOD,
        '<think>The user {wants} JSON like {"a": 1}.</think>\n%s' % GOOD,
        'The format is {"history_entry": "...", "memory_update": "..."}. So:\n' + GOOD,
        GOOD.replace("\\n", "\n"),  # a raw line break in a string
        json.dumps({"memory_update": list(LINES), "history_entry": [HISTORY]}, ensure_ascii=False),
        json.dumps({"historyEntry": HISTORY, "memory-update": [{"text": line} for line in LINES]}, ensure_ascii=False),
        "[%s]" % GOOD,
    ],
)
def test_the_answer_is_found(said: str) -> None:
    assert parse(said) == Answer(HISTORY, LINES)


@pytest.mark.parametrize("nothing", ["null", '""', '"null"', '"None."', '"없음"', "[]", '"- none"'])
def test_nothing_new_is_said_in_many_ways(nothing: str) -> None:
    assert parse('{"history_entry": "Ran the tests.", "memory_update": %s}' % nothing) == Answer("Ran the tests.", ())


@pytest.mark.parametrize("wrong", ["7", "true", '{"a": 1}', "[1, 2]"])
def test_a_wrong_type_says_nothing_of_that_part(wrong: str) -> None:
    assert parse('{"history_entry": "Ran the tests.", "memory_update": %s}' % wrong) == Answer("Ran the tests.", None)
    assert parse('{"history_entry": %s, "memory_update": "- One thing holds."}' % wrong) == Answer(
        None, ("One thing holds.",)
    )


@pytest.mark.parametrize(
    "useless", ["", "   ", "{}", "{", "null", "I cannot do that.", '{"answer": 1}', "[" * 5000, '{"a":' * 5000, "\x00"]
)
def test_an_answer_without_either_key_is_none(useless: str) -> None:
    assert parse(useless) is None


def test_no_cut_answer_is_taken_in_part() -> None:
    for end in range(len(GOOD)):
        assert parse(GOOD[:end]) is None


def test_a_huge_answer_is_read_in_time() -> None:
    assert parse("{" * 200_000) is None
    assert parse('{"history_entry": "' + "a" * 2_000_000) is None
    found = parse('{"history_entry": "한 줄.", "memory_update": "%s"}' % ("- Same again.\\n" * 900))
    assert found is not None and found.history == "한 줄."


@given(st.text(alphabet="{}[]\"\\:,historyentrymemoryupdate_ \n가나-'", max_size=200))
def test_no_text_breaks_it(said: str) -> None:
    parse(said)
