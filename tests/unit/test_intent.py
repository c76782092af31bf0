"""What a prompt wants of a memory, by its words: chat, orders, questions, follow-ups; and answers that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memlayer.core.follow_up import points_back
from memlayer.core.intent import ASKING, CHAT, ORDER, asks_anybody, asks_to_be_reminded, intent
from memlayer.core.non_answer import is_non_answer
from memlayer.core.turn import is_open_question


@pytest.mark.parametrize(
    "prompt",
    ["great work, thank you!", "phew, that was fun", "one sec, coffee", "좋아요 ㅎㅎ 수고하셨어요",
     "네네 감사합니다", "오 대박 ㅋㅋㅋ",
     "잠깐만 커피 마시고 올게", "lol nice 굿굿", "ㅇㅇ", "음... 좀 생각해볼게"],
)  # fmt: skip
def test_chat(prompt: str) -> None:
    assert intent(prompt) == CHAT


@pytest.mark.parametrize(
    "prompt",
    ["run the unit tests", "please commit this", "can you rename Cart to Basket everywhere?", "now deploy to staging",
     "테스트 돌려줘", "PR 올려주세요", "README 도 수정해줘", "ok, fix the type errors", "커밋하고 푸시하자"],
)  # fmt: skip
def test_orders(prompt: str) -> None:
    assert intent(prompt) == ORDER


@pytest.mark.parametrize(
    "prompt",
    ["which port does the proxy use?", "fix: why does checkout.py fail?", "show me what we decided about retries",
     "프록시 포트가 몇 번이었지?", "지난번에 정한 배포 순서 알려줘", "build 가 왜 실패했더라",
     "what did we change in the build",
     "test: the word test in a long sentence that goes on about the way the payment module was split in two last week"],
)  # fmt: skip
def test_what_asks_for_an_answer(prompt: str) -> None:
    assert intent(prompt) == ASKING


@pytest.mark.parametrize(
    ("prompt", "anybody"),
    [
        ("what is a monad?", True),
        ("how do I undo a git commit?", True),
        ("explain the difference between TCP and UDP", True),
        ("리스트랑 튜플 차이가 뭐야?", True),
        ("3 * 17 = ?", True),
        ("how do we undo a deploy?", False),
        ("explain why we dropped Redis", False),
        ("explain src/cart/basket.py", False),
        ("우리 캐시 정책 설명해줘", False),
        ("결제 재시도는 몇 번으로 했지?", False),
        ("which port does the proxy use?", False),
    ],
)
def test_general_knowledge(prompt: str, anybody: bool) -> None:
    assert asks_anybody(prompt) is anybody


@pytest.mark.parametrize(
    "prompt",
    ["build failed with exit code 137", "deploy failed: essential container exited", "push rejected on main",
     "merge conflict in pnpm-lock.yaml", "release date", "test database name", "commit hook skip flag",
     "log rotation broken on web-2", "export job hangs", "install EACCES", "update broke the cart badge",
     "start-up is slow", "upload limit", "deploy order of services", "type checking is slow", "log level in production",
     "build takes 20 minutes", "release job failing again", "sync fails with 409"],
)  # fmt: skip
def test_what_begins_with_a_noun_that_is_a_verb_elsewhere_asks(prompt: str) -> None:
    assert intent(prompt) == ASKING


@pytest.mark.parametrize(
    "prompt",
    ["fix the release token like last time", "use the default port we agreed on", "set it up the way we did before",
     "아까 정한 기본 포트로 바꿔줘", "지난번에 고쳤던 로그인 버튼 여백 문제 다시 고쳐줘", "저번처럼 배포해줘",
     "전에 말한 네이밍 규칙대로 바꿔줘"],
)  # fmt: skip
def test_an_order_that_goes_by_what_was_said_before_asks(prompt: str) -> None:
    assert intent(prompt) == ASKING


@pytest.mark.parametrize(
    "prompt",
    ["fix the failing tests", "retry failed jobs", "fix type errors", "restart the broken worker", "update version",
     "test login page on mobile", "push changes to main", "commit with a good message", "log the request id",
     "start server on port 8080", "export types from index.ts", "test the export job", "set log level to debug",
     "커밋해줘 🙏", "커밋해줘 ㅠㅠ", "어제 커밋 되돌려줘"],
)  # fmt: skip
def test_an_order_stays_one_whatever_it_is_about(prompt: str) -> None:
    assert intent(prompt) == ORDER


@pytest.mark.parametrize(
    ("prompt", "asks"),
    [("remind me what's left", True), ("what’s still left?", True), ("그 포트 뭐였더라", True),
     ("출시 전에 뭐 남았지?", True), ("남은 일 뭐야", True), ("remind me to drink water", False),
     ("remind me tomorrow", False), ("left-pad?", False), ("뭐 하는 거야", False), ("밥이 남았어", False)],
)  # fmt: skip
def test_what_asks_to_be_reminded(prompt: str, asks: bool) -> None:
    assert asks_to_be_reminded(prompt) is asks


@pytest.mark.parametrize(
    ("prompt", "back"),
    [
        ("why did we choose that?", True),
        ("그건 왜 그렇게 했지?", True),
        ("누가 정했어?", True),
        ("and the port?", True),
        ("which of the three message brokers did the payment team finally pick for the nightly settlement jobs", False),
        ("정산 배치 작업에서 결제팀이 최종적으로 고른 메시지 브로커 제품과 버전 그리고 큐 이름 규칙 알려줘", False),
    ],
)
def test_follow_ups(prompt: str, back: bool) -> None:
    assert points_back(prompt) is back


@pytest.mark.parametrize(
    ("prompt", "answer", "none"),
    [
        ("What is the staging URL?", "I couldn't find it anywhere in the repository.", True),
        ("What is the staging URL?", "I can't find it here.", True),
        ("What is the staging URL?", "I don’t see it in the repository.", True),
        ("스테이징 주소가 뭐였지?", "저장소에는 적혀 있지 않습니다. 인프라 팀에 확인해 보셔야 합니다.", True),
        ("who owns billing?", "", False),  # nothing came back at all: see is_open_question()
        ("What is the staging URL?", "It is https://stg.example.org, port 8443.", False),
        ("스테이징 주소가 뭐였지?", "stg.example.org 입니다. 포트는 8443 입니다.", False),
        ("Add a test", "I could not find a test folder, so I made tests/.", False),  # no question
        ("Do we retry?", "No: a payment is never retried. Nothing in the API allows it." + " Because." * 80, False),
    ],
)
def test_answers_that_are_none(prompt: str, answer: str, none: bool) -> None:
    assert is_non_answer(prompt, [answer]) is none


@pytest.mark.parametrize(
    ("prompt", "answer", "is_open"),
    [
        ("What's our VPN CIDR? For the third time", "I still can't see it anywhere, sorry.", True),
        ("관리자 페이지 주소가 뭐였지? 또 까먹음", "저장소에는 적혀 있지 않습니다.", True),
        ("What's the port? We moved the proxy to nginx last week.", "I can't find it in the repository.", False),
        ("포트가 뭐야? 지난주에 프록시를 엔진엑스로 옮기면서 바뀌었을거야", "찾지 못했습니다.", False),
        ("Which database? Use Postgres.", "", False),
        ("Which database?", "", True),
    ],
)
def test_questions_without_an_answer_stay_open(prompt: str, answer: str, is_open: bool) -> None:
    assert is_open_question(prompt, [answer]) is is_open


@given(st.text(max_size=300))
def test_nothing_raises(text: str) -> None:
    assert intent(text) in (CHAT, ORDER, ASKING)
    assert isinstance(asks_anybody(text), bool)
    assert isinstance(points_back(text), bool)
    assert isinstance(is_non_answer(text, [text]), bool)
