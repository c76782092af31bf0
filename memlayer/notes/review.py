"""Review of core memories: doubtful, contradicting, stale or never used."""

import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import NamedTuple

from memlayer.consolidation.conflict.compare import Verdict, judge
from memlayer.consolidation.consolidator import Consolidator
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.consolidation.statement import unclear_wishes
from memlayer.edge.home import paths
from memlayer.errors import UserError
from memlayer.keep import keep
from memlayer.kinds import Author, Category, Ended, Kind
from memlayer.model import GLOBAL, Memory, replace, team_session
from memlayer.notes.reading_log import ReadingLog
from memlayer.ports import MemoryQuery, Store, UsageQuery, memories_by_id, notes_in_force
from memlayer.records import small_files
from memlayer.tasks.book import TaskBook, TaskQuestion
from memlayer.tasks.task_memory import memory_of
from memlayer.text.context_block import cut, day_of, flatten
from memlayer.text.terms import index_terms
from memlayer.topics.session_summary import is_due
from memlayer.turns import evidence
from memlayer.turns.evidence import Method
from memlayer.turns.turn_memory import prompt_of

MAX_DECISIONS = 2000  # beyond them the oldest are dropped, and their questions may come again
DAY_MS = 86_400_000
UNUSED_AFTER_MS = 30 * DAY_MS
UNUSED_AFTER_SESSIONS = 10  # that could have used it
ASKED_AGAIN_MS = 90 * DAY_MS  # about a memory that time alone made doubtful
MAX_ROWS = 10_000
MAX_TURNS, PROMPT_CHARS = 500, 100  # in which rules may be taken back; of such a prompt
TASK_QUESTION = "asked"  # begins the key of an answer, which ends with the answer's event
NEAREST = 5  # memories that each is compared with
_UNCONFIRMED = re.compile(
    r"unconfirmed|untested|not (?:yet )?(?:verified|confirmed|tested)|미확인|확인 ?(?:안|전|되지)", re.I
)
MIN_SHARED = 0.5  # of the shorter text's terms: those that share less are of two matters


@dataclass(frozen=True)
class Before:
    """A memory's state before a decision, without its text."""

    id: str
    at_ms: int
    session_id: str
    ended_because: Ended
    ended_ms: int
    superseded_by: str
    by: Author
    rules: int
    pinned: bool

    @classmethod
    def of(cls, memory: Memory) -> "Before":
        """Return the state of a memory."""
        return cls(*(getattr(memory, field.name) for field in fields(cls)))


@dataclass(frozen=True)
class Decision:
    """A person's decision on an item.

    key: the item's. at_ms: Unix time. before: of the memories that it changed, the item's first. wording: id of the row
    that keeps the first one's text, "" where the text stayed. is_whole: False from before its first write to its last,
    and after a kill between them.
    """

    how: str
    key: str
    project_id: str
    at_ms: int
    before: tuple[Before, ...] = ()
    wording: str = ""
    is_whole: bool = True


class ReviewLog:
    """The decisions of a home, the oldest first. Thread-safe.

    Every write is on disk when it returns. Raises OSError.
    """

    def __init__(self, home: str) -> None:
        self._path = paths.reviewed(home)
        self._lock = threading.RLock()

    def all(self) -> list[Decision]:
        """Return every decision; [] for a file that cannot be read."""
        return small_files.read(self._path, list[Decision]) or []

    def closed(self) -> dict[str, int]:
        """Return key of an item -> when it was decided.

        One that was interrupted is open."""
        return {row.key: row.at_ms for row in self.all() if row.is_whole}

    def dropped(self) -> dict[str, int]:
        """Return id of a memory that was dropped -> when."""
        whole = (row for row in self.all() if row.is_whole and row.before)
        return {row.before[0].id: row.at_ms for row in whole if row.how == How.DROP}

    def add(self, decision: Decision) -> None:
        """Append a decision, in the place of its beginning."""
        with self._lock:
            begun = replace(decision, wording="", is_whole=False)
            self._write([*(row for row in self.all() if row != begun), decision][-MAX_DECISIONS:])

    def last(self, project_id: str) -> Decision | None:
        """Return a project's last decision, or that for every project."""
        return next((row for row in reversed(self.all()) if row.project_id in (project_id, GLOBAL)), None)

    def take_back(self, decision: Decision) -> None:
        """Remove a decision."""
        with self._lock:
            self._write([row for row in self.all() if row != decision])

    def _write(self, rows: Sequence[Decision]) -> None:
        small_files.write(self._path, rows)


