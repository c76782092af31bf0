"""Lessons of a project's calls and changes.

They are told when the same is tried again. A lesson of a command is the difference between a call that failed and the
one that worked then, with nothing else in between: the words that it left out, and those that it brought. A call that
has the first and lacks the others is at risk. One such call that worked, at any time, is contrary evidence: a call
that fails by habit has worked before. A lesson of a change is a change that the person had taken back. In doubt
nothing is told.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from memlayer.edge.capture.tool_use import EDITS
from memlayer.kinds import NOT_HELD, Kind
from memlayer.model import Memory, citation_of, turn_memory_id
from memlayer.ports import MemoryQuery, Store, notes_in_force
from memlayer.text.context_block import cut, day_of, flatten
from memlayer.turns.error_lines import signatures
from memlayer.turns.known_errors import (
    MCP,
    KeptCall,
    KnownErrors,
    kept_call,
    known_errors,
    steps_of,
    words_of,
    worked_after,
)
from memlayer.turns.outcome import is_same_file

MAX_EVENTS = 20_000  # tool calls of a project, the newest
MAX_LEARNT = 5_000  # of these, for lessons: some weeks. They are learnt behind each session
MAX_NOTES = 2000
MAX_CHARS = 200  # of a line
MAX_COMMAND_CHARS = 90
MAX_ERROR_CHARS = 45
SHARED, SHARED_OF_SHORT = 0.75, 0.5  # of the words of a failed command, in one at risk
SHORT = 3  # words
SAME = 0.8  # of the words that a change brought, in one that brings them again
FEWEST_WORDS = 3  # of a change that is known again, and of code names in an attempt's
MAX_TOLD = 1000  # lines that a daemon knows it has told
MAX_TARGET_CHARS = 600  # of a command
MAX_CHANGE_CHARS = 4000  # of a change
HABIT = 3  # sessions in which a program failed, and sessions in which it worked
_ID = re.compile(r"\b(?:[0-9a-f]{8}-[0-9a-f-]{27}|(?=[a-f]*\d)[0-9a-f]{7,40}|\d{6,})\b")
_TEMPORARY = re.compile(r"(?:/private)?(?:/tmp|/var/folders|/dev/shm)/\S+")
_PLACE = re.compile(r"^\S+:\d+(?::\d+)?: ")  # before a compiler's words
_CODE = re.compile(r"`([^`\n]{3,80})`")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{3,}|[가-힣]{2,}")

Words = frozenset[str]


@dataclass(frozen=True)
class Action:
    """A call that is about to be made, or has failed.

    target: a command, an MCP call's input, or a file's path. brings: the text that a change adds.
    """

    tool: str
    target: str
    session_id: str = ""
    brings: str = ""


@dataclass(frozen=True)
class Advice:
    """A line for the model. id: of its event or note."""

    id: str
    line: str
    citation: str
    session_id: str
    at_ms: int


@dataclass(frozen=True)
class Lesson:
    """A failed call and the one that worked, by their words."""

    tool: str
    failed: KeptCall
    worked: KeptCall
    words: Words
    cure: Words

    def warns_of(self, tool: str, words: Words) -> bool:
        """True for a call as the failed one, without the cure."""
        lost, brought = self.words - self.cure, self.cure - self.words
        if tool != self.tool or not lost <= words or not brought.isdisjoint(words):
            return False
        least = 1.0 if not lost else SHARED_OF_SHORT if len(self.words) <= SHORT else SHARED
        return len(self.words & words) >= least * len(self.words)

    def advice(self) -> Advice:
        """Tell the failure and its cure."""
        error = next(iter(signatures(self.failed.error).values()), self.failed.error.strip().partition("\n")[0])
        why = cut(flatten(_PLACE.sub("", error)), MAX_ERROR_CHARS)
        day, cure = day_of(self.failed.event.at_ms), _short(self.worked.target)
        line = "such a call failed here on %s (%s); `%s` worked" % (day, why, cure)
        return _advice(self.failed, line)


@dataclass(frozen=True)
class Undone:
    """A change that its person had taken back. words: that it brought."""

    change: KeptCall
    words: Words

    def warns_of(self, call: Action) -> bool:
        """True for much the same change of the same file."""
        shared = len(self.words.intersection(_NAME.findall(call.brings)))
        return is_same_file(call.target, self.change.target) and shared >= max(FEWEST_WORDS, SAME * len(self.words))

    def advice(self) -> Advice:
        """Tell that the change was taken back."""
        line = "much the same change of %s was made on %s and taken back by the user" % (
            _short(self.change.target.rpartition("/")[2]), day_of(self.change.event.at_ms),
        )  # fmt: skip
        return _advice(self.change, line)


@dataclass(frozen=True)
class Attempt:
    """A note of a failed attempt. commands: of it, that never worked."""

    note: Memory
    commands: tuple[Words, ...]
    names: tuple[str, ...]

    def warns_of(self, call: Action, words: Words) -> bool:
        """True for its command, or a change with its names."""
        if _is_command(call):
            return any(own <= words for own in self.commands)
        brought = sum(name in call.brings for name in self.names)
        return brought >= FEWEST_WORDS and any(is_same_file(file, call.target) for file in self.note.files)


@dataclass(frozen=True)
class Lessons:
    """All lessons of a project."""

    calls: Sequence[Lesson] = ()
    undone: Sequence[Undone] = ()
    attempts: Sequence[Attempt] = ()
    errors: KnownErrors = field(default_factory=lambda: KnownErrors({}, {}))
    habits: frozenset[str] = frozenset()  # programs that fail, and work, all the time

    @property
    def signs(self) -> frozenset[str]:
        """Words of which a call must hold one to meet a lesson."""
        words = {max(row.words - row.cure or row.words, key=len) for row in self.calls}
        files = {path.rpartition("/")[2] for path in (row.change.target for row in self.undone)}
        named = {name for row in self.attempts for name in row.names}
        named |= {max(words, key=len) for row in self.attempts for words in row.commands}
        return frozenset(sign for sign in words | files | named if sign)

    def before(self, call: Action) -> Advice | None:
        """Return the newest lesson of other sessions that a call meets."""
        words = normal_words(call.target)
        told = [row.advice() for row in self.calls if row.warns_of(call.tool, words)]
        told += [row.advice() for row in self.undone if call.tool in EDITS and row.warns_of(call)]
        told += [_of_note(row.note) for row in self.attempts if row.warns_of(call, words)]
        return max((row for row in told if row.session_id != call.session_id), key=lambda row: row.at_ms, default=None)

    def after(self, call: Action, error: str) -> Advice | None:
        """Return the cure of a failed call, as other sessions found it."""
        if program_of(call.target) in self.habits and call.tool == "Bash":
            return None
        notes = [row for row in self.errors.explanations(signatures(error)) if row.session_id != call.session_id]
        if notes:
            return _of_note(notes[0])
        words = normal_words(call.target)
        for signature in signatures(error):
            for failure in reversed(self.errors.failures.get(signature, ())):
                if failure.worked is not None and failure.event.session_id != call.session_id:
                    failed = KeptCall(failure.event, failure.worked.tool, _target(failure.event.text), True, error)
                    lesson = Lesson(call.tool, failed, failure.worked, words, normal_words(failure.worked.target))
                    return lesson.advice()
        return None


@dataclass
class AtAction:
    """A daemon's lessons by project, and the lines that it told."""

    lessons: dict[str, Lessons] = field(default_factory=dict)
    told: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)  # (session, advice) -> when, target
    counted: set[tuple[str, str]] = field(default_factory=set)  # of these, with their effect

    def tell(self, session_id: str, advice: Advice | None, at_ms: int = 0, target: str = "") -> str:
        """Return the line, "" for none, or if the session has it.

        target: of the call, whose words stay in memory alone.
        """
        if advice is None or (session_id, advice.id) in self.told:
            return ""
        self.told[session_id, advice.id] = at_ms, target
        if len(self.told) > MAX_TOLD:
            oldest = next(iter(self.told))
            del self.told[oldest]
            self.counted.discard(oldest)
        return advice.line


