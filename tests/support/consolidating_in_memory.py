"""Consolidation over a store in memory.

Turns are consolidated as the daemon's writer does it.
"""

from pathlib import Path

from memlayer.kinds import Category
from memlayer.model import Memory
from memlayer.ports import Embedder, MemoryQuery
from memlayer.turns.remembered import remember_event
from tests.support.turns_in_memory import PROJECT, T0_MS, TurnsInMemory

DAY_MS = 86_400_000


class Consolidating(TurnsInMemory):
    """A story whose turns are consolidated.

    Times are milliseconds after T0_MS; `now` is 30 days later, and moves.
    """

    def __init__(self, home: Path, embedder: Embedder | None = None) -> None:
        super().__init__(home, embedder)
        self.now_ms = T0_MS + 30 * DAY_MS

    def _now(self) -> int:
        self.now_ms += 1
        return self.now_ms

    def say(self, session: str, prompt_id: str, prompt: str, answer: str, *, at: int = 0) -> list[Memory]:
        """Send a turn; return the current memories after its consolidation."""
        self.turn(session, prompt_id, prompt, answer, at=at)
        self.consolidator.settle_turns(100)
        return self.core()

    def remember(self, text: str, *, at: int = 0, session: str = "") -> Memory:
        """Remember a statement as a person asks.

        Returns the memory that holds it.
        """
        event = remember_event(text, project_dir=PROJECT, at_ms=T0_MS + at, session_id=session)
        self.ingest.take([event])
        [memory] = self.store.memories(MemoryQuery(source_ids=[str(event["id"])], is_current=True))
        return memory

    def core(self, is_current: bool | None = True) -> list[Memory]:
        """The core memories, oldest first."""
        return self.store.memories(MemoryQuery(category=Category.CORE, is_current=is_current))[::-1]

    def texts(self) -> list[str]:
        """Return the texts of current memories."""
        return [memory.text for memory in self.core()]

    def searched(self) -> set[str]:
        """Ids of the memories that the search index holds."""
        found: set[str] = set()
        self.store.scan_terms(lambda chunk, _: found.add(chunk.partition(":")[0]))
        return found

    def whole(self) -> tuple[list[Memory], set[str]]:
        """Everything that is kept, to compare."""
        return self.store.memories(MemoryQuery(limit=100_000)), self.searched()
