"""A checked answer becomes memories: notes, tasks, and the session's summary."""

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memlayer.consolidation.statement import statement_of
from memlayer.give.past_sessions import scripts_sessions
from memlayer.give.standing_orders import is_order
from memlayer.give.working_set import TURNS_LOOKED_AT
from memlayer.indexing.retracted import not_left
from memlayer.keep.keep import Draft, Keep
from memlayer.kinds import STORIES, UNCAPPED, Author, Category, Ended, Kind
from memlayer.model import Memory, citation_of, replace
from memlayer.notes.answer import DraftNote, DraftOrder, DraftTask, SessionAnswer
from memlayer.notes.checks import MIN_TEXT_CHARS, CheckedNote, Refusal, RefusedNote, check, check_own, checked_summary
from memlayer.notes.request import room_for
from memlayer.notes.session_turns import SessionTurn, align_in_turns
from memlayer.ports import MemoryQuery, Store, notes_in_force
from memlayer.records.sessions import Session
from memlayer.records.tombstones import summary_mark
from memlayer.tasks.book import TaskBook
from memlayer.tasks.events import CREATED, Observation, TaskEvent, task_event
from memlayer.tasks.states import OPEN, By, Status, Task
from memlayer.tasks.task_memory import memory_of
from memlayer.text.terms import index_terms, query_terms
from memlayer.topics.session_summary import add_part, summary_memory
from memlayer.turns import evidence
from memlayer.turns.evidence import from_json
from memlayer.turns.turn_memory import MAX_HEADLINE_CHARS

MAX_ROWS = 10_000
SAYS = 0.6  # share of a statement's terms in a note that says it, too
SAYS_QUOTED = 0.4  # where the note quotes that very sentence
# Part of a note's id, which stays the same when an answer is applied twice.
ORIGINS = {Author.READER: "notes-1", Author.MODEL: "notes-1 by session"}
_EXACT = re.compile(r"`[^`\n]+`|\b[A-Za-z_][\w.-]*[\d_.A-Z][\w.-]*\b|\d[\d.]*")
MAX_OWN = 2  # notes that a session's own model may write
CHANGED = "changed"  # an order that stands otherwise
RUN_CLAIMS = {True: "실행의 주장: ", False: "A run claims: "}  # of a session whose prompts nobody typed


@dataclass(frozen=True)
class ChangeToConfirm:
    """A change that only the person may make.

    A note speaks against a memory of theirs. wish: replace or drop.
    """

    memory_id: str
    by: str
    wish: str  # replace | drop


@dataclass
class Kept:
    """The effect of one answer.

    is_run: nobody typed the prompts. is_own: the session's own model wrote it. room: for new notes.
    """

    notes: list[Memory] = field(default_factory=list)
    tasks: list[Task] = field(default_factory=list)
    refused: list[RefusedNote] = field(default_factory=list)
    ended: list[Memory] = field(default_factory=list)
    questions: list[ChangeToConfirm] = field(default_factory=list)
    is_run: bool = False
    is_own: bool = False
    room: int = 0

    def take(self, kind: Kind) -> Refusal | None:
        """Take a new note's place; return the refusal where none is left."""
        if kind in UNCAPPED and not (self.is_run or self.is_own):
            return None
        self.room -= 1
        return Refusal.TOO_MANY if self.room < 0 else None


