"""The two regressions that decide whether a prompt is given a memory."""

from dataclasses import replace

import pytest

from memlayer.give.candidate import MemorySignals, helps, need
from memlayer.give.query import PromptSignals, prompt_signals, reduce_prompt
from memlayer.indexing.retracted import SessionWords

OPENING = PromptSignals(chars=120, novelty=1.0, prompts=0, looks_back=False)
FITTING = MemorySignals(bm25=30.0, coverage=0.8, cosine=1.0, rare=12.0)


def signals(prompt: str, *said: str) -> PromptSignals:
    words = SessionWords()
    for text in said:
        words.hear("user", text)
    query = reduce_prompt(prompt)
    return prompt_signals(prompt, query, dict.fromkeys(query.terms, 3.0), words)


def test_opening_needs_more_than_follow_up() -> None:
    assert need(OPENING) > need(replace(OPENING, prompts=6)) > need(replace(OPENING, prompts=6, novelty=0.1))


def test_better_fit_helps_more() -> None:
    assert helps(FITTING) > helps(replace(FITTING, bm25=3.0)) and helps(FITTING) > helps(replace(FITTING, rare=0.0))
    assert helps(FITTING) > helps(replace(FITTING, cosine=-0.5))


@pytest.mark.parametrize("prompt", ["option 3", "yes please", "커밋 푸시", "실행해", "3", "keep going"])
def test_short_prompts_need_nothing(prompt: str) -> None:
    assert signals(prompt).is_too_short and need(signals(prompt)) == 0.0


@pytest.mark.parametrize("prompt", ["포트가 뭐였지?", "지난번 포트?", "포트 몇 번이었지", "last time?"])
def test_short_prompts_that_look_back_are_asked(prompt: str) -> None:
    assert not signals(prompt).is_too_short


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("move the checkout port to staging", "the checkout port for staging is open"),
        ("결제 포트를 스테이징으로 옮겨줘", "결제 포트를 스테이징으로 옮길까?"),
    ],
)
def test_words_of_the_session_are_not_new(prompt: str, said: str) -> None:
    assert signals(prompt).novelty == 1.0
    assert signals(prompt, said).novelty < 0.5
    assert signals(prompt, said).prompts == 1


def test_hangul_counts_for_its_density() -> None:
    assert signals("결제 모듈 포트를 바꿔").chars > signals("abcdefghijkl").chars
