"""Count the judged lines of sessions' starts and first prompts.

`python evals/starts_judged.py ROWS.jsonl --labels evals/data/real/cli_en.starts.labels.json --of with`, where
`evals/notes.py ... --rows ROWS.jsonl` has played the set.

Labels are 1 useful, 0 true background, -1 misleading: {of: {turn of the first prompt: {kind of line: {newest turn that
it comes from: label}}}}. Lines without a label are counted apart. A session had something due where an independent
reader names a fact that it would have needed, or a prompt that did.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

FILE = click.Path(exists=True, path_type=Path)
NAMES = {1: "useful", 0: "true background", -1: "misleading"}
JsonObject = dict[str, Any]
Labels = Mapping[str, Mapping[str, Mapping[str, int]]]
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)


def counted(rows: Sequence[JsonObject], labels: Labels) -> dict[str, float]:
    """Return the figures of the sessions that have labels; shares are percent."""
    every: Counter[int | None] = Counter()
    judged = due = helped = 0
    for row in rows:
        known = labels.get(str(row["turn"]))
        if known is None:
            continue
        judged += 1
        lines = [known.get(kind, {}).get(str(source)) for kind, source in row["start_lines"] + row["first_lines"]]
        every.update(lines)
        if row["facts"] or row["needs"]:
            due += 1
            helped += 1 in lines
    whole = sum(count for label, count in every.items() if label is not None)
    shares = {f"{name}, %": 100 * every[label] / max(1, whole) for label, name in NAMES.items()}
    return {
        "sessions judged": judged, "lines judged": whole, "lines without a label": every[None], **shares,
        "sessions that had something due": due, "of them with a useful line": helped,
        "share of them, %": 100 * helped / max(1, due),
    }  # fmt: skip


@click.command(help=__doc__)
@click.argument("rows", type=FILE)
@click.option("--labels", "labels_file", type=FILE, required=True, help="The judgements.")
@click.option("--of", "setup", default="with", show_default=True, help="The judged set-up: with, or without a model.")
def main(rows: Path, labels_file: Path, setup: str) -> None:
    lived = [json.loads(line) for line in rows.read_text("utf-8").splitlines()]
    labels = json.loads(labels_file.read_text("utf-8"))
    if setup not in labels:
        raise click.UsageError(f"--of {setup}: the labels have {', '.join(labels)}")
    table = Table("", setup)
    for name, value in counted(lived, labels[setup]).items():
        table.add_row(name, str(value) if isinstance(value, int) else f"{value:.1f}")
    console.print(table)


if __name__ == "__main__":
    main()
