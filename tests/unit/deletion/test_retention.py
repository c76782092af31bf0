"""Due times of retention: daily, never by a clock far ahead."""

import os
from pathlib import Path

import pytest

from memlayer.deletion.erase import Erasure
from memlayer.deletion.forget import DAY_MS, Retention, RetentionRules
from memlayer.notes.reading_log import ReadingLog
from memlayer.records.tombstones import Tombstones
from tests.support.turns_in_memory import T0_MS, TurnsInMemory

HOUR_MS = DAY_MS // 24
RULES = RetentionRules(conversation_days=30)


class Aging(TurnsInMemory):
    """A home with a turn of T0_MS."""

    def __init__(self, home: Path) -> None:
        home.mkdir()
        super().__init__(home)
        self.home = home
        self.turn("s1", "p1", "배포는 언제 하지?", "화요일에 합니다.")
        erasure = Erasure(str(home), self.sessions, ReadingLog(str(home)), self.tasks)
        self.retention = Retention(str(home), self.store, erasure, Tombstones(str(home)))

    def is_due(self, at: int) -> bool:
        return self.retention.is_due(RULES, (T0_MS + at) / 1000)

    def stamp(self, at: int) -> None:
        self.retention.done((T0_MS + at) / 1000)


def test_retention_is_due_once_a_day(home: Path) -> None:
    aging = Aging(home)
    assert aging.is_due(2 * HOUR_MS)
    assert not aging.retention.is_due(RetentionRules(), (T0_MS + 2 * HOUR_MS) / 1000)
    aging.stamp(2 * HOUR_MS)
    assert not aging.is_due(3 * HOUR_MS)
    assert aging.is_due(2 * HOUR_MS + DAY_MS)


def test_clock_far_ahead_makes_nothing_due(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    aging = Aging(home)
    ahead = 400 * DAY_MS
    assert not aging.is_due(ahead)
    aging.stamp(DAY_MS)
    assert not aging.is_due(ahead)
    # A time by it counts once the clock has stood for an hour: nobody has set it right.
    monkeypatch.setattr(aging.consolidator, "now_ms", lambda: T0_MS + ahead)
    aging.turn("s1", "p2", "What time is it?", "Late.", at=ahead)
    assert not aging.is_due(ahead + HOUR_MS // 2)
    assert aging.is_due(ahead + 2 * HOUR_MS)
    # A stamp of a clock that was ahead does not keep the right one from being believed.
    os.utime(home / "gc.stamp", ((T0_MS + ahead) / 1000, (T0_MS + ahead) / 1000))
    assert aging.is_due(2 * DAY_MS)


def test_run_by_fast_clock_blocks_nothing(home: Path) -> None:
    home.mkdir()
    now_ms = T0_MS
    tombstones = Tombstones(str(home), lambda: now_ms)
    ahead_ms = T0_MS + 400 * DAY_MS
    tombstones.record_retention("conversation", ahead_ms - 30 * DAY_MS, ahead_ms)
    said = {
        "id": "x", "source": "transcript", "kind": "user", "session_id": "s", "prompt_id": "p", "text": "새로 한 말",
        "at_ms": T0_MS + DAY_MS,
    }  # fmt: skip
    for known in (tombstones, Tombstones(str(home), lambda: now_ms)):
        assert not known.covers(said) and known.deleted_by_age_ms(T0_MS) == 0
    # The right clock's own run is noted beside it.
    tombstones.record_retention("conversation", T0_MS - 30 * DAY_MS, T0_MS)
    for known in (tombstones, Tombstones(str(home), lambda: now_ms)):
        assert known.covers({**said, "at_ms": T0_MS - 31 * DAY_MS}) and not known.covers(said)
        assert known.deleted_by_age_ms(T0_MS - 31 * DAY_MS) == T0_MS
    now_ms = ahead_ms
    assert tombstones.covers(said)
