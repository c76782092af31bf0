"""A start without notes lists the person's statements, no orders and no questions."""

from collections.abc import Sequence

import pytest

from memlayer.give.own_statements import STATEMENTS_CHARS, changes_in, stated, statements
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory, replace
from memlayer.topics.session_summary import stands_alone
from tests.support.store_rows import make_memory
from tests.support.tables import tables

TABLES = tables("give/own_statements")

STATED = TABLES["stated"]
ASKED = (
    "주문 조회 cache TTL 지금 몇초야?", "커밋해", "can you look at the comments?", "커밋해줘 SETL-430", "응 진행해",
    "정산 API 에 합계 하나 추가해줘", "what did we decide about the port?", "thanks",
)  # fmt: skip


def turn(number: int, prompt: str) -> Memory:
    text = "User: %s\nAssistant: 네." % prompt
    made = make_memory(number, text)
    return replace(made, category=Category.CONVERSATION, kind=Kind.TURN, prompt_id="p%d" % number, at_ms=1000 * number)


@pytest.mark.parametrize("prompt", STATED)
def test_statements(prompt: str) -> None:
    assert [text for text, _ in statements(prompt)] == [prompt]


@pytest.mark.parametrize(
    ("reason", "decision"),
    TABLES["a_reason_alone_is_no_line_and_stands_beside_its_decision"],
)  # fmt: skip
def test_a_reason_alone_is_no_line_and_stands_beside_its_decision(reason: str, decision: str) -> None:
    assert statements(reason) == [] and not stands_alone(reason)
    assert [text for text, _ in statements(f"{decision} {reason}")] == [decision, reason]


@pytest.mark.parametrize(
    "prompt",
    [
        "배포는 화요일 오전이니까.", "한도가 분당 300건이라서.", "Because Postgres 16 is what production runs.",
        "그건 안 돼, 다른 팀도 같이 쓰니까.", "마감이 금요일이라서 어쩔 수 없어", "it did nothing because we share it",
        "절대 main에 force push 하면 안 되니까.",
    ],
)  # fmt: skip
def test_a_reason_with_its_subject_is_a_line(prompt: str) -> None:
    assert statements(prompt)


@pytest.mark.parametrize(
    "prompt",
    [
        "[redacted:private]", "비밀번호는 [redacted:password] 야", "todo: [redacted:private] 해야 해",
        "password=[redacted:password]", "it is [redacted:private]", "항상 key=[redacted:secret] 이야",
    ],
)  # fmt: skip
def test_what_redaction_left_of_a_sentence_is_no_line(prompt: str) -> None:
    assert statements(prompt) == [] and not stands_alone(prompt)


@pytest.mark.parametrize("prompt", ASKED)
def test_questions_and_orders_state_nothing(prompt: str) -> None:
    assert statements(prompt) == []


def told(rows: list[Memory], over: Sequence[Memory] = (), rules: Sequence[str] = ()) -> list[str]:
    """The lines of these turns, oldest first, without their days."""
    newest = rows[::-1]
    return [line.partition(": ")[2] for line, _ in stated(newest, over, rules, changes_in(newest))]


def ended(row: Memory, text: str) -> Memory:
    return replace(make_memory(99, text), session_id=row.session_id, prompt_id=row.prompt_id)


def test_newest_first_and_an_older_value_is_left_out() -> None:
    said = ("redis 포트는 6379 입니다.", "배포는 목요일에만 한다.", "redis 포트는 6380으로 바꿨어.")
    rows = [turn(number, prompt) for number, prompt in enumerate(said)]
    assert told(rows) == ["redis 포트는 6380으로 바꿨어.", "배포는 목요일에만 한다."]
    assert told(rows, rules=["배포는 목요일에만 한다."]) == ["redis 포트는 6380으로 바꿨어."]


def test_what_holds_no_more_goes_and_what_was_said_beside_it_stays() -> None:
    row = turn(1, "redis 포트는 6379 입니다. Deploys go out on Thursdays only.")
    assert told([row], over=[ended(row, "redis 포트는 6379 입니다.")]) == ["Deploys go out on Thursdays only."]
    assert told([row], over=[ended(turn(2, ""), "redis 포트는 6379 입니다.")]) != told([row], over=[])[1:]


