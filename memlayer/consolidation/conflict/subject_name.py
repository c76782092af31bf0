"""The name of a statement's subject, and its comparison with another.

A statement names its subject first and gives a value then: in English before the verb, in Korean before the topic's
particle. A number, a letter or a word that differs there is another name (`worker 1`, `worker 2`), never another value.
Behind it one difference is the value. A word that differs there beside a differing number is a name again
(`kept 7 days in staging`, `kept 90 days in production`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.consolidation.conflict.features import CHANGE, MAX_CHARS, UNIT, filler_terms, normal
from memlayer.text.terms import query_terms
from memlayer.text.word_lists import word_set, words

LEAST_SHARED = 0.5  # of the longer statement's words: below it is another wording, where words that differ prove little
LONGEST_APART = 3  # words in the place of which others stand

_TOKEN = re.compile(r"[^\s,;()\"“”]*[^\s,;()\"“”.!?]|[.!?](?=\s)")
_LATIN = re.compile(r"[a-z]{2,}")
_HANGUL = re.compile("[가-힣]")
_NUMBER = re.compile(r"\d+(?:[.:]\d+)*")
# `A` names a server beside its noun; at the start of an English sentence it is an article.
_LETTER = re.compile(r"(?<![\w'-])(?:[A-Z](?= ?[가-힣])|(?:(?<=[a-z가-힣] )[A-Z]|[B-HJ-Z](?= [a-z]))(?![\w'+#]))")
_WEEKDAY = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day")


def _determiners() -> frozenset[str]:
    return word_set(__package__, "determiner")


def _prepositions() -> frozenset[str]:
    return word_set(__package__, "preposition")


def _auxiliaries() -> frozenset[str]:
    return word_set(__package__, "auxiliary")


@cache
def _function_words() -> frozenset[str]:
    return _determiners() | _prepositions()


_ENVIRONMENT = re.compile(r"(?:prod|staging|dev|qa|uat)(?![a-z])")
_TELLS = frozenset(words("says said states claims mentions"))
_OWNS = frozenset(words("owns own maintains maintain leads lead handles handle reviews"))
_TOPIC = re.compile(r"(?<=.)(?:은|는|이|가|에선|:)$")
_OBJECT = re.compile(r"(?<=.)(?:을|를)$")
_BARE = re.compile(r"[\d.]+(?:은|는|이|가|을|를|에|에서|의)?")
_COUNTED = re.compile(r"\d+(?:번|호|호기|층|단계|차|기)")  # `1번 노드에`
_PLACE = re.compile(r"(?<=.)(?:에|에서|에게|한테)$")
_MEANS = re.compile(r"(?:로|까지만?|부터|에|에서|마다)$")


class Statement(NamedTuple):
    """The words of a statement, and the span of its subject's name."""

    tokens: tuple[str, ...]
    begins: int
    ends: int

    def labels(self) -> frozenset[str]:
        """Numbers and letters within the name."""
        return frozenset(label for token in self.tokens[self.begins : self.ends] for label in _labels(token))

    def all_labels(self) -> frozenset[str]:
        return frozenset(label for token in self.tokens for label in _labels(token))

    def environments(self) -> frozenset[str]:
        return frozenset(found.group() for found in map(_ENVIRONMENT.match, self.tokens) if found)

    def terms(self) -> frozenset[str]:
        return _content(self, 0, len(self.tokens))

    def name(self) -> frozenset[str]:
        return _content(self, self.begins, self.ends)

    def names(self, start: int, end: int) -> bool:
        """True if a word from `start` to `end` belongs to the name."""
        return max(start, self.begins) < min(end, self.ends)


class Naming(NamedTuple):
    """The comparison of two subjects' names.

    reason: why two statements are about two subjects, or "". another_word: a word stands in another's place behind the
    names, so that neither repeats the other. lost, added: in other wordings, words of one name that the other statement
    lacks. attribute: behind the names they share words, so that they may speak of one attribute.
    """

    reason: str
    another_word: bool = False
    lost: bool = False
    added: bool = False
    attribute: bool = True


def compare_names(older: str, newer: str) -> Naming:
    """Compare the names of two statements' subjects. Never raises on any text."""
    old, new = _statement(older[:MAX_CHARS]), _statement(newer[:MAX_CHARS])
    mine, others = old.labels(), new.labels()
    if (mine and others and mine != others) or mine - new.all_labels() or others - old.all_labels():
        return Naming("another number or letter in its name")
    if old.environments() != new.environments():
        return Naming("another environment")
    return _compare_words(old, new)


@lru_cache(maxsize=1024)
def _statement(text: str) -> Statement:
    text = _LETTER.sub(lambda found: f"letter_{found.group().lower()}", text)
    tokens = tuple(_TOKEN.findall(normal(text)))
    if _HANGUL.search(text):
        return Statement(tokens, *_korean_name(tokens))
    return Statement(tokens, *_english_name(tokens))


def _labels(token: str) -> list[str]:
    if token.startswith("letter_"):
        return [token[: len("letter_") + 1]]
    return _NUMBER.findall(token) + _WEEKDAY.findall(token)


def _korean_name(tokens: Sequence[str]) -> tuple[int, int]:
    for at, token in enumerate(tokens):
        if _TOPIC.search(token):
            return 0, at + 1
    for at, token in enumerate(tokens):
        if _OBJECT.search(token) and not _NUMBER.search(token):  # `React Native로 앱을 만든다` names the app
            means = [before for before in range(at) if _MEANS.search(tokens[before])]
            return (means[-1] + 1 if means else 0), at + 1
    return 0, next((at + 1 for at, token in enumerate(tokens) if _PLACE.search(token)), 0)


