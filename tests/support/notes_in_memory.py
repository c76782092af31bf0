"""Sessions read by a scripted model, over a store in memory."""

import json
from pathlib import Path
from typing import Any

from memlayer.edge.capture.payload import clean
from memlayer.model import Memory
from memlayer.notes.answer import parse
from memlayer.notes.keeper import Kept, NoteKeeper
from memlayer.notes.session_turns import FailedCall, SessionTurn, turns_of
from memlayer.ports import MemoryQuery
from tests.support.consolidating_in_memory import Consolidating


def turn(
    number: int, prompt: str, answer: str = "", *, files: tuple[str, ...] = (), errors: tuple[str, ...] = ()
) -> SessionTurn:
    """Return a turn of a session, redacted as the product does it."""
    failures = tuple(FailedCall("make test", error) for error in errors)
    return SessionTurn(
        number, "p%d" % number, clean(prompt), clean(answer), files, failures, ("event-%d" % number,), number
    )


class Noting(Consolidating):
    """A project whose sessions a model has read."""

    def __init__(self, home: Path) -> None:
        super().__init__(home)
        self.keeper = NoteKeeper(self.keep, self.tasks)

    def tell(self, session: str, *turns: tuple[str, str]) -> list[SessionTurn]:
        """Take in a session's turns; return them as the model reads them."""
        for number, (prompt, answer) in enumerate(turns):
            self.say(session, "%s-%d" % (session, number), prompt, answer, at=number)
        return self.turns_of(session)

    def turns_of(self, session: str) -> list[SessionTurn]:
        """Return a session's turns as the model reads them."""
        return turns_of(self.store.events(session_id=session), "")

    def answer(self, session: str, turns: list[SessionTurn], value: dict[str, Any] | str) -> Kept | None:
        """Apply a model's answer as the daemon does; None for no JSON."""
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parsed = parse(text)
        known = self.sessions.get(session)
        assert known is not None
        return None if parsed is None else self.keeper.keep(known, turns, parsed)

    def everything(self) -> set[tuple[str, str, str]]:
        """Return (id, text, ended_because) of every memory."""
        rows: list[Memory] = self.store.memories(MemoryQuery(limit=10_000))
        return {(row.id, row.text, row.ended_because) for row in rows}
