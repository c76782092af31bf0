"""`memlayer notes status`: why sessions wait, and sessions that had nothing to read."""

from typing import Any

import pytest

from memlayer.cli.verbs.curation.notes import status_rows
from memlayer.kinds import Ended
from memlayer.notes.checks import Refusal
from memlayer.notes.reading_log import Reading
from memlayer.wire.notes import ModelUse, NotesState
from tests.support.tables import tables

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


@pytest.mark.parametrize(("changed", "name", "shown"), tables("cli/notes_state")["a_row_tells_the_reason"])
def test_a_row_tells_the_reason(changed: dict[str, Any], name: str, shown: str) -> None:
    assert dict(status_rows(NotesState(**{**STATE, **changed})))[name] == shown
