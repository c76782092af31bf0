"""A long paste: its words first, vectors in pieces, of lines that repeat only the ends."""

from itertools import pairwise
from pathlib import Path

import pytest

from memlayer.adapters.sqlite_files import EmbeddingCache
from memlayer.keep.indexer import CHARS_AT_ONCE
from memlayer.model import Chunk, Scope
from memlayer.text.terms import query_terms
from memlayer.turns.turn import END_PIECES, MANY_PIECES, pieces
from tests.support.hash_embedder import HashEmbedder
from tests.support.turns_in_memory import TurnsInMemory

STEPS = 3000
WHEN = "2026-03-04T10:00:%02d "
PROSE = "\n".join(
    "%s번 결정: %s 모듈은 %s 큐를 쓰고 owner decides."
    % tuple(chr(0xAC00 + n * prime % 11_172) for prime in (7, 97, 5003))
    for n in range(STEPS)
)
LOG = [WHEN % (n % 60) + "INFO worker-%d took job %d in %d ms" % (n % 7, n * 31, n % 900) for n in range(STEPS)]
KOREAN_LOG = [
    WHEN % (n % 60) + "정보 작업-%d 완료, %d건 처리, 경로 /srv/shop/%d" % (n % 7, n * 31, n) for n in range(STEPS)
]


def cut(text: str) -> list[tuple[int, int, str]]:
    return pieces(text)


def chunks_of(memory: TurnsInMemory, query: str) -> list[Chunk]:
    return [hit.chunk for hit in memory.store.search_text(query_terms(query), Scope(None), 1000)]


@pytest.mark.parametrize("lines", [LOG, KOREAN_LOG])
@pytest.mark.parametrize("place", [700, 1500, 2999])
def test_of_a_log_the_ends_and_the_lines_that_differ_stay(lines: list[str], place: int) -> None:
    log = [*lines[:place], "FATAL 원장이 찢어졌다: the ledger is torn", *lines[place:]]
    text = "왜 느린지 봐줘:\n" + "\n".join(log)
    kept = cut(text)
    assert 2 * END_PIECES <= len(kept) <= 2 * END_PIECES + 3
    assert (kept[0][0], kept[-1][1]) == (0, len(text))
    assert any("원장이 찢어졌다" in piece for _, _, piece in kept)
    assert all(start < other for (start, _, _), (other, _, _) in pairwise(kept))


@pytest.mark.parametrize("text", [PROSE, PROSE.replace("\n", " "), "\n".join(LOG[:120])])
def test_of_prose_and_of_a_short_log_all_stays(text: str) -> None:
    kept = cut(text)
    assert (kept[0][0], kept[-1][1]) == (0, len(text))
    assert all(other <= end for (_, end, _), (other, _, _) in pairwise(kept)), "without a hole"


@pytest.mark.parametrize("text", [PROSE, PROSE.replace("\n", " ")])
def test_pieces_of_a_long_text_share_nothing(text: str) -> None:
    kept = cut(text)
    assert len(kept) > MANY_PIECES
    assert all(end >= start and not text[start:end].strip() for (_, end, _), (start, _, _) in pairwise(kept))


@pytest.fixture
def memory(home: Path) -> TurnsInMemory:
    return TurnsInMemory(home, HashEmbedder())


def test_words_of_a_long_text_are_found_before_its_vectors_come(memory: TurnsInMemory) -> None:
    memory.turn("s1", "p1", PROSE)
    found = chunks_of(memory, "모듈은 owner")
    with_vector = [chunk for chunk in found if chunk.model]
    assert 0 < sum(len(chunk.text) for chunk in with_vector) < 2 * CHARS_AT_ONCE
    assert len(found) > MANY_PIECES and memory.indexer.is_behind
    while memory.indexer.embed_some(16):
        pass
    assert all(chunk.model for chunk in chunks_of(memory, "모듈은 owner"))


def test_short_turns_have_their_vectors_at_once(memory: TurnsInMemory) -> None:
    for number in range(20):
        memory.turn("s%d" % number, "p1", "결제 모듈 포트는 %d번이다" % number, "네.")
    assert all(chunk.model for chunk in chunks_of(memory, "결제 모듈 포트")) and not memory.indexer.is_behind


def test_a_text_whose_vectors_are_all_known_is_taken_in_again(memory: TurnsInMemory, home: Path) -> None:
    memory.indexer._cache = EmbeddingCache(home / "embeddings.sqlite")
    for session in ("s1", "s2"):  # the same words in another session: nothing is left to embed
        memory.turn(session, "p1", "배포는 목요일에만 한다.", "Noted: Thursdays only.")
    assert {chunk.session_id for chunk in chunks_of(memory, "배포는 목요일에만") if chunk.model} == {"s1", "s2"}
