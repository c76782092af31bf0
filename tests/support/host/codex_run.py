"""Runs the installed Codex against a scripted Responses API on loopback.

Its environment is built from nothing. Sessions are those of `codex app-server`, in which a person types, or of `codex
exec`, in which nobody does.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any

RUN_TIMEOUT_S = 90.0
CONFIG = """model = "gpt-5.5-codex"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "danger-full-access"

[model_providers.scripted]
name = "scripted"
base_url = "%s/v1"
wire_api = "responses"
env_key = "DUMMY_KEY"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false
"""


class ResponsesApi:
    """The server, as a context manager. calls: a call of a tool for a prompt that holds a word."""

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []
        self.calls: dict[str, dict[str, Any]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> "ResponsesApi":
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()

    def item(self, body: dict[str, Any]) -> dict[str, Any]:
        """Record a request; return the model's item: a call, once a turn, or a message."""
        self.bodies.append(body)
        given = body["input"]
        asked = max((at for at, item in enumerate(given) if item.get("role") == "user"), default=0)
        is_called = any(str(item.get("type")).endswith("_output") for item in given[asked:])
        text, number = json.dumps(given[asked], ensure_ascii=False), len(self.bodies)
        for word, call in self.calls.items():
            if word in text and not is_called:
                return {"id": f"fc_{number}", "call_id": f"call_{number}", **call}
        content = [{"type": "output_text", "text": f"대답 {number}."}]
        return {"type": "message", "role": "assistant", "id": f"msg_{number}", "content": content}

    def told(self, role: str) -> str:
        """Return the texts of a role in the newest request."""
        items = [item for item in self.bodies[-1]["input"] if item.get("role") == role]
        return "\n".join(part.get("text", "") for item in items for part in item["content"])

    def outputs(self) -> str:
        """Return the results of calls in the newest request, as the model reads them."""
        items = [item for item in self.bodies[-1]["input"] if str(item.get("type")).endswith("_output")]
        return json.dumps(items, ensure_ascii=False)


def _handler_for(api: ResponsesApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: the requests are recorded."""

        def do_GET(self) -> None:
            self._send("application/json", b'{"models": []}')

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
            number, item = len(api.bodies) + 1, api.item(body)
            usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
            events = [
                {"type": "response.created", "response": {"id": f"resp_{number}"}},
                {"type": "response.output_item.done", "item": item},
                {"type": "response.completed", "response": {"id": f"resp_{number}", "usage": usage}},
            ]
            lines = (f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n" for event in events)
            self._send("text/event-stream", "".join(lines).encode())

        def _send(self, kind: str, raw: bytes) -> None:
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler


@dataclass
class Codex:
    """Codex as one user has it: a home, a project, environment of memlayer."""

    binary: Path
    api: ResponsesApi
    home: Path
    project: Path
    extra_environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True)
        (self.folder / "config.toml").write_text(CONFIG % self.api.address, encoding="utf-8")

    @property
    def folder(self) -> Path:
        """The host's own folder."""
        return self.home / ".codex"

    @property
    def environ(self) -> dict[str, str]:
        """The whole environment."""
        real_python = Path(os.path.realpath(sys.executable)).parent
        path = f"{real_python}:/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin"
        return {"HOME": str(self.home), "PATH": path, "LANG": "C.UTF-8", "DUMMY_KEY": "dummy", **self.extra_environ}

    def exec(self, prompt: str) -> None:
        """Run `codex exec` to its end."""
        subprocess.run(
            [self.binary, "exec", prompt], cwd=self.project, env=self.environ, stdin=subprocess.DEVNULL, check=True,
            capture_output=True, timeout=RUN_TIMEOUT_S,
        )  # fmt: skip

    @contextmanager
    def talk(self) -> "Iterator[Talk]":
        """Hold a session; it ends with the block."""
        process = subprocess.Popen(
            [self.binary, "app-server"], cwd=self.project, env=self.environ, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        killer = threading.Timer(RUN_TIMEOUT_S, process.kill)
        killer.start()
        with process:
            try:
                yield Talk(process, self.project)
                assert process.stdin is not None
                process.stdin.close()
                process.wait(timeout=RUN_TIMEOUT_S)
            finally:
                killer.cancel()
                process.kill()


class Talk:
    """A running session. hooks: each that ran, with its status and output."""

    def __init__(self, process: "subprocess.Popen[str]", project: Path) -> None:
        self.hooks: list[tuple[str, str, str]] = []
        self._process, self._project, self._number = process, str(project), 0
        self.thread_id = ""
        self.ask("initialize", {"clientInfo": {"name": "tests", "version": "1"}, "capabilities": {}})
        self._write({"method": "initialized"})

    def trust_hooks(self) -> list[str]:
        """Trust every hook as a person does; return their states before."""
        listed = self.ask("hooks/list", {"cwds": [self._project]})["data"][0]["hooks"]
        trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in listed}
        edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
        self.ask("config/batchWrite", {"edits": [edit], "reloadUserConfig": True})
        return [hook["trustStatus"] for hook in listed]

    def say(self, prompt: str, until: str = "turn/completed") -> str:
        """Send a prompt and wait for the turn's end, unless `until` says less; return the turn's id."""
        self._begin()
        given = {"threadId": self.thread_id, "input": [{"type": "text", "text": prompt, "text_elements": []}]}
        turn: str = self.ask("turn/start", given, until)["turn"]["id"]
        return turn

    def interrupt(self, turn: str) -> None:
        """Interrupt a turn, as Esc does."""
        self.ask("turn/interrupt", {"threadId": self.thread_id, "turnId": turn}, until="turn/completed")

    def wait(self, event: str, times: int = 1) -> None:
        """Wait until so many hooks of an event have run, a subagent's too."""
        while [name for name, _, _ in self.hooks].count(event) < times:
            self._read(-1, "hook/completed", "")

    def compact(self) -> None:
        """Compact the context."""
        self.ask("thread/compact/start", {"threadId": self.thread_id}, until="turn/completed")

    def _begin(self) -> None:
        self.thread_id = self.thread_id or self.ask("thread/start", {"cwd": self._project})["thread"]["id"]

    def ask(self, method: str, params: dict[str, Any], until: str = "") -> Any:
        """Send a request; return its result, once the thread's notification `until` has come."""
        self._number += 1
        self._write({"id": self._number, "method": method, "params": params})
        return self._read(self._number, until, str(params.get("threadId") or ""))

    def _read(self, number: int, until: str, thread: str) -> Any:
        result: Any = None
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if said.get("method") == "hook/completed":
                run = said["params"]["run"]
                self.hooks.append((run["eventName"], run["status"], json.dumps(run["entries"], ensure_ascii=False)))
            if said.get("id") == number and "method" not in said:
                assert "result" in said, said
                result = said["result"]
            is_awaited = said.get("method") == until and thread in ("", said["params"].get("threadId"))
            if (result is not None and not until) or (until and is_awaited):
                return result
        raise AssertionError("the host ended before it answered")

    def _write(self, message: dict[str, Any]) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()
