"""A store of any size for bench/latency.py.

Distinct turns in Korean, English and both, with vectors like real ones. Embedding 100,000 texts would take half an hour
of processor time. So some thousand texts are embedded really, by the model that ships (kept in a cache between runs),
and each turn's vector is the mean of two of those of its own topic, with noise of a tenth of its length, scaled back to
length 1: as unevenly spread as real vectors are, and no two alike. Everything is written with the store's own
functions, in large batches, and settled like at the end of a session.

A program of its own, since a process that has LanceDB in it must not fork a daemon: it prints JSON lines with its
phase, and at last {"settle_s": seconds that the indexes took}.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
from latency_texts import TOPICS, Turn, turn
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer import compose  # noqa: E402
from memlayer.adapters.lance.store import LanceStore  # noqa: E402
from memlayer.adapters.sqlite_files import EmbeddingCache  # noqa: E402
from memlayer.config import Settings  # noqa: E402
from memlayer.consolidation.extractor import RULES  # noqa: E402
from memlayer.model import Chunk, Event, Memory, chunk_id, event_id, replace  # noqa: E402
from memlayer.ports import Embedder  # noqa: E402
from memlayer.text.terms import index_terms  # noqa: E402
from memlayer.turns.turn import unlabelled  # noqa: E402
from memlayer.turns.turn_memory import turn_memory  # noqa: E402

Progress = Callable[[str, int, int], None]

TURNS_PER_SESSION = 25
TURNS_PER_BATCH = 5000
NOISE = 0.1


@dataclass
class Vectors:
    """Vectors for turns out of a set of real ones, by topic."""

    model: str
    by_topic: list[NDArray[np.float32]]
    dice: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7))

    @classmethod
    def embedded(cls, embedder: Embedder, texts: int, cache_file: Path, progress: Progress) -> "Vectors":
        """Embed so many turns really, or take their vectors from the cache."""
        cache = EmbeddingCache(cache_file)
        by_topic: list[list[tuple[float, ...]]] = [[] for _ in TOPICS]
        for start in range(0, texts, 50):
            turns = [turn(-number - 1) for number in range(start, min(start + 50, texts))]
            passages = [f"{one.prompt}\n{one.answer}" for one in turns]
            known = cache.get_many(embedder.fingerprint, passages)
            missing = [passage for passage in passages if passage not in known]
            made = dict(zip(missing, embedder.embed_passages(missing), strict=True))
            cache.put_many(embedder.fingerprint, made)
            for one, passage in zip(turns, passages, strict=True):
                by_topic[one.topic].append({**known, **made}[passage])
            progress("real vectors", start, texts)
        cache.close()
        return cls(embedder.fingerprint, [np.asarray(group, np.float32) for group in by_topic])

    def of(self, topic: int) -> tuple[float, ...]:
        """A new vector of that topic, of length 1."""
        pool = self.by_topic[topic]
        mixed = pool[self.dice.integers(len(pool))] + pool[self.dice.integers(len(pool))]
        mixed = mixed / np.linalg.norm(mixed)
        noise = self.dice.standard_normal(len(mixed), np.float32)
        mixed = mixed + NOISE * noise / np.linalg.norm(noise)
        return tuple((mixed / np.linalg.norm(mixed)).tolist())


@dataclass
class Rows:
    """The store's rows for a batch of turns."""

    events: list[Event] = field(default_factory=list)
    memories: list[Memory] = field(default_factory=list)
    chunks: list[Chunk] = field(default_factory=list)


def batches(first: int, last: int, project_id: str, vectors: Vectors) -> Iterator[Rows]:
    """The rows of turns first to last - 1."""
    since_ms = int(time.time() * 1000) - 90 * 86_400_000
    for start in range(first, last, TURNS_PER_BATCH):
        rows = Rows()
        for number in range(start, min(start + TURNS_PER_BATCH, last)):
            add_turn(rows, turn(number), project_id, since_ms + number * 60_000 % (80 * 86_400_000), vectors)
        yield rows


def add_turn(rows: Rows, one: Turn, project_id: str, at_ms: int, vectors: Vectors) -> None:
    """One turn's events, its memory and its chunk: each fits into one."""
    session_id, prompt_id = f"bench{one.number // TURNS_PER_SESSION}", f"b{one.number}"
    events = [
        Event(event_id(session_id, prompt_id, kind), kind, session_id, project_id, prompt_id, text, at_ms)
        for kind, text in (("user", one.prompt), ("assistant", one.answer))
    ]
    memory = turn_memory(events)
    assert memory is not None
    memory = replace(memory, rules=RULES)  # else the daemon reads them all while it is timed
    rows.events += events
    rows.memories.append(memory)
    rows.chunks.append(
        Chunk(
            id=chunk_id(memory.id, memory.id, 0), memory_id=memory.id, event_id=events[0].id, role=memory.kind,
            session_id=session_id, project_id=project_id, prompt_id=prompt_id, category=memory.category,
            importance=memory.importance, at_ms=at_ms, start=0, end=len(memory.text), text=memory.text,
            terms=index_terms(unlabelled(memory.text)), model=vectors.model, vector=vectors.of(one.topic),
        )
    )  # fmt: skip


def write(folder: Path, first: int, last: int, project_id: str, vectors: Vectors, progress: Progress) -> float:
    """Write turns first to last - 1 and settle the store.

    Returns the seconds that settling (all indexes) took.
    """
    store = LanceStore.open(folder, len(vectors.by_topic[0][0]))
    done = 0
    try:
        for rows in batches(first, last, project_id, vectors):
            store.add_events(rows.events)
            store.put_memories(rows.memories)
            store.put_chunks(rows.chunks)
            done += len(rows.chunks)
            progress("rows", done, last - first)
        started = time.perf_counter()
        store.upkeep(force=True)
        return time.perf_counter() - started
    finally:
        store.close()


@click.command()
@click.argument("home")
@click.argument("project")
@click.argument("first", type=int)
@click.argument("last", type=int)
@click.option("--cache", required=True, help="Folder for the real vectors.")
@click.option("--texts", default=3000, help="How many texts are really embedded.")
def main(home: str, project: str, first: int, last: int, cache: str, texts: int) -> None:
    """Write turns FIRST to LAST - 1 of PROJECT into HOME's store.

    No daemon may run there.
    """

    def tell(phase: str, done: int, total: int) -> None:
        print(json.dumps({"phase": phase, "done": done, "total": total}), flush=True)

    make = compose.embedder_maker(home, Settings())
    assert make is not None
    vectors = Vectors.embedded(make(), texts, Path(cache) / "latency.sqlite", tell)
    project_id, _ = compose.open_projects(home).resolve(project)
    settle_s = write(Path(home) / "store", first, last, project_id, vectors, tell)
    print(json.dumps({"settle_s": round(settle_s, 2)}), flush=True)


if __name__ == "__main__":
    main()
