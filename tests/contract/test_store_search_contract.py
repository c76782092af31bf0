"""Search contract of ports.Store, over the double and LanceDB."""

import pytest

from memlayer.errors import StoreError
from memlayer.model import Scope, replace
from memlayer.ports import Holding, Store
from memlayer.text.terms import query_terms
from tests.support.store_rows import EMBEDDER, make_chunk, make_event

P1 = Scope(("p1",))
EVERYWHERE = Scope(None)
MODEL = EMBEDDER.fingerprint


def found_by_text(store: Store, question: str, scope: Scope = P1, limit: int = 10) -> list[str]:
    return [hit.chunk.memory_id for hit in store.search_text(query_terms(question), scope, limit)]


def found_by_vector(store: Store, text: str, scope: Scope = P1, limit: int = 10) -> list[str]:
    hits = store.search_vector(EMBEDDER.embed_query(text), MODEL, scope, limit)
    return [hit.chunk.memory_id for hit in hits]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("과제를 제출했어", "과제 언제까지였지?"),
        ("결제모듈은 따로 배포한다", "결제 모듈 배포"),
        ("checkout.py fails", "what broke in checkout.py?"),
        ("call normalize_cart first", "normalize_cart"),
    ],
)
def test_text_is_found(store: Store, text: str, question: str) -> None:
    store.put_chunks([make_chunk(1, text), make_chunk(2, "something else altogether")])
    assert found_by_text(store, question)[:1] == ["m1"]


def test_text_hits_carry_the_chunk_and_a_score(store: Store) -> None:
    chunk = make_chunk(1, "결제 모듈 이전", embedded=True)
    store.put_chunks([chunk])
    [hit] = store.search_text(query_terms("결제"), P1, 5)
    assert hit.chunk == replace(chunk, vector=None)
    assert hit.lexical is not None and hit.lexical > 0
    assert hit.cosine is None


def test_more_matching_terms_rank_higher(store: Store) -> None:
    store.put_chunks([make_chunk(1, "alpha"), make_chunk(2, "alpha beta"), make_chunk(3, "gamma")])
    assert found_by_text(store, "alpha beta") == ["m2", "m1"]


@pytest.mark.parametrize("word", ["+", '"', "alpha*", "-alpha", "alpha~1", "(", "OR", "AND", "alpha^2", "\\", "'", ":"])
def test_no_character_in_a_term_alters_the_query(store: Store, word: str) -> None:
    store.put_chunks([make_chunk(1, "alpha"), make_chunk(2, "beta"), replace(make_chunk(3), terms=word)])
    assert [hit.chunk.memory_id for hit in store.search_text([word], P1, 5)] == ["m3"]
    both = store.search_text([word, "beta"], P1, 5)
    assert sorted(hit.chunk.memory_id for hit in both) == ["m2", "m3"]


def test_project_document_counts(store: Store) -> None:
    store.put_chunks(
        [make_chunk(1, "배포 서버"), make_chunk(2, "배포 alpha"), make_chunk(3, "배포", project="p2", session="s3")]
    )
    assert store.holding(["배포"], "p1") in (None, Holding(2, {"배포": 2}))
    store.warm("p1", MODEL)
    asked = [*query_terms("배포 alpha"), "없는말"]
    assert store.holding(asked, "p1") == Holding(2, {"배포": 2, "alpha": 1, "없는말": 0})
    store.drop_chunks(["m2"])
    store.warm("p1", MODEL)
    assert store.holding(asked, "p1") == Holding(1, {"배포": 1, "alpha": 0, "없는말": 0})
    assert store.holding([], "p1") == Holding(1, {})


def test_no_terms_find_nothing(store: Store) -> None:
    store.put_chunks([make_chunk(1)])
    assert store.search_text([], P1, 5) == []
    assert store.search_text([" "], P1, 5) == []
    assert store.search_text(["text"], P1, 0) == []


