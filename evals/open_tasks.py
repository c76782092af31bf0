"""Compare the tasks at the end of a set's first sessions with a reader's labels.

`python evals/open_tasks.py SET.jsonl --notes NOTES.jsonl [--tools TOOLS.jsonl] [--sessions 60] [--labels FILE]
[--show]`

Plays the sessions through the real hooks and a real daemon, with a language model that answers from a record. Prints
the tasks that are listed, by the turn that made each, and their precision. Labels: {turn: 1 if its task is open at that
moment, else 0}, by a reader of all turns up to there. --show prints titles, which are the set's own text.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.home import Home, prompt_id
from evals.notes_play import PROJECT, JsonObject, Lived, Player, load_calls, root_of
from evals.notes_recorded import RecordedModel, load_record, sessions_of
from evals.real_set import load_turns

LABELS = Path(__file__).parent / "data" / "real" / "cli_en.open_tasks.json"
FILE = click.Path(exists=True, path_type=Path)
console = Console(highlight=False)


class Listing(Player):
    """A player that reads the open tasks after each session."""

    listed: Sequence[JsonObject] = ()

    def _session(self, home: Home, place: int) -> Lived:
        lived = super()._session(home, place)
        folder = str(home.folder(PROJECT))
        rows = home.client.call("tasks", {"project_dir": folder}, deadline_s=60)["tasks"]
        shown = [home.client.call("tasks.show", {"id": row["id"]}, deadline_s=60)["tasks"][0] for row in rows]
        places = {row["id"]: row["prompt_id"] for row in self._tasks(home)}
        self.listed = [{**row, "made_by": places.get(row["id"], "")} for row in shown]
        return lived

    def _tasks(self, home: Home) -> list[JsonObject]:
        asked = {"project_dir": str(home.folder(PROJECT)), "category": "core", "limit": 1000}
        rows = home.client.call("list", asked, deadline_s=60)["memories"]
        return [row for row in rows if row["kind"] == "task"]


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--notes", type=FILE, required=True, help="The record of the model's answers.")
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
@click.option("--sessions", default=60, show_default=True)
@click.option("--labels", type=FILE, default=LABELS, show_default=False)
@click.option("--show", is_flag=True, help="Print each task's title and quotes.")
def main(turns: Path, notes: Path, tools: Path | None, sessions: int, labels: Path, show: bool) -> None:
    every = sessions_of(load_turns(turns))
    record = load_record(notes, every)
    calls = load_calls(tools) if tools else {}
    files = [file for answer in record.values() for note in answer["notes"] for file in note.get("files", [])]
    player = Listing(every, RecordedModel(every, record), calls, root_of(calls, files))
    for _ in player.play(range(min(sessions, len(every)))):
        pass
    numbers = {prompt_id(str(turn.n)): turn.n for session in every for turn in session}
    labelled = {int(number): int(value) for number, value in json.loads(labels.read_text("utf-8")).items()}
    right = known = 0
    for row in player.listed:
        number = numbers.get(row["made_by"], -1)
        label = labelled.get(number)
        known += label is not None
        right += label == 1
        console.print("turn %d: %s, label %s" % (number, row["status"], label), row["title"] if show else "")
        for step in row["history"] if show else ():
            console.print("   ", step["op"], step["to"], step["quote"])
    console.print("%d listed, %d with a label, %d of them open" % (len(player.listed), known, right))


if __name__ == "__main__":
    main()