class ReviewReason(StrEnum):
    """Why a memory is under review, the most urgent first."""

    ASKED = "asked"  # a wish in a prompt, of which it is not plain that it is the person's
    CONTRADICTS = "contradicts"
    DOUBTFUL = "doubtful"
    STALE = "stale"
    UNUSED = "never used"
    UNWANTED = "unwanted"  # a person takes it back, unasked


class How(StrEnum):
    """A decision on a memory, or (yes, no) on a task."""

    KEEP = "keep"
    EDIT = "edit"
    MERGE = "merge"
    DROP = "drop"
    YES = "yes"
    NO = "no"


@dataclass(frozen=True)
class ReviewedMemory:
    """A memory under review.

    why: a clause. against: the other memory, or None.
    """

    memory: Memory
    reason: ReviewReason
    why: str
    against: Memory | None = None

    @property
    def key(self) -> str:
        """The item's name in the log, without its text."""
        return ":".join((self.memory.id, self.reason, self.against.id if self.against is not None else ""))

    @property
    def is_asked(self) -> bool:
        """True for a wish that only the person's yes makes theirs."""
        return self.reason is ReviewReason.ASKED


class ReviewedProject(NamedTuple):
    """The project to review.

    root: its folder, "" for none. sessions_since: the number of its sessions since a moment (ms).
    """

    project_id: str
    root: str
    sessions_since: Callable[[int], int]


