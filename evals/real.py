"""Score recall on real sessions by labels.

`python evals/real.py SET.jsonl --labels LABELS.json [--sessions N] [--json FILE] [--rows FILE] [--cache DIR] [--hooks]`

Plays a set (evals/real_set.py) in order through the product's own ingest and recall, in one process and a throw-away
home: each prompt is asked in its session, with the notes that session was shown already. A session's turns are taken in
when it ends: in its own session nothing of them is recalled anyway.
--hooks plays it through the real hooks and a real daemon instead, slower, and reports costs of starts and days.
--rows writes the signals of every candidate for evals/fit_need.py. --cache keeps the vectors there for the next run.
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real_hooks import play
from evals.real_set import Given, Label, Turn, load_labels, load_turns, score, spread
from memlayer import compose
from memlayer.config import load_settings
from memlayer.daemon.resources.state import EmbedderSlot
from memlayer.edge.capture.payload import spool_event
from memlayer.give.candidate import Candidate, Reason, turn_of, with_shown
from memlayer.give.recall import Recalled
from memlayer.model import Scope, turn_memory_id
from memlayer.records.sessions import Sessions

FOLDER = "/real/project"
ANSWERED_AFTER_MS = 60_000
CHARS_PER_TOKEN = 4
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)


class Memory:
    """The product's services on a throw-away home."""

    def __init__(self, home: Path) -> None:
        self.settings = load_settings(str(home), {})
        self.sessions = Sessions(str(home))
        slot = EmbedderSlot()
        self.projects = projects = compose.open_projects(str(home))
        self.services = compose.open_services(
            str(home), self.settings, projects=projects, sessions=self.sessions, embedder=slot
        )
        slot.load(compose.embedder_maker(str(home), self.settings), self.services.store.fit)
        self.project_id = projects.resolve(FOLDER)[0]
        self.turn_numbers: dict[str, int] = {}
        self._waiting: list[dict[str, Any]] = []

    def play(self, turn: Turn) -> Recalled:
        """Ask a turn's prompt."""
        if self._waiting and self._waiting[0]["session_id"] != turn.session:
            self.services.ingest.take(self._waiting)
            while self.services.keep.indexer.embed_some(batch=64):  # what a batch has too much of for a moment
                pass
            self.services.consolidator.settle_turns(len(self._waiting))
            self.services.recall.outcomes.renew(self.services.keep, self._waiting[0]["session_id"])
            self._waiting = []
        said = {"session_id": turn.session, "prompt_id": f"p{turn.n}", "project_dir": FOLDER}
        prompt = spool_event(kind="user", text=turn.prompt, at_ms=turn.at_ms, **said)
        answer = spool_event(kind="assistant", text=turn.answer, at_ms=turn.at_ms + ANSWERED_AFTER_MS, **said)
        session = self.sessions.heard(prompt, self.project_id)
        rules = compose.RoomSettings.of(self.settings).recall
        found = self.services.recall.answer(turn.prompt, Scope((self.project_id,)), rules, session)
        session.shown = with_shown(session.shown, found.entries)
        session.explained_ms = session.explained_ms or (turn.at_ms if found.block else 0)
        for event in (prompt, answer):
            self.services.recall.live.heard(event)
        self._waiting += [one for one in (prompt, answer) if one["text"].strip()]
        self.turn_numbers[turn_memory_id(turn.session, f"p{turn.n}")] = turn.n
        return found

    def turns_of(self, entry: Candidate) -> frozenset[int]:
        """The numbers of the turns that an entry comes from."""
        number = self.turn_numbers.get(turn_of(entry.chunk))
        return frozenset() if number is None else frozenset((number,))


