"""The notes that a prompt gets whole, by shared words.

A session's start lists every note by headline (give/listed_start.py). A prompt that is about a note gets its text.
"""

import math
import threading
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.statement import without_echoes
from memlayer.give.candidate import Candidate, whole_chunk
from memlayer.give.query import Query
from memlayer.give.retriever import Score, is_hangul
from memlayer.keep.indexer import TermStats
from memlayer.kinds import BINDING, KINDS, Kind, mark_of
from memlayer.model import Memory, chunk_id, team_session
from memlayer.ports import MemoryQuery, Store, notes_in_force
from memlayer.text.context_block import flatten
from memlayer.text.terms import index_terms, term_shares

# A fit is the geometric mean of the shared words' share in the note and in the prompt: a long note with one exact word
# reaches no high share of its own, a long prompt none of its.
# A note is worth its nearness in meaning, its fit in words, and the need of the prompt. Chosen on 51 later prompts of
# cli_en that a note meets and 523 that need nothing (docs/inside/quality.md). In the other language the same matter is
# less near, and few words are shared: 74 of these prompts in Korean.
WORDS, WORDS_ALONE, OTHER_LANGUAGE, LEAST = 1.5, 3.1, 0.3, 1.7
LEAST_OF_TASK = 0.2  # fit: its title says less
STEEPNESS = 4.0  # of the chance around LEAST
LOOKED_AT = 10  # notes with a reason, given or not
UNSAID = 0.25  # of the terms of a headline, which its text lacks
LEAST_INFORMATION = 12.0  # of a prompt, in nats: two rare words. Shorter ones fit whatever holds their one word
COMMON_SHARE, FEWEST_COMMON, COMMON_FACTOR = 1 / 3, 3, 0.1  # of the notes that hold a term. How it is damped
MAX_NOTES = 2000
MAX_OF_TEAM = 1  # colleagues' notes in a prompt's block: they never crowd the person's own out
SHARES_WORDS, ASKED_FOR = "the prompt is about it", "the prompt asks for open work"
# Weights hardly move while the corpus grows by a tenth: log(1.1) of 7 and more.
MAX_GROWTH, MIN_GROWTH = 0.1, 100
Near = Callable[[Sequence[str]], Mapping[str, float]]


@dataclass(frozen=True)
class Note:
    """A note in force, with its terms' weights at the load."""

    memory: Memory
    weights: Mapping[str, float]
    is_korean: bool = False

    @property
    def chunk_id(self) -> str:
        """The id of the chunk that holds all of it."""
        return chunk_id(self.memory.id, self.memory.id, 0)


@dataclass(frozen=True)
class Loaded:
    """A project's notes in memory, newest first.

    team: of colleagues. tasks: open work, which a start may have left out. common: terms that many of the notes hold.
    documents: chunks of the project when they were counted.
    """

    notes: tuple[Note, ...]
    tasks: tuple[Note, ...]
    team: tuple[Note, ...]
    common: frozenset[str]
    documents: int


