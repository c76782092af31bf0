"""Marks of redaction are nobody's words: not a need, a term, nor a thing worth telling."""

from pathlib import Path

import pytest

from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import redact, without_marks
from memlayer.give.recall import Gate, RecallRules
from memlayer.give.working_set import WorkingSetRules, compose
from memlayer.kinds import Kind
from memlayer.text.context_block import entry_lines, flatten
from memlayer.text.terms import index_terms, query_terms
from memlayer.topics.session_summary import left_open
from tests.support.tables import tables
from tests.support.turns_in_memory import PROJECT, TurnsInMemory

THANKS = [
    ("thanks! <private>my pay is 80k, tell nobody about it</private>", "You're welcome!"),
    ("고마워 <private>연봉은 8천만 원이고 비밀이야</private>", "네, 알겠습니다!"),
    ("ok [private]her number is in the drawer[/private]", "Got it."),
]
WORK = ("정산 배치가 두 번 도는 걸 고쳐줘", "정산 배치에 잠금을 걸어 한 번만 돌게 했습니다, 테스트도 추가했습니다.")


@pytest.mark.parametrize(("prompt", "answer"), THANKS)
def test_thanks_with_a_private_span_say_nothing(home: Path, prompt: str, answer: str) -> None:
    assert not recallable(redact(prompt))
    memory = TurnsInMemory(home)
    memory.turn("s1", "p1", *WORK)
    thanks = memory.turn("s2", "p2", prompt, answer, at=60_000)
    assert thanks.kind == Kind.ROUTINE
    assert memory.ask(redact(prompt), RecallRules(min_chance=0.0)).gate is Gate.NOTHING_ASKED
    [line] = entry_lines(compose(memory.store, memory.projects.resolve(PROJECT)[0], WorkingSetRules()))
    assert "정산 배치" in line


@pytest.mark.parametrize(
    "text", ["AWS 키는 AKIAQ3EGUXT5WBYRA2MD 야", "staging key is ghp_16C7e42F292c6912E7710c838347Ae178B4a now"]
)
def test_marks_are_no_terms(text: str) -> None:
    hidden = redact(text)
    assert "[redacted:" in hidden
    plain = without_marks(hidden)
    assert index_terms(hidden) == index_terms(plain) and query_terms(hidden) == query_terms(plain)
    assert "redact" not in query_terms(hidden)


def test_marks_do_not_lengthen_a_prompt(home: Path) -> None:
    memory = TurnsInMemory(home)
    memory.turn("s1", "p1", *WORK)
    found = memory.ask(redact("<private>아무도 모르게</private> 정산 계속 돌려줘"), RecallRules(min_chance=0.0))
    assert found.gate is Gate.TOO_SHORT


@pytest.mark.parametrize(
    "prompt", ["<private>the whole of a secret plan</private>", "봐줘 <private>비밀 계획 전부</private>"]
)
def test_a_private_prompt_is_not_left_open(prompt: str) -> None:
    assert left_open([(redact(prompt), [])]) == ""


@pytest.mark.parametrize(
    ("text", "shown"), tables("turns/marks_of_redaction")["a_disarmed_citation_keeps_both_brackets"]
)
def test_a_disarmed_citation_keeps_both_brackets(text: str, shown: str) -> None:
    assert flatten(text) == shown
