"""The agent as a process: its settings, answers of its model, a talk on a pseudo terminal."""

import contextlib
import json
import os
import pty
import re
import select
import termios
import time
from collections.abc import Callable
from typing import IO, Any

from tests.support.chat_api import Call, Spoken
from tests.support.cli_process import Cli
from tests.support.model_api import ModelApi
from tests.support.prepared_processes import start_verb

AWAITS = b"\x1b[?2004h"  # bracketed paste: an editor begins to read
ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|[\r\b]")


def settings_of(api: ModelApi, **agent: Any) -> dict[str, Any]:
    """Settings with that server."""
    chosen = {"provider": "openai", "model": "m", "base_url": api.url + "/v1", "tool_dispatcher": "native", **agent}
    return {"embedding": {"provider": "none"}, "agent": chosen}


def calling(name: str, **arguments: Any) -> Spoken:
    """An answer that calls a tool."""
    return Spoken(calls=[Call("c1", name, json.dumps(arguments, ensure_ascii=False))])


SCREEN = {"TERM": "xterm", "LANG": "C.UTF-8", "COLUMNS": "100"}


class Terminal:
    """A talk on a pseudo terminal."""

    def __init__(self, cli: Cli, *arguments: str, stdout: IO[str] | None = None, **environment: str) -> None:
        self._person, terminal = pty.openpty()
        output = terminal if stdout is None else stdout.fileno()
        self.process = start_verb(
            ["agent", *arguments], {**cli.environment, **SCREEN, **environment}, cli.project,
            [terminal, output, terminal], has_terminal=True,
        )  # fmt: skip
        os.close(terminal)
        self._raw = b""
        self._typed_at = 0

    @property
    def text(self) -> str:
        """Everything shown so far."""
        return ANSI.sub("", self._raw.decode(errors="replace"))

    def type(self, text: str) -> None:
        """Type at the terminal."""
        self._typed_at = len(self._raw)
        os.write(self._person, text.encode())

    def strike(self, key: str) -> None:
        """Press a key once, and wait for its effect."""
        before = len(self._raw)
        self.type(key)
        self.until(lambda: len(self._raw) > before, "effect")

    def has_cursor(self) -> bool:
        """Return whether the cursor is shown."""
        return self._raw.rfind(b"\x1b[?25l") < self._raw.rfind(b"\x1b[?25h")

    def modes(self) -> int:
        """Return the terminal's local modes, as termios has them."""
        return int(termios.tcgetattr(self._person)[3])

    def see(self, wanted: str, times: int = 1) -> str:
        """Wait until a text has been shown so often."""
        self.until(lambda: self.text.count(wanted) >= times, "%r %d times" % (wanted, times))
        return self.text

    def ready(self, prompt: str = "›") -> None:
        """Wait for the next prompt."""
        self.until(lambda: AWAITS in self._raw[self._typed_at :] and self.text.rstrip(" ").endswith(prompt), "prompt")

    def until(self, condition: Callable[[], bool], awaited: str, timeout_s: float = 20.0) -> None:
        """Read the terminal until a condition holds."""
        ends = time.monotonic() + timeout_s
        while not condition():
            assert time.monotonic() < ends, "no %s in %s" % (awaited, self.text)
            if select.select([self._person], [], [], 0.1)[0]:
                with contextlib.suppress(OSError):
                    self._raw += os.read(self._person, 65536)

    def end(self) -> int:
        """Return the exit code, once it has ended."""
        self.until(lambda: self.process.poll() is not None, "end")
        return self.process.wait()

    def close(self) -> None:
        """End the talk in any case."""
        self.process.kill()
        self.process.wait()
        os.close(self._person)
