"""Recall, stage by stage: the memories that help, or silence."""

import time
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType

from memlayer.consolidation.conflict.later import Changes
from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import without_marks
from memlayer.give.candidate import Candidate, Reason, in_context, judge, near_duplicates, need, turn_of, whole_chunk
from memlayer.give.outcomes import (
    MATTER_CHARS,
    OF_PROMPT,
    Outcomes,
    Replacement,
    SupersededStatements,
    amends,
    as_told,
    is_decided,
    is_refuted,
    matter_of,
    outcome_of,
)
from memlayer.give.outcomes import told as told_of
from memlayer.give.precedence import fits, found_of, in_precedence, lessons_first, note_of
from memlayer.give.project_notes import ProjectNotes
from memlayer.give.query import PromptSignals, Query, asks_open_work, plan_query, prompt_signals, reduce_prompt
from memlayer.give.retriever import Retriever, Weights
from memlayer.give.snippet import snippet
from memlayer.indexing.retracted import LiveSessions, SessionWords
from memlayer.kinds import KINDS, Category, Kind, mark_of
from memlayer.model import Chunk, Scope, replace
from memlayer.ports import Vector
from memlayer.records.sessions import Session
from memlayer.text import context_block
from memlayer.text.sentences import sentence_texts
from memlayer.transcripts import host_memory
from memlayer.turns.questions import is_still_open
from memlayer.turns.remembered import is_husk
from memlayer.turns.turn import is_plan, opening_in, opening_term, prompt_and_answer

SURER = 2.0  # times min_chance for each entry after the first: on real sessions they are noise far more often

MAX_QUERY_CHARS = 100_000
NO_MARKS: Mapping[str, str] = MappingProxyType({})
LISTED = 3  # times the entries of another block, of open work that is asked for
SNIPPET_CHARS = 240  # of a turn that is its own outcome
POSSIBLE = 0.5  # of the least chance, from which a matter is looked up
SENTENCES_LOOKED_AT = 12  # of a turn that may be given, for those that hold no more
NOW_MS = 1 << 62  # of the prompt's own changes
OF_PLAN = 0.5  # need of an accepted plan
TURNS_LOOKED_AT = 12  # best hits whose matter is looked up, where one may be given