def test_search_stays_in_its_scope(store: Store) -> None:
    store.put_chunks(
        [
            make_chunk(1, "alpha", embedded=True),
            make_chunk(2, "alpha", session="s2", embedded=True),
            make_chunk(3, "alpha", project="p2", session="s3", embedded=True),
            make_chunk(4, "alpha", project="p3", session="s4", category="core", embedded=True),
        ]
    )
    for search in (found_by_text, found_by_vector):
        assert sorted(search(store, "alpha", P1)) == ["m1", "m2"]
        assert sorted(search(store, "alpha", Scope(("p1", "p2")))) == ["m1", "m2", "m3"]
        assert sorted(search(store, "alpha", EVERYWHERE)) == ["m1", "m2", "m3", "m4"]
        assert search(store, "alpha", Scope(())) == []
        assert search(store, "alpha", Scope(("p1",), session_id="s2")) == ["m2"]
        assert search(store, "alpha", Scope(("p1",), excluded_session_id="s2")) == ["m1"]
        assert search(store, "alpha", Scope(None, extra={"category": "core"})) == ["m4"]
        assert len(search(store, "alpha", EVERYWHERE, limit=3)) == 3


def test_what_belongs_to_no_session_is_found(store: Store) -> None:
    """Such as a statement from a memory file or `memlayer remember`."""
    store.put_chunks(
        [make_chunk(1, "배포 요일", session="", embedded=True), make_chunk(2, "배포 요일", session="s2", embedded=True)]
    )
    store.warm("p1", MODEL)  # in memory from the first search on
    for search in (found_by_text, found_by_vector):
        assert sorted(search(store, "배포 요일", P1)) == ["m1", "m2"]
        assert search(store, "배포 요일", Scope(("p1",), excluded_session_id="s2")) == ["m1"]
        assert search(store, "배포 요일", Scope(("p1",), session_id="s2")) == ["m2"]


def test_vectors_rank_by_cosine(store: Store) -> None:
    texts = {1: "결제 모듈을 옮겼다", 2: "결제 모듈을 지웠다", 3: "점심은 김밥이었다"}
    store.put_chunks([make_chunk(number, text, embedded=True) for number, text in texts.items()])
    query = EMBEDDER.embed_query(texts[1])
    for _ in range(2):  # from the table, then from memory
        hits = store.search_vector(query, MODEL, P1, 3)
        assert [hit.chunk.memory_id for hit in hits][:2] == ["m1", "m2"]
        assert hits[0].cosine == pytest.approx(1.0, abs=1e-4)
        expected = sum(a * b for a, b in zip(query, EMBEDDER.embed_query(texts[2]), strict=True))
        assert hits[1].cosine == pytest.approx(expected, abs=1e-4)
        assert hits[0].lexical is None
        assert hits[0].chunk == replace(make_chunk(1, texts[1], embedded=True), vector=None)


def test_a_warm_store_answers_as_a_cold_one(store: Store) -> None:
    store.put_chunks([make_chunk(number, f"결제 모듈 {number}", embedded=True) for number in range(4)])
    query = EMBEDDER.embed_query("결제 모듈 2")
    cold = [hit.chunk for hit in store.search_vector(query, MODEL, P1, 3)]
    for project_id in ("p1", "p1", "no such project"):
        store.warm(project_id, MODEL)
    assert [hit.chunk for hit in store.search_vector(query, MODEL, P1, 3)] == cold
    assert cold[0].memory_id == "m2"


def test_named_chunks_are_measured_where_vectors_are_in_memory(store: Store) -> None:
    texts = {1: "결제 모듈을 옮겼다", 2: "The payment module moved", 3: "점심은 김밥이었다"}
    store.put_chunks([make_chunk(number, text, embedded=True) for number, text in texts.items()])
    store.warm("p1", MODEL)
    query, names = EMBEDDER.embed_query(texts[1]), {number: make_chunk(number).id for number in texts}
    for _ in range(2):
        told = store.cosines(query, MODEL, "p1", [names[1], names[2], "none"])
        assert told == pytest.approx(
            {
                names[number]: sum(a * b for a, b in zip(query, EMBEDDER.embed_query(texts[number]), strict=True))
                for number in (1, 2)
            },
            abs=1e-4,
        )
        store.put_chunks([make_chunk(3, "a later text", embedded=True)])
    store.drop_chunks(["m1"])
    assert list(store.cosines(query, MODEL, "p1", [names[1], names[2]])) == [names[2]]
    assert store.cosines(query, "other", "p1", [names[2]]) == store.cosines(query, MODEL, "p2", [names[2]]) == {}


def test_vectors_of_another_model_are_never_compared(store: Store) -> None:
    store.put_chunks([make_chunk(1, embedded=True)])
    assert store.search_vector(EMBEDDER.embed_query("text"), "other", P1, 5) == []
    assert store.count_unembedded("other") == 1
    assert store.count_unembedded(MODEL) == 0


