"""Print a set's largest topics, with the place and first prompt of each session.

`python evals/topics.py SET.jsonl [--tools TOOLS.jsonl] [--topics 10] [--labels FILE] [--show]`

Sessions are grouped without a model, by their turns and the files that they changed. Labels: {first turn of a topic:
[sessions that belong to its matter, sessions]}, by a reader. --show prints the set's own text, for that reader.
"""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click
from rich.console import Console

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.notes_play import JsonObject, load_calls
from evals.real_set import Turn, load_turns
from memlayer.model import Event, Memory
from memlayer.topics.grouping import Topic, line_of, topics_of
from memlayer.topics.profile import profile_of
from memlayer.turns.turn_memory import turn_memory

LABELS = Path(__file__).parent / "data" / "real" / "cli_en.topics.json"
FILE = click.Path(exists=True, path_type=Path)
console = Console(highlight=False, width=200)


def memories(turns: Sequence[Turn]) -> Iterator[Memory]:
    """Yield the memory of each turn that is worth one."""
    for turn in turns:
        events = [
            Event("%d-%s" % (turn.n, kind), kind, turn.session, "p", str(turn.n), text, turn.at_ms)
            for kind, text in (("user", turn.prompt), ("assistant", turn.answer))
        ]
        made = turn_memory(events)
        if made is not None:
            yield made


def grouped(turns: Sequence[Turn], calls: Mapping[int, Sequence[JsonObject]], most: int) -> list[Topic]:
    """Return the largest topics of a set. calls: by turn."""
    by_session: dict[str, list[Memory]] = {}
    for row in memories(turns):
        by_session.setdefault(row.session_id, []).append(row)
    files: dict[str, set[str]] = {}
    for turn in turns:
        paths = [str(call["path"]) for call in calls.get(turn.n, ()) if "path" in call and not call.get("failed")]
        files.setdefault(turn.session, set()).update("/".join(path.split("/")[-2:]) for path in paths)
    made = [profile_of(rows, files[session]) for session, rows in by_session.items()]
    return topics_of([row for row in made if row is not None], most)


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--tools", type=FILE, help="The tool calls of each turn.")
@click.option("--topics", default=10, show_default=True)
@click.option("--labels", type=FILE, default=LABELS)
@click.option("--show", is_flag=True, help="Print the texts.")
def main(turns: Path, tools: Path | None, topics: int, labels: Path, show: bool) -> None:
    rows = load_turns(turns)
    first = {turn.session: turn for turn in reversed(rows)}
    labelled = json.loads(labels.read_text("utf-8"))
    right = every = 0
    for topic in grouped(rows, load_calls(tools) if tools else {}, topics):
        of = [first[row.session_id] for row in topic.profiles]
        belong, sessions = labelled.get(str(of[0].n), (0, 0))
        right, every = right + belong, every + sessions
        console.print("turn %d: %d sessions, label %d of %d" % (of[0].n, len(of), belong, sessions))
        for text in [line_of(topic), *(" ".join(turn.prompt.split())[:150] for turn in of)] if show else ():
            console.print("   ", text, markup=False)
    console.print("%d of %d sessions belong to their topic's matter" % (right, every))


if __name__ == "__main__":
    main()
