"""The contract of ports.Store, over the double and LanceDB."""

import threading
from collections import Counter
from typing import Any

import pytest

from memlayer.errors import StoreError
from memlayer.kinds import Ended
from memlayer.model import PROVEN, Scope, replace
from memlayer.ports import DeletionPlan, MemoryQuery, RetentionCutoffs, Selection, Store
from memlayer.text.terms import query_terms
from tests.support.store_rows import EMBEDDER, make_chunk, make_event, make_memory

P1 = Scope(("p1",))
EVERYWHERE = Scope(None)
MODEL = EMBEDDER.fingerprint


def found_by_text(store: Store, question: str, scope: Scope = P1, limit: int = 10) -> list[str]:
    return [hit.chunk.memory_id for hit in store.search_text(query_terms(question), scope, limit)]


def found_by_vector(store: Store, text: str, scope: Scope = P1, limit: int = 10) -> list[str]:
    hits = store.search_vector(EMBEDDER.embed_query(text), MODEL, scope, limit)
    return [hit.chunk.memory_id for hit in hits]


def test_an_event_comes_back_as_it_was(store: Store) -> None:
    event = replace(
        make_event(1, "결제 모듈을 'ClickHouse'로\n옮겼다 \\ \"x\" 🙂"),
        uuid="u-1",
        detail="resume",
        source="transcript",
    )
    assert store.add_events([event]) == ["e1"]
    assert store.events(ids=["e1"]) == [event]


def test_adding_an_event_twice_changes_nothing(store: Store) -> None:
    first = make_event(1, "first")
    store.add_events([first])
    assert store.add_events([make_event(1, "second"), make_event(2), make_event(2)]) == ["e2"]
    assert store.events(ids=["e1"]) == [first]
    assert store.stats().events == 2


def test_adding_nothing_is_fine(store: Store) -> None:
    assert store.add_events([]) == []
    store.put_memories([])
    store.put_chunks([])
    store.drop_chunks([])
    store.set_vectors([], MODEL)
    assert store.stats().events == 0


def test_events_are_the_newest_ones_oldest_first(store: Store) -> None:
    store.add_events([make_event(number) for number in (3, 1, 4, 2)])
    assert [event.id for event in store.events(limit=3)] == ["e2", "e3", "e4"]


def test_events_match_all_filters(store: Store) -> None:
    store.add_events([make_event(1), make_event(2, session="s2"), make_event(3, project="p2")])
    assert [event.id for event in store.events(session_id="s1")] == ["e1", "e3"]
    assert [event.id for event in store.events(session_id="s1", project_id="p1")] == ["e1"]
    assert [event.id for event in store.events(prompt_ids=["q2", "q3"])] == ["e2", "e3"]
    assert store.events(ids=[]) == []
    assert store.events(ids=["e1"], session_id="s2") == []


def test_events_of_a_span_of_time(store: Store) -> None:
    store.add_events([make_event(number, at_ms=number * 1000) for number in range(1, 6)])
    assert [event.id for event in store.events(since_ms=2000, before_ms=4000)] == ["e2", "e3"]
    assert [event.id for event in store.events(before_ms=4000, limit=1)] == ["e3"]


def test_turns_are_counted_by_session(store: Store) -> None:
    store.put_memories(
        [make_memory(1), make_memory(2), make_memory(3, session="결제"), make_memory(4, category="core")]
    )
    assert store.turn_counts(["s1", "결제", "none"]) == {"s1": 2, "결제": 1}
    assert store.turn_counts(["none"]) == {}


def test_events_are_counted_by_quarter_session_and_kind(store: Store) -> None:
    quarter = 900_000
    store.add_events([make_event(number, at_ms=quarter + number) for number in (1, 2)])
    store.add_events([make_event(3, session="결제", at_ms=2 * quarter), make_event(4, project="p2", at_ms=2 * quarter)])
    assert store.event_counts("p1") == [(quarter, "s1", "user", 2), (2 * quarter, "결제", "user", 1)]
    assert store.event_counts(since_ms=2 * quarter) == [
        (2 * quarter, "s1", "user", 1),
        (2 * quarter, "결제", "user", 1),
    ]
    assert store.event_counts("nobody's") == []


