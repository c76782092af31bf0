"""A text whose point was a secret is told in no start, no block and no title."""

import pytest

from memlayer.give.own_statements import changes_in, stated, statements
from memlayer.give.past_sessions import listed
from memlayer.kinds import Category, Kind
from memlayer.model import Memory, replace
from memlayer.topics.session_summary import requests, stands_alone
from memlayer.turns.remembered import is_husk
from tests.support.store_rows import make_memory

HUSKS = (
    "토스 시크릿 키는 [redacted:toss-key] 이야",
    "카드 PIN은 [redacted:pin]이야",
    "와이파이 암호가 [redacted:password] 야",
    "운영 DB 접속 비밀번호를 [redacted:password] 로 바꿨어",
    "The prod password for the billing database is [redacted:password]",
    "네, [redacted:password] 로 저장할게요",
    "ssh root@10.0.0.4 비밀번호 [redacted:password]",
    "We always log in to the admin page with [redacted:password].",
    "주민번호 [redacted:resident-number] 이야, 기억해",
)
TELLING = (
    "결제는 토스로 하기로 했고 시크릿 키는 [redacted:toss-key] 이야",
    "We use Postgres 16 for billing, password [redacted:password]",
    "비밀번호는 90일마다 바꾸기로 했어",
    "배포는 화요일 오전에만 해. pw는 [redacted:password]",
    "the staging database runs on port 5433 and the password is [redacted:password]",
)


def turn(number: int, prompt: str) -> Memory:
    made = make_memory(number, "User: %s\nAssistant: 네." % prompt)
    return replace(made, category=Category.CONVERSATION, kind=Kind.TURN, prompt_id="p%d" % number, at_ms=1000 * number)


@pytest.mark.parametrize("text", HUSKS)
def test_husk_is_told_nowhere(text: str) -> None:
    assert is_husk(text) and statements(text) == [] and not any(map(stands_alone, requests(text)))
    reports = [turn(1, text)]
    assert stated(reports, (), (), changes_in(reports)) == [] == listed(reports, (), (), ())


@pytest.mark.parametrize("text", TELLING)
def test_clause_beside_a_secret_is_told(text: str) -> None:
    assert not is_husk(text)


def test_husk_beside_a_decision_is_not_told() -> None:
    said = [text for text, _ in statements("결제는 토스로 가자. 토스 시크릿 키는 [redacted:toss-key] 이야.")]
    assert said == ["결제는 토스로 가자."]
