"""What a new statement does to an older one: says the same (merge), replaces it (supersede), or neither (keep)."""

from __future__ import annotations

from typing import NamedTuple

from memlayer.consolidation.conflict.features import Parts, parts
from memlayer.consolidation.conflict.guards import leaves_alone
from memlayer.consolidation.conflict.subject_name import Naming, compare_names
from memlayer.text.sentences import is_question

MERGE, SUPERSEDE, KEEP = "merge", "supersede", "keep"

# Relevance is counted from the background, so 1 is the top of what two unrelated texts reach and statements of one
# subject lie above it: see `judge`.
UNRELATED = 0.75
NEAR = 1.1
ALIKE = 1.5
_NAMES = {"name", "place"}
_SHARED = 0.34
_SAME_WORDS = 0.5
_SAME_TEXT = 0.8
_MOSTLY = 0.6
_NEARLY_ALL = 0.9
_HARDLY_ELSE = 0.65  # of two that share it, the shorter one says hardly anything else


class Verdict(NamedTuple):
    """verdict: merge | supersede | keep. reasons: what decided. overlap: shared content terms of the shorter one, in
    [0, 1]."""

    verdict: str
    reasons: tuple[str, ...]
    overlap: float


def judge(older: str, newer: str, relevance: float | None = None) -> Verdict:
    """Compare two statements of one project; never raises on any text.

    relevance: their centred cosine on the model's calibrated scale, (cosine - low) / (high - low), not cut off at 1;
    None without vectors. The vectors say whether the two belong together, the words what has changed.
    """
    one, other = parts(older), parts(newer)
    shared = one.terms & other.terms
    overlap = len(shared) / max(1, min(len(one.terms), len(other.terms)))
    jaccard = len(shared) / max(1, len(one.terms | other.terms))
    far = relevance is not None and relevance < UNRELATED
    near = relevance is not None and relevance >= NEAR
    alike = relevance is not None and relevance >= ALIKE

    def say(verdict: str, *reasons: str) -> Verdict:
        return Verdict(verdict, reasons, round(overlap, 3))

    if older.strip() == newer.strip():
        return say(MERGE, "the same text")
    if is_question(newer):
        return say(KEEP, "asked")
    naming = compare_names(older, newer)
    if naming.reason:
        return say(KEEP, naming.reason)
    if _mentions_replaced(one, other) and (overlap >= _HARDLY_ELSE or (shared and near)):
        return say(SUPERSEDE, "names the old value and does away with it")
    if far and jaccard < _SAME_WORDS:
        return say(KEEP, "unrelated by meaning")
    different, equal = _compare(one, other)
    denied = all(before != after for before, after in zip(one.denies, other.denies, strict=False))
    changed = other.changes and not one.changes
    if denied and different and not changed:
        return say(KEEP, "denied of another")
    stands = leaves_alone(older, newer, different)
    if not _same_subject(one, other) and not (alike and equal):
        return say(KEEP, "about something else")
    if overlap < _SHARED and not (near and (different or equal)) and not alike:
        return say(KEEP, "hardly a word in common")
    if stands:
        return say(KEEP, stands)
    unsure = _is_unsure(naming, one, other, set(different))
    if unsure and (different or ((denied or changed) and not equal)):
        return say(KEEP, "perhaps about something else")
    if different and (overlap >= _SAME_WORDS or other.changes or near):
        return say(SUPERSEDE, "another " + ", ".join(different))
    if jaccard > _NEARLY_ALL and not different and not denied:
        return say(MERGE, "the same words")
    if denied and (jaccard > _SAME_WORDS or (changed and overlap >= _SAME_WORDS) or (alike and overlap >= _SAME_WORDS)):
        return say(SUPERSEDE, "denies the other")
    renewed = changed and (overlap >= _SAME_WORDS or near) and jaccard < _SAME_TEXT
    if renewed and one.terms - other.terms and other.terms - one.terms:
        return say(SUPERSEDE, "says that it has changed")
    if naming.another_word:
        return say(KEEP, "another word in its place")
    if equal and not (_adds_value(one, other) and _adds_value(other, one)):
        return say(MERGE, "the same value")
    if renewed:
        return say(SUPERSEDE, "says that it has changed")
    if _says_the_same(one, other, overlap, jaccard, near, alike):
        return say(MERGE, "the same words" if jaccard >= _SAME_WORDS else "the same by meaning")
    return say(KEEP, "another aspect")


def _is_unsure(naming: Naming, one: Parts, other: Parts, different: set[str]) -> bool:
    """True if the names are too different, or too little else is shared, for the newer one to change the older."""
    if not other.changes or one.changes:
        return naming.lost or naming.added or (different <= _NAMES and not naming.attribute)
    known = other.terms.union(*other.values.values())
    return naming.lost and not any(held & known for held in one.values.values())


def _adds_value(one: Parts, other: Parts) -> bool:
    """True if `other` gives a value of which `one` knows nothing: a merge would lose it."""
    known = one.terms.union(*one.values.values())
    return any(found - known for found in other.values.values())


def _says_the_same(one: Parts, other: Parts, overlap: float, jaccard: float, near: bool, alike: bool) -> bool:
    if one.values or other.values:
        return jaccard >= _SAME_TEXT or (alike and jaccard >= _MOSTLY)
    held = overlap > 0.9 and len(one.terms & other.terms) >= 3
    return jaccard >= _MOSTLY or held or (near and jaccard >= _SHARED) or (alike and overlap >= _SHARED)


def _same_subject(one: Parts, other: Parts) -> bool:
    """True unless each names something as its subject that the other does not know."""
    if not one.subject or not other.subject:
        return True
    forth = len(one.subject & (other.terms | other.subject)) / len(one.subject)
    back = len(other.subject & (one.terms | one.subject)) / len(other.subject)
    if forth < 1 and back < 1:
        return min(forth, back) >= 0.7 and max(forth, back) > 0.75
    return min(forth, back) >= _SAME_WORDS


def _compare(one: Parts, other: Parts) -> tuple[list[str], list[str]]:
    """(types in which the two give different values, types in which one holds the other's)."""
    different, equal = [], []
    for kind in one.values:
        if kind not in other.values:
            if one.values[kind] <= other.terms:
                equal.append(kind)
            continue
        left, right = one.values[kind], other.values[kind]
        if left <= right or right <= left:
            equal.append(kind)
        elif left - right - other.terms and right - left - one.terms:
            different.append(kind)
    return different, equal


def _mentions_replaced(one: Parts, other: Parts) -> bool:
    """True if the newer one repeats a value of the older beside something new, as something of the past."""
    if other.discarded & (one.terms.union(*one.values.values()) - one.subject) - one.discarded:
        return True
    if not other.contrasts or one.changes:
        return False
    known = one.terms.union(*one.values.values())
    fresh = {term for kind in ("name", "place") for term in other.values.get(kind, ())} - known
    for kind, old in one.values.items():
        found = other.values.get(kind, frozenset())
        if old <= (found | other.terms):
            if found - known or (kind == "name" and fresh):
                return True
            if other.changes and kind == "name" and other.terms - one.terms and other.denies[1] != one.denies[1]:
                return True
    return False
