"""The hook of a failing call, against a bare start: `python bench/failing_calls.py [--rounds 20]`.

By turns: a bare interpreter; a call that succeeds; a failed one whose error is new; one whose error an earlier
session met and cured, so that its line is looked up and told. Each known error comes in a session of its own, and the
daemon has nothing else to do.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.table import Table

from hooks import ROOT, command, console, timed, wait_until_quiet

sys.path.insert(0, str(ROOT))

from memlayer.edge.ipc.client import Client

CASES = ("bare", "succeeds", "new error", "known error")
FAILED, WORKED = "go build -tags=e2e ./cmd/e2e/...", "go test -tags=e2e -c ./cmd/e2e/... -o /dev/null"
ERROR = "Exit code 1\n# shop/e2e\ncmd/e2e/testenv.go:%d:26: undefined: defaultAgent"
UNKNOWN = "Exit code 1\n오류: 샌드박스 상점에 %s 권한이 없습니다"


class Home:
    """A home in which a session met an error and its cure."""

    def __init__(self, base: Path) -> None:
        self.project, home = base / "project", base / "home"
        self.project.mkdir()
        home.mkdir(mode=0o700)
        self.python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
        (home / "python").write_text(self.python + "\n")
        (home / "config.yaml").write_text("embedding: {provider: none}\n")
        self.environment = {
            "PATH": "/usr/bin:/bin", "HOME": str(base), "MEMLAYER_HOME": str(home),
            "CLAUDE_PROJECT_DIR": str(self.project), "CLAUDE_PLUGIN_ROOT": str(ROOT),
            "MEMLAYER_RUNTIME_DIR": os.environ["MEMLAYER_RUNTIME_DIR"],
        }  # fmt: skip
        self.client = Client(str(home), str(ROOT), sys.executable)
        self.send("session_start", "s0", source="startup")
        self.send("user_prompt_submit", "s0", prompt="e2e 테스트가 컴파일되는지 봐 줘")
        self.call("s0", 0, FAILED, ERROR % 40)
        self.call("s0", 1, WORKED)
        self.send("stop", "s0", last_assistant_message="확인했습니다. 컴파일됩니다.")
        self.send("session_end", "s0", reason="other")
        self.client.call("flush", {"wait": True}, deadline_s=120)

    def send(self, hook: str, session: str, **fields: Any) -> tuple[float, int]:
        """Run a hook; return its milliseconds and the bytes that it printed."""
        common = {"session_id": session, "prompt_id": session + "-p", "transcript_path": "", "cwd": str(self.project)}
        return timed(command(hook), json.dumps({**common, **fields}).encode(), self.environment)

    def call(self, session: str, number: int, line: str, error: str = "") -> tuple[float, int]:
        """Send a tool call."""
        more: dict[str, Any] = {"error": error} if error else {"tool_response": {"stdout": "ok", "stderr": ""}}
        wait_until_quiet(self.client)  # a model takes seconds from one call to the next
        return self.send(
            "post_tool_use_failure" if error else "post_tool_use", session, tool_name="Bash",
            tool_input={"command": line}, tool_use_id="toolu_%s_%d" % (session, number), **more,
        )  # fmt: skip

    def round(self, number: int) -> dict[str, tuple[float, int]]:
        """Measure each case once."""
        session = "s%d" % number
        self.send("session_start", session, source="startup")
        return {
            "bare": timed([self.python, "-I", "-S", "-c", "pass"], b"", self.environment),
            "succeeds": self.call(session, 1, WORKED),
            "new error": self.call(session, 2, FAILED, UNKNOWN % ("가나다라마바사아"[number % 8] * 3)),
            "known error": self.call(session, 3, FAILED, ERROR % number),
        }


@click.command(help=__doc__)
@click.option("--rounds", default=20, show_default=True)
def main(rounds: int) -> None:
    os.environ.setdefault("MEMLAYER_RUNTIME_DIR", str(Path(sys.executable).parent.parent))
    base = Path(tempfile.mkdtemp(prefix="memlayer-calls-"))
    home = Home(base)
    try:
        runs = [home.round(number) for number in range(1, rounds + 3)][2:]
    finally:
        home.client.stop()
        shutil.rmtree(base, ignore_errors=True)
    told = sum(run["known error"][1] > 0 for run in runs)
    silent = sum(run[case][1] == 0 for run in runs for case in ("succeeds", "new error"))
    bare = statistics.median(run["bare"][0] for run in runs)
    table = Table("", "p50, ms", "bare starts", title=f"{told} of {rounds} known told, {silent} of {2 * rounds} silent")
    for case in CASES:
        middle = statistics.median(run[case][0] for run in runs)
        table.add_row(case, f"{middle:.1f}", f"{middle / bare:.2f}")
    console.print(table)


if __name__ == "__main__":
    main()
