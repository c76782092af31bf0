"""The notes of a first prompt, chosen among many: `python bench/first_notes.py [--notes 500]`.

*Cold*: the first prompt that reads the notes; *warm*: those after it. In one process, the rows in memory; CPU time.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from latency_texts import turn
from rich.table import Table

from hooks import ROOT, console

sys.path.insert(0, str(ROOT))

from memlayer.give.query import reduce_prompt
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Memory
from tests.support.turns_in_memory import TurnsInMemory

ROUNDS = 200


@click.command(help=__doc__)
@click.option("--notes", "count", default=500, show_default=True, help="Notes of the project.")
def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        memory = TurnsInMemory(Path(folder))
        texts = [turn(number) for number in range(count)]
        memory.store.put_memories([note(number, row.answer) for number, row in enumerate(texts)])
        notes = memory.recall.notes
        queries = [reduce_prompt(texts[(7 * number) % count].prompt) for number in range(ROUNDS)]
        took_ms = [timed_ms(lambda query=query: notes.choose(query, "p", 0.5, lambda _: {})) for query in queries]
    table = Table("notes", "cold, CPU ms", "warm p50", "warm p95")
    warm_ms = sorted(took_ms[1:])
    p95_ms = warm_ms[int(0.95 * len(warm_ms))]
    table.add_row(str(count), *("%.1f" % ms for ms in (took_ms[0], statistics.median(warm_ms), p95_ms)))
    console.print(table)


def note(number: int, text: str) -> Memory:
    """Return a note as a session's reader writes it."""
    name = "%032d" % number
    return Memory(
        id=name, key=name, citation=name[-6:], category=Category.CORE, kind=Kind.DECISION, text=text, importance=0.5,
        project_id="p", session_id="s%d" % number, prompt_id="p1", source_ids=(), at_ms=1_700_000_000_000 + number,
        by=Author.READER,
    )  # fmt: skip


def timed_ms(call: Callable[[], object]) -> float:
    started = time.thread_time()
    call()
    return (time.thread_time() - started) * 1000


if __name__ == "__main__":
    main()