@dataclass(frozen=True)
class Review:
    """The items of a project, and decisions on them, for the writer."""

    store: Store
    readings: ReadingLog
    log: ReviewLog
    consolidator: Consolidator
    tasks: TaskBook

    def items(self, place: ReviewedProject, now_ms: int) -> list[ReviewedMemory]:
        """Return the memories to look at, the most urgent first.

        Each once. Raises StoreError.
        """
        known = notes_in_force(self.store, place.project_id, MAX_ROWS) if place.project_id else []
        rows = [row for row in known if row.kind != Kind.TASK]
        closed, seen, pairs, out = self.log.closed(), set[str](), set[frozenset[str]](), list[ReviewedMemory]()
        for item in self._candidates(place, rows, now_ms):
            closed_ms = closed.get(item.key, 0)
            is_back = item.reason in (ReviewReason.STALE, ReviewReason.UNUSED) and now_ms - closed_ms > ASKED_AGAIN_MS
            pair = frozenset((item.memory.id, item.against.id if item.against is not None else ""))
            if item.memory.id not in seen and pair not in pairs and (not closed_ms or is_back):
                seen.add(item.memory.id)
                pairs.add(pair)
                out.append(item)
        return out

    def decide(
        self, item: ReviewedMemory, how: How, now_ms: int, *, text: str = "", other: Memory | None = None
    ) -> Memory:
        """Carry out a decision. Return its memory.

        text: of an edit or a merge, redacted. other: the second memory of a merge. Raises UserError, StoreError.
        """
        memory, changed, wording = item.memory, [item.memory], ""
        if how is How.MERGE:
            other = other or item.against
            if other is None:
                raise UserError(f"Name the memory that {memory.key} is to be merged with")
            changed.append(other)
            text = text or " ".join((memory.text, other.text))
        before = () if how is How.KEEP and not item.is_asked else tuple(map(Before.of, changed))
        decision = Decision(how, item.key, memory.project_id, now_ms, before)
        if before:
            self.log.add(replace(decision, is_whole=False))  # first: undo knows of it after a kill
        if how in (How.EDIT, How.MERGE) and text != memory.text:
            edited = self.consolidator.edit(memory, text)
            wording = keep.earlier_wording(memory, memory.text, edited.at_ms).id
            memory = edited
        if how is How.MERGE and other is not None:
            files = tuple(dict.fromkeys((*memory.files, *other.files)))
            self.consolidator.describe(memory, kind=memory.kind, files=files, replaced=[other])
        if how is How.DROP:
            self._drop(item, now_ms)
        if how is How.KEEP and item.is_asked:
            memory = self.consolidator.adopt(memory)
        self.log.add(replace(decision, wording=wording))
        return memory

    def answer(self, question: TaskQuestion, task_id: str, now_ms: int) -> Memory | None:
        """Answer a question on a task. Return the task's memory.

        task_id: "" for none of the candidates. The memory is then None. Raises UserError where it was answered before.
        """
        answer_id, tasks = self.tasks.answer(question.id, task_id)
        if not answer_id:
            raise UserError("This question is answered already. Nothing is changed")
        key = ":".join((TASK_QUESTION, question.id, answer_id))
        self.log.add(Decision(How.YES if task_id else How.NO, key, question.project_id, now_ms))
        return next((memory_of(task) for task in tasks if task.id == task_id), None)

    def undo(self, project_id: str) -> tuple[Decision, Memory | None]:
        """Take the last decision back. Return it with its memory.

        The memory is None where it was kept, and for no task. Raises UserError without a decision, and where a memory
        was forgotten.
        """
        decision = self.log.last(project_id)
        if decision is None:
            raise UserError("Nothing was decided in this project")
        if decision.how in (How.YES, How.NO):
            tasks = self.tasks.take_back(decision.key.rpartition(":")[2])
            self.log.take_back(decision)
            return decision, memory_of(tasks[0]) if tasks else None
        ids = [row.id for row in decision.before] + ([decision.wording] if decision.wording else [])
        rows = memories_by_id(self.store, ids)
        if len(rows) < len(ids):
            raise UserError("A memory of the last decision was forgotten since. Nothing is changed")
        back = [
            replace(rows[state.id], **{name: value for name, value in asdict(state).items() if name != "id"})
            for state in decision.before
        ]
        wording = rows.get(decision.wording) or (None if decision.is_whole else self._unrecorded(decision, rows))
        if wording is not None:
            back[0] = replace(back[0], text=wording.text)
        self.consolidator.put_back(back)
        self.log.take_back(decision)
        return decision, back[0] if back else None

    def _unrecorded(self, decision: Decision, rows: Mapping[str, Memory]) -> Memory | None:
        """Return the text before an interrupted decision, None if it stayed."""
        state = decision.before[0]
        older = self.store.memories(MemoryQuery(superseded_by=[state.id], category=rows[state.id].category))
        wordings = [row for row in older if keep.is_wording_of(row, rows[state.id]) and row.at_ms == state.at_ms]
        return max(wordings, key=lambda row: row.ended_ms, default=None)

    def _drop(self, item: ReviewedMemory, now_ms: int) -> None:
        if item.against is not None and item.against.known_kind is not Kind.TEAM:
            against = item.against
            self.consolidator.describe(against, kind=against.kind, files=against.files, replaced=[item.memory])
        else:
            self.consolidator.retire(item.memory)

    def _candidates(self, place: ReviewedProject, rows: Sequence[Memory], now_ms: int) -> Iterator[ReviewedMemory]:
        known = [*rows, *notes_in_force(self.store, GLOBAL, MAX_ROWS)] if place.project_id else []
        for row in unclear_wishes(self.store, place.project_id, MAX_ROWS) if place.project_id else ():
            yield ReviewedMemory(row, ReviewReason.ASKED, "it stands in a prompt, and may be somebody else's")
        yield from self._questions(place.project_id, {row.id: row for row in known})
        yield from contradictions(rows)
        yield from self._allowed(place.project_id, [row for row in known if row.known_kind is Kind.PREFERENCE])
        yield from self._of_team(place.project_id, rows)
        yield from (ReviewedMemory(row, ReviewReason.DOUBTFUL, why) for row in rows if (why := doubt(row)))
        today = day_of(now_ms)
        yield from (
            ReviewedMemory(row, ReviewReason.STALE, why) for row in rows if (why := staleness(row, place.root, today))
        )
        yield from self._unused(place, rows, now_ms)

    def _allowed(self, project_id: str, rules: Sequence[Memory]) -> Iterator[ReviewedMemory]:
        """Yield the rules that a later prompt seems to take back."""
        query = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, is_current=True, limit=MAX_TURNS)
        for turn in self.store.memories(query) if rules else ():
            prompt = prompt_of(turn)
            older = [row for row in rules if row.at_ms < turn.at_ms] if takes_back(prompt) else []
            for place in let_go(prompt, [row.text for row in older]) if turn.by is Author.PERSON else ():
                why = "you said on %s: %s" % (day_of(turn.at_ms), cut(flatten(prompt), PROMPT_CHARS))
                yield ReviewedMemory(older[place], ReviewReason.CONTRADICTS, why)

    def _questions(self, project_id: str, by_id: dict[str, Memory]) -> Iterator[ReviewedMemory]:
        """Yield the memories of a person that a model speaks against."""
        for reading in self.readings.all():
            for question in reading.questions if reading.project_id == project_id else ():
                memory, by = by_id.get(question.get("memory_id", "")), by_id.get(question.get("by", ""))
                if memory is not None and (by is not None or question.get("wish") == "drop"):
                    why = "a newer note says otherwise" if by is not None else "a session shows that it holds no more"
                    yield ReviewedMemory(memory, ReviewReason.CONTRADICTS, why, by)

    def _of_team(self, project_id: str, rows: Sequence[Memory]) -> Iterator[ReviewedMemory]:
        """Yield the memories that a colleague's note contradicts, whichever is newer."""
        query = MemoryQuery(session_id=team_session(project_id), is_current=True, limit=MAX_ROWS)
        notes = self.store.memories(query) if rows else []
        for item in contradictions([*rows, *notes]) if notes else ():
            older, newer = item.memory, item.against
            if newer is not None and (older.known_kind is Kind.TEAM) != (newer.known_kind is Kind.TEAM):
                mine, theirs = (newer, older) if older.known_kind is Kind.TEAM else (older, newer)
                yield ReviewedMemory(mine, ReviewReason.CONTRADICTS, "a colleague's note says otherwise", theirs)

    def _unused(self, place: ReviewedProject, rows: Sequence[Memory], now_ms: int) -> Iterator[ReviewedMemory]:
        old = [row for row in rows if now_ms - row.at_ms > UNUSED_AFTER_MS and not row.pinned]
        used = {row.memory_id for row in self.store.usages(UsageQuery(limit=1_000_000))} if old else set()
        for row in old:
            if row.id not in used and place.sessions_since(row.at_ms) >= UNUSED_AFTER_SESSIONS:
                yield ReviewedMemory(row, ReviewReason.UNUSED, f"not given, cited or opened since {day_of(row.at_ms)}")


