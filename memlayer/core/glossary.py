"""What a question's words are called in the other language: Korean concepts in English and English ones in Korean.

Words of two scripts never meet in an index. The glossary (`glossary_data_*`) gives, for what a text speaks of, the
index terms that the same thing has in the other language. It knows the vocabulary of software work and of what
software is about; it translates words, never sentences.

A row is `Korean forms | English forms`, forms separated by commas. Korean: nouns as they are, verbs in their
dictionary form (`바꾸다`), `샀-` for a contracted past whose verb is too short to be safe, `#초` for a unit that counts
only after digits.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from memlayer.core import (
    glossary_data_asking,
    glossary_data_building,
    glossary_data_deeds,
    glossary_data_further,
    glossary_data_life,
    glossary_data_names,
    glossary_data_operating,
    glossary_data_screens,
    glossary_data_security,
    glossary_data_subjects,
    glossary_data_talk,
    glossary_data_work,
)
from memlayer.core.glossary_conjugation import beginnings, beginnings_of_past
from memlayer.core.glossary_english import EnglishForms, spellings
from memlayer.core.glossary_korean import MAX_JOINED_RUNS, KoreanForms, Match, is_verb
from memlayer.core.stem import stem
from memlayer.core.stopwords import FUNCTION_WORDS, words
from memlayer.core.terms import index_terms, query_terms

_MAX_WORDS = 4  # of an English form
MAX_CHARS = 4000  # of a text; what is longer is no question
_SOURCES = (
    glossary_data_building.ROWS,
    glossary_data_screens.ROWS,
    glossary_data_operating.ROWS,
    glossary_data_security.ROWS,
    glossary_data_names.ROWS,
    glossary_data_work.ROWS,
    glossary_data_talk.ROWS,
    glossary_data_deeds.ROWS,
    glossary_data_subjects.ROWS,
    glossary_data_life.ROWS,
    glossary_data_asking.ROWS,
    glossary_data_further.ROWS,
)
_NOUNS_IN_DA = frozenset(words("람다 바다 판다 소다 베란다 캐나다 수다 잔다 아젠다 어젠다"))
_HANGUL_RUN = re.compile("(?:(?<![0-9A-Za-z.,])([0-9]{1,2})|([0-9]))?([가-힣]+)")
# Words of prose. What is a part of a path, of a dotted or underscored name, of an address or of a flag is a name: it
# is written the same in both languages.
_ENGLISH_WORD = re.compile(
    r"(?<![A-Za-z0-9_./\\@:$#])(?<!--)(?<!\s-)(?<!^-)"
    r"[A-Za-z][A-Za-z0-9]*(?:\+\+|#)?(?:(?=['’]s?\b)|(?![A-Za-z0-9_/\\@(=]|[.:][A-Za-z0-9_/\\]))"
)
_GAP = re.compile(r"[ \t]+|-|\s*\n\s*")


class Concept(NamedTuple):
    """terms: those of query_terms(text) that stand for it. alternatives: groups of index terms in the other language;
    a document speaks of the concept if it holds all terms of one group."""

    terms: tuple[str, ...]
    alternatives: tuple[tuple[str, ...], ...]


class Row(NamedTuple):
    """One line of the glossary."""

    korean: tuple[str, ...]
    english: tuple[str, ...]


class _Glossary(NamedTuple):
    rows: tuple[Row, ...]
    korean: KoreanForms
    english: EnglishForms


def concepts(text: str) -> list[Concept]:
    """What `text` speaks of, in its order, each concept once, as far as the glossary knows it; the longest form that
    fits is taken. Only the first MAX_CHARS characters are read. Never raises."""
    text = unicodedata.normalize("NFKC", text[:MAX_CHARS])
    asked = frozenset(query_terms(text))
    if not asked:
        return []
    found = sorted([*_korean_concepts(text, asked), *_english_concepts(text, asked)], key=lambda one: one[0])
    return list(dict.fromkeys(concept for _, concept in found))


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    """All rows of the glossary."""
    found = []
    for line in "".join(_SOURCES).split("\n"):
        if line:
            korean, _, english = line.partition(" | ")
            found.append(Row(tuple(korean.split(", ")), tuple(english.split(", "))))
    return tuple(found)


@lru_cache(maxsize=1)
def _glossary() -> _Glossary:
    every = rows()
    korean = [(number, form) for number, row in enumerate(every) for form in row.korean]
    english = [(number, form) for number, row in enumerate(every) for form in row.english]
    return _Glossary(every, KoreanForms(korean, _NOUNS_IN_DA), EnglishForms(english))


def _korean_concepts(text: str, asked: frozenset[str]) -> list[tuple[int, Concept]]:
    forms = _glossary().korean
    runs = list(_HANGUL_RUN.finditer(text))
    found: list[tuple[int, Concept]] = []
    at = 0
    while at < len(runs):
        match = runs[at]
        run = match[3]
        near = _phrase(text, runs, at)
        whole = forms.joined(near) if len(near) > 1 else None
        if whole is not None:
            terms = query_terms(text[match.start(3) : runs[at + whole.runs - 1].end()])
            found += _concept(match.start(3), terms, whole.rows, asked, english=True)
            at += whole.runs
            continue
        at += 1
        digits = match[1] or match[2]
        counted = forms.after_digits(digits, run) if digits else None
        if counted is not None:
            terms = query_terms(match[0] if counted.start < 0 else run)
            found += _concept(match.start(), terms, counted.rows, asked, english=True)
            continue
        segments = forms.segments(run)
        if segments:
            owned = _owners(run, segments)
            for segment, terms in zip(segments, owned):
                found += _concept(match.start(3) + segment.start, terms, segment.rows, asked, english=True)
    return found


def _phrase(text: str, runs: list[re.Match[str]], at: int) -> tuple[str, ...]:
    """The run and those that follow it with one blank between them, as many as a form may be spread over."""
    end = at + 1
    while end < min(len(runs), at + MAX_JOINED_RUNS) and text[runs[end - 1].end() : runs[end].start()] == " ":
        if runs[end].start() != runs[end].start(3):
            break
        end += 1
    return tuple([match[3] for match in runs[at:end]])


@lru_cache(maxsize=8192)
def _terms_of(run: str) -> tuple[str, ...]:
    return tuple(query_terms(run))


def _owners(run: str, segments: Sequence[Match]) -> list[list[str]]:
    """Terms of the run by the segment in which they begin, or end if that is a single syllable, which has no other;
    terms of its ending belong to the last."""
    owned: list[list[str]] = [[] for _ in segments]
    last = len(segments) - 1
    for term in _terms_of(run):
        at = run.find(term)
        owner = next((n for n, segment in enumerate(segments) if 0 <= at < segment.end), last)
        if owner < last and at == segments[owner].end - 1 and segments[owner + 1].end == at + 2:
            owner += 1
        owned[owner].append(term)
    return owned


def _english_concepts(text: str, asked: frozenset[str]) -> list[tuple[int, Concept]]:
    forms = _glossary().english
    found: list[tuple[int, Concept]] = []
    matches = list(_ENGLISH_WORD.finditer(text))
    stems = [stem(match[0].lower()) for match in matches]
    at = 0
    while at < len(matches):
        end = at + 1
        while end < min(len(matches), at + _MAX_WORDS):
            if not _GAP.fullmatch(text, matches[end - 1].end(), matches[end].start()):
                break
            end += 1
        numbers, length = forms.longest(stems, at, end)
        if numbers:
            terms = query_terms(text[matches[at].start() : matches[at + length - 1].end()])
            found += _concept(matches[at].start(), terms, numbers, asked, english=False)
        at += max(1, length)
    return found


def _concept(
    at: int, terms: list[str], numbers: tuple[int, ...], asked: frozenset[str], *, english: bool
) -> list[tuple[int, Concept]]:
    covered = tuple(term for term in terms if term in asked)
    alternatives = _groups(numbers, english)
    return [(at, Concept(covered, alternatives))] if covered and alternatives else []


@lru_cache(maxsize=4096)
def _groups(numbers: tuple[int, ...], english: bool) -> tuple[tuple[str, ...], ...]:
    """Groups of index terms for the rows, in English or in Korean."""
    found: dict[tuple[str, ...], None] = {}
    every = _glossary().rows
    for number in numbers:
        for form in every[number].english if english else every[number].korean:
            for group in english_groups(form) if english else korean_groups(form):
                found[group] = None
    return tuple(found)


def english_groups(form: str) -> list[tuple[str, ...]]:
    """Index terms of an English form, one group for each of its spellings. A form that loses a word to the index
    (`sign in` would be `sign`) has none: it is only recognised, not searched for. With a hyphen it is a term."""
    found: list[tuple[str, ...]] = []
    for spelling in spellings(form):
        if FUNCTION_WORDS.intersection(spelling):
            if "-" in form:
                found.append((form,))
        else:
            found.append(tuple(dict.fromkeys(index_terms(" ".join(spelling)).split())))
    return list(dict.fromkeys(found))


def korean_groups(form: str) -> list[tuple[str, ...]]:
    """Index terms of a Korean form; of a verb one group for each of its stems."""
    bare = form.lstrip("#")
    if form[-1] == "-":
        written = beginnings_of_past(form[:-1])
    else:
        written = beginnings(bare) if is_verb(form, _NOUNS_IN_DA) else (bare,)
    found = []
    for one in written:
        found.append(tuple(dict.fromkeys(term for run in one.split() for term in _plain_terms(run))))
    return list(dict.fromkeys(found))


def _plain_terms(run: str) -> list[str]:
    """Bigrams of a run without what `korean` adds for particles and contractions: the form is bare."""
    if not "가" <= run[0] <= "힣":
        return index_terms(run).split()
    return [run] if len(run) == 1 else [run[at : at + 2] for at in range(len(run) - 1)]
