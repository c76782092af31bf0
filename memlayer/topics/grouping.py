"""Matters of a month: sessions grouped by shared words, names and files.

Average linkage over the cosine of weighted terms, as in document clustering (Manning et al., Introduction to
Information Retrieval, 17.3).
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memlayer.edge.counting import counted
from memlayer.text.context_block import cut, flatten
from memlayer.text.terms import inverse_document_frequency
from memlayer.topics.profile import Profile

MIN_ALIKE = 0.12  # below it sessions of the real sets had read as different matters
SUBJECT_WEIGHT = 4.0  # a note's subject was given to name the matter
FILE_WEIGHT, NAME_WEIGHT = 2.0, 1.5  # a shared file says more than a shared word
MAX_SHARE = 0.4  # of the sessions: a term in more of them is the project's own name
MAX_SESSIONS = 600
MAX_TOPICS = 10
MAX_NAMES = 4
TEXT_CHARS = 240
MAX_PATTERN, MAX_NOTES = 2, 3


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
