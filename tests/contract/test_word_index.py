"""Words in memory: BM25 order after changes, and the table's rows."""

import math
import random
import threading
import time
from pathlib import Path

import pytest

from memlayer.adapters.lance.search import MAX_WORD_ROWS, ChunkSearch
from memlayer.adapters.lance.store import LanceStore
from memlayer.adapters.search.project_rows import GOES_FIRST_S, RecentProjects
from memlayer.adapters.search.word_index import ProjectWords
from memlayer.model import Chunk, Scope, replace
from memlayer.ports import Holding
from memlayer.text.terms import K1, B
from tests.support.store_rows import DIMENSIONS, make_chunk

WORDS = [
    "배포", "화요일", "retry", "결제", "backoff", "port", "8443", "캐시", "redis", "세션", "만료", "token", "queue",
    "정산", "batch",
]  # fmt: skip
Texts = dict[str, str]


def corpus(count: int, seed: int = 3) -> Texts:
    """id -> words, some of them often."""
    dice = random.Random(seed)
    return {"c%d" % number: " ".join(dice.choices(WORDS, k=dice.randint(1, 30))) for number in range(count)}


def filled(texts: Texts, batch: int = 7, packed_rows: int = 8192) -> ProjectWords:
    project, ids = ProjectWords(packed_rows), list(texts)
    for start in range(0, len(ids), batch):
        some = ids[start : start + batch]
        project.put(some, ["세션%d" % (int(name[1:]) % 3) for name in some], [texts[name] for name in some])
    return project


def by_hand(texts: Texts, words: str) -> dict[str, float]:
    """BM25 of every text that holds one of the words."""
    split = {key: text.split() for key, text in texts.items()}
    mean = sum(map(len, split.values())) / len(split)
    scores: dict[str, float] = {}
    for word in dict.fromkeys(words.split()):
        holding = {key: found.count(word) for key, found in split.items() if word in found}
        rarity = math.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
        for key, count in holding.items():
            score = rarity * count * (K1 + 1) / (count + K1 * (1 - B + B * len(split[key]) / mean))
            scores[key] = scores.get(key, 0.0) + score
    return scores


PACKED = pytest.mark.parametrize("packed_rows", [8192, 64, 50, 1])


@PACKED
@pytest.mark.parametrize("words", ["배포", "배포 화요일 retry", "8443 8443 없는말", "redis 세션 만료 token queue 정산"])
def test_it_ranks_as_bm25_does(words: str, packed_rows: int) -> None:
    texts = corpus(200)
    expected = by_hand(texts, words)
    found = filled(texts, packed_rows=packed_rows).best(words, 1000, "", "")
    assert {key for _, key in found} == set(expected)
    assert [score for score, _ in found] == pytest.approx(sorted(expected.values(), reverse=True))
    for score, key in found:
        assert score == pytest.approx(expected[key])
    assert filled(texts).best(words, 5, "", "") == found[:5] or found[4][0] == pytest.approx(found[5][0])


@PACKED
def test_removed_rows_leave_no_trace(packed_rows: int) -> None:
    texts = corpus(300)
    project = filled(texts, packed_rows=packed_rows)
    changed = {"c%d" % number: "배포 새로 %d" % number for number in range(0, 300, 5)}
    gone = ["c%d" % number for number in range(1, 300, 7)]
    project.put(list(changed), ["세션0"] * len(changed), list(changed.values()))
    project.remove([*gone, "never-there"])
    left = {key: text for key, text in {**texts, **changed}.items() if key not in gone}
    assert len(project) == len(left)
    for words in ("배포 새로", "redis 배포", "결제"):
        expected = by_hand(left, words)
        assert {key: pytest.approx(score) for score, key in project.best(words, 1000, "", "")} == expected


def test_sessions_are_wanted_or_left_out() -> None:
    texts = corpus(60)
    project = filled(texts)
    everything = {key for _, key in project.best("배포 redis", 1000, "", "")}
    only = {key for _, key in project.best("배포 redis", 1000, "세션1", "")}
    others = {key for _, key in project.best("배포 redis", 1000, "", "세션1")}
    assert only == {key for key in everything if int(key[1:]) % 3 == 1}
    assert others == everything - only
    assert project.best("배포", 10, "no such session", "") == []
    assert {key for _, key in project.best("배포 redis", 1000, "", "no such session")} == everything


def test_rare_words_take_little_memory() -> None:
    texts = {"c%d" % number: "낱말%d word%d 배포" % (number, number) for number in range(1000)}
    loose, packed = filled(texts), filled(texts, packed_rows=100)
    assert packed.nbytes < loose.nbytes / 3
    assert packed.best("낱말999", 5, "", "") == loose.best("낱말999", 5, "", "")


def test_rows_without_a_word_are_packed_as_well() -> None:
    project = filled(dict.fromkeys(["c%d" % number for number in range(20)], ""), packed_rows=4)
    project.put(["c99"], ["s"], ["배포"])
    assert [key for _, key in project.best("배포 redis", 5, "", "")] == ["c99"]


