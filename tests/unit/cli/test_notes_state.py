"""`memlayer notes status`: why sessions wait, and sessions that had nothing to read."""

from __future__ import annotations

from typing import Any

import pytest

from memlayer.cli.verbs.curation.notes import status_rows
from memlayer.kinds import Ended
from memlayer.notes.checks import Refusal
from memlayer.notes.reading_log import Reading
from memlayer.wire.notes import ModelUse, NotesState

STATE: dict[str, Any] = {
    "is_on": True, "is_enabled": True, "is_allowed": True,
    "use": ModelUse(is_on=True, provider="claude-cli", model="haiku", reads="session", daily_tokens=200_000),
}  # fmt: skip


def test_retired_memories_are_no_refused_notes() -> None:
    ended = [
        {"text": "배포는 금요일", "ended_because": str(end)} for end in (Ended.READ_ANEW, Ended.UNTRUE, Ended.REPLACED)
    ]
    refused = [{"text": "배포는 금요일", "reason": str(reason)} for reason in (Refusal.NO_QUOTE, "기타")]
    reading = Reading("s1", refused=[*ended, *refused])
    assert (reading.refused_notes, reading.retired_notes) == (2, 3)


@pytest.mark.parametrize(
    ("changed", "name", "shown"),
    [
        ({}, "waiting", "0"),
        ({"waiting": 1}, "waiting", "1: read next, within a minute"),
        ({"waiting": 2, "reading": "8f3a12cd-aaaa"}, "waiting", "2: until that one is read"),
        ({"waiting": 2, "why": "the day's budget is spent"}, "waiting", "2: the day's budget is spent"),
        ({"why": "the model is missing"}, "waiting", "0"),  # nobody waits for it
        ({"bare": 1}, "nothing to read", "in 1 session: greetings, or turns without work"),
        ({"bare": 3, "read": 2}, "sessions read", "2"),
        ({}, "nothing to read", ""),
        ({"is_on": False, "waiting": 0}, "waiting", ""),
        ({"notes": 2, "refused_notes": 1, "retired_notes": 3}, "notes written", "2, 1 refused"),
        ({"notes": 2, "refused_notes": 1, "retired_notes": 3}, "earlier memories retired", "3"),
        ({"notes": 2}, "earlier memories retired", ""),
    ],
)
def test_a_row_tells_the_reason(changed: dict[str, Any], name: str, shown: str) -> None:
    assert dict(status_rows(NotesState(**{**STATE, **changed})))[name] == shown
