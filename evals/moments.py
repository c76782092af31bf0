"""Measure what sessions are given, moment by moment.

`python evals/moments.py SET.jsonl --notes NOTES.jsonl --starts STARTS.json --tools TOOLS.jsonl [--labels LABELS.json]
[--from N] [--sessions N] [--json FILE] [--rows FILE]`

Plays a set like evals/notes.py, with every command and change of its tool calls: first changes of a file go through
the real hooks, and what they answer is a moment. By moment: how often it fired, its lines by their
labels (2 useful, 1 same matter, 0 idle, -1 misleading), and the facts met of those that were due and noted. --labels:
{moment: {turn: {source: label}}} by turn number, where the source of a line is the turn that it comes from, or the
place of the call in its turn; lines without a label are counted apart. --rows writes a JSON line a session, for reading
and labelling.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.home import Home
from evals.notes_play import CHANGES, PROJECT, Lived, Player, root_of
from evals.notes_recorded import RecordedModel, load_record, sessions_of
from evals.notes_score import Starts, facts_of, load_starts
from evals.real_set import Turn, load_turns

HALF = 60  # the first session that nothing was tuned on
FILE = click.Path(exists=True, path_type=Path)
LABELS = {2: "useful", 1: "same matter", 0: "idle", -1: "misleading"}
CHARS_A_TOKEN = 4
FULL_NOTEBOOK = 10
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)

JsonObject = dict[str, Any]
Labels = Mapping[str, Mapping[str, Mapping[str, int]]]


@dataclass(frozen=True)
class Fired:
    """A moment of a changed file. n, call: the turn and the call's place in it."""

    n: int
    call: int
    target: str
    block: str


@dataclass
class MomentPlayer(Player):
    """Plays every command and change, and keeps what the hooks answer.

    fired: by the place of the session.
    """

    fired: dict[int, list[Fired]] = field(default_factory=dict)
    _changed: set[tuple[str, str]] = field(default_factory=set)

    def _call(self, home: Home, turn: Turn, call: JsonObject, number: int, asked: Mapping[str, str]) -> None:
        is_failed, path = bool(call.get("failed")), str(call.get("path", ""))
        is_first = call["tool"] in CHANGES and (turn.session, path) not in self._changed
        if call["tool"] in CHANGES and not is_failed:
            self._changed.add((turn.session, path))
        if is_failed or not is_first:
            super()._call(home, turn, call, number, asked)
            return
        hook, fields = self.fields(home, turn, call, number, asked)
        block = home.hook(hook, home.folder(PROJECT), self.name_of(turn), fields)[0]
        if block:
            place = next(place for place, turns in enumerate(self.sessions) if turns[0].session == turn.session)
            self.fired.setdefault(place, []).append(Fired(turn.n, number, path, block))


def load_all_calls(path: Path) -> dict[int, list[JsonObject]]:
    """Load turn's number -> its commands, changes and failed calls, in order."""
    calls: dict[int, list[JsonObject]] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        kept = [call for call in row["calls"] if call["tool"] in (*CHANGES, "Bash") or call.get("failed")]
        if kept:
            calls[int(row["n"])] = kept
    return calls


def blocks_of(lived: Lived, fired: Sequence[Fired]) -> Iterator[tuple[str, int, str]]:
    """Yield (moment, turn's number, block) of all that a session was given."""
    for name, n, block, _ in given_by(lived, fired):
        yield name, n, block


def given_by(lived: Lived, fired: Sequence[Fired]) -> Iterator[tuple[str, int, str, Sequence[frozenset[int]]]]:
    """Yield (moment, turn's number, block, the sources of each line)."""
    if lived.start:
        yield "start", lived.turns[0].n, lived.start, [line.turns for line in lived.start_lines]
    for place, (turn, block) in enumerate(zip(lived.turns, lived.blocks, strict=True)):
        if block:
            sources = [line.turns for line in lived.block_lines[place]]
            yield "later prompt" if place else "first prompt", turn.n, block, sources
    for one in fired:
        yield "changed file", one.n, one.block, [frozenset({one.call})]


