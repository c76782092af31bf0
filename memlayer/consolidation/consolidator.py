"""The consolidator: daily entries and core memories, from turns or by hand."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memlayer.consolidation.conflicts import Conflicts
from memlayer.consolidation.extractor import RULES, of_taken_back, resettle, with_evidence
from memlayer.consolidation.redraw import Redraw, dropped
from memlayer.consolidation.rules.extraction import Extraction, extract
from memlayer.consolidation.statement import as_said, daily_of, found_in, statement_of, unclear_wishes
from memlayer.errors import UserError
from memlayer.keep import keep
from memlayer.keep.keep import Change, Draft, Keep, head_of
from memlayer.kinds import NOT_HELD, PERSONS, Author, Category, Ended, Kind
from memlayer.model import Event, Memory, replace, unix_ms
from memlayer.ports import MemoryQuery, Store, events_by_id, memories_by_id
from memlayer.records.sessions import Sessions
from memlayer.tasks.book import TaskBook
from memlayer.text.sentences import USER
from memlayer.text.terms import index_terms
from memlayer.turns.remembered import BY_MODEL, NO_SESSION, is_all_redacted, refuse_too_long
from memlayer.turns.salience import importance as importance_of
from memlayer.turns.turn import readable
from memlayer.turns.turn_memory import fitting, prompt_and_answers

OPEN_MS = 3_600_000  # a turn without an answer may still get one. After an hour it will not
MAY_BE_OPEN = 50  # turns looked at beyond those that are asked for: some of the newest are still open
MAX_ROWS = 100_000
ANSWER = "\nAssistant: "  # in the text of a turn
MAX_READ_CHARS = 40_000  # of a turn. Text pasted into a prompt must not hide how the answer ends

Read = tuple[Memory, Extraction]


@dataclass(frozen=True)
class _Session:
    """A session's statements, and the turns that each rests on.

    None among the turns: somebody said it elsewhere, too.
    """

    rows: tuple[Memory, ...]
    turns: dict[str, list[Memory | None]]

    def is_left(self, row: Memory) -> bool:
        turns = self.turns[row.id]
        return bool(turns) and all(turn is not None and turn.known_kind is Kind.REWOUND for turn in turns)

    def holds(self, row: Memory) -> bool:
        return any(turn is None or turn.known_kind not in NOT_HELD for turn in self.turns[row.id])


def follow_left_turns(store: Store, conflicts: Conflicts, draft: Draft, session_id: str, now_ms: int) -> list[Memory]:
    """Bring statements in step with their turns' marks, in a draft.

    A statement that rests on left turns alone ends, and the one that it had replaced holds again. Words that the person
    asked to keep, or edited since, stay. Twice is once. Return the session's turns.
    """
    turns = store.memories(MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=MAX_ROWS))
    session = _session(store, session_id, turns)
    left = {row.id: row for row in session.rows if session.is_left(row)}
    older = store.memories(MemoryQuery(superseded_by=list(left), limit=MAX_ROWS)) if left else []
    before: dict[str, str] = {}
    for row in older:
        by = head_of(left[row.superseded_by], left.get)
        if row.id not in left and row.ended_because in (Ended.REPLACED, Ended.FOLDED) and by.holds:
            before.setdefault(by.id, row.id)
            draft.put(row.again())
    draft.put(*(row.ended(Ended.TAKEN_BACK, now_ms, before.get(row.id, "")) for row in left.values() if row.holds))
    prompts = {turn.prompt_id for turn in turns if turn.known_kind is Kind.REWOUND}
    for row in session.rows:
        if row.ended_because is Ended.TAKEN_BACK and session.holds(row):
            conflicts.place_again(draft, row)
    _reword(store, draft, [row for row in session.rows if row.id not in left], prompts, now_ms)
    return turns


def _session(store: Store, session_id: str, turns: Sequence[Memory]) -> _Session:
    """Find the turns of a session's statements."""
    query = MemoryQuery(session_id=session_id, category=Category.CORE, limit=MAX_ROWS)
    rows = [row for row in store.memories(query) if row.kind != Kind.TASK and not row.pinned]
    rows = [row for row in rows if (row.rules or row.by not in PERSONS) and row.ended_because is not Ended.REWORDED]
    of_source: dict[str, Memory | None] = {source: turn for turn in turns for source in turn.source_ids}
    others = events_by_id(store, {source for row in rows for source in row.source_ids} - of_source.keys())
    for event in others.values():  # a model asked to keep them, and no turn names them
        ours = turns if event.detail == BY_MODEL and event.session_id == session_id else ()
        before = [turn for turn in ours if turn.at_ms <= event.at_ms]
        of_source[event.id] = max(before, key=lambda turn: turn.at_ms, default=None)
    return _Session(
        tuple(rows), {row.id: [of_source[name] for name in row.source_ids if name in of_source] for row in rows}
    )


