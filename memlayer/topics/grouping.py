"""Matters of a month: sessions grouped by shared words, names and files.

Average linkage over the cosine of weighted terms, as in document clustering (Manning et al., Introduction to
Information Retrieval, 17.3).
"""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memlayer.edge.capture.spool import event_id
from memlayer.edge.counting import counted
from memlayer.keep.keep import Keep
from memlayer.kinds import Category, Ended, Kind
from memlayer.model import Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import cut, flatten
from memlayer.text.terms import inverse_document_frequency
from memlayer.topics.profile import Profile, profiles
from memlayer.turns.salience import new_memory

MONTH_MS = 30 * 86_400_000
FEWEST_TURNS = 3  # fewer turns are their own summary
MAX_ROWS = 10_000
DAY_MS = 24 * 3_600_000
HOUR_MS = 3_600_000
IDLE_MS = 30 * 60_000
MAX_EVENTS = 100
MIN_ALIKE = 0.12  # below it sessions of the real sets had read as different matters
SUBJECT_WEIGHT = 4.0  # a note's subject was given to name the matter
FILE_WEIGHT, NAME_WEIGHT = 2.0, 1.5  # a shared file says more than a shared word
MAX_SHARE = 0.4  # of the sessions: a term in more of them is the project's own name
MAX_SESSIONS = 600
MAX_TOPICS = 10
MAX_NAMES = 4
TEXT_CHARS = 240
MAX_PATTERN, MAX_NOTES = 2, 3


def within_a_day(turns: Sequence[Memory], now_ms: int) -> list[Memory]:
    """Return the turns of a day, newest first, at most MAX_EVENTS."""
    return [turn for turn in turns if now_ms - turn.at_ms < DAY_MS][:MAX_EVENTS]


def is_due(last_ms: int, said_ms: int, turns: Callable[[], int], now_ms: int) -> bool:
    """Return whether topics are to be made again.

    An hour after the last time, after MAX_EVENTS turns, or when nobody has said anything for half an hour. Never while
    nothing new was said. last_ms: of the last time, 0 for never. turns: counts those since.
    """
    if said_ms <= last_ms:
        return False
    return now_ms - last_ms >= HOUR_MS or now_ms - said_ms >= IDLE_MS or turns() >= MAX_EVENTS


@dataclass(frozen=True)
class Topic:
    """Sessions on one matter, oldest first.

    names: its notes' subject, and words that tell it from others. pattern: sentences that several of its sessions said.
    """

    profiles: tuple[Profile, ...]
    names: tuple[str, ...]

    @property
    def turns(self) -> int:
        """The number of their turns."""
        return sum(profile.turns for profile in self.profiles)

    @property
    def last_ms(self) -> int:
        """The time of the newest turn."""
        return max(profile.last_ms for profile in self.profiles)

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The events of their turns."""
        return tuple(source for profile in self.profiles for source in profile.source_ids)


def topics_of(profiles: Sequence[Profile], most: int = MAX_TOPICS) -> list[Topic]:
    """Group sessions into matters, those with most turns first."""
    rows = list(profiles)[-MAX_SESSIONS:]
    if not rows:
        return []
    features = [_features(row) for row in rows]
    counts = Counter(feature for row in features for feature in row)
    shared = [name for name, count in counts.items() if 1 < count <= max(2, MAX_SHARE * len(rows))]
    kept = {name: at for at, name in enumerate(shared)}
    groups = _grouped(_alike(features, kept, counts, len(rows)), len(rows))
    topics = [
        Topic(
            members := tuple(rows[at] for at in group),
            tuple(filter(None, (_subject(members), *_names(group, features, counts, len(rows)))))[:MAX_NAMES],
        )
        for group in groups
    ]
    return sorted(topics, key=lambda topic: (-topic.turns, -topic.last_ms))[:most]


def line_of(topic: Topic) -> str:
    """Return a topic as one readable line, its matter last."""
    days = [time.strftime("%m-%d", time.localtime(ms / 1000)) for ms in (topic.profiles[0].first_ms, topic.last_ms)]
    when = days[0] if days[0] == days[1] else " to ".join(days)
    count = counted(len(topic.profiles), "session")
    head = ", ".join(topic.names)
    text = cut(flatten("; ".join(matter_of(topic))), TEXT_CHARS)
    return "%s%s, %s: %s" % (head + " (" if head else "(", count, when + ")", text)


def matter_of(topic: Topic) -> list[str]:
    """Return a topic's pattern and its notes, else its newest session's text."""
    subject = _subject(topic.profiles)
    of_subject = {row.text: row for profile in topic.profiles for row in profile.stated if row.subject == subject}
    newest = sorted(of_subject.values(), key=lambda row: -row.at_ms)
    pattern = pattern_of(topic)
    notes = [row.text for row in newest if not any(text.startswith(flatten(row.text)) for text in pattern)]
    return [*pattern, *notes[:MAX_NOTES]] or [topic.profiles[-1].best]


def pattern_of(topic: Topic) -> list[str]:
    """Return the sentences that several of its sessions said, counted."""
    own = {profile.session_id for profile in topic.profiles}
    counts = {row.text: len(row.sessions & own) for profile in topic.profiles for row in profile.stated}
    said = Counter(key for profile in topic.profiles for key in profile.said)
    sentences = {key: text for profile in topic.profiles for key, text in profile.said.items()}
    counts.update({sentences[key]: count for key, count in said.items() if sentences[key] not in counts})
    best = sorted((text for text, count in counts.items() if count > 1), key=lambda text: (-counts[text], text))
    return ["%s (in %d sessions)" % (flatten(text), counts[text]) for text in best[:MAX_PATTERN]]


def _subject(profiles: Sequence[Profile]) -> str:
    """Return the subject of most sessions' notes, "" for none."""
    counts = Counter(subject for profile in profiles for subject in profile.subjects)
    return min(counts, key=lambda subject: (-counts[subject], subject), default="")