def figures(
    sessions: Sequence[Lived], fired: Mapping[int, Sequence[Fired]], starts: Starts, labels: Labels
) -> JsonObject:
    """Return the figures of these sessions, by moment and of them whole."""
    moments: dict[str, Counter[str]] = {}
    chars: list[tuple[int, int]] = []
    small: list[tuple[int, int]] = []
    helped = due = 0
    for lived in sessions:
        useful = False
        total = 0
        for name, n, block, lines in given_by(lived, fired.get(lived.place, ())):
            counts = moments.setdefault(name, Counter())
            counts["fired"] += 1
            total += len(block)
            given = labels.get(name, {}).get(str(n), {})
            for sources in lines:
                label = max((given[str(one)] for one in sources if str(one) in given), default=None)
                counts["lines"] += 1
                counts[LABELS[label] if label is not None else "unread"] += 1
                useful = useful or label == 2
        facts = facts_of(lived, starts)
        met = any(one.is_given or one.is_summarised for one in facts)
        due += bool(facts)
        helped += bool(facts) and (useful or met)
        (chars if lived.noted_lines >= FULL_NOTEBOOK else small).append((total, len(lived.turns)))
    facts = [one for lived in sessions for one in facts_of(lived, starts)]
    noted = [one for one in facts if one.is_noted]
    later = [bool(block) for lived in sessions for block in lived.blocks[1:]]
    return {
        "moments": {name: dict(counts) for name, counts in moments.items()},
        "sessions": len(sessions),
        "facts due": len(facts), "of them noted": len(noted), "noted and given": sum(one.is_given for one in noted),
        "sessions with facts due": due, "of them helped": helped,
        "later prompts silent, %": 100 * (1 - sum(later) / max(1, len(later))),
        "tokens in 100 prompts, ten notes and more": _tokens(chars),
        "tokens in 100 prompts, fewer notes": _tokens(small),
    }  # fmt: skip


def _tokens(rows: Sequence[tuple[int, int]]) -> float:
    prompts = sum(turns for _, turns in rows)
    return 100 * sum(chars for chars, _ in rows) / CHARS_A_TOKEN / prompts if prompts else 0.0


@click.command(help=__doc__)
@click.argument("turns", type=FILE)
@click.option("--notes", type=FILE, required=True, help="The record of the model's answers.")
@click.option("--starts", "starts_file", type=FILE, required=True, help="What sessions would have needed.")
@click.option("--tools", type=FILE, required=True, help="The tool calls of each turn.")
@click.option("--labels", "labels_file", type=FILE, help="Judgements of the lines.")
@click.option("--from", "first", default=0, help="Play from this session on, counted from 0.")
@click.option("--sessions", default=0, help="Only so many sessions.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures.")
@click.option("--rows", type=click.Path(path_type=Path), help="Write a line a session, for reading.")
def main(
    turns: Path,
    notes: Path,
    starts_file: Path,
    tools: Path,
    labels_file: Path | None,
    first: int,
    sessions: int,
    json_file: Path | None,
    rows: Path | None,
) -> None:
    began = time.monotonic()
    every, starts = sessions_of(load_turns(turns)), load_starts(starts_file)
    record, calls = load_record(notes, every), load_all_calls(tools)
    labels = json.loads(labels_file.read_text("utf-8")) if labels_file else {}
    named = [file for answer in record.values() for note in answer["notes"] for file in note.get("files", [])]
    player = MomentPlayer(every, RecordedModel(every, record), calls, root_of(calls, named))
    places = range(len(every))[first : first + sessions if sessions else None]
    lived: list[Lived] = []
    with open(rows, "w", encoding="utf-8") if rows else open("/dev/null", "w") as sink:
        for one in track(player.play(places), "playing", total=len(places), console=console, transient=True):
            lived.append(one)
            sink.write(json.dumps(row_of(one, player.fired.get(one.place, ()), starts), ensure_ascii=False) + "\n")
            sink.flush()
    parts = {
        f"0 to {HALF - 1}": [one for one in lived if one.place < HALF],
        f"from {HALF} on": [one for one in lived if one.place >= HALF],
    }
    scores = {name: figures(part, player.fired, starts, labels) for name, part in parts.items() if part}
    show(scores, f"{len(lived)} sessions in {time.monotonic() - began:.0f} s")
    if json_file:
        json_file.write_text(json.dumps(scores, indent=1, ensure_ascii=False) + "\n", "utf-8")


def row_of(lived: Lived, fired: Sequence[Fired], starts: Starts) -> JsonObject:
    """Return a session as a row for reading."""
    return {
        "session": lived.place,
        "prompts": {turn.n: turn.prompt for turn in lived.turns},
        "given": [{"moment": name, "n": n, "block": block} for name, n, block in blocks_of(lived, fired)],
        "calls": [vars(one) for one in fired],
        "facts": [
            {"fact": one.fact.text, "turn": one.fact.turn, "noted": one.is_noted, "given": one.is_given}
            for one in facts_of(lived, starts)
        ],
        "notes_in_force": lived.noted_lines,
    }


def show(scores: Mapping[str, JsonObject], title: str) -> None:
    """Print the figures as tables."""
    for name, score in scores.items():
        table = Table("moment", "fired", "lines", *LABELS.values(), "unread", title=f"sessions {name} ({title})")
        for moment, counts in score["moments"].items():
            values = [counts.get(column, 0) for column in ("fired", "lines", *LABELS.values(), "unread")]
            table.add_row(moment, *map(str, values))
        console.print(table)
        for what, value in score.items():
            if what != "moments":
                console.print(f"{what}: {value:.1f}" if isinstance(value, float) else f"{what}: {value}")


if __name__ == "__main__":
    main()
