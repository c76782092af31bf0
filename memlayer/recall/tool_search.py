"""Finds turns by what was done in them: a path, a command, an error. For a person who searches, never for recall.

A scan of the newest tool events: they are not in the search index, where they would outweigh what was said.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence

from memlayer.model import Event, Memory, turn_memory_id
from memlayer.ports import Store

MAX_SCANNED = 20_000
MIN_CHARS, MIN_KOREAN_CHARS = 3, 2  # of the longest word: shorter ones stand everywhere


def find(
    store: Store,
    query: str,
    project_ids: Sequence[str] | None,
    limit: int,
    admits: Callable[[Event], bool] = lambda _: True,
) -> list[tuple[Memory, Event]]:
    """The newest turns with a tool event that holds every word of the query, each with that event.

    project_ids: None for every project. admits: which events count. Raises StoreError.
    """
    words = unicodedata.normalize("NFC", query).casefold().split()
    if limit < 1 or not any(len(word) >= (MIN_CHARS if word.isascii() else MIN_KOREAN_CHARS) for word in words):
        return []
    found: dict[str, Event] = {}
    for project_id in [""] if project_ids is None else project_ids:
        for event in store.events(project_id=project_id, kind="tool", limit=MAX_SCANNED):
            text = unicodedata.normalize("NFC", event.text).casefold()
            if event.prompt_id and all(word in text for word in words) and admits(event):
                found[turn_memory_id(event.session_id, event.prompt_id)] = event  # the last one of a turn
    newest = sorted(found, key=lambda memory_id: -found[memory_id].at_ms)[: limit * 2]
    turns = {one.id: one for one in store.memories(ids=newest, limit=len(newest) + 1)} if newest else {}
    return [(turns[memory_id], found[memory_id]) for memory_id in newest if memory_id in turns][:limit]
