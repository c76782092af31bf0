"""Each hook as a whole process, against a bare interpreter start.

As the host runs it, by turns in the same run.

`python bench/hooks.py [--events 0,1000,20000] [--rounds 40] [--json FILE]`: with a warm daemon over stores of these
sizes, and cold (no daemon). Also the daemon's memory and the disk per 1,000 turns. Needs the runtime's interpreter.
"""

import json
import os
import random
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
from rich.progress import Progress
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from memlayer.edge.bootstrap import runtime  # noqa: E402
from memlayer.edge.capture.payload import spool_event  # noqa: E402
from memlayer.edge.home import paths  # noqa: E402
from memlayer.edge.ipc.client import Client  # noqa: E402

HOOKS = ("session_start", "user_prompt_submit", "post_tool_use", "post_tool_use_failure", "stop", "session_end")
# Before a call: no project has a lesson; the call has no word of one; it has, and the daemon is asked.
LESSONS = {"pre_tool_use, none": b"", "pre_tool_use, another": b"terraform", "pre_tool_use, asked": b"pytest"}
TOPICS = (
    "order events", "payment module", "결제 모듈", "login page", "배포 파이프라인", "search index", "image cache",
    "알림 서비스", "nightly build", "rate limiter", "회원 테이블", "billing job", "CSV import", "지도 화면",
    "feature flags",
)  # fmt: skip
VERBS = ("moved to", "is limited by", "broke because of", "는 이제 기본값이", "was decided to use", "의 원인은")
THINGS = (
    "ClickHouse", "Postgres 16", "port %d", "a timeout of %d s", "포트 %d", "handler_%d.py", "issue #%d", "버전 %d",
)  # fmt: skip
console = Console()


def fact(number: int, dice: random.Random) -> tuple[str, str]:
    """A prompt and an answer, different for every number."""
    topic, verb, thing = dice.choice(TOPICS), dice.choice(VERBS), dice.choice(THINGS)
    thing = thing % number if "%d" in thing else "%s %d" % (thing, number)
    return "%s에 대해 무엇이 바뀌었지? (case %d)" % (topic, number), "%s %s %s; see src/mod_%d.py, 담당자는 팀 %d." % (
        topic, verb, thing, number, number % 37,
    )  # fmt: skip