def _reword(store: Store, draft: Draft, rows: Sequence[Memory], prompts: set[str], now_ms: int) -> None:
    """Give statements reworded in left prompts their wording of before."""
    worded = {row.id: row for row in rows if row.holds and row.prompt_id in prompts}
    older = store.memories(MemoryQuery(superseded_by=list(worded), limit=MAX_ROWS)) if worded else []
    for old in sorted(older, key=lambda old: old.ended_ms):
        if old.ended_because is Ended.REWORDED and old.prompt_id not in prompts:
            row = worded[old.superseded_by]
            again = replace(old.again(), id=row.id, key=row.key, citation=row.citation, source_ids=row.source_ids)
            draft.reword(row, again, now_ms)


@dataclass
class Consolidator:
    """Maker of lasting memories, for the writer.

    tasks: those that prompts name are taken in with their turns.
    """

    keep: Keep
    sessions: Sessions
    tasks: TaskBook
    now_ms: Callable[[], int] = unix_ms

    def __post_init__(self) -> None:
        self.store = self.keep.store
        self.conflicts = Conflicts(self.store)

    def settle_turns(self, limit: int) -> int:
        """Consolidate up to `limit` unread turns, newest first. Returns their number.

        Turns that are still open wait. Raises StoreError.
        """
        with self.keep.lock:
            turns = self._waiting(limit)
            if turns:
                self._settle(turns)
            return len(turns)

    def keep_new(self, turns: Sequence[Memory], texts: Mapping[str, str]) -> None:
        """Keep turns that are not stored yet, with their statements.

        Turns without an answer may still get one, and wait. texts: whole texts of turns by memory id. Raises
        StoreError.
        """
        answered = [turn for turn in turns if turn.rules != RULES and ANSWER in turn.text]
        self._settle(sorted(answered, key=lambda turn: (-turn.at_ms, turn.id)), turns, texts)

    def _settle(
        self, turns: Sequence[Memory], others: Sequence[Memory] = (), texts: Mapping[str, str] | None = None
    ) -> None:
        """Write turns with their statements, and others as they are, at once.

        The events are in the spool until then, or the turns unread: after a crash all of this is done again.
        """
        with self.keep.draft(texts) as draft:
            read_turns = self._read_all(turns)
            known = self._made_of(turns)
            self._keep_days(draft, read_turns)
            rules = [rule for turn, read in read_turns for rule in self._keep_statements(draft, turn, read, known)]
            for turn, read in read_turns:  # newest first: what they take back may be among these turns
                self._take_back(draft, turn, read)
            self.tasks.heard(turns)
            draft.put(*others, *(replace(turn, rules=RULES) for turn in turns))
        self.keep.tell(Change(turns=tuple(turns), rules=tuple(rules)))

    def remember(self, events: Sequence[Event]) -> list[Memory]:
        """Keep texts that a person asked to remember; twice is once."""
        new = map(_remembered, events)
        return [self.add_statement(row) for row in new if row.text and not self.keep.is_forgotten(row)]

    def redraw(self, again: Redraw, turns: Sequence[Memory]) -> None:
        """Draw the statements of turns that rules had read, as they were."""
        with self.keep.draft() as draft:
            read_turns = self._read_all(turns)
            self._keep_days(draft, read_turns)
            for turn, extraction in read_turns:
                for statement in extraction.statements if turn.known_kind is not Kind.REWOUND else ():
                    if "[redacted:" not in statement.text:
                        is_known = not statement.is_reversal and turn.id not in again.unread
                        again.draw(draft, found_in(turn, statement), is_known=is_known)
            draft.put(*(replace(turn, rules=RULES) for turn in turns if turn.id not in again.unread))

    def redraw_remembered(self, again: Redraw, events: Sequence[Event]) -> None:
        """Draw remembered texts as they were, then keep the rest."""
        with self.keep.draft() as draft:
            for row in map(_remembered, events):
                if row.text:
                    again.draw(draft, row)
            draft.put(*again.rest())

    def let_go(self, decisions: Mapping[str, int]) -> None:
        """End drawn statements that a person had let go."""
        with self.keep.draft() as draft:
            draft.put(*dropped(draft.get(decisions), decisions))

    def add_statement(self, new: Memory) -> Memory:
        """Merge, supersede or add one core memory; return its holder."""
        with self.keep.draft() as draft:
            made = self.store.memories(MemoryQuery(ids=[new.id]))
            if new.source_ids:
                from_sources = self.store.memories(
                    MemoryQuery(source_ids=new.source_ids, category=Category.CORE, limit=MAX_ROWS)
                )
                made += [
                    row for row in from_sources if row.text == new.text and set(new.source_ids) <= set(row.source_ids)
                ]
            return keep.head(self.store, made[0]) if made else self.conflicts.place(draft, new)

    def edit(self, memory: Memory, text: str, headline: str | None = None, subject: str | None = None) -> Memory:
        """Give a memory another text, headline or subject. Its citation stays.

        The old text is kept in its history. All are redacted. Another text has the headline that is given with it, else
        none. Raises UserError for a turn, an ended memory and an empty text.
        """
        text = text.strip()
        if memory.category == Category.CONVERSATION:
            raise UserError(f"{memory.key} is a turn and cannot be edited. `memlayer remember` the new text instead")
        if memory.known_kind is Kind.TEAM:
            raise UserError(f"{memory.key} is a colleague's note. `memlayer forget {memory.key}` removes it here")
        keep.refuse_ended(self.store, memory)
        if not text:
            raise UserError(f"The new text is empty. `memlayer forget {memory.key}` removes a memory")
        if is_all_redacted(text):
            raise UserError("All of the new text is private. Nothing is changed")
        refuse_too_long(text)
        kept = memory.headline if text == memory.text else ""
        line, group = fitting(kept if headline is None else headline, memory.subject if subject is None else subject)
        headed = replace(memory, headline=line, subject=group)
        if text == memory.text:
            self.keep.write([headed])
            return headed
        now_ms = self.now_ms()
        changed = replace(
            headed,
            text=text,
            by=Author.PERSON,
            rules=0,
            importance=max(memory.importance, importance_of(memory.category, text)),
            at_ms=now_ms if memory.category == Category.CORE else memory.at_ms,
            session_id=""
            if memory.category == Category.CORE
            else memory.session_id,  # no session's context has this text
        )
        with self.keep.draft() as draft:
            draft.reword(memory, changed, now_ms)
        return changed

    def describe(self, memory: Memory, *, kind: str, files: Sequence[str], replaced: Sequence[Memory]) -> None:
        """Give a memory its kind and files; end those it replaces."""
        with self.keep.draft() as draft:
            draft.put(replace(memory, kind=kind, files=tuple(files)))
            draft.replace((row for row in replaced if row.holds), memory)

    def retire(self, memory: Memory) -> None:
        """Recall a memory no more, without forgetting it; `restore` brings it back."""
        if memory.holds:
            with self.keep.draft() as draft:
                draft.retire(memory, Ended.LET_GO, self.now_ms())

    def adopt(self, memory: Memory) -> Memory:
        """Make a memory the person's: their words, or another's."""
        adopted = _adopted(memory)
        self.keep.write([adopted])
        return adopted

    def put_back(self, memories: Sequence[Memory]) -> None:
        """Write memories as before a change; the history keeps that."""
        texts = {row.id: row.text for row in memories}
        now = memories_by_id(self.store, texts).values()
        between = [keep.earlier_wording(row, row.text, self.now_ms()) for row in now if row.text != texts[row.id]]
        self.keep.write([*between, *memories])

    def pin(self, memory: Memory, pinned: bool) -> Memory:
        """Pin a memory, or unpin it. Raises UserError for an ended one."""
        keep.refuse_ended(self.store, memory)
        changed = replace(_adopted(memory) if pinned else memory, pinned=pinned)
        self.keep.write([changed])
        return changed

    def restore(self, memory: Memory, *, keep_both: bool = False) -> Memory:
        """Have an ended memory hold again, from now on.

        It replaces the memory in its place unless keep_both. An earlier wording becomes its memory's text again.
        Raises UserError when it holds already.
        """
        if memory.holds:
            raise UserError(f"{memory.key} is current already. {self._earlier(memory)}")
        newest = keep.head(self.store, memory)
        [by] = self.store.memories(MemoryQuery(ids=[memory.superseded_by or memory.id])) or [memory]
        if keep.is_wording_of(memory, by):
            by = self.restore(by, keep_both=keep_both) if not by.holds else by
            return self.edit(by, memory.text, memory.headline, memory.subject)
        now_ms = self.now_ms()
        back = _adopted(memory.again())
        if memory.category == Category.CORE:  # said again, now, and to no session in particular
            back = replace(back, at_ms=now_ms, session_id="")
        if keep_both or newest.id == memory.id or not newest.holds:
            self.keep.write([back])
        else:  # a pin goes over to the successor
            back = replace(back, pinned=back.pinned or newest.pinned)
            self.keep.write([back, replace(newest, pinned=False).ended(Ended.REPLACED, now_ms, back.id)])
        return back

    def _earlier(self, memory: Memory) -> str:
        """Return the way to what a memory replaced, or said before."""
        older = keep.before(self.store, memory)
        if not older:
            return "There is nothing to bring back"
        is_wording = keep.is_wording_of(older[0], memory)
        relation = "Its earlier wording is" if is_wording else "It replaced"
        how = f"`memlayer edit --restore {older[0].citation}` brings that back"
        return f"{relation} {older[0].citation}: {how}, `memlayer show --history {memory.citation}` shows all"

    def follow(self, session_id: str) -> list[Memory]:
        """End a session's statements with the turns that its conversation left.

        They hold again where it went back to them. Return the session's turns.
        """
        with self.keep.draft() as draft:
            return follow_left_turns(self.store, self.conflicts, draft, session_id, self.now_ms())

    def pinned_against(self, memory: Memory) -> list[Memory]:
        """The pinned memories of its project that say otherwise, and stay."""
        return self.conflicts.pinned_against(Draft(self.store), memory)

    def _waiting(self, limit: int) -> list[Memory]:
        turns = self.store.memories(
            MemoryQuery(category=Category.CONVERSATION, unread_by=RULES, limit=limit + MAY_BE_OPEN)
        )
        still_open = self._still_open(turns)
        return [turn for turn in turns if turn.id not in still_open][:limit]

    def _still_open(self, turns: Sequence[Memory]) -> set[str]:
        """Return the sessions' last turns that may still get an answer."""
        since_ms = self.now_ms() - OPEN_MS
        unanswered = [turn for turn in turns if ANSWER not in turn.text and turn.at_ms >= since_ms]
        sessions = {turn.session_id: self.sessions.get(turn.session_id) for turn in unanswered}
        session_ids = [name for name, session in sessions.items() if session is None or not session.ended]
        if not session_ids:
            return set()
        asked = MemoryQuery(session_id=sorted(session_ids), category=Category.CONVERSATION)
        last = {turn.session_id: turn.id for turn in reversed(self.store.memories(asked))}
        return {turn.id for turn in unanswered if last.get(turn.session_id) == turn.id}

    def _read_all(self, turns: Sequence[Memory]) -> list[Read]:
        events = events_by_id(self.store, (source for turn in turns for source in turn.source_ids))
        return [(turn, self._read(turn, [events[row] for row in turn.source_ids if row in events])) for turn in turns]

    def _read(self, turn: Memory, events: Sequence[Event]) -> Extraction:
        spoken = sorted(
            (row for row in events if row.kind in ("user", "assistant")),
            key=lambda row: (row.kind != "user", row.at_ms),
        )
        parts = prompt_and_answers(spoken)
        prompt, answers = readable(*parts, max_chars=MAX_READ_CHARS)
        if not turn.holds or self._is_run(turn) or not (prompt or answers):
            return Extraction()
        extraction = extract(*readable(*parts, max_chars=MAX_READ_CHARS, holes=True), turn.at_ms)
        if turn.known_kind in NOT_HELD:
            extraction = of_taken_back(extraction, turn.known_kind)
        return with_evidence(extraction, turn.prompt_id, prompt, "\n".join(answers))

    def _is_run(self, turn: Memory) -> bool:
        """Return whether nobody typed a turn."""
        session = self.sessions.get(turn.session_id)
        return turn.by is Author.RUN or (session is not None and session.is_run)  # an older version's turn

    def _made_of(self, turns: Sequence[Memory]) -> list[Memory]:
        """Core memories with a source in these turns, ended ones too."""
        sources = sorted({source for turn in turns for source in turn.source_ids})
        return (
            self.store.memories(MemoryQuery(source_ids=sources, category=Category.CORE, limit=MAX_ROWS))
            if sources
            else []
        )

    def _held_before(self, retired: Sequence[Memory]) -> list[Memory]:
        """Memories that the retired ones had replaced: they hold again."""
        by_id = {row.id: row for row in retired}
        older = self.store.memories(MemoryQuery(superseded_by=list(by_id), limit=MAX_ROWS)) if by_id else []
        return [
            row.again()
            for row in older
            if row.id not in by_id and not keep.is_wording_of(row, by_id[row.superseded_by])
        ]

    def _keep_days(self, draft: Draft, read_turns: Sequence[Read]) -> None:
        days = [day for turn, extraction in read_turns if (day := daily_of(turn, extraction.daily)) is not None]
        ids = [day.id for day in days]
        edited = self.store.memories(MemoryQuery(superseded_by=ids, limit=MAX_ROWS)) if ids else []
        own = {memory.superseded_by for memory in edited}  # a person's own wording stays
        draft.put(*(day for day in days if day.id not in own))

    def _keep_statements(
        self, draft: Draft, turn: Memory, extraction: Extraction, known: Sequence[Memory]
    ) -> list[Memory]:
        """Place a turn's statements; return the person's new wishes."""
        if turn.known_kind is Kind.REWOUND:
            return []  # see follow
        now = draft.get(row.id for row in known)
        of_turn = [row for row in now if set(row.source_ids) & set(turn.source_ids)]
        ids, texts = {row.id for row in of_turn}, {row.text for row in of_turn}
        made = [found_in(turn, statement) for statement in extraction.statements]
        is_over = turn.known_kind is Kind.DID_NOT_HOLD
        if is_over or 0 < turn.rules != RULES:
            changed, retired = resettle(of_turn, turn, made, turn.at_ms if is_over else self.now_ms())
            draft.put(*changed, *self._held_before(retired))
        else:
            made_ids = {new.id for new in made}
            for row in of_turn:
                if row.ended_because is Ended.TAKEN_BACK and row.id in made_ids:
                    self.conflicts.place_again(draft, row)
        rules = []
        for new, statement in zip(made, extraction.statements, strict=True):
            if statement.is_reversal:
                continue
            is_new = new.id not in ids and new.text not in texts
            if is_new and "[redacted:" not in new.text and not self.keep.is_forgotten(new):
                is_wish = statement.speaker == USER and statement.kind == Kind.PREFERENCE
                same = self._asked_before(draft, new) if is_wish else []
                if same and new.by is Author.UNCLEAR:
                    sources = dict.fromkeys((*same[0].source_ids, *new.source_ids))
                    draft.put(replace(same[0], source_ids=tuple(sources)))
                    continue
                placed = self.conflicts.place(draft, new)
                draft.replace((row for row in same if row.holds), placed, new.at_ms)
                if is_wish and placed.id == new.id and placed.holds:
                    rules.append(placed)
        return rules

    def _take_back(self, draft: Draft, turn: Memory, extraction: Extraction) -> None:
        """Keep the sentences that end an older statement, in its place."""
        if turn.known_kind in NOT_HELD:
            return
        for new in (found_in(turn, statement) for statement in extraction.statements if statement.is_reversal):
            if "[redacted:" not in new.text and not self.keep.is_forgotten(new):
                self.conflicts.take_back(draft, new)

    def _asked_before(self, draft: Draft, new: Memory) -> list[Memory]:
        """Return wishes in the same words that were unclear."""
        pending = [row for row in draft.memories.values() if row.by is Author.UNCLEAR]
        rows = [*unclear_wishes(self.store, new.project_id, MAX_ROWS, is_current=None), *pending]
        said = index_terms(new.text)
        rows = [row for row in rows if row.id != new.id and row.ended_because is not Ended.TAKEN_BACK]
        return [row for row in rows if index_terms(row.text) == said]


def _remembered(event: Event) -> Memory:
    """Return the memory that an event asks for."""
    text, kind = as_said(event.text, event.at_ms)
    session_id = "" if event.session_id == NO_SESSION else event.session_id
    by = Author.MODEL if event.detail == BY_MODEL else Author.PERSON
    return statement_of(
        event.project_id, text, kind, by=by, session_id=session_id, source_ids=[event.id], at_ms=event.at_ms
    )


def _adopted(memory: Memory) -> Memory:
    """Return a memory as the person's, who says that it holds."""
    by = Author.PERSON if memory.by is Author.UNCLEAR else memory.by if memory.by in PERSONS else Author.ADOPTED
    is_turn = memory.category == Category.CONVERSATION
    return memory if is_turn else replace(memory, by=by, rules=0)
