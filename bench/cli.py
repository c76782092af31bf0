"""Verbs as whole processes: `python bench/cli.py [--rounds 15] [--against ROOT]`.

Each verb runs by turns with a bare Python start in a home of its own whose daemon runs. Goals: no verb over twice
`stats`, `doctor` at most three times. CPU time is of the process and its children, without the daemon: unlike time on
the clock it does not depend on what else runs. --against: another version of the code, measured by turns with this one.
"""

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
VERBS = (
    "stats", "--help", "--version", "completion bash", "search --help", "config", "list", "given", "task list",
    "notes status", "doctor",
)  # fmt: skip


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
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "MEMLAYER_RUNTIME_DIR")}
    spent: dict[tuple[str, Path], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environments = {}
        for number, root in enumerate((ROOT, *against)):  # each with a home and the daemon that it starts
            home = Path(folder) / str(number)
            home.mkdir(mode=0o700)
            (home / "python").write_text(python + "\n")  # as a setup remembers it
            environments[root] = {**kept, "HOME": str(home), "MEMLAYER_HOME": str(home)}
            run(root, "doctor", environments[root])
        for root, verb in ((root, verb) for _ in range(rounds) for verb in ("", *VERBS) for root in environments):
            spent.setdefault((verb, root), []).append(run(root, verb, environments[root], python))
        for root, environment in environments.items():
            run(root, "daemon stop", environment)
    table = Table("verb", "code", "ms (p50)", "least", "CPU ms (p50)", "bare starts of CPU", "times stats")
    for (verb, root), runs in spent.items():
        clock = [ms for ms, _ in runs]
        own, bare, stats = (statistics.median(used for _, used in spent[name, root]) for name in (verb, "", "stats"))
        cells = [1000 * statistics.median(clock), 1000 * min(clock), 1000 * own]
        ratios = [f"{own / bare:.1f}", f"{own / stats:.2f}"]
        table.add_row(verb or "a bare start", str(root), *(f"{cell:.0f}" for cell in cells), *ratios)
    Console().print(table)


def run(root: Path, verb: str, environment: dict[str, str], bare: str = "") -> tuple[float, float]:
    """Return what a verb spent; "" for a bare start of that Python."""
    command = ["sh", str(root / "bin" / "memlayer"), *verb.split()] if verb else [bare, "-I", "-S", "-c", "pass"]
    return spent_s(command, environment)


if __name__ == "__main__":
    main()