@pytest.mark.parametrize("nasty", ["it's", "' OR 1=1 --", "a\\b", "a\nb", "%", '"', "프로젝트'; DROP", "`$(x)`", "{}"])
def test_no_character_in_a_value_alters_a_filter(store: Store, nasty: str) -> None:
    store.add_events([make_event(1, project=nasty), make_event(2)])
    store.put_chunks([make_chunk(1, "payment", project=nasty), make_chunk(2, "payment")])
    assert [event.id for event in store.events(project_id=nasty)] == ["e1"]
    assert store.events(project_id=nasty + "'") == []
    assert found_by_text(store, "payment", Scope((nasty,))) == ["m1"]
    assert found_by_text(store, "payment", Scope(("p1",), excluded_session_id=nasty)) == ["m2"]
    assert store.forget(Selection(project_id=nasty)).events == 1
    assert store.stats().events == 1


def test_memory_round_trip_replaced_by_id(store: Store) -> None:
    memory = make_memory(1, "과제를 제출했어", sources=("e1", "e2"), category="core", importance=0.9)
    store.put_memories([make_memory(1, "older"), make_memory(2)])
    store.put_memories([memory])
    assert store.memories(MemoryQuery(ids=["m1"])) == [memory]
    assert store.stats().memories == 2


def test_last_memory_with_id_wins(store: Store) -> None:
    store.put_memories([make_memory(1, "first"), make_memory(1, "second")])
    assert [memory.text for memory in store.memories()] == ["second"]


def test_memories_filtered_and_ordered(store: Store) -> None:
    store.put_memories(
        [
            make_memory(1, importance=0.2),
            make_memory(2, importance=0.9, category="core"),
            make_memory(3, importance=0.2, session="s2"),
            make_memory(4, importance=0.5, project="p2"),
        ]
    )
    assert [memory.id for memory in store.memories()] == ["m4", "m3", "m2", "m1"]
    assert [memory.id for memory in store.memories(MemoryQuery(order="importance"))] == ["m2", "m4", "m3", "m1"]
    assert [memory.id for memory in store.memories(MemoryQuery(project_id="p1", limit=2))] == ["m3", "m2"]
    assert [memory.id for memory in store.memories(MemoryQuery(category="core"))] == ["m2"]
    assert [memory.id for memory in store.memories(MemoryQuery(session_id="s1", before_ms=1002))] == ["m1"]
    assert [memory.id for memory in store.memories(MemoryQuery(keys=["key_3", "key_9"]))] == ["m3"]
    assert [memory.id for memory in store.memories(MemoryQuery(citations=[make_memory(4).citation]))] == ["m4"]
    assert store.memories(MemoryQuery(citations=[])) == []
    with pytest.raises(StoreError, match="order"):
        store.memories(MemoryQuery(order="at_ms; --"))


def test_no_rows_asked_for_are_no_rows(store: Store) -> None:
    assert store.memories(MemoryQuery(limit=0)) == [] and store.events(limit=0) == []
    store.add_events([make_event(1)])
    store.put_memories([make_memory(1)])
    assert store.memories(MemoryQuery(limit=0)) == [] and store.events(limit=0) == []
    assert store.memories(MemoryQuery(ids=[], limit=0)) == []


def fill_for_forgetting(store: Store) -> None:
    """Two sessions of p1, one of p2; m10 from both of p1."""
    sessions = {1: ("s1", "p1"), 2: ("s1", "p1"), 3: ("s2", "p1"), 4: ("s3", "p2")}
    for number, (session, project) in sessions.items():
        store.add_events([make_event(number, session=session, project=project)])
        store.put_memories([make_memory(number, session=session, project=project)])
        store.put_chunks([make_chunk(number, session=session, project=project, embedded=True)])
    store.put_memories([make_memory(10, sources=("e2", "e3"), session="s2", at_ms=9000)])
    store.put_chunks([make_chunk(10, "drawn from both", event="", session="s2", at_ms=9000)])