def errors_of(store: Store, project_id: str) -> KnownErrors:
    """Read a project's errors from its calls and notes. Raises StoreError."""
    return known_errors(calls_of(store, project_id), notes_in_force(store, project_id, MAX_NOTES))


def calls_of(store: Store, project_id: str = "", session_id: str = "", limit: int = MAX_EVENTS) -> list[KeptCall]:
    """Read the kept calls of a project or session, oldest first."""
    events = store.events(project_id=project_id, session_id=session_id, kind="tool", limit=limit)
    return [*map(kept_call, events)]


def read_lessons(store: Store, project_id: str) -> Lessons:
    """Read a project's lessons. Raises StoreError."""
    calls = calls_of(store, project_id, limit=MAX_LEARNT)
    notes = notes_in_force(store, project_id, MAX_NOTES)
    undone = store.memories(MemoryQuery(project_id=project_id, kind=Kind.DID_NOT_HOLD, limit=MAX_NOTES))
    return lessons_of(calls, notes, frozenset("%s %s" % (turn.session_id, turn.prompt_id) for turn in undone))


def lessons_of(calls: Sequence[KeptCall], notes: Sequence[Memory], undone: Words) -> Lessons:
    """Return a project's lessons.

    calls: oldest first. undone: "session prompt" of turns that their person took back.
    """
    by_session: dict[str, list[KeptCall]] = defaultdict(list)
    for call in calls:
        by_session[call.event.session_id].append(call)
    found = [lesson for rows in by_session.values() for lesson in _of_session(rows)]
    worked = {(call.tool, normal_words(call.target)) for call in calls if not call.is_failed and _is_command(call)}
    holding = [row for row in found if not any(row.warns_of(tool, words) for tool, words in worked)]
    attempts = [_attempt(row, [words for _, words in worked]) for row in notes if row.known_kind in NOT_HELD]
    return Lessons(holding, list(_undone(calls, undone)), attempts, known_errors(calls, notes), _habits(calls))


