"""A session's start where a language model wrote notes.

Open work, the last day's sessions, and a line of contents: the notes themselves follow with the first prompt, which
points to those that it needs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memlayer.consolidation.extractor import SESSION_READER
from memlayer.kinds import Category, Kind
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.tasks.states import is_resting
from memlayer.text.context_block import flatten

MAX_TASKS = 3
DAY_MS = 86_400_000
MAX_SUMMARIES = 3
SUMMARY_CHARS = 280
MAX_TOPICS = 5
FEWEST_FOR_CONTENTS = 3
# Names of code and of things: `push_sessions`, `shadow-branch`, `GoReleaser`, `metadata.json`, `CI`.
_NAME = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z]+[_.-][A-Za-z][A-Za-z0-9_.-]*[A-Za-z0-9_]|[A-Z]?[a-z]+[A-Z][A-Za-z0-9_]+|[A-Z]{2,6})"
    r"(?![A-Za-z0-9_])"
)


def notes_in_force(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return a model's notes, newest first. Raises StoreError."""
    rows = store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=limit))
    return [row for row in rows if row.settled == SESSION_READER]


def live_tasks(core: Sequence[Memory], heard: Sequence[Memory]) -> list[Memory]:
    """Return the open tasks that do not rest, newest first.

    core: memories in force. heard: turns and summaries, by which sessions are counted."""
    now_ms = max([row.at_ms for row in heard], default=0)
    began: dict[str, int] = {}
    for row in heard:
        began[row.session_id] = min(row.at_ms, began.get(row.session_id, row.at_ms))
    tasks = sorted((row for row in core if row.known_kind is Kind.TASK), key=lambda row: -row.at_ms)
    return [
        task
        for task in tasks
        if not is_resting(task.at_ms, now_ms, [session_id for session_id, at_ms in began.items() if at_ms > task.at_ms])
    ][:MAX_TASKS]


def recent_summaries(summaries: Sequence[Memory]) -> list[Memory]:
    """Return the last day's summaries, at least the newest.

    summaries: newest first."""
    return [row for row in summaries if summaries[0].at_ms - row.at_ms < DAY_MS][:MAX_SUMMARIES]


def contents_line(notes: Sequence[Memory]) -> str:
    """Return a line about the other notes, "" for few."""
    rows = [note for note in notes if note.known_kind != Kind.TASK]
    if len(rows) < FEWEST_FOR_CONTENTS:
        return ""
    topics = list(_topics(rows))
    about = ": " + ", ".join(topics) if topics else ""
    return "%d notes on this project%s; mem-search opens them." % (len(rows), about)


def _topics(notes: Sequence[Memory]) -> Iterator[str]:
    """The names that most notes share, in their order of frequency."""
    counts: Counter[str] = Counter()
    for note in notes:
        counts.update(set(_NAME.findall(flatten(note.text))))
    yield from (word for word, count in counts.most_common(MAX_TOPICS) if count > 1)
