"""The command line as a process, on a pipe or terminal.

Also answers for it that a daemon could give.
"""

import json
import os
import pty
import select
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.support.prepared_processes import MAIN as MAIN
from tests.support.prepared_processes import run_verb_on_pipes, start_verb
from tests.support.processes import Daemon

Run = Callable[..., subprocess.CompletedProcess[str]]
AT_MS = 1_795_262_456_217
LONG = 3 * (
    "결제 모듈은 지수 백오프로 최대 3번 재시도하고, "
    "그래도 실패하면 checkout.py의 normalize_cart() 뒤에 있는 큐로 보낸다. "
)

MEMORY: dict[str, Any] = {
    "id": "0123456789abcdef",
    "key": "turn_2026-11-19_81d2",
    "citation": "x9Yz2w",
    "category": "conversation",
    "kind": "turn",
    "text": "order events moved from Postgres to ClickHouse",
    "importance": 0.5,
    "at_ms": AT_MS,
    "session_id": "8f3a12cd-aaaa",
    "prompt_id": "p1",
    "project_id": "p1",
    "project": "shop",
    "by": "person",
    "ended_because": "",
    "superseded_by": "",
    "source_ids": ["e1"],
}
HIT = {
    **MEMORY,
    "score": 0.71,
    "parts": {"relevance": 0.8, "lexical": 0.61, "vector": None, "importance": 0.5, "recency": 0.42},
    "snippet": LONG,
}
EVENT = {
    "id": "e1", "kind": "user", "session_id": "8f3a12cd-aaaa", "project_id": "p1", "prompt_id": "p1", "text": LONG,
    "at_ms": AT_MS,
}  # fmt: skip
FOUND = {"mode": "hybrid", "why": "", "hits": [HIT]}


class Cli:
    """Runs the command line for one home, in one project."""

    def __init__(self, home: Path, project: Path) -> None:
        self.home, self.project = home, project
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(home.parent / "person"),
            "MEMLAYER_HOME": str(home),
            "LANG": "C",
        }

    def __call__(self, *arguments: str, stdin: str | bytes = "") -> subprocess.CompletedProcess[str]:
        raw = stdin.encode() if isinstance(stdin, str) else stdin
        done = run_verb_on_pipes(arguments, self.environment, self.project, raw, is_fresh=Daemon.is_fresh)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

    def on_terminal(self, *arguments: str, types: str = "", columns: int = 80) -> tuple[int, str]:
        """Run a verb on a terminal with a person typing `types`.

        Returns (exit code, the terminal's text).
        """
        person, terminal = pty.openpty()
        environment = {**self.environment, "COLUMNS": str(columns), "TERM": "xterm", "LANG": "C.UTF-8"}
        process = start_verb(arguments, environment, self.project, [terminal] * 3, is_fresh=Daemon.is_fresh)
        os.close(terminal)
        os.write(person, types.encode())
        seen, ends = b"", time.monotonic() + 20
        while time.monotonic() < ends:
            if select.select([person], [], [], 0.1)[0]:
                try:
                    part = os.read(person, 65536)
                except OSError:  # Linux: the other side is closed
                    break
                if not part:
                    break
                seen += part
        code = process.wait(5)
        os.close(person)
        return code, seen.decode()


def runner(home: Path, project: Path) -> Run:
    """Return a function that runs a verb in a folder.

    It checks the exit code.
    """
    cli = Cli(home, project)
    cli.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix

    def verb(*arguments: str, stdin: str = "", code: int = 0) -> subprocess.CompletedProcess[str]:
        done = cli(*arguments, stdin=stdin)
        assert done.returncode == code, done.stderr or done.stdout
        return done

    return verb


def run_verb(home: Path, *arguments: str, wrap: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line for `home`. wrap: a command that confines it."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent),
        "MEMLAYER_HOME": str(home),
        "MEMLAYER_EMBEDDING__PROVIDER": "none",
        "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent)),
    }
    if wrap is None:
        done = run_verb_on_pipes(arguments, environment, "/", is_fresh=Daemon.is_fresh, timeout_s=120)
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    return subprocess.run(
        [*wrap, sys.executable, "-I", str(MAIN), *arguments],
        capture_output=True, text=True, env=environment, cwd="/", timeout=120, check=False,
    )  # fmt: skip


def diagnosis(home: Path, wrap: list[str] | None = None) -> dict[str, tuple[str, str]]:
    """Return doctor's report: check name -> (ok

    warn | fail, message).
    """
    done = run_verb(home, "doctor", "--json", wrap=wrap)
    found: dict[str, Any] = json.loads(done.stdout)
    return {check["name"]: (check["state"], check["says"]) for check in found["checks"]}
