"""A server's failures in a line: advice and its words."""

import asyncio
import contextlib
import html
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from memlayer.chat import OnText, OnWait
from memlayer.edge.redaction.privacy import plain, redact

WAIT_S = 15.0
BUSY = (408, 409, 429)
# How servers say that a request does not fit into the model's context.
TOO_LONG = (
    "context_length", "context length", "context size", "context_size", "context window", "prompt is too long",
    "maximum context",
)  # fmt: skip
# Where servers put their message, likeliest first: OpenAI, Anthropic and litellm; FastAPI; others.
MESSAGE_FIELDS = ("error", "message", "detail", "msg", "errors", "error_message", "title")
MAX_CHARS = 300
MAX_READ_CHARS = 2000
MAX_TITLE_CHARS = 80
ECHO_CHARS = 12  # as many that the request has too are an echo of it
_PAGE = re.compile(r"\s*(?:<!--.*?-->\s*)*<(?:!doctype html|html|head|body)\b", re.IGNORECASE | re.DOTALL)
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.*?)</\1>", re.IGNORECASE | re.DOTALL)


def waiting_line(who: str, timeout_s: float) -> str:
    """Return the line for a wait without any sign of an answer."""
    return f"no answer from {who} for {WAIT_S:g} s: still waiting. Ctrl-C stops, or {timeout_s:g} s"


@dataclass
class Wait:
    """A request that may take long.

    who: model and address. doing: describes a model that works without text, "" where nothing came. tell: None for
    nobody to tell.
    """

    who: str
    tell: OnWait | None
    timeout_s: float
    doing: Callable[[], str]
    has_text: bool = False
    status: int = 0

    def begin(self) -> None:
        """Count from now, in the running event loop."""
        if self.tell is not None:
            asyncio.get_running_loop().call_later(WAIT_S, self._tell)

    async def note(self, response: Any) -> None:
        """Note the status of a response; a hook of the HTTP client."""
        self.status = response.status_code

    def _tell(self) -> None:
        if self.tell is None or self.has_text:
            return
        doing = self.doing()
        if doing:
            self.tell(f"the model {doing}, for {WAIT_S:g} s already. Ctrl-C stops it")
        elif self.status in BUSY or self.status >= 500:
            self.tell(f"{self.who} is busy (HTTP {self.status}) and is asked again. Ctrl-C stops")
        else:
            self.tell(waiting_line(self.who, self.timeout_s))


class Listener:
    """The callback for an answer's text, None for nobody.

    One that fails (a pipe that nobody reads any more) ends the answer: its error waits until the stream is read to its
    end, for an SDK's generators do not survive an error between two of their events.
    """

    def __init__(self, on_text: OnText | None) -> None:
        self.is_there = on_text is not None
        self._on_text = on_text
        self._failure: OSError | None = None

    def hear(self, text: str) -> None:
        """Hand on a part of the text."""
        if not text or self._on_text is None or self._failure is not None:
            return
        try:
            self._on_text(text)
        except OSError as bad:
            self._failure = bad

    async def go_on(self, response: Any) -> None:
        """End the response of a listener that failed."""
        if self._failure is not None:
            await response.aclose()

    def check(self) -> None:
        """Raise the listener's own error, if any."""
        if self._failure is not None:
            raise self._failure


def is_too_long(status: int, message: str) -> bool:
    """Return whether a server's error is about the length of the request."""
    return status == 413 or (status not in (401, 403, 404) and any(sign in message for sign in TOO_LONG))


def refuses_tools(status: int, message: str) -> bool:
    """Return whether a server's error is about tools."""
    return "tool" in message and (status in (400, 422, 501) or (status == 500 and "param" in message))


def presentable(message: str, hidden: Sequence[str] = (), key: str = "") -> str:
    """Return a server's words as one line to show and to log."""
    shown = page_title(message) if is_page(message) else message[:MAX_READ_CHARS]
    if key:
        shown = shown.replace(key, "[redacted:key]")
    shown = " ".join(plain(redact(shown)).split())
    shown = _without_echo(shown, hidden).strip(" .…\"'`:")
    return shown if len(shown) <= MAX_CHARS else shown[:MAX_CHARS].rstrip() + "…"


def message_in(body: object, depth: int = 4) -> str:
    """Return the message in an error's body, whatever its shape."""
    if isinstance(body, str):
        with contextlib.suppress(ValueError, RecursionError):
            parsed = json.loads(body) if body.lstrip()[:1] in ("{", "[") and depth else None
            return message_in(parsed, depth - 1) or body if parsed else body
        return body
    if isinstance(body, dict) and depth:
        return next(filter(None, (message_in(body.get(name), depth - 1) for name in MESSAGE_FIELDS)), "")
    if isinstance(body, list) and depth:
        return "; ".join(filter(None, (message_in(entry, depth - 1) for entry in body[:3])))
    return ""


def is_page(text: str) -> bool:
    """Return whether a text is a web page."""
    return _PAGE.match(text) is not None


def page_title(page: str) -> str:
    """Return a description of a web page by its title."""
    title = _TITLE.search(page[:20_000])
    words = " ".join(re.sub(r"<[^>]*>", " ", html.unescape(title[2])).split())[:MAX_TITLE_CHARS] if title else ""
    return f"a web page, “{words}”" if words else "a web page"


def _without_echo(message: str, hidden: Sequence[str]) -> str:
    """Replace each run of characters that the request has too."""
    texts = [" ".join(text.split()) for text in hidden if len(text) >= ECHO_CHARS]
    is_echo = [False] * len(message)
    for at in range(len(message) - ECHO_CHARS + 1):
        window = message[at : at + ECHO_CHARS]
        if any(window in text for text in texts):
            is_echo[at : at + ECHO_CHARS] = [True] * ECHO_CHARS
    kept = [
        char if not echo else "" if at and is_echo[at - 1] else "…"
        for at, (char, echo) in enumerate(zip(message, is_echo, strict=True))
    ]
    return "".join(kept)
