"""Turns that are kept as events and never recalled."""

from pathlib import Path

import pytest

from memlayer.give.recall import RecallRules
from memlayer.kinds import Kind
from memlayer.turns.salience import is_routine, is_routine_text
from memlayer.turns.turn import turn_text
from tests.support.tables import tables
from tests.support.turns_in_memory import TurnsInMemory

TABLES = tables("turns/routine")

ROUTINES = TABLES["routines"]
TAUGHT = TABLES["taught"]


@pytest.mark.parametrize(("prompt", "answer"), ROUTINES)
def test_routine_is_no_candidate(home: Path, prompt: str, answer: str) -> None:
    assert is_routine(prompt, [answer]) and is_routine_text(turn_text(prompt, [answer]))
    memory = TurnsInMemory(home)
    turn = memory.turn("s1", "p1", prompt, answer)
    assert turn.kind == Kind.ROUTINE and memory.store.stats().chunks == 0
    assert memory.store.events(session_id="s1")
    assert (
        memory.ask("why was it that the last commit and push failed again? 커밋", RecallRules(min_chance=0.0)).block
        == ""
    )


@pytest.mark.parametrize(("prompt", "answer"), TAUGHT)
def test_turn_that_teaches_stays_a_candidate(prompt: str, answer: str) -> None:
    assert not is_routine(prompt, [answer]) and not is_routine_text(turn_text(prompt, [answer]))


@pytest.mark.parametrize("text", ["", "User: ", "Assistant: ", "\n" * 1000, "커밋" * 50_000])
def test_odd_texts_are_judged(text: str) -> None:
    is_routine_text(text)
    is_routine(text, [])
