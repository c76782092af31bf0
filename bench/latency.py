"""Recall in the daemon against the size of the store.

Idle, while a burst is taken in, and as the prompt hook.

`python bench/latency.py [--sizes 0,1000,10000,100000] [--rounds 100] [--json FILE] [--plot FILE.svg]`; one million is a
size to ask for by hand (`--sizes 1000000`). All turns are one project's, the worst case. bench/latency_store.py
describes the store: distinct texts, and vectors mixed from real ones. Each size is built on top of the one before.

first: the time the daemon's first recalls take, while its rows of the project are loaded into memory behind them.
idle: the same once that is done, one after the other, prompts by turns English, Korean and mixed.
busy: the same, ten a second, while the daemon embeds and writes a burst of turns and settles (compaction, indexes).
late: recalls beyond the prompt hook's deadline. hook: the whole process against a bare interpreter start, the first
prompt of a session that began as the host begins it; later: its second prompt; unseen: a prompt of a session whose
start the daemon never saw.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from latency_texts import question, turn
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from hooks import command, summary, timed, wait_until_gone, wait_until_quiet  # noqa: E402
from memlayer.edge.capture.payload import spool_event  # noqa: E402
from memlayer.edge.home import paths  # noqa: E402
from memlayer.edge.ipc.client import Client  # noqa: E402

GOAL_MS = 60
GOAL_BARE_STARTS = 3.0
GOAL_GROWTH = 1.1
WAITED_FOR_MS = 520  # the prompt hook's wait, less the way back
BETWEEN_RECALLS_S = 0.1
TYPED_S = 0.5  # of a first prompt: behind a start its rows are loaded, and git is asked
FIRST = 20
IDLE_WITHIN_S = 600
IDLE_SHARE = 0.05  # of a core: a daemon that takes less has nothing to do
NEW_TURNS = 50_000_000  # turns of a burst are numbered from here: none is in the store
HOOKED = ("hook", "later", "unseen")  # the first prompt of a session, its second, one of an unseen session
console = Console()


@dataclass
class Home:
    """A throw-away memlayer home, a project, and the daemon's client."""

    base: Path
    environment: dict[str, str] = field(default_factory=dict)
    written: int = 0
    bursts: int = 0

    def __post_init__(self) -> None:
        self.folder, self.project = self.base / "home", self.base / "project"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.project.mkdir(exist_ok=True)
        runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
        os.environ["MEMLAYER_RUNTIME_DIR"] = runtime
        self.python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (self.folder / "python").write_text(self.python + "\n")
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(self.base), "MEMLAYER_HOME": str(self.folder),
            "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PLUGIN_ROOT": str(ROOT), "MEMLAYER_RUNTIME_DIR": runtime,
        }  # fmt: skip
        self.client = self.new_client()

    def new_client(self) -> Client:
        """Clients are not shared by threads."""
        return Client(str(self.folder), str(ROOT), sys.executable)

    def grow(self, size: int, cache: Path) -> dict[str, float]:
        """Write turns up to that size; no daemon may run.

        Returns seconds: to build, and of that for the indexes.
        """
        if size <= self.written:
            return {"build_s": 0.0, "settle_s": 0.0}
        program = [sys.executable, str(ROOT / "bench" / "latency_store.py"), str(self.folder), str(self.project)]
        program += [str(self.written), str(size), "--cache", str(cache)]
        started = time.perf_counter()
        said: dict[str, Any] = {}
        with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as process, shown("store") as show:
            assert process.stdout is not None
            for line in process.stdout:
                said = json.loads(line)
                show(said)
        if process.returncode:
            raise SystemExit("the store could not be written")
        self.written = size
        return {"build_s": round(time.perf_counter() - started, 1), "settle_s": said["settle_s"]}

    def recall(self, client: Client, number: int) -> tuple[float, bool]:
        """(milliseconds that the daemon took, whether it brought a memory)."""
        asked = {"prompt": question(number), "project_dir": str(self.project)}
        reply = client.call("recall", asked, deadline_s=60)
        return float(reply["took_ms"]), bool(reply["block"])

    def spool_burst(self, turns: int) -> None:
        """Put new turns into the spool, as hooks without a daemon do."""
        folder = Path(paths.make_folder(paths.spool(str(self.folder))))
        first = NEW_TURNS + self.bursts * 1_000_000
        self.bursts += 1
        for number in range(first, first + turns):
            one, at_ms = turn(number), int(time.time() * 1000)
            for kind, text in (("user", one.prompt), ("assistant", one.answer)):
                event = spool_event(
                    kind=kind, session_id=f"burst{number // 25}", prompt_id=f"u{number}", text=text, at_ms=at_ms,
                    project_dir=str(self.project),
                )  # fmt: skip
                (folder / f"{at_ms:013d}-{event['id']}.json").write_text(json.dumps(event, ensure_ascii=False))

    def settle(self, client: Client, label: str) -> None:
        """Wait until everything is stored, embedded and indexed."""
        with shown(label) as show:
            client.call("flush", {"wait": True}, deadline_s=7200, on_progress=show)


