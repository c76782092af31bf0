"""Replay real sessions in order through the real hooks.

And a real daemon.
"""

import shutil
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.home import Home, prompt_id, session_id
from evals.real_set import Given, Turn
from memlayer.model import citation_of, turn_memory_id
from memlayer.text.context_block import entry_lines

PROJECT = "real"


@dataclass(frozen=True)
class Played:
    """The notes of one prompt.

    block: the note's block, start: that of its session's start if it is the first.
    """

    given: Given
    block: str
    start: str


def play(turns: Sequence[Turn]) -> Iterator[Played]:
    """Play every turn in order in a throw-away home.

    Each session has its start and its end.
    """
    base = Path(tempfile.mkdtemp(prefix="memlayer-hooks-")).resolve()
    home = Home(base)
    try:
        numbers: dict[str, int] = {}
        session = start = ""
        for turn in turns:
            if turn.session != session:
                _end(home, session)
                session = turn.session
                start = _hook(home, "session_start", session, {"source": "startup"})
            yield _played(home, turn, start, numbers)
            start = ""
        _end(home, session)
    finally:
        home.client.stop(deadline_s=60)
        shutil.rmtree(base, ignore_errors=True)


def _played(home: Home, turn: Turn, start: str, numbers: dict[str, int]) -> Played:
    asked = {"prompt_id": prompt_id(str(turn.n)), "prompt": turn.prompt}
    began = time.perf_counter()
    block = _hook(home, "user_prompt_submit", turn.session, asked)
    took_ms = (time.perf_counter() - began) * 1000
    answered = {"prompt_id": asked["prompt_id"], "last_assistant_message": turn.answer}
    _hook(home, "stop", turn.session, answered)
    entries = tuple(_turns_of(line.split("]", 1)[0].rsplit(":", 1)[1], home, numbers) for line in entry_lines(block))
    numbers[citation_of(turn_memory_id(session_id(turn.session), asked["prompt_id"]))] = turn.n
    return Played(Given(turn, entries, len(block), took_ms), block, start)


def _turns_of(citation: str, home: Home, numbers: dict[str, int]) -> frozenset[int]:
    """Return the numbers of the turns behind an entry.

    Of a statement the turn that it was drawn from.
    """
    if citation in numbers:
        return frozenset((numbers[citation],))
    found = home.client.call("show", {"ids": [citation]}, deadline_s=60)["matches"]
    owners = [turn_memory_id(one["memory"]["session_id"], one["memory"]["prompt_id"]) for one in found]
    return frozenset(numbers[citation_of(owner)] for owner in owners if citation_of(owner) in numbers)


def _end(home: Home, session: str) -> None:
    if session:
        _hook(home, "session_end", session, {"reason": "other"})
        home.settle(lambda phase, done, total: None)


def _hook(home: Home, name: str, session: str, fields: dict[str, str]) -> str:
    return home.hook(name, home.folder(PROJECT), session_id(session), fields)[0]
