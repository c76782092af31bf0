"""Outcomes of matters, drawn at a session's end, told for a turn.

A hit in a turn that was left open or contested stands for its matter. Its outcome is a memory of the session, drawn
from the events of all turns of the matter, so that forgetting one of them takes it along.
"""

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from memlayer.consolidation.conflict.change import CHANGE
from memlayer.edge.capture.noise import recallable
from memlayer.edge.capture.payload import NOISE, OWN_COMMAND
from memlayer.keep import keep
from memlayer.keep.indexer import TermStats
from memlayer.keep.keep import Keep
from memlayer.kinds import KINDS, Author, Category, Ended, Kind
from memlayer.model import Chunk, Event, Memory, TurnId, event_id, replace, turn_memory_id, unix_ms
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import best_sentences, flatten
from memlayer.text.sentences import sentence_texts
from memlayer.text.terms import index_terms
from memlayer.turns.matter import AMENDS, Outcome, Said, WeightsOf, is_attempt, is_recap, outcomes, states_norm
from memlayer.turns.salience import new_memory
from memlayer.turns.turn_memory import spoken_parts

MAX_EVENTS = 20_000
MAX_KNOWN = 100_000
REPEATED = 0.6  # share of a statement's terms in a text that repeats it
MAX_OUTCOMES = 1000  # of a session
MATTER_CHARS = 900  # of an outcome in a block
# Of the weight of an older outcome, in one that says that it amends, or that speaks of a change. The terms at least.
AMENDED, CHANGED, FEWEST_AMENDED = 0.2, 0.4, 8
# Of the weight of a hit's words, and of those that prompt and hit share, in an outcome of the same matter. In cli_en
# right ones had .12 to .36 and .15 to .73, wrong ones mostly up to .10.
OF_HIT, OF_SHARED = 0.12, 0.15
AS_NEAR = 0.7  # of the prompt's words in a hit, in an outcome that is no recap: it may be a neighbour's
OF_PROMPT = 0.3  # of the words of prompt and hit, for the hits of a matter to count together
NORM_WORTH = 4.0  # of a sentence that states a rule or a value, in units of inverse document frequency


@dataclass
class Outcomes:
    """The outcomes of sessions, those of projects in use in memory."""

    store: Store
    stats: TermStats
    _known: dict[str, dict[str, list[Memory]]] = field(default_factory=dict)

    def renew(self, keep: Keep, session_id: str) -> None:
        """Draw a session's outcomes anew from its events. Raises StoreError."""
        events = self.store.events(session_id=session_id, kind=("user", "assistant"), limit=MAX_EVENTS)
        turns = self.store.memories(
            MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=MAX_EVENTS)
        )
        left = {row.prompt_id for row in turns if KINDS[row.known_kind].is_only_searched}
        made = drawn([event for event in events if event.prompt_id not in left], self.stats.weights)
        query = MemoryQuery(session_id=session_id, category=Category.DAILY, kind=Kind.OUTCOME, limit=MAX_OUTCOMES)
        stored = self.store.memories(query)
        for project_id in {row.project_id for row in keep.renew(made, stored, Ended.READ_ANEW, unix_ms())}:
            self.refresh(project_id)

    def refresh(self, project_id: str) -> None:
        """Read the outcomes of a project in use again. Raises StoreError."""
        if project_id in self._known:
            self._known[project_id] = self._read(project_id)

    def of(self, project_id: str, session_id: str) -> Sequence[Memory]:
        """Return a session's outcomes, newest first. Raises StoreError."""
        if project_id not in self._known:
            self._known[project_id] = self._read(project_id)
        return self._known[project_id].get(session_id, ())

    def _read(self, project_id: str) -> dict[str, list[Memory]]:
        query = MemoryQuery(
            project_id=project_id, category=Category.DAILY, kind=Kind.OUTCOME, is_current=True, limit=MAX_KNOWN
        )
        by_session: dict[str, list[Memory]] = {}
        for row in self.store.memories(query):
            by_session.setdefault(row.session_id, []).append(row)
        return by_session


def drawn(events: Sequence[Event], weights_of: WeightsOf) -> list[Memory]:
    """Return the outcomes of one session's events."""
    turns: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda event: event.at_ms):
        if event.prompt_id:
            turns.setdefault(event.prompt_id, []).append(event)
    said: list[Said] = []
    groups: list[list[Event]] = []
    for group in turns.values():
        prompt, answer = spoken_parts(group)
        if any(event.detail in (NOISE, OWN_COMMAND) for event in group) or not (prompt or answer):
            continue
        if not answer and said:
            said[-1] = said[-1]._replace(after=(said[-1].after + "\n" + prompt).strip())
            groups[-1].extend(group)
        elif recallable(prompt) or answer:
            said.append(Said(prompt, answer))
            groups.append(list(group))
    told = outcomes(said, weights_of)
    return [_memory(row, groups) for row in told]


def _memory(outcome: Outcome, groups: Sequence[Sequence[Event]]) -> Memory:
    first = groups[outcome.turn][0]
    told, *covers = (groups[at] for at in (outcome.turn, *outcome.covers))
    sources = dict.fromkeys(event.id for group in (told, *covers) for event in group)
    made = event_id(first.session_id, covers[0][0].prompt_id, Kind.OUTCOME)
    return new_memory(
        made, Category.DAILY, Kind.OUTCOME, outcome.text, first.at_ms, project_id=first.project_id,
        session_id=first.session_id, prompt_id=first.prompt_id, source_ids=tuple(sources),
        by=Author.PERSON if outcome.by_person else Author.MEMLAYER,
    )  # fmt: skip


