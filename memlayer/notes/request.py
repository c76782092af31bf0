"""The request to a language model about a finished session."""

from __future__ import annotations

import datetime
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from memlayer.kinds import Kind
from memlayer.model import Memory
from memlayer.notes.addressed import without_addressed
from memlayer.notes.session_turns import SessionTurn, turn_as_text
from memlayer.text.context_block import flatten
from memlayer.text.terms import query_terms
from memlayer.topics.summary_text import newest_parts
from memlayer.turns.headline import headline_of

VERSION = "4"  # goes up with reader_prompt.md
MAX_CALL_TOKENS = 12_000  # in and out
MAX_ANSWER_TOKENS = 2_000
FRAME_TOKENS = 120  # the lines around the turns
NOTES_TOKENS = 2_500  # of the notes in force that are shown whole: the newest, and those nearest to the session's words
HEADLINES_TOKENS = 2_500  # of all others
ROOMY_TOKENS = 3_500  # of a session's turns, up to which they are shown in twice the length
TASKS_SHOWN = 12
MAX_SUBJECTS = 12
NEWEST_SHOWN = 10  # notes that are shown whatever the session is about
LEAST_TURNS_TOKENS = 2_000
# A start lists some forty notes: those that a session adds push others out.
TURNS_A_NOTE = 6
FURTHER_KINDS = frozenset((Kind.PREFERENCE, Kind.FACT))
MAX_FURTHER = 1
SUMMARY_CHARS = 400


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


def room_for(turns: int) -> Counter[bool]:
    """Return how many notes so many turns may add.

    True: notes of FURTHER_KINDS beyond the others. A note that replaces another adds none.
    """
    return Counter({False: max(1, round(turns / TURNS_A_NOTE)), True: MAX_FURTHER})


def first_part(
    turns: Sequence[SessionTurn], notes: Sequence[Memory], tasks: Sequence[Memory], *, summary: str = ""
) -> ReaderRequest:
    """Return the request for as many turns as a call holds.

    At least one.

    notes, tasks: the project's in force. summary: of the session's part that was read before.
    """
    head = _known(notes, choose_notes(notes, turns), tasks, summary)
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
        head, day, rest, mark, body, mark, _room_line(len(shown)),
    )  # fmt: skip
    return ReaderRequest(system_prompt(), prompt, shown)


def _room_line(turns: int) -> str:
    room = room_for(turns)
    return (
        "At most %d new notes here, and %d more of a preference or of a fact from outside the repository. Notes that"
        " replace others come on top. " % (room[False], room[True])
    )


def _turns_as_text(turns: Sequence[SessionTurn]) -> list[str]:
    """Return the turns for the model, short sessions in more detail."""
    roomy = [without_addressed(turn_as_text(turn, scale=2)) for turn in turns]
    if sum(map(tokens_of, roomy)) <= ROOMY_TOKENS:
        return roomy
    return [without_addressed(turn_as_text(turn)) for turn in turns]


def choose_notes(notes: Sequence[Memory], turns: Sequence[SessionTurn]) -> list[Memory]:
    """Return the notes to show whole, oldest first.

    All that fit, else the newest and the nearest by words.
    """
    newest = sorted(notes, key=lambda note: -note.at_ms)
    words = {term for turn in turns for term in query_terms(turn_as_text(turn))}
    rest = sorted(newest[NEWEST_SHOWN:], key=lambda note: -len(words.intersection(query_terms(note.text))))
    room = NOTES_TOKENS
    chosen = []
    for note in [*newest[:NEWEST_SHOWN], *rest]:
        room -= tokens_of(_note_line(note, note.text))
        if room < 0:
            break
        chosen.append(note)
    return sorted(chosen, key=lambda note: note.at_ms)


def _known(notes: Sequence[Memory], whole: Sequence[Memory], tasks: Sequence[Memory], summary: str) -> str:
    subjects = Counter(note.subject for note in notes if note.subject)
    lines = ["The project's notes so far:" if notes else "The project has no notes yet."]
    lines += [_note_line(note, note.text) for note in whole]
    ids, room = {note.id for note in whole}, HEADLINES_TOKENS
    for note in sorted(notes, key=lambda note: -note.at_ms):
        line = _note_line(note, headline_of(note))
        if note.id not in ids and (room := room - tokens_of(line)) >= 0:
            lines.append(line)
    if subjects:
        lines.append("Subjects in use: " + ", ".join(subject for subject, _ in subjects.most_common(MAX_SUBJECTS)))
    if tasks:
        lines.append("Open tasks:")
        lines += ["[%s] %s" % (task.citation, flatten(task.text)) for task in tasks[:TASKS_SHOWN]]
    if summary:
        lines.append("The session's earlier part was read before: " + newest_parts(summary, SUMMARY_CHARS))
    return "\n".join(lines) + "\n\n"


def _note_line(note: Memory, text: str) -> str:
    day = datetime.datetime.fromtimestamp(note.at_ms / 1000).date().isoformat()
    return "[%s] (%s, %s) %s" % (note.citation, note.kind, day, flatten(text))