def contradictions(rows: Sequence[Memory]) -> Iterator[ReviewedMemory]:
    """Yield memories that a newer one in force contradicts, by rules."""
    terms = {row.id: frozenset(index_terms(row.text).split()) for row in rows}
    holders: dict[str, list[Memory]] = {}
    for row in sorted(rows, key=lambda row: row.at_ms):
        shared = Counter(older.id for term in terms[row.id] for older in holders.get(term, ()))
        by_id = {older.id: older for term in terms[row.id] for older in holders.get(term, ())}
        for older_id, count in shared.most_common(NEAREST):
            least = MIN_SHARED * min(len(terms[older_id]), len(terms[row.id]))
            if count >= least and judge(by_id[older_id].text, row.text) is Verdict.SUPERSEDE:
                yield ReviewedMemory(by_id[older_id], ReviewReason.CONTRADICTS, "a newer memory says otherwise", row)
        for term in terms[row.id]:
            holders.setdefault(term, []).append(row)


def doubt(memory: Memory) -> str:
    """Return why a memory may not be true, "" for no reason."""
    if _UNCONFIRMED.search(memory.text):
        return "nobody has confirmed it"
    rests_on = evidence.from_json(memory.evidence)
    if rests_on and all(row.method is Method.FUZZY for row in rests_on):
        return "its session says it in similar words only"
    return ""


def staleness(memory: Memory, root: str, today: str) -> str:
    """Return why a memory may have become idle, "" for no reason.

    root: the project's folder, in which its files are looked up. today: YYYY-MM-DD.
    """
    if memory.kind == Kind.COMMITMENT and not is_due(memory.text, today):
        return "its day is over"
    if (
        memory.files
        and os.path.isdir(root)
        and not any(os.path.exists(os.path.join(root, path)) for path in memory.files)
    ):
        return "none of its files is there any more: " + ", ".join(memory.files[:3])
    return ""
