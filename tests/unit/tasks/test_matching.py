"""Which task words close: pairs that look alike, and true closings (27.7)."""

from pathlib import Path

import pytest

from memlayer.tasks.book import observed
from memlayer.tasks.decision import decided
from memlayer.tasks.events import Observation, TaskEvent
from memlayer.tasks.matcher import GAP, STRICT, Match, match, score, sure_match
from memlayer.tasks.states import By, Op, Status, Task
from tests.support.tables import tables

DATA = Path(__file__).parents[2] / "data" / "tasks"


def rows(name: str) -> list[tuple[str, str, str]]:
    """Return (title, sentence, words for the task) of a file's rows."""
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    parts = [row.split("\t") for row in lines if row and not row.startswith("#")]
    return [(title, sentence, words) for title, sentence, words in parts]


SENTENCES = rows("sentences.tsv")
LOOK_ALIKES, CLOSINGS = rows("look_alikes.tsv"), rows("closings.tsv")


def task(title: str, number: int = 0, status: Status = Status.PENDING) -> Task:
    return Task("t%d" % number, "p", (title,), status)


def effect(title: str, *said: Observation, by: By = By.RULES) -> str:
    """The effect of a person's sentence, or a reader's report, on the only open task."""
    made = decided(TaskEvent(by, said), [task(title)], "p", "s", "e")
    is_closed = any(step.op is Op.STATUS and step.to == Status.DONE for step in made.steps)
    return "closed" if is_closed else "asked" if made.questions else "nothing"


def reported(words: str) -> list[Observation]:
    """Return how a reading model reports a task as done."""
    return [Observation(Status.DONE, words)] if words else []


@pytest.mark.parametrize(("title", "sentence", "words"), LOOK_ALIKES)
def test_what_looks_alike_closes_nothing(title: str, sentence: str, words: str) -> None:
    assert effect(title, *reported(words), by=By.READER) != "closed"
    assert effect(title, *observed(sentence)) != "closed"


@pytest.mark.parametrize(("expected", "title", "sentence"), SENTENCES)
def test_sentence_about_a_known_task_closes_it_asks_or_does_nothing(expected: str, title: str, sentence: str) -> None:
    """open: asked or nothing."""
    assert effect(title, *observed(sentence)) in (("asked", "nothing") if expected == "open" else (expected,))


@pytest.mark.parametrize(("title", "sentence", "words"), CLOSINGS)
def test_every_true_closing_of_a_known_task_closes_it(title: str, sentence: str, words: str) -> None:
    assert effect(title, *observed(sentence)) == "closed"
    assert effect(title, *reported(words), by=By.READER) == "closed"


@pytest.mark.parametrize(("title", "sentence", "words"), LOOK_ALIKES)
def test_the_title_of_a_pair_never_means_the_other(title: str, sentence: str, words: str) -> None:
    """With both open, the words close their own or ask, and never this one."""
    for row in reported(words):
        found = match(row.title, [task(title, 1), task(row.title, 2)])
        assert found.sure is None or found.sure.id == "t2"


@pytest.mark.parametrize(("words", "title", "expected"), tables("tasks/matching")["scores"])
def test_scores(words: str, title: str, expected: float) -> None:
    assert score(words, task(title)) == expected


def test_an_earlier_title_counts_as_an_alias() -> None:
    renamed = Task("t", "p", ("Write the guide", "Write the manual"))
    assert score("Write the guide", renamed) == 0.98


def test_the_gap_decides_between_two() -> None:
    first, second = task("a", 1), task("b", 2)
    assert sure_match([Match(first, STRICT + GAP), Match(second, STRICT)]).sure is first
    assert sure_match([Match(first, STRICT + GAP - 0.001), Match(second, STRICT)]).sure is None
    assert sure_match([Match(first, STRICT - 0.001)]).sure is None
    assert sure_match([Match(task("n", n), 0.9) for n in range(9)]).candidates == tuple(task("n", n) for n in range(5))


def test_closed_tasks_are_no_candidates() -> None:
    assert match("guide", [task("Write the guide", 1, Status.DONE)]).candidates == ()
