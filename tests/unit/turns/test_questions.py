"""Questions whose answers state nothing, and those whose answers do."""

import pytest

from memlayer.turns.questions import asks_a_fact, is_open_question
from tests.support.tables import tables

KEY_ERROR = "The checkout endpoint keeps throwing KeyError: 'currency'. can you look?"


@pytest.mark.parametrize(
    ("prompt", "answer"),
    [
        (
            KEY_ERROR,
            "Root cause: legacy carts created before March have no currency field."
            " Fixed in cart/serializers.py with a default of USD.",
        ),
        ("Why is the cart empty after login?", "The session does not have a cart id then, the cookie is host-only."),
        ("what happens to invoices of a deleted customer?", "Nothing in them changes: they keep a frozen copy."),
        ("the docs say 10 MB but nginx has 1 MB?", "`client_max_body_size` isn't set, so I set it to 10m."),
        ("Why do two tests fail?", "I couldn't find the fixture in the new folder, so I moved it back."),
        ("where does the id come from?", "The header has no id. I added one in the gateway."),
        (
            "결제가 왜 두 번 되지?",
            "웹훅에 멱등 키가 없어서 재시도가 새 결제로 처리됩니다. 원인은 토스 쪽 재시도입니다.",
        ),
        ("배포가 왜 실패했어?", "설정에 리전이 없었습니다. `deploy.yaml` 에 추가했습니다."),
        ("redis 포트 뭐야?", "6380."),
    ],
)
def test_an_answer_that_states_something(prompt: str, answer: str) -> None:
    assert not is_open_question(prompt, [answer])


@pytest.mark.parametrize(("prompt", "answer"), tables("turns/questions")["an_answer_that_states_nothing"])
def test_an_answer_that_states_nothing(prompt: str, answer: str) -> None:
    assert is_open_question(prompt, [answer])


@pytest.mark.parametrize(
    ("prompt", "answer"), [("fix the importer", "Let me check the tests."), ("배포해줘", "확인해 보겠습니다.")]
)
def test_orders_are_no_questions(prompt: str, answer: str) -> None:
    assert not is_open_question(prompt, [answer])


@pytest.mark.parametrize(
    "prompt", ["which port does redis use?", "배포 요일 언제야?", "토크나이저는 뭘로 하기로 했지?"]
)
def test_question_for_a_fact(prompt: str) -> None:
    assert asks_a_fact(prompt)


@pytest.mark.parametrize(
    "prompt", [KEY_ERROR, "could you fix the port?", "포트 바꿔줄래?", "redis listens on 6380", "배포는 목요일이야"]
)
def test_requests_and_statements_ask_for_no_fact(prompt: str) -> None:
    assert not asks_a_fact(prompt)
