"""Alignment of quotes: exact, re-spaced, slips of copying; never an invention."""

import unicodedata

import pytest

from memlayer.notes.session_turns import align_in_turns
from memlayer.turns.evidence import Method, align, from_json, to_json
from tests.support.notes_in_memory import turn
from tests.support.tables import tables

TEXT = (
    "웹훅이 왜 두 번 오는지 봐줘. 재시도 간격을 30초로 늘려봤는데 소용없었어.\n"
    "The checkout endpoint keeps throwing KeyError: 'currency' since the legacy carts came back.\n"
    "앞으로 정산 테스트는 샌드박스 상점 test-shop-2로만 돌려줘, 운영 상점은 절대 쓰지 마. 🚀 배포는 화요일이야.\n"
    "We decided to keep the 45m notarize timeout — Apple's service is “unpredictable”, and 20m was too short.\n"
    "결제 모듈은 토스페이먼츠에서 포트원으로 바꾸기로 했어, 정산 주기 때문이야. café 메뉴는 그대로."
)
WORDS = TEXT.replace("\n", " ").split(" ")
PASSAGES = [" ".join(WORDS[start : start + 7]) for start in range(0, len(WORDS) - 7, 2)]
INVENTED = tables("turns/evidence")["invented"]


def test_copied_words_are_exact() -> None:
    assert len(PASSAGES) >= 25
    for passage in PASSAGES:
        span = align(passage, TEXT.replace("\n", " "))
        assert span is not None and (span.method, span.confidence) == (Method.EXACT, 1.0)


@pytest.mark.parametrize("form", ["spaces", "lines", "case", "nfd", "quotes"])
def test_same_words_in_another_form_are_found(form: str) -> None:
    change = {
        "spaces": lambda text: text.replace(" ", "  "),
        "lines": lambda text: text.replace(" ", "\n", 2),
        "case": lambda text: text.upper(),
        "nfd": lambda text: unicodedata.normalize("NFD", text),
        "quotes": lambda text: text.replace("“", '"').replace("”", '"').replace("—", "-").replace("'", "’"),
    }[form]
    found = [align(change(passage), TEXT) for passage in PASSAGES]
    assert sum(span is not None for span in found) >= 0.95 * len(PASSAGES)
    for passage, span in zip(PASSAGES, found, strict=True):
        if span is not None and span.method is Method.NORMALISED:
            assert " ".join(TEXT[span.start : span.end].split()).lower() == passage.lower()


@pytest.mark.parametrize("quote", INVENTED)
def test_inventions_are_not_found(quote: str) -> None:
    assert align(quote, TEXT) is None


@pytest.mark.parametrize(
    "quote",
    [
        "재시도 간격을 45초로 늘려봤는데 소용없었어",
        "keep the 15m notarize timeout — Apple's service is",
        "정산 테스트는 샌드박스 상점 test-shop-3로만 돌려줘",
    ],
)
def test_another_number_is_another_statement(quote: str) -> None:
    assert align(quote, TEXT) is None


def test_slip_of_copying_is_fuzzy_and_points_at_the_words() -> None:
    span = align("The checkout endpont keeps throwing KeyError: 'currency' since legacy carts", TEXT)
    assert span is not None and span.method is Method.FUZZY and 0.85 <= span.confidence < 1
    assert "KeyError: 'currency'" in TEXT[span.start : span.end]


@pytest.mark.parametrize("quote", ["", "짧다", "ok", "  \n ", "가" * 500])
def test_too_short_or_too_long_is_no_quote(quote: str) -> None:
    assert align(quote, TEXT + "가" * 600) is None


def test_long_turn() -> None:
    long = "로그 한 줄입니다. " * 10_000
    span = align("토스페이먼츠에서 포트원으로 바꾸기로 했어", long + TEXT)
    assert span is not None and span.method is Method.EXACT


def test_wrong_number_of_a_turn_is_a_hint_only() -> None:
    turns = [
        turn(1, "배포는 화요일 오전 열 시에 하기로 했어.", "네."),
        turn(2, "고마워", "The port of staging is 8443 now."),
    ]
    place = align_in_turns("The port of staging is 8443", 1, turns)
    assert place is not None
    found, evidence = place
    assert (found.number, evidence.prompt_id, evidence.speaker) == (2, "p2", "assistant")
    other = align_in_turns("배포는 화요일 오전 열 시에", 0, turns)
    assert other is not None and (other[0].number, other[1].speaker) == (1, "user")
    assert from_json(to_json([evidence, other[1]])) == [evidence, other[1]]
    assert from_json("torn{") == [] == from_json("")
