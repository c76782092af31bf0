"""Per-prompt recall on the project's own evaluation set.

Through the real hook scripts and a real daemon.

`python evals/dialogues.py [--split dev|test|all] [--category NAME] [--probe ID] [--noise 20000] [--failures]
[--direct] [--keep DIR] [--json FILE]`

The turns of evals/data/dialogues are replayed into a throw-away home, each at its own time (the last one yesterday),
then each probe is asked through the user_prompt_submit hook in a session of its own, and its events are taken back, so
that no probe sees another. --direct asks the daemon's op `recall` instead of the hook: quicker, and without deadlines.
--keep DIR leaves the filled home there and uses it again; chunks that were made by older code stay in it until
`memlayer reindex`.

Tokens are an estimate without a tokenizer: 1.7 characters of Hangul or 4 of anything else make one.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals import dialogue_set
from evals.dialogue_home import Home, citation
from evals.dialogue_judge import Answer, figures, judge
from evals.dialogue_noise import noise as noise_turns
from evals.dialogue_set import CATEGORIES, Probe, Project, Turn

FILLED = "filled.json"
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)


@click.command(help=__doc__)
@click.option("--split", type=click.Choice(["dev", "test", "all"]), default="all", help="Which half to ask.")
@click.option("--category", multiple=True, type=click.Choice(CATEGORIES), help="Ask only these categories.")
@click.option("--probe", "ids", multiple=True, metavar="ID", help="Ask only these probes.")
@click.option("--noise", default=0, help="Unrelated events to bury the set in.")
@click.option("--failures", is_flag=True, help="Print each failing probe, its block, and the fate of its source.")
@click.option("--direct", is_flag=True, help="Ask the daemon's recall, not the hook.")
@click.option("--keep", default="", metavar="DIR", help="Keep the filled home there, and use it again.")
@click.option("--json", "json_file", default="", metavar="FILE", help="Write the figures there too.")
def main(
    split: str,
    category: tuple[str, ...],
    ids: tuple[str, ...],
    noise: int,
    failures: bool,
    direct: bool,
    keep: str,
    json_file: str,
) -> None:
    projects = dialogue_set.load()
    probes = dialogue_set.chosen(projects, split, category, ids)
    base = Path(keep or tempfile.mkdtemp(prefix="memlayer-dialogues-")).resolve()
    home = Home(base)
    try:
        with _bar() as bar:
            fill(home, projects, noise, bar)
            answers, untouched = ask_all(home, projects, probes, bar, direct=direct, failures=failures)
    finally:
        try:
            home.client.stop(deadline_s=60)  # a busy daemon may not stop in time
        finally:
            if not keep:
                shutil.rmtree(base, ignore_errors=True)
    found = {"split": split, "noise": noise, "direct": direct, **figures(answers)}
    _print_tables(found)
    if failures:
        _print_failures(answers, {turn.id: turn for project in projects for turn in project.turns})
    if not untouched:
        console.print("[red]The store is not as it was before the probes: they may have seen each other.[/]")
    if json_file:
        Path(json_file).write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", "utf-8")


def fill(home: Home, projects: list[Project], noise: int, bar: Progress) -> None:
    """Replay the set and the noise.

    Nothing is done if this home holds just these already.
    """
    turns = [(project.name, turn) for project in projects for turn in project.turns]
    holds = {"noise": noise, "set": hashlib.sha256(repr(turns).encode()).hexdigest()}
    note = home.base / FILLED
    task = bar.add_task("fill", total=None)
    if note.exists():
        if json.loads(note.read_text("utf-8")) != holds:
            raise click.UsageError("%s holds another set or other noise: name another folder" % home.base)
    else:
        last_ms = dialogue_set.last_ms(projects)
        shift_ms = dialogue_set.shift_ms(projects, int(time.time() * 1000))
        home.fill(chain(turns, noise_turns(projects, noise, last_ms)), shift_ms)

    def show(phase: str, done: int, total: int) -> None:
        bar.update(task, description="fill: %s" % phase, completed=done, total=total)

    home.settle(show)
    note.write_text(json.dumps(holds), "utf-8")
    bar.update(task, description="fill", completed=1, total=1)


def ask_all(
    home: Home, projects: list[Project], probes: list[Probe], bar: Progress, *, direct: bool, failures: bool
) -> tuple[list[Answer], bool]:
    """(the answers, whether events and memories are as many as before)."""
    turns: dict[str, Turn] = {turn.id: turn for project in projects for turn in project.turns}
    task = bar.add_task("ask", total=len(probes))
    before = home.counts()
    for project in projects:  # a project's first search reads its vectors; nobody's prompt is judged by that
        home.hook("user_prompt_submit", home.folder(project.name), "warm-up", {"prompt": "what was decided so far?"})
        home.withdraw("warm-up")
    answers = []
    for probe in probes:
        cited = citation(turns[probe.source]) if probe.source else "no source"
        answers.append(home.ask(probe, cited, direct=direct, explain=failures))
        bar.advance(task)
    return answers, home.counts() == before


def _print_tables(found: dict[str, Any]) -> None:
    title = "split %s, noise %d, %s" % (found["split"], found["noise"], "daemon" if found["direct"] else "hooks")
    shown = Table("", "probes", "right", "%", "source cited", "silent", "%", "forbidden", "entries", "characters",
                  "~tokens", title=title)  # fmt: skip
    for name, row in _rows(found):
        shown.add_row(
            name, str(row["probes"]), "%d/%d" % (row["right"], row["answers_due"]), _or_dash(row["right_percent"]),
            str(row["source_cited"]), "%d/%d" % (row["silent"], row["silence_due"]), _or_dash(row["silent_percent"]),
            str(row["forbidden"]), str(row["mean_entries"]), str(row["mean_chars"]), str(row["mean_tokens"]),
            end_section=name in ("all", CATEGORIES[-1]),
        )  # fmt: skip
    console.print(shown)
    whole = found["all"]
    console.print("about %d tokens in a day of 100 prompts of this mix; %d recalls were late and asked again" % (
        whole["tokens_a_day"], whole["late"]))  # fmt: skip
    console.print("failed: %s" % (" ".join(found["failed"]) or "none"))


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "all", found["all"]
    yield from found["by_category"].items()
    yield from found["by_language"].items()


def _print_failures(answers: list[Answer], turns: dict[str, Turn]) -> None:
    for answer in answers:
        verdict = judge(answer)
        if verdict.passed:
            continue
        probe = answer.probe
        due = "silence" if probe.silence else "any of %s all of %s" % (list(probe.any_of), list(probe.all_of))
        console.rule("%s %s %s" % (probe.id, probe.category, probe.language))
        print("prompt:    %s" % " / ".join([*(said for said, _ in probe.context), probe.prompt])[:400])
        print("due:       %s" % due)
        if verdict.forbidden:
            print("forbidden: %s" % list(verdict.forbidden))
        print("gate:      %s" % (answer.explained.get("gate") or "open"))
        if probe.source:
            print("source:    %s: %s" % (probe.source, _became(answer, citation(turns[probe.source]))))
        for one in answer.explained.get("candidates", [])[:5]:
            print("  %-4s %s %s %s" % ("kept" if one["kept"] else "", one["key"], one["parts"], one["reason"]))
        print(answer.block or "(no block)")


def _became(answer: Answer, cited: str) -> str:
    """Return the fate of the source, as the explanation has it."""
    for place, one in enumerate(answer.explained.get("candidates", []), 1):
        if cited == "[mem:%s]" % one["citation"]:
            return "candidate %d, %s, %s" % (place, "kept" if one["kept"] else one["reason"], one["parts"])
    return "no candidate"


def _or_dash(value: float | None) -> str:
    return "-" if value is None else "%.1f" % value


def _bar() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)


if __name__ == "__main__":
    main()
