"""Keyed hashes and ids of forgotten texts, without their words.

They keep spool files, transcripts and imports from bringing a forgotten text back.
"""

import hashlib
import hmac
import os
import secrets
import threading
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from memlayer.edge.home import paths
from memlayer.kinds import Category, Kind
from memlayer.model import Memory, event_id, unix_ms

MARK_CHARS = 32
KEY_BYTES = 32
# A shorter text ("ok", "계속해", "번호는 1234") says little by itself: it is the same only in its project, and
# only about the same time.
SHORT_CHARS = 24
SAME_TIME_MS = 600_000
HISTORY = ("transcript", "import")  # sources of earlier events
TOOL = "tool"  # the kind of events
_AGING = (Category.CONVERSATION, TOOL, Category.DAILY, Category.CORE)
_SAID, _STATEMENT = "said", "statement"

ProjectOf = Callable[[Mapping[str, Any]], str]


def _named(event: Mapping[str, Any]) -> str:
    return str(event.get("project_id", ""))


class RetentionRun(NamedTuple):
    """A run of retention: its kind, cutoff and time.

    At at_ms everything of that kind from before before_ms was deleted.
    """

    kind: str
    before_ms: int
    at_ms: int


class Tombstones:
    """Ids and keyed hashes of the texts a home has forgotten. Thread-safe.

    A line of `forgotten.txt` is an id; `said:<hash>` for a text of a turn; `statement:<hash>:<until ms>` for a memory's
    text in a project, and until when that counts; or `conversation:<before ms>:<at ms>` (`tool:…`, `daily:…`, `core:…`)
    for a run of retention. The key of the hashes lies in `forgotten.key`, readable by the user alone: without it they
    tell nothing of texts.
    """

    def __init__(self, home: str, now_ms: Callable[[], int] = unix_ms) -> None:
        self._now_ms = now_ms
        self._path = os.path.join(home, "forgotten.txt")
        self._key_path = os.path.join(home, "forgotten.key")
        self._lock = threading.Lock()
        try:
            with paths.open_regular(self._path) as file:
                self._lines = set(file.read().decode("ascii", "ignore").split())
        except OSError:
            self._lines = set()
        try:
            with paths.open_regular(self._key_path) as key_file:
                self._key = key_file.read(KEY_BYTES)
        except OSError:
            self._key = b""
        self._runs = sorted(run for line in self._lines if (run := _run_of(line)) is not None)
        self._statements = _statements_of(self._lines)  # hash -> until ms

    def __contains__(self, wanted: object) -> bool:
        """Whether an event or a memory of that id was forgotten."""
        return wanted in self._lines

    def ids(self) -> list[str]:
        """Return the forgotten ids; hashes of texts are this home's alone."""
        return [line for line in self._lines if ":" not in line]

    def add(
        self,
        ids: Iterable[str],
        turn_texts: Iterable[tuple[str, int, str]] = (),
        statements: Iterable[tuple[str, str, int]] = (),
    ) -> None:
        """Remember forgotten ids, texts of turns, and statements.

        turn_texts: (text, at_ms, project id). statements: (project id, text, until ms). Raises
        OSError: nothing is gone then.
        """
        with self._lock:
            if len(self._key) < KEY_BYTES:
                key = secrets.token_bytes(KEY_BYTES)
                paths.write_whole(self._key_path, key)
                self._key = key
            known = dict(self._statements)
            for project_id, text, until_ms in statements:
                if text.strip():
                    mark = self._statement_mark(project_id, text)
                    known[mark] = max(until_ms, known.get(mark, 0))
            others = {line for line in self._lines if not line.startswith(_STATEMENT + ":")}
            marks = {self._said_mark(*said) for said in turn_texts if said[0].strip()}
            lines = {"%s:%s:%d" % (_STATEMENT, mark, until_ms) for mark, until_ms in known.items()}
            self._save(others | set(ids) | marks | lines)
            self._statements = known

    def record_retention(self, kind: str, before_ms: int, at_ms: int) -> None:
        """Record a run of retention. Raises OSError."""
        with self._lock:
            if before_ms > self._before_ms(kind):
                self._save(self._lines | {"%s:%d:%d" % (kind, before_ms, at_ms)})
                self._runs = sorted([*self._runs, RetentionRun(kind, before_ms, at_ms)])

    def forgot_part_of(self, session_id: str) -> bool:
        """True if something forgotten still stands in a session's transcript."""
        return session_mark(session_id) in self._lines

    def covers(self, event: Mapping[str, Any], project_of: ProjectOf = _named, *, is_history: bool = False) -> bool:
        """Whether a captured event (edge.capture.payload.SPOOL_FIELDS) was forgotten.

        project_of: returns the event's project id.

        A hook's event is new, and only its id counts: who says something again wants it kept. An event of a transcript
        or an import (is_history) may be the forgotten event under another id.
        """
        if not self._lines:  # nothing was ever forgotten: an import need not hash its texts
            return False
        if event["id"] in self._lines:
            return True
        if not (is_history or event["source"] in HISTORY):
            return False
        if event["at_ms"] < self._before_ms(TOOL if event["kind"] == "tool" else Category.CONVERSATION):
            return True
        return self._forgot_text(event["text"], event["at_ms"], project_of(event))

    def covers_memory(self, memory: Memory) -> bool:
        """True if a new or imported memory was forgotten or too old.

        Too old: retention has deleted it. A text said after it was forgotten is new, and so is a text of another
        project.
        """
        if memory.id in self._lines or self._knows_statement(memory.project_id, memory.text, memory.at_ms):
            return True
        if memory.category == Category.CONVERSATION:
            return memory.at_ms < self._before_ms(Category.CONVERSATION)
        if memory.pinned or (memory.category == Category.CUSTOM and memory.session_id):  # that one stands for a file
            return False
        return memory.at_ms < self._before_ms(Category.DAILY if memory.category == Category.DAILY else Category.CORE)

    def not_forgotten(
        self, events: Iterable[Mapping[str, Any]], project_of: ProjectOf = _named, *, is_history: bool = False
    ) -> list[Mapping[str, Any]]:
        """Return the events that are not covered.

        A turn of history whose prompt was forgotten goes whole: a transcript knows more of an answer than the hook did,
        so that its text is another.
        """
        given = list(events)
        gone = {id(event) for event in given if self.covers(event, project_of, is_history=is_history)}
        prompts = {
            (event["session_id"], event["prompt_id"])
            for event in given
            if id(event) in gone and event["kind"] == "user" and event["prompt_id"]
        }
        return [
            event
            for event in given
            if id(event) not in gone
            and not (
                (event["session_id"], event["prompt_id"]) in prompts and (is_history or event["source"] in HISTORY)
            )
        ]

    def _forgot_text(self, text: str, at_ms: int, project_id: str) -> bool:
        """True if a text was forgotten (short: then and there)."""
        times = (at_ms, at_ms - SAME_TIME_MS, at_ms + SAME_TIME_MS)
        places = ("", project_id)  # marks of older versions name none
        return any(self._said_mark(text, time_ms, place) in self._lines for time_ms in times for place in places)

    def forgot_statement(self, project_id: str, text: str) -> bool:
        """True if the project ever forgot a memory with this text."""
        return self._knows_statement(project_id, text, 0)

    def deleted_by_age_ms(self, at_ms: int, kind: str = Category.CONVERSATION) -> int:
        """Return when retention deleted texts of that time; 0: never."""
        return min((run.at_ms for run in self._runs_of(kind) if run.before_ms > at_ms), default=0)

    def _before_ms(self, kind: str) -> int:
        return max((run.before_ms for run in self._runs_of(kind)), default=0)

    def _runs_of(self, kind: str) -> list[RetentionRun]:
        """Return a kind's runs, without those of a clock ahead."""
        now_ms = self._now_ms()
        return [run for run in self._runs if run.kind == kind and run.at_ms <= now_ms]

    def _knows_statement(self, project_id: str, text: str, at_ms: int) -> bool:
        return at_ms <= self._statements.get(self._statement_mark(project_id, text), -1)

    def _said_mark(self, text: str, at_ms: int, project_id: str) -> str:
        is_long = len(" ".join(text.split())) >= SHORT_CHARS
        about = () if is_long else (str(at_ms // SAME_TIME_MS), *filter(None, [project_id]))
        return "%s:%s" % (_SAID, self._hash("\0".join(about), text))

    def _statement_mark(self, project_id: str, text: str) -> str:
        return self._hash(project_id + "\0" + _STATEMENT, text)

    def _hash(self, about: str, text: str) -> str:
        raw = (about + "\0" + " ".join(text.split())).encode("utf-8", "surrogatepass")
        return hmac.new(self._key, raw, hashlib.sha256).hexdigest()[:MARK_CHARS]

    def _save(self, lines: set[str]) -> None:
        if lines != self._lines:
            paths.write_whole(self._path, "\n".join(sorted(lines)).encode("ascii", "ignore") + b"\n")
            self._lines = lines


def session_mark(session_id: str) -> str:
    """The id that stands for "something of this session was forgotten"."""
    return event_id(session_id, "", "forgotten")


def summary_mark(session_id: str) -> str:
    """The id of "this session's summary was forgotten, its sources were not"."""
    return event_id(session_id, "", Kind.SESSION_SUMMARY, "forgotten")


def _run_of(line: str) -> RetentionRun | None:
    kind, _, rest = line.partition(":")
    before_ms, _, at_ms = rest.partition(":")
    if kind not in _AGING or not (before_ms.isdigit() and at_ms.isdigit()):
        return None
    return RetentionRun(kind, int(before_ms), int(at_ms))


def _statements_of(lines: Iterable[str]) -> dict[str, int]:
    by_mark: dict[str, int] = {}
    for line in lines:
        kind, _, rest = line.partition(":")
        mark, _, until_ms = rest.partition(":")
        if kind == _STATEMENT and until_ms.isdigit():
            by_mark[mark] = max(int(until_ms), by_mark.get(mark, 0))
    return by_mark