@pytest.mark.parametrize("rule", ["앞으로 커밋 메시지는 항상 한국어로 써줘.", "Never push directly to main."])
def test_turn_of_a_rule_in_force_is_not_called_older(rule: str) -> None:
    rows, left_out = [turn(1, rule)], dict[str, str]()
    assert stated(rows, (), [rule], changes_in(rows), left_out=left_out) == [] and left_out == {}


def test_they_leave_room_for_the_rules() -> None:
    rows = [
        turn(number, "서버 %d번의 포트는 %d 이고, 이것만 외부에 열려 있다." % (number, 9000 + number))
        for number in range(200)
    ]
    assert sum(map(len, told(rows))) <= STATEMENTS_CHARS


@pytest.mark.parametrize(
    ("said", "next_said"),
    [
        ("캐시는 Redis 대신 메모리로 하자", "테스트는 pytest -x 말고 그냥 pytest로 돌려줘, 앞으로"),
        ("the cache is in memory instead of Redis", "run plain pytest instead of pytest -x, from now on"),
    ],
)
def test_a_statement_is_not_told_in_the_words_of_the_next_one(said: str, next_said: str) -> None:
    rows = [turn(number, prompt) for number, prompt in enumerate((said, next_said), 1)]
    sources = tuple(source for row in rows for source in row.source_ids)
    outcome = replace(make_memory(9, next_said + "\n네."), source_ids=sources, prompt_id="p2")
    lines = stated(rows[::-1], (), (), changes_in(rows[::-1]), [outcome])
    assert [(line.partition(": ")[2], row.prompt_id) for line, row in lines if row.prompt_id == "p1"] == [(said, "p1")]


@pytest.mark.parametrize(
    "prompt",
    [
        "오늘은 결제 화면만 하자", "먼저 마이그레이션부터 보자", "일단 로그인부터 끝내자", "지금은 버그만 잡자",
        "let's do the checkout page first", "Today we only touch the docs.", "let's finish the export first",
    ],
)  # fmt: skip
def test_an_order_of_the_day_is_no_statement(prompt: str) -> None:
    assert statements(prompt) == []


@pytest.mark.parametrize(
    "prompt",
    ["일단 Redis로 가자", "오늘부터 배포는 목요일에만 하자", "내일 배포하기로 했어", "Let's use Redis for now."],
)
def test_a_decision_of_today_is_a_statement(prompt: str) -> None:
    assert statements(prompt)


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("payment retry is capped at 3 attempts", "run the payment retry tests again"),
        ("결제 재시도는 3번까지만 하기로 했어", "결제 재시도 테스트 고쳐줘. 그리고 lint 설정은 이제 ruff 로 바꿨어"),
        ("결제 재시도는 3번까지만 하기로 했어", "이제 결제 재시도 화면을 만들어줘"),
        ("결제 재시도는 3번까지만 하기로 했어", "결제 재시도 테스트를 다시 돌려줘 이제"),
        ("payment retry is capped at 3 attempts", "fix the payment retry spec. The linter is ruff now."),
    ],
)
def test_work_on_a_matter_is_no_change_of_it(older: str, newer: str) -> None:
    rows = [turn(1, older), replace(turn(2, newer), at_ms=90_000_000)]
    assert any(line == older for line in told(rows))


@pytest.mark.parametrize("prompt", TABLES["permitted_or_waiting"])
def test_a_permission_and_a_wait_are_statements(prompt: str) -> None:
    assert [text for text, _ in statements(prompt)] == [prompt]


@pytest.mark.parametrize("prompt", TABLES["says_nothing_alone"])
def test_a_question_without_its_mark_or_a_word_on_words_is_none(prompt: str) -> None:
    assert statements(prompt) == []


@pytest.mark.parametrize(("prompt", "own"), TABLES["behind_a_quotation"])
def test_a_short_decision_behind_a_quotation_is_told(prompt: str, own: str) -> None:
    assert [text for text, _ in statements(prompt)] == [own]


@pytest.mark.parametrize(("prompt", "wish", "is_told"), TABLES["unclear_wishes"])
def test_an_unclear_wish_is_told_as_said_that_day(prompt: str, wish: str, is_told: bool) -> None:
    """What may be another's words stays away until the person says whose they are."""
    said = turn(1, prompt)
    asked = replace(make_memory(2, wish), kind=Kind.PREFERENCE, by=Author.UNCLEAR, session_id=said.session_id,
                    prompt_id=said.prompt_id)  # fmt: skip
    lines = stated([said], [asked], [], changes_in([said]))
    assert any(wish in text for text, _ in lines) is is_told
