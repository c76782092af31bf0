"""Recall's search in memory against LanceDB's own indexes alone.

`python bench/search_in_table.py [--sizes 1000,10000,100000] [--rounds 60] [--json FILE]`. The same questions of the
same store by turns in one process: in memory (words and vectors of the project, as recall has them), and in the table
(the full-text index, and all vectors or their index). Embedding the question is not counted: it is the same for both.

idle: nothing else of this program runs. busy: a process for each core computes meanwhile. same ten: the share of the
ten best memories in memory that the table finds too; with counts: if the project's counts of words and the words that
sound alike are still asked of memory, which no index of LanceDB answers. Below 100,000 rows the table scans its
vectors; `indexed` has the index there as well.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from latency_store import Vectors, write
from latency_texts import question
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer import compose  # noqa: E402
from memlayer.adapters.lance import indexes  # noqa: E402
from memlayer.adapters.lance.schema import CHUNKS, VECTOR  # noqa: E402
from memlayer.adapters.lance.store import LanceStore  # noqa: E402
from memlayer.config import Settings  # noqa: E402
from memlayer.give.query import Query, typed_query  # noqa: E402
from memlayer.give.retriever import Retriever, Weights  # noqa: E402
from memlayer.keep.indexer import TermStats  # noqa: E402
from memlayer.model import Scope  # noqa: E402
from memlayer.ports import Embedder  # noqa: E402

PROJECT = "a" * 16
LIMIT = 30
BEST = 10
INDEXED_SIZE = 10_000
GOAL_MS = 15  # more than in memory, at 10,000 chunks
console = Console()


class Known:
    """An embedder that knows its questions: embedding takes no time."""

    def __init__(self, embedder: Embedder, queries: Sequence[Query]) -> None:
        self.fingerprint, self.calibration = embedder.fingerprint, embedder.calibration
        self._vectors = {query.text: embedder.embed_query(query.text) for query in queries}

    def embed_query(self, text: str) -> tuple[float, ...]:
        """Return a known question's vector."""
        return self._vectors[text]


@contextmanager
def in_table(store: LanceStore, *, with_counts: bool = False) -> Iterator[None]:
    """Have the store answer as it does for a project outside memory.

    with_counts: but count words, and find words that sound alike, in memory.
    """
    search: Any = store._search
    search._best_in_memory = lambda *_: None
    if not with_counts:
        search.holding = lambda *_: None
        search.sounding_like = lambda *_: {}
    try:
        yield
    finally:
        for name in ("_best_in_memory", "holding", "sounding_like"):
            vars(search).pop(name, None)


@contextmanager
def computing(processes: int) -> Iterator[None]:
    """Keep so many processes computing."""
    running = [subprocess.Popen([sys.executable, "-I", "-S", "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def rounds_of(store: LanceStore, retriever: Retriever, queries: Sequence[Query]) -> dict[str, Any]:
    """Time each question in memory and in the table, by turns."""
    scope, took = Scope((PROJECT,)), dict[str, list[float]](memory=[], table=[], counts=[])
    same: dict[str, list[float]] = {"table": [], "counts": []}

    def ask(query: Query, where: str) -> set[str]:
        started = time.perf_counter()
        hits = retriever.search(query, scope, LIMIT, Weights())
        took[where].append((time.perf_counter() - started) * 1000)
        return {chunk.memory_id for chunk, _ in hits[:BEST]}

    for query in queries:
        best = ask(query, "memory")
        with in_table(store):
            same["table"].append(len(best & ask(query, "table")) / max(1, len(best)))
        with in_table(store, with_counts=True):
            same["counts"].append(len(best & ask(query, "counts")) / max(1, len(best)))
    figures = {where: percentiles(values) for where, values in took.items()}
    more = figures["table"]["p50_ms"] - figures["memory"]["p50_ms"]
    ratio = figures["table"]["p50_ms"] / figures["memory"]["p50_ms"]
    shares = {f"same_ten_{where}": round(sum(values) / len(values), 3) for where, values in same.items()}
    return {**figures, "more_ms": round(more, 1), "ratio": round(ratio, 1), **shares}


def percentiles(values: Sequence[float]) -> dict[str, float]:
    """p50 and p95."""
    ordered = sorted(values)
    return {"p50_ms": round(ordered[len(ordered) // 2], 1), "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1)}


def measure(store: LanceStore, embedder: Embedder, rounds: int) -> dict[str, Any]:
    """Return the figures of one store, idle and busy."""
    queries = [typed_query(question(number)) for number in range(rounds)]
    known: Any = Known(embedder, queries)
    terms = TermStats()
    store.scan_terms(lambda chunk, text: terms.add(chunk, text.split()))
    retriever = Retriever(store, lambda: known, terms)
    store._search.warm(PROJECT, embedder.fingerprint)
    rounds_of(store, retriever, queries[:5])
    figures = {"idle": rounds_of(store, retriever, queries)}
    with computing(os.cpu_count() or 1):
        figures["busy"] = rounds_of(store, retriever, queries)
    return {**figures, "load": round(os.getloadavg()[0], 1)}


@click.command()
@click.option("--sizes", default="1000,10000,100000", help="Chunks in the store.")
@click.option("--rounds", default=60, help="Questions a size.")
@click.option("--texts", default=1000, help="How many texts are really embedded.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
@click.option("--cache", default=str(ROOT / ".cache" / "bench"), help="Keeps the real vectors for the next run.")
def main(sizes: str, rounds: int, texts: int, json_file: str, cache: str) -> None:
    """Measure the search in memory and in the table."""
    Path(cache).mkdir(parents=True, exist_ok=True)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="memlayer-search-") as base:
        make = compose.embedder_maker(base, Settings())
        assert make is not None
        embedder = make()
        vectors = Vectors.embedded(embedder, texts, Path(cache) / "latency.sqlite", lambda *_: None)
        written = 0
        for size in sorted(int(part) for part in sizes.split(",")):
            write(Path(base) / "store", written, size, PROJECT, vectors, lambda *_: None)
            written = size
            store = LanceStore.open(Path(base) / "store", embedder.dimensions)
            try:
                figures[str(size)] = measure(store, embedder, rounds)
                if size == INDEXED_SIZE:
                    table = store._tables[CHUNKS]
                    table.write("index its vectors", indexes._create(table, [VECTOR]))
                    figures[f"{size} indexed"] = measure(store, embedder, rounds)
            finally:
                store.close()
            if json_file:
                Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")
    show(figures)


def show(figures: dict[str, Any]) -> None:
    """For people."""
    shown = Table(title="recall's search without embedding, milliseconds (p50 / p95)")
    for name in ("chunks", "machine", "in memory", "in the table", "more", "ratio", "same ten", "with counts"):
        shown.add_column(name, justify="right")
    for size, one in figures.items():
        for machine in ("idle", "busy"):
            row = one[machine]
            times = [f"{row[where]['p50_ms']} / {row[where]['p95_ms']}" for where in ("memory", "table")]
            shares = [f"{row[name]:.0%}" for name in ("same_ten_table", "same_ten_counts")]
            shown.add_row(size, machine, *times, str(row["more_ms"]), str(row["ratio"]), *shares)
    console.print(shown)
    console.print(f"goal: at most {GOAL_MS} ms more at 10,000 chunks, else the search stays in memory")


if __name__ == "__main__":
    main()
