"""Sentences of a person about a task, in so many words.

Few forms, no guess: a task is made only where somebody says that it is one, and a sentence closes one
only by the matcher.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from memlayer.tasks.events import CREATED, Observation
from memlayer.text.sentences import is_question, sentences
from memlayer.text.word_lists import rows

MAX_TEXT_CHARS = 4_000  # a longer prompt is pasted text
MAX_FOUND = 8
_QUOTED = re.compile(r"^\s*(?:>|\||```|[$#]\s)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [(wish, re.compile(pattern, re.IGNORECASE)) for wish, pattern in rows(__package__, "sentences.tsv")]


def observed(prompt: str) -> list[Observation]:
    """Return the tasks that a prompt speaks of, in its order."""
    if len(prompt) > MAX_TEXT_CHARS:
        return []
    return list(_observed(_FENCE.sub("\n", prompt)))[:MAX_FOUND]


def _observed(prompt: str) -> Iterator[Observation]:
    for line in prompt.split("\n"):
        if _QUOTED.match(line):
            continue
        whole = _of_sentence(line.strip(" -*\t"), (CREATED,))
        if whole is not None:
            yield whole
            continue
        for start, end in sentences(line):
            row = _of_sentence(line[start:end].strip(" -*\t"), ())
            if row is not None:
                yield row


def _of_sentence(sentence: str, wishes: tuple[str, ...]) -> Observation | None:
    for wish, pattern in _patterns():
        match = pattern.match(sentence) if not wishes or wish in wishes else None
        if match is not None:
            is_asked = wish != CREATED and is_question(sentence)
            return None if is_asked else Observation(wish, match["task"].strip(" .,:"), quote=sentence)
    return None