def fill(home: Path, project: Path, events: int, had: int) -> None:
    """Put turns into the spool, as hooks without a daemon would.

    But without their fsync.
    """
    dice = random.Random(had)
    folder = Path(paths.make_folder(paths.spool(str(home))))
    now_ms = int(time.time() * 1000) - 86_400_000
    for number in range(had // 2, events // 2):
        prompt, answer = fact(number, dice)
        session, prompt_id = "s%d" % (number // 25), "p%d" % number
        for kind, text, offset in (("user", prompt, 0), ("assistant", answer, 1)):
            event = spool_event(
                kind=kind, session_id=session, prompt_id=prompt_id, text=text, at_ms=now_ms + number * 2 + offset,
                project_dir=str(project),
            )  # fmt: skip
            name = "%013d-%s.json" % (now_ms + number * 2 + offset, event["id"])
            (folder / name).write_text(json.dumps(event, ensure_ascii=False))


def command(hook: str) -> list[str]:
    """Return the host's command for a hook.

    The line of hooks.json, in a shell.
    """
    registered = json.loads((ROOT / "hooks.json").read_text())["hooks"]
    for groups in registered.values():
        line: str = groups[0]["hooks"][0]["command"]
        if " %s " % hook in line + " ":
            return ["/bin/sh", "-c", line]
    raise SystemExit("hooks.json registers no %s" % hook)


def payload(hook: str, number: int, project: Path) -> bytes:
    """Return the host's input for a hook."""
    fields: dict[str, Any] = {"session_id": "bench%d" % number, "transcript_path": "", "cwd": str(project)}
    if hook == "session_start":
        fields["source"] = "startup"
    elif hook == "session_end":
        fields["reason"] = "other"
    elif "tool_use" in hook:
        fields |= {"prompt_id": "b%d" % number, "tool_name": "Bash", "tool_use_id": "toolu_%s_%d" % (hook, number)}
        fields["tool_input"] = {"command": "pytest tests/case_%d.py" % number, "description": "run the tests"}
        output = "".join("tests/case_%d.py::test_%d PASSED in %d ms\n" % (number, i, i) for i in range(80))
        fields |= {"tool_response": {"stdout": output, "stderr": "", "interrupted": False}, "error": "Exit code 1"}
    else:
        fields["prompt_id"] = "b%d" % number
        fields["prompt"] = "what was decided about the %s, case %d?" % (TOPICS[number % len(TOPICS)], number)
        fields["last_assistant_message"] = "The answer to case %d is in the notes." % number
    return json.dumps(fields, ensure_ascii=False).encode()


def timed(argv: list[str], stdin: bytes, environment: dict[str, str]) -> tuple[float, int]:
    """(milliseconds, bytes printed) of a whole process."""
    started = time.perf_counter()
    done = subprocess.run(argv, input=stdin, capture_output=True, env=environment, check=False)
    took_ms = (time.perf_counter() - started) * 1000
    if done.returncode or done.stderr:
        raise SystemExit("a hook failed: %d %r" % (done.returncode, done.stderr))
    return took_ms, len(done.stdout)


def measure(
    client: Client, environment: dict[str, str], project: Path, rounds: int, start: int
) -> dict[str, dict[str, float]]:
    """Medians and ratios over `rounds`, bare start and hooks by turns."""
    python = environment["BENCH_PYTHON"]
    took: dict[str, list[float]] = {"bare": []}
    answered = 0
    for number in range(start, start + rounds):
        took["bare"].append(timed([python, "-I", "-S", "-c", "pass"], b"", environment)[0])
        for hook in HOOKS:
            ms, size = timed(command(hook), payload(hook, number, project), environment)
            took.setdefault(hook, []).append(ms)
            answered += hook == "user_prompt_submit" and size > 0
            wait_until_quiet(client)  # a person does not type while the last answer is still being taken in
        for name, words in LESSONS.items():
            paths.write_whole(paths.actions(environment["MEMLAYER_HOME"]), words)
            ms, _ = timed(command("pre_tool_use"), payload("pre_tool_use", number, project), environment)
            took.setdefault(name, []).append(ms)
    out = summary(took)
    out["user_prompt_submit"]["answered"] = answered
    return out


@click.command()
@click.option("--events", default="0,1000,20000", help="Store sizes, in events.")
@click.option("--rounds", default=40, help="Rounds a size.")
@click.option("--json", "json_file", default="", help="Write the figures there too.")
@click.option("--keep", default="", help="Use and keep this home.")
def main(events: str, rounds: int, json_file: str, keep: str) -> None:
    """Measure the hooks."""
    sizes = [int(size) for size in events.split(",")]
    base = Path(keep or tempfile.mkdtemp(prefix="memlayer-bench-"))
    home, project = base / "home", base / "project"
    project.mkdir(parents=True, exist_ok=True)
    home.mkdir(mode=0o700, exist_ok=True)
    runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
    bare = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    (home / "python").write_text(bare + "\n")
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(base), "MEMLAYER_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_PLUGIN_ROOT": str(ROOT), "MEMLAYER_RUNTIME_DIR": runtime, "BENCH_PYTHON": bare,
    }  # fmt: skip
    figures: dict[str, Any] = {"python": sys.version.split()[0], "rounds": rounds, "warm": {}}
    client = Client(str(home), str(ROOT), sys.executable)
    had = 0
    try:
        os.environ["MEMLAYER_RUNTIME_DIR"] = runtime
        for size in sizes:
            fill(home, project, size, had)
            had = max(had, size)
            settle(client, "%d events" % size)
            warm_up(environment, project)
            figures["warm"][str(size)] = measure(client, environment, project, rounds, 1_000_000 + size)
            stats = client.call("stats", {}, deadline_s=60)
            figures.setdefault("rss_mb", {})[str(size)] = round(client.call("status", {})["rss_bytes"] / 1e6)
            if size >= 1000:
                figures["disk_mb_per_1000_turns"] = round(stats["disk_bytes"] / 1e6 / (stats["memories"] / 1000), 2)
            table(figures["warm"][str(size)], "daemon warm, %d events" % size)
        client.call("stop", {})
        wait_until_gone(home)
        figures["cold"] = cold(environment, project, home, rounds)
        table(figures["cold"], "no daemon (none may start)")
        console.print("daemon's memory %s MB; disk per 1,000 turns %s MB" % (
            figures.get("rss_mb"), figures.get("disk_mb_per_1000_turns")))  # fmt: skip
    finally:
        if not keep:
            shutil.rmtree(base, ignore_errors=True)  # its daemon, if one is left, goes with its home
    if json_file:
        Path(json_file).write_text(json.dumps(figures, indent=1) + "\n")


def settle(client: Client, label: str) -> None:
    """Wait until everything is stored, embedded and indexed; show progress."""
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task(label, total=None)

        def show(step: dict[str, Any]) -> None:
            bar.update(task, description="%s: %s" % (label, step["phase"]), completed=step["done"], total=step["total"])

        client.call("flush", {"wait": True}, deadline_s=3600, on_progress=show)


def warm_up(environment: dict[str, str], project: Path) -> None:
    """Make a few calls that are not counted.

    They fill byte code, caches, the project's first search.
    """
    for number in range(5):
        for hook in HOOKS:
            timed(command(hook), payload(hook, 500_000 + number, project), environment)
            time.sleep(0.1)


def wait_until_quiet(client: Client) -> None:
    """Until the daemon's writer has nothing to do."""
    ends = time.monotonic() + 30
    while time.monotonic() < ends:
        status = client.call("status", {})
        if not status["job"] and not status["jobs_waiting"]:
            return
        time.sleep(0.01)


def wait_until_gone(home: Path) -> None:
    """Until the daemon has left."""
    ends = time.monotonic() + 30
    while (home / "daemon.sock").exists() and time.monotonic() < ends:
        time.sleep(0.05)


def cold(environment: dict[str, str], project: Path, home: Path, rounds: int) -> dict[str, dict[str, float]]:
    """Measure hooks without a daemon.

    None may come between two rounds, so the one that each hook would wake has just been woken.
    """
    stamp = home / "wake.stamp"
    ahead = time.time() + 1.9
    stamp.touch()
    out: dict[str, list[float]] = {"bare": []}
    python = environment["BENCH_PYTHON"]
    for number in range(rounds):
        out["bare"].append(timed([python, "-I", "-S", "-c", "pass"], b"", environment)[0])
        for hook in HOOKS:
            stamp.touch()
            out.setdefault(hook, []).append(timed(command(hook), payload(hook, number, project), environment)[0])
    # And once as it really is: the hook forks the daemon.
    woken = []
    client = Client(str(home), str(ROOT), sys.executable)
    for number in range(5):
        os.utime(stamp, (ahead - 100, ahead - 100))
        stdin = payload("user_prompt_submit", number, project)
        woken.append(timed(command("user_prompt_submit"), stdin, environment)[0])
        client.call("stop", {})
        wait_until_gone(home)
    out["user_prompt_submit, and it wakes the daemon"] = woken
    return summary(out)


def summary(took: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """p50, p95 and the ratio to a bare start, by name."""
    bare = statistics.median(took["bare"])
    return {
        name: {
            "p50_ms": round(statistics.median(values), 2),
            "p95_ms": round(sorted(values)[int(len(values) * 0.95)], 2),
            "ratio": round(statistics.median(values) / bare, 2),
        }
        for name, values in took.items()
    }


def table(figures: dict[str, dict[str, float]], title: str) -> None:
    """For people."""
    shown = Table("", "p50 ms", "p95 ms", "bare starts", title=title)
    for name, values in figures.items():
        shown.add_row(name, str(values["p50_ms"]), str(values["p95_ms"]), str(values["ratio"]))
    console.print(shown)


if __name__ == "__main__":
    assert runtime.plugin_root() == str(ROOT)
    main()
