"""Rules at a session's start without a model: all of them, last, and no opinion."""

import pytest

from memlayer.give.listed_start import RULES_HEADING, rules_in
from memlayer.give.working_set import compose, in_short
from memlayer.model import GLOBAL, replace
from memlayer.text.context_block import day_of, entry_lines, text_of
from tests.unit.give.test_working_set import ORDER, RULES, Kept

SUBAGENT_CHARS = 600
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
    """Newer entries of every kind."""
    for number in range(12):
        kept("core", "fact", "포트 %d 는 배송 서비스가 쓴다" % number, pinned=True)
        kept.turn("User: 화면 %d 을 고쳐줘 빨리\nAssistant: 로그인 화면을 고쳤습니다." % number, session="t%d" % number)
    kept.turn(ORDER)


def rules(kept: Kept) -> list[str]:
    return [text_of(line) for line in rules_in(compose(kept.store, "p1", RULES))]


@pytest.mark.parametrize("rule", ["커밋 메시지는 앞으로 한국어로", "From now on, commit messages are in English"])
def test_newer_entries_push_no_rule_out(kept: Kept, rule: str) -> None:
    kept("core", "preference", rule, days=400, session="s0")
    busy(kept)
    assert rules(kept) == [rule]


def test_a_dozen_rules_stand_whole(kept: Kept) -> None:
    for number, rule in enumerate(KOREAN + ENGLISH[:3]):
        kept("core", "preference", rule, days=100 + number)
    busy(kept)
    block = compose(kept.store, "p1", RULES)
    assert rules(kept) == KOREAN + ENGLISH[:3]
    assert len(block) <= RULES.max_chars and "결제 재시도를" in block and block.count(RULES_HEADING) == 1


def test_pinned_rules_then_the_newest_of_both_scopes(kept: Kept) -> None:
    kept("core", "preference", ENGLISH[0], days=3)
    kept("core", "preference", KOREAN[0], days=2, project_id=GLOBAL)
    kept("core", "preference", KOREAN[1], days=9, pinned=True)
    kept("core", "preference", ENGLISH[0], days=1, project_id=GLOBAL)  # told in the project too: the newer stands
    assert rules(kept) == [KOREAN[1], ENGLISH[0] + " (every project)", KOREAN[0] + " (every project)"]


def test_an_opinion_is_no_rule(kept: Kept) -> None:
    kept("core", "preference", "Rust는 메모리 안전성이 중요해")
    kept("core", "fact", "항상 켜져 있는 서버는 a1 이다")
    assert rules(kept) == []


def test_rules_that_the_context_has_are_left_out(kept: Kept) -> None:
    given = kept("core", "preference", KOREAN[0])
    kept("core", "preference", KOREAN[1])
    block = compose(kept.store, "p1", RULES, excluded_ids=[given])
    assert KOREAN[0] not in block and KOREAN[1] in block


def test_a_subagent_gets_the_rules_first_then_other_lines(kept: Kept) -> None:
    kept("core", "preference", KOREAN[0])
    kept.turn(ORDER)
    lines = entry_lines(in_short(compose(kept.store, "p1", RULES), SUBAGENT_CHARS))
    assert KOREAN[0] in lines[0] and "재시도" in lines[1]


@pytest.mark.parametrize(
    "rule",
    [
        "always keep reading the old key checkpoint_count from the state files, but write steps_count from now on, and"
        " say steps in what users read",
        "커밋 메시지는 항상 한국어로 쓰되 제목은 명사로 끝내고, 본문에는 왜 바꿨는지와 어떻게 확인했는지를 한 줄씩"
        " 적고, 자동으로 만들어진 서명 줄은 절대 남기지 마",
    ],
)
def test_long_rule_stands_whole_and_never_as_its_half(kept: Kept, rule: str) -> None:
    kept("core", "preference", rule)
    assert rules(kept) == [rule]


@pytest.mark.parametrize(
    ("prompt", "order"),
    [
        (
            "Review the staged diff of the shop. Reply in English, at most five bullets, no praise. Diff: a.py +%d",
            "Reply in English, at most five bullets",
        ),
        (
            "가게 저장소에 올라온 변경을 검토해줘. 답은 항상 영어로, 다섯 줄 안으로만 써줘. 바뀐 줄은 %d 줄이야",
            "답은 항상 영어로, 다섯 줄 안으로만 써줘.",
        ),
    ],
)
def test_order_of_a_prompt_that_is_sent_again_is_no_rule(kept: Kept, prompt: str, order: str) -> None:
    mine = "커밋 메시지는 앞으로 한국어로 쓰고 제목 앞에 티켓 번호를 붙여줘 알겠지"
    for session, text in (("mine", mine), ("run1", prompt % 1), ("run2", prompt % 2)):
        kept.turn("User: %s\nAssistant: 네, 했습니다." % text, session=session)
    kept("core", "preference", mine, session="mine")
    kept("core", "preference", order, session="run1")
    sent = {row.session_id: row.prompt_id for row in kept.store.memories() if row.category == "conversation"}
    kept.store.put_memories(
        [
            replace(row, prompt_id=sent[row.session_id])
            for row in kept.store.memories()
            if row.category == "core" and row.session_id in sent
        ]
    )
    assert rules(kept) == [mine]


@pytest.mark.parametrize(
    "wish",
    [
        "응답은 짧게 해줘, and never push to main directly",
        "앞으로 커밋 메시지는 항상 한국어로 쓰고 제목 앞에 티켓 번호를 붙여줘",
        "From now on write commit messages in English and put the ticket first",
    ],
)
def test_wish_that_a_person_says_again_stays_a_rule(kept: Kept, wish: str) -> None:
    for session in ("s1", "s2"):
        kept.turn("User: %s\nAssistant: 네, 알겠습니다." % wish, session=session)
    kept("core", "preference", wish, session="s1")
    [turn] = [row for row in kept.store.memories() if row.session_id == "s1" and row.category == "conversation"]
    [rule] = [row for row in kept.store.memories() if row.category == "core"]
    kept.store.put_memories([replace(rule, prompt_id=turn.prompt_id)])
    assert rules(kept) == [wish]


@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("terraform 은 plan 까지만 하고 apply 는 절대 하지 마", "dev 계정은 이제 네가 terraform apply 해도 돼"),
        ("never run cargo update in firmware/", "in firmware/ you may now run cargo update crate by crate"),
    ],
)
def test_rule_points_at_the_day_that_allowed_a_part(kept: Kept, rule: str, allowed: str) -> None:
    kept("core", "preference", rule, days=9, session="s0")
    assert rules(kept) == [rule]
    kept.turn("User: %s\nAssistant: 네." % allowed, session="later")
    [turn] = [row for row in kept.store.memories() if row.category == "conversation"]
    assert rules(kept) == ["%s (but see %s)" % (rule, day_of(turn.at_ms)[5:])]