@dataclass(frozen=True)
class NoteKeeper:
    """The writer's part of reading sessions. Applying one answer twice changes nothing."""

    door: Keep
    tasks: TaskBook

    @property
    def store(self) -> Store:
        return self.door.store

    def in_force(self, project_id: str) -> list[Memory]:
        """Return the project's core memories in force, newest first, tasks left out."""
        rows = notes_in_force(self.store, project_id, MAX_ROWS) if project_id else []
        return [row for row in rows if row.kind != Kind.TASK]

    def shown(self, session: Session, unread: Sequence[SessionTurn]) -> list[Memory]:
        """Return the notes in force as the session's reader sees them.

        Without the rules' statements on unread turns, which the model reads itself and would have to spend words on
        replacing; with the notes of a model that such a statement replaced.
        """
        rows = self.in_force(session.project_id)
        ahead = {row.id for row in rows if _is_ahead(row, session, unread)}
        overtaken = self._overtaken(ahead)
        return [*(row for row in rows if row.id not in ahead), *overtaken]

    def _overtaken(self, rules: Iterable[str]) -> list[Memory]:
        """Return a model's notes that these statements replaced."""
        ids = sorted(rules)
        rows = (
            self.store.memories(MemoryQuery(superseded_by=ids, category=Category.CORE, limit=MAX_ROWS)) if ids else []
        )
        return [row for row in rows if row.is_note and row.id not in ids]

    def open_tasks(self, project_id: str) -> list[Memory]:
        """Return the memories of the project's open tasks, newest first."""
        return [memory_of(task) for task in self.tasks.open_tasks(project_id)]

    def keep(self, session: Session, turns: Sequence[SessionTurn], answer: SessionAnswer, *, summary: str = "") -> Kept:
        """Write what holds of an answer about these turns. Raises StoreError.

        summary: of the session's parts before, which the new one follows.
        """
        kept = Kept()
        with self.door.draft() as draft:
            drawn, sources = self._drawn(session, turns)
            ahead = {row.id for row in drawn if sources.issuperset(row.source_ids)}
            known = [*self.in_force(session.project_id), *self._overtaken(ahead)]
            by_citation = {row.citation: row for row in known if row.id not in ahead}
            kept.is_run = self._is_run(session)
            kept.room = 1 if kept.is_run else room_for(len(turns))
            tasks = {citation_of(task.id): task for task in self.tasks.open_tasks(session.project_id)}
            orders = () if kept.is_run else answer.orders
            states = [_state_of(row, by_citation[row.id]) for row in orders if row.id in by_citation and row.note.text]
            shown = [row.text for row in by_citation.values()]
            for note in [*answer.notes, *filter(None, states)]:
                result = check(note, turns, [row.text for row in _named(note, by_citation)], shown)
                self._keep_note(draft, kept, session, turns, result, by_citation)
            self._end_drawn(draft, kept, drawn, ahead, session.said_ms)
            if not kept.is_run:
                self._drop_all(draft, kept, turns, answer, by_citation)
                changes = [_task_of(row, tasks[row.id]) for row in orders if row.id in tasks]
                self._keep_tasks(kept, session, turns, [*answer.tasks, *changes], tasks)
            shown = [row.text for row in (*by_citation.values(), *self.open_tasks(session.project_id))]
            draft.put(*self._summary(session, turns, answer.summary, summary, shown))
        return kept

    def keep_own(
        self, session: Session, turns: Sequence[SessionTurn], seen: Mapping[str, str], note: DraftNote
    ) -> Kept:
        """Write a note of the session's own model. Raises StoreError.

        seen: prompt id -> output of the turn's tools. A note that is sent twice counts once.
        """
        kept = Kept(is_run=self._is_run(session), is_own=True)
        with self.door.draft() as draft:
            by_citation = {row.citation: row for row in self.in_force(session.project_id)}
            query = MemoryQuery(session_id=session.id, category=Category.CORE, limit=MAX_ROWS)
            written = sum(row.by is Author.MODEL and row.is_note for row in self.store.memories(query))
            kept.room = max(0, (1 if kept.is_run else MAX_OWN) - written)
            result = check_own(note, turns, seen, [row.text for row in _named(note, by_citation)])
            self._keep_note(draft, kept, session, turns, result, by_citation)
        return kept

    def _is_run(self, session: Session) -> bool:
        """Return whether no person typed a session's prompts."""
        query = MemoryQuery(project_id=session.project_id, category=Category.CONVERSATION, limit=TURNS_LOOKED_AT)
        turns = self.store.memories(query) if session.project_id and not session.is_run else []
        return session.is_run or session.id in scripts_sessions(turns)

    def _keep_note(
        self,
        draft: Draft,
        kept: Kept,
        session: Session,
        turns: Sequence[SessionTurn],
        result: CheckedNote | RefusedNote,
        by_citation: dict[str, Memory],
    ) -> None:
        if isinstance(result, RefusedNote):
            kept.refused.append(result)
            return
        note = result.draft
        named = _named(note, by_citation)
        ours = [row for row in named if not row.is_persons]
        ours = [row for row in ours if not (kept.is_run and rests_on_person(row))]
        replaced = [row for row in ours if not _lacks_story(result, row)]
        new = self._memory_of(session, turns, result, Author.MODEL if kept.is_own else Author.READER)
        new = claimed(new) if kept.is_run else new
        problem = self._problem(new, by_citation.values(), {row.id for row in replaced})
        is_applied = any(row.id == new.id for row in by_citation.values())
        adds = not ours and not (is_applied and note.replaces)
        if problem is None and (not is_applied if kept.is_own else kept.is_run or adds):
            problem = kept.take(new.known_kind)
        if problem is not None:
            kept.refused.append(RefusedNote(note, problem))
            return
        asked = [] if kept.is_run else [row for row in named if row not in ours]
        kept.questions += [ChangeToConfirm(row.id, new.id, "replace") for row in asked]
        draft.put(new)
        draft.replace(replaced, new)
        for row in replaced:
            by_citation.pop(row.citation, None)
        by_citation[new.citation] = new
        kept.notes.append(new)

    def _memory_of(self, session: Session, turns: Sequence[SessionTurn], note: CheckedNote, author: Author) -> Memory:
        prompt_ids = {row.prompt_id for row in note.evidence}
        sources = [event_id for turn in turns if turn.prompt_id in prompt_ids for event_id in turn.event_ids]
        made = statement_of(
            session.project_id, note.text, note.draft.kind, by=author,
            origin="\0".join((session.id, ORIGINS[author], note.draft.text)), session_id=session.id, source_ids=sources,
            at_ms=max(turn.at_ms for turn in turns if turn.prompt_id in prompt_ids), prompt_id=note.turn.prompt_id,
        )  # fmt: skip
        return replace(
            made, evidence=evidence.to_json(note.evidence), files=note.files, error=note.error,
            headline=note.headline, subject=note.subject,
        )  # fmt: skip

    def _problem(self, new: Memory, known: Iterable[Memory], replaced: set[str]) -> Refusal | None:
        if self.door.is_forgotten(new):
            return Refusal.FORGOTTEN
        terms = frozenset(index_terms(new.text).split())
        for row in known:
            if row.id == new.id:
                return None  # applied before
            is_folded = row.rules and not is_order(row.known_kind, row.text)
            if not is_folded and row.id not in replaced and frozenset(index_terms(row.text).split()) >= terms:
                return Refusal.REPEATED
        return None

    def _drop_all(
        self, draft: Draft, kept: Kept, turns: Sequence[SessionTurn], answer: SessionAnswer, known: Mapping[str, Memory]
    ) -> None:
        """Retire notes that hold no more, are carried out or state nothing.

        known: by citation, without those that a new note has replaced.
        """
        at_ms = turns[-1].at_ms
        for citation in answer.drop:
            self._drop(draft, kept, known.get(citation), at_ms)
        for row in answer.orders:
            if row.state == Status.DONE and align_in_turns(row.note.quote, row.note.turn, turns) is not None:
                self._drop(draft, kept, known.get(row.id), at_ms, Ended.CARRIED_OUT)
        drawn = [known[citation] for citation in answer.no_rule if citation in known]
        ended = [note.ended(Ended.READ_ANEW, at_ms) for note in drawn if note.rules and not note.pinned]
        draft.put(*ended)
        kept.ended += ended

    def _drop(self, draft: Draft, kept: Kept, memory: Memory | None, at_ms: int, because: Ended = Ended.UNTRUE) -> None:
        """Retire a note that holds no more."""
        if memory is None:
            return
        if memory.is_persons:
            is_asked = any(asked.memory_id == memory.id for asked in kept.questions)
            kept.questions += [] if is_asked else [ChangeToConfirm(memory.id, "", "drop")]
            return
        [row] = draft.get([memory.id]) or [memory]
        if not row.holds:
            return
        draft.retire(row, because, at_ms)
        kept.ended += draft.get([row.id])

    def _keep_tasks(
        self,
        kept: Kept,
        session: Session,
        turns: Sequence[SessionTurn],
        tasks: Sequence[DraftTask],
        known: Mapping[str, Task],
    ) -> None:
        """Open, change or close tasks, each on evidence."""
        told: dict[SessionTurn, list[Observation]] = {}
        for task in tasks:
            found = self._checked(kept, turns, task, known.get(task.id))
            if found is not None:
                told.setdefault(found[0], []).append(_observation(task, *found, known.get(task.id)))
        for turn, rows in told.items():
            origin = By.READER + repr([(row.wish, row.title, row.task_id) for row in rows])
            place = {"origin": origin, "session_id": session.id, "prompt_id": turn.prompt_id}
            content = TaskEvent(By.READER, tuple(rows))
            kept.tasks += self.tasks.take([task_event(content, session.project_id, turn.at_ms, **place)])

    def _checked(
        self, kept: Kept, turns: Sequence[SessionTurn], task: DraftTask, known: Task | None
    ) -> tuple[SessionTurn, evidence.Evidence] | None:
        """Return turn and words that say so; None for a refusal."""
        place = align_in_turns(task.quote, task.turn, turns)
        is_said = known is not None and (task.status not in OPEN or not task.title)  # a closed one keeps its title
        title = known.title if known is not None and is_said else task.title
        text = title if len(title) >= MIN_TEXT_CHARS else "%s: %s" % (title, task.quote)  # few syllables name a task
        note = DraftNote(Kind.COMMITMENT, text, task.quote, task.turn)
        result = check(note, turns, list(known.titles) if known is not None else [])
        if place is None or isinstance(result, RefusedNote) or task.status not in tuple(Status):
            reason = result.reason if isinstance(result, RefusedNote) else Refusal.UNKNOWN_KIND
            kept.refused.append(RefusedNote(replace(note, kind=Kind.TASK), reason))
            return None
        return place

    def _drawn(self, session: Session, turns: Sequence[SessionTurn]) -> tuple[list[Memory], frozenset[str]]:
        """Return the rules' statements on these turns, and the turns' events."""
        prompts = [turn.prompt_id for turn in turns]
        events = self.store.events(session_id=session.id, prompt_ids=prompts, limit=MAX_ROWS) if prompts else []
        sources = frozenset(event.id for event in events)  # tool calls too, which a statement of rules also rests on
        if not sources:
            return [], sources
        query = MemoryQuery(source_ids=sorted(sources), category=Category.CORE, is_current=True, limit=MAX_ROWS)
        return [row for row in self.store.memories(query) if row.rules], sources

    def _end_drawn(self, draft: Draft, kept: Kept, drawn: Sequence[Memory], ahead: Container[str], at_ms: int) -> None:
        """End the rules' statements of turns that a model has read since.

        The person's are folded under a kept note that says the same. A model's words in these turns alone (ahead) end
        with it, too, or where no note says so: one that was refused, or a promise, leaves them in force. A model's
        notes that such a statement had replaced hold again.
        """
        ended = []
        refused = [frozenset(index_terms(bad.draft.text).split()) for bad in kept.refused]
        for row in drawn:
            says = next((note for note in kept.notes if _says(note, row)), None)
            terms = frozenset(index_terms(row.text).split())
            is_lost = row.kind == Kind.COMMITMENT or any(len(terms & bad) >= SAYS * len(terms) for bad in refused)
            if not row.is_persons and row.id in ahead and (says is not None or not is_lost):
                ended.append(row.ended(Ended.READ_ANEW, at_ms))
            elif row.is_persons and says is not None and not is_order(row.known_kind, row.text):
                ended.append(row.ended(Ended.FOLDED, at_ms, says.id))
        kept.ended += ended
        back = [
            row.again()
            for row in self._overtaken(row.id for row in ended if row.ended_because is Ended.READ_ANEW)
            if row.id not in draft.memories
        ]
        draft.put(*ended, *back)

    def _summary(
        self, session: Session, turns: Sequence[SessionTurn], text: str, before: str, shown: Sequence[str]
    ) -> list[Memory]:
        """Return the model's summary, which stands in the place of the rules'."""
        text = checked_summary(text, turns, shown)
        if not text or summary_mark(session.id) in self.door.tombstones:
            return []
        events = self.store.events(session_id=session.id, project_id=session.project_id, limit=MAX_ROWS)
        events = not_left(self.store, session.id, [row for row in events if row.kind in ("user", "assistant", "tool")])
        return [replace(summary_memory(session, add_part(before, text), events), by=Author.READER)] if events else []


