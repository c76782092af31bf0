"""A scripted Messages API on loopback.

It gives the answers of the test's script and records every request.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

JsonObject = dict[str, Any]

# The host's words before a hook's additionalContext.
HOOK_CONTEXT = re.compile(r"\b([A-Z][A-Za-z]+) hook additional context: ")


@dataclass(frozen=True)
class Answer:
    """The API's answer to one request.

    `text` and `tool_uses` (name, input) become content blocks in this order. `hang` sends the headers, then
    nothing until the API closes; `delay_s` waits before the first byte. Any `status` but 200 is an error.
    `input_tokens` is the usage that it reports, beside 12 of output.
    """

    text: str = ""
    tool_uses: tuple[tuple[str, JsonObject], ...] = ()
    hang: bool = False
    delay_s: float = 0.0
    status: int = 200
    input_tokens: int = 12


@dataclass(frozen=True)
class Request:
    """One recorded request: path and JSON body."""

    path: str
    body: JsonObject

    @property
    def is_turn(self) -> bool:
        """True for the main loop's requests.

        They stream and offer tools; side requests (titles) do not.
        """
        return bool(self.body.get("stream")) and bool(self.body.get("tools"))

    @property
    def texts(self) -> list[str]:
        """Return every text of every message, in order.

        Of any role: the model reads these beside `system`.
        """
        return [text for message in self.body.get("messages", []) for text in _texts_of(message.get("content"))]

    @property
    def text(self) -> str:
        """All of `texts` as one string."""
        return "\n".join(self.texts)

    @property
    def system_texts(self) -> list[str]:
        """The texts of the system prompt, in order."""
        return _texts_of(self.body.get("system"))

    @property
    def newest(self) -> list[JsonObject]:
        """Return this turn's part of the request.

        The last user message and the host's additions behind it.
        """
        messages: list[JsonObject] = self.body.get("messages", [])
        users = [index for index, message in enumerate(messages) if message.get("role") == "user"]
        return messages[users[-1] :] if users else []

    @property
    def last_user_text(self) -> str:
        """Return the last text of the last user message.

        The prompt, or the result of a tool.
        """
        texts = _texts_of(self.newest[0].get("content")) if self.newest else []
        return texts[-1] if texts else ""

    @property
    def has_tool_result(self) -> bool:
        """True when the last user message answers a tool call."""
        content = self.newest[0].get("content") if self.newest else None
        return isinstance(content, list) and any(block.get("type") == "tool_result" for block in content)

    def injected(self, event: str) -> str:
        """Return the text that hooks of `event` added to this turn.

        "" for nothing. Attachments of the host may follow it.
        """
        texts = [text for message in self.newest for text in _texts_of(message.get("content"))]
        parts = HOOK_CONTEXT.split("\n".join(texts))
        return "\n".join(part for name, part in zip(parts[1::2], parts[2::2], strict=True) if name == event)


Script = Callable[[Request], Answer]


class MessagesApi:
    """The server, as a context manager.

    Set `script` to decide answers, read `requests` and `turns`.
    """

    def __init__(self) -> None:
        self.script: Script = self._numbered
        self._requests: list[Request] = []
        self._count = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    def __enter__(self) -> "MessagesApi":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def base_url(self) -> str:
        """The address for ANTHROPIC_BASE_URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def requests(self) -> list[Request]:
        """Every message request so far, oldest first (a copy)."""
        with self._changed:
            return list(self._requests)

    @property
    def turns(self) -> list[Request]:
        """The main loop's requests so far."""
        return [request for request in self.requests if request.is_turn]

    def wait_for(self, wanted: Callable[[Request], bool], *, timeout_s: float) -> Request:
        """Return the first recorded request that `wanted` accepts.

        TimeoutError if none comes in time.
        """
        with self._changed:
            found: list[Request] = []

            def arrived() -> bool:
                found[:] = [request for request in self._requests if wanted(request)]
                return bool(found)

            if not self._changed.wait_for(arrived, timeout=timeout_s):
                raise TimeoutError(f"no such request within {timeout_s} s; {len(self._requests)} others came")
            return found[0]

    def record(self, request: Request) -> Answer:
        """Keep `request` and return the script's answer to it."""
        with self._changed:
            self._requests.append(request)
            self._changed.notify_all()
        return self.script(request)

    def stall(self, seconds: float | None) -> bool:
        """Wait `seconds`; return True when the API is closing.

        None: until the API closes.
        """
        return self._closing.wait(seconds)

    def _numbered(self, request: Request) -> Answer:
        if not request.is_turn:
            return Answer(text="Mock title")
        with self._changed:
            self._count += 1
            return Answer(text=f"Mock answer {self._count}.")


