"""Prompts that a script makes of a template neither ask for memories nor are any."""

from pathlib import Path

import pytest

from memlayer.give.candidate import Reason
from memlayer.give.recall import Gate
from memlayer.turns.turn import TEMPLATE_TURNS, opening_in, opening_term
from tests.support.turns_in_memory import TurnsInMemory

REVIEW = "You are a careful reviewer of pull requests. Review the change %s below and list its risks: it touches %s."
KOREAN = "다음 고객 문의를 한 문장으로 요약하고 분류를 붙여줘. 문의 번호 %s, 내용: %s 관련해서 문의드립니다."
SUBJECTS = ("payments", "refunds", "coupons", "shipping", "currency", "invoices", "webhooks")


def told(home: Path, template: str, times: int) -> TurnsInMemory:
    """A project in which a script has sent a template so often."""
    memory = TurnsInMemory(home)
    memory.turn(
        "person", "p0", "배포는 어디서 하지?", "배포는 staging 서버 st-7 에서 webhooks 설정과 함께 합니다.", at=1
    )
    for number in range(times):
        subject = SUBJECTS[number % len(SUBJECTS)]
        prompt = template % (100 + number, subject)
        memory.turn(
            "run %d" % number, "p%d" % number, prompt, "Risks of %s: retries, timeouts." % subject, at=1000 * number
        )
    return memory


@pytest.mark.parametrize("template", [REVIEW, KOREAN])
def test_templated_prompt_is_no_need(home: Path, template: str) -> None:
    memory = told(home, template, TEMPLATE_TURNS)
    found = memory.ask(template % (999, "webhooks"))
    assert (found.gate, found.block) == (Gate.TEMPLATED, "")


@pytest.mark.parametrize("template", [REVIEW, KOREAN])
def test_fewer_repetitions_are_no_template(home: Path, template: str) -> None:
    memory = told(home, template, TEMPLATE_TURNS - 1)
    assert memory.ask(template % (999, "webhooks")).gate is Gate.OPEN


@pytest.mark.parametrize("template", [REVIEW, KOREAN])
def test_templated_turn_is_no_candidate(home: Path, template: str) -> None:
    memory = told(home, template, 7)
    found = memory.ask("webhooks retries and timeouts: which risks do we know of in payments?")
    assert not any("Risks of" in entry.snippet for entry in found.entries)
    assert Reason.TEMPLATED in {candidate.reason for candidate in found.candidates}


def test_a_persons_own_turn_stays_a_candidate(home: Path) -> None:
    memory = told(home, REVIEW, 7)
    assert "st-7" in memory.ask("우리 배포 어느 staging 서버에서 하기로 했지?").block


def test_question_about_the_past_is_never_templated(home: Path) -> None:
    question = "can you remind me what we decided back then about the %s%s in this project?"
    memory = told(home, question.replace("%s%s", "%s %s"), 7)
    assert memory.ask(question % ("staging", " server")).gate is not Gate.TEMPLATED


def test_another_project_does_not_count(home: Path, tmp_path: Path) -> None:
    memory = told(home, REVIEW, 7)
    other = tmp_path / "other"
    other.mkdir()
    assert memory.ask(REVIEW % (1, "webhooks"), project=str(other)).gate is not Gate.TEMPLATED


def test_turn_counts_once_however_long_it_is(home: Path) -> None:
    memory = TurnsInMemory(home)
    prompt = REVIEW % (1, "payments")
    for _ in range(3):  # the same turn again, as after a crash
        memory.turn("s1", "p1", prompt, "Risk: the retry loop has no limit in payments. " * 400)
    [project] = memory.projects.resolve("/home/dev/상점")[:1]
    assert memory.store.holding([opening_term(prompt)], project).by_term == {opening_term(prompt): 1}


def test_openings_differ_in_words_not_in_numbers_and_paths() -> None:
    assert opening_term(REVIEW % (1, "a")) == opening_term(REVIEW % (2, "b")) != ""
    one = opening_term("Summarise the file src/a/b.py for the weekly report of the backend team, briefly")
    assert one == opening_term("Summarise the file docs/c.md for the weekly report of the backend team, briefly")
    assert one != opening_term("Summarise the file docs/c.md for the monthly report of the backend team, briefly")
    assert opening_term("계속") == opening_term("commit this please") == opening_term("") == ""
    assert opening_in("review chang +" + one) == opening_in("review " + one) == one
    assert opening_in("review chang") == ""
