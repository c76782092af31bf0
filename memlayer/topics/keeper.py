"""Topics as daily memories, for a project in endless mode."""

from __future__ import annotations

from dataclasses import dataclass

from memlayer.edge.capture.spool import event_id
from memlayer.indexing.indexer import Indexer
from memlayer.kinds import Category, Ended, Kind
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records.tombstones import Tombstones
from memlayer.topics.grouping import Topic, line_of, topics_of
from memlayer.topics.profile import profiles
from memlayer.turns.salience import new_memory

MONTH_MS = 30 * 86_400_000
FEWEST_TURNS = 3  # fewer turns are their own summary
MAX_ROWS = 10_000


@dataclass(frozen=True)
class TopicKeeper:
    """Writer of topics; in the daemon's writer. Twice changes nothing."""

    store: Store
    indexer: Indexer
    tombstones: Tombstones

    def renew(self, project_id: str, now_ms: int) -> bool:
        """Group the last month's sessions anew. True if a topic changed.

        Raises StoreError. A topic whose sessions went to others is retired. Summaries and turns stay as they are.
        """
        grouped = topics_of(profiles(self.store, project_id, now_ms - MONTH_MS))
        grouped = [topic for topic in grouped if topic.turns >= FEWEST_TURNS]
        made = [self._memory(project_id, topic) for topic in grouped]
        made = [row for row in made if not self.tombstones.covers_memory(row)]
        known = {row.id: row for row in self.known(project_id)}
        ids = {row.id for row in made}
        changed = [row for row in made if row != known.get(row.id)]
        changed += [row.ended(Ended.REGROUPED, now_ms) for row in known.values() if row.id not in ids]
        if changed:
            self.store.put_memories(changed)
            self.indexer.index(changed)
        return bool(changed)

    def known(self, project_id: str) -> list[Memory]:
        """Return a project's topics in force, newest first. Raises StoreError."""
        query = MemoryQuery(
            project_id=project_id, category=Category.DAILY, kind=Kind.TOPIC, is_current=True, limit=MAX_ROWS
        )
        return self.store.memories(query)

    def _memory(self, project_id: str, topic: Topic) -> Memory:
        made = event_id(project_id, topic.profiles[0].session_id, Kind.TOPIC)
        return new_memory(
            made, Category.DAILY, Kind.TOPIC, line_of(topic), topic.last_ms, project_id=project_id,
            source_ids=topic.source_ids,
        )  # fmt: skip
