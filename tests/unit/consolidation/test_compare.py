"""What a newer statement does to an older one."""

from __future__ import annotations

import time

import pytest

from memlayer.consolidation.conflict.compare import KEEP, MERGE, SUPERSEDE, judge


@pytest.mark.parametrize(
    ("older", "newer", "verdict"),
    [
        ("The orders service listens on port 8080.", "The orders service now listens on port 8090.", SUPERSEDE),
        ("The staging port is 8443.", "The staging port is 9000 now, no longer 8443.", SUPERSEDE),
        ("The orders service listens on port 8080.", "The billing service listens on port 8090.", KEEP),
        ("스테이징 Redis는 6379 포트를 쓴다.", "스테이징 Redis는 6380 포트로 바뀌었다.", SUPERSEDE),
        ("스테이징 Redis는 6380 포트를 쓴다.", "운영 Redis는 6379 포트를 쓴다.", KEEP),
        ("커밋 메시지는 항상 영어로 써줘.", "앞으로 커밋 메시지는 무조건 영어로 작성해줘.", MERGE),
        ("커밋 메시지는 항상 영어로 써줘.", "커밋 메시지는 이제 한국어로 써줘.", SUPERSEDE),
        ("Every PR needs one approval.", "Every PR needs two approvals now.", SUPERSEDE),
        ("Never run migrations on prod automatically.", "Migrations on prod may run automatically again.", SUPERSEDE),
        ("금요일 배포는 금지.", "Deploys on Fridays are forbidden.", MERGE),
        ("beta 오픈은 4/20으로 연기됐어.", "베타 오픈 날짜는 4월 20일이다.", MERGE),
        ("The audit log must be kept for 7 years.", "The audit log is kept for seven years, with object lock.", MERGE),
        ("캐시는 Redis를 쓴다.", "캐시 TTL은 10분이다.", KEEP),
        ("Priya owns the billing webhooks.", "Priya owns the invoice templates.", KEEP),
        ("Priya owns the billing webhooks.", "Tomás owns the billing webhooks now.", SUPERSEDE),
        ("API 테스트는 Postman으로 관리한다.", "Postman 말고 Bruno로 API 테스트 관리하기로 했어.", SUPERSEDE),
    ],
)
def test_verdicts(older: str, newer: str, verdict: str) -> None:
    found = judge(older, newer)
    assert found.verdict == verdict, found
    assert found.reasons


def test_meaning_tells_what_words_do_not() -> None:
    one, other = "Never run migrations on prod automatically.", "운영 DB 스키마 변경은 사람이 직접 적용한다."
    assert judge(one, other).verdict == KEEP
    assert judge("The cache holds sessions.", "The cache key holds the locale.", 0.1).verdict == KEEP
    assert judge("릴리스는 매주 수요일이야.", "릴리스는 매주 일요일이야.", 1.6).verdict == SUPERSEDE
    assert judge("릴리스는 매주 수요일이야.", "릴리스는 매주 일요일에 안 나가.", 1.6).verdict == KEEP
    assert judge("Mobile push goes through FCM.", "모바일 푸시는 FCM을 쓴다.", 1.6).verdict == MERGE


@pytest.mark.parametrize(
    "text", ["", " ", "a" * 50_000, "a-" * 20_000, "가" * 50_000, "\ud800", "no " * 9000, "에서 " * 9000]
)
def test_any_text_is_judged_in_little_time(text: str) -> None:
    began = time.process_time()
    judge(text, text + " x")
    judge("The port is 1.", text, 0.5)
    assert time.process_time() - began < 2
