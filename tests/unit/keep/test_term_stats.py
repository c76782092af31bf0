"""The document frequency sketch: weights, updates, and saved counts."""

import os
from pathlib import Path

import pytest

from memlayer.keep.indexer import RECENT, TermStats, term_weight
from memlayer.ports import Holding
from tests.support.memory_store import MemoryStore
from tests.support.store_rows import make_chunk


def counted(*texts: str) -> TermStats:
    stats = TermStats()
    for number, text in enumerate(texts):
        stats.add("chunk %d" % number, text.split())
    return stats


def weight(stats: TermStats, term: str) -> float:
    return stats.weights([term])[term]


def test_a_weight_is_the_term_weight() -> None:
    stats = counted("결제 모듈 결제", "결제 포트", "order 포트")
    assert stats.documents == 3
    for term, holding in (("결제", 2), ("포트", 2), ("order", 1), ("없는말", 0)):
        assert weight(stats, term) == pytest.approx(term_weight(3, holding)), term


def test_half_of_it_goes_by_the_project() -> None:
    stats = counted(*["배포 server"] * 50, *["other"] * 50)
    found = stats.weights(["배포", "server"], Holding(20, {"배포": 20}))
    everywhere, own = term_weight(100, 50), term_weight(20, 20)
    assert found["배포"] == pytest.approx((everywhere + own) / 2)
    assert found["server"] == pytest.approx((everywhere + term_weight(20, 0)) / 2)
    assert found["배포"] < found["server"]


def test_the_rarer_the_heavier() -> None:
    stats = counted(*["흔한 말"] * 90, *["드문 말"] * 9, "유일한 말")
    heavy = sorted(["흔한", "드문", "유일한", "말", "unseen"], key=lambda term: -weight(stats, term))
    assert heavy == ["unseen", "유일한", "드문", "흔한", "말"]


def test_a_term_counts_once_a_chunk_and_any_text_is_a_term() -> None:
    stats = counted("x x x")
    assert weight(stats, "x") == pytest.approx(term_weight(1, 1))
    assert weight(stats, "\udc80") == pytest.approx(term_weight(1, 0))


def test_a_chunk_that_is_counted_again_replaces_itself() -> None:
    stats = counted("결제 모듈")
    stats.add("chunk 0", ["결제", "포트"])
    assert stats.documents == 1
    held = {term: weight(stats, term) for term in ("결제", "포트", "모듈")}
    one, none = term_weight(1, 1), term_weight(1, 0)
    assert held == pytest.approx({"결제": one, "포트": one, "모듈": none})


def test_only_recent_chunks_can_replace_themselves() -> None:
    stats = TermStats()
    stats.add("old", ["옛말"])
    for number in range(RECENT - 1):
        stats.add("chunk %d" % number, ["채움"])
    stats.add("old", ["새말"])
    assert stats.documents == RECENT  # it was the last that could
    for number in range(RECENT):
        stats.add("more %d" % number, ["채움"])
    stats.add("old", ["또"])
    assert stats.documents == 2 * RECENT + 1


def test_store_and_ingest_counts_agree() -> None:
    store, stats = MemoryStore(), TermStats()
    chunks = [
        make_chunk(number, text) for number, text in enumerate(["결제 모듈은 NestJS", "배포는 화요일", "port 5433"])
    ]
    store.put_chunks(chunks)
    for chunk in chunks:
        stats.add(chunk.id, chunk.terms.split())
    anew = TermStats.counted(store)
    terms = {term for chunk in chunks for term in chunk.terms.split()} | {"nothing"}
    assert anew.documents == stats.documents == 3
    assert anew.weights(terms) == stats.weights(terms)


def test_saved_and_loaded_it_is_the_same(tmp_path: Path) -> None:
    stats = counted("결제 모듈", "결제 포트")
    path = tmp_path / "cache" / "terms.bin"
    stats.save(path)
    loaded = TermStats.load(path, 2)
    assert loaded is not None and loaded.documents == 2
    terms = ["결제", "모듈", "포트", "없는말"]
    assert loaded.weights(terms) == stats.weights(terms)
    assert path.stat().st_mode & 0o777 == 0o600
    assert "결제".encode() not in path.read_bytes()


@pytest.mark.parametrize(
    ("documents", "fits"), [(100, True), (105, True), (96, True), (94, False), (106, False), (0, False)]
)
def test_counts_of_another_store_are_not_loaded(tmp_path: Path, documents: int, fits: bool) -> None:
    counted(*["말"] * 100).save(tmp_path / "terms.bin")
    assert (TermStats.load(tmp_path / "terms.bin", documents) is not None) == fits


def test_a_missing_or_unreadable_file_is_none(tmp_path: Path) -> None:
    assert TermStats.load(tmp_path / "none", 0) is None
    assert TermStats.load(tmp_path, 0) is None


def test_a_damaged_file_is_none(tmp_path: Path) -> None:
    path = tmp_path / "terms.bin"
    counted("결제 모듈").save(path)
    whole = path.read_bytes()
    magic, documents, packed = whole.split(b"\n", 2)
    damaged = [
        b"", b"\n\n", os.urandom(5000), whole[: len(whole) // 2], whole[:-1], whole.replace(magic, b"another", 1),
        magic + b"\nmany\n" + packed, magic + b"\n-1\n" + packed, magic + b"\n" + documents + b"\n",
        magic + b"\n" + documents + b"\n" + os.urandom(len(packed)),
    ]  # fmt: skip
    for data in damaged:
        path.write_bytes(data)
        assert TermStats.load(path, 1) is None, data[:40]
    path.write_bytes(whole)
    assert TermStats.load(path, 1) is not None
