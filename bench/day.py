"""The cost of a day's turns to the machine, and the answers of its hooks.

Sessions are played through the daemon's socket.

`python bench/day.py [--beside CHECKOUT] [--sessions 8] [--turns 200] [--paused 0.0] [--pairs] [--lexical]`. Prints the
daemon's processor time, the versions and compactions of its store. With another checkout both play the same day, and
the answers are compared byte by byte. The daemon is idle before each turn. --paused: the share of turns after which
somebody looks at the list, as a longer pause has events taken in. --pairs: two sessions at once. --set: real turns
instead, a line each of `session`, `prompt`, `answer`, and its calls in FILE.tools.jsonl.
"""

import json
import multiprocessing
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).resolve().parent.parent
DEADLINE_S = 20.0
POLL_S = 0.05
TURN_MS = 1_000  # between two prompts, by the clock of the events: a session must not look like one that died
ASKED_AGAIN = 0.3  # of the prompts: about a turn of an earlier session
CALLS = (
    lambda file: ("Edit", {"file_path": file, "old_string": "retries = 3", "new_string": "retries = 5"}),
    lambda file: ("Bash", {"command": "pytest -q tests/test_%s" % os.path.basename(file)}),
    lambda file: ("Write", {"file_path": file, "content": "limit = 1\n"}),
)


class Turn(NamedTuple):
    """A turn to play. calls: (tool, its input)."""

    session: str
    prompt: str
    answer: str
    calls: tuple[tuple[str, dict[str, str]], ...]


def made(sessions: int, turns: int) -> list[Turn]:
    """Return made-up turns, in order; the same for every run."""
    from latency_texts import turn

    out, dice = [], random.Random(7)
    for number in range(turns):
        text, session = turn(number), number * sessions // turns
        earlier = turn(dice.randrange(number)) if number and dice.random() < ASKED_AGAIN else None
        prompt = "What did we decide before: %s" % earlier.prompt if earlier is not None else text.prompt
        calls = tuple(CALLS[place](f"/shop/src/part_{number % 37}.py") for place in range(dice.randrange(4)))
        out.append(Turn("session-%d" % session, prompt, text.answer, calls))
    return out


def told(file: Path, sessions: int, turns: int) -> list[Turn]:
    """Return the first turns of a set of real sessions."""
    calls_file = file.with_suffix(".tools.jsonl")
    rows = [json.loads(line) for line in calls_file.read_text("utf-8").splitlines()] if calls_file.exists() else []
    calls = {row["n"]: row["calls"] for row in rows}
    out: list[Turn] = []
    for row in map(json.loads, file.read_text("utf-8").splitlines()):
        if row["session"] not in {one.session for one in out} and len({one.session for one in out}) == sessions:
            break
        out.append(Turn(row["session"], row["prompt"], row["answer"], tuple(map(_call, calls.get(row["n"], ())))))
    return out[:turns]


def _call(row: dict[str, Any]) -> tuple[str, dict[str, str]]:
    return row["tool"], {"file_path": row["path"]} if row.get("path") else {"command": row.get("command", "")}


def by_pairs(turns: list[Turn]) -> list[Turn]:
    """Return the turns of two sessions at a time, by turns."""
    names = list(dict.fromkeys(one.session for one in turns))
    out = []
    for start in range(0, len(names), 2):
        rows = [[one for one in turns if one.session == name] for name in names[start : start + 2]]
        for place in range(max(map(len, rows))):
            out += [row[place] for row in rows if place < len(row)]
    return out


# -- one checkout's day, in a process of its own