def rests_on_person(note: Memory) -> bool:
    """Return whether a note's quote is of a person's words."""
    return any(proof.speaker == evidence.PERSON for proof in from_json(note.evidence))


def claimed(note: Memory) -> Memory:
    """Return a note that says that nobody typed its session."""
    mark = RUN_CLAIMS[bool(re.search("[가-힣]", note.text))]
    headline = mark + note.headline if note.headline else ""
    return replace(note, text=mark + note.text, headline=headline if len(headline) <= MAX_HEADLINE_CHARS else "")


def _named(note: DraftNote, by_citation: Mapping[str, Memory]) -> list[Memory]:
    """Return the memories in force that a note replaces."""
    return [by_citation[citation] for citation in note.replaces if citation in by_citation]


def _lacks_story(note: CheckedNote, old: Memory) -> bool:
    """Return whether a note lacks most exact words of an older story.

    The older attempt or cause then stays beside it.
    """
    if not {old.kind, note.draft.kind} <= {*STORIES}:
        return False
    exact = {token.strip("`.").lower() for token in _EXACT.findall(old.text)} - {""}
    missing = {word for word in exact if word not in note.text.lower()}
    terms = frozenset(index_terms(old.text).split())
    kept = terms & frozenset(index_terms(note.text).split())
    return len(missing) > len(exact) / 2 and len(kept) < len(terms) / 2


