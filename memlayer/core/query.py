"""What a prompt asks: a long prompt, a pasted log or a stack trace is reduced to the lines that say what is wanted."""

from __future__ import annotations

import re

from memlayer.core.glossary import concepts
from memlayer.core.necessity import necessity
from memlayer.core.question import is_question
from memlayer.core.sentences import sentences
from memlayer.core.terms import query_terms

SHORT_CHARS = 600
MAX_TERMS = 32
LONG_CHARS = 160  # of a prompt whose questions are searched for one by one as well
MAX_ASKED = 2
LEAST_ASKED = 2.0  # what the words of such a question must be worth together, by their necessity
MAX_TRANSLATED = 24  # terms of the other language that full-text search looks for besides
_FENCE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_TELLING = re.compile(r"(?:Error|Exception|error:|fatal:|panic:|FAILED|Traceback|오류|에러|실패)")

Groups = tuple[tuple[str, ...], ...]  # several ways to say a thing; a way is there when all its terms are


class Query:
    """text: what is embedded. terms: what full-text search looks for, most telling first at most MAX_TERMS.

    asked: how many of the terms are the prompt's own; those behind them come from the turn before it and count half.
    other_ways: term -> how the other language says it. said_by: its words -> the terms that they are a part of saying.
    looked_for: every term that counts, theirs and translated.
    """

    __slots__ = ("asked", "looked_for", "other_ways", "said_by", "terms", "text")

    def __init__(
        self, text: str, terms: list[str], asked: int = -1, other_ways: dict[str, Groups] | None = None
    ) -> None:
        self.text = text
        self.terms = terms
        self.asked = len(terms) if asked < 0 else asked
        self.other_ways = other_ways or {}
        self.said_by: dict[str, list[str]] = {}
        for term in terms:
            for part in {part for group in self.other_ways.get(term, ()) for part in group}:
                self.said_by.setdefault(part, []).append(term)
        self.looked_for = frozenset((*terms, *self.said_by))

    @property
    def searched(self) -> list[str]:
        """The terms and their translations."""
        found = dict.fromkeys(self.terms)
        for groups in self.other_ways.values():
            for group in groups:
                if len(found) - len(self.terms) >= MAX_TRANSLATED:
                    break
                found.update(dict.fromkeys(group))
        return list(found)


def reduce_prompt(prompt: str) -> Query:
    """A short prompt is its own query. Of a longer one: its questions, first and last prose lines, and its errors."""
    text = reduced(prompt)
    return Query(text, query_terms(text)[:MAX_TERMS], other_ways=translations(text))


def questions_in(prompt: str) -> list[Query]:
    """The last MAX_ASKED questions of a long prompt, each as a query of its own; none if it is short or asks nothing
    that stands by itself. What surrounds a question blurs it: its vector is that of the whole, its words are diluted.
    """
    prompt = _FENCE.sub("\n", prompt[:20_000]).strip()
    if len(prompt) < LONG_CHARS:
        return []
    said = [prompt[start:end] for start, end in sentences(prompt)]
    asked = [one for one in said if len(one) <= LONG_CHARS * 2 and 2 * len(one) < len(prompt) and is_question(one)]
    found = []
    for one in asked[-MAX_ASKED:]:
        terms = query_terms(one)[:MAX_TERMS]
        if sum(map(necessity, terms)) >= LEAST_ASKED:
            found.append(Query(one, terms, other_ways=translations(one)))
    return found


def with_context(query: Query, before: str) -> Query:
    """The query as it is meant after `before`, the turn before it."""
    terms = list(dict.fromkeys([*query.terms, *query_terms(before)]))[:MAX_TERMS]
    ways = {**translations(before), **query.other_ways}
    return Query(before + "\n" + query.text, terms, len(query.terms), ways)


def translations(text: str) -> dict[str, Groups]:
    """Query term -> how the other language says the thing that it is part of, for Korean and English."""
    found: dict[str, Groups] = {}
    for concept in concepts(text):
        for term in concept.terms:
            found[term] = found.get(term, ()) + concept.alternatives
    return found


def reduced(prompt: str) -> str:
    """The lines of a prompt that say what it wants, at most SHORT_CHARS characters."""
    prompt = prompt.strip()
    if len(prompt) <= SHORT_CHARS:
        return prompt
    prose = [line.strip() for line in _FENCE.sub("\n", prompt[:20_000]).split("\n") if line.strip()]
    if not prose:
        prose = [line.strip() for line in prompt[:2000].split("\n") if line.strip()]
    asked = [line for line in prose if len(line) <= SHORT_CHARS and is_question(line)]
    errors = [line for line in prompt[:200_000].split("\n") if _TELLING.search(line)][-3:]
    picked: list[str] = []
    left = SHORT_CHARS
    for line in [*asked[:3], prose[0], prose[-1], *errors]:
        line = line.strip()[:300]
        if line not in picked and len(line) <= left:
            picked.append(line)
            left -= len(line)
    return "\n".join(picked)
