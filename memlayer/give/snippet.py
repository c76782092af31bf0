"""The sentence or two of a memory that state most."""

import math
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from memlayer.text.context_block import ELLIPSIS, best_sentences, cut, flatten
from memlayer.text.sentences import is_question, sentences
from memlayer.text.terms import index_terms
from memlayer.turns.questions import REQUESTS, begins
from memlayer.turns.turn import ASSISTANT, USER

MOST_SENTENCES = 3
SHORT_CHARS = 40  # a shorter sentence is rarely complete
# Bonuses for signs of substance, in units of inverse document frequency.
NAMES_CODE, STATES_FINDING = 1.5, 2.0
NOTHING_SHARED = 3.0  # of each sentence of a text without a word of the query, as one in another language
WEAK = 0.3  # factor of a question, and of a line that only announces others
LABEL = 0.6  # factor of a heading or a table's row, and of the prompt where there is an answer
_FINDING = re.compile(
    r"^[-*\d.\s>#]*(?:\*\*)?(?:root cause|cause|fixed|now|done|the (?:issue|bug|problem|fix)|because|decided|use|never"
    r"|always|원인|해결|수정|이제|결정|결론)",
    re.IGNORECASE,
)
_LABEL = re.compile(r"^(?:#|\||[\W\d]*\*\*[^*]+\*\*:?\W*$)")
_VALUE = re.compile(r"\d|`")
_FENCE = "```"
WINDOW_CHARS = 56


class Sentence(NamedTuple):
    """text: without its speaker's label. is_prompt: from the user."""

    text: str
    is_prompt: bool


def sentences_of(text: str) -> list[Sentence]:
    """Return the sentences of a turn or a statement, without code."""
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
    *,
    as_evidence: bool = False,
) -> str:
    """Return a memory's best sentences; "" if the best one is stale.

    Stale sentences are left out. rarity: weight of each query term. most: the number of sentences. as_evidence: without
    the person's questions and requests; "" where nothing else is there.
    """
    sentences = sentences_of(text)
    if not sentences:
        return cut(flatten(text), max_chars)
    if as_evidence:
        evidence = _evidence(sentences)
        if not evidence:
            return ""
        sentences = evidence
    value = values(sentences, rarity)
    order = sorted(range(len(sentences)), key=lambda place: -value[place])
    stale = {place for place in order if is_stale(sentences[place].text)}
    if order[0] in stale:
        return ""
    texts = [sentence.text for sentence in sentences]
    held = [text for place, text in enumerate(texts) if place not in stale]
    if sum(len(sentence) + 1 for sentence in held) <= max_chars:
        return " ".join(held)
    kept = [place for place in order if place not in stale][:most]
    kept = [place for place in kept if value[place] > 0.2 * value[kept[0]] or place == kept[0]]
    if len(texts[kept[0]]) > max_chars:
        return _window(texts[kept[0]], rarity, max_chars)
    chosen = [value[place] + 1e-6 if place in kept else 0.0 for place in range(len(sentences))]
    return best_sentences(texts, chosen, max_chars)


def states_something(text: str) -> bool:
    """True for a turn with more than the person's questions and requests."""
    sentences = sentences_of(text)
    return not sentences or bool(_evidence(sentences))


def _evidence(sentences: list[Sentence]) -> list[Sentence]:
    """Return the sentences that state; all where an answer is short."""
    told = [row for row in sentences if not (row.is_prompt and asks(row.text))]
    if sum(len(row.text) for row in told if not (row.text.endswith(":") or _LABEL.match(row.text))) >= SHORT_CHARS:
        return told
    return [] if all(begins(row.text) for row in told) else sentences  # "6380." needs its question


def asks(sentence: str) -> bool:
    """True for a question or request without a value: it states nothing."""
    return not _VALUE.search(sentence) and (is_question(sentence) or bool(REQUESTS.search(sentence)))


def values(sentences: Sequence[Sentence], rarity: Mapping[str, float]) -> list[float]:
    """Return the value of each sentence to the reader."""
    prompts = sum(sentence.is_prompt for sentence in sentences)
    term_sets = [frozenset(index_terms(sentence.text).split()) for sentence in sentences]
    base = 0.0 if any(terms & rarity.keys() for terms in term_sets) else NOTHING_SHARED
    return [
        _value(sentence, terms, place - prompts, rarity, base, prompts < len(sentences))
        for place, (sentence, terms) in enumerate(zip(sentences, term_sets, strict=True))
    ]


def _value(
    sentence: Sentence, terms: frozenset[str], place: int, rarity: Mapping[str, float], base: float, has_answer: bool
) -> float:
    """Return a sentence's value.

    terms: the sentence's. place: in the answer, from 0. Answers state their point early. base: of every
    sentence.
    """
    text = sentence.text
    value = base + sum(weight for term, weight in rarity.items() if term in terms)
    value += NAMES_CODE * ("`" in text) + STATES_FINDING * bool(_FINDING.match(text))
    value *= 1 - len(terms & rarity.keys()) / max(1, len(terms)) / 2  # an echo of the prompt is no news
    value /= 1 + len(text) / 400
    if is_question(text) or text.endswith(":"):
        value *= WEAK
    if len(text) < SHORT_CHARS:
        value *= 0.5
    if _LABEL.match(text) or (sentence.is_prompt and has_answer):
        value *= LABEL
    return value if sentence.is_prompt else value * (1 + 1.5 * math.exp(-max(0, place) / 4))


def _window(text: str, rarity: Mapping[str, float], max_chars: int) -> str:
    """Return the part of an endless sentence that best fits the query."""
    words = textwrap.wrap(text, WINDOW_CHARS, break_on_hyphens=False)
    many = max(1, (max_chars - 2) // (WINDOW_CHARS + 1))
    parts = [" ".join(words[at : at + many]) for at in range(max(1, len(words) - many + 1))]
    term_sets = [set(index_terms(part).split()) for part in parts]
    value = [sum(weight for term, weight in rarity.items() if term in terms) for terms in term_sets]
    best = [at for at, share in enumerate(value) if share >= max(value)]
    at = best[len(best) // 2]  # the middle of several equals
    return ELLIPSIS * bool(at) + parts[at] + ELLIPSIS * (at + many < len(words))
