"""The request to a language model about a finished session."""

import datetime
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from memlayer.kinds import TO_DO
from memlayer.model import Memory
from memlayer.notes.addressed import without_addressed
from memlayer.notes.session_turns import SessionTurn, turn_as_text
from memlayer.text.context_block import flatten
from memlayer.text.terms import query_terms
from memlayer.topics.session_summary import newest_parts
from memlayer.turns.turn_memory import headline_of

VERSION = "5"  # goes up with reader_prompt.md
MAX_CALL_TOKENS = 16_000  # in and out
MAX_ANSWER_TOKENS = 2_000
FRAME_TOKENS = 120  # the lines around the turns
NOTES_TOKENS = 400  # of the notes in force that are shown whole: the newest, and those nearest to the session's words
HEADLINES_TOKENS = 1_100  # of all others, the nearest first
ROOMY_TOKENS = 1_500  # of a session's turns, up to which they are shown in twice the length
TASKS_SHOWN = 12  # the newest, and as many again of those nearest to the session's words
ORDERS_SHOWN = 6  # decisions and promises that share words with the session, whole
LEAST_SHARED = 3  # of its words
MAX_SUBJECTS = 12
NEWEST_SHOWN = 2  # notes that are shown whole whatever the session is about
LEAST_TURNS_TOKENS = 2_000
TURNS_A_NOTE = 6  # beside a first one. A start lists some forty notes: those that a session adds push others out
SUMMARY_CHARS = 400
ROOM_LINE = "At most %d new notes here; ways, commitments and notes that replace others come on top. "
TEXT_MARK = " // "  # between a headline and its text


@dataclass(frozen=True)
class ReaderRequest:
    """One call about a part of a session. turns: that part."""

    system: str
    prompt: str
    turns: tuple[SessionTurn, ...]

    @property
    def digest(self) -> str:
        """A hash of the turns; their answer is known by it."""
        raw = "\n".join(turn.digest for turn in self.turns)
        return hashlib.sha256(raw.encode()).hexdigest()[:24]

    @property
    def tokens(self) -> int:
        """The tokens of the call with its answer, estimated high."""
        return tokens_of(self.system) + tokens_of(self.prompt) + MAX_ANSWER_TOKENS


@cache
def system_prompt() -> str:
    """Return the instructions, which are the same for every session."""
    return resources.files("memlayer.notes").joinpath("reader_prompt.md").read_text(encoding="utf-8").strip()


def tokens_of(text: str) -> int:
    """Estimate tokens: a third of the UTF-8 bytes, high for both languages."""
    return len(text.encode("utf-8", "replace")) // 3 + 1


def room_for(turns: int) -> int:
    """Return how many notes so many turns may add.

    A way of working, a promise and a note that replaces another count for none.
    """
    return 1 + max(1, round(turns / TURNS_A_NOTE))


def first_part(
    turns: Sequence[SessionTurn], notes: Sequence[Memory], tasks: Sequence[Memory], *, summary: str = ""
) -> ReaderRequest:
    """Return the request for the first turns that fit one call.

    One at least. notes, tasks: the project's in force. summary: of the session's part that was read before.
    """
    head = _known(notes, tasks, turns, summary)
    frame = FRAME_TOKENS + tokens_of(system_prompt()) + tokens_of(head)
    room = max(LEAST_TURNS_TOKENS, MAX_CALL_TOKENS - MAX_ANSWER_TOKENS - frame)
    texts: list[str] = []
    for text in _turns_as_text(turns):
        room -= tokens_of(text)
        if texts and room < 0:
            break
        texts.append(text)
    shown = tuple(turns[: len(texts)])
    body = "\n".join(texts)
    mark = "session-" + hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()[:12]
    day = datetime.datetime.fromtimestamp(shown[0].at_ms / 1000).date().isoformat() if shown else ""
    rest = " It goes on after this part." if len(shown) < len(turns) else ""
    prompt = "%sThe session was on %s.%s\n<%s>\n%s\n</%s>\n%sAnswer with the JSON object." % (
        head, day, rest, mark, body, mark, ROOM_LINE % room_for(len(shown)),
    )  # fmt: skip
    return ReaderRequest(system_prompt(), prompt, shown)