def _says(note: Memory, statement: Memory) -> bool:
    """Return whether a note says a statement, too."""
    terms, words = (frozenset(index_terms(row.text).split()) for row in (statement, note))
    quotes, spans = from_json(note.evidence), from_json(statement.evidence)
    is_quoted = any(quote.overlaps(span) for quote in quotes for span in spans)
    return len(terms & words) >= (SAYS_QUOTED if is_quoted else SAYS) * len(terms)


def ended_row(memory: Memory, at_ms: int) -> dict[str, Any]:
    """Return an ended memory's row in the record of a reading."""
    because = memory.ended_because.value
    return {"kind": memory.kind, "text": memory.text, "by": memory.by.value, "ended_because": because, "at_ms": at_ms}


def _is_ahead(note: Memory, session: Session, unread: Sequence[SessionTurn]) -> bool:
    """Return whether a rule drew a note from unread turns."""
    if note.session_id != session.id or not note.rules:
        return False
    prompts = {row.prompt_id for row in from_json(note.evidence)} or {note.prompt_id}
    return prompts <= {turn.prompt_id for turn in unread}


def _observation(task: DraftTask, turn: SessionTurn, proof: evidence.Evidence, known: Task | None) -> Observation:
    """Return the model's word about a task, with its turn.

    Its blockers only count where the turn names them, of a person's task in the person's own words.
    """
    is_new = known is None and task.status in OPEN
    blockers = (task.blocked_by,) if task.blocked_by and task.status == Status.BLOCKED else ()
    words = turn.prompt if known is not None and By.PERSON in known.by else turn.spoken
    named = set(query_terms(task.blocked_by))
    return Observation(
        CREATED if is_new else task.status, task.title, task_id=known.id if known is not None else "",
        status=task.status, blockers=blockers, quote=task.quote, sources=turn.event_ids, files=turn.files,
        is_aligned=named.issubset(index_terms(words).split()), is_exact=proof.method is not evidence.Method.FUZZY,
    )  # fmt: skip


def _state_of(order: DraftOrder, memory: Memory) -> DraftNote | None:
    """Return the note in an order's place, None while it is open."""
    is_over = order.state in (Status.DONE, CHANGED)
    return replace(order.note, kind=memory.kind, subject=memory.subject) if is_over else None


def _task_of(order: DraftOrder, task: Task) -> DraftTask:
    """Return an order's state as that of its task.

    The text of a changed one names its blocker, if any.
    """
    is_changed = order.state == CHANGED
    status = Status.IN_PROGRESS if is_changed and task.status is Status.BLOCKED else task.status
    status = Status.DONE if order.state == Status.DONE else status
    title = order.note.text if is_changed else ""
    return DraftTask(order.id, title, status, "", order.note.quote, order.note.turn)