def left(store: Store) -> tuple[list[str], list[str], list[str]]:
    events = sorted(event.id for event in store.events())
    memories = sorted(memory.id for memory in store.memories())
    return events, memories, sorted(found_by_text(store, "text drawn", EVERYWHERE))


def test_forget_memory_takes_its_sources(store: Store) -> None:
    fill_for_forgetting(store)
    plan = store.plan_deletion(Selection(memory_ids=("m2", "nobody")))
    assert (plan.event_ids, set(plan.memory_ids)) == (("e2",), {"m2", "m10"})
    removed = store.forget(plan)
    assert left(store) == (["e1", "e3", "e4"], ["m1", "m3", "m4"], ["m1", "m3", "m4"])
    assert (removed.events, removed.memories, removed.chunks) == (1, 2, 2)
    assert "m2" not in found_by_vector(store, "text 2")


def test_what_was_done_in_a_turn_goes_with_it(store: Store) -> None:
    """A turn's memory names no tool calls; only the prompt does."""
    fill_for_forgetting(store)
    prompt = make_event(1).prompt_id
    store.add_events(
        [
            replace(make_event(7, "make deploy"), kind="tool", prompt_id=prompt),
            replace(make_event(8, "make test"), kind="tool", prompt_id=prompt, session_id="s2"),
        ]
    )
    assert set(store.plan_deletion(Selection(memory_ids=("m1",))).event_ids) == {"e1", "e7"}
    store.forget(Selection(memory_ids=("m1",)))
    assert {event.id for event in store.events(kind="tool")} == {"e8"}


def test_forgetting_a_session(store: Store) -> None:
    fill_for_forgetting(store)
    store.add_events([make_event(5)])  # no memory yet
    store.forget(Selection(session_id="s1"))
    assert left(store) == (["e3", "e4"], ["m3", "m4"], ["m3", "m4"])


def test_forgetting_a_project_before_a_date(store: Store) -> None:
    fill_for_forgetting(store)
    store.forget(Selection(project_id="p1", before_ms=1002))
    assert left(store) == (["e2", "e3", "e4"], ["m10", "m2", "m3", "m4"], ["m10", "m2", "m3", "m4"])


def test_expired_turns_go_statements_stay(store: Store) -> None:
    fill_for_forgetting(store)
    lasting = replace(make_memory(20, "포트는 8443", sources=("e1",), at_ms=1001), category="core", kind="fact")
    pinned = replace(make_memory(21, sources=("e2",), at_ms=1002), pinned=True)
    daily = replace(make_memory(22, sources=("e1", "e2"), at_ms=1002), category="daily")
    proven = replace(lasting, id="m23", level=PROVEN)
    store.put_memories([lasting, pinned, daily, proven])
    store.add_events([replace(make_event(5), kind="tool", at_ms=1001), replace(make_event(6), kind="tool", at_ms=999)])
    assert store.plan_retention(RetentionCutoffs()) == DeletionPlan()

    plan = store.plan_retention(RetentionCutoffs(conversation_ms=1003, tools_ms=1000))
    assert (set(plan.event_ids), set(plan.memory_ids)) == ({"e1", "e2", "e6"}, {"m1", "m2"})
    assert {(count.project_id, count.kind, count.rows, count.oldest_ms) for count in plan.counts} == {
        ("p1", "conversation", 2, 1001), ("p1", "user", 2, 1001), ("p1", "tool", 1, 999),
    }  # fmt: skip
    assert store.forget(plan).events == 3
    assert {memory.id for memory in store.memories()} == {"m3", "m4", "m10", "m20", "m21", "m22", "m23"}
    assert found_by_text(store, "text", EVERYWHERE, 100)
    assert store.plan_retention(RetentionCutoffs(conversation_ms=1003)) == DeletionPlan()
    assert store.memories(MemoryQuery(ids=["m20"]))[0].source_ids == ("e1",)  # events that are gone stay on record

    assert store.plan_retention(RetentionCutoffs(daily_ms=1003)).memory_ids == ("m22",)
    assert store.plan_retention(RetentionCutoffs(core_ms=1003)).memory_ids == ("m20",)


