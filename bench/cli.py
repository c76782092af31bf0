"""Verbs as whole processes: `python bench/cli.py [--rounds 15] [--against ROOT]`.

Each verb runs by turns with a bare Python start in a home of its own whose daemon runs. CPU time is of the process and
its children, without the daemon: unlike time on the clock it does not depend on what else runs. --against: another
version of the code, measured by turns with this one.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
VERBS = ("--help", "version", "search --help", "config", "stats", "doctor")


def spent_s(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return (seconds on the clock, CPU seconds) of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    began = time.perf_counter()
    subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True)
    took = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@click.command(help=__doc__)
@click.option("--rounds", default=15, show_default=True)
@click.option("--against", type=click.Path(exists=True, path_type=Path), multiple=True)
def main(rounds: int, against: tuple[Path, ...]) -> None:
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    bare = [python, "-I", "-S", "-c", "pass"]
    table = Table("verb", "code", "ms (p50)", "least", "CPU ms (p50)", "bare starts of CPU")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "python").write_text(python + "\n")  # as a setup remembers it
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "MEMLAYER_RUNTIME_DIR")}
        environment = {**kept, "HOME": folder, "MEMLAYER_HOME": folder}
        for root in (ROOT, *against):  # each with the daemon that it starts
            start = ["sh", str(root / "bin" / "memlayer")]
            subprocess.run([*start, "doctor"], env=environment, capture_output=True)
            for verb in VERBS:
                runs, starts = [], []
                for _ in range(rounds):
                    starts.append(spent_s(bare, environment))
                    runs.append(spent_s([*start, *verb.split()], environment))
                clock, cpu = zip(*runs, strict=True)
                ratio = statistics.median(cpu) / statistics.median(used for _, used in starts)
                table.add_row(
                    verb, root.name, f"{1000 * statistics.median(clock):.0f}", f"{1000 * min(clock):.0f}",
                    f"{1000 * statistics.median(cpu):.0f}", f"{ratio:.1f}",
                )  # fmt: skip
            subprocess.run([*start, "daemon", "stop"], env=environment, capture_output=True)
    Console().print(table)


if __name__ == "__main__":
    main()
