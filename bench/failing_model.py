"""Hooks while a reading model fails, against none: `python bench/failing_model.py [--rounds 12]`.

A daemon a case, by turns in one run: no model; HTTP 401; HTTP 429; half an answer; a server that never answers; a port
where nobody listens. Each round ends a session, which the model is then asked about.
"""

import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import click
from rich.table import Table

from hooks import ROOT, command, console, payload, timed

sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client

CASES = ("no model", "401", "429", "half", "silent", "offline")
HOOKS = ("session_start", "user_prompt_submit", "stop", "session_end")
HANGS_S = 30.0


class Failing(BaseHTTPRequestHandler):
    """Fails in the way that the address names."""

    asked: ClassVar[dict[str, int]] = {}

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def do_POST(self) -> None:
        case = self.path.split("/")[1]
        self.asked[case] = self.asked.get(case, 0) + 1
        self.rfile.read(int(self.headers.get("content-length") or 0))
        if case == "silent":
            time.sleep(HANGS_S)
            return
        if case.isdigit():
            self.send_error(int(case))
            return
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", "900")
        self.end_headers()
        self.wfile.write(b'{"id": "c1", "object": "chat.completion", "choices": [{"index": 0, "mess')


class Home:
    """A home whose daemon has such a model."""

    def __init__(self, base: Path, case: str, port: int) -> None:
        self.case, self.took = case, {hook: list[float]() for hook in HOOKS}
        self.home, self.project = base / case / "home", base / case / "project"
        self.home.mkdir(parents=True, mode=0o700)
        self.project.mkdir()
        python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (self.home / "python").write_text(python + "\n")
        address = "http://127.0.0.1:%d/%s/v1" % (9 if case == "offline" else port, case)
        model = "" if case == "no model" else "consolidation: {provider: openai, model: m, base_url: '%s'}\n" % address
        (self.home / "config.yaml").write_text("embedding: {provider: none}\n" + model)
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(base / case), "MEMLAYER_HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "MEMLAYER_RUNTIME_DIR": os.environ["MEMLAYER_RUNTIME_DIR"],
        }  # fmt: skip
        self.client = Client(str(self.home), str(ROOT), sys.executable)
        self.client.call("flush", {"wait": True}, deadline_s=120)

    def play(self, number: int, *, is_counted: bool = True) -> None:
        """Run a session's hooks."""
        for hook in HOOKS:
            took = timed(command(hook), self._input(hook, number), self.environment)[0]
            if is_counted:
                self.took[hook].append(took)

    def _input(self, hook: str, number: int) -> bytes:
        fields = json.loads(payload(hook, number, self.project))
        if hook == "stop":
            fields["last_assistant_message"] = "결제 모듈은 재전송 때문에 두 번 처리했다. " * 12
        return json.dumps(fields, ensure_ascii=False).encode()


@click.command(help=__doc__)
@click.option("--rounds", default=12, show_default=True)
def main(rounds: int) -> None:
    runtime = os.environ.get("MEMLAYER_RUNTIME_DIR") or str(Path(sys.executable).parent.parent)
    os.environ["MEMLAYER_RUNTIME_DIR"] = runtime
    base = Path(tempfile.mkdtemp(prefix="memlayer-failing-"))
    server = ThreadingHTTPServer(("127.0.0.1", 0), Failing)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, base, ignore_errors=True)
        homes = []
        for case in CASES:
            homes.append(Home(base, case, server.server_address[1]))
            stack.callback(homes[-1].client.stop)
        for number in range(rounds + 2):
            for home in homes if number % 2 else homes[::-1]:
                home.play(number, is_counted=number > 1)
        states = {home.case: home.client.call("notes", {}) for home in homes}
        _show(homes, states)
    server.shutdown()


def _show(homes: list[Home], states: dict[str, dict[str, object]]) -> None:
    shown = Table("model", *(f"{hook}, p50 ms (ratio)" for hook in HOOKS), "asked", "sessions wait", "why")
    usual = {hook: statistics.median(homes[0].took[hook]) for hook in HOOKS}
    for home in homes:
        state = states[home.case]
        cells = []
        for hook in HOOKS:
            middle = statistics.median(home.took[hook])
            cells.append("%.0f (%.2f)" % (middle, middle / usual[hook]))
        why = str(state.get("why") or "")[:60]
        shown.add_row(home.case, *cells, str(Failing.asked.get(home.case, 0)), str(state.get("waiting")), why)
    console.print(shown)


if __name__ == "__main__":
    main()