class Day:
    """A day's calls to one daemon. at_ms: the clock of the events."""

    def __init__(self, home: Path, project: Path, client: Any, at_ms: int) -> None:
        from memlayer.edge.ipc.protocol import forward

        self._forward, self._home, self._project, self._client = forward, home, project, client
        self.at_ms = at_ms
        self.answers: list[str] = []
        self.took_ms: list[float] = []

    def hook(self, event: str, session: str, prompt_id: str = "", **fields: Any) -> None:
        """Send a hook's input; keep its answer."""
        self.at_ms += 500
        place = {"transcript_path": "", "cwd": str(self._project)}
        body = {"session_id": session, "prompt_id": prompt_id, **place, **fields}
        started = time.perf_counter()
        outcome, answer = self._forward(
            os.fsencode(self._home), "hook." + event, json.dumps(body, ensure_ascii=False).encode(),
            os.fsencode(self._project), DEADLINE_S, self.at_ms,
        )  # fmt: skip
        self.took_ms.append((time.perf_counter() - started) * 1000)
        self.answers.append("%s %s %s: %s %s" % (event, session, prompt_id, outcome, answer.decode()))

    def turn(self, number: int, turn: Turn) -> None:
        prompt_id = "p%d" % number
        self.at_ms += TURN_MS
        self.hook("user_prompt_submit", turn.session, prompt_id, prompt=turn.prompt)
        for place, (tool, given) in enumerate(turn.calls):
            self.hook(
                "post_tool_use", turn.session, prompt_id, tool_name=tool, tool_input=given, tool_response={},
                tool_use_id="%s-%d" % (prompt_id, place),
            )  # fmt: skip
        self.hook("stop", turn.session, prompt_id, last_assistant_message=turn.answer)

    def until_quiet(self) -> None:
        """Wait until the daemon has no job left."""
        while True:
            status = self._client.call("status", {}, deadline_s=30, start=False)
            if status["store"] == "open" and not status["job"] and not status["jobs_waiting"]:
                return
            time.sleep(POLL_S)


def serve(home: str, result: str) -> None:
    """Be the daemon; counts its compactions."""
    from memlayer.adapters.lance import store
    from memlayer.daemon import lifecycle

    compact, count = store.compact, [0]

    def counted(table: Any) -> Any:
        count[0] += 1
        Path(result).write_text(str(count[0]))
        return compact(table)

    store.compact = counted
    lifecycle.run(home)