class Pipeline:
    """The stages of a prompt.

    Each returns the reason to leave a candidate out, or None.

    The first reason holds. A candidate that passes every stage has an entry. A candidate that the full block crowds out
    counts as an entry for those behind it, so that a lesser one never takes its place.
    """

    def __init__(
        self,
        superseded: SupersededStatements,
        session: Session | None,
        rules: "RecallRules",
        weight: Mapping[str, float],
        host_lines: host_memory.HostLines = (),
        withheld: Callable[[Chunk], Reason | None] = lambda chunk: None,
        changes: Changes | None = None,
    ) -> None:
        """Make the stages.

        weight: inverse document frequency of each query term. host_lines: of the host's memory, as terms.
        withheld: why a chunk is given to no prompt like this. changes: that newer candidates, or the prompt, tell.
        """
        self._changes = changes
        self._withheld = withheld
        self._superseded = superseded
        self._session = session
        self._min_chance = rules.min_chance
        self._budget = rules.budget
        self._weight = weight
        self._host_lines = host_lines
        self._turns: set[str] = set()  # with an entry
        self._kept: list[Candidate] = []
        self._has_team = False  # an entry of a colleague
        self._present: list[frozenset[str]] = []  # terms of each text in the session's context or in an entry
        self._stages = (
            self._kind_withheld, self._in_context, self._older, self._unsure, self._templated, self._under_note,
            self._same_turn,
            self._repeats, self._crowded, self._write_snippet, self._host_says,
        )  # fmt: skip

    def run(self, candidates: Sequence[Candidate], marks: Mapping[str, str] = NO_MARKS) -> str:
        """Set each candidate's reason and snippet, and return the block.

        marks: citation -> words before an entry.
        """
        own = [
            candidate.chunk
            for candidate in candidates
            if in_context(candidate.chunk, self._session) is Reason.OWN_SESSION
        ]
        self._present = [_terms(chunk.terms) for chunk in own]
        for candidate in candidates:
            chunk = candidate.chunk  # the last stage may put a successor's in its place
            reasons = (stage(candidate) for stage in self._stages)
            candidate.reason = next((reason for reason in reasons if reason), Reason.KEPT)
            if candidate.kept:
                candidate.snippet = marks.get(candidate.citation, "") + candidate.snippet
                self._turns.add(turn_of(chunk))
                self._kept.append(candidate)
                self._has_team |= chunk.known_kind is Kind.TEAM
                self._present.append(_terms(chunk.terms))
        entries = [candidate for candidate in candidates if candidate.kept]
        lines = [
            context_block.Entry(entry.citation, context_block.day_of(entry.chunk.at_ms), entry.snippet)
            for entry in entries
        ]
        is_explained = self._session is not None and self._session.explained_ms
        block = context_block.block(lines, self._budget, "" if is_explained else context_block.EXPLANATION)
        for candidate in entries[len(context_block.entry_lines(block)) :]:
            candidate.reason = Reason.CROWDED
        return block

    def _kind_withheld(self, candidate: Candidate) -> Reason | None:
        kind = candidate.chunk.known_kind
        if kind is Kind.OPEN_QUESTION and not is_still_open(candidate.chunk.text):
            return None
        return Reason(KINDS[kind].withheld) if KINDS[kind].withheld else None

    def _in_context(self, candidate: Candidate) -> Reason | None:
        return in_context(candidate.chunk, self._session)

    def _older(self, candidate: Candidate) -> Reason | None:
        deed = candidate.deed
        if deed is not None and (deed.kept or in_context(deed.chunk, self._session)):
            return Reason.DONE
        return Reason.OLDER if candidate.newer is not None else None

    def _unsure(self, candidate: Candidate) -> Reason | None:
        if candidate.is_note:
            return None if candidate.chance else Reason.UNSURE
        return Reason.UNSURE if candidate.chance < self._min_chance * (SURER if self._turns else 1) else None

    def _templated(self, candidate: Candidate) -> Reason | None:
        return self._withheld(candidate.chunk)

    def _under_note(self, candidate: Candidate) -> Reason | None:
        is_turn = candidate.chunk.category == Category.CONVERSATION
        sessions = {row.chunk.session_id for row in self._kept if row.is_note}
        if is_turn and candidate.chunk.session_id in sessions:  # it may hold the guess that the note refutes
            return Reason.LESSON
        return Reason.LESSON if note_of(candidate, self._kept, found_of) is not None else None

    def _same_turn(self, candidate: Candidate) -> Reason | None:
        is_beside = turn_of(candidate.chunk) in self._turns and not candidate.is_note
        return Reason.SAME_TURN if is_beside else None

    def _repeats(self, candidate: Candidate) -> Reason | None:
        terms = _terms(candidate.chunk.terms)
        return Reason.REPEATS if any(near_duplicates(terms, other) for other in self._present) else None

    def _crowded(self, candidate: Candidate) -> Reason | None:
        is_second_of_team = self._has_team and candidate.chunk.known_kind is Kind.TEAM
        return Reason.CROWDED if is_second_of_team or len(self._turns) >= self._budget.max_entries else None

    def _write_snippet(self, candidate: Candidate) -> Reason | None:
        """Write the snippet; a stale statement gives way to its successor."""
        chunk, max_chars = candidate.chunk, self._budget.max_entry_chars
        stale: list[Replacement] = []
        over: list[str] = []

        def is_stale(sentence: str) -> bool:
            replacement = self._superseded.of(chunk.project_id, (chunk.session_id, chunk.prompt_id), sentence)
            stale.extend([replacement] if replacement else [])
            over.extend([sentence] if replacement is None and self._is_over(chunk, sentence) else [])
            return replacement is not None or sentence in over or is_husk(sentence)

        mark = mark_of(chunk.category, chunk.role)
        if candidate.is_note:
            return Reason.SECRET if is_husk(chunk.text) else None
        if candidate.matter is not None:
            text = "\n".join(
                span for span in _sentences(chunk.text) if not (is_husk(span) or self._is_over(chunk, span))
            )
            candidate.snippet = told_of(text, candidate.matter, min(MATTER_CHARS, max_chars))
            return None if 2 * len(text) > len(chunk.text) else Reason.OLDER
        max_chars = min(SNIPPET_CHARS, max_chars)
        candidate.snippet = snippet(chunk.text, self._weight, max_chars - len(mark), is_stale, as_evidence=True)
        if candidate.snippet:
            candidate.snippet = mark + candidate.snippet
            return None
        head = next((replacement.head for replacement in stale if replacement.head is not None), None)
        if head is None:
            return Reason.TAKEN_BACK if stale else Reason.OLDER if over else Reason.ASKS
        candidate.chunk, candidate.snippet = whole_chunk(head), snippet(head.text, self._weight, max_chars)
        is_told = any(row.citation == candidate.citation for row in self._kept)
        return Reason.REPEATS if is_told else self._in_context(candidate) or self._repeats(candidate)

    def _is_over(self, chunk: Chunk, sentence: str) -> bool:
        return self._changes is not None and bool(self._changes.ended(sentence, chunk.text, chunk.at_ms))

    def _host_says(self, candidate: Candidate) -> Reason | None:
        return Reason.HOST_SAYS if host_memory.says(self._host_lines, candidate.snippet) else None


