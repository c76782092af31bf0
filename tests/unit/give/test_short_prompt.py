"""Short prompts: questions without their mark, orders, bare names."""

import pytest

from memlayer.give.query import asks_in_words, asks_open_work, names_a_thing, states
from memlayer.text.terms import query_terms
from tests.support.tables import tables
from tests.unit.give.test_need import signals

TABLES = tables("give/short_prompt")

QUESTIONS = TABLES["questions"]
NAMES = (
    "redis port", "redis 포트", "staging url", "배포 요일", "스테이징 주소", "release branch", "커밋 메시지 규칙",
    "이미지 경로", "관리자 페이지", "test database",
)  # fmt: skip
NEITHER = TABLES["neither"]


@pytest.mark.parametrize("prompt", QUESTIONS)
def test_questions_need_no_mark(prompt: str) -> None:
    assert asks_in_words(prompt)
    assert not signals(prompt).is_too_short and signals(prompt).is_direct


@pytest.mark.parametrize("prompt", NAMES)
def test_bare_names_of_a_new_subject_are_looked_up(prompt: str) -> None:
    assert names_a_thing(prompt) and not asks_in_words(prompt)
    assert signals(prompt).names_only and not signals(prompt).is_too_short
    assert not signals(prompt, prompt).names_only, "the session speaks of it already"


@pytest.mark.parametrize("prompt", NEITHER)
def test_orders_neither_ask_nor_name(prompt: str) -> None:
    assert not asks_in_words(prompt) and not names_a_thing(prompt)


def test_statement_has_all_words_in_a_sentence() -> None:
    said = "The redis port is 6380. 배포는 목요일에 하는 요일제다.\nIs the staging url public?"
    assert states(said, query_terms("redis port")) and states(said, query_terms("배포 요일"))
    assert not states(said, query_terms("staging url")), "a question states nothing"
    assert not states(said, query_terms("redis url")) and not states(said, [])


@pytest.mark.parametrize(
    "prompt",
    ["오늘 할 일이 뭐야?", "남은 작업 뭐 있지?", "What is still open?", "what next?", "what is left to do",
     "다음에 뭐 하지?",
     "show me the open tasks", "뭐가 남았지?"],
)  # fmt: skip
def test_questions_for_open_work(prompt: str) -> None:
    assert asks_open_work(prompt)


@pytest.mark.parametrize(
    "prompt",
    ["What opens the port?", "fix the next button", "할 일 목록 화면을 고쳐줘.", "what did we decide about open ports?",
     "the file is still open.", "남은 인자를 지워줘"],
)  # fmt: skip
def test_other_prompts_ask_for_no_list(prompt: str) -> None:
    assert not asks_open_work(prompt)