@click.command(help=__doc__)
@click.argument("turns", type=click.Path(exists=True, path_type=Path))
@click.option("--labels", type=click.Path(exists=True, path_type=Path), required=True, help="Labels of the set.")
@click.option("--sessions", default=0, help="Only so many sessions, from the first.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write the figures and the given notes.")
@click.option("--rows", type=click.Path(path_type=Path), help="Write the signals of every candidate.")
@click.option("--cache", type=click.Path(path_type=Path), help="Keep the vectors there.")
@click.option("--hooks", is_flag=True, help="Through the real hooks and a real daemon.")
def main(
    turns: Path, labels: Path, sessions: int, json_file: Path | None, rows: Path | None, cache: Path | None, hooks: bool
) -> None:
    every, known = load_turns(turns), load_labels(labels)
    names = list(dict.fromkeys(one.session for one in every))[: sessions or None]
    every = [one for one in every if one.session in names]
    if hooks:
        _through_hooks(every, known, json_file)
        return
    given: list[Given] = []
    lines: list[dict[str, Any]] = []
    for turn, found, memory in _played(every, cache):
        entries = tuple(memory.turns_of(one) for one in found.entries)
        given.append(Given(turn, entries, len(found.block), found.took_ms))
        lines.append(row_of(turn, found, memory))
    figures, intervals = score(given, known), spread(given, known)
    _show(figures, intervals, given)
    if json_file:
        said = [{"n": line["n"], "block": line["block"], "entries": line["entries"]} for line in lines]
        data = {"figures": figures, "spread": intervals, "given": said}
        json_file.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")
    if rows:
        rows.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def _through_hooks(every: list[Turn], known: dict[int, Label], json_file: Path | None) -> None:
    played = list(track(play(every), "playing", total=len(every), console=console, transient=True))
    given = [one.given for one in played]
    _show(score(given, known), spread(given, known), given)
    starts = [one.start for one in played if one.start]
    chars = sum(map(len, starts)) + sum(one.given.chars for one in played)
    console.print(
        f"{len(starts)} session starts of {sum(map(len, starts)) / max(1, len(starts)):.0f} characters; "
        f"{100 * chars / CHARS_PER_TOKEN / len(every):.0f} tokens in 100 prompts, starts included (estimate)"
    )
    if json_file:
        said = [{"n": one.given.turn.n, "block": one.block, "start": one.start} for one in played]
        json_file.write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", "utf-8")


def _played(every: list[Turn], cache: Path | None) -> Iterator[tuple[Turn, Recalled, Memory]]:
    home = Path(tempfile.mkdtemp(prefix="memlayer-real-"))
    try:
        if cache and cache.exists():
            shutil.copytree(cache, home / "cache")
        memory = Memory(home)
        for turn in track(every, "playing", console=console, transient=True):
            yield turn, memory.play(turn), memory
        memory.services.close()
        if cache:
            shutil.copytree(home / "cache", cache, dirs_exist_ok=True)
            (cache / "terms.bin").unlink(missing_ok=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def row_of(turn: Turn, found: Recalled, memory: Memory) -> dict[str, Any]:
    candidates = [
        {"turns": sorted(memory.turns_of(one)), "signals": one.signals.inputs()}
        for one in found.candidates
        if one.signals and one.reason not in (Reason.OWN_SESSION, Reason.OPEN_QUESTION)
    ]
    return {
        "n": turn.n,
        "session": turn.session,
        "block": found.block,
        "entries": [sorted(memory.turns_of(one)) for one in found.entries],
        "signals": found.signals.inputs() if found.signals else None,
        "is_too_short": bool(found.signals and found.signals.is_too_short),
        "candidates": candidates,
    }


def _show(figures: dict[str, float], intervals: dict[str, tuple[float, float]], given: list[Given]) -> None:
    table = Table("", "value", "5 to 95 %", title=f"{len(given)} prompts")
    for name, value in figures.items():
        low, high = intervals[name]
        table.add_row(name, f"{value:.1f}", f"{low:.1f} to {high:.1f}")
    took = sorted(one.took_ms for one in given)
    table.add_row("recall, ms (p50, p95)", f"{took[len(took) // 2]:.0f}", f"{took[int(len(took) * 0.95)]:.0f}")
    console.print(table)


if __name__ == "__main__":
    main()
