"""Search on request: memories, and tool events.

Tool events are scanned, newest first: in the search index they would outweigh prompts and answers.
"""

import fnmatch
import os
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from memlayer.consolidation.conflict.later import Changes
from memlayer.give.outcomes import Matter, Outcomes, matter_of, outcome_of, told
from memlayer.give.own_statements import statements
from memlayer.give.precedence import MAX_SENTENCES, DatedText, is_newer_value, ordered, under_notes
from memlayer.give.query import Query
from memlayer.give.recall import RecallRules
from memlayer.give.retriever import Retriever, Score
from memlayer.give.snippet import snippet, states_something
from memlayer.kinds import Author, Category, Kind
from memlayer.model import Chunk, Event, Memory, Scope, citation_of, replace, turn_memory_id
from memlayer.ports import MemoryQuery, Store, memories_by_id
from memlayer.text.sentences import sentence_texts
from memlayer.text.terms import index_terms
from memlayer.text.value_slots import has_value
from memlayer.turns.matter import requests
from memlayer.turns.outcome import is_same_file
from memlayer.turns.questions import is_still_open
from memlayer.turns.turn import prompt_and_answer

MAX_SCANNED = 20_000
MIN_CHARS, MIN_KOREAN_CHARS = 3, 2  # of the longest word: shorter words are everywhere

FILTERED_CANDIDATES = 2000  # chunks of each search: those that a filter admits may rank low
MEMORIES_AT_ONCE = 100
LOOKED_AT = 20  # best hits that are compared with each other
TURNS_LOOKED_AT = 300  # newest turns, in which later words may end those of a hit
SHOWN_CHARS = 300  # of a hit: a newer value of another sentence ends nothing that is shown
# A hit shares words with the query, or is near to it in meaning. Measured on the dialogues: docs/inside/quality.md.
LEAST_WORDS = 0.2
LEAST_RELEVANCE = 0.4

_ABOUT = re.compile(r'(?<!\S)about:(?:"([^"]+)"|(\S+))')
PathOf = Callable[[Memory], str]


def find(
    store: Store,
    query: str,
    project_ids: Sequence[str] | None,
    limit: int,
    admits: Callable[[Event], bool] = lambda _: True,
) -> list[tuple[Memory, Event]]:
    """Find the newest turns with every query word in one tool event.

    Each comes with its last such event. project_ids: None for every project. admits: the events that count. Raises
    StoreError.
    """
    words = unicodedata.normalize("NFC", query).casefold().split()
    if limit < 1 or not any(len(word) >= (MIN_CHARS if word.isascii() else MIN_KOREAN_CHARS) for word in words):
        return []
    by_memory: dict[str, Event] = {}
    for project_id in [""] if project_ids is None else project_ids:
        for event in store.events(project_id=project_id, kind="tool", limit=MAX_SCANNED):
            text = unicodedata.normalize("NFC", event.text).casefold()
            if event.prompt_id and all(word in text for word in words) and admits(event):
                by_memory[turn_memory_id(event.session_id, event.prompt_id)] = event  # the last of a turn
    newest = sorted(by_memory, key=lambda memory_id: -by_memory[memory_id].at_ms)[: limit * 2]
    turns = memories_by_id(store, newest)
    return [(turns[memory_id], by_memory[memory_id]) for memory_id in newest if memory_id in turns][:limit]


@dataclass(frozen=True)
class Filters:
    """Filters of a search. Empty fields do not restrict.

    since_ms and until_ms: Unix time, until_ms excluded. file: a name, a path or a pattern of the hit's own file, or a
    name in its text. memory_ids: those alone, None for any. is_named: the query is nothing but the names of their
    things, so that each is a hit.
    """

    category: Category | None = None
    kind: str = ""
    session_id: str = ""
    file: str = ""
    since_ms: int = 0
    until_ms: int = 0
    memory_ids: frozenset[str] | None = None
    is_named: bool = False

    @property
    def is_any(self) -> bool:
        """True if anything is filtered."""
        return self != Filters()

    @property
    def reads_memory(self) -> bool:
        """True if a hit's memory decides, and not its chunk alone."""
        return bool(self.kind or self.file) or self.memory_ids is not None

    def admits_time(self, at_ms: int) -> bool:
        """True if the moment is within the span."""
        return at_ms >= self.since_ms and (not self.until_ms or at_ms < self.until_ms)

    def admits_event(self, event: Event) -> bool:
        """True for a tool event that all filters let through."""
        is_of_session = self.session_id in ("", event.session_id)
        return is_of_session and self.admits_time(event.at_ms) and self.file.casefold() in event.text.casefold()

    def admits(self, memory: Memory, path: str) -> bool:
        """True if all filters admit the memory. path: of its file."""
        if self.kind and memory.kind != self.kind:
            return False
        if self.memory_ids is not None and memory.id not in self.memory_ids:
            return False
        if not self.file or is_of_file(path, self.file) or self.file.casefold() in memory.text.casefold():
            return True
        return any(is_same_file(name, self.file) for name in memory.files)


