"""The store's usages: idempotent, queried, deleted with memory or prompt."""

from memlayer.model import CITED, OPENED, SHOWN, Usage, usage_of
from memlayer.ports import Selection, Store, UsageQuery
from tests.support.store_rows import make_event, make_memory

DAY_MS = 86_400_000


def use(number: int, how: str = CITED, *, session: str = "s9", prompt: str = "q9", at_ms: int = 5_000) -> Usage:
    return usage_of(make_memory(number), how, session_id=session, prompt_id=prompt, at_ms=at_ms)


def test_same_use_counts_once(store: Store) -> None:
    store.put_usages([use(1), use(1), use(1, at_ms=9_000)])
    store.put_usages([use(1)])
    store.put_usages([use(1, OPENED, prompt=""), use(1, OPENED, prompt="", at_ms=6_000)])
    store.put_usages([use(1, OPENED, prompt="", at_ms=DAY_MS + 1)])
    assert store.stats().used_ever == {CITED: 1, OPENED: 2}


def test_queries_narrow_and_order(store: Store) -> None:
    store.put_usages([use(1, SHOWN), use(1, at_ms=7_000), use(2, SHOWN, session="세션", prompt="q1", at_ms=6_000)])
    found = store.usages(UsageQuery())
    assert [(usage.memory_id, usage.how) for usage in found] == [("m1", CITED), ("m2", SHOWN), ("m1", SHOWN)]
    assert [usage.session_id for usage in store.usages(UsageQuery(memory_ids=["m2"]))] == ["세션"]
    assert store.usages(UsageQuery(memory_ids=[])) == []
    assert len(store.usages(UsageQuery(how=SHOWN))) == 2
    assert len(store.usages(UsageQuery(since_ms=6_000))) == 2
    assert len(store.usages(UsageQuery(project_id="p2"))) == 0
    assert len(store.usages(UsageQuery(limit=1))) == 1


def test_forgotten_memory_takes_its_uses(store: Store) -> None:
    store.add_events([make_event(1), make_event(2)])
    store.put_memories([make_memory(1), make_memory(2)])
    store.put_usages([use(1), use(2), use(2, SHOWN, prompt="q1")])  # the last one by the turn that is forgotten
    store.forget(Selection(memory_ids=("m1",)))
    assert store.usages(UsageQuery()) == [use(2)]
    store.forget(Selection(project_id="p1"))
    assert store.usages(UsageQuery()) == []


def test_uses_of_lost_memories_are_pruned(store: Store) -> None:
    store.put_memories([make_memory(1)])
    store.put_usages([use(1), use(2), use(3)])
    assert store.prune_usages() == 2
    assert store.usages(UsageQuery()) == [use(1)]
    assert store.prune_usages() == 0


def test_scan_hands_over_uses(store: Store) -> None:
    store.put_usages([use(1), use(2)])
    seen: list[object] = []
    store.scan(seen.extend)
    assert sorted(row.id for row in seen if isinstance(row, Usage)) == sorted([use(1).id, use(2).id])
