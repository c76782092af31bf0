"""Precedence of entries that tell of one thing.

A newer value goes before an older one, a statement before the person's own question about it, and the lesson before the
guess: a note before the turns of its session.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice
from typing import NamedTuple, TypeVar

from memlayer.consolidation.conflict.another_value import content, gives_another_value
from memlayer.consolidation.conflict.change import is_change, replaces
from memlayer.give.candidate import Candidate, turn_of
from memlayer.give.retriever import Score
from memlayer.kinds import Category
from memlayer.model import Chunk
from memlayer.text.sentences import candidates as candidates_of
from memlayer.text.sentences import is_question
from memlayer.text.value_slots import has_value, slots
from memlayer.turns.plans import is_done, plan_of
from memlayer.turns.questions import FACT_CHARS, asks_a_fact
from memlayer.turns.turn import prompt_and_answer

MAX_SENTENCES = 12  # of an entry
SHARED = 0.5  # of a question's words, in the statement that answers it
LESSON = 0.5  # of a turn's share of a query, in the note on the same matter
FEWEST = 2  # words of a statement: one without a value needs more to be told again
MOST_GIVEN = 8  # candidates that may be given. The block has room for three
LOOKED_AT = 10  # candidates of too small a chance
SHORT_REPLY = 240  # characters of a reply that repeats a statement. A longer one tells more
REPEATED = 0.6  # of a statement's words, in a question's turn that repeats it

_NUMBERS = re.compile(r"\d{2,}")

Item = TypeVar("Item")


class DatedText(NamedTuple):
    """An entry. text: a turn's with its speakers. at_ms: Unix time."""

    text: str
    at_ms: int


@lru_cache(maxsize=2048)
def is_newer_value(newer: DatedText, older: DatedText) -> bool:
    """True if the newer entry gives one thing another value."""
    if newer.at_ms <= older.at_ms:
        return False
    before, changes = _with_values(older.text), _of_change(newer.text)
    if any(replaces(old, new) for new in changes for old in _statements(older.text)):
        return True
    return bool(before) and any(gives_another_value(old, new) for new in _with_values(newer.text) for old in before)


@lru_cache(maxsize=2048)
def answers(statement: DatedText, question: DatedText) -> bool:
    """True for a statement that a person's own question was answered with."""
    if not _is_answered_shortly(question.text) or _asks(statement.text):
        return False
    prompt, reply = prompt_and_answer(question.text)
    asked, told = content(slots(prompt)), slots(reply)
    values = frozenset[str]().union(*told.values.values(), _NUMBERS.findall(reply))
    words = asked | told.words
    for sentence in map(slots, _statements(statement.text)):
        own = content(sentence)
        if not asked & own or len(asked & own) < SHARED * len(asked):
            continue
        if any(not values.isdisjoint(of_kind) for of_kind in sentence.values.values()):
            return True
        if len(own) > FEWEST and len(words & own) >= REPEATED * len(own):
            return True
    return False


@lru_cache(maxsize=1024)
def _is_answered_shortly(text: str) -> bool:
    """True for a turn of a person's question and a short reply."""
    if len(text) > FACT_CHARS + SHORT_REPLY:
        return False
    _, reply = prompt_and_answer(text)
    return 0 < len(reply) <= SHORT_REPLY and _asks(text)


@lru_cache(maxsize=1024)
def _asks(text: str) -> bool:
    return asks_a_fact(prompt_and_answer(text)[0])


def carries_out(report: DatedText, plan: DatedText) -> bool:
    """True for a later report that a day's plan was carried out."""
    planned = plan_of(plan.text) if report.at_ms > plan.at_ms else ""
    return bool(planned) and is_done(planned, [report.text])


def goes_before(entry: DatedText, other: DatedText) -> bool:
    """True for a newer value, a question's statement, or a plan's deed."""
    return is_newer_value(entry, other) or answers(entry, other) or carries_out(entry, other)


def ordered(items: Sequence[Item], entry_of: Callable[[Item], DatedText]) -> list[Item]:
    """Return the items, each behind those that go before it."""
    left = [(item, entry_of(item)) for item in items]
    out: list[Item] = []
    while left:
        at = 0
        while (ahead := _ahead_of(left[at][1], [entry for _, entry in left[at + 1 :]])) is not None:
            at += 1 + ahead
        out.append(left.pop(at)[0])
    return out