@dataclass(frozen=True)
class Found:
    """A hit: the best chunk, its score and its memory.

    newer: the citation of a better hit that gives the same thing another value. outcome: of the matter of a turn that
    was left open or contested, with the words of both.
    """

    chunk: Chunk
    score: Score
    memory: Memory
    newer: str = ""
    outcome: tuple[Memory, Matter] | None = None

    def told(self, weight: Mapping[str, float], max_chars: int, most: int) -> str:
        """Return the outcome of its matter, else its best sentences. See snippet."""
        if self.outcome is None:
            return snippet(self.chunk.text, weight, max_chars, most=most)
        return told(self.outcome[0].text, self.outcome[1], max_chars)


class Later(NamedTuple):
    """A project's changes, and its turns by their time."""

    changes: Changes
    turns: Mapping[int, Memory]


class Counted(NamedTuple):
    """The best hits, and how many there are among the candidates."""

    best: list[Found]
    total: int


@dataclass(frozen=True)
class Search:
    """Search for a user: no gate, no guess at intent."""

    retriever: Retriever
    outcomes: Outcomes
    rules: RecallRules

    @property
    def store(self) -> Store:
        return self.retriever.store

    def find(
        self, query: Query, scope: Scope, filters: Filters, limit: int, min_score: float, path_of: PathOf
    ) -> list[Found]:
        """Return the best hits above the floor, best first. Raises StoreError."""
        return self.counted(query, scope, filters, limit, min_score, path_of).best

    def counted(
        self, query: Query, scope: Scope, filters: Filters, limit: int, min_score: float, path_of: PathOf
    ) -> Counted:
        """Return the best hits above the floor, and the number of all.

        Daily memories, which their turns and notes outrank, stand last. Raises StoreError.
        """
        found = self._found(query, scope, filters, limit, min_score, path_of)
        if filters.category or len(found.best) >= limit:
            return found
        days = replace(filters, category=Category.DAILY)
        more = self._found(query, scope, days, limit - len(found.best), min_score, path_of)
        return Counted(found.best + more.best, found.total + more.total)

    def _found(
        self, query: Query, scope: Scope, filters: Filters, limit: int, min_score: float, path_of: PathOf
    ) -> Counted:
        candidates = FILTERED_CANDIDATES if filters.is_any else max(self.rules.candidates, limit)
        extra: dict[str, str] = {"category": filters.category} if filters.category else {}
        narrowed = replace(scope, session_id=filters.session_id, extra=extra)
        ranked = [
            (chunk, score)
            for chunk, score in self.retriever.search(query, narrowed, candidates, self.rules.weights)
            if (filters.is_named or is_hit(score))
            and score.relevance >= min_score
            and filters.admits_time(chunk.at_ms)
            and (filters.kind or not (chunk.known_kind is Kind.OPEN_QUESTION and is_still_open(chunk.text)))
        ]
        ranked[:LOOKED_AT] = under_notes(ranked[:LOOKED_AT], lambda row: row)
        out: list[Found] = []
        for start in range(0, len(ranked), MEMORIES_AT_ONCE):
            part = ranked[start : start + MEMORIES_AT_ONCE]
            memories = memories_by_id(self.store, (chunk.memory_id for chunk, _ in part))
            for chunk, score in part:
                memory = memories.get(chunk.memory_id)  # None: forgotten meanwhile
                if memory is not None and filters.admits(memory, path_of(memory) if filters.file else ""):
                    out.append(Found(chunk, score, memory))
            if len(out) >= limit and not filters.reads_memory:
                return Counted(self._told(out, query)[:limit], len(out) + len(ranked[start + MEMORIES_AT_ONCE :]))
        return Counted(self._told(out, query)[:limit], len(out))

    def _told(self, hits: Sequence[Found], query: Query) -> list[Found]:
        """Return ordered hits, the best of a matter with its outcome."""
        ordered_hits = _in_order(hits, query, lru_cache(self._later))
        told_of: set[str] = set()
        for place, hit in enumerate(ordered_hits[:LOOKED_AT]):
            if hit.memory.category is not Category.CONVERSATION:
                continue
            matter = matter_of(hit.chunk, query.terms, self.retriever.terms)
            rows = self.outcomes.of(hit.memory.project_id, hit.memory.session_id)
            outcome = outcome_of(hit.chunk, rows, matter)
            if outcome is not None and outcome.id not in told_of:
                told_of.add(outcome.id)
                ordered_hits[place] = replace(hit, outcome=(outcome, matter))
        return ordered_hits

    def _later(self, project_id: str) -> Later:
        """Return the changes that the person's turns of a project tell."""
        query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=TURNS_LOOKED_AT)
        rows = self.store.memories(query) if project_id else []
        turns = {row.at_ms: row for row in rows if row.by is Author.PERSON and row.known_kind is not Kind.REWOUND}
        changes = Changes(self.retriever.terms.weights)
        for row in turns.values():
            changes.add(prompt_and_answer(row.text)[0], row.at_ms)
        return Later(changes, turns)


