"""Score what sessions are given when a model reads finished ones.

`python evals/notes.py SET.jsonl --notes NOTES.jsonl --starts STARTS.json [--then MORE.jsonl] [--headlines FILE]
[--tools TOOLS.jsonl] [--from N] [--sessions N] [--without] [--json FILE] [--rows FILE]`

Plays a set (evals/real_set.py) session by session through the real hooks and a real daemon, with a language model on
127.0.0.1 that answers from a record (evals/notes_recorded.py), or with --without by the rules alone. Scores are for the
sessions before place 60, from there on, and all (evals/notes_score.py). --then continues the record from the first
session of another one. --rows writes a JSON line a session, with the texts that it was given and the facts met.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.notes_play import Lived, Player, load_calls, root_of
from evals.notes_recorded import Asked, RecordedModel, continued, load_record, sessions_of, with_headlines
from evals.notes_score import Starts, kinds, load_starts, row_of, score
from evals.real_set import load_turns

HALF = 60  # the first session that nothing was tuned on
FILE = click.Path(exists=True, path_type=Path)
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--notes", type=FILE, help="The record of the model's answers.")
@click.option("--then", type=FILE, help="Another record, from its first session on.")
@click.option("--headlines", type=FILE, help="Headlines of notes that were recorded without.")
@click.option("--starts", "starts_file", type=FILE, required=True, help="What sessions would have needed.")
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
@click.option("--from", "first", default=0, help="Play from this session on, counted from 0.")
@click.option("--sessions", default=0, help="Only so many sessions.")
@click.option("--without", is_flag=True, help="No language model: the rules alone.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures.")
@click.option("--rows", type=click.Path(path_type=Path), help="Write a line a session, for reading.")
def main(
    turns: Path,
    notes: Path | None,
    then: Path | None,
    headlines: Path | None,
    starts_file: Path,
    tools: Path | None,
    first: int,
    sessions: int,
    without: bool,
    json_file: Path | None,
    rows: Path | None,
) -> None:
    every, starts = sessions_of(load_turns(turns)), load_starts(starts_file)
    if notes is None and not without:
        raise click.UsageError("--notes, or --without")
    record = load_record(notes, every) if notes else {}
    record = continued(record, load_record(then, every)) if then else record
    if headlines:
        with_headlines(record, headlines)
    calls = load_calls(tools) if tools else {}
    files = [file for answer in record.values() for note in answer["notes"] for file in note.get("files", [])]
    model = None if without else RecordedModel(every, record)
    player = Player(every, model, calls, root_of(calls, files))
    places = range(len(every))[first : first + sessions if sessions else None]
    lived = list(track(player.play(places), "playing", total=len(places), console=console, transient=True))
    asked = model.asked if model else []
    figures = {name: score(half, starts, asked) for name, half in halves(lived).items()}
    _show(figures, lived, "by the rules alone" if without else "with recorded notes")
    if model is not None and (model.lost or any(row.session < 0 for row in asked)):
        console.print(
            f"{len(model.lost)} ids that no request listed ({', '.join(sorted(set(model.lost))[:12])}); "
            f"{sum(row.session < 0 for row in asked)} requests about no known session"
        )
    _write(figures, lived, starts, asked, json_file, rows)


def halves(lived: Sequence[Lived]) -> dict[str, list[Lived]]:
    """Return the sessions before HALF, from there on, and all."""
    parts = {
        f"0 to {HALF - 1}": [one for one in lived if one.place < HALF],
        f"from {HALF} on": [one for one in lived if one.place >= HALF],
    }
    present = {name: part for name, part in parts.items() if part}
    return {**present, "all": list(lived)} if len(present) > 1 else present


def _show(figures: dict[str, dict[str, float]], lived: Sequence[Lived], how: str) -> None:
    table = Table("", *figures, title=f"{len(lived)} sessions {how}")
    for name in next(iter(figures.values()), {}):
        values = [part[name] for part in figures.values()]
        table.add_row(name, *(str(value) if isinstance(value, int) else f"{value:.1f}" for value in values))
    console.print(table)
    lines = Table("lines by kind", "at starts", "at first prompts", "at later prompts")
    for kind, counts in kinds(lived).items():
        lines.add_row(kind, *map(str, counts))
    console.print(lines)


def _write(
    figures: dict[str, dict[str, float]],
    lived: Sequence[Lived],
    starts: Starts,
    asked: Sequence[Asked],
    json_file: Path | None,
    rows: Path | None,
) -> None:
    if json_file:
        data: dict[str, Any] = {"figures": figures, "kinds": kinds(lived)}
        json_file.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if rows:
        lines = [json.dumps(row_of(one, starts, asked), ensure_ascii=False) + "\n" for one in lived]
        rows.write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main()