def _english_name(tokens: Sequence[str]) -> tuple[int, int]:
    begins = 0
    for at in range(len(tokens)):
        if tokens[at].endswith(":"):
            return begins, at + 1
        if at < begins:
            continue
        if "that" in tokens[at + 1 : at + 4] and _is_verb(tokens, at):  # `we decided that worker 1 ...`
            begins = tokens.index("that", at) + 1
        elif tokens[at] in _TELLS:  # `the README says the port is 8080` names the port
            begins = at + 1
        elif _is_verb(tokens, at):
            if tokens[at] in _OWNS and not any(map(_labels, tokens[:at])) and tokens[0] not in _determiners():
                return at + 1, len(tokens)  # who owns a thing is its value
            return begins, at
    return 0, 0


def _is_verb(tokens: Sequence[str], at: int) -> bool:
    """True for an auxiliary, or a word that agrees with its noun."""
    token, before = tokens[at], tokens[at - 1] if at else ""
    if token in _auxiliaries():
        return True
    if not at or not token.isalpha() or before in _function_words() or before.endswith("'s"):
        return False
    if token.endswith("ed") or (_is_plural(token) and not _is_plural(before)):
        return True
    after = tokens[at + 1] if at + 1 < len(tokens) else ""
    follows = after in _function_words() or bool(_NUMBER.match(after))
    pronoun = before in ("we", "they", "i", "you")
    return token not in _prepositions() and (pronoun or (_is_plural(before) and follows))


def _is_plural(token: str) -> bool:
    return len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is"))


def _compare_words(old: Statement, new: Statement) -> Naming:
    """Compare the words of the names, and replaced words in equal wordings."""
    before, after = _signs(old), _signs(new)
    changes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
    same = sum(end - start for kind, start, end, _, _ in changes if kind == "equal")
    if same < LEAST_SHARED * max(len(before), len(after)):
        name, since = old.name(), new.name()
        attribute = bool(old.terms() & new.terms() - name - since)
        return Naming("", lost=not name <= new.terms(), added=not since <= old.terms(), attribute=attribute)
    qualified, differing = False, 0
    for kind, start, end, at, until in changes:
        if kind == "equal" or max(end - start, until - at) > LONGEST_APART:
            continue
        lost = _content(old, start, end) - new.terms()
        added = _content(new, at, until) - old.terms()
        if not (old.names(start, end) or new.names(at, until)):
            differing += bool(lost and added) and not _ends_korean(before, end)
        elif lost and added:
            return Naming("another name")
        else:
            qualified = qualified or bool(lost or added)
    return Naming(_another_in_part(old, new, qualified, differing), differing > 0)


def _another_in_part(old: Statement, new: Statement, qualified: bool, differing: int) -> str:
    """Why statements with similar names are about two subjects, or "".

    qualified: one name has a word more. differing: how many words behind the names stand in another's place.
    """
    numbers, others = old.all_labels(), new.all_labels()
    if qualified and (numbers != others or differing):
        return "a name with one word more"
    if numbers != others and (differing or (_has_numbered_noun(old, new) and _has_numbered_noun(new, old))):
        return "another one of its kind"
    if differing > 1 and not numbers & others:
        return "other words in several places"
    return ""


def _has_numbered_noun(old: Statement, new: Statement) -> bool:
    """True for several numbers that `other` lacks, with a noun (`room 301`)."""
    known = new.all_labels()
    fresh = [
        at for at, token in enumerate(old.tokens) if not old.names(at, at + 1) and not known.issuperset(_labels(token))
    ]
    return len(fresh) > 1 and any(_is_of_noun(old.tokens, at) for at in fresh)


def _is_of_noun(tokens: Sequence[str], at: int) -> bool:
    before, after = tokens[at - 1] if at else "", tokens[at + 1] if at + 1 < len(tokens) else ""
    if _COUNTED.fullmatch(tokens[at]):
        return bool(after) and not _NUMBER.search(after)
    plain = before.isalpha() and before not in _function_words() | _auxiliaries()
    return plain and bool(_BARE.fullmatch(tokens[at])) and not UNIT.fullmatch(after)


def _signs(statement: Statement) -> list[str]:
    """The words, with one sign for each number."""
    return [_NUMBER.sub("#", token) for token in statement.tokens]


def _content(statement: Statement, start: int, end: int) -> frozenset[str]:
    """Terms of the words from `start` to `end`, without quantities."""
    found: list[str] = []
    for at in range(start, end):
        token, before = statement.tokens[at], statement.tokens[at - 1] if at else ""
        if _NUMBER.search(token):
            found += [word for word in _LATIN.findall(token) if not UNIT.fullmatch(word)]  # `us-east-1`
        elif not (_WEEKDAY.search(token) or (_NUMBER.search(before) and UNIT.fullmatch(token))):
            found.append(token)
    return frozenset(query_terms(CHANGE.sub(" ", " ".join(found)))) - filler_terms()


def _ends_korean(tokens: Sequence[str], end: int) -> bool:
    """True for a Korean predicate, which says the same in several words."""
    return end >= len(tokens) and bool(_HANGUL.search(tokens[-1]))