def _in_order(hits: Sequence[Found], query: Query, later_of: Callable[[str], Later]) -> list[Found]:
    """Return the hits, newer values before older ones, mere questions last."""
    first = ordered(hits[:LOOKED_AT], _entry_of)
    first.sort(key=lambda hit: _is_turn(hit.memory) and not states_something(hit.memory.text))
    marked: dict[str, Found] = {}
    for place, hit in enumerate(first):
        before = (one for one in first[:place] if one.memory.by is not Author.RUN)
        shown = DatedText(snippet(hit.chunk.text, dict.fromkeys(query.terms, 1.0), SHOWN_CHARS), hit.chunk.at_ms)
        newer = next((one.memory for one in before if is_newer_value(_entry_of(one), shown)), None)
        newer = newer or _end_of(hit.memory, query, later_of)
        if newer:
            marked |= {one.chunk.id: one for one in first[place:] if one.memory.id == newer.id}
        marked[hit.chunk.id] = replace(hit, newer=citation_of(newer.id)) if newer else hit
    return [*marked.values(), *hits[LOOKED_AT:]]


def _is_turn(memory: Memory) -> bool:
    return memory.category is Category.CONVERSATION


def _end_of(memory: Memory, query: Query, later_of: Callable[[str], Later]) -> Memory | None:
    """Return the turn that ends a person's words about the query."""
    if memory.by is not Author.PERSON:
        return None
    changes, turns = later_of(memory.project_id)
    prompt = prompt_and_answer(memory.text)[0]
    said = [text for text, _ in statements(prompt)]  # of the other words only a value may hold no more
    said += [text for text in sentence_texts(prompt)[:MAX_SENTENCES] if has_value(text) and not requests(text)]
    about = [text for text in said if not set(query.terms).isdisjoint(index_terms(text).split())]
    return turns.get(max((changes.ended(text, memory.text, memory.at_ms) for text in about or said), default=0))


def _entry_of(hit: Found) -> DatedText:
    return DatedText(hit.chunk.text, hit.chunk.at_ms)


def split_about(query: str) -> tuple[str, list[str]]:
    """Return a query without its `about:NAME`, and the names."""
    names = [quoted or bare for quoted, bare in _ABOUT.findall(query)]
    rest = " ".join(_ABOUT.sub(" ", query).split())
    return rest or " ".join(names), names


def is_hit(score: Score) -> bool:
    """True for a chunk near enough to show, not merely nearest."""
    return (score.lexical or 0.0) >= LEAST_WORDS or score.relevance >= LEAST_RELEVANCE


def is_of_file(path: str, wanted: str) -> bool:
    """True if `wanted` is or matches the path or its end."""
    if not path:
        return False
    wanted = os.path.normpath(os.path.expanduser(wanted))
    if os.path.isabs(wanted):
        return fnmatch.fnmatchcase(path, wanted)
    parts = path.split(os.sep)
    tail: Sequence[str] = parts[-len(wanted.split(os.sep)) :]
    return fnmatch.fnmatchcase(os.sep.join(tail), wanted)