@contextmanager
def shown(label: str) -> Iterator[Any]:
    """A progress bar for steps of the form {"phase", "done", "total"}."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)

        def show(step: dict[str, Any]) -> None:
            if "phase" in step:
                phase = f"{label}: {step['phase']}"
                bar.update(task, description=phase, completed=step["done"], total=step["total"] or None)

        yield show


def idle(home: Home, rounds: int) -> dict[str, float]:
    """Recalls one after the other, with nothing else to do."""
    found = [home.recall(home.client, number) for number in range(rounds)]
    return {**percentiles([took for took, _ in found]), "with_memories": sum(bool(had) for _, had in found)}


def busy(home: Home, turns: int) -> dict[str, float]:
    """Recalls while a burst of turns is taken in, embedded and indexed."""
    home.spool_burst(turns)
    client = home.new_client()
    started = time.perf_counter()
    burst = threading.Thread(target=client.call, args=("flush", {"wait": True}), kwargs={"deadline_s": 7200})
    burst.start()
    took = []
    number = 1_000_000
    while burst.is_alive():
        took.append(home.recall(home.client, number)[0])
        number += 1
        burst.join(BETWEEN_RECALLS_S)
    late = sum(one > WAITED_FOR_MS for one in took)
    return {**percentiles(took), "recalls": len(took), "late": late, "burst_s": round(time.perf_counter() - started, 1)}


def hook(home: Home, rounds: int, start: int) -> dict[str, dict[str, float]]:
    """The prompt hook as a process against a bare start, by turns."""
    took: dict[str, list[float]] = {name: [] for name in ("bare", *HOOKED)}

    def called(event: str, session_id: str, **fields: str) -> float:
        stdin = {"session_id": session_id, "transcript_path": "", "cwd": str(home.project), **fields}
        took_ms = timed(command(event), json.dumps(stdin).encode(), home.environment)[0]
        wait_until_quiet(home.client)
        return took_ms

    for number in range(start, start + rounds):
        took["bare"].append(timed([home.python, "-I", "-S", "-c", "pass"], b"", home.environment)[0])
        called("session_start", f"hook{number}", source="startup")
        time.sleep(TYPED_S)
        for name in HOOKED:
            session_id = f"{'unseen' if name == 'unseen' else 'hook'}{number}"
            prompt = question(number + rounds * HOOKED.index(name))
            ms = called("user_prompt_submit", session_id, prompt_id=f"{name}{number}", prompt=prompt)
            took[name].append(ms)
    return summary(took)


def percentiles(values: list[float]) -> dict[str, float]:
    """p50, p95 and the slowest."""
    ordered = sorted(values)
    at = {"p50_ms": len(ordered) // 2, "p95_ms": int(len(ordered) * 0.95), "max_ms": len(ordered) - 1}
    return {name: round(ordered[place], 1) for name, place in at.items()}


def wait_until_idle(pid: int) -> None:
    """Wait until a process does nothing for a second.

    Where that cannot be read, ten seconds. Raises SystemExit if it never does.
    """
    if sys.platform != "linux":
        time.sleep(10)
        return
    tick = os.sysconf("SC_CLK_TCK")
    before = -1.0
    for _ in range(IDLE_WITHIN_S):
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            fields = file.read().rpartition(")")[2].split()
        used = (int(fields[11]) + int(fields[12])) / tick  # user and system time; the fields behind the name
        if 0 <= used - before < IDLE_SHARE:
            return
        before = used
        time.sleep(1)
    raise SystemExit(f"the daemon is still at work after {IDLE_WITHIN_S} s")


def proportional_mb(pid: int) -> float:
    """Return the memory that would be free without the process.

    PSS: its own, and its part of pages that others map too.
    """
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        return next(round(int(line.split()[1]) * 1024 / 1e6) for line in file if line.startswith("Pss:"))


def measure(home: Home, size: int, rounds: int, turns: int, cache: Path) -> dict[str, Any]:
    """Return all figures of one size.

    The daemon is started for it and stopped again.
    """
    built = home.grow(size, cache)
    started = time.perf_counter()
    home.settle(home.client, f"{size} chunks")
    ready_s = round(time.perf_counter() - started, 1)
    first = percentiles([home.recall(home.client, -number - 1)[0] for number in range(FIRST)])
    status = home.client.call("status", {})
    wait_until_idle(status["pid"])
    figures: dict[str, Any] = {**built, "ready_s": ready_s, "first": first, "idle": idle(home, rounds)}
    status = home.client.call("status", {})
    figures["rss_mb"] = round(status["rss_bytes"] / 1e6)
    if sys.platform == "linux":
        figures["pss_mb"] = proportional_mb(status["pid"])
    figures["hook"] = hook(home, max(10, rounds // 3), 10_000_000 + size)
    figures["busy"] = busy(home, turns)
    figures["rss_busy_mb"] = round(home.client.call("status", {})["rss_bytes"] / 1e6)
    stats = home.client.call("stats", {}, deadline_s=60)
    figures["disk_mb"], figures["chunks"] = round(stats["disk_bytes"] / 1e6), stats["chunks"]
    home.client.stop()
    wait_until_gone(home.folder)
    return figures


@click.command()
@click.option("--sizes", default="0,1000,10000,100000", help="Chunks in the store.")
@click.option("--rounds", default=100, help="Recalls a size; a third as many hooks.")
@click.option("--burst", default=600, help="Turns taken in while recalls go on; from 513 the indexes are renewed.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
@click.option("--plot", "plot_file", default="", help="Draw them there (SVG).")
@click.option("--cache", default=str(ROOT / ".cache" / "bench"), help="Keeps the real vectors for the next run.")
def main(sizes: str, rounds: int, burst: int, json_file: str, plot_file: str, cache: str) -> None:
    """Measure recall against the size of the store."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-latency-"))
    figures: dict[str, Any] = {"python": sys.version.split()[0], "rounds": rounds, "burst": burst, "sizes": {}}
    Path(cache).mkdir(parents=True, exist_ok=True)
    try:
        home = Home(base)
        for size in sorted(int(one) for one in sizes.split(",")):
            figures["sizes"][str(size)] = measure(home, size, rounds, burst, Path(cache))
            show_size(size, figures["sizes"][str(size)])
    finally:
        shutil.rmtree(base, ignore_errors=True)  # its daemon, if one is left, goes with its home
    show(figures)
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")
    if plot_file:
        from plot import latency

        latency(figures, Path(plot_file))


