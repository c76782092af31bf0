"""The notes that a prompt gets whole, by shared words.

A session's start lists every note by headline (briefing/listed_start.py). A prompt that is about a note gets its text.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.authors import without_echoes
from memlayer.indexing.term_stats import TermStats
from memlayer.kinds import BINDING, KINDS, Category, Kind, mark_of
from memlayer.model import Memory, team_session
from memlayer.ports import MemoryQuery, Store, notes_in_force
from memlayer.recall.candidate import Candidate, Reason, in_context, whole_chunk
from memlayer.recall.query import Query
from memlayer.recall.retriever import Score
from memlayer.records.sessions import Session
from memlayer.text import context_block
from memlayer.text.context_block import Budget
from memlayer.text.terms import index_terms, term_shares

MAX_FIRST, MAX_LATER = 3, 2  # notes of a first prompt, and of a later one
# A fit is the geometric mean of the shared words' share in the note and in the prompt: a long note with one exact word
# reaches no high share of its own, a long prompt none of its.
# Of 119 lines that were judged by reading, a fit of .16 keeps six of seven useful ones at first prompts and drops 67 of
# 78 others. A rare word keeps all seven at later prompts and drops half of the others.
LEAST_FIRST, LEAST_LATER = 0.16, 0.20
LEAST_INFORMATION = 12.0  # of a prompt, in nats: two rare words. Shorter ones fit whatever holds their one word
COMMON_SHARE, FEWEST_COMMON, COMMON_FACTOR = 1 / 3, 3, 0.1  # of the notes that hold a term. How it is damped
NOTE_CHARS, LEAST_ROOM = 460, 1400  # of a note, which is not cut; of a block with notes
MAX_NOTES = 2000
MAX_OF_TEAM = 1  # colleagues' notes in a prompt's block: they never crowd the person's own out
SHARES_WORDS = "the prompt shares its words"
# Weights hardly move while the corpus grows by a tenth: log(1.1) of 7 and more.
MAX_GROWTH, MIN_GROWTH = 0.1, 100


@dataclass(frozen=True)
class Note:
    """A note in force, with its terms' weights at the load."""

    memory: Memory
    weights: Mapping[str, float]


@dataclass(frozen=True)
class Loaded:
    """A project's notes, newest first, and the chunks then counted.

    team: of colleagues. tasks: open work, which a start may have left out. common: terms that many of the notes hold.
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
        held = Counter(term for row in rows for term in set(index_terms(row.text).split()))
        most = max(FEWEST_COMMON, COMMON_SHARE * len(rows))
        common = frozenset(term for term, count in held.items() if count > most)
        notes, open_work, team = (
            tuple(Note(row, self._weights(row.text, common)) for row in group) for group in (rows, tasks, of_team)
        )
        loaded = Loaded(notes, open_work, team, common, documents)
        with self._lock:
            if changes == self._changes:  # else the rows may be from before a change
                self._known[project_id] = loaded
        return loaded

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

    def choose(
        self, query: Query, project_id: str, session: Session | None, *, rare: Collection[str] | None = None
    ) -> list[Candidate]:
        """Return the notes that fit a prompt, best first.

        None that its context has whole. rare: terms that few texts of the project hold, of which a note for a later
        prompt has one. None for a first prompt. Raises StoreError.
        """
        is_first = rare is None
        loaded = self._loaded(project_id)
        asked = self._weights(query.text, loaded.common, query.terms)
        least, most = (LEAST_FIRST, MAX_FIRST) if is_first else (LEAST_LATER, MAX_LATER)
        own = [*loaded.notes, *loaded.tasks] if rare is None else _holding(rare, loaded.notes)
        fits = [(fit(note.weights, asked), note) for note in own]
        team = loaded.team if rare is None else _holding(rare, loaded.team)
        of_team = sorted(((fit(note.weights, asked), note) for note in team), key=lambda row: -row[0])
        chosen: list[Candidate] = []
        for share, note in sorted([*fits, *of_team[:MAX_OF_TEAM]], key=lambda row: -row[0]):
            if share < least or len(chosen) >= most:
                break
            chunk = whole_chunk(note.memory)
            if in_context(chunk, session) is None:
                label = KINDS[note.memory.known_kind].label
                mark = mark_of(note.memory.category, note.memory.kind) or "(%s) " % label
                score = Score(share, share, share, None)
                text = mark + note.memory.text
                chosen.append(Candidate(chunk, score, Reason.KEPT, share, share, None, text, why=SHARES_WORDS))
        return chosen


def _holding(terms: Collection[str], notes: Sequence[Note]) -> list[Note]:
    return [note for note in notes if not note.weights.keys().isdisjoint(terms)]


def fit(note: Mapping[str, float], asked: Mapping[str, float]) -> float:
    """Return how well weighted terms fit, in [0, 1]."""
    shared = note.keys() & asked.keys()
    if not shared:
        return 0.0
    of_note = sum(note[term] for term in shared) / sum(note.values())
    of_prompt = sum(asked[term] for term in shared) / max(LEAST_INFORMATION, sum(asked.values()))
    return math.sqrt(of_note * of_prompt)


def notes_block(
    notes: Sequence[Candidate], others: Sequence[Candidate], budget: Budget, session: Session | None
) -> tuple[list[Candidate], str]:
    """Return (notes that the block holds, the block), notes first and whole.

    others: that recall is sure of. budget: of a block without notes.
    """
    few = list(others[: max(0, budget.max_entries - len(notes))])
    lines = [*notes, *few]
    entries = [context_block.Entry(row.citation, context_block.day_of(row.chunk.at_ms), row.snippet) for row in lines]
    explanation = "" if session is not None and session.explained_ms else context_block.EXPLANATION
    room = Budget(len(lines), NOTE_CHARS, max(budget.max_chars, LEAST_ROOM))
    block = context_block.block(entries, room, explanation)
    shown = len(context_block.entry_lines(block))
    for row in (*others[len(few) :], *lines[shown:]):
        row.reason = Reason.CROWDED
    return [row for row in lines if row in notes], block


def without_noted_turns(candidates: Sequence[Candidate], notes: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no chosen note stands for.

    A turn gives way to a note of its session: the note has the lesson, the turn may hold the guess that it refutes.
    """
    ids = {note.chunk.memory_id for note in notes}
    sessions = {note.chunk.session_id for note in notes}
    return [
        row
        for row in candidates
        if row.chunk.memory_id not in ids
        and not (row.chunk.category == Category.CONVERSATION and row.chunk.session_id in sessions)
    ]
