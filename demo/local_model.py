"""A scripted model on loopback: the first note of a request, or a reading."""

import json
import re
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

NOTE = re.compile(r"^- \[mem:\w+\] [\d-]+: (.+)$", re.MULTILINE)
SILENT = "기억에 아무것도 없습니다."


class LocalModel:
    """A server with the interface of llama.cpp, as a context manager.

    reading: its answer about a finished session.
    """

    def __init__(self, reading: str = "") -> None:
        self._reading = reading

    def __enter__(self) -> "LocalModel":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, self._reading))
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    @property
    def url(self) -> str:
        """Its address, as agent.base_url has it."""
        return "http://127.0.0.1:%d/v1" % self._server.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, reading: str, *rest: Any) -> None:
        self._reading = reading
        super().__init__(*rest)

    def log_message(self, format: str, *args: object) -> None:
        """Stay silent."""

    def do_GET(self) -> None:
        """Know no model's properties."""
        self.send_error(404)

    def do_POST(self) -> None:
        """Answer a request of chat completions; as a stream where that is asked for."""
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)))
        if not asked.get("stream"):
            self._answer_about_a_session()
            return
        said = [one["content"] for one in asked.get("messages", []) if one["role"] == "user"]
        note = NOTE.search(said[-1]) if said else None
        text = "메모에 따르면: " + note[1] if note else SILENT
        frame = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "local"}
        chunk = {**frame, "choices": [{"index": 0, "delta": {"content": text}, "finish_reason": "stop"}]}
        body = b"data: %s\n\ndata: [DONE]\n\n" % json.dumps(chunk).encode()
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _answer_about_a_session(self) -> None:
        message = {"role": "assistant", "content": self._reading}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        usage = {"prompt_tokens": 2200, "completion_tokens": 400, "total_tokens": 2600}
        frame = {"id": "c1", "object": "chat.completion", "created": 1, "model": "local"}
        body = json.dumps({**frame, "choices": [choice], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
