"""Facts that change: whether the newer turn comes, and whether the older one comes unmarked.

`python bench/changes.py [--split dev|test|all] [--json FILE]`. Pairs of turns (tests/eval/changes) are said in the
projects of tests/eval/projects, the newer one 40 days after the older, everything is consolidated by the rules, and
their questions are asked. Of a change, `right`: the new value is in the block; `stale`: the old one is, in an entry
that neither holds the new one nor names a newer entry that does. Of a control, two turns that both hold, `right`: the
older one's answer is in the block; `marked`: the older entry says that there is a newer one. The projects' own
questions are asked as well, and of the turns that come with their answer it is told how many say that (a few of them
are changed indeed, later in the project).
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from projects import TURNS, Figures, Rows, new_home, percents, read, take_in
from recall import DAY_MS, MINUTE_MS, START_MS, console, opened
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer import compose  # noqa: E402
from memlayer.config import load_settings  # noqa: E402
from memlayer.core.model import Scope, turn_memory_id  # noqa: E402
from memlayer.core.payload import spool_event  # noqa: E402
from memlayer.service.candidate import Candidate  # noqa: E402
from memlayer.service.recall import Recalled  # noqa: E402
from memlayer.service.successors import MOST_IN_A_ROW  # noqa: E402

PAIRS = ROOT / "tests" / "eval" / "changes" / "pairs.jsonl"
PAIRS_A_SESSION = 3
APART_DAYS = 40
SETTLED_AT_ONCE = 50
MEASURES = {"change": ("right", "stale", "silent"), "control": ("right", "marked", "silent"), "asked": ("marked",)}


@dataclass(frozen=True)
class Pair:
    """Two turns, and what is asked after both. old, new: strings of the one and of the other that tell its value."""

    project: str
    kind: str
    how: str
    questions: tuple[str, ...]
    old: tuple[str, ...]
    new: tuple[str, ...]
    older_id: str

    def judged(self, found: Recalled) -> list[bool]:
        """Its MEASURES of the answer to one of its questions."""
        wanted = self.new if self.kind == "change" else self.old
        right = any(text in one.snippet for one in found.entries for text in wanted)
        older = [one for one in found.entries if one.chunk.memory_id == self.older_id]
        if self.kind == "control":
            return [right, any(one.newer for one in older), not found.block]
        holding_old = [one for one in found.entries if any(text in one.snippet for text in self.old)]
        stale = any(not self._leads_to_new(one, found) for one in holding_old)
        return [right, stale, not found.block]

    def _leads_to_new(self, one: Candidate, found: Recalled) -> bool:
        by_citation = {other.citation: other for other in found.entries}
        at: Candidate | None = one
        for _ in range(MOST_IN_A_ROW):
            if at is None:
                return False
            if any(text in at.snippet for text in self.new):
                return True
            at = by_citation.get(at.newer)
        return False


def read_pairs(path: Path, split: str) -> tuple[list[dict[str, Any]], list[Pair]]:
    """The events of the pairs of a split ("all": of both), and the pairs."""
    events: list[dict[str, Any]] = []
    pairs: list[Pair] = []
    place: dict[str, int] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if split not in ("all", one["split"]):
            continue
        project = one["project"]
        at = place[project] = place.get(project, -1) + 1
        memory_ids = []
        for later, name in enumerate(("older", "newer")):
            session_id = "%s-%s-%d" % (project, name, at // PAIRS_A_SESSION)
            prompt_id = "%s-%d" % (session_id, at)
            at_ms = START_MS + (at // PAIRS_A_SESSION + later * APART_DAYS) * DAY_MS + at * 20 * MINUTE_MS
            memory_ids.append(turn_memory_id(session_id, prompt_id))
            events += [
                spool_event(
                    kind=kind, session_id=session_id, prompt_id=prompt_id, text=one[name][kind],
                    at_ms=at_ms + later_ms, project_dir="/bench/" + project,
                )
                for kind, later_ms in (("user", 0), ("assistant", 2 * MINUTE_MS))
            ]  # fmt: skip
        texts = (tuple(one[key]) for key in ("q", "old", "new"))
        pairs.append(Pair(project, one["kind"], one["how"], *texts, memory_ids[0]))
    return events, pairs


def run(split: str, home: Path) -> Figures:
    """kind -> how or "all" -> measure -> percent, and how many questions."""
    events, pairs = read_pairs(PAIRS, split)
    told, probes = read(TURNS)
    asked = [probe for probe in probes if probe.kind == "asked" and probe.project in {pair.project for pair in pairs}]
    events = sorted([*told, *events], key=lambda event: int(event["at_ms"]))
    services, project_of = opened(home)
    rules = compose.recall_rules(load_settings(str(home), {}))
    rows: Rows = {}
    with Progress(console=console, transient=True) as bar:
        take_in(services, events, bar)
        while services.consolidator.settle_turns(SETTLED_AT_ONCE):
            pass
        for project_id in services.consolidator.changed_projects():
            services.recall.renew(project_id)
        services.store.upkeep(force=True)
        task = bar.add_task("asking", total=len(pairs) + len(asked))
        for pair in pairs:
            scope = Scope((project_of("/bench/" + pair.project),))
            for text in pair.questions:
                row = pair.judged(services.recall.answer(text, scope, rules))
                for group in ("all", pair.how):
                    rows.setdefault(pair.kind, {}).setdefault(group, []).append(row)
            bar.advance(task)
        for probe in asked:
            found = services.recall.answer(probe.text, Scope((project_of("/bench/" + probe.project),)), rules)
            own = [bool(one.newer) for one in found.entries if one.chunk.memory_id == probe.memory_id]
            rows.setdefault("asked", {}).setdefault("all", []).extend([is_marked] for is_marked in own)
            bar.advance(task)
    services.close()
    return percents(rows, MEASURES)


def show(figures: Figures) -> None:
    """For people."""
    for kind, groups in figures.items():
        table = Table(kind, "questions", *MEASURES[kind])
        for group, one in groups.items():
            table.add_row(group, str(one["questions"]), *(str(one[name]) for name in MEASURES[kind]))
        console.print(table)


@click.command()
@click.option("--split", type=click.Choice(["dev", "test", "all"]), default="all")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(split: str, json_file: str) -> None:
    """Measure what becomes of facts that change."""
    with new_home() as home:
        figures = run(split, home)
    show(figures)
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
