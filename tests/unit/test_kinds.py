"""The table of kinds: complete, stored as ever, repeated by the edge without a change."""

import re
from pathlib import Path

import pytest

from memlayer.daemon.resources.notes_offer import BY_SESSION_LINE
from memlayer.edge.mcp import BY_NAME, NOTE_KINDS
from memlayer.give.candidate import Reason
from memlayer.kinds import (
    BINDING,
    CATEGORIES,
    KINDS,
    NOTED,
    STORIES,
    Author,
    Category,
    Ended,
    Kind,
    category_named,
    kind_of,
)
from memlayer.model import memory_key, replace
from memlayer.notes.request import system_prompt
from memlayer.topics.session_summary import PARTS
from tests.support.store_rows import make_memory


def test_each_category_and_kind_has_a_row() -> None:
    assert set(CATEGORIES) == set(Category)
    assert set(KINDS) == set(Kind)


def test_stored_values_never_change() -> None:
    """A home of any version holds these."""
    assert list(Category) == ["core", "daily", "conversation", "custom"]
    assert set(Kind) >= {
        "turn", "open_question", "routine", "decision", "preference", "fact", "cause", "commitment", "entry",
        "session_summary", "compaction", "note",
    }  # fmt: skip


def test_whoever_writes_or_reads_notes_is_told_of_each_kind() -> None:
    """`ways` of the reader's prompt are preferences, and have a list of their own."""
    assert set(NOTE_KINDS) == set(NOTED)
    [asked] = re.findall(r'"kind": "([a-z_|]+)"', system_prompt())
    ranked = re.findall(r"^\d\. ([a-z_]+)", system_prompt(), re.MULTILINE)
    assert set(asked.split("|")) == set(ranked) == set(NOTED) - {Kind.PREFERENCE}
    assert all(kind in BY_SESSION_LINE for kind in STORIES)  # a tool's output proves them
    page = (Path(__file__).parents[2] / "docs" / "notes.md").read_text(encoding="utf-8")
    [listed] = re.findall(r"A note is one sentence with a kind: ([^.]+)\.", page)
    assert set(re.sub(r"\([^)]*\)", "", listed).replace(" ", "").split(",")) == set(NOTED)


def test_words_of_a_row_are_those_of_the_rooms_that_use_them() -> None:
    rows = KINDS.values()
    assert {row.withheld for row in rows} - {""} <= {reason.value for reason in Reason}
    assert {row.part for row in rows} - {""} <= {*PARTS}


def test_edge_repeats_the_names_of_categories() -> None:
    offered = BY_NAME["mem-search"]["inputSchema"]["properties"]["kind"]["enum"]
    assert offered == [*(row.name for row in CATEGORIES.values()), Kind.TASK]
    assert [category_named(name) for name in offered] == [*CATEGORIES, None]
    assert category_named("결정") is None


def test_headings_of_both_languages_mean_one_kind() -> None:
    words = [word for row in KINDS.values() for word in (row.heading, *row.korean) if word]
    assert len(words) == len(set(words))
    assert all(KINDS[kind].heading and KINDS[kind].korean for kind in NOTED)


def test_kinds_that_bind_last() -> None:
    assert set(BINDING) == {Kind.PREFERENCE, Kind.DECISION} < set(NOTED)


def test_kinds_that_are_searched_are_given_but_for_some() -> None:
    assert [kind for kind, row in KINDS.items() if bool(row.withheld) == row.searched] == [
        Kind.OPEN_QUESTION, Kind.REWOUND, Kind.RUN,
        Kind.SESSION_SUMMARY, Kind.COMPACTION, Kind.TOPIC,  # no prompt sees these
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("category", "stored", "kind", "place"),
    [
        (Category.CORE, "decision", Kind.DECISION, ""),
        (Category.CORE, "", Kind.NOTE, ""),
        (Category.CORE, "blocker", Kind.NOTE, ""),
        (Category.CONVERSATION, "of a later version", Kind.TURN, ""),
        (Category.DAILY, "", Kind.ENTRY, ""),
        (Category.CUSTOM, "note", Kind.NOTE, ""),
        (Category.CUSTOM, "docs/배포.md:12-30", Kind.PIECE, "docs/배포.md:12-30"),
    ],
)
def test_a_stored_kind_is_known(category: Category, stored: str, kind: Kind, place: str) -> None:
    memory = replace(make_memory(1, category=category), kind=stored)
    assert kind_of(category, stored) is kind
    assert (memory.known_kind, memory.place, memory.kind) == (kind, place, stored)


def test_category_of_another_version_is_kept_as_a_note() -> None:
    assert Category("daily") is Category.DAILY
    assert Category("episode") is Category.CUSTOM
    assert Author("a later one") is Author.UNCLEAR and Ended("for a later reason") is Ended.LET_GO


def test_keys_begin_with_the_category() -> None:
    noon = 1_795_000_000_000
    keys = [memory_key(category, "81d2ffff", noon) for category in CATEGORIES]
    assert keys[1] == "core_81d2"
    assert keys[0].startswith("turn_2026-11-1") and keys[0].endswith("_81d2")
    assert [key.partition("_")[0] for key in keys] == ["turn", "core", "daily", "custom"]