@dataclass
class _Message:
    """One answer in the API's own shape, whole or as stream events."""

    answer: Answer
    model: str
    number: int
    blocks: list[JsonObject] = field(init=False)

    def __post_init__(self) -> None:
        self.blocks = [{"type": "text", "text": self.answer.text}] if self.answer.text else []
        for index, (name, arguments) in enumerate(self.answer.tool_uses):
            tool_id = f"toolu_mock_{self.number:04d}_{index}"
            self.blocks.append({"type": "tool_use", "id": tool_id, "name": name, "input": arguments})

    @property
    def stop_reason(self) -> str:
        return "tool_use" if self.answer.tool_uses else "end_turn"

    def whole(self) -> JsonObject:
        return {
            "id": f"msg_mock_{self.number:04d}",
            "type": "message",
            "role": "assistant",
            "model": self.model,
            "content": self.blocks,
            "stop_reason": self.stop_reason,
            "stop_sequence": None,
            "usage": _usage(self.answer.input_tokens),
        }

    def events(self) -> Iterator[JsonObject]:
        yield {"type": "message_start", "message": {**self.whole(), "content": [], "stop_reason": None}}
        for index, block in enumerate(self.blocks):
            if block["type"] == "text":
                empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
            else:
                arguments = json.dumps(block["input"], ensure_ascii=False)
                empty, delta = {**block, "input": {}}, {"type": "input_json_delta", "partial_json": arguments}
            yield {"type": "content_block_start", "index": index, "content_block": empty}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        delta = {"stop_reason": self.stop_reason, "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": {"output_tokens": 12}}
        yield {"type": "message_stop"}


def _handler_for(api: MessagesApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            """Stay silent: the requests are recorded."""

        def do_HEAD(self) -> None:
            self._send_json(200, None)

        def do_GET(self) -> None:
            self._send_json(404, {"type": "error", "error": {"type": "not_found_error", "message": "no such page"}})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            path = self.path.partition("?")[0]
            if path == "/v1/messages/count_tokens":
                self._send_json(200, {"input_tokens": max(1, len(raw) // 4)})
            elif path == "/v1/messages":
                self._answer(Request(path=path, body=json.loads(raw)))
            else:
                self._send_json(200, {})

        def _answer(self, request: Request) -> None:
            answer = api.record(request)
            if answer.delay_s and api.stall(answer.delay_s):
                return
            if answer.status != 200:
                self._send_json(
                    answer.status, {"type": "error", "error": {"type": "api_error", "message": answer.text or "mock"}}
                )
                return
            message = _Message(answer, str(request.body.get("model", "mock")), len(api.requests))
            if not request.body.get("stream"):
                self._send_json(200, message.whole())
                return
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            self.close_connection = True
            if answer.hang:
                api.stall(None)
                return
            try:
                for event in message.events():
                    line = json.dumps(event, ensure_ascii=False)
                    self.wfile.write(f"event: {event['type']}\ndata: {line}\n\n".encode())
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def _send_json(self, status: int, body: JsonObject | None) -> None:
            raw = b"" if body is None else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

    return Handler


def _texts_of(content: object) -> list[str]:
    if isinstance(content, str):
        return [content]
    texts: list[str] = []
    for block in content if isinstance(content, list) else []:
        if block.get("type") == "text":
            texts.append(str(block.get("text", "")))
        elif block.get("type") == "tool_result":
            texts.extend(_texts_of(block.get("content")))
    return texts


def _usage(input_tokens: int) -> JsonObject:
    return {
        "input_tokens": input_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 1,
    }
