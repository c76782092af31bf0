"""Chunks and sentences: what they cover, where they break, how tokens are estimated."""

import base64
import random
import time
from itertools import pairwise

import pytest

from memlayer.text.chunking import chunk, estimate_tokens, sentences
from tests.support.tables import tables

# (text, tokens that the shipped model's tokenizer makes of it, without special tokens)
COUNTED = tables("text/chunking")["counted"]


@pytest.mark.parametrize(("text", "tokens"), COUNTED)
def test_estimate_is_near_the_tokenizer(text: str, tokens: int) -> None:
    assert tokens * 0.85 <= estimate_tokens(text) <= tokens * 1.4


def test_short_text_is_one_chunk() -> None:
    text = "결제 모듈은 월요일에 배포한다. " * 20
    assert estimate_tokens(text) <= 400
    assert chunk(text) == [(0, len(text))]
    assert chunk("") == []


def test_breaks_at_paragraphs_then_sentences() -> None:
    paragraph = "우리는 주문 이벤트를 옮기기로 했다. 이유는 쓰기 부하였다. " * 6
    text = "\n\n".join([paragraph.strip()] * 8)
    for span in chunk(text)[1:-1]:
        assert text[: span.end].endswith("\n\n"), text[span.end - 10 : span.end]
    flat = "The orders moved to another store because of writes. " * 80
    for span in chunk(flat)[:-1]:
        assert flat[: span.end].endswith("writes. ")
        assert flat[span.start :].startswith("The orders")


def test_overlap_is_about_what_was_asked() -> None:
    text = " ".join(f"word{at}" for at in range(3000))
    spans = chunk(text, max_tokens=200, overlap_tokens=40)
    for left, right in pairwise(spans):
        shared = estimate_tokens(text[right.start : left.end])
        assert 30 <= shared <= 40


def test_one_long_line_without_spaces() -> None:
    rng = random.Random(7)
    blob = base64.b64encode(rng.randbytes(750_000)).decode()
    began = time.process_time()
    spans = chunk(blob)
    assert time.process_time() - began < 6
    assert spans[0].start == 0 and spans[-1].end == len(blob)
    assert all(estimate_tokens(blob[span.start : span.end]) <= 400 for span in spans[:50])


def test_clusters_stay_whole() -> None:
    family = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
    text = family * 300 + "e\u0301" * 300
    for span in chunk(text, max_tokens=50, overlap_tokens=0)[1:]:
        assert text[span.start] not in "\u0301\u200d"
        assert text[span.start - 1] != "\u200d"


def test_sentences() -> None:
    text = (
        "버전 3.14로 올렸다. checkout.py를 고쳤어요. "
        "e.g. this one? See https://x.io/a?b=1. 결제했다.그리고 끝! \n"
        "- item one\n- 항목 둘\n1. first thing\nDr. Who came. 完了しました。次へ"
    )
    assert [text[span.start : span.end] for span in sentences(text)] == [
        "버전 3.14로 올렸다.",
        "checkout.py를 고쳤어요.",
        "e.g. this one?",
        "See https://x.io/a?b=1.",
        "결제했다.",
        "그리고 끝!",
        "- item one",
        "- 항목 둘",
        "1. first thing",
        "Dr. Who came.",
        "完了しました。",
        "次へ",
    ]


def test_white_space_inside_the_overlap_does_not_stall() -> None:
    spans = chunk(":\r0", max_tokens=1, overlap_tokens=0)
    assert [(span.start, span.end) for span in spans][-1][1] == 3
    assert all(later.end > earlier.end for earlier, later in pairwise(spans))


@pytest.mark.timeout(30)
@pytest.mark.parametrize("run", ["." * 200_000, "테스트" + "." * 200_000 + "x", "?!" * 100_000 + "x", '."' * 100_000])
def test_a_run_of_stops_is_read_once(run: str) -> None:
    assert [text for text in (run[span.start : span.end] for span in sentences(run)) if text] == [run]
