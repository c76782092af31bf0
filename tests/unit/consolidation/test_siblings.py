"""Two things of a kind, told of in the same words, are two; what one thing has become is told by its name."""

from __future__ import annotations

import pytest

from memlayer.consolidation.conflict.compare import Verdict, judge

SIBLINGS = [
    ("Add a rate limit to the login endpoint, 5 requests per minute.",
     "Add a rate limit to the checkout endpoint, 40 requests per minute."),
    ("결제 서비스의 업로드 용량 제한은 10MB로 하기로 했어.", "주문 서비스의 업로드 용량 제한은 20MB로 하기로 했어."),
    ("payment-api의 커넥션 풀은 최대 20개로 하자.", "order-api의 커넥션 풀은 최대 30개로 하자."),
    ("We settled on a timeout of 30 seconds for the billing worker.",
     "We settled on a timeout of 90 seconds for the export worker."),
    ("스테이징 서버는 8080 포트를 쓴다.", "운영 서버는 80 포트를 쓴다."),
    ("Cache product pages for 10 minutes at the CDN.", "Cache search pages for 2 minutes at the CDN."),
    ("상품 이미지 썸네일은 300px로 하기로 했어.", "프로필 이미지 썸네일은 120px로 하기로 했어."),
    ("로그인 실패 5번이면 잠그기로 했어.", "OTP 실패 3번이면 잠그기로 했어."),
    ("We use 4 workers for the thumbnail queue.", "We use 12 workers for the email queue."),
    # Written after the rule; it had all of them right, and those below.
    ("The orders table is partitioned by 7 days.", "The events table is partitioned by 30 days."),
    ("관리자 페이지의 세션은 20분 뒤에 끊긴다.", "고객 페이지의 세션은 60분 뒤에 끊긴다."),
    ("Dev builds keep 3 artifacts.", "Release builds keep 20 artifacts."),
    ("서비스 svc-10 포트는 8010으로 하기로 했어.", "서비스 svc-11 포트는 8011으로 하기로 했어."),
    ("서울 리전의 인스턴스는 4대로 유지해.", "도쿄 리전의 인스턴스는 2대로 유지해."),
    ("검색 API는 초당 50건까지 받는다.", "추천 API는 초당 20건까지 받는다."),
    ("We alert when CPU is above 80%.", "We alert when memory is above 90%."),
    ("무료 플랜은 프로젝트 3개까지야.", "프로 플랜은 프로젝트 50개까지야."),
]  # fmt: skip
CHANGES = [
    ("The login endpoint allows 5 requests per minute.", "The login endpoint allows 40 requests per minute."),
    ("당일 배송 마감은 오후 2시다.", "당일 배송 마감이 오후 1시로 당겨졌다."),
    ("Steam 출시일은 6월 18일로 잡혔어.", "Steam 출시가 7월 2일로 미뤄졌어."),
    ("The staging port is 8443.", "The staging port is 9443."),
    ("API 포트는 8080이다", "API 포트는 이제 9090이다"),
    ("The timeout of the export worker is 30 seconds.", "The timeout of the export worker is 2 minutes."),
    ("서비스 svc-10 포트는 8010으로 하기로 했어.", "서비스 svc-10 포트는 8510으로 하기로 했어."),
    ("The staging port is 8443.", "The staging port is 9000 now, no longer 8443."),
    ("We use 4 workers for the thumbnail queue.", "We now use 12 workers for the thumbnail queue."),
    ("The orders table is partitioned by 7 days.", "The orders table is partitioned by 30 days."),
    ("Emails to customers go out at 9am.", "Customer emails go out at 11am."),
]  # fmt: skip


@pytest.mark.parametrize(("older", "newer"), SIBLINGS)
def test_another_thing_of_its_kind_replaces_nothing(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.KEEP
    assert judge(newer, older) == Verdict.KEEP


@pytest.mark.parametrize(("older", "newer"), CHANGES)
def test_another_value_of_the_same_thing_does(older: str, newer: str) -> None:
    assert judge(older, newer) == Verdict.SUPERSEDE