def _terms(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _sentences(text: str) -> list[str]:
    """Return the sentences of a turn's text, without its speakers."""
    return [span for part in prompt_and_answer(text) for span in sentence_texts(part)]


class Gate(Enum):
    """Why a prompt is given nothing; the value is for display."""

    OPEN = ""
    OFF = "recall is switched off"
    NOTHING_ASKED = "nothing in it to look for"
    PLAN = "an accepted plan says what it needs"
    TOO_SHORT = "too short to need an earlier session"
    OPENING = "the store was still opening"
    COMMAND = "a slash command"
    HOST = "its host takes no context at a prompt"
    TEMPLATED = "it begins like many earlier prompts, as a script sends them"
    LATE = "recall took longer than recall.deadline_ms"
    FAILED = "recall failed; logs/daemon.log says why"


@dataclass(frozen=True)
class RecallRules:
    """Settings of recall.

    min_chance: the least chance of an entry. candidates: chunks of each search.
    """

    enabled: bool = True
    budget: context_block.Budget = field(default_factory=context_block.Budget)
    min_chance: float = 0.126
    candidates: int = 30
    weights: Weights = field(default_factory=Weights)


@dataclass(frozen=True)
class Recalled:
    """The answer to a prompt.

    block: "" for silence. need: probability that the prompt needs an earlier session.
    """

    block: str
    mode: str
    gate: Gate = Gate.OPEN
    query: Query | None = None
    signals: PromptSignals | None = None
    need: float = 0.0
    candidates: tuple[Candidate, ...] = ()
    took_ms: float = 0.0
    is_first: bool = False  # prompt of its session

    @property
    def entries(self) -> tuple[Candidate, ...]:
        return tuple(candidate for candidate in self.candidates if candidate.kept)

    @property
    def ranked(self) -> tuple[Candidate, ...]:
        """Each memory once: the entries, then the likeliest.

        One is looked at twice as a note and as the outcome of turns.
        """
        left_out = sorted((row for row in self.candidates if not row.kept), key=lambda row: -row.chance)
        by_memory: dict[str, Candidate] = {}
        for row in (*self.entries, *left_out):
            by_memory.setdefault(row.chunk.memory_id, row)
        return tuple(by_memory.values())


@dataclass
class Recall:
    """The answer to a prompt, composed. Thread-safe."""

    retriever: Retriever
    live: LiveSessions
    superseded: SupersededStatements
    notes: ProjectNotes
    outcomes: Outcomes

    def refresh(self, project_id: str) -> None:
        """Take note of a project's changed memories. Raises StoreError."""
        self.superseded.refresh([project_id])
        self.notes.refresh(project_id)
        self.outcomes.refresh(project_id)

    def _mode(self) -> str:
        embedder = self.retriever.embedder()
        return "lexical" if embedder is None or embedder.problem else "hybrid"

    def answer(
        self,
        prompt: str,
        scope: Scope,
        rules: RecallRules,
        session: Session | None = None,
        host_lines: host_memory.HostLines = (),
        marks: Mapping[str, str] = NO_MARKS,
    ) -> Recalled:
        """Return the block for a prompt. Raises StoreError.

        session: the one whose context must not be repeated. host_lines: of the host's memory, which must not be either.
        marks: citation -> words before a note that the checked-out code speaks against.
        """
        started = time.perf_counter()
        # A Mac's file names are decomposed. Marks of redaction are nobody's words.
        prompt = without_marks(unicodedata.normalize("NFC", prompt[:MAX_QUERY_CHARS]))
        mode = self._mode()
        if not rules.enabled:
            return Recalled("", mode, Gate.OFF)
        if not recallable(prompt):
            return Recalled("", mode, Gate.NOTHING_ASKED)
        session_words = self.live.of(session.id, session.context_since_ms) if session is not None else SessionWords()
        if is_plan(prompt):
            of_plan = session if not session_words.prompts else None
            return self._of_plan(prompt, scope, rules, of_plan, started, marks)
        query = reduce_prompt(prompt)
        if asks_open_work(query.text) and (tasks := self._open_work(scope)):
            return self._listed(tasks, query, rules, is_first=session is not None and not session_words.prompts)
        rarity = self.retriever.rarity(query.terms, scope, query.text)
        signals = prompt_signals(prompt, query, rarity.weight, session_words)
        # A person who asks for the past may well ask in the same words each time.
        is_templated = not signals.looks_back and self.retriever.is_templated(opening_term(prompt), scope)
        vector = None if signals.is_too_short else self.retriever.vector(query)
        notes = self._notes(query, scope, need(signals), vector)
        if signals.is_too_short and not any(row.chance for row in notes):
            return Recalled("", mode, Gate.TOO_SHORT, query, signals)
        if is_templated:
            return Recalled("", mode, Gate.TEMPLATED, query, signals)
        hits = [] if signals.is_too_short else self.retriever.search(
            query, scope, rules.candidates, rules.weights, rarity, vector
        )  # fmt: skip
        judged = judge(hits, signals, rarity, session_words)
        searched = [row for row in judged if KINDS[row.chunk.known_kind].is_only_searched]
        found = [row for row in judged if row not in searched]
        changes = self._changes(prompt, found, rules.min_chance)
        found = self._as_outcomes(found, query, rules.min_chance)
        judged = lessons_first(found, rules.min_chance)
        ids = {row.chunk.memory_id for row in notes if row.chance}
        judged = [row for row in judged if row.chunk.memory_id not in ids]
        candidates = in_precedence([*(row for row in notes if row.chance), *judged], rules.min_chance)
        candidates += [*(row for row in notes if not row.chance), *searched]

        def withheld(chunk: Chunk) -> Reason | None:
            return Reason.TEMPLATED if self.retriever.is_templated(opening_in(chunk.terms), scope) else None

        shown = rarity.shown
        pipeline = Pipeline(self.superseded, session, rules, shown, host_lines, withheld, changes)
        block = pipeline.run(candidates, marks)
        took_ms = (time.perf_counter() - started) * 1000
        is_first = session is not None and not session_words.prompts
        rows = tuple(candidates)
        return Recalled(block, self._mode(), Gate.OPEN, query, signals, need(signals), rows, took_ms, is_first)

    def _changes(self, prompt: str, candidates: Sequence[Candidate], min_chance: float) -> Changes | None:
        """Return the changes of prompt and candidates, None where none is given.

        A candidate that ends a better one has its chance.
        """
        given = [row for row in candidates if row.chance >= min_chance]
        if not given:
            return None
        changes = Changes(self.retriever.terms.weights)
        changes.add(prompt, NOW_MS)
        turns = {row.chunk.at_ms: row for row in candidates if row.chunk.category == Category.CONVERSATION}
        for at_ms, row in turns.items():
            asked, answer = prompt_and_answer(row.chunk.text)
            changes.add(asked, at_ms, answer)
        for row in given:
            said = _sentences(row.chunk.text)[:SENTENCES_LOOKED_AT]
            ended = max((changes.ended(span, row.chunk.text, row.chunk.at_ms) for span in said), default=0)
            if ended in turns and fits(turns[ended].score, row.score):
                turns[ended].chance = max(turns[ended].chance, row.chance)
        return changes

    def _as_outcomes(self, candidates: list[Candidate], query: Query, min_chance: float) -> list[Candidate]:
        """Return the candidates, turns as the outcomes of their matters."""
        if not candidates or candidates[0].chance < POSSIBLE * min_chance:
            return candidates
        turns = [row for row in candidates if row.chunk.category == Category.CONVERSATION][:TURNS_LOOKED_AT]
        told: dict[str, list[Candidate]] = {}
        for row in turns:
            matter = matter_of(row.chunk, query.terms, self.retriever.terms)
            outcomes = self.outcomes.of(row.chunk.project_id, row.chunk.session_id)
            outcome = outcome_of(row.chunk, outcomes, matter)
            if outcome is None:
                row.chance = 0.0 if is_refuted(row.chunk, outcomes) else row.chance
                continue
            row.chunk, row.matter = as_told(row.chunk, outcome), matter
            first, *_ = rows = [*told.get(outcome.id, ()), row]
            told[outcome.id] = rows
            is_of_prompt = matter.share(matter.hit & matter.asked, row.chunk.terms.split()) >= OF_PROMPT
            if first is not row and is_of_prompt and is_decided(outcome):
                first.chance = 1 - (1 - first.chance) * (1 - row.chance)  # any of a matter's turns may help
        for rows in told.values():
            newer = [first for first, *_ in told.values() if amends(first.chunk, rows[0].chunk, self.retriever.terms)]
            newest = max(newer, key=lambda row: row.chunk.at_ms, default=None)
            if newest is not None:
                newest.chance = max(newest.chance, rows[0].chance)
            for row in rows:
                row.newer = newest
        return sorted(candidates, key=lambda row: -round(row.chance, 2))

    def _open_work(self, scope: Scope) -> list[Candidate]:
        return self.notes.open_work(scope.project_ids[0]) if scope.project_ids else []

    def _listed(self, tasks: list[Candidate], query: Query, rules: RecallRules, *, is_first: bool) -> Recalled:
        """Return the open work for a prompt that asks for it."""
        budget = replace(rules.budget, max_entries=LISTED * rules.budget.max_entries)
        block = Pipeline(self.superseded, None, replace(rules, budget=budget), {}).run(tasks)
        return Recalled(block, self._mode(), Gate.OPEN, query, None, 1.0, tuple(tasks), is_first=is_first)

    def _of_plan(
        self,
        prompt: str,
        scope: Scope,
        rules: RecallRules,
        session: Session | None,
        started: float,
        marks: Mapping[str, str],
    ) -> Recalled:
        """Return the notes for an accepted plan that begins a session.

        The host clears the context before it submits a plan. session: None where the plan comes later: silence.
        """
        query = plan_query(prompt)
        notes = self._notes(query, scope, OF_PLAN, self.retriever.vector(query)) if session is not None else []
        pipeline = Pipeline(self.superseded, session, rules, {})
        block = pipeline.run(notes, marks)
        if not block:
            return Recalled("", self._mode(), Gate.PLAN, query, candidates=tuple(notes))
        took_ms = (time.perf_counter() - started) * 1000
        return Recalled(block, self._mode(), Gate.OPEN, query, None, 0.0, tuple(notes), took_ms, is_first=True)

    def _notes(self, query: Query, scope: Scope, needed: float, vector: Vector | None) -> list[Candidate]:
        if not scope.project_ids:
            return []
        project_id = scope.project_ids[0]
        return self.notes.choose(
            query, project_id, needed, lambda ids: self.retriever.nearness(vector, project_id, ids)
        )
