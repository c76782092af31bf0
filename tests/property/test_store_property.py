"""The store on disk answers as the one in memory does, after any sequence of operations.

One seed here; tests/fault/test_store_seeds.py has more.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memlayer.adapters.lance.store import LanceStore
from memlayer.model import Chunk, Event, Memory, Scope, citation_of, replace
from memlayer.ports import MemoryQuery, Selection, Store
from memlayer.text.terms import index_terms, query_terms
from tests.support.hash_embedder import HashEmbedder
from tests.support.memory_store import MemoryStore

EMBEDDER = HashEmbedder(16)
MODEL = EMBEDDER.fingerprint
TEXTS = ("결제 모듈을 옮겼다", "checkout.py fails", 'it\'s "quoted" \\ 100%', "과제를 제출했어", "")
PROJECTS = ("p1", "p'2", "프로젝트")
SESSIONS = ("s1", "s2")

numbers = st.integers(0, 7)
texts = st.sampled_from(TEXTS)
projects = st.sampled_from(PROJECTS)
sessions = st.sampled_from([*SESSIONS, ""])

Operation = tuple[object, ...]
operations = st.lists(
    st.one_of(
        st.tuples(st.just("event"), numbers, texts, sessions, projects),
        st.tuples(st.just("memory"), numbers, texts, sessions, projects, st.lists(numbers, max_size=2)),
        st.tuples(st.just("chunk"), numbers, texts, sessions, projects, st.booleans()),
        st.tuples(st.just("drop"), numbers),
        st.tuples(st.just("embed")),
        st.tuples(st.just("forget memory"), numbers),
        st.tuples(st.just("forget"), sessions, projects, st.integers(0, 8)),
        st.tuples(st.just("upkeep")),
        st.tuples(st.just("clear")),
        st.tuples(st.just("search"), projects),
    ),
    max_size=14,
)

names = st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12), min_size=9, unique=True)


@pytest.fixture(scope="module")
def folders() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


def apply(store: Store, operation: Operation) -> None:
    match operation:
        case ("event", int(n), str(text), str(session), str(project)):
            store.add_events([Event(f"e{n}", "user", session, project, f"q{n}", text, n)])
        case ("memory", int(n), str(text), str(session), str(project), list(sources)):
            ids = tuple(f"e{source}" for source in sources)
            memory = Memory(
                f"m{n}", f"k{n}", citation_of(f"m{n}"), "core", "turn", text, n / 7, project, session, f"q{n}", ids, n
            )
            store.put_memories([memory])
        case ("chunk", int(n), str(text), str(session), str(project), bool(embedded)):
            chunk = Chunk(
                id=f"m{n}:0",
                memory_id=f"m{n}",
                event_id=f"e{n}",
                role="user",
                session_id=session,
                project_id=project,
                prompt_id=f"q{n}",
                category="core",
                importance=0.5,
                at_ms=n,
                start=0,
                end=len(text),
                text=text,
                terms=index_terms(text),
            )
            if embedded:
                chunk = replace(chunk, model=MODEL, vector=EMBEDDER.embed_query(text))
            store.put_chunks([chunk])
        case ("drop", int(n)):
            store.drop_chunks([f"m{n}"])
        case ("embed",):
            todo = store.unembedded(MODEL, 100)
            store.set_vectors([(chunk.id, EMBEDDER.embed_query(chunk.text)) for chunk in todo], MODEL)
        case ("forget memory", int(n)):
            store.forget(Selection(memory_ids=(f"m{n}",)))
        case ("forget", str(session), str(project), int(before)):
            store.forget(Selection(session_id=session, project_id=project, before_ms=before))
        case ("upkeep",):
            store.upkeep(force=True)
        case ("clear",):
            store.clear_chunks()
        case ("search", str(project)):
            store.search_text(["결제"], Scope((project,)), 5)
            store.search_vector(EMBEDDER.embed_query("x"), MODEL, Scope((project,)), 5)


def answers(store: Store) -> list[object]:
    scopes = [Scope(None), *(Scope((project,)) for project in PROJECTS), Scope(PROJECTS, excluded_session_id="s1")]
    question = query_terms("결제 모듈 checkout.py quoted 과제")
    by_text = [{hit.chunk for hit in store.search_text(question, scope, 50)} for scope in scopes]
    query = EMBEDDER.embed_query("결제 모듈")
    by_vector = [
        {hit.chunk.id: round(hit.cosine or 0.0, 3) for hit in store.search_vector(query, MODEL, scope, 50)}
        for scope in scopes
    ]
    stats = store.stats()
    counts = (stats.events, stats.memories, stats.chunks, stats.projects, stats.embedded)
    unembedded = {chunk.id for chunk in store.unembedded(MODEL, 50)}
    return [store.events(), store.memories(MemoryQuery(order="importance")), by_text, by_vector, counts, unembedded]


EXAMPLES = 4  # two stores are opened for each, and each forget rewrites tables
LONG: list[Operation] = [
    *(("event", n, TEXTS[n % 5], SESSIONS[n % 2], PROJECTS[n % 3]) for n in range(6)),
    *(("memory", n, TEXTS[n % 5], SESSIONS[n % 2], PROJECTS[n % 3], [n, (n + 1) % 6]) for n in range(6)),
    *(("chunk", n, TEXTS[n % 5], SESSIONS[n % 2], PROJECTS[n % 3], n % 2 == 0) for n in range(6)),
    ("search", "p1"), ("embed",), ("chunk", 2, TEXTS[0], "s1", "p1", False), ("forget memory", 1), ("upkeep",),
    ("event", 7, TEXTS[0], "s2", "p'2"), ("drop", 3), ("memory", 0, TEXTS[1], "s1", "p1", []), ("search", "프로젝트"),
    ("forget", "s2", "", 5), ("chunk", 5, TEXTS[2], "s2", "프로젝트", True),
]  # fmt: skip


def check_alike(folder: Path, steps: list[Operation]) -> None:
    """Do the same to both stores; compare all that they answer."""
    double, real = MemoryStore(16), LanceStore.open(folder, 16)
    try:
        for step in steps:
            apply(double, step)
            apply(real, step)
        expected = answers(double)
        assert answers(real) == expected  # some from the table, the rest already from memory
        real._search.close()
        assert answers(real) == expected
        real.close()
        real = LanceStore.open(folder, 16)
        assert answers(real) == expected
    finally:
        real.close()


def test_both_stores_answer_alike_after_every_operation(tmp_path: Path) -> None:
    check_alike(tmp_path / "store", LONG)
    check_alike(tmp_path / "cleared", [*LONG[:20], ("clear",)])


def check_filters(folder: Path, values: list[str]) -> None:
    """Find and plan the deletion of one row among many by any of its values."""
    store = LanceStore.open(folder, 0)
    try:
        rows = [Event(value, "user", value, value, value, value, 1) for value in values]
        store.add_events(rows)
        for row in rows:
            assert store.events(ids=[row.id], prompt_ids=[row.id], session_id=row.id, project_id=row.id) == [row]
            found = store.plan_deletion(Selection(session_id=row.id, project_id=row.id))
            assert found.event_ids == (row.id,)
        store.forget(Selection(session_id=values[0]))
        assert {row.id for row in store.events()} == set(values[1:])
    finally:
        store.close()


def few(examples: int) -> settings:
    """Settings of a property whose examples open stores."""
    return settings(max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@few(EXAMPLES)
@given(operations)
def test_both_stores_answer_alike(folders: Path, steps: list[Operation]) -> None:
    check_alike(Path(tempfile.mkdtemp(dir=folders)), steps)


@few(EXAMPLES)
@given(names)
def test_any_value_can_be_filtered_by(folders: Path, values: list[str]) -> None:
    check_filters(Path(tempfile.mkdtemp(dir=folders)), values)
