"""The task that words mean. A wrong match is worse than none.

A match counts from STRICT on, with GAP to the next one. From SUGGESTED on a task is a candidate for a question.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.model import citation_of
from memlayer.tasks.keys import norm, task_key
from memlayer.tasks.states import Task
from memlayer.text.context_block import bare_id
from memlayer.text.korean import without_particles, without_past
from memlayer.text.terms import stem
from memlayer.text.word_lists import word_list, word_set

STRICT, GAP = 0.92, 0.03
SUGGESTED, MAX_SUGGESTED = 0.75, 5
MOST, MOST_WORDS = 0.8, 4  # of a title's words, and how many at least, that mean it among others
EXACT, ALIAS, SAME_WORDS, OBJECT_ONLY, CONTAINED, REST = 1.0, 0.98, 0.97, 0.92, 0.9, 0.7
_TOKEN = re.compile(r"[a-z0-9_]+(?:(?:[./#:']|-(?=\d))[a-z0-9_]+)*|[가-힣]+")  # PROJ-12 is a word, login-test two


class Match(NamedTuple):
    """A task and how surely some words mean it, in [0, 1]."""

    task: Task
    score: float


class Matched(NamedTuple):
    """The task that is meant for sure, or None.

    And the candidates, best first.
    """

    sure: Task | None
    candidates: tuple[Task, ...]


def match(words: str, tasks: Iterable[Task], *, is_open: bool | None = True) -> Matched:
    """Match words with the open, the closed or all of these tasks."""
    rows = [Match(task, score(words, task)) for task in tasks if is_open in (None, task.is_open)]
    return sure_match(sorted(rows, key=lambda row: (-row.score, row.task.id)))


def sure_match(rows: Sequence[Match]) -> Matched:
    """Take the best match if it is strict and alone.

    Rows: best first.
    """
    near = [row for row in rows if row.score >= SUGGESTED][:MAX_SUGGESTED]
    candidates = tuple(row.task for row in near)
    is_alone = len(near) == 1 or (len(near) > 1 and near[0].score - near[1].score >= GAP - 1e-9)
    return Matched(near[0].task if near and near[0].score >= STRICT and is_alone else None, candidates)


def named(words: str, task: Task) -> bool:
    """Return whether words are a task's id, citation or key."""
    name = bare_id(words)
    return name in (task.id, citation_of(task.id)) or words.strip() == task_key(task.project_id, task.title)


def called(words: str, task: Task) -> bool:
    """Return whether words are a task's name, or an earlier title."""
    return named(words, task) or norm(words) in map(norm, task.titles)


def score(words: str, task: Task) -> float:
    """Return how surely words mean a task, by its best title."""
    if named(words, task):
        return EXACT
    scores = [_title_score(words, title) * (ALIAS if title != task.title else 1.0) for title in task.titles]
    return round(max(scores), 4)


def _title_score(words: str, title: str) -> float:
    wanted, named = norm(words), norm(title)
    if wanted == named:
        return EXACT if wanted else 0.0
    terms, of_title = matter_of(words), matter_of(title)
    if not terms or not of_title:
        return 0.0
    if terms == of_title:
        return SAME_WORDS
    shared, only_said, missing = terms & of_title, terms - of_title, of_title - terms
    is_verb = only_said <= _making() and missing <= _making() and max(len(only_said), len(missing)) == 1
    if is_verb and (len(shared) > 1 or len("".join(shared)) > 3):
        return CONTAINED if only_said and missing else OBJECT_ONLY  # "written" and "fixed" may be two deeds
    if terms < of_title:
        is_most = len(terms) >= MOST_WORDS and len(terms) >= MOST * len(of_title)
        return OBJECT_ONLY if is_most else CONTAINED
    return REST * len(shared) / len(of_title | terms) if shared else 0.0


@lru_cache(maxsize=4096)
def matter_of(text: str) -> frozenset[str]:
    """Return a title's telling words in their base form."""
    tokens = _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
    return frozenset(filter(None, map(_base, tokens)))


def _base(token: str) -> str:
    if token in word_set(__package__, "filler") or token in word_set(__package__, "closing"):
        return ""
    if token.isascii():
        token = token.removesuffix("'s")
        base = stem(_irregular().get(token, token))
        return "" if base in _closing_stems() else base
    base = without_particles(token, shortest=1) if len(token) > 2 else token
    base = without_past(_without_tail(base) if base == token or len(base) > 2 else base)  # 옮기는 is no 옮
    base = _irregular().get(base, base)
    return "" if base in word_set(__package__, "closing") or base in word_set(__package__, "filler") else base


def _without_tail(word: str) -> str:
    for tail in word_list(__package__, "korean_tail"):
        if word.endswith(tail) and len(word) > len(tail):
            return word[: -len(tail)]
    return word


@cache
def _irregular() -> dict[str, str]:
    return dict((pair.split(":")[0], pair.split(":")[1]) for pair in word_list(__package__, "irregular"))


@cache
def _closing_stems() -> frozenset[str]:
    return frozenset(map(stem, word_list(__package__, "closing")))


@cache
def _making() -> frozenset[str]:
    return frozenset(stem(word) if word.isascii() else word for word in word_list(__package__, "making"))
