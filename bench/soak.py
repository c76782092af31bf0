"""A long day of many turns through the real hook scripts.

It measures their effect on the daemon.

`python bench/soak.py [--sessions 1] [--projects 1] [--turns 2000] [--json FILE]`. Prints, as the turns go by, the
daemon's memory, file descriptors and threads, the store's versions and fragments; in the end the prompt hook's time,
whether anything was lost, doubled or misplaced, the cost of idling, and whether the daemon leaves. Exit code 1 when a
bound is broken.
"""

import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.crowd import Crowd, Gauge, gauge  # noqa: E402
from tests.support.witness import Witness  # noqa: E402

console = Console()
WARM_UP = 0.25  # of the turns, before memory has to be flat
MAX_GROWTH = 1.25
MAX_VERSIONS, MAX_FRAGMENTS = 130, 100
IDLE_S = 6.0


def watch(witness: Witness, crowd: Crowd, ended: threading.Event, every_turns: int) -> list[Gauge]:
    """A measurement each every_turns turns."""
    out: list[Gauge] = []
    while not ended.wait(0.2):
        if crowd.turns_done >= (len(out) + 1) * every_turns:
            found = gauge(witness, crowd)
            if found is not None:
                out.append(found)
                console.print("%5d turns: %s" % (found.turns, found))
    return out


def run(sessions: int, projects: int, turns: int, base: Path, think_s: float) -> tuple[dict[str, Any], list[str]]:
    """(figures, broken bounds) of `turns` turns in all."""
    witness = Witness(base / "home", idle_minutes=IDLE_S / 60)
    places = [base / ("project %d" % number) / "저장소" for number in range(projects)]
    for place in places:
        place.mkdir(parents=True)
    try:
        Crowd(witness, places[:1], 1, 5, prefix="first").run()
        witness.client.call("flush", {"wait": True}, deadline_s=60)
        idle = Crowd(witness, places[:1], 1, 20, prefix="idle", think_s=0.3)
        idle.run()
        crowd = Crowd(witness, places, sessions, turns // sessions, think_s=think_s)
        ended = threading.Event()
        measured: list[Gauge] = []
        watching = threading.Thread(target=lambda: measured.extend(watch(witness, crowd, ended, max(20, turns // 20))))
        watching.start()
        started = time.monotonic()
        crowd.run()
        took_s = time.monotonic() - started
        ended.set()
        watching.join()
        if crowd.errors:
            raise crowd.errors[0]
        witness.client.call("flush", {"wait": True}, deadline_s=600)
        last = gauge(witness, crowd)
        assert last is not None
        measured.append(last)
        stats = witness.client.call("stats", {}, deadline_s=60)
        ticks = cpu_ticks(last.pid)
        time.sleep(3)
        idle_share = (cpu_ticks(last.pid) - ticks) / os.sysconf("SC_CLK_TCK") / 3
        gone_s = until_gone(last.pid, IDLE_S + 30)
        verdict = witness.verdict()
    finally:
        witness.kill_daemon()
    warm = measured[int(len(measured) * WARM_UP)]
    alone, under_load = percentile(idle.prompt_s, 0.95), percentile(crowd.prompt_s, 0.95)
    figures = {
        "sessions": sessions, "projects": projects, "turns": crowd.turns_done, "took_s": round(took_s, 1),
        "stored_events": verdict.stored, "faults": {name: str(found)[:500] for name, found in verdict.faults().items()},
        "prompt_p50_ms": round(statistics.median(crowd.prompt_s) * 1000, 1),
        "prompt_p95_ms": round(under_load * 1000, 1), "prompt_p95_alone_ms": round(alone * 1000, 1),
        "p95_ratio": round(under_load / alone, 2), "answered": crowd.answered,
        "rss_mb": [round(one.rss_bytes / 1e6) for one in measured], "fds": [one.fds for one in measured],
        "threads": [one.threads for one in measured], "versions": [one.versions for one in measured],
        "fragments": [one.fragments for one in measured], "daemons": sorted(witness.daemons_seen),
        "idle_cpu_share": round(idle_share, 4), "gone_after_idle_s": gone_s,
        "disk_mb": round(stats["disk_bytes"] / 1e6, 1),
    }  # fmt: skip
    bounds = {
        "nothing lost, doubled or misplaced": not verdict.faults(),
        "memory is flat": last.rss_bytes < warm.rss_bytes * MAX_GROWTH,
        "descriptors are flat": last.fds <= warm.fds + 16,
        "threads are flat": max(one.threads for one in measured[-3:]) <= warm.threads + 16,
        "versions are bounded": max(figures["versions"]) <= MAX_VERSIONS,
        "fragments are bounded": max(figures["fragments"]) <= MAX_FRAGMENTS,
        "idling costs nothing": idle_share < 0.02,
        "the daemon leaves when idle": gone_s is not None,
        "one daemon, ever": len(witness.daemons_seen) == 1,
    }
    return figures, [name for name, holds in bounds.items() if not holds]


def cpu_ticks(pid: int) -> int:
    fields = Path("/proc/%d/stat" % pid).read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def until_gone(pid: int, at_most_s: float) -> float | None:
    """Return the seconds until the process has left.

    None when it has not by then.
    """
    started = time.monotonic()
    while time.monotonic() - started < at_most_s:
        if not os.path.exists("/proc/%d" % pid):
            return round(time.monotonic() - started, 1)
        time.sleep(0.1)
    return None


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@click.command()
@click.option("--sessions", default=1, help="At once.")
@click.option("--projects", default=1, help="That they work in.")
@click.option("--turns", default=2000, help="In all.")
@click.option("--think", default=0.0, help="Seconds that a person thinks between two turns.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(sessions: int, projects: int, turns: int, think: float, json_file: str) -> None:
    """Run it."""
    with tempfile.TemporaryDirectory(prefix="memlayer-soak-") as base:
        figures, broken = run(sessions, projects, turns, Path(base), think)
    shown = Table("", "")
    for name, value in figures.items():
        shown.add_row(name, str(value))
    console.print(shown)
    if json_file:
        Path(json_file).write_text(json.dumps({**figures, "broken": broken}, indent=1, ensure_ascii=False) + "\n")
    console.print("Broken: " + ", ".join(broken) if broken else "All bounds hold.")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main()
