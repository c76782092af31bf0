"""A session's files, names and words, by which sessions are compared."""

import contextlib
import posixpath
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

import msgspec

from memlayer.edge.capture.tool_use import EDITS
from memlayer.edge.home import paths
from memlayer.growth.levels import sessions_of
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.sentences import sentences
from memlayer.text.terms import index_terms, query_terms
from memlayer.turns.outcome import call_of
from memlayer.turns.turn import prompt_and_answer

FADES_MS = 48 * 3_600_000
SEAMLESS, SHIFT = 0.7, 0.4
FIRST_EVER = 0.5
TOP_TERMS = 40
MAX_LINES = 500  # of the log. The oldest go
MAX_ROWS = 20_000
PROMPT_CHARS, ANSWER_CHARS = 400, 300  # of a turn. What follows is detail
MAX_SENTENCE_CHARS, FEWEST_TERMS = 200, 3  # of a sentence that may be a topic's pattern
# Names of code and things, as people write them: `push_sessions`, `shadow-branch`, `GoReleaser`, `PROJ-12`, `api.py`.
_NAME = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z]+[_.-][A-Za-z0-9][A-Za-z0-9_.-]*[A-Za-z0-9_]|[A-Z]?[a-z]+[A-Z][A-Za-z0-9_]+)"
    r"(?![A-Za-z0-9_])"
)


class Stated(NamedTuple):
    """A note or statement of a session. sessions: all that said it."""

    text: str
    subject: str
    at_ms: int
    sessions: frozenset[str]


@dataclass(frozen=True)
class Profile:
    """The matter of a session.

    files: changed in it. names: of code and things. terms: of its turns, each once a turn. best: the text that tells
    it best: a note, else its summary, else its last turn. citation: of that. source_ids: events of its turns. stated:
    its notes. said: its sentences, by their terms.
    """

    session_id: str
    first_ms: int
    last_ms: int
    turns: int
    files: frozenset[str]
    names: frozenset[str]
    terms: Counter[str]
    best: str
    citation: str
    source_ids: tuple[str, ...]
    stated: tuple[Stated, ...] = ()
    said: dict[str, str] = field(default_factory=dict)

    @property
    def subjects(self) -> Counter[str]:
        """The subjects of its notes."""
        return Counter(row.subject for row in self.stated if row.subject)


def profiles(store: Store, project_id: str, since_ms: int, limit: int = MAX_ROWS) -> list[Profile]:
    """Return profiles of sessions since a time, oldest first. Raises StoreError."""
    query = MemoryQuery(project_id=project_id, is_current=True, limit=limit)
    by_session: dict[str, list[Memory]] = {}
    for row in store.memories(query):
        if row.session_id and row.at_ms >= since_ms and row.category != Category.CUSTOM:
            by_session.setdefault(row.session_id, []).append(row)
    files: dict[str, set[str]] = {}
    for event in store.events(project_id=project_id, kind="tool", limit=limit):
        if event.session_id in by_session:
            files.setdefault(event.session_id, set()).update(changed_files([event]))
    stated = _stated(store, [row for rows in by_session.values() for row in rows])
    made = [
        profile_of(rows, files.get(session_id, set()), stated.get(session_id, ()))
        for session_id, rows in by_session.items()
    ]
    return sorted((row for row in made if row is not None), key=lambda row: row.first_ms)


def _stated(store: Store, memories: Sequence[Memory]) -> dict[str, list[Stated]]:
    """Return the notes and statements of each session that said them."""
    rows = [row for row in memories if row.category == Category.CORE and row.known_kind is not Kind.TASK]
    occasions = sessions_of(store, rows)
    out: dict[str, list[Stated]] = {}
    for row in rows:
        said = frozenset((row.session_id, *occasions[row.id].at_ms))
        for session_id in said:
            out.setdefault(session_id, []).append(Stated(row.headline or row.text, row.subject, row.at_ms, said))
    return out


def changed_files(events: Iterable[Event]) -> set[str]:
    """Return the last two parts of the paths that these calls changed."""
    calls = [call_of(event.text, event.detail) for event in events]
    paths = [call.target for call in calls if call.tool in EDITS and call.target and not call.is_failed]
    return {posixpath.join(*path.rstrip("/").split("/")[-2:]) for path in paths}


