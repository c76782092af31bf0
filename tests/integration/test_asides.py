"""Prompts that ask nothing of a memory bring nothing back, by the model that ships; those that ask still do."""

from __future__ import annotations

import unicodedata

import pytest

from memlayer.service.recall import RecallRules
from memlayer.service.sessions import Session
from tests.turns_in_memory import T0_MS, TurnsInMemory

RULES = RecallRules()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> TurnsInMemory:
    said = (
        ("고마워 오늘은 여기까지", "수고하셨습니다."),
        ("ok that'll do", "Good."),
        ("예쁘네", "마음에 드신다니 다행입니다."),
        ("commit everything", "Committed in four commits."),
        ("fix clippy warnings", "Fixed all 9 warnings. CI now denies new ones."),
        ("golden tests fail on the linux runner", "The fonts differ there; they fail because Noto is missing."),
        ("앞으로 커밋 메시지는 한국어로 써줘", "알겠습니다. 커밋 메시지는 한국어로 쓰겠습니다."),
        ("which port does the stripe webhook listen on?", "4242, forwarded by the stripe CLI."),
        ("what is missing before the release?", "Two things are left: the payment test and the docs."),
        ("배포 전에 할 일 정리해줘", "남은 일은 마이그레이션 점검과 롤백 연습입니다."),
    )
    return TurnsInMemory.by_the_shipped_model(tmp_path_factory.mktemp("home"), said, a_session=99)


@pytest.mark.parametrize(
    "prompt",
    [
        "my cat just walked over the keyboard again",
        "오늘 왜 이러지 되는 게 하나도 없네",
        "휴가 다녀오니까 좋다",
        "I owe you one for this",
        "what did you just change?",
        "방금 뭐 바꾼 거야?",
        "왜 안 돼?",
        "show me the diff",
        "remind me to drink water",
        "I told you already",
        "what did you do?",
        "아까 말했잖아",
        "기억력이 안 좋아졌어 요즘",
    ],
)
def test_an_aside_brings_nothing_back(memory: TurnsInMemory, prompt: str) -> None:
    assert memory.ask(prompt, RULES).block == ""


@pytest.mark.parametrize(
    ("prompt", "due"),
    [
        ("미안한데 그 스트라이프 웹훅 포트 몇 번이었지?", "4242"),
        ("lol sorry, what was that stripe webhook port again?", "4242"),
        ("왜 리눅스 러너에서 골든 테스트가 실패하지?", "Noto"),
        ("커밋해줘", "한국어로"),
        ("remind me what's left", "payment test"),
        ("what is still left?", "payment test"),
        ("할 일 뭐 남았어?", "롤백 연습"),
    ],
)
def test_what_asks_does_however_it_is_put(memory: TurnsInMemory, prompt: str, due: str) -> None:
    assert due in memory.ask(prompt, RULES).block


@pytest.mark.parametrize(
    ("prompt", "due"),
    [
        ("왜 리눅스 러너에서 골든 테스트가 실패하지?", "Noto"),
        ("할 일 뭐 남았어?", "롤백 연습"),
        ("커밋해줘", "한국어로"),
    ],
)
def test_decomposed_hangul_asks_the_same(memory: TurnsInMemory, prompt: str, due: str) -> None:
    assert due in memory.ask(unicodedata.normalize("NFD", prompt), RULES).block


def test_a_follow_up_that_says_nothing_itself_is_read_with_the_turn_before(memory: TurnsInMemory) -> None:
    live = Session(id="s2", since_ms=T0_MS + 500_000, last_ms=T0_MS + 900_000, context_since_ms=T0_MS + 500_000)
    memory.turn("s2", "p1", "the golden tests are red on the linux runner", "I see it.", at=600_000)
    assert memory.ask("그건 왜 그런 거지?", RULES).block == ""
    assert "Noto" in memory.ask("그건 왜 그런 거지?", RULES, live).block
