"""Ingest of the spool: foreign files are quarantined and block nothing."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import spool_event
from memlayer.errors import StoreError
from memlayer.model import Event
from tests.support.consolidating_in_memory import DAY_MS, Consolidating
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory


def event(number: int, **other: Any) -> dict[str, Any]:
    made = spool_event(
        kind="user", session_id="s1", prompt_id="p%d" % number, text="질문 %d" % number, at_ms=T0_MS + number,
        project_dir=PROJECT,
    )  # fmt: skip
    return {**made, **other}


def put_foreign(home: Path, data: dict[str, Any], number: int = 0) -> None:
    """A file that no hook has written, before every other."""
    (home / "spool").mkdir(parents=True, exist_ok=True)
    (home / "spool" / ("%013d-foreign.json" % number)).write_text(json.dumps(data))


def kept(memory: TurnsInMemory) -> list[str]:
    return [event.text for event in memory.store.events()]


WITHOUT_DETAIL = {name: value for name, value in event(9).items() if name != "detail"}


@pytest.mark.parametrize(
    ("foreign", "reason"),
    [
        (WITHOUT_DETAIL, "foreign: no detail"),
        (event(9, detail=["Bash"], kind="tool"), "foreign: no detail"),
        (event(9, at_ms=2**53 - 1), "foreign: no at_ms"),  # no calendar has that day
    ],
)
def test_a_foreign_file_is_set_aside(home: Path, foreign: dict[str, Any], reason: str) -> None:
    memory = TurnsInMemory(home)
    put_foreign(home, foreign)
    spool.put(str(home), event(1))
    memory.ingest.drain()
    assert kept(memory) == ["질문 1"]
    assert spool.quarantined(str(home)) == [("0000000000000-foreign.json", reason)]
    assert spool.waiting(str(home)) == []


def test_an_event_that_cannot_be_taken_in_holds_up_no_other(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = TurnsInMemory(home)

    def remember(events: Sequence[Event]) -> None:
        for event in events:
            if "9999" in event.text:
                raise ValueError(event.text)

    monkeypatch.setattr(memory.consolidator, "remember", remember)
    put_foreign(home, event(8, kind="remember", text="in the year 9999"))
    put_foreign(home, event(9, kind="remember", text="9999년에"), 1)
    for number in (1, 2):
        spool.put(str(home), event(number))
    memory.ingest.drain()
    assert set(kept(memory)) >= {"질문 1", "질문 2"}
    assert [why for _, why in spool.quarantined(str(home))] == ["cannot be taken in: ValueError"] * 2
    assert spool.waiting(str(home)) == []


@pytest.mark.parametrize("error", [StoreError("closed"), OSError(28, "No space left on device")])
def test_a_store_that_fails_sets_nothing_aside(home: Path, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = TurnsInMemory(home)

    def remember(events: Sequence[Event]) -> None:
        raise error

    monkeypatch.setattr(memory.consolidator, "remember", remember)
    spool.put(str(home), event(1))
    with pytest.raises(type(error)):
        memory.ingest.drain()
    assert len(spool.waiting(str(home))) == 1
    assert spool.quarantined(str(home)) == []


@pytest.mark.parametrize("ahead_ms", [2 * DAY_MS, 8_180_000_000_000], ids=["two days", "year 2286"])
@pytest.mark.parametrize(
    ("rule", "reversal"),
    [
        ("배포는 항상 화요일에 해.", "배포는 항상 화요일 말고 목요일에 해."),
        (
            "We decided to keep order events in Postgres.",
            "We decided to keep order events in ClickHouse instead of Postgres.",
        ),
    ],
)
def test_time_of_a_clock_that_was_ahead_is_now(home: Path, ahead_ms: int, rule: str, reversal: str) -> None:
    memory = Consolidating(home)
    memory.say("s1", "p1", rule, "OK.", at=30 * DAY_MS + ahead_ms)
    memory.now_ms += DAY_MS
    memory.say("s2", "p2", reversal, "OK.", at=memory.now_ms - T0_MS)
    assert memory.texts() == [reversal]
    assert max(row.at_ms for row in memory.core(None)) <= memory.now_ms


def test_events_of_a_clock_that_was_ahead_keep_their_order(home: Path) -> None:
    memory = TurnsInMemory(home)
    memory.ingest.take([event(10**10 - number) for number in range(5)])
    assert sorted(memory.store.events(), key=lambda row: row.at_ms) == [
        *sorted(memory.store.events(), key=lambda row: -int(row.prompt_id[1:]))
    ]
