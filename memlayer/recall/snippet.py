"""The part of a memory that helps: the sentence or two that state most, not the head of the turn."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memlayer.text.context_block import ELLIPSIS, best_sentences, cut, flatten
from memlayer.text.sentences import is_question, sentences
from memlayer.text.terms import index_terms
from memlayer.turns.turn import ASSISTANT, USER

MOST_SENTENCES = 3
SHORT_CHARS = 40  # a sentence below it rarely stands by itself
# Information (in units of inverse document frequency) that a sign of substance is worth.
NAMES_CODE, STATES_FINDING = 1.5, 2.0
WEAK = 0.3  # of a question, and of a line that only announces others
LABEL = 0.6  # of a heading or a table's row, and of the prompt where there is an answer
_FINDING = re.compile(
    r"^[-*\d.\s>#]*(?:\*\*)?(?:root cause|cause|fixed|now|done|the (?:issue|bug|problem|fix)|because|decided|use|never"
    r"|always|원인|해결|수정|이제|결정|결론)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:#|\||[\W\d]*\*\*[^*]+\*\*:?\W*$)")
_FENCE = "```"
WINDOW_CHARS = 56


class Sentence(NamedTuple):
    """text: without its speaker's label. is_prompt: the person said it."""

    text: str
    is_prompt: bool


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a turn or a statement, without code."""
    out: list[Sentence] = []
    is_prompt = is_code = False
    for line in text.split("\n"):
        if line.startswith(USER):
            is_prompt, line = True, line[len(USER) :]
        elif line.startswith(ASSISTANT):
            is_prompt, line = False, line[len(ASSISTANT) :]
        if line.lstrip().startswith(_FENCE):
            is_code = not is_code
        elif not is_code:
            out += [Sentence(line[at.start : at.end], is_prompt) for at in sentences(line)]
    return out


def snippet(
    text: str,
    rarity: Mapping[str, float],
    max_chars: int,
    is_stale: Callable[[str], bool] = lambda text: False,
    most: int = MOST_SENTENCES,
) -> str:
    """At most max_chars characters of a memory's text, without its stale sentences; "" if the best one is stale.

    rarity: weight of each of the query's terms. most: sentences.
    """
    found = sentences_of(text)
    if not found:
        return cut(flatten(text), max_chars)
    worth = worths(found, rarity)
    order = sorted(range(len(found)), key=lambda place: -worth[place])
    stale = {place for place in order if is_stale(found[place].text)}
    if order[0] in stale:
        return ""
    if not stale and sum(len(one.text) + 1 for one in found) <= max_chars:
        return " ".join(one.text for one in found)
    kept = [place for place in order if place not in stale][:most]
    kept = [place for place in kept if worth[place] > 0.2 * worth[kept[0]] or place == kept[0]]
    if len(found[kept[0]].text) > max_chars:
        return _window(found[kept[0]].text, rarity, max_chars)
    chosen = [worth[place] + 1e-6 if place in kept else 0.0 for place in range(len(found))]
    return best_sentences([one.text for one in found], chosen, max_chars)


def worths(found: Sequence[Sentence], rarity: Mapping[str, float]) -> list[float]:
    """How much each sentence is worth to the reader."""
    prompts = sum(one.is_prompt for one in found)
    return [_worth(one, place - prompts, rarity, prompts < len(found)) for place, one in enumerate(found)]


def _worth(one: Sentence, place: int, rarity: Mapping[str, float], has_answer: bool) -> float:
    """How much a sentence is worth to the reader. place: in the answer, from 0; an answer states its point early."""
    held = set(index_terms(one.text).split())
    worth = sum(weight for term, weight in rarity.items() if term in held)
    worth += NAMES_CODE * ("`" in one.text) + STATES_FINDING * bool(_FINDING.match(one.text))
    worth *= 1 - len(held & rarity.keys()) / max(1, len(held)) / 2  # an echo of the prompt tells little
    worth /= 1 + len(one.text) / 400
    if is_question(one.text) or one.text.endswith(":"):
        worth *= WEAK
    if len(one.text) < SHORT_CHARS:
        worth *= 0.5
    if _LABEL.match(one.text) or (one.is_prompt and has_answer):
        worth *= LABEL
    return worth if one.is_prompt else worth * (1 + 1.5 * math.exp(-max(0, place) / 4))


def _window(text: str, rarity: Mapping[str, float], max_chars: int) -> str:
    """The part of a sentence without an end, as it is dictated or pasted, that holds most of the query."""
    words = textwrap.wrap(text, WINDOW_CHARS, break_on_hyphens=False)
    many = max(1, (max_chars - 2) // (WINDOW_CHARS + 1))
    parts = [" ".join(words[at : at + many]) for at in range(max(1, len(words) - many + 1))]
    held = [set(index_terms(part).split()) for part in parts]
    worth = [sum(weight for term, weight in rarity.items() if term in terms) for terms in held]
    best = [at for at, one in enumerate(worth) if one >= max(worth)]
    at = best[len(best) // 2]  # of several that hold as much the middle one
    return ELLIPSIS * bool(at) + parts[at] + ELLIPSIS * (at + many < len(words))
