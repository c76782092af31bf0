"""The agent's loop and start, beside those of mini-swe-agent and llm.

`python bench/agent.py [--peers PYTHON] [--rounds 20,100] [--starts 5]`: CPU time that a round of a scripted talk
costs besides model and tool, and that importing each loop costs; CPU, because other work on the machine does not show
in it. PYTHON: an interpreter of an environment with the other two
(`uv venv /tmp/peers && uv pip install --python /tmp/peers/bin/python mini-swe-agent llm`). All by turns, in one run.
"""

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
LOOPS = Path(__file__).resolve().parent / "agent_loops.py"
IMPORTS = {
    "memlayer": "memlayer.agent.loop",
    "mini-swe-agent": "minisweagent.agents.default",
    "mini-swe-agent, its model": "minisweagent.models.litellm_model",
    "llm": "llm",
}
OWN = ("memlayer", "memlayer-xml")
ENVIRONMENT = {**os.environ, "MSWEA_SILENT_STARTUP": "1", "PYTHONPATH": str(ROOT)}
ENVIRONMENT["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # else its import asks the network


def rounds_of(python: str, loop: str, rounds: int) -> list[int]:
    """CPU microseconds a round, five runs in one process."""
    command = [python, str(LOOPS), loop, str(rounds)]
    done = subprocess.run(command, capture_output=True, text=True, env=ENVIRONMENT, timeout=300, check=True)
    return [int(line) for line in done.stdout.split()[-5:]]


def start_ms(python: str, code: str) -> float:
    """CPU milliseconds of a process that runs code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([python, "-c", code], capture_output=True, env=ENVIRONMENT, timeout=300, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


@click.command(help=__doc__)
@click.option("--peers", default="", help="Interpreter of an environment with mini-swe-agent and llm.")
@click.option("--rounds", default="20,100", help="Tool calls in a talk.")
@click.option("--starts", default=5, help="Starts of each.")
def main(peers: str, rounds: str, starts: int) -> None:
    """Measure and print two tables."""
    console = Console()
    sizes = [int(one) for one in rounds.split(",")]
    loops = [*OWN, *(["mini-swe-agent", "llm"] if peers else [])]
    seen: dict[tuple[str, int], list[int]] = {}
    for _ in range(2):
        for size in sizes:
            for loop in loops:
                python = sys.executable if loop in OWN else peers
                seen.setdefault((loop, size), []).extend(rounds_of(python, loop, size))
    table = Table("loop", *("%d rounds, µs a round" % size for size in sizes))
    for loop in loops:
        table.add_row(loop, *("%.0f" % statistics.median(seen[loop, size]) for size in sizes))
    console.print(table)

    subjects = {"bare start": (sys.executable, "pass")}
    for name, module in IMPORTS.items():
        if name == "memlayer" or peers:
            subjects[name] = (sys.executable if name == "memlayer" else peers, "import " + module)
    times: dict[str, list[float]] = {}
    for _ in range(starts):
        for name, (python, code) in subjects.items():
            times.setdefault(name, []).append(start_ms(python, code))
    table = Table("import", "CPU ms (p50)", "bare starts")
    bare = statistics.median(times["bare start"])
    for name, found in times.items():
        table.add_row(name, "%.0f" % statistics.median(found), "%.1f" % (statistics.median(found) / bare))
    console.print(table)


if __name__ == "__main__":
    main()
