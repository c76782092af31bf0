"""What a newer statement does to an older one."""

import time

import pytest

from memlayer.consolidation.conflict.compare import Verdict, judge


@pytest.mark.parametrize(
    ("older", "newer", "verdict"),
    [
        ("The orders service listens on port 8080.", "The orders service now listens on port 8090.", Verdict.SUPERSEDE),
        ("The staging port is 8443.", "The staging port is 9000 now, no longer 8443.", Verdict.SUPERSEDE),
        ("The orders service listens on port 8080.", "The billing service listens on port 8090.", Verdict.KEEP),
        ("스테이징 Redis는 6379 포트를 쓴다.", "스테이징 Redis는 6380 포트로 바뀌었다.", Verdict.SUPERSEDE),
        ("스테이징 Redis는 6380 포트를 쓴다.", "운영 Redis는 6379 포트를 쓴다.", Verdict.KEEP),
        ("커밋 메시지는 항상 영어로 써줘.", "앞으로 커밋 메시지는 무조건 영어로 작성해줘.", Verdict.KEEP),
        ("커밋 메시지는 항상 영어로 써줘.", "커밋 메시지는 이제 한국어로 써줘.", Verdict.SUPERSEDE),
        ("Every PR needs one approval.", "Every PR needs two approvals now.", Verdict.SUPERSEDE),
        (
            "Never run migrations on prod automatically.",
            "Migrations on prod may run automatically again.",
            Verdict.SUPERSEDE,
        ),
        ("금요일 배포는 금지.", "Deploys on Fridays are forbidden.", Verdict.KEEP),
        ("beta 오픈은 4/20으로 연기됐어.", "베타 오픈 날짜는 4월 20일이다.", Verdict.KEEP),
        (
            "The audit log must be kept for 7 years.",
            "The audit log is kept for seven years, with object lock.",
            Verdict.KEEP,
        ),
        ("캐시는 Redis를 쓴다.", "캐시 TTL은 10분이다.", Verdict.KEEP),
        ("Priya owns the billing webhooks.", "Priya owns the invoice templates.", Verdict.KEEP),
        ("Priya owns the billing webhooks.", "Tomás owns the billing webhooks now.", Verdict.SUPERSEDE),
        ("API 테스트는 Postman으로 관리한다.", "Postman 말고 Bruno로 API 테스트 관리하기로 했어.", Verdict.SUPERSEDE),
        ("Our licence is MIT.", "our licence is MIT", Verdict.MERGE),
        ("결제 API는 REST로 만든다.", "결제 API는 REST로 만들기로 했어.", Verdict.MERGE),
    ],
)
def test_verdicts(older: str, newer: str, verdict: Verdict) -> None:
    assert judge(older, newer) == verdict


@pytest.mark.parametrize(
    "text", ["", " ", "a" * 50_000, "a-" * 20_000, "가" * 50_000, "\ud800", "no " * 9000, "에서 " * 9000]
)
def test_any_text_is_judged_in_little_time(text: str) -> None:
    began = time.process_time()
    judge(text, text + " x")
    judge("The port is 1.", text)
    assert time.process_time() - began < 2
