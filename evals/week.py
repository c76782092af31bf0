"""Play an invented week and tell which of its needs were met.

`python evals/week.py WEEK.json [--notes RECORD.jsonl] [--ask FOLDER] [--json FILE] [-v]`

Plays a week (evals/week_set.py) through the real hook scripts and a real daemon, whose clock is the week's: its starts,
prompts, tool calls, answers and ends. --notes: a language model on 127.0.0.1 answers from a record
(evals/notes_recorded.py). --ask: each request is written to FOLDER/NNN.request.md and waits for FOLDER/NNN.answer.json.
Without them no model reads. Deadlines are long: a busy machine is no silence. -v prints every line that was given.
"""

import contextlib
import json
import multiprocessing
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals import real_set
from evals.home import Home, prompt_id, session_id
from evals.notes_play import DAILY_TOKENS, wait_until_read
from evals.notes_recorded import Asked, ModelServer, RecordedModel, load_record, tokens_of
from evals.week_set import Given, Turn, Week, figures, judged_lines, load_week, needs_met

ROOT = Path(__file__).resolve().parent.parent
PROJECT = "work"
ANSWER_WITHIN_S = 3000.0
POLL_S = 0.05
FILE = click.Path(exists=True, path_type=Path)
# A hook in the week's clock: what the host runs, but for the time and its patience.
HOOK = """#!/bin/sh
exec %(python)s -I -S -c 'import sys, time
at = int(open("%(clock)s").read())
real = time.time_ns
time.time_ns = lambda: real() + at
sys.path.insert(0, "%(root)s")
import memlayer.edge.hook.main as main
for row in main.HOOKS.values():
    row.wait_s = 30.0
main.run(sys.argv[1].rpartition("/")[2][:-3])' "$3"
"""
console = Console(highlight=False, width=None if sys.stdout.isatty() else 132)


def serve(home: str, clock: str) -> None:
    """Be the daemon, by a clock that a file sets."""
    real_ns, real = time.time_ns, time.time
    time.time_ns = lambda: real_ns() + _offset_ns(clock)
    time.time = lambda: real() + _offset_ns(clock) / 1e9
    from memlayer.daemon import lifecycle

    lifecycle.run(home)


def _offset_ns(clock: str) -> int:
    with open(clock) as file:
        return int(file.read() or 0)


class Clocked(Home):
    """A home whose hooks and daemon live in another week."""

    def __init__(self, base: Path) -> None:
        super().__init__(base)
        self._clock = base / "clock"
        self.set(int(time.time() * 1000))
        wrapped = {"python": (self.home / "python").read_text().strip(), "clock": self._clock, "root": ROOT}
        wrapper = base / "python3"
        wrapper.write_text(HOOK % wrapped)
        wrapper.chmod(0o755)
        (self.home / "python").write_text("%s\n" % wrapper)

    def set(self, at_ms: int) -> None:
        """Set the clock to a moment."""
        waiting = self._clock.with_suffix(".new")
        waiting.write_text(str(at_ms * 1_000_000 - time.time_ns()))
        waiting.replace(self._clock)

    @contextlib.contextmanager
    def served(self) -> Iterator[None]:
        """Have a daemon, ready to search by vectors."""
        daemon = multiprocessing.get_context("spawn").Process(target=serve, args=(str(self.home), str(self._clock)))
        daemon.start()
        try:
            while not (self.home / "daemon.sock").exists() or self._mode() != "hybrid":
                time.sleep(POLL_S)
            yield
        finally:
            daemon.terminate()
            daemon.join()

    def _mode(self) -> str:
        return str(self.client.call("status", {}, deadline_s=60, start=False)["mode"])


@dataclass
class Asking(RecordedModel):
    """A reader who answers by files."""

    folder: Path = field(default_factory=Path)

    def answer(self, system: str, prompt: str) -> str:
        """Write the request and wait for its answer."""
        name = "%03d" % (len(self.asked) + 1)
        (self.folder / "system.md").write_text(system, "utf-8")
        (self.folder / (name + ".request.md")).write_text(prompt, "utf-8")
        file = self.folder / (name + ".answer.json")
        while not file.exists():
            time.sleep(POLL_S)
        text = file.read_text("utf-8")
        self.asked.append(Asked(0, tokens_of(system) + tokens_of(prompt), tokens_of(text)))
        return text