def test_a_vector_of_the_wrong_length_is_refused(store: Store) -> None:
    with pytest.raises(StoreError, match="dimensions"):
        store.search_vector((1.0, 0.0), MODEL, P1, 5)
    with pytest.raises(StoreError, match="dimensions"):
        store.set_vectors([("m1:e1:0", (1.0, 0.0))], MODEL)


def test_missing_vectors_are_listed_and_set(store: Store) -> None:
    store.put_chunks([make_chunk(number) for number in range(5)])
    assert store.count_unembedded(MODEL) == 5
    todo = store.unembedded(MODEL, 3)
    assert len(todo) == 3
    assert all(chunk.terms and chunk.vector is None for chunk in todo)
    store.set_vectors([(chunk.id, EMBEDDER.embed_query(chunk.text)) for chunk in todo], MODEL)
    assert store.count_unembedded(MODEL) == 2
    assert store.stats().embedded == 3
    assert {chunk.id for chunk in store.unembedded(MODEL, 9)}.isdisjoint(chunk.id for chunk in todo)
    assert todo[0].memory_id in found_by_vector(store, todo[0].text)
    assert len(found_by_text(store, "text 1 2 3")) == 5


def test_setting_a_vector_of_an_unknown_chunk_adds_none(store: Store) -> None:
    store.set_vectors([("gone", EMBEDDER.embed_query("x"))], MODEL)
    assert store.stats().chunks == 0


def test_replaced_chunk_found_by_new_text(store: Store) -> None:
    store.put_chunks([make_chunk(1, "alpha", embedded=True), make_chunk(2, "gamma", embedded=True)])
    assert found_by_text(store, "alpha") == ["m1"]
    assert found_by_vector(store, "alpha")[0] == "m1"
    store.put_chunks([make_chunk(1, "베타 beta", embedded=True)])
    assert found_by_text(store, "alpha") == []
    [hit] = store.search_text(query_terms("베타"), P1, 5)
    assert hit.chunk.text == "베타 beta"
    [first, *_] = store.search_vector(EMBEDDER.embed_query("베타 beta"), MODEL, P1, 5)
    assert (first.chunk.text, first.chunk.memory_id) == ("베타 beta", "m1")
    assert store.stats().chunks == 2


def test_chunk_without_vector_not_found(store: Store) -> None:
    store.put_chunks([make_chunk(1, embedded=True), make_chunk(2, embedded=True)])
    assert len(found_by_vector(store, "text")) == 2
    store.put_chunks([make_chunk(1)])
    assert found_by_vector(store, "text") == ["m2"]
    assert store.count_unembedded(MODEL) == 1


def test_dropped_chunks_are_gone(store: Store) -> None:
    store.put_chunks([make_chunk(number, "alpha", embedded=True) for number in range(4)])
    assert len(found_by_vector(store, "alpha")) == 4
    store.drop_chunks(["m0", "m1", "nobody"])
    assert sorted(found_by_text(store, "alpha")) == ["m2", "m3"]
    assert sorted(found_by_vector(store, "alpha")) == ["m2", "m3"]


def test_kept_chunks_stay_and_are_replaced(store: Store) -> None:
    old, new = make_chunk(1, "alpha", embedded=True), make_chunk(1, "베타 beta", embedded=True)
    store.put_chunks([old, replace(old, id="m1:1", text="gamma", terms="gamma"), make_chunk(2, "alpha")])
    store.drop_chunks(["m1"], {old.id})
    assert sorted(found_by_text(store, "alpha")) == ["m1", "m2"] and found_by_text(store, "gamma") == []
    store.put_chunks([new])
    assert found_by_text(store, "alpha") == ["m2"] and found_by_text(store, "베타") == ["m1"]
    store.drop_chunks(["m1"], ["m2:0"])
    assert found_by_text(store, "베타") == [] and store.stats().chunks == 1


def test_clearing_chunks_leaves_an_index_that_works(store: Store) -> None:
    store.add_events([make_event(1)])
    store.put_chunks([make_chunk(1, "alpha", embedded=True)])
    assert found_by_text(store, "alpha") == ["m1"]
    store.clear_chunks()
    assert found_by_text(store, "alpha") == found_by_vector(store, "alpha") == []
    store.put_chunks([make_chunk(2, "alpha 결제", embedded=True)])
    assert found_by_text(store, "결제") == found_by_vector(store, "alpha") == ["m2"]
    assert (store.stats().events, store.stats().chunks) == (1, 1)