def play(turns: list[Turn], at_ms: int, paused: float, is_lexical: bool) -> dict[str, Any]:
    """Play a day against a new daemon of this checkout; return its figures."""
    from memlayer.edge.ipc.client import Client

    dice = random.Random(3)
    with tempfile.TemporaryDirectory(prefix="memlayer-day-") as folder:
        base = Path(folder).resolve()
        home, compactions = base / "home", base / "compactions"
        project = Path(tempfile.gettempdir()) / ("memlayer-day-%d" % at_ms)  # the ids of statements hang on its path
        home.mkdir(mode=0o700)
        project.mkdir(exist_ok=True)
        compactions.write_text("0")
        settings = {"recall": {"deadline_ms": 5000}, **({"embedding": {"provider": "none"}} if is_lexical else {})}
        (home / "config.yaml").write_text(json.dumps(settings))
        daemon = multiprocessing.get_context("spawn").Process(target=serve, args=(str(home), str(compactions)))
        daemon.start()
        client = Client(str(home), str(Path(sys.argv[0]).parent), sys.executable)
        while not (home / "daemon.sock").exists():
            time.sleep(POLL_S)
        day = Day(home, project, client, at_ms)
        wanted = "lexical" if is_lexical else "hybrid"
        while client.call("status", {}, deadline_s=30, start=False)["mode"] != wanted:
            time.sleep(POLL_S)
        day.until_quiet()
        first = versions(home)
        before_s, begun, left = cpu_s(daemon.pid), set[str](), [one.session for one in turns]
        for number, turn in enumerate(turns):
            if turn.session not in begun:
                begun.add(turn.session)
                day.hook("session_start", turn.session, source="startup")
            day.turn(number, turn)
            left.remove(turn.session)
            if turn.session not in left:
                day.hook("session_end", turn.session, reason="other")
            day.until_quiet()
            if dice.random() < paused:
                client.call("list", {"limit": 1}, deadline_s=30, start=False)
                day.until_quiet()
        took_s = cpu_s(daemon.pid) - before_s
        stats = client.call("stats", {}, deadline_s=30, start=False)
        client.stop(deadline_s=30)
        daemon.join()
        prompts = sorted(took for took, text in zip(day.took_ms, day.answers, strict=True) if text.startswith("user_"))
        return {
            "cpu_s": round(took_s, 2),
            "versions": {name: count - first[name] for name, count in versions(home).items()},
            "compactions": int(compactions.read_text()),
            "events": stats["events"], "memories": stats["memories"], "chunks": stats["chunks"],
            "rss_mb": round(stats["daemon"]["rss_bytes"] / 1e6),
            "prompt_p50_ms": round(prompts[len(prompts) // 2], 1),
            "prompt_p95_ms": round(prompts[int(len(prompts) * 0.95)], 1), "answers": day.answers,
        }  # fmt: skip


def versions(home: Path) -> dict[str, int]:
    """Return the version of each table, a count of its commits."""
    import lancedb

    store = lancedb.connect(str(home / "store"))
    return {name: store.open_table(name).version for name in ("events", "memories", "chunks", "usages")}


def cpu_s(pid: int | None) -> float:
    fields = Path("/proc/%d/stat" % (pid or 0)).read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


# -- both


def differences(one: list[str], other: list[str]) -> Iterator[tuple[str, str]]:
    """Yield the answers that differ."""
    for here, there in zip(one, other, strict=True):
        if here != there:
            yield here, there


def child(root: Path, arguments: list[str]) -> dict[str, Any]:
    """Play in a process of a checkout's own."""
    python = root / ".venv" / "bin" / "python"
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        subprocess.run([python, __file__, *arguments, "--alone", str(root), "--json", file.name], check=True)
        return dict(json.loads(Path(file.name).read_text()))


@click.command(help=__doc__)
@click.option("--beside", type=click.Path(path_type=Path), default=None, help="Another checkout, to compare with.")
@click.option("--sessions", default=8)
@click.option("--turns", default=200)
@click.option("--paused", default=0.0)
@click.option("--pairs", is_flag=True)
@click.option("--lexical", is_flag=True, help="Without the model.")
@click.option("--set", "file", type=click.Path(path_type=Path), default=None, help="Real turns.")
@click.option("--json", "out", type=click.Path(path_type=Path), default=None)
@click.option("--alone", type=click.Path(path_type=Path), default=None, hidden=True)
@click.option("--at-ms", default=0, hidden=True)
def main(
    beside: Path | None, sessions: int, turns: int, paused: float, pairs: bool, lexical: bool, file: Path | None,
    out: Path | None, alone: Path | None, at_ms: int,
) -> None:  # fmt: skip
    out = out.resolve() if out is not None else None  # a call to a daemon goes into its home
    if alone is not None:
        sys.path.insert(0, str(alone))
        day = told(file, sessions, turns) if file is not None else made(sessions, turns)
        found = play(by_pairs(day) if pairs else day, at_ms, paused, lexical)
        assert out is not None
        out.write_text(json.dumps(found, ensure_ascii=False))
        return
    at_ms = int(time.time() * 1000) - turns * (TURN_MS + 4_000)
    shared = [name for name, is_on in (("--pairs", pairs), ("--lexical", lexical)) if is_on]
    shared += ["--sessions", str(sessions), "--turns", str(turns), "--paused", str(paused), "--at-ms", str(at_ms)]
    shared += ["--set", str(file)] if file is not None else []
    roots = [ROOT] if beside is None else [beside.resolve(), ROOT]
    found = [child(root, shared) for root in roots]
    table = Table("", *(str(root) for root in roots))
    for name in [name for name in found[0] if name != "answers"]:
        table.add_row(name, *(str(one[name]) for one in found))
    table.add_row("versions in all", *(str(sum(one["versions"].values())) for one in found))
    Console().print(table)
    if beside is not None:
        pairs_found = list(differences(found[0]["answers"], found[1]["answers"]))
        print("%d of %d answers differ" % (len(pairs_found), len(found[0]["answers"])))
        for here, there in pairs_found[:20]:
            print("- %s\n+ %s" % (here, there))
    if out is not None:
        out.write_text(json.dumps(found, ensure_ascii=False))


if __name__ == "__main__":
    main()