def play(week: Week, model: RecordedModel | None) -> Iterator[Given]:
    """Play a week in a throw-away home."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-week-")).resolve()
    home = Clocked(base)
    home.set(week.sessions[0][0].at_ms - 3_600_000)
    with contextlib.ExitStack() as stack:
        settings: dict[str, object] = {"recall": {"deadline_ms": 5000}, "daemon": {"idle_minutes": 0}}
        if model is not None:
            url = stack.enter_context(ModelServer(model)).url
            settings["consolidation"] = {
                "provider": "openai", "model": "recorded", "base_url": url, "daily_tokens": DAILY_TOKENS,
            }  # fmt: skip
        (home.home / "config.yaml").write_text(json.dumps(settings), "utf-8")
        (home.home / "config.yaml").chmod(0o600)
        stack.enter_context(home.served())
        for session in week.sessions:
            yield _session(home, session, is_read=model is not None)
    shutil.rmtree(base, ignore_errors=True)


def _session(home: Clocked, turns: Sequence[Turn], *, is_read: bool) -> Given:
    name, folder = session_id(turns[0].session), home.folder(PROJECT)

    def hook(event: str, at_ms: int, **fields: object) -> str:
        home.set(at_ms)
        return home.hook(event, folder, name, fields)[0]

    start, blocks = hook("session_start", turns[0].at_ms - 20_000, source="startup"), []
    for turn in turns:
        asked = prompt_id(turn.place)
        blocks.append(hook("user_prompt_submit", turn.at_ms, prompt_id=asked, prompt=turn.prompt))
        for number, call in enumerate(turn.calls):
            given = {"file_path": str(folder / call["path"])} if "path" in call else {"command": call["command"]}
            event = "post_tool_use_failure" if call.get("failed") else "post_tool_use"
            hook(
                event, turn.at_ms + (number + 1) * 10_000, prompt_id=asked, tool_name=call["tool"], tool_input=given,
                tool_use_id="%s-%d" % (turn.place, number), tool_response={}, error=call.get("error", ""),
            )  # fmt: skip
        ended_ms = turn.at_ms + turn.minutes * 60_000
        hook("stop", ended_ms, prompt_id=asked, last_assistant_message=turn.answer)
    hook("session_end", ended_ms + 60_000, reason="other")
    home.settle(lambda phase, done, total: None)
    if is_read:
        wait_until_read(home, name, ANSWER_WITHIN_S)
        home.settle(lambda phase, done, total: None)
    return Given(turns, start, blocks)


@click.command(help=__doc__)
@click.argument("file", type=FILE)
@click.option("--notes", type=FILE, help="The record of a model's answers.")
@click.option("--ask", type=click.Path(path_type=Path), help="A folder where somebody answers the requests.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write figures, needs and lines.")
@click.option("-v", "--verbose", is_flag=True, help="Print every need and line.")
def main(file: Path, notes: Path | None, ask: Path | None, json_file: Path | None, verbose: bool) -> None:
    week = load_week(file)
    sessions = [
        [real_set.Turn(row.n, row.session, row.at_ms, row.prompt, row.answer) for row in rows] for rows in week.sessions
    ]
    model = None
    if ask:
        ask.mkdir(parents=True, exist_ok=True)
        model = Asking(sessions, {}, folder=ask)
    elif notes:
        model = RecordedModel(sessions, load_record(notes, sessions))
    lived = list(play(week, model))
    met, told = needs_met(week, lived), [row for one in lived for row in judged_lines(week, one)]
    if verbose:
        for need, how in met:
            console.print("%-7s %-9s %s" % (how, need.place, need.fact), markup=False)
        for place, worth, line in told:
            console.print("%-9s %-8s %s" % (place, worth, line), markup=False, soft_wrap=True)
    table = Table("", "", title="%s, %s" % (file.stem, "a model's notes" if model else "no model"))
    for name, value in figures(week, lived).items():
        table.add_row(name, str(value))
    console.print(table)
    if model is not None and model.lost:
        console.print("ids that no request listed: %s" % ", ".join(model.lost))
    if json_file:
        rows = {
            "figures": figures(week, lived),
            "needs": [[one.place, one.fact, how] for one, how in met],
            "lines": told,
        }
        json_file.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
