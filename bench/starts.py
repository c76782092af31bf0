"""A session's start through the hook, by what happened before: `python bench/starts.py [--events 1000] [--rounds 12]`.

Each start is a whole process as the host runs it, by turns with a bare Python start. The cases: an idle daemon; a
session that was ended a moment ago; turns of an open session that are in its transcript alone; many open sessions; a
daemon that has just been started; none.
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click
from rich.table import Table

from hooks import ROOT, command, console, fill, settle, timed, wait_until_gone, wait_until_quiet

sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client

OPEN_SESSIONS = 30


class Starts:
    """A home with a daemon and sessions; its methods prepare a start."""

    def __init__(self, base: Path, environment: dict[str, str], client: Client) -> None:
        self.home, self._project = base / "home", base / "project"
        self._transcripts, self._environment, self.client = base / "transcripts", environment, client
        self._transcripts.mkdir(exist_ok=True)
        self._number, self._has_many = 0, False

    def hook(self, name: str, session: str, **fields: str) -> float:
        """Run a hook; return its milliseconds."""
        stdin = {"session_id": session, "transcript_path": str(self._path(session)), "cwd": str(self._project)}
        return timed(command(name), json.dumps({**stdin, **fields}).encode(), self._environment)[0]

    def start(self) -> float:
        """Start a session and end it; return the milliseconds of the start."""
        session = self._next()
        took = self.hook("session_start", session, source="startup")
        self.hook("session_end", session, reason="other")
        return took

    def idle(self) -> None:
        wait_until_quiet(self.client)

    def after_a_session(self) -> None:
        self.idle()
        session = self._next()
        for turn in range(3):
            self._turn(session, turn)
        self.hook("session_end", session, reason="other")

    def beside_a_talk(self) -> None:
        """An open session with a turn that no hook told of."""
        self.idle()
        session = self._next()
        self._turn(session, 0)
        self.idle()
        self._write(session, 1)

    def beside_many(self) -> None:
        """Open sessions that were never ended, as after closed terminals."""
        self.idle()
        if not self._has_many:
            for _ in range(OPEN_SESSIONS):
                self._turn(self._next(), 0)
            self.start()  # reads their transcripts
            self.idle()
        self._has_many = True

    def just_started(self) -> None:
        self.without_daemon()
        self.client.call("status", {}, deadline_s=20)

    def without_daemon(self) -> None:
        self.client.stop()
        wait_until_gone(self.home)

    def _next(self) -> str:
        self._number += 1
        return "bench-%d-%d" % (os.getpid(), self._number)

    def _path(self, session: str) -> Path:
        return self._transcripts / (session + ".jsonl")

    def _turn(self, session: str, turn: int) -> None:
        prompt_id, (prompt, answer) = self._write(session, turn)
        self.hook("user_prompt_submit", session, prompt_id=prompt_id, prompt=prompt)
        self.hook("stop", session, prompt_id=prompt_id, last_assistant_message=answer)

    def _write(self, session: str, turn: int) -> tuple[str, tuple[str, str]]:
        """Add a turn to a transcript."""
        prompt_id = "%s-%d" % (session, turn)
        texts = ("배포 포트는 %d번으로 하자, and port %s" % (turn, session), "포트를 정했습니다: %s." % session)
        at = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime())
        with self._path(session).open("a") as file:
            for kind, text in zip(("user", "assistant"), texts, strict=True):
                record = {"type": kind, "sessionId": session, "promptId": prompt_id, "cwd": str(self._project),
                          "uuid": prompt_id + kind, "timestamp": at}  # fmt: skip
                content = text if kind == "user" else [{"type": "text", "text": text}]
                file.write(json.dumps({**record, "message": {"role": kind, "content": content}}) + "\n")
        return prompt_id, texts


@contextmanager
def prepared(events: int) -> Iterator[tuple[Starts, list[str], dict[str, str]]]:
    """A home with so many events stored, its daemon running."""
    base = Path(tempfile.mkdtemp(prefix="memlayer-starts-"))
    home, project = base / "home", base / "project"
    project.mkdir()
    home.mkdir(mode=0o700)
    runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
    os.environ["MEMLAYER_RUNTIME_DIR"] = runtime
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    (home / "python").write_text(python + "\n")
    environment = {
        "PATH": "/usr/bin:/bin", "HOME": str(base), "MEMLAYER_HOME": str(home), "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_PLUGIN_ROOT": str(ROOT), "MEMLAYER_RUNTIME_DIR": runtime,
    }  # fmt: skip
    client = Client(str(home), str(ROOT), sys.executable)
    try:
        fill(home, project, events, 0)
        settle(client, "%d events" % events)
        yield Starts(base, environment, client), [python, "-I", "-S", "-c", "pass"], environment
    finally:
        client.stop()
        shutil.rmtree(base, ignore_errors=True)


@click.command(help=__doc__)
@click.option("--events", default=1000, show_default=True)
@click.option("--rounds", default=12, show_default=True)
def main(events: int, rounds: int) -> None:
    shown = Table("before the start", "p50 ms", "worst ms", "bare starts (p50)", title="session_start")
    with prepared(events) as (starts, bare, environment):
        cases: list[tuple[str, Callable[[], None]]] = [
            ("an idle daemon", starts.idle),
            ("a session ended at once before", starts.after_a_session),
            ("a turn in a transcript alone", starts.beside_a_talk),
            ("%d open sessions" % OPEN_SESSIONS, starts.beside_many),
            ("a daemon started at once before", starts.just_started),
            ("no daemon", starts.without_daemon),
        ]
        starts.start()
        for name, before in cases:
            took, bares = [], []
            for _ in range(rounds):
                before()
                bares.append(timed(bare, b"", environment)[0])
                took.append(starts.start())
            middle = statistics.median(took)
            ratio = middle / statistics.median(bares)
            shown.add_row(name, "%.0f" % middle, "%.0f" % max(took), "%.1f" % ratio)
    console.print(shown)


if __name__ == "__main__":
    main()
