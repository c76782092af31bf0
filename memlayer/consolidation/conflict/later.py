"""Later words of a person on a thing, which end older ones.

They name the end of a value ("topic 말고"), give the thing another one of its kind ("sync 는 05:10 으로"), or tell a
plan as done. Where they only speak of a change of the same matter, the older words stand with a pointer.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from memlayer.consolidation.conflict.another_value import content, differ
from memlayer.consolidation.conflict.change import (
    CHANGE,
    CHANGED,
    ENDS,
    UNDECIDED,
    ended_values,
    environments,
    is_order_of_work,
    replaces,
)
from memlayer.consolidation.rules.own_words import spoken
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.edge.capture.noise import recallable
from memlayer.text.sentences import ASSISTANT, candidates, is_question
from memlayer.text.terms import query_terms
from memlayer.text.value_slots import FIRST_PLACE, Slots, slots
from memlayer.turns.plans import carried_out

OF_MATTER = 0.4  # of an older sentence's weight, in the prompt of a change of its matter
OF_PLAN = 0.5  # of the weight of a plan, or of the report, where it tells the plan as done
FEWEST = 2  # terms in common, of a matter
MAX_SENTENCES = 12  # of a prompt
MAX_CHARS = 400  # of a sentence that is looked at
_LEFT = re.compile(
    r"\b(?:later|need to|have to|todo|waiting|not yet)\b|나중|해야|할 ?일|기다리|대기|아직", re.IGNORECASE
)
# A change without an object is one of the old value itself: it needs no word of the older sentence beside it.
_ITSELF = re.compile(
    r"(?:^|[,.;!:] |\b(?:actually|ok|okay|please|let'?s|now|we(?:'ve| have)?|i(?:'ve| have)?) )"
    r"(?:switch|mov|migrat|chang|convert|transition)\w*(?: over| away)? from $",
    re.IGNORECASE,
)
_UNTIL = re.compile(r"(?i)\b(?:until|before) ([^.,;]+)")
_KOREAN_UNTIL = re.compile(r"([^.,;]+) \S+ ?(?:전에|전까지|때까지)")
_NAME = re.compile(r"\d|[_#@./-]|(?<=\S)[A-Z]|[가-힣](?:님|씨)$")
_OF_MANY = frozenset(("weekday", "language"))  # kinds whose values many things have
_CODE = re.compile(r"`([^`\n]+)`")
_HOST = re.compile(
    r"(?<![\w@.-])(?:\d{1,3}(?:\.\d{1,3}){3}|(?:[a-z0-9-]+\.)+(?:com|net|org|io|dev|app|cloud|local|internal|lan|kr|jp|de|eu"
    r"|uk))(?![\w-]|\.\w)",
    re.IGNORECASE,
)
_HANGUL = re.compile(r"[가-힣]")

WeightsOf = Callable[[Iterable[str]], Mapping[str, float]]


@dataclass(frozen=True)
class Change:
    """A sentence of a change.

    names: in code marks, the thing's first. permits: it allows a thing again. gone: the terms of each value that it
    ends, and whether they are a name. subject: before its value. done: of a deed. terms: its own; of_prompt:
    of all that was said with it.
    """

    text: str
    names: tuple[str, ...]
    gone: tuple[tuple[frozenset[str], bool], ...]
    taken: Slots
    subject: frozenset[str]
    done: frozenset[str]
    terms: frozenset[str]
    of_prompt: frozenset[str]
    permits: bool = False

    def ends(self, text: str, turn: str, weights_of: WeightsOf) -> bool:
        """True for an older sentence that holds no more.

        turn: its text, which may name the thing.
        """
        terms = _terms(text)
        if self.permits and let_go(self.text, [text]):
            return True
        if self.terms.isdisjoint(terms):
            return self._gives_another_value(text, turn)
        if self.gone and _ended(text).issuperset(gone for gone, _ in self.gone):  # both tell the same change
            return self._gives_another_value(text, turn)
        if any(gone <= terms and (is_name or terms & self.terms - gone) for gone, is_name in self.gone):
            return True
        names = _names(text)
        if len(names) > 1 and self.names[:1] == names[:1] and set(names[1:]).isdisjoint(self.names[1:] or names):
            return True
        return replaces(text, self.text) or self._gives_another_value(text, turn) or self._carries_out(text, weights_of)

    def speaks_of(self, text: str, weights_of: WeightsOf) -> bool:
        """True for an older sentence of the same matter."""
        terms = _terms(text)
        shared = terms & self.of_prompt
        if self.permits or len(terms & self.terms) < FEWEST:  # another sentence of the prompt is of the matter
            return False
        return len(shared) >= FEWEST and _weight(shared, weights_of) >= OF_MATTER * _weight(terms, weights_of)

    def _gives_another_value(self, text: str, turn: str) -> bool:
        before, after = set(_HOST.findall(text)), set(_HOST.findall(self.text))
        is_moved = bool(before and after) and before.isdisjoint(after)
        if not is_moved and not (self.taken.values and differ(slots(text), self.taken)):
            return False
        is_of_thing = bool(self.subject) and self.subject <= _terms(text) | _terms(turn)
        return is_of_thing and environments(text) == environments(self.text)

    def _carries_out(self, text: str, weights_of: WeightsOf) -> bool:
        """True for a plan that was left, or a bound that came."""
        left, is_bound = _left(text)
        told = self.terms if is_bound else self.done
        shared = left & told
        least = OF_PLAN * min(_weight(left, weights_of), _weight(told, weights_of))
        return len(shared) >= FEWEST and _weight(shared, weights_of) >= least


@dataclass
class Changes:
    """Changes that are known, to look older sentences up."""

    weights_of: WeightsOf
    known: list[tuple[int, Change]] = field(default_factory=list)

    def add(self, prompt: str, at_ms: int, answer: str = "") -> None:
        """Add a prompt's changes, with the answer's report of them."""
        found = changes_of(prompt)
        said = [span for span in candidates(answer, ASSISTANT)[:MAX_SENTENCES] if "`" in span.text] if found else []
        reported = [change for span in said if (change := _change(span.text, found[0].of_prompt)) and change.names[1:]]
        self.known += [(at_ms, change) for change in (*found, *reported)]

    def ended(self, text: str, turn: str, at_ms: int) -> int:
        """Return when a sentence ceased to hold, 0 if it holds.

        turn: its text, which may name the thing.
        """
        text = text[:MAX_CHARS]
        later = (at for at, change in self.known if at > at_ms and change.ends(text, turn, self.weights_of))
        return max(later, default=0)

    def changed(self, text: str, at_ms: int) -> int:
        """Return when a sentence's matter last changed, 0 for never."""
        later = (at for at, change in self.known if at > at_ms and change.speaks_of(text, self.weights_of))
        return max(later, default=0)


