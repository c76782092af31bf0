"""The person who waits: parts of an answer, long silences."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memlayer.chat import OnText, OnWait

WAIT_S = 15.0
BUSY = (408, 409, 429)


def waiting_line(who: str, timeout_s: float) -> str:
    """Return the line for a wait without any sign of an answer."""
    return f"no answer from {who} for {WAIT_S:g} s: still waiting. Ctrl-C stops, agent.timeout_s after {timeout_s:g} s"


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
