"""Hooks with a share whose server is slow, dead or refuses, against none, by turns in one run.

`python bench/share_hooks.py [--events 2000] [--rounds 25] [--json FILE]`. Five homes with equal stores, each with a
daemon of its own: no share; a folder; an object store that answers after five seconds; one that is gone; one that
refuses (403). Recall is by words alone.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import hooks as hook_bench  # noqa: E402
from memlayer.edge.ipc.client import Client  # noqa: E402
from tests.support.shares import ObjectStore  # noqa: E402

SLOW_S = 5.0
STATES = ("no share", "folder", "slow", "dead", "refuses")
console = Console()


class Home:
    """A home with its daemon and, but for the first, a share."""

    def __init__(self, base: Path, state: str, events: int) -> None:
        self.state, self.base = state, base / state.replace(" ", "-")
        self.home, self.project = self.base / "home", self.base / "project"
        self.project.mkdir(parents=True)
        self.home.mkdir(mode=0o700)
        runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
        bare = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (self.home / "python").write_text(bare + "\n")
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.base), "MEMLAYER_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PLUGIN_ROOT": str(ROOT), "MEMLAYER_RUNTIME_DIR": runtime,
            "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_EC2_METADATA_DISABLED": "true",
            "MEMLAYER_EMBEDDING__PROVIDER": "none",
        }  # fmt: skip
        hook_bench.fill(self.home, self.project, events, 0)
        self.memlayer("doctor", "flush")
        self.store: ObjectStore | None = None
        if state == "folder":
            (self.base / "drive").mkdir()
            self.memlayer("share", "setup", "file://%s" % (self.base / "drive"), "--yes")
            self.memlayer("share", "push")
        elif state != "no share":
            self.store = ObjectStore()
            self.memlayer("share", "setup", self.store.bucket("bench"), "--yes")
            self.memlayer("share", "push")
            if state == "slow":
                self.store.delay_s = SLOW_S
            elif state == "refuses":
                self.store.status = 403
            else:
                self.store.close()
        os.environ.update(self.environment)  # of a daemon that this process might start
        self.client = Client(str(self.home), str(ROOT), sys.executable)

    def memlayer(self, *words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "memlayer.cli", *words, "--json"], cwd=ROOT, env=self.environment, check=False,
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit("%s: %s %s" % (self.state, words, done.stderr))
        return done.stdout

    def close(self) -> None:
        subprocess.run(
            [sys.executable, "-m", "memlayer.cli", "daemon", "stop"], cwd=ROOT, env=self.environment, check=False,
            capture_output=True,
        )  # fmt: skip
        if self.store is not None and self.state != "dead":
            self.store.close()


@click.command()
@click.option("--events", default=2000, help="Events in each home.")
@click.option("--rounds", default=25, help="Rounds; in each every hook of every home once.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
def main(events: int, rounds: int, json_file: str) -> None:
    """Measure hooks beside a share."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-bench-"))
    homes: list[Home] = []
    took: dict[str, dict[str, list[float]]] = {state: {hook: [] for hook in hook_bench.HOOKS} for state in STATES}
    try:
        for state in STATES:
            homes.append(Home(base, state, events))
            console.print("%s: ready" % state)
            hook_bench.warm_up(homes[-1].environment, homes[-1].project)
        for number in range(rounds):
            for hook in hook_bench.HOOKS:
                for home in homes[number % len(homes) :] + homes[: number % len(homes)]:
                    stdin = hook_bench.payload(hook, 1_000_000 + number, home.project)
                    ms, _ = hook_bench.timed(hook_bench.command(hook), stdin, home.environment)
                    took[home.state][hook].append(ms)
                    hook_bench.wait_until_quiet(home.client)
            time.sleep(0.2)
        problems = {home.state: json.loads(home.memlayer("share", "status")).get("problem", "") for home in homes}
    finally:
        for home in homes:
            home.close()
        shutil.rmtree(base, ignore_errors=True)
    shown = Table("", *hook_bench.HOOKS, title="p50 ms (p95), %d rounds by turns" % rounds)
    figures: dict[str, Any] = {"rounds": rounds, "events": events, "hooks": {}, "problems": problems}
    for state, by_hook in took.items():
        row = {
            hook: {"p50_ms": round(statistics.median(ms), 1), "p95_ms": round(sorted(ms)[int(0.95 * len(ms))], 1)}
            for hook, ms in by_hook.items()
        }
        figures["hooks"][state] = row
        cells = ["%s (%s)" % (one["p50_ms"], one["p95_ms"]) for one in row.values()]
        shown.add_row(state, *cells)
    console.print(shown, *("%s: %s" % row for row in problems.items()), sep="\n")
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
