"""Tools with scripted outputs that record their calls."""

import threading
from collections.abc import Callable, Mapping
from typing import Any


class ScriptedTool:
    """A tool that answers with a function of its arguments."""

    def __init__(self, name: str, answer: Callable[[Mapping[str, Any]], str] | str, *required: str) -> None:
        """required: names of arguments."""
        self.name = name
        self.description = "Scripted tool %s." % name
        self.parameters = {
            "type": "object",
            "properties": {one: {"type": "string"} for one in required},
            "required": list(required),
        }
        self.answer = answer
        self.calls: list[Mapping[str, Any]] = []

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See Tool."""
        self.calls.append(arguments)
        return self.answer if isinstance(self.answer, str) else self.answer(arguments)


class HangingTool(ScriptedTool):
    """A tool that runs until it is stopped. on_start: called by each run."""

    def __init__(self, name: str = "hang", on_start: Callable[[], None] = lambda: None) -> None:
        super().__init__(name, "")
        self.on_start = on_start
        self.stopped = threading.Event()
        self.stops: list[Mapping[str, Any] | None] = []

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See Tool."""
        self.calls.append(arguments)
        self.on_start()
        self.stopped.wait(30)
        return "ended"

    def stop(self, arguments: Mapping[str, Any] | None = None) -> None:
        """See Stoppable."""
        self.stops.append(arguments)
        self.stopped.set()
