"""What a turn says is done away with, in Korean, English and both; and what only sounds like it."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.core.done_away import MAX_CHARS, done_away
from memlayer.core.terms import query_terms


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ("killed buttondown, the newsletter runs on listmonk", "buttondown"),
        ("site is off Astro, Eleventy from today", "astro"),
        ("we moved the queue from RabbitMQ to Redis Streams", "rabbitmq"),
        ("built with Eleventy instead of Astro 4", "astro"),
        ("we no longer use Jenkins", "jenkins"),
        ("Jenkins is gone", "jenkins"),
        ("pnpm rather than yarn from now on", "yarn"),
        ("npm -> pnpm", "npm"),
        ("npm → pnpm 갈아탐", "npm"),
        ("공지 이메일 말고 알림톡으로 바꿨어", "이메일"),
        ("별점 대신 엄지로 받는다", "별점"),
        ("yarn 걷어내고 pnpm 9로 갈아탔음", "yarn"),
        ("Tailwind를 걷어내고 scoped style만 씁니다", "tailwind"),
        ("큐를 RabbitMQ에서 Redis로 바꿨어", "rabbitmq"),
        ("젠킨스는 이제 안 써요, 젠킨스 폐기", "젠킨스"),
        ("jeus 말고 톰캣으로 된대", "jeus"),
        ("omnibox 그냥 없던 걸로 하자", "omnibox"),
        ("다크 모드는 역시 안 하기로 했어", "모드"),
        ("tailwind 도로 빼자", "tailwind"),
        ("reverted Tailwind, plain css again", "tailwind"),
    ],
)
def test_it_is_named(text: str, gone: str) -> None:
    assert tuple(query_terms(gone)) in done_away(text)


@pytest.mark.parametrize(
    "text",
    [
        "Staging has a bucket of its own, emptied each Monday",
        "독일어 메일은 야니크 님이 맡습니다",
        "The server sees timestamps anyway, and the choice stands",
        "reads go through the replica as well",
        "장구와 소금을 더 넣었습니다",
        "",
    ],
)
def test_what_only_adds_does_away_with_nothing(text: str) -> None:
    assert done_away(text) == frozenset()


@given(st.text())
def test_any_text_will_do(text: str) -> None:
    for terms in done_away(text):
        assert len("".join(terms)) > 1


@pytest.mark.parametrize(
    "text", ["a", "가", "a.", "에서 ", "is off ", "a-> ", "moved x y ", "말고", "에서 가나다라마바 "]
)
def test_no_text_takes_long(text: str) -> None:
    started = time.process_time()
    done_away(text * MAX_CHARS)
    assert time.process_time() - started < 0.6  # 0.03 s; with names of any length 1 to 2 s