def _ahead_of(entry: DatedText, others: Iterable[DatedText]) -> int | None:
    return next((at for at, other in enumerate(others) if goes_before(other, entry)), None)


def in_precedence(candidates: Sequence[Candidate], min_chance: float) -> list[Candidate]:
    """Return a prompt's candidates, those that may be given in their precedence.

    A candidate that goes before one that may be given has at least its chance. candidates: best first.
    """
    given = min(MOST_GIVEN, sum(candidate.chance >= min_chance for candidate in candidates))
    looked_at = list(candidates[: given + LOOKED_AT]) if given else []
    entries = [_entry_of(candidate) for candidate in looked_at]
    ahead: list[Candidate] = []
    for candidate, entry in zip(looked_at[:given], entries, strict=False):
        for other, before in zip(looked_at, entries, strict=True):
            is_near = fits(other.score, candidate.score) or (candidate.is_note and bool(other.score.lexical))
            is_other_matter = is_newer_value(before, entry) and not is_near
            if goes_before(before, entry) and not is_other_matter:
                other.chance = max(other.chance, candidate.chance)
                if is_newer_value(before, entry):
                    candidate.newer = other
                elif carries_out(before, entry):
                    candidate.deed = other
                ahead += [other] if other not in looked_at[:given] and other not in ahead else []
    first = ordered([*looked_at[:given], *ahead], _entry_of)
    return [*first, *(candidate for candidate in candidates if candidate not in first)]


def _entry_of(candidate: Candidate) -> DatedText:
    return DatedText(candidate.chunk.text, candidate.chunk.at_ms)


@lru_cache(maxsize=1024)
def _with_values(text: str) -> tuple[str, ...]:
    return tuple(sentence for sentence in _statements(text) if has_value(sentence) and slots(sentence).values)


@lru_cache(maxsize=1024)
def _of_change(text: str) -> tuple[str, ...]:
    return tuple(sentence for sentence in _statements(text) if is_change(sentence))


@lru_cache(maxsize=1024)
def _statements(text: str) -> tuple[str, ...]:
    """The first sentences of an entry without code, quotations and questions."""
    said = (row.plain for part in prompt_and_answer(text) for row in candidates_of(part, "") if not row.asks)
    told = (text for text in said if not text.rstrip().endswith(":") and not is_question(text))
    return tuple(islice(told, MAX_SENTENCES))


def under_notes(rows: Sequence[Item], found_of: Callable[[Item], tuple[Chunk, Score]]) -> list[Item]:
    """Return the rows, each turn behind the note of its session.

    rows: best first. A turn may hold the guess that the note refutes, in the very words of the question.
    """
    notes = [row for row in rows if found_of(row)[0].category is Category.CORE]
    ahead = [note_of(row, notes, found_of) for row in rows]
    places = [max(place, rows.index(note)) if note is not None else place for place, note in enumerate(ahead)]
    return [rows[place] for place in sorted(range(len(rows)), key=lambda at: (places[at], places[at] != at, at))]


def note_of(turn: Item, rows: Sequence[Item], found_of: Callable[[Item], tuple[Chunk, Score]]) -> Item | None:
    """Return the best note of a turn's session on its matter."""
    chunk, score = found_of(turn)
    if chunk.category is not Category.CONVERSATION:
        return None
    for row in rows:
        other, fit = found_of(row)
        is_beside = other.category is Category.CORE and other.session_id == chunk.session_id
        if is_beside and turn_of(other) != turn_of(chunk) and fits(fit, score):  # its own turn says more
            return row
    return None


def fits(note: Score, turn: Score) -> bool:
    """True for a hit about as near to the prompt."""
    return (note.lexical or 0.0) >= LESSON * (turn.lexical or 0.0) and note.relevance >= LESSON * turn.relevance


def found_of(candidate: Candidate) -> tuple[Chunk, Score]:
    """Return a candidate as a search found it."""
    return candidate.chunk, candidate.score


def lessons_first(candidates: Sequence[Candidate], min_chance: float) -> list[Candidate]:
    """Return a prompt's candidates, turns behind their notes.

    A note before a turn that may be given has at least its chance.
    """
    notes = [candidate for candidate in candidates if candidate.chunk.category is Category.CORE]
    for candidate in candidates if notes else ():
        if candidate.chance >= min_chance and (note := note_of(candidate, notes, found_of)) is not None:
            note.chance = max(note.chance, candidate.chance)
    return under_notes(candidates, found_of)