def profile_of(rows: Sequence[Memory], files: Iterable[str], stated: Iterable[Stated] = ()) -> Profile | None:
    """Make a session's profile; None without a turn worth recalling."""
    known = [(row, KINDS[row.known_kind]) for row in rows]
    turns = sorted((row for row, kind in known if kind.searched and not kind.mark), key=lambda row: row.at_ms)
    if not turns:
        return None
    terms: Counter[str] = Counter()
    names: set[str] = set()
    said: dict[str, str] = {}
    for turn in turns:
        prompt, answer = prompt_and_answer(turn.text)
        text = prompt[:PROMPT_CHARS] + "\n" + answer[:ANSWER_CHARS]
        terms.update(set(index_terms(text).split()))
        names.update(_NAME.findall(text))
        for start, end in sentences(text):
            if (
                end - start <= MAX_SENTENCE_CHARS
                and len(of_sentence := set(query_terms(text[start:end]))) >= FEWEST_TERMS
            ):
                said.setdefault(" ".join(sorted(of_sentence)), text[start:end])
    best = _best(rows, turns)
    return Profile(
        session_id=turns[0].session_id,
        first_ms=turns[0].at_ms,
        last_ms=turns[-1].at_ms,
        turns=len(turns),
        files=frozenset(files),
        names=frozenset(names),
        terms=terms,
        best=best.text,
        citation=best.citation,
        source_ids=tuple(source for turn in turns for source in turn.source_ids),
        stated=tuple(stated),
        said=said,
    )


def _best(rows: Sequence[Memory], turns: Sequence[Memory]) -> Memory:
    """Return the session's summary, else its newest statement, else last turn."""
    summaries = [row for row in rows if row.known_kind is Kind.SESSION_SUMMARY]
    stated = sorted((row for row in rows if row.category == Category.CORE), key=lambda row: row.at_ms)
    return (summaries[-1:] or stated[-1:] or list(turns[-1:]))[0]


class Transition(StrEnum):
    """How a session follows the one before it."""

    SEAMLESS = "seamless"
    TOPIC_SHIFT = "topic_shift"
    BREAK = "break"


@dataclass(frozen=True)
class ContinuityStep:
    """A line of the log: a step between sessions, without text."""

    project_id: str
    from_session: str
    to_session: str
    at_ms: int
    score: float
    transition: Transition


class Portions(NamedTuple):
    """Weights of a score's parts; their sum counts as 1."""

    topics: float = 0.3
    time: float = 0.3
    files: float = 0.2
    names: float = 0.2


USUAL = Portions()


def score(before: Profile | None, after: Profile, portions: Portions = USUAL) -> float:
    """Return the share of a session that goes on, in [0, 1]."""
    if before is None:
        return FIRST_EVER
    nearness = max(0.0, 1.0 - max(0, after.first_ms - before.last_ms) / FADES_MS)
    weighted = (
        portions.topics * _shared(_top(before), _top(after))
        + portions.time * nearness
        + portions.files * _shared(before.files, after.files)
        + portions.names * _shared(before.names, after.names)
    )
    return min(1.0, weighted / sum(portions))


def transition_of(value: float, *, is_first: bool = False) -> Transition:
    """Return the name of a score; the first session ever begins anew."""
    if is_first or value < SHIFT:
        return Transition.BREAK
    return Transition.SEAMLESS if value >= SEAMLESS else Transition.TOPIC_SHIFT


def steps(project_id: str, profiles: Sequence[Profile], portions: Portions = USUAL) -> list[ContinuityStep]:
    """Return the step to each session. profiles: oldest first."""
    made = []
    for before, after in zip([None, *profiles], profiles, strict=False):
        value = round(score(before, after, portions), 3)
        name = before.session_id if before is not None else ""
        transition = transition_of(value, is_first=before is None)
        made.append(ContinuityStep(project_id, name, after.session_id, after.first_ms, value, transition))
    return made


def _top(profile: Profile) -> frozenset[str]:
    return frozenset(term for term, _ in profile.terms.most_common(TOP_TERMS))


def _shared(left: frozenset[str], right: frozenset[str]) -> float:
    """Jaccard's measure; two empty sets share nothing."""
    return len(left & right) / len(left | right) if left and right else 0.0


def read_log(home: str) -> list[ContinuityStep]:
    """Return the steps on record, oldest first; unreadable lines are left out."""
    logged = []
    try:
        with open(paths.continuity(home), encoding="utf-8") as file:
            lines = file.read().splitlines()
    except (OSError, UnicodeDecodeError):
        return []
    for line in lines:
        with contextlib.suppress(ValueError):
            logged.append(msgspec.json.decode(line, type=ContinuityStep))
    return logged


def write_log(home: str, new: Sequence[ContinuityStep]) -> None:
    """Add steps, each session's once and its last one. Raises OSError."""
    known = {(step.project_id, step.to_session): step for step in read_log(home)}
    known.update({(step.project_id, step.to_session): step for step in new})
    kept = sorted(known.values(), key=lambda step: step.at_ms)[-MAX_LINES:]
    paths.write_whole(paths.continuity(home), msgspec.json.Encoder().encode_lines(kept))
