"""The notes that a session's first prompt is given.

Newest first, lifted by the prompt's words.

The words of a first prompt point to half of what a session needs; the rest is mostly young ("review this branch").
So the rank by age counts as well (evals/notes.py).
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from memlayer.consolidation.echoes import without_echoes
from memlayer.consolidation.extractor import SESSION_READER
from memlayer.indexing.term_stats import TermStats
from memlayer.kinds import BINDING, KINDS, Category, Kind, mark_of
from memlayer.model import Chunk, Memory, team_session
from memlayer.ports import MemoryQuery, Store
from memlayer.recall.candidate import Candidate, Reason, in_context, shown_at_start, whole_chunk
from memlayer.recall.query import Query
from memlayer.recall.retriever import Score
from memlayer.records.sessions import Session
from memlayer.text import context_block
from memlayer.text.context_block import Budget

# Against a later prompt's block a first one's has twice the lines, and a quarter more room: 1,000 characters.
MAX_LINES, LINES_FACTOR, ROOM_FACTOR = 6, 2, 1.25
LEAST_LINE_CHARS = 90  # of a line's text; where this is too much the last lines go
START_AND_FIRST_CHARS, LEAST_ROOM = 2000, 0.5  # of both blocks; of a later prompt's room, what a long start leaves
MAX_TURNS = 2  # that recall is sure of, where notes leave lines
# Thirty times a note's share of words in the prompt weighs as much as e times the rank; 8, 16 and 30 gave 20, 20 and 22
# of the 24 facts that the notebook of sessions 0 to 59 of a real set held (docs/quality.md).
COVERAGE_WEIGHT = 30.0
# A note with a smaller share is given only as one of the two newest: of sessions 0 to 59 200 lines give 19 of 23 facts,
# with the newest one alone 170 lines gave 17, without the bound 297 gave 22 (docs/quality.md).
LEAST_SHARE, NEWEST_ALWAYS = 0.04, 2
# Of a later prompt in a project with notes: of some 680 such prompts of a real set 65 needed anything from before.
LATER_LINES = 2
MAX_NOTES = 2000
MAX_OF_TEAM = 2  # colleagues' notes in a first prompt's block: they never crowd the person's own out
SHARES_WORDS, NEWEST = "the first prompt shares its words", "one of the newest notes"
# Weights hardly move while the corpus grows by a tenth: log(1.1) of 7 and more.
MAX_GROWTH, MIN_GROWTH = 0.1, 100


@dataclass(frozen=True)
class Note:
    """A note in force with its terms.

    weight: of all its terms, as TermStats had it at the load.
    """

    memory: Memory
    terms: frozenset[str]
    weight: float


@dataclass(frozen=True)
class Loaded:
    """A project's notes, newest first, and the chunks then counted.

    team: of colleagues.
    """

    notes: tuple[Note, ...]
    team: tuple[Note, ...]
    documents: int


@dataclass
class ProjectNotes:
    """The notes in force of the projects in use. Thread-safe."""

    store: Store
    stats: TermStats
    moved: Callable[[str], Mapping[str, str]] = lambda project_id: {}  # a note's id -> words about its changed files
    _known: dict[str, Loaded] = field(default_factory=dict)
    _changes: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refresh(self, project_id: str) -> None:
        """Forget a project's notes until they are asked for."""
        with self._lock:
            self._changes += 1
            self._known.pop(project_id, None)

    def of(self, project_id: str) -> tuple[Note, ...]:
        """Return the project's notes that a model wrote, newest first.

        Without those that repeat an order in the person's own words. Raises StoreError.
        """
        return self._loaded(project_id).notes

    def _loaded(self, project_id: str) -> Loaded:
        with self._lock:
            known, changes = self._known.get(project_id), self._changes
        if known is not None and not self._is_outgrown(known):
            return known
        documents = self.stats.documents
        rows = self.store.memories(
            MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=MAX_NOTES)
        )
        told = without_echoes([row for row in rows if row.settled == SESSION_READER or row.known_kind in BINDING])
        notes = tuple(self._note(row) for row in told if row.settled == SESSION_READER and row.kind != Kind.TASK)
        of_team = self.store.memories(
            MemoryQuery(session_id=team_session(project_id), is_current=True, limit=MAX_NOTES)
        )
        loaded = Loaded(notes, tuple(map(self._note, of_team)), documents)
        with self._lock:
            if changes == self._changes:  # else the rows may be from before a change
                self._known[project_id] = loaded
        return loaded

    def _note(self, row: Memory) -> Note:
        terms = frozenset(whole_chunk(row).terms.split())
        return Note(row, terms, sum(self.stats.weights(terms).values()))

    def _is_outgrown(self, known: Loaded) -> bool:
        growth = abs(self.stats.documents - known.documents)
        return growth > max(MIN_GROWTH, MAX_GROWTH * known.documents)

    def choose(self, query: Query, project_id: str, session: Session | None) -> list[Candidate]:
        """Return the notes for a first prompt, best first.

        None that its context has, or that the session's start gave."""
        weight = self.stats.weights(frozenset(query.terms))
        scored: list[tuple[float, float, Note]] = []
        for rank, note in enumerate(self.of(project_id)):
            share = _share(note, weight)
            if share >= LEAST_SHARE or rank < NEWEST_ALWAYS:
                scored.append((COVERAGE_WEIGHT * share - math.log1p(rank), share, note))
        shares = [(_share(note, weight), note) for note in self._loaded(project_id).team]
        of_team = sorted((row for row in shares if row[0] >= LEAST_SHARE), key=lambda row: -row[0])[:MAX_OF_TEAM]
        scored += [(COVERAGE_WEIGHT * share - math.log1p(len(shares)), share, note) for share, note in of_team]
        chosen: list[Candidate] = []
        moved = self.moved(project_id)
        for score, share, note in sorted(scored, key=lambda row: -row[0]):
            if len(chosen) >= MAX_LINES:
                break
            chunk = whole_chunk(note.memory)
            if in_context(chunk, session) is None and not shown_at_start(note.memory.citation, session):
                label = "; ".join(filter(None, (KINDS[note.memory.known_kind].label, moved.get(note.memory.id))))
                mark = mark_of(note.memory.category, note.memory.kind) or "(%s) " % label
                text = mark + note.memory.text
                chosen.append(_candidate(chunk, Score(score, share, share, None), text))
        return chosen


