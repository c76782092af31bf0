"""Rules at a session's start: all of them, first, shortened or counted where they are too many."""

from __future__ import annotations

import re

import pytest

from memlayer.briefing.standing_orders import FEWEST_RULE_CHARS, shortened
from memlayer.briefing.working_set import WorkingSetRules, compose, in_short
from memlayer.model import GLOBAL
from memlayer.text.context_block import entry_lines
from tests.unit.briefing.test_working_set import PARTS, RULES, Kept

SUBAGENT_CHARS = 600
MORE = re.compile(r"^- (\d+) more rules?, found by mem-search: .", re.MULTILINE)
KOREAN = [
    "커밋 메시지는 앞으로 한국어로", "main 에는 절대 직접 푸시하지 마", "웹훅 서명 검증은 꼭 해야 해",
    "항상 PR 로 올려", "환불은 매니저만 할 수 있어야 해", "쿠폰은 반드시 주문당 하나만",
    "로그에 개인정보는 절대 남기지 마", "배포는 항상 화요일에",
]  # fmt: skip
ENGLISH = [
    "Never commit generated files", "Run the linters before each commit please", "Always squash before merging",
    "Order statuses must be open, paid or cancelled", "Don't use mocks in integration tests",
]  # fmt: skip


@pytest.fixture
def kept() -> Kept:
    return Kept()


def busy(kept: Kept) -> None:
    """Newer entries of every kind, more than a start has room for."""
    for number in range(12):
        kept("core", "decision", "결정 %d: 재고 동기화는 %d분마다 하기로 했다" % (number, number), days=number / 100)
        kept("core", "preference", "나는 %d번째 언어도 좋아해" % number, days=number / 100)
        kept("core", "fact", "포트 %d 는 배송 서비스가 쓴다" % number, pinned=True)
        kept.turn("User: 화면 %d 을 고쳐줘 빨리\nAssistant: 로그인 화면을 고쳤습니다." % number, session="t%d" % number)
    kept.summary(**PARTS)


def shown(block: str) -> int:
    return len(re.findall(r"^- \[mem:\w+\] rule", block, re.MULTILINE))


@pytest.mark.parametrize("kind", ["preference", "decision"])
@pytest.mark.parametrize("rule", ["커밋 메시지는 앞으로 한국어로", "From now on, commit messages are in English"])
def test_newer_entries_push_no_rule_out(kept: Kept, rule: str, kind: str) -> None:
    kept("core", kind, rule, days=400, session="s0")
    busy(kept)
    assert kept.lines()[0].endswith("rule: " + rule)
    assert any("목표: 결제 재시도" in line for line in kept.lines())


def test_a_dozen_rules_stand_whole(kept: Kept) -> None:
    for number, rule in enumerate(KOREAN + ENGLISH[:3]):
        kept("core", "preference", rule, days=100 + number)
    busy(kept)
    block = compose(kept.store, "p1", RULES)
    assert [rule for rule in KOREAN + ENGLISH[:3] if rule not in block] == [] and not MORE.search(block)
    assert len(block) <= RULES.max_chars and "목표: 결제" in block


@pytest.mark.parametrize("texts", [KOREAN, ENGLISH, KOREAN + ENGLISH])
@pytest.mark.parametrize("max_chars", [600, 1200, 4000])
@pytest.mark.parametrize("is_busy", [False, True])
def test_thirty_rules_are_shown_or_counted(kept: Kept, texts: list[str], max_chars: int, is_busy: bool) -> None:
    for number in range(30):
        text = "%s (%d번 서비스, since the audit asked for it in writing)" % (texts[number % len(texts)], number)
        kept("core", "preference", text, days=100 + number)
    if is_busy:
        busy(kept)
    block = compose(kept.store, "p1", WorkingSetRules(max_chars=max_chars))
    assert len(block) <= max_chars
    more = MORE.search(block)
    assert shown(block) + (int(more.group(1)) if more else 0) == 30
    assert ("목표: 결제" in block) == is_busy
    short = in_short(block, SUBAGENT_CHARS)
    counted = MORE.search(short)
    assert len(short) <= SUBAGENT_CHARS and counted and shown(short) + int(counted.group(1)) == 30
    assert shown(short) or max_chars == 600


def test_pinned_rules_then_the_newest_of_both_scopes(kept: Kept) -> None:
    kept("core", "preference", ENGLISH[0], days=3)
    kept("core", "preference", KOREAN[0], days=2, project_id=GLOBAL)
    kept("core", "preference", KOREAN[1], days=9, pinned=True)
    kept("core", "preference", ENGLISH[0], days=1, project_id=GLOBAL)  # told in the project too: the newer stands
    assert [line.split("] ")[1] for line in kept.lines()] == [
        "rule: " + KOREAN[1], "rule of every project: " + ENGLISH[0], "rule of every project: " + KOREAN[0],
    ]  # fmt: skip


def test_an_opinion_is_no_rule(kept: Kept) -> None:
    kept("core", "preference", "Rust는 메모리 안전성이 중요해")
    kept("core", "fact", "항상 켜져 있는 서버는 a1 이다")
    assert [line.split(": ", 1)[1] for line in kept.lines()] == ["(preference) Rust는 메모리 안전성이 중요해"]


def test_rules_that_the_context_has_are_left_out(kept: Kept) -> None:
    given = kept("core", "preference", KOREAN[0])
    kept("core", "preference", KOREAN[1])
    block = compose(kept.store, "p1", RULES, excluded_ids=[given])
    assert KOREAN[0] not in block and KOREAN[1] in block


def test_a_turn_that_says_more_than_its_rule_stays(kept: Kept) -> None:
    request = "Never commit generated files. Also the export of invoices writes wrong totals, please look at it."
    made = kept.turn("User: %s\nAssistant: The totals were rounded twice; fixed in export.py." % request)
    kept("core", "preference", "Never commit generated files", source_ids=("e" + made,))
    lines = kept.lines()
    assert len(lines) == 2 and "rule: Never commit" in lines[0] and "export.py" in lines[1]


@pytest.mark.parametrize("length", [FEWEST_RULE_CHARS, 90, 160])
def test_a_short_korean_rule_keeps_its_verb(length: int) -> None:
    rule = "운영 데이터베이스에는 " + "금요일 저녁이나 연휴 전날에 사람이 적을 때에는 " * 8 + "직접 접속해서 지우지 마"
    short = shortened(rule, length)
    assert len(short) <= length and short.startswith("운영 데이터") and short.endswith("지우지 마")


def test_a_subagent_gets_the_rules_first_then_other_lines(kept: Kept) -> None:
    kept("core", "preference", KOREAN[0])
    kept("core", "decision", "재시도는 세 번으로 하기로 했다")
    lines = entry_lines(in_short(compose(kept.store, "p1", RULES), SUBAGENT_CHARS))
    assert "rule: " + KOREAN[0] in lines[0] and "재시도" in lines[1]