def _features(profile: Profile) -> dict[str, float]:
    """Return a session's terms, names and files with their weights."""
    weights = {term: 1.0 + np.log(count) for term, count in profile.terms.items()}
    weights.update({"name:" + name.casefold(): NAME_WEIGHT for name in profile.names})
    weights.update({"subject:" + subject.casefold(): SUBJECT_WEIGHT for subject in profile.subjects})
    weights.update({"file:" + path: FILE_WEIGHT for path in profile.files})
    return weights


def _alike(
    features: Sequence[dict[str, float]], kept: dict[str, int], counts: Counter[str], sessions: int
) -> NDArray[np.float64]:
    """Return the cosine of each two sessions."""
    table = np.zeros((len(features), max(1, len(kept))))
    for at, row in enumerate(features):
        for name, weight in row.items():
            if name in kept:
                table[at, kept[name]] = weight * inverse_document_frequency(sessions, counts[name])
    lengths = np.linalg.norm(table, axis=1, keepdims=True)
    table /= np.where(lengths > 0, lengths, 1.0)
    return np.asarray(table @ table.T)


def _grouped(alike: NDArray[np.float64], count: int) -> list[list[int]]:
    """Join the two most similar groups until none are."""
    groups = {at: [at] for at in range(count)}
    linked = alike.copy()
    np.fill_diagonal(linked, -1.0)
    while len(groups) > 1:
        first, second = divmod(int(np.argmax(linked)), count)
        if linked[first, second] < MIN_ALIKE:
            break
        sizes = len(groups[first]), len(groups[second])
        joined = (linked[first] * sizes[0] + linked[second] * sizes[1]) / sum(sizes)
        linked[first], linked[:, first] = joined, joined
        linked[first, first] = -1.0
        linked[second], linked[:, second] = -1.0, -1.0
        for other in range(count):
            if other not in groups or other == first:
                linked[first, other] = linked[other, first] = -1.0
        groups[first] = sorted(groups[first] + groups.pop(second))
    return list(groups.values())


def _names(
    group: Sequence[int], features: Sequence[dict[str, float]], counts: Counter[str], sessions: int
) -> tuple[str, ...]:
    """Return the names and files that the group shares and others lack."""
    inside = Counter(name for at in group for name in features[at] if name.startswith(("name:", "file:")))
    enough = 2 if len(group) > 1 else 1
    scored = {
        name.partition(":")[2].rpartition("/")[2]: count * inverse_document_frequency(sessions, counts[name])
        for name, count in inside.items()
        if count >= enough
    }
    best = sorted(scored, key=lambda name: (-scored[name], name))
    chosen: list[str] = []
    for name in best:
        if not any(name in other or other in name for other in chosen):
            chosen.append(name)
    return tuple(chosen[:MAX_NAMES])


def renew(keep: Keep, project_id: str, now_ms: int) -> None:
    """Group the last month's sessions anew. Raises StoreError.

    A topic whose sessions went to others is retired. Summaries and turns stay as they are.
    """
    topics = topics_of(profiles(keep.store, project_id, now_ms - MONTH_MS))
    made = [_memory(project_id, topic) for topic in topics if topic.turns >= FEWEST_TURNS]
    known = topic_memories(keep.store, project_id, is_current=None)
    keep.renew(made, known, Ended.REGROUPED, now_ms)


def topic_memories(store: Store, project_id: str, *, is_current: bool | None = True) -> list[Memory]:
    """Return a project's topics, newest first. Raises StoreError."""
    query = MemoryQuery(
        project_id=project_id, category=Category.DAILY, kind=Kind.TOPIC, is_current=is_current, limit=MAX_ROWS
    )
    return store.memories(query)


def _memory(project_id: str, topic: Topic) -> Memory:
    made = event_id(project_id, topic.profiles[0].session_id, Kind.TOPIC)
    return new_memory(
        made, Category.DAILY, Kind.TOPIC, line_of(topic), topic.last_ms, project_id=project_id,
        source_ids=topic.source_ids,
    )  # fmt: skip
