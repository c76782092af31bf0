"""The daemon's memory after work and after an idle minute: `python bench/memory.py [--turns 1000,50000]`.

Two events a turn, all of one project, built as bench/latency.py builds its store. RSS is the goal's figure; PSS leaves
out what other processes map too; anonymous is what no file backs.
"""

import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from latency import Home, console, hook, wait_until_gone, wait_until_idle  # noqa: E402

IDLE_S = 75.0  # a minute without a request, and the look that follows it
ROUNDS = 10
NAMES = ("Rss", "Pss", "Anonymous")


def memory_mb(pid: int) -> dict[str, int]:
    """Return the megabytes of a process by name."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]
    kib = {line.split(":")[0]: int(line.split()[1]) for line in lines}
    return {name: round(kib[name] * 1024 / 1e6) for name in NAMES}


def measure(home: Home, turns: int, cache: Path, idle_s: float) -> dict[str, dict[str, int]]:
    """Return a daemon's memory, right after prompts and later."""
    home.grow(turns, cache)
    home.settle(home.client, f"{turns} turns")
    hook(home, ROUNDS, turns)
    pid = home.client.call("status", {})["pid"]
    wait_until_idle(pid)
    at_work = memory_mb(pid)
    time.sleep(idle_s)
    found = {"at work": at_work, "idle": memory_mb(pid)}
    home.client.stop()
    wait_until_gone(home.folder)
    return found


@click.command(help=__doc__)
@click.option("--turns", default="1000,50000")
@click.option("--idle-s", default=IDLE_S)
@click.option("--json", "json_file", default="", help="Write the figures there too.")
@click.option("--cache", default=str(ROOT / ".cache" / "bench"), help="Keeps the real vectors for the next run.")
def main(turns: str, idle_s: float, json_file: str, cache: str) -> None:
    base, found = Path(tempfile.mkdtemp(prefix="memlayer-memory-")), {}
    Path(cache).mkdir(parents=True, exist_ok=True)
    shown = Table("events", "", *NAMES, title="MB")
    try:
        home = Home(base)
        for count in sorted(map(int, turns.split(","))):
            found[2 * count] = measure(home, count, Path(cache), idle_s)
            for state, row in found[2 * count].items():
                shown.add_row(str(2 * count), state, *map(str, row.values()))
    finally:
        shutil.rmtree(base, ignore_errors=True)  # its daemon, if one is left, goes with its home
    console.print(shown)
    if json_file:
        Path(json_file).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
