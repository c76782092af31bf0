"""A careful rule: a later sentence gives a thing another value.

Both say the same words and give a value of one kind (text.value_slots). In doubt they speak of two things.
"""

from __future__ import annotations

import re

from memlayer.consolidation.conflict.features import CHANGE, filler_terms
from memlayer.text.value_slots import Slots, slots

SHARED = 0.5  # of the fewer words of the two
FEWEST = 2  # words in common, where the two have as many
MOST_IN_PLACE = 2  # words in the place of which others stand, in the same wording: `staging`, `local`
QUALIFIER = 1  # words more in one of them: `the port`, `the internal port`
# A number, a letter or an environment tells two things of one kind apart.
_LABEL = re.compile(
    r"v?\d+|[a-z]|[a-z]+(?:-[a-z]+)*-\d+|prod\w*|stage|dev|develop|qa|test|local|운영|스테이징|개발|로컬"
)
_DENIES = re.compile(
    r"\b(?:not|never|no|cannot)\b|n't\b|아니|않|(?<![가-힣])안 |없|금지|마(?:세요|라)?$", re.IGNORECASE
)


def gives_another_value(older: str, newer: str) -> bool:
    """True if the newer sentence gives the older's thing another value.

    Never raises on any text.
    """
    before, after = slots(older), slots(newer)
    if not _differs(before, after):
        return False
    says_change = CHANGE.search(newer) is not None
    if not says_change and (_DENIES.search(older) or _DENIES.search(newer)):
        return False
    return _is_one_thing(before.words, after.words, says_change=says_change)


def _differs(before: Slots, after: Slots) -> bool:
    """True for another value of one kind.

    Of two kinds the one names the thing: "Monday's at 10:00" stands beside "Friday's at 11:30".
    """
    kinds = before.values.keys() & after.values.keys()
    apart = sum(before.values[kind].isdisjoint(after.values[kind]) for kind in kinds)
    return apart <= 1 and any(after.values[kind] - before.values[kind] for kind in kinds)


def _is_one_thing(before: frozenset[str], after: frozenset[str], *, says_change: bool) -> bool:
    """True for the words of two sentences about one thing."""
    old, new = before - filler_terms(), after - filler_terms()
    fewer, shared = min(len(old), len(new)), len(old & new)
    if not shared or shared < max(min(FEWEST, fewer), SHARED * fewer):
        return False
    lost, added = old - new, new - old
    if any(_LABEL.fullmatch(word) for word in lost | added):
        return False
    if says_change or not (lost or added):
        return True
    if not (lost and added):
        return _words(lost | added) > QUALIFIER
    return max(_words(lost), _words(added)) > MOST_IN_PLACE


def _words(terms: frozenset[str]) -> float:
    """The number of words; two Korean terms make one."""
    return sum(1.0 if term.isascii() else 0.5 for term in terms)
