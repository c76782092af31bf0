"""A scripted server on loopback for both providers' interfaces.

Answers of a consolidation; chat_api.py has those of a talk.
"""

import contextlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class Asked:
    """One request: its path, its headers in lower case, its JSON body."""

    path: str
    headers: dict[str, str]
    body: JsonObject


@dataclass(frozen=True)
class Said:
    """One answer.

    body: JSON, or raw bytes. drip_s: the body comes byte by byte with this pause, without end. chunks: a stream of
    events instead of the body, in pieces of the network; hang_s: nothing comes after them for so long. is_cut: the
    connection ends before the stream does. again: what follows the body over and over, until nobody reads. is_raw: no
    head stands before the body.
    """

    body: JsonObject | bytes = b""
    status: int = 200
    drip_s: float = 0.0
    headers: Mapping[str, str] = field(default_factory=dict)
    chunks: Sequence[bytes] = ()
    is_cut: bool = False
    hang_s: float = 0.0
    again: bytes = b""
    is_raw: bool = False


def messages_answer(text: str, *, read: int = 700, written: int = 60) -> JsonObject:
    """Return an answer of the Messages API, behind a thinking block."""
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn",
        "stop_sequence": None,
        "content": [{"type": "thinking", "thinking": "", "signature": "x"}, {"type": "text", "text": text}],
        "usage": {"input_tokens": read, "cache_creation_input_tokens": 5, "cache_read_input_tokens": None,
                  "output_tokens": written},
    }  # fmt: skip


def chat_answer(text: str | None, *, read: int = 700, written: int = 60) -> JsonObject:
    """An answer in the shape of chat completions; read 0: without usage."""
    usage = {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
    return {
        "id": "c1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}],
        **({"usage": usage} if read else {}),
    }  # fmt: skip


@dataclass
class ModelApi:
    """The server, as a context manager.

    `script` decides answers, `asked` holds the requests.
    """

    script: Callable[[Asked], Said] = lambda asked: Said({}, 500)
    asked: list[Asked] = field(default_factory=list)
    closing: threading.Event = field(default_factory=threading.Event)
    sent_again: int = 0  # bytes of answers without end

    def __enter__(self) -> "ModelApi":
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def url(self) -> str:
        """http://127.0.0.1:<port>"""
        return "http://127.0.0.1:%d" % self._server.server_address[1]


def _handler_for(api: ModelApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the body waits 40 ms for the acknowledgement of the head

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: the requests are kept."""

        def do_GET(self) -> None:
            self.do_POST()

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            body = json.loads(raw) if raw else {}
            asked = Asked(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
            api.asked.append(asked)
            said = api.script(asked)
            if said.again or said.is_raw:
                self.flood(said)
            elif said.chunks:
                self.stream(said)
            else:
                self.answer(said)

        def stream(self, said: Said) -> None:
            self.send_response(said.status)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for chunk in said.chunks:
                self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                self.wfile.flush()
            api.closing.wait(said.hang_s)
            if said.is_cut:
                self.close_connection = True
            else:
                self.wfile.write(b"0\r\n\r\n")

        def flood(self, said: Said) -> None:
            self.close_connection = True
            if not said.is_raw:
                self.send_response(said.status)
                for name, value in {"content-type": "application/json", **said.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.wfile.write(said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode())
                while said.again and not api.closing.is_set():
                    self.wfile.write(said.again)
                    api.sent_again += len(said.again)

        def answer(self, said: Said) -> None:
            body = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
            self.send_response(said.status)
            for name, value in {"content-type": "application/json", **said.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body) if not said.drip_s else 10**6))
            self.end_headers()
            try:
                if not said.drip_s:
                    self.wfile.write(body)
                while said.drip_s and not api.closing.wait(said.drip_s):
                    self.wfile.write(b" ")
                    self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

    return Handler
