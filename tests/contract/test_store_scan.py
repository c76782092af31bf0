"""Scans of a whole store: every event and memory, each once."""

from collections.abc import Sequence
from threading import Thread

from memlayer.kinds import Ended
from memlayer.model import Event, Memory, replace
from memlayer.ports import Store
from tests.support.store_rows import make_chunk, make_event, make_memory


def test_everything_is_handed_over_once_in_pieces(store: Store) -> None:
    events = [make_event(number, "질문 %d" % number) for number in range(700)]
    memories = [
        replace(
            make_memory(number),
            superseded_by="m1",
            ended_because=Ended.REPLACED,
            ended_ms=7,
            pinned=bool(number % 2),
            rules=1,
        )
        for number in range(300)
    ]
    store.add_events(events)
    store.put_memories(memories)
    found: list[Event | Memory] = []
    pieces: list[int] = []

    def consume(some: Sequence[Event] | Sequence[Memory]) -> None:
        pieces.append(len(some))
        found.extend(some)

    store.scan(consume)
    assert sorted(found[:700], key=lambda event: event.at_ms) == events
    assert sorted(found[700:], key=lambda memory: memory.at_ms) == memories
    assert sum(pieces) == 1000


def test_an_empty_store_hands_over_nothing(store: Store) -> None:
    found: list[object] = []
    store.scan(found.extend)
    assert found == []


def test_others_read_while_a_piece_is_consumed(store: Store) -> None:
    store.add_events([make_event(number, "질문 %d" % number) for number in range(3)])
    answered: list[bool] = []

    def consume(_: Sequence[Event] | Sequence[Memory]) -> None:
        reader = Thread(target=store.stats, daemon=True)
        reader.start()
        reader.join(10)
        answered.append(not reader.is_alive())

    store.scan(consume)
    assert answered and all(answered)


def test_the_texts_of_all_chunks_are_handed_over(store: Store) -> None:
    texts = ["조각 %d" % number for number in range(300)]
    store.put_chunks([make_chunk(number, text) for number, text in enumerate(texts)])
    found: list[str] = []
    store.scan_texts(found.append)
    assert sorted(found) == sorted(texts)
