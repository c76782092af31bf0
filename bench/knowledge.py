"""Hooks and recall with tasks, entities and topics, against none: `python bench/knowledge.py [--events 100000]`.

Two copies of one store, each with its daemon, by turns in one run. The first has neither tasks nor entities nor topics.
The second has 500 tasks, 400 of them closed, entities and edges of every memory, and the topics of the last month.
"""

import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, closing
from pathlib import Path

import click
from latency import Home, console, wait_until_idle
from latency_texts import question
from rich.table import Table

from hooks import ROOT, command, payload, timed

sys.path.insert(0, str(ROOT))

from memlayer.edge.home import paths
from memlayer.tasks.events import CREATED, Observation, TaskEvent, captured
from memlayer.tasks.graph import VERSION
from memlayer.tasks.states import By, Status

HOOKS = ("session_start", "user_prompt_submit", "stop")
TASKS, CLOSED = 500, 400
GRAPH_WITHIN_S = 1800
WITHOUT, WITH = "without", "with"


def graph_of(home: Home) -> Path:
    """Return the file of a home's entities and edges."""
    return home.folder / "cache" / "graph.sqlite"


def leave_out(home: Home) -> None:
    """Have a stopped home know no entity, as if that were all."""
    with closing(sqlite3.connect(graph_of(home))) as base, base:
        base.execute("DELETE FROM links")
        base.execute("INSERT OR REPLACE INTO meta VALUES ('version', ?)", (VERSION,))


def add_tasks(home: Home) -> None:
    """Put tasks into the spool, as the person's words."""
    folder = Path(paths.make_folder(paths.spool(str(home.folder))))
    since_ms = int(time.time() * 1000) - 3_600_000
    for number in range(TASKS):
        row = Observation(
            CREATED, "결제 모듈 %d 정리, src/mod_%d.py" % (number, number),
            status=Status.DONE if number < CLOSED else Status.BLOCKED, blockers=("PROJ-%d" % number,),
        )  # fmt: skip
        event = captured(TaskEvent(By.PERSON, (row,)), project_dir=str(home.project), at_ms=since_ms + number)
        (folder / f"{since_ms + number:013d}-{event['id']}.json").write_text(json.dumps(event, ensure_ascii=False))


def whole(home: Home) -> dict[str, int]:
    """Wait until every memory is in the graph; return its rows."""
    ends = time.monotonic() + GRAPH_WITHIN_S
    with closing(sqlite3.connect(graph_of(home))) as base:
        while not base.execute("SELECT 1 FROM meta WHERE name = 'version' AND value = ?", (VERSION,)).fetchone():
            if time.monotonic() > ends:
                raise SystemExit("the graph is not whole after %d s" % GRAPH_WITHIN_S)
            time.sleep(1)
        return {
            "entities": base.execute("SELECT count(DISTINCT dst_id) FROM links WHERE dst_type != 'memory'").fetchone()[
                0
            ],
            "edges": base.execute("SELECT count(*) FROM links").fetchone()[0],
        }


def copied(home: Home, base: Path) -> Home:
    """Return a second home of a stopped one's store, for the same project."""
    shutil.copytree(home.folder, base / "home", symlinks=True)
    other = Home(base)
    other.project = home.project
    other.environment["CLAUDE_PROJECT_DIR"] = str(home.project)
    return other


def play(home: Home, number: int) -> dict[str, float]:
    """Return the milliseconds of a session's hooks, and of a recall."""
    took = {}
    for hook in HOOKS:
        fields = json.loads(payload(hook, number, home.project))
        if hook == "user_prompt_submit":
            fields["prompt"] = question(number)
        if hook == "stop":
            fields["last_assistant_message"] = "결제 모듈은 재전송 때문에 두 번 처리했다."
        took[hook] = timed(command(hook), json.dumps(fields, ensure_ascii=False).encode(), home.environment)[0]
    took["recall"] = home.recall(home.client, number)[0]
    return took


@click.command(help=__doc__)
@click.option("--events", default=100_000, show_default=True)
@click.option("--rounds", default=40, show_default=True)
@click.option("--texts", default=600, show_default=True, help="Texts that are really embedded.")
@click.option("--cache", default=str(ROOT / ".cache" / "bench"), help="Keeps the real vectors for the next run.")
def main(events: int, rounds: int, texts: int, cache: str) -> None:
    base = Path(tempfile.mkdtemp(prefix="memlayer-knowledge-"))
    Path(cache).mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        first = Home(base / WITHOUT)
        build(first, events // 2, texts, cache)
        first.settle(first.client, "first start")
        first.client.stop()
        second = copied(first, base / WITH)
        leave_out(first)
        with closing(sqlite3.connect(graph_of(second))) as graph, graph:
            graph.execute("DELETE FROM meta")
        add_tasks(second)
        homes = {WITHOUT: first, WITH: second}
        for home in homes.values():
            stack.callback(home.client.stop)
            home.settle(home.client, "start")
        rows = whole(second)
        topics = second.client.call("topics", {"project_dir": str(second.project)}, deadline_s=600)["topics"]
        for home in homes.values():
            wait_until_idle(home.client.call("status", {})["pid"])
        took: dict[str, list[dict[str, float]]] = {name: [] for name in homes}
        for number in range(rounds + 3):
            for name in homes if number % 2 else reversed(homes):
                figures = play(homes[name], number)
                if number >= 3:
                    took[name].append(figures)
        show(took, events, rows, len(topics))


def build(home: Home, turns: int, texts: int, cache: str) -> None:
    """Write so many turns; no daemon may run."""
    program = [sys.executable, str(ROOT / "bench" / "latency_store.py"), str(home.folder), str(home.project)]
    program += ["0", str(turns), "--cache", cache, "--texts", str(texts)]
    subprocess.run(program, check=True, stdout=subprocess.DEVNULL, env={**os.environ})


def show(took: dict[str, list[dict[str, float]]], events: int, rows: dict[str, int], topics: int) -> None:
    """Print medians and 95th percentiles of both, and their ratios."""
    console.print("%d events, %d tasks, %s, %d topics" % (events, TASKS, rows, topics))
    table = Table("", "without p50, p95 ms", "with p50, p95 ms", "ratio p50", "ratio of pairs")
    for name in took[WITH][0]:
        before, after = ([row[name] for row in took[case]] for case in (WITHOUT, WITH))
        cells = ["%.0f, %.0f" % (statistics.median(values), p95(values)) for values in (before, after)]
        pairs = statistics.median(new / old for old, new in zip(before, after, strict=True))
        table.add_row(name, *cells, "%.2f" % (statistics.median(after) / statistics.median(before)), "%.2f" % pairs)
    console.print(table)


def p95(values: list[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[int(len(values) * 0.95)]


if __name__ == "__main__":
    main()