@dataclass(frozen=True)
class Matter:
    """The weighted words of a prompt and of a hit."""

    asked: frozenset[str]
    hit: frozenset[str]
    weights: Mapping[str, float]

    def share(self, terms: Collection[str], of: Collection[str]) -> float:
        """Return the share of terms' weight within others, in [0, 1]."""
        whole = sum(self.weights[term] for term in terms)
        return sum(self.weights[term] for term in terms if term in of) / whole if whole else 0.0


def matter_of(chunk: Chunk, asked: Iterable[str], stats: TermStats) -> Matter:
    """Return the words of a prompt and a hit."""
    hit, prompt = frozenset(chunk.terms.split()), frozenset(asked)
    return Matter(prompt, hit, stats.weights(hit | prompt))


def as_told(chunk: Chunk, outcome: Memory) -> Chunk:
    """Return a hit with its matter's outcome, named by the telling turn."""
    return replace(
        chunk, memory_id=turn_memory_id(outcome.session_id, outcome.prompt_id), prompt_id=outcome.prompt_id,
        at_ms=outcome.at_ms, start=0, end=len(outcome.text), text=outcome.text, terms=index_terms(outcome.text),
    )  # fmt: skip


def outcome_of(chunk: Chunk, rows: Sequence[Memory], matter: Matter) -> Memory | None:
    """Return the outcome of a hit's matter, None for the turn."""
    for row in rows:
        if chunk.event_id in row.source_ids:
            terms = frozenset(index_terms(row.text).split())
            if row.by is Author.PERSON:
                return row
            is_of_hit = matter.share(matter.hit, terms) >= OF_HIT
            if is_recap(row.text):
                return row if is_of_hit or matter.share(matter.hit & matter.asked, terms) >= OF_SHARED else None
            is_near = matter.share(matter.asked, terms) >= AS_NEAR * matter.share(matter.asked, matter.hit)
            return row if is_of_hit and is_near and chunk.prompt_id != row.prompt_id else None
    return None


def is_decided(outcome: Memory) -> bool:
    """True for an outcome in the person's words, and for a recap."""
    return outcome.by is Author.PERSON or is_recap(outcome.text)


def is_refuted(chunk: Chunk, rows: Sequence[Memory]) -> bool:
    """True for a guess, or a trial, that its matter went beyond."""
    of_matter = (row for row in rows if chunk.event_id in row.source_ids and chunk.prompt_id != row.prompt_id)
    return any(is_attempt(row.text) or not is_decided(row) for row in of_matter)


def amends(newer: Chunk, older: Chunk, stats: TermStats) -> bool:
    """True for an outcome that changes an older one."""
    least = AMENDED if AMENDS.search(newer.text) else CHANGED if CHANGE.search(newer.text) else 0.0
    if newer.at_ms <= older.at_ms or not least:
        return False
    before, after = set(older.terms.split()), set(newer.terms.split())
    weights, shared = stats.weights(before), before & after
    return len(shared) >= FEWEST_AMENDED and sum(weights[term] for term in shared) >= least * sum(weights.values())


def told(text: str, matter: Matter, max_chars: int) -> str:
    """Return an outcome, or its sentences about the matter that fit."""
    if len(flatten(text)) <= max_chars:
        return text
    spans = sentence_texts(text)
    return best_sentences(spans, [_worth(span, matter) for span in spans], max_chars)


def _worth(sentence: str, matter: Matter) -> float:
    """Return a sentence's weight within the matter, and its norms', a character."""
    terms = set(index_terms(sentence).split())
    worth = sum(matter.weights[term] for term in terms & matter.weights.keys())
    return (worth + NORM_WORTH * states_norm(sentence)) / max(1, len(sentence))


# -- statements that hold no more. The turn itself stays as it was, and a search still finds it


@dataclass(frozen=True)
class Replacement:
    """A stale statement's terms and its successor, None if taken back."""

    said: frozenset[str]
    head: Memory | None

    def is_said_by(self, text: str) -> bool:
        """True for a text that repeats the statement."""
        return len(self.said.intersection(index_terms(text).split())) >= REPEATED * len(self.said)


def replacement_of(old: Memory, head: Memory) -> Replacement:
    """Return a statement's replacement. head: its chain's end, maybe stale."""
    return Replacement(frozenset(index_terms(old.text).split()), head if head.holds else None)


class SupersededStatements:
    """The superseded statements of a store by their turn. Thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._by_project: dict[str, dict[TurnId, list[Replacement]]] = {}
        self.refresh([""])

    def refresh(self, project_ids: Iterable[str]) -> None:
        """Read these projects' statements again; "" reads all. Raises StoreError."""
        for project_id in project_ids:
            by_project: dict[str, dict[TurnId, list[Replacement]]] = {project_id: {}} if project_id else {}
            every = self._store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, limit=MAX_KNOWN))
            by_id = {memory.id: memory for memory in every}
            for old in every:
                if not old.holds and old.prompt_id:
                    head = keep.head_of(old, by_id.get)
                    of_turn = by_project.setdefault(old.project_id, {}).setdefault((old.session_id, old.prompt_id), [])
                    of_turn.append(replacement_of(old, head))
            with self._lock:
                self._by_project.update(by_project)

    def of(self, project_id: str, turn: TurnId, text: str) -> Replacement | None:
        """Return the replacement of a stale statement that `text` repeats, or None."""
        with self._lock:
            known = self._by_project.get(project_id, {}).get(turn, ())
        if not known:
            return None
        repeated = [replacement for replacement in known if replacement.is_said_by(text)]
        return next(
            (replacement for replacement in repeated if replacement.head is not None), repeated[0] if repeated else None
        )
