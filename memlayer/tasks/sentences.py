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
PART = "part "
# Syllables that end in the sign of the past, but for the verb "to be there" and the intention.
PAST = "[%s]" % "".join(sign for sign in map(chr, range(0xAC14, 0xD7A4, 28)) if sign not in "있겠")
_QUOTED = re.compile(r"^\s*(?:>|\||```|[$#]\s)")
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)


@cache
def _patterns() -> list[tuple[str, re.Pattern[str]]]:
    parts, made = {"past": PAST}, list[tuple[str, re.Pattern[str]]]()
    for name, pattern in rows(__package__, "sentences.tsv"):
        for part, text in parts.items():
            pattern = pattern.replace("{%s}" % part, text)
        if name.startswith(PART):
            parts[name.removeprefix(PART)] = pattern
        else:
            made.append((name, re.compile(pattern, re.IGNORECASE)))
    return made


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
