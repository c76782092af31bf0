"""Numbers with their nouns and verbs: one or many."""

import pytest

from memlayer.edge.counting import counted

ONE_AND_MANY = {
    ("memory", "stay"): ("1 memory stays", "3 memories stay"),
    ("row", "wait"): ("1 row waits", "3 rows wait"),
    ("event", "have"): ("1 event has", "3 events have"),
    ("row", "are saved"): ("1 row is saved", "3 rows are saved"),
    ("", "were"): ("1 was", "3 were"),
    ("", "stand"): ("1 stands", "3 stand"),
    ("day", ""): ("1 day", "3 days"),
    ("key", ""): ("1 key", "3 keys"),
    ("forgotten row", ""): ("1 forgotten row", "3 forgotten rows"),
    ("memory", "match"): ("1 memory matches", "3 memories match"),
    ("entry", "fit"): ("1 entry fits", "3 entries fit"),
}


@pytest.mark.parametrize(("words", "expected"), ONE_AND_MANY.items())
def test_one_and_many(words: tuple[str, str], expected: tuple[str, str]) -> None:
    assert (counted(1, *words), counted(3, *words)) == expected


def test_none_and_thousands() -> None:
    assert counted(0, "note", "wait") == "0 notes wait"
    assert counted(None, "note") == "0 notes"
    assert counted(12_345, "memory") == "12,345 memories"
