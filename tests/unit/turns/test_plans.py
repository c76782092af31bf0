"""Plans for a day are plans until a later turn tells of them as done."""

import pytest

from memlayer.turns.plans import is_done, plan_of

ENGLISH = "Today I'll add a retry limit to the settlement batch."
KOREAN = "오늘은 정산 배치에 재시도 제한을 붙일 거야"


@pytest.mark.parametrize(
    "text",
    [
        ENGLISH, KOREAN, "I'm going to move the cron to staging today", "We need to rotate the keys this week",
        
        "내일 웹훅 서명 검증 고칠 예정이야", "오늘 checkout 테스트부터 고쳐야 해요, 해야 할 일이 많아",
        "오늘 배포 스크립트 정리하려고",
    ],
)  # fmt: skip
def test_plan(text: str) -> None:
    assert plan_of("User: %s\nAssistant: Okay." % text) == text


@pytest.mark.parametrize(
    "text",
    [
        "Add a retry limit to the batch.",
        "The batch failed today.",
        "정산 배치가 오늘 실패했어",
        "재시도는 세 번으로 하기로 했다",
    ],
)
def test_no_plan(text: str) -> None:
    assert plan_of("User: %s\nAssistant: Okay." % text) == ""


@pytest.mark.parametrize(
    ("plan", "report"),
    [
        (ENGLISH, "User: go on\nAssistant: I added a retry limit of three to the settlement batch."),
        (ENGLISH, "User: the retry limit of the settlement batch is done\nAssistant: Great."),
        (KOREAN, "User: 해줘\nAssistant: 정산 배치에 재시도 제한을 붙였습니다."),
        (KOREAN, "User: 정산 배치 재시도 제한 붙이는 거 끝났어\nAssistant: 네."),
    ],
)
def test_plan_that_was_carried_out(plan: str, report: str) -> None:
    assert is_done(plan, [report])


@pytest.mark.parametrize(
    ("plan", "report"),
    [
        (ENGLISH, "User: is the retry limit of the settlement batch done?\nAssistant: Not yet."),
        (ENGLISH, "User: go on\nAssistant: I added a retry limit to the webhook."),
        (ENGLISH, "User: what next?\nAssistant: The settlement batch still needs its retry limit."),
        (KOREAN, "User: 웹훅 고쳐줘\nAssistant: 웹훅에 서명 검증을 추가했습니다."),
        (KOREAN, "User: " + KOREAN + "\nAssistant: 네, 시작할까요?"),
    ],
)
def test_plan_that_stands(plan: str, report: str) -> None:
    assert not is_done(plan, [report])
