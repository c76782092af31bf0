"""A talk's memory that records its calls, and fails when told to."""

from collections.abc import Collection
from dataclasses import dataclass, field

from memlayer.chat import ToolCall, ToolResult
from memlayer.errors import DaemonError


@dataclass
class RecordingMemory:
    """A memory. is_broken: every call of it fails."""

    notes: str = ""
    is_broken: bool = False
    prompt_id: str = "p1"
    seen: list[tuple[str, ...]] = field(default_factory=list)
    orders: str = ""
    constraints: tuple[str, ...] = ()

    def _record(self, *fields: str) -> None:
        if self.is_broken:
            raise DaemonError("no daemon")
        self.seen.append(fields)

    def advice(self, call: ToolCall, result: ToolResult) -> str:
        return ""

    def recall(self, prompt: str) -> str:
        self._record("recall", prompt)
        return self.notes

    def called(self, call: ToolCall, result: ToolResult) -> None:
        self._record("called", call.name, result.text)

    def end(self, answer: str, *, failure: str = "", tokens: int = 0) -> None:
        self._record("end", answer, *([failure] if failure else []))

    def survivors(self) -> "RecordingMemory":
        self._record("survivors")
        return self

    def compacted(self, summary: str, *, kept: Collection[str] = ()) -> None:
        self._record("compacted", summary)
