"""Sentences of a person about a task.

A task is made only where somebody says that it is one. Any sentence that reports an end may close a known task, and
the matcher decides: measured on real prompts in docs/inside/experiments.md.
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
HEDGE = "hedge"
PAST = "[%s]" % "".join(chr(0xAC00 + 28 * at + 20) for at in range(399) if at not in (0,))
_QUOTED = re.compile(r"^\s*(?:>|\||```|[$#]\s)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    return [
        (wish, re.compile(pattern.replace("{past}", PAST), re.IGNORECASE))
        for wish, pattern in rows(__package__, "sentences.tsv")
    ]


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
    patterns = [(wish, pattern) for wish, pattern in _patterns() if not wishes or wish in wishes]
    if any(wish == HEDGE and pattern.search(sentence) for wish, pattern in patterns):
        return None
    for wish, pattern in patterns:
        match = pattern.match(sentence) if wish != HEDGE else None
        if match is not None:
            is_asked = wish != CREATED and is_question(sentence if match.end() == len(sentence) else match[0])
            return None if is_asked else Observation(wish, match["task"].strip(" .,:"), quote=sentence)
    return None
