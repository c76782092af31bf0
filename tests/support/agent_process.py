"""The agent as a process: its settings, answers of its model, a talk on a pseudo terminal."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from tests.support.chat_api import Call, Spoken
from tests.support.cli_process import MAIN, Cli
from tests.support.model_api import ModelApi

ANSI = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]|\r")


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

    def __init__(self, cli: Cli, *arguments: str, **environment: str) -> None:
        self._person, terminal = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, "-I", str(MAIN), "agent", *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
            cwd=cli.project, env={**cli.environment, **SCREEN, **environment}, start_new_session=True,
            preexec_fn=lambda: _control(terminal),
        )  # fmt: skip
        os.close(terminal)
        self._raw = b""

    @property
    def text(self) -> str:
        """Everything shown so far."""
        return ANSI.sub("", self._raw.decode(errors="replace"))

    def type(self, text: str) -> None:
        """Type at the terminal."""
        os.write(self._person, text.encode())

    def press(self, key: str, condition: Callable[[], bool]) -> None:
        """Press a key, as often as it takes.

        readline misses an interrupt that comes just before it waits for input.
        """
        for _ in range(20):
            if not condition():
                self.type(key)
                with contextlib.suppress(AssertionError):
                    self.until(condition, "effect", timeout_s=2.0)
        assert condition(), self.text

    def see(self, wanted: str, times: int = 1) -> str:
        """Wait until a text has been shown so often."""
        self.until(lambda: self.text.count(wanted) >= times, "%r %d times" % (wanted, times))
        return self.text

    def ready(self) -> None:
        """Wait for the next prompt."""
        self.until(lambda: self.text.endswith("› "), "prompt")

    def until(self, condition: Callable[[], bool], awaited: str, timeout_s: float = 40.0) -> None:
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
        return self.process.returncode

    def close(self) -> None:
        """End the talk in any case."""
        self.process.kill()
        self.process.wait()
        os.close(self._person)


def _control(terminal: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
