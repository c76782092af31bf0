"""Which task a sentence closes: pairs that look alike, and true closings (27.7)."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.tasks.decision import decided
from memlayer.tasks.events import TaskEvent
from memlayer.tasks.matcher import GAP, STRICT, Match, decide, match, score
from memlayer.tasks.sentences import observed
from memlayer.tasks.states import By, Op, Status, Task

DATA = Path(__file__).parents[2] / "data" / "tasks"


def rows(name: str) -> list[tuple[str, str]]:
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [(row.split("\t")[0], row.split("\t")[1]) for row in lines if row and not row.startswith("#")]


LOOK_ALIKES, CLOSINGS = rows("look_alikes.tsv"), rows("closings.tsv")


def task(title: str, number: int = 0, status: Status = Status.PENDING) -> Task:
    return Task("t%d" % number, "p", (title,), status)


def closes(title: str, sentence: str) -> bool:
    """Whether a sentence of a prompt closes the only open task."""
    made = decided(TaskEvent(By.RULES, tuple(observed(sentence))), [task(title)], "p", "s", "e")
    return any(step.op is Op.STATUS and step.to == Status.DONE for step in made.steps)


@pytest.mark.parametrize(("title", "sentence"), LOOK_ALIKES)
def test_what_looks_alike_closes_nothing(title: str, sentence: str) -> None:
    assert not closes(title, sentence)


def test_sixty_pairs_and_forty_closings() -> None:
    assert (len(LOOK_ALIKES), len(CLOSINGS)) == (60, 40)
    missed = [pair for pair in CLOSINGS if not closes(*pair)]
    assert len(missed) <= 8, missed


@pytest.mark.parametrize(("title", "sentence"), LOOK_ALIKES)
def test_the_title_of_a_pair_never_means_the_other(title: str, sentence: str) -> None:
    """With both open, the sentence closes its own or asks, and never this one."""
    for row in observed(sentence):
        found = match(row.title, [task(title, 1), task(row.title, 2)])
        assert found.sure is None or found.sure.id == "t2"


@pytest.mark.parametrize(
    ("words", "title", "expected"),
    [
        ("로그인 테스트 추가", "로그인 테스트 추가", 1.0),
        ("the login-test", "Login test", 0.97),
        ("migration guide", "Write the migration guide", 0.92),
        ("migration", "Write the migration guide", 0.9),
        ("배포", "로그인 테스트 추가", 0.0),
    ],
)
def test_scores(words: str, title: str, expected: float) -> None:
    assert score(words, task(title)) == expected


def test_an_earlier_title_counts_as_an_alias() -> None:
    renamed = Task("t", "p", ("Write the guide", "Write the manual"))
    assert score("Write the guide", renamed) == 0.98


def test_the_gap_decides_between_two() -> None:
    first, second = task("a", 1), task("b", 2)
    assert decide([Match(first, STRICT + GAP), Match(second, STRICT)]).sure is first
    assert decide([Match(first, STRICT + GAP - 0.001), Match(second, STRICT)]).sure is None
    assert decide([Match(first, STRICT - 0.001)]).sure is None
    assert decide([Match(task("n", n), 0.9) for n in range(9)]).candidates == tuple(task("n", n) for n in range(5))


def test_closed_tasks_are_no_candidates() -> None:
    assert match("guide", [task("Write the guide", 1, Status.DONE)]).candidates == ()