def show_size(size: int, one: dict[str, Any]) -> None:
    """A line as soon as a size is done."""
    took = ", ".join(f"{kind} {one[kind]}" for kind in ("first", "idle", "busy"))
    console.print(f"{size} chunks: {took}, hook {one['hook']['hook']['ratio']}")


def show(figures: dict[str, Any]) -> None:
    """For people."""
    shown_table = Table(title="recall, milliseconds (p50 / p95 / worst)")
    columns = ["chunks", "first", "idle", "busy", "late", "hook, bare starts"]
    for name in (*columns, "later", "unseen", "memory MB", "busy", "disk MB", "indexes s"):
        shown_table.add_column(name, justify="right")
    for size, one in figures["sizes"].items():
        times = [
            " / ".join(str(one[kind][key]) for key in ("p50_ms", "p95_ms", "max_ms"))
            for kind in ("first", "idle", "busy")
        ]
        late = f"{one['busy']['late']} of {one['busy']['recalls']}"
        rest = [
            *(one["hook"][name]["ratio"] for name in HOOKED),
            one["rss_mb"],
            one["rss_busy_mb"],
            one["disk_mb"],
            one["settle_s"],
        ]
        shown_table.add_row(size, *times, late, *map(str, rest))
    console.print(shown_table)
    ratios = [one["hook"]["hook"]["ratio"] for one in figures["sizes"].values()]
    growth = ratios[-1] / ratios[0]
    slowest = max(one["busy"]["p95_ms"] for one in figures["sizes"].values())
    console.print(
        f"goals: p95 while busy {slowest} ms (at most {GOAL_MS}), hook {max(ratios)} bare starts (at most "
        f"{GOAL_BARE_STARTS}), from the smallest to the largest store {growth:.2f} times (at most {GOAL_GROWTH})"
    )


if __name__ == "__main__":
    main()