def test_an_empty_project_and_unknown_words_find_nothing() -> None:
    assert ProjectWords().best("배포", 10, "", "") == []
    project = filled(corpus(10))
    assert project.best("", 10, "", "") == project.best("없는말", 10, "", "") == []
    project.remove(list(corpus(10)))
    assert project.best("배포", 10, "", "") == []


def test_oldest_project_is_evicted() -> None:
    size = filled(corpus(300)).nbytes
    index = RecentProjects[ProjectWords](2 * size + size // 2)
    for name in "abc":
        index.load((name, ""), filled(corpus(300)))
    assert index.get(("a", "")) is None and index.get(("b", "")) is not None and index.get(("c", "")) is not None
    index.remove(["c%d" % number for number in range(100)])
    assert index.get(("b", "")) is None
    index.put(("nowhere", ""), ["x"], ["s"], ["배포"])
    assert index.get(("nowhere", "")) is None


def rows(texts: Texts, project_id: str = "p1") -> list[Chunk]:
    return [
        replace(make_chunk(int(key[1:]), session="세션%d" % (int(key[1:]) % 3), project=project_id), id=key, terms=text)
        for key, text in texts.items()
    ]


def test_memory_and_table_search_agree(tmp_path: Path) -> None:
    store = LanceStore.open(tmp_path / "store", DIMENSIONS)
    texts = corpus(120)
    store.put_chunks(rows(texts))
    scopes = [Scope(("p1",)), Scope(("p1",), session_id="세션1"), Scope(("p1",), excluded_session_id="세션2")]
    queries = ["배포", "8443 redis", "정산 batch 만료"]
    search: ChunkSearch = store._search

    def found() -> list[set[str]]:
        asked = [(query.split(), scope) for query in queries for scope in scopes]
        return [{hit.chunk.id for hit in store.search_text(words, scope, 500)} for words, scope in asked]

    from_table = found()
    assert all(from_table)
    search.warm("p1", "no model")
    assert search._words.get(("p1", "")) is not None
    assert found() == from_table
    store.put_chunks(rows({"c500": "새로운말 배포"}))
    assert [hit.chunk.id for hit in store.search_text(["새로운말"], Scope(("p1",)), 5)] == ["c500"]
    store.close()


def test_huge_project_searched_in_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_WORD_ROWS > 10_000
    monkeypatch.setattr("memlayer.adapters.lance.search.MAX_WORD_ROWS", 20)
    store = LanceStore.open(tmp_path / "store", DIMENSIONS)
    store.put_chunks(rows(corpus(30)))
    store._search.warm("p1", "no model")
    assert store._search._words.get(("p1", "")) is None
    assert store.search_text(["배포", "redis"], Scope(("p1",)), 5)
    store.close()


def test_searches_go_before_loading(tmp_path: Path) -> None:
    store = LanceStore.open(tmp_path / "store", DIMENSIONS)
    store.put_chunks(rows(corpus(30)))
    elsewhere = Scope(("p2",))  # has nothing to load
    store.search_text(["배포"], elsewhere, 5)
    started = time.monotonic()
    store._search.warm("p1", "no model")
    assert time.monotonic() - started >= GOES_FIRST_S / 2  # the search itself took the rest

    store._search.clear()
    enough = threading.Event()

    def ask() -> None:
        while not enough.is_set():
            store.search_text(["배포"], elsewhere, 5)

    asker = threading.Thread(target=ask)
    asker.start()
    try:
        store._search.warm("p1", "no model")
        assert store._search._words.get(("p1", "")) is not None
    finally:
        enough.set()
        asker.join()
    store.close()


@PACKED
def test_top_rows_follow_bm25(packed_rows: int) -> None:
    texts = corpus(2000)
    project = filled(texts, batch=100, packed_rows=packed_rows)
    gone = ["c%d" % number for number in range(0, 2000, 9)]
    project.remove(gone)
    expected = by_hand({key: text for key, text in texts.items() if key not in gone}, "배포 화요일 redis")
    best = sorted(expected.values(), reverse=True)
    for limit in (1, 3, 7, 40):
        found = project.best("배포 화요일 redis", limit, "", "")
        assert [score for score, _ in found] == pytest.approx(best[:limit])
        assert all(score == pytest.approx(expected[key]) for score, key in found)


def test_document_counts_stay_true() -> None:
    texts = corpus(300)
    project = filled(texts)
    words = ["배포", "redis", "없는말"]

    def counted() -> dict[str, int]:
        return {word: sum(word in text.split() for text in texts.values()) for word in words}

    assert project.holding(words).by_term == counted()
    project.best("배포 redis 8443", 5, "", "")
    assert project.holding(words).by_term == counted()
    texts["c7"] = "배포 redis 없는말"
    project.put(["c7"], ["세션0"], [texts["c7"]])
    assert project.holding(words).by_term == counted()
    project.best("배포 redis 8443", 5, "", "")
    del texts["c7"]
    project.remove(["c7"])
    assert project.holding(words) == Holding(299, counted())
