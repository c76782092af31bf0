"""Recall on whole projects whose questions avoid the words of their answers, through the product's ingest and search.

`python bench/projects.py [--json FILE]`. tests/eval/projects/README.md says what is asked. first, first three: where a
question's own turn stands in the ranking; recalled: it is in the block; silent: no block, where none is due. Each
prompt of tests/eval/asides is said in each project.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from recall import DAY_MS, MINUTE_MS, START_MS, console, opened
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer import compose  # noqa: E402
from memlayer.config import load_settings  # noqa: E402
from memlayer.core.model import Scope, turn_memory_id  # noqa: E402
from memlayer.core.payload import spool_event  # noqa: E402

TURNS = ROOT / "tests" / "eval" / "projects" / "turns.jsonl"
ASIDES = ROOT / "tests" / "eval" / "asides" / "prompts.jsonl"
SILENT = {
    "absent": "never discussed",
    "near": "same matter, no answer",
    "talk": "small talk",
    "here": "about what is before their eyes",
    "anybody": "general knowledge",
}
TURNS_A_SESSION = 7
Rows = dict[str, dict[str, list[list[bool]]]]  # kind -> group -> for each question, its columns
Figures = dict[str, dict[str, dict[str, float]]]  # kind -> group -> measure -> percent
HANGUL = re.compile("[ㄱ-ㅎㅏ-ㅣ가-힣]")


@dataclass(frozen=True)
class Probe:
    """A question. kind: "asked" or one of SILENT; memory_id: of the turn that answers it, or ""."""

    project: str
    kind: str
    text: str
    memory_id: str = ""

    @property
    def language(self) -> str:
        return "Korean" if HANGUL.search(self.text) else "English"


def read(path: Path) -> tuple[list[dict[str, Any]], list[Probe]]:
    """The events of all projects, and the questions."""
    events: list[dict[str, Any]] = []
    probes: list[Probe] = []
    place: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        project = one["project"]
        probes += [Probe(project, "absent", text) for text in one.get("absent", [])]
        if "passage" not in one:
            continue
        at = place[project] = place.get(project, -1) + 1
        session_id = "%s-%d" % (project, at // TURNS_A_SESSION)
        prompt_id = "%s-%d" % (session_id, at % TURNS_A_SESSION)
        at_ms = START_MS + at // TURNS_A_SESSION * 5 * DAY_MS + at % TURNS_A_SESSION * 10 * MINUTE_MS
        prompt, _, answer = one["passage"].removeprefix("User: ").partition("\nAssistant: ")
        for kind, text, later_ms in (("user", prompt, 0), ("assistant", answer, 2 * MINUTE_MS)):
            events.append(
                spool_event(
                    kind=kind, session_id=session_id, prompt_id=prompt_id, text=text, at_ms=at_ms + later_ms,
                    project_dir="/bench/" + project,
                )
            )  # fmt: skip
        memory_id = turn_memory_id(session_id, prompt_id)
        probes += [Probe(project, "asked", text, memory_id) for text in one["q"]]
        probes += [Probe(project, "near", text) for text in one["near"]]
    asides = [json.loads(line) for line in ASIDES.read_text(encoding="utf-8").splitlines()]
    probes += [
        Probe(project, one["kind"], one["prompt"]) for project in place for one in asides if one["kind"] in SILENT
    ]
    return events, probes


def run(path: Path, home: Path) -> Figures:
    """kind -> language or "all" -> measure -> percent, and how many."""
    events, probes = read(path)
    services, project_of = opened(home)
    rules = compose.recall_rules(load_settings(str(home), {}))
    rows: Rows = {}
    with Progress(console=console, transient=True) as bar:
        take_in(services, events, bar)
        services.store.upkeep(force=True)
        task = bar.add_task("asking", total=len(probes))
        for probe in probes:
            found = services.recall.answer(probe.text, Scope((project_of("/bench/" + probe.project),)), rules)
            bar.advance(task)
            if probe.kind == "asked":
                ranking = list(dict.fromkeys(one.chunk.memory_id for one in found.candidates))
                place = ranking.index(probe.memory_id) if probe.memory_id in ranking else len(ranking) + 10
                row = [place < 1, place < 3, any(one.chunk.memory_id == probe.memory_id for one in found.entries)]
            else:
                row = [not found.block]
            for group in ("all", probe.language):
                rows.setdefault(probe.kind, {}).setdefault(group, []).append(row)
    services.close()
    return percents(rows, {"asked": ("first", "first three", "recalled"), **dict.fromkeys(SILENT, ("silent",))})


@contextmanager
def new_home() -> Iterator[Path]:
    """A home that is gone afterwards."""
    home = Path(tempfile.mkdtemp(prefix="memlayer-projects-"))
    os.chmod(home, 0o700)
    try:
        yield home
    finally:
        shutil.rmtree(home, ignore_errors=True)


def take_in(services: compose.Services, events: list[dict[str, Any]], bar: Progress) -> None:
    """As hooks would bring them, some at a time."""
    task = bar.add_task("taking in", total=len(events))
    for start in range(0, len(events), 100):
        services.ingest.take(events[start : start + 100])
        bar.update(task, completed=start + 100)


def percents(rows: Rows, names: dict[str, tuple[str, ...]]) -> Figures:
    """Of the rows of each kind and group, by the kind's names of their columns; and how many questions there were."""
    return {
        kind: {
            group: {
                name: round(100 * statistics.mean(values), 1)
                for name, values in zip(names[kind], zip(*found, strict=True), strict=True)
            }
            | {"questions": len(found)}
            for group, found in groups.items()
        }
        for kind, groups in rows.items()
    }


def show(figures: Figures) -> None:
    """For people."""
    asked = figures["asked"]
    table = Table("percent", *("%s (%d)" % (group, asked[group]["questions"]) for group in asked))
    for name in ("first", "first three", "recalled"):
        table.add_row(name, *(str(asked[group][name]) for group in asked))
    for kind, what in SILENT.items():
        table.add_row("silent: " + what, *(str(figures[kind][group]["silent"]) for group in asked))
    console.print(table)


@click.command()
@click.option("--file", type=click.Path(exists=True, path_type=Path), default=TURNS, help="Other projects.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(file: Path, json_file: str) -> None:
    """Measure recall on whole projects."""
    with new_home() as home:
        figures = run(file, home)
    show(figures)
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