def test_forgetting_what_is_not_there_removes_nothing(store: Store) -> None:
    fill_for_forgetting(store)
    before = left(store)
    assert store.forget(Selection(session_id="other")).events == 0
    assert store.forget(Selection(memory_ids=("m1",), session_id="s3")).memories == 0
    assert left(store) == before


def test_stats_count(store: Store) -> None:
    fill_for_forgetting(store)
    stats = store.stats()
    assert (stats.events, stats.memories, stats.chunks) == (4, 5, 5)
    assert (stats.projects, stats.embedded) == (2, 4)
    kept = store.memories()
    assert stats.by_project == Counter(memory.project_id for memory in kept) and len(stats.by_project) == 2
    assert stats.by_category == Counter(memory.category for memory in kept)


def test_stats_count_what_became_of_memories(store: Store) -> None:
    assert store.stats().core_by_kind == {} and store.stats().turns_by_rules == {} and store.stats().ended_count == 0
    core = [replace(make_memory(number, category="core"), kind="fact") for number in (1, 2)]
    gone = replace(
        make_memory(3, category="core"), kind="decision", superseded_by="m1", ended_because=Ended.REPLACED, ended_ms=5
    )
    turns = [replace(make_memory(number), rules=rules) for number, rules in ((4, 1), (5, 0), (6, 0))]
    store.put_memories([*core, gone, *turns])
    stats = store.stats()
    assert (stats.core_by_kind, stats.ended_count) == ({"fact": 2}, 1)
    assert stats.turns_by_rules == {"1": 1, "0": 2}


def test_upkeep_changes_no_answer(store: Store) -> None:
    fill_for_forgetting(store)
    before = left(store)
    assert store.upkeep(force=True)
    assert left(store) == before
    assert not store.upkeep()


def test_readers_see_finished_writes(store: Store) -> None:
    store.put_chunks([make_chunk(0, "alpha", embedded=True)])
    written = [0]
    failures: list[str] = []
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            expected = written[0] + 1
            for search in (found_by_text, found_by_vector):
                count = len(search(store, "alpha", P1, 100))
                if count < expected:
                    failures.append(f"{search.__name__}: {count} of {expected}")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    for number in range(1, 16):
        store.put_chunks([make_chunk(number, "alpha", embedded=True)])
        written[0] = number
        if number % 5 == 0:
            store.upkeep(force=True)
    stop.set()
    for reader in readers:
        reader.join()
    assert failures == []


def test_memories_by_what_became_of_them(store: Store) -> None:
    older = make_memory(1, "포트는 8443").ended(Ended.REPLACED, 2000, "m2")
    newer = replace(make_memory(2, "포트는 9000", category="core"), kind="fact", rules=1, pinned=True)
    other = replace(make_memory(3, sources=("e1", "e9")), rules=2)
    store.put_memories([older, newer, other])

    def ids(**filters: Any) -> set[str]:
        return {memory.id for memory in store.memories(MemoryQuery(**filters))}

    assert ids(superseded_by=["m2", "m7"]) == {"m1"}
    assert ids(superseded_by=[]) == set()
    assert ids(source_ids=["e1"]) == {"m1", "m3"}
    assert ids(source_ids=["e9", "e2"]) == {"m2", "m3"}
    assert ids(kind="fact") == {"m2"}
    assert ids(is_current=True) == {"m2", "m3"}
    assert ids(is_current=False) == {"m1"}
    assert ids(unread_by=1) == {"m1", "m3"}
    assert ids(unread_by=1, is_current=True) == {"m3"}
    assert store.memories(MemoryQuery(ids=["m2"])) == [newer]


def test_events_by_kind(store: Store) -> None:
    store.add_events([make_event(1), replace(make_event(2, "make test: exit 2"), kind="tool")])
    assert [event.id for event in store.events(kind="tool")] == ["e2"]
    assert store.events(kind="tool", session_id="elsewhere") == []
