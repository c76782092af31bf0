"""Tokens a model reads for one question over MCP.

Also whether the search finds the text it needs.

`python evals/disclosure.py SET.jsonl --labels LABELS.json [--sessions N] [--cache DIR]`

Every turn of a real set (evals/real_set.py) is taken in. Each prompt that a label says depends on an earlier session is
a question: mem-search with five hits, then mem-details of the best useful one (of the first where none is), against the
five whole texts at once. Tokens by text.chunking.estimate_tokens.
"""

import shutil
import sys
import tempfile
from pathlib import Path

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real import ANSWERED_AFTER_MS, FOLDER, Memory
from evals.real_set import load_labels, load_turns
from memlayer import compose
from memlayer.daemon.ops.disclosure import counted_entries
from memlayer.disclosure import Detail, details_text, index_text
from memlayer.edge.capture.payload import spool_event
from memlayer.give.search import Filters
from memlayer.model import Scope, turn_memory_id
from memlayer.text.chunking import estimate_tokens

HITS = 5
console = Console(highlight=False)


@click.command(help=__doc__)
@click.argument("turns", type=click.Path(exists=True, path_type=Path))
@click.option("--labels", type=click.Path(exists=True, path_type=Path), required=True, help="Labels of the set.")
@click.option("--sessions", default=0, help="Only so many sessions, from the first.")
@click.option("--cache", type=click.Path(path_type=Path), help="Keep the vectors there.")
def main(turns: Path, labels: Path, sessions: int, cache: Path | None) -> None:
    every, known = load_turns(turns), load_labels(labels)
    names = list(dict.fromkeys(one.session for one in every))[: sessions or None]
    every = [one for one in every if one.session in names]
    home = Path(tempfile.mkdtemp(prefix="memlayer-disclosure-"))
    try:
        if cache and cache.exists():
            shutil.copytree(cache, home / "cache")
        memory, numbers = Memory(home), {}
        for turn in track(every, "taking in", console=console, transient=True):
            said = {"session_id": turn.session, "prompt_id": f"p{turn.n}", "project_dir": FOLDER}
            events = [
                spool_event(kind="user", text=turn.prompt, at_ms=turn.at_ms, **said),
                spool_event(kind="assistant", text=turn.answer, at_ms=turn.at_ms + ANSWERED_AFTER_MS, **said),
            ]
            memory.services.ingest.take([one for one in events if str(one["text"]).strip()])
            numbers[turn_memory_id(turn.session, f"p{turn.n}")] = turn.n
        rules, scope = compose.RoomSettings.of(memory.settings).recall, Scope((memory.project_id,))
        index = opened = whole = found_useful = due = questions = 0
        for turn in every:
            label = known.get(turn.n)
            if label is None or label.need < 1:
                continue
            # Later turns are in the store too: the five are the best of those before it.
            entries, _ = counted_entries(memory.services, rules, turn.prompt, scope, Filters(), len(every))
            entries = [one for one in entries if numbers.get(one.memory.id, 0) < turn.n][:HITS]
            useful = [one for one in entries if label.turns.get(numbers.get(one.memory.id, -1)) == 2]
            questions += 1
            index += estimate_tokens(index_text(turn.prompt, entries))
            best = (useful or entries)[:1]
            opened += sum(estimate_tokens(details_text([Detail(one.memory, "project")])) for one in best)
            whole += sum(estimate_tokens(one.memory.text) for one in entries)
            if 2 in label.turns.values():
                due += 1
                found_useful += bool(useful)
        memory.services.close()
    finally:
        shutil.rmtree(home, ignore_errors=True)
    table = Table("questions", "index", "index + details", "five whole texts", "saved", "useful among five")
    read = (index + opened) / max(1, questions)
    all_five = whole / max(1, questions)
    table.add_row(
        str(questions), f"{index / max(1, questions):.0f}", f"{read:.0f}", f"{all_five:.0f}",
        f"{100 * (1 - read / max(1.0, all_five)):.0f} %", f"{found_useful} of {due}",
    )  # fmt: skip
    console.print(table)


if __name__ == "__main__":
    main()