@lru_cache(maxsize=4096)
def normal_words(command: str) -> Words:
    """Return a command's words without ids, paths and texts."""
    return words_of(_TEMPORARY.sub("/tmp", _ID.sub("#", command.partition("<<")[0])))


def program_of(command: str) -> str:
    """Return a command's program and first word, "" for none."""
    words = [word for word in (steps_of(command) or [""])[0].split() if "=" not in word]
    return " ".join(words[:2])


def _is_command(call: KeptCall | Action) -> bool:
    return call.tool == "Bash" or call.tool.startswith(MCP)


def _of_session(calls: Sequence[KeptCall]) -> Iterator[Lesson]:
    for place, call in enumerate(calls):
        worked = worked_after(calls, place) if call.is_failed and call.error and _is_command(call) else None
        if worked is not None:
            failed, cure = normal_words(call.target), normal_words(worked.target)
            if cure - failed:  # a cure by leaving out alone says little
                yield Lesson(call.tool, call, worked, failed, cure)


def _undone(calls: Sequence[KeptCall], undone: Words) -> Iterator[Undone]:
    """Changes in turns that did not hold, and that nobody made again."""
    last: dict[tuple[str, Words], bool] = {}
    changes: dict[tuple[str, Words], KeptCall] = {}
    for call in calls:
        if call.tool in EDITS and not call.is_failed:
            words = _brought(call.event.text)
            key = call.target, words
            last[key] = "%s %s" % (call.event.session_id, call.event.prompt_id) in undone
            changes[key] = call
    yield from (
        Undone(changes[key], key[1]) for key, is_undone in last.items() if is_undone and len(key[1]) >= FEWEST_WORDS
    )


def _brought(text: str) -> Words:
    """The words that an edit's event adds."""
    lines = text.split("\n")[1:]
    old = {word for line in lines if line.startswith("- ") for word in _NAME.findall(line)}
    return frozenset(word for line in lines if line.startswith("+ ") for word in _NAME.findall(line)) - old


def _habits(calls: Iterable[KeptCall]) -> Words:
    met: Mapping[bool, dict[str, set[str]]] = {False: defaultdict(set), True: defaultdict(set)}
    for call in calls:
        if call.tool == "Bash":
            met[call.is_failed][program_of(call.target)].add(call.event.session_id)
    return frozenset(name for name, rows in met[True].items() if min(len(rows), len(met[False][name])) >= HABIT)


def _attempt(note: Memory, worked: Sequence[Words]) -> Attempt:
    names = tuple(dict.fromkeys(_CODE.findall(note.text)))
    commands = (words for words in map(normal_words, names) if len(words) > 1)
    return Attempt(note, tuple(own for own in commands if not any(own <= words for words in worked)), names)


def _of_note(note: Memory) -> Advice:
    line = "%s: %s" % (day_of(note.at_ms), flatten(note.headline or note.text))
    return Advice(note.id, _with_citation(line, note.citation), note.citation, note.session_id, note.at_ms)


def _advice(call: KeptCall, line: str) -> Advice:
    event = call.event
    citation = citation_of(turn_memory_id(event.session_id, event.prompt_id))
    return Advice(event.id, _with_citation(line, citation), citation, event.session_id, event.at_ms)


def _with_citation(line: str, citation: str) -> str:
    mark = " [mem:%s]" % citation
    return cut(line, MAX_CHARS - len(mark)) + mark


def _target(text: str) -> str:
    return text.partition("\n")[0].partition(": ")[2]


def _short(command: str) -> str:
    return cut(flatten(command).replace("`", "'"), MAX_COMMAND_CHARS)