def _turns_as_text(turns: Sequence[SessionTurn]) -> list[str]:
    """Return the turns for the model, short sessions in more detail."""
    roomy = [without_addressed(turn_as_text(turn, scale=2)) for turn in turns]
    if sum(map(tokens_of, roomy)) <= ROOMY_TOKENS:
        return roomy
    return [without_addressed(turn_as_text(turn)) for turn in turns]


def _nearest(notes: Sequence[Memory], words: frozenset[str]) -> list[Memory]:
    """Return notes by words shared with the session, then by age."""
    shared = {note.id: len(_terms(note) & words) for note in notes}
    return sorted(notes, key=lambda note: (-shared[note.id], -note.at_ms))


def choose_notes(notes: Sequence[Memory], words: frozenset[str]) -> list[Memory]:
    """Return the notes to show whole, oldest first.

    All that fit, else the newest and the nearest by words.
    """
    newest = sorted(notes, key=lambda note: -note.at_ms)
    room = NOTES_TOKENS
    chosen = []
    for note in [*newest[:NEWEST_SHOWN], *_nearest(newest[NEWEST_SHOWN:], words)]:
        room -= tokens_of(_note_line(note, is_whole=True))
        if room < 0:
            break
        chosen.append(note)
    return sorted(chosen, key=lambda note: note.at_ms)


def _known(notes: Sequence[Memory], tasks: Sequence[Memory], turns: Sequence[SessionTurn], summary: str) -> str:
    words = frozenset(term for turn in turns for term in query_terms(turn_as_text(turn)))
    near = [note for note in notes if note.kind in TO_DO and len(_terms(note) & words) >= LEAST_SHARED]
    orders = _nearest(near, words)[:ORDERS_SHOWN]
    ids = {note.id for note in orders}
    others = [note for note in notes if note.id not in ids]
    whole = choose_notes(others, words)
    ids |= {note.id for note in whole}
    lines = ["The project's notes so far:" if notes else "The project has no notes yet."]
    lines += [_note_line(note, is_whole=True) for note in whole]
    room = HEADLINES_TOKENS
    for note in _nearest([note for note in others if note.id not in ids], words):
        line = _note_line(note)
        if (room := room - tokens_of(line)) >= 0:
            lines.append(line)
    subjects = Counter(note.subject for note in notes if note.subject)
    if subjects:
        lines.append("Subjects in use: " + ", ".join(subject for subject, _ in subjects.most_common(MAX_SUBJECTS)))
    if orders:
        lines.append("Perhaps carried out:")
        lines += [_note_line(note, is_whole=True) for note in orders]
    if tasks:
        lines.append("Open tasks:")
        older = [task for task in _nearest(tasks[TASKS_SHOWN:], words) if _terms(task) & words]
        shown = [*tasks[:TASKS_SHOWN], *older[:TASKS_SHOWN]]
        lines += ["[%s] %s" % (task.citation, flatten(task.text)) for task in shown]
    if summary:
        lines.append("The session's earlier part was read before: " + newest_parts(summary, SUMMARY_CHARS))
    return "\n".join(lines) + "\n\n"


def _terms(note: Memory) -> frozenset[str]:
    return frozenset(query_terms(note.headline + " " + note.text))


def _note_line(note: Memory, *, is_whole: bool = False) -> str:
    """Return a note as its headline, or its headline and text."""
    day = datetime.datetime.fromtimestamp(note.at_ms / 1000).date().isoformat()
    text, headline = flatten(note.text), headline_of(note)
    told = headline if not is_whole else text if headline == text or not note.headline else headline + TEXT_MARK + text
    return "[%s] (%s%s, %s) %s" % (note.citation, note.kind, " by a rule" if note.rules else "", day, told)