@dataclass
class ProjectNotes:
    """The notes in force of the projects in use. Thread-safe."""

    store: Store
    stats: TermStats
    _known: dict[str, Loaded] = field(default_factory=dict)
    _changes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, project_id: str) -> None:
        """Forget a project's notes until they are asked for."""
        with self._lock:
            self._changes += 1
            self._known.pop(project_id, None)

    def of(self, project_id: str) -> tuple[Note, ...]:
        """Return the notes that a model wrote, without echoes. Raises StoreError."""
        return self._loaded(project_id).notes

    def _loaded(self, project_id: str) -> Loaded:
        with self._lock:
            known, changes = self._known.get(project_id), self._changes
        if known is not None and not self._is_outgrown(known):
            return known
        documents = self.stats.documents
        rows = notes_in_force(self.store, project_id, MAX_NOTES)
        tasks = [row for row in rows if row.known_kind is Kind.TASK]
        told = without_echoes([row for row in rows if row.is_note or row.known_kind in BINDING])
        rows = [row for row in told if row.is_note]
        of_team = self.store.memories(
            MemoryQuery(session_id=team_session(project_id), is_current=True, limit=MAX_NOTES)
        )
        held = Counter(term for row in rows for term in set(index_terms(texts_of(row)).split()))
        most = max(FEWEST_COMMON, COMMON_SHARE * len(rows))
        common = frozenset(term for term, count in held.items() if count > most)
        notes, open_work, team = (tuple(self._note(row, common) for row in group) for group in (rows, tasks, of_team))
        loaded = Loaded(notes, open_work, team, common, documents)
        with self._lock:
            if changes == self._changes:  # else the rows may be from before a change
                self._known[project_id] = loaded
        return loaded

    def _note(self, memory: Memory, common: Container[str]) -> Note:
        text = texts_of(memory)
        return Note(memory, self._weights(text, common), is_hangul(index_terms(text).split()))

    def _weights(self, text: str, common: Container[str], terms: Iterable[str] | None = None) -> dict[str, float]:
        """Return term -> weight: its word's information, shared by the word's terms."""
        shares = term_shares(text)
        weights = self.stats.weights(shares if terms is None else terms)
        return {
            term: weight * shares.get(term, 1.0) * (COMMON_FACTOR if term in common else 1.0)
            for term, weight in weights.items()
        }

    def _is_outgrown(self, known: Loaded) -> bool:
        growth = abs(self.stats.documents - known.documents)
        return growth > max(MIN_GROWTH, MAX_GROWTH * known.documents)

    def open_work(self, project_id: str) -> list[Candidate]:
        """Return the open tasks, newest first. Raises StoreError."""
        tasks = sorted(self._loaded(project_id).tasks, key=lambda note: -note.memory.at_ms)
        return [_told(note.memory, Score(1.0, 1.0, 1.0, None), 1.0, 1.0, ASKED_FOR) for note in tasks]

    def choose(self, query: Query, project_id: str, needed: float, near: Near) -> list[Candidate]:
        """Return the notes nearest to a prompt, best first.

        chance: 0 of one that is unsure. needed: that the prompt needs an earlier session. near: chunks' nearness to
        it. Raises StoreError.
        """
        loaded = self._loaded(project_id)
        asked = self._weights(query.text, loaded.common, query.terms)
        rows = (*loaded.notes, *loaded.tasks, *loaded.team)
        nearness, is_korean = near([row.chunk_id for row in rows]), is_hangul(query.terms)
        weighed = []
        for row in rows:
            share, meaning = fit(row.weights, asked), nearness.get(row.chunk_id)
            weighed.append(
                (needed + _worth(share, meaning, is_foreign=row.is_korean != is_korean), share, meaning, row)
            )
        weighed.sort(key=lambda one: -one[0])
        of_team = [one for one in weighed if one[-1].memory.known_kind is Kind.TEAM][MAX_OF_TEAM:]
        return [_candidate(*one) for one in [one for one in weighed if one not in of_team][:LOOKED_AT]]


def _candidate(worth: float, share: float, meaning: float | None, note: Note) -> Candidate:
    is_sure = share >= LEAST_OF_TASK if note.memory.known_kind is Kind.TASK else worth >= LEAST
    helps = 1 / (1 + math.exp(STEEPNESS * (LEAST - worth)))
    return _told(note.memory, Score(share, share, share, meaning), helps if is_sure else 0.0, helps, SHARES_WORDS)


def _worth(share: float, meaning: float | None, *, is_foreign: bool) -> float:
    words = math.sqrt(share)
    if meaning is None:
        return WORDS_ALONE * words
    return meaning + WORDS * words + OTHER_LANGUAGE * is_foreign


def _told(memory: Memory, score: Score, chance: float, helps: float, why: str) -> Candidate:
    mark = mark_of(memory.category, memory.kind) or "(%s) " % KINDS[memory.known_kind].label
    text = mark + whole_text(memory)
    return Candidate(whole_chunk(memory), score, chance=chance, helps=helps, snippet=text, why=why)


def whole_text(memory: Memory) -> str:
    """Return a note's text, behind its headline where that says more.

    A reader puts the rule into the headline, and its reasons beside it.
    """
    head = flatten(memory.headline)
    terms, said = (set(index_terms(text).split()) for text in (head, memory.text))
    return "%s. %s" % (head.rstrip("."), memory.text) if len(terms - said) > UNSAID * len(terms) else memory.text


def texts_of(memory: Memory) -> str:
    """Return the texts by which a note is found."""
    return "\n".join(filter(None, (memory.text, memory.headline, memory.error, *memory.files)))


def fit(note: Mapping[str, float], asked: Mapping[str, float]) -> float:
    """Return how well weighted terms fit, in [0, 1]."""
    shared = note.keys() & asked.keys()
    if not shared:
        return 0.0
    of_note = sum(note[term] for term in shared) / sum(note.values())
    of_prompt = sum(asked[term] for term in shared) / max(LEAST_INFORMATION, sum(asked.values()))
    return math.sqrt(of_note * of_prompt)
