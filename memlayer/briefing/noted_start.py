"""A session's start where a language model wrote notes.

Open work, the last day's sessions, and a line of contents: the notes themselves follow with the first prompt, which
points to those that it needs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from memlayer.consolidation.extractor import SESSION_READER
from memlayer.kinds import KINDS, Category, Kind, Start
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import flatten

MAX_TASKS = 3
TASK_SESSIONS = 5  # a task that so many later sessions did not mention has died
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
    """Return a model's notes and tasks, newest first. Raises StoreError."""
    rows = store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=limit))
    return [row for row in rows if row.settled == SESSION_READER]


def live_tasks(notes: Sequence[Memory], sessions: Sequence[str]) -> list[Memory]:
    """Return the open tasks of the last sessions, newest first.

    sessions: ids, newest first."""
    recent = set(sessions[:TASK_SESSIONS])
    tasks = [note for note in notes if KINDS[note.known_kind].start is Start.OPEN_WORK]
    return [task for task in tasks if task.session_id in recent][:MAX_TASKS]


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
    held: Counter[str] = Counter()
    for note in notes:
        held.update(set(_NAME.findall(flatten(note.text))))
    yield from (word for word, count in held.most_common(MAX_TOPICS) if count > 1)