@lru_cache(maxsize=4096)
def changes_of(prompt: str) -> tuple[Change, ...]:
    """Return the changes that a prompt tells, which a person typed."""
    if not recallable(prompt) or not (read := spoken(prompt)).is_typed:
        return ()
    of_prompt = _terms(prompt[: MAX_CHARS * 2])
    changes = (_change(one.row.text, of_prompt) for one in read.said[:MAX_SENTENCES])
    return tuple(change for change in changes if change)


def _change(text: str, of_prompt: frozenset[str]) -> Change | None:
    gone, done, permits = ended_values(text), carried_out(text), takes_back(text)
    is_change = gone or done or permits or CHANGE.search(text) or ENDS.search(text)
    if is_question(text) or UNDECIDED.search(text) or not is_change or is_order_of_work(text) > permits:
        return None
    named = [(_terms(one), _is_name(one, text)) for one in gone]
    rest = CHANGED.sub(" ", text)
    for value in gone:  # not taken: who says the new value alone agrees
        rest = rest.replace(value, " ")
    taken, ended = slots(" ".join(rest.split())), tuple(row for row in named if row[0])
    subject = _subject(text)
    return Change(text, _names(text), ended, taken, subject, _terms(done), _terms(text), of_prompt, permits)


def _subject(text: str) -> frozenset[str]:
    """Return the words before a sentence's first value, else all of them."""
    host = _HOST.search(text)
    rest = slots(CHANGED.sub(" ", text[: host.start()] if host else text)).rest
    at = next((at for at, sign in enumerate(rest) if ord(sign) >= FIRST_PLACE), len(rest))
    return content(slots(rest[:at])) or content(slots(rest))


def _is_name(value: str, text: str) -> bool:
    """True for a name, by its form, its script or its place."""
    is_foreign = value.isascii() and bool(_HANGUL.search(text))
    is_itself = bool(_ITSELF.search(text[: text.find(value)])) and _OF_MANY.isdisjoint(slots(value).values)
    return bool(_NAME.search(value)) or is_foreign or is_itself


@lru_cache(maxsize=8192)
def _terms(text: str) -> frozenset[str]:
    return frozenset(query_terms(text))


@lru_cache(maxsize=8192)
def _ended(text: str) -> frozenset[frozenset[str]]:
    return frozenset(map(_terms, ended_values(text)))


def _names(text: str) -> tuple[str, ...]:
    return tuple(_CODE.findall(text))


@lru_cache(maxsize=4096)
def _left(text: str) -> tuple[frozenset[str], bool]:
    """Return the terms of a plan or event, and whether it waits."""
    until = _UNTIL.search(text) or (_KOREAN_UNTIL.search(text) if "전" in text or "때까지" in text else None)
    if until:
        return _terms(until[1]), True
    return (_terms(text) if _LEFT.search(text) else frozenset()), False


def _weight(terms: Iterable[str], weights_of: WeightsOf) -> float:
    return sum(weights_of(terms).values())
