"""A day of endless mode in a real store: `python bench/endless.py [--events 100] [--rounds 30]`.

Sizes of the events, and the times of reading the day's turns, grouping them, keeping the topics and reading these.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from latency_texts import turn
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.adapters.lance.store import LanceStore  # noqa: E402
from memlayer.keep.indexer import Indexer, TermStats  # noqa: E402
from memlayer.keep.keep import Keep  # noqa: E402
from memlayer.kinds import Category  # noqa: E402
from memlayer.model import Event, event_id  # noqa: E402
from memlayer.ports import MemoryQuery  # noqa: E402
from memlayer.records.tombstones import Tombstones  # noqa: E402
from memlayer.topics.grouping import DAY_MS, MAX_EVENTS, renew, topic_memories, topics_of, within_a_day  # noqa: E402
from memlayer.topics.profile import profiles  # noqa: E402
from memlayer.turns.turn_memory import turn_memory  # noqa: E402
from tests.support.turns_in_memory import NoCache  # noqa: E402

SESSIONS = 10
DIMENSIONS = 384


def filled(folder: Path, events: int, now_ms: int) -> LanceStore:
    """Return a store with a day of turns, two events each."""
    store, turns = LanceStore.open(folder, DIMENSIONS), events // 2
    rows, memories = [], []
    for number in range(turns):
        one, session = turn(number), "s%d" % (number * SESSIONS // turns)
        at_ms = now_ms - DAY_MS + (number + 1) * (DAY_MS // (turns + 2))
        pair = [
            Event(event_id(session, "p%d" % number, kind), kind, session, "p", "p%d" % number, text, at_ms)
            for kind, text in (("user", one.prompt), ("assistant", one.answer))
        ]
        rows += pair
        memories.append(turn_memory(pair))
    store.add_events(rows)
    store.put_memories([row for row in memories if row is not None])
    return store


def took_ms(rounds: int, work: Callable[[], object]) -> str:
    """Return median and slowest of some rounds."""
    values = []
    for _ in range(rounds):
        started = time.perf_counter()
        work()
        values.append((time.perf_counter() - started) * 1000)
    return "%.1f, %.1f" % (statistics.median(values), max(values))


@click.command(help=__doc__)
@click.option("--events", default=100, show_default=True)
@click.option("--rounds", default=30, show_default=True)
def main(events: int, rounds: int) -> None:
    now_ms = int(time.time() * 1000)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base) / "store"
        store = filled(folder, events, now_ms)
        tables = ("events", "memories")
        size = sum(path.stat().st_size for name in tables for path in folder.rglob(name + ".lance/**/*.lance"))
        made_of = {"cache": NoCache(), "terms": TermStats()}
        indexer = Indexer(store, embedder=lambda: None, **made_of)  # type: ignore[arg-type]
        keep = Keep(store, indexer, Tombstones(base))
        query = MemoryQuery(project_id="p", category=Category.CONVERSATION, limit=MAX_EVENTS)
        made = profiles(store, "p", now_ms - DAY_MS)
        shown = Table("%d events" % events, "median, slowest ms")
        shown.add_row("read the day's turns", took_ms(rounds, lambda: within_a_day(store.memories(query), now_ms)))
        shown.add_row("read and profile its sessions", took_ms(rounds, lambda: profiles(store, "p", now_ms - DAY_MS)))
        shown.add_row("group %d sessions" % len(made), took_ms(rounds, lambda: topics_of(made)))
        shown.add_row("keep the topics, once", took_ms(1, lambda: renew(keep, "p", now_ms)))
        shown.add_row("read the topics", took_ms(rounds, lambda: topic_memories(store, "p")))
        console = Console()
        console.print(shown)
        console.print("%d topics; events and turns take %.0f KB" % (len(topic_memories(store, "p")), size / 1000))
        store.close()


if __name__ == "__main__":
    main()
