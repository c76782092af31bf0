"""The MCP server as a process, and a client's lines.

The two exchange these lines.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


def command() -> list[str]:
    """The server's command line, started as bin/memlayer starts it."""
    return [getattr(sys, "_base_executable", sys.executable), "-I", "-S", str(ROOT / "bin" / "memlayer"), "mcp"]


def environment(home: Path, project: Path) -> dict[str, str]:
    """The server's whole environment, as the host sets it."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home.parent / "person"),
        "MEMLAYER_HOME": str(home),
        "CLAUDE_PROJECT_DIR": str(project),
        "CLAUDE_CODE_SESSION_ID": "asking",
        "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", str(Path(sys.prefix))),
    }


class McpServer:
    """A running server; use as a context manager."""

    def __init__(self, home: Path, project: Path, *arguments: str, **extra: str) -> None:
        self.process = subprocess.Popen(
            [*command(), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment(home, project), **extra},
            cwd=project,
        )
        self._number = 0

    def __enter__(self) -> "McpServer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()

    def send(self, line: bytes) -> None:
        """Write a line as it is."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """The next line of the server."""
        assert self.process.stdout is not None
        return dict(json.loads(self.process.stdout.readline()))

    def ask(self, method: str, params: object = None) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method}
        self.send(json.dumps(request if params is None else {**request, "params": params}).encode())
        answer = self.answer()
        assert answer["id"] == self._number
        return answer

    def call(self, name: str, **arguments: object) -> str:
        """The text of a tool's answer; "Error: ..." when it failed."""
        result = self.ask("tools/call", {"name": name, "arguments": arguments})["result"]
        [content] = result["content"]
        assert content["type"] == "text" and "structuredContent" not in result
        assert bool(result.get("isError")) == content["text"].startswith("Error: ")
        return str(content["text"])

    def close(self) -> int:
        """End the input; the server's exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(10)