def _candidate(chunk: Chunk, score: Score, text: str) -> Candidate:
    share = score.lexical or 0.0
    why = SHARES_WORDS if share >= LEAST_SHARE else NEWEST
    return Candidate(chunk, score, Reason.KEPT, share, share, None, text, why=why)


def _share(note: Note, weight: Mapping[str, float]) -> float:
    """Return a note's share of information in the prompt, in [0, 1].

    weight: of each term of the prompt.
    """
    shared = note.terms & weight.keys()
    return min(1.0, sum(weight[term] for term in shared) / note.weight) if shared else 0.0


def first_block(
    notes: Sequence[Candidate], turns: Sequence[Candidate], budget: Budget, session: Session | None
) -> tuple[list[Candidate], str]:
    """Return (notes that the block holds, the block of a first prompt).

    Notes before turns. budget: of a later prompt's block.
    """
    most = min(MAX_LINES, LINES_FACTOR * budget.max_entries)
    few = turns[: min(MAX_TURNS, budget.max_entries, max(0, most - len(notes)))]
    lines = [*notes[:most], *few]
    entries = [context_block.Entry(row.citation, context_block.day_of(row.chunk.at_ms), row.snippet) for row in lines]
    is_explained = session is not None and session.explained_ms
    explanation = "" if is_explained else context_block.EXPLANATION
    room_chars = _room(budget.max_chars, session)
    line_chars = _line_chars(entries, room_chars - len(context_block.head(explanation)))
    room = Budget(most, min(budget.max_entry_chars, line_chars), room_chars)
    block = context_block.block(entries, room, explanation)
    shown = len(context_block.entry_lines(block))
    for row in (*turns[len(few) :], *lines[shown:]):
        row.reason = Reason.CROWDED
    return [row for row in lines if row in notes], block


def _line_chars(entries: Sequence[context_block.Entry], room: int) -> int:
    """Return the longest text, in characters, that lets every line fit.

    Short lines leave their room to longer ones. room: in characters, line ends included.
    """
    texts = sorted(len(context_block.flatten(entry.text)) for entry in entries)
    left = room - sum(len(context_block.line_of(entry, 0)) + 1 for entry in entries)
    for place, chars in enumerate(texts):
        share = left // (len(texts) - place)
        if chars > share:
            return max(LEAST_LINE_CHARS, share)
        left -= chars
    return max(LEAST_LINE_CHARS, *texts) if texts else LEAST_LINE_CHARS


def later_budget(budget: Budget) -> Budget:
    """Return the budget of a later prompt in a project with notes."""
    return replace(budget, max_entries=min(LATER_LINES, budget.max_entries))


def _room(max_chars: int, session: Session | None) -> int:
    """Return the characters of a first prompt's block, which follows a start."""
    left = START_AND_FIRST_CHARS - (session.start_chars if session is not None else 0)
    return max(int(LEAST_ROOM * max_chars), min(int(ROOM_FACTOR * max_chars), left))


def without_told(candidates: Sequence[Candidate], notes: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates that no chosen note stands for."""
    ids = {note.chunk.memory_id for note in notes}
    turns = {(note.chunk.session_id, note.chunk.prompt_id) for note in notes}
    return [
        row
        for row in candidates
        if row.chunk.memory_id not in ids and (row.chunk.session_id, row.chunk.prompt_id) not in turns
    ]
