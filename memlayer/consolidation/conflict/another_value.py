"""A careful rule: a later sentence gives a thing another value.

Both say the same words and give a value of one kind (text.value_slots). In doubt they speak of two things.
"""

import re
from functools import cache

from memlayer.consolidation.conflict.change import CHANGE, DENIES, ENDS, UNDECIDED, english_fillers, replaces
from memlayer.text.value_slots import Slots, slots
from memlayer.text.word_lists import word_set

SHARED = 0.5  # of the fewer words of the two
FEWEST = 2  # words in common, where the two have as many
MOST_IN_PLACE = 2  # words in the place of which others stand, in the same wording: `staging`, `local`
QUALIFIER = 1  # words more in one of them: `the port`, `the internal port`
# A number, a letter or an environment tells two things of one kind apart.
LABEL = re.compile(
    r"v?\d+|[a-z]|[a-z]+(?:-[a-z]+)*-\d+|prod\w*|stage|dev|develop|qa|test|local|운영|스테이징|개발|로컬"
)


def gives_another_value(older: str, newer: str) -> bool:
    """True if the newer sentence gives the older's thing another value.

    Never raises on any text.
    """
    if CHANGE.search(newer) or ENDS.search(newer):
        return replaces(older, newer)
    before, after = slots(older), slots(newer)
    if not differ(before, after) or DENIES.search(older) or DENIES.search(newer) or UNDECIDED.search(newer):
        return False
    return _is_one_thing(content(before), content(after))


def differ(before: Slots, after: Slots) -> bool:
    """True for another value of one kind.

    Of two kinds the one names the thing: "Monday's at 10:00" stands beside "Friday's at 11:30".
    """
    kinds = before.values.keys() & after.values.keys()
    apart = sum(before.values[kind].isdisjoint(after.values[kind]) for kind in kinds)
    return apart <= 1 and any(after.values[kind] - before.values[kind] for kind in kinds)


def content(sentence: Slots) -> frozenset[str]:
    """The words of a sentence without its values and fillers."""
    return sentence.words - filler_terms()


@cache
def filler_terms() -> frozenset[str]:
    """Terms of deciding, using and doing: no statement is about them."""
    return word_set(__package__, "filler_korean") | english_fillers()


def width(terms: frozenset[str]) -> float:
    """The number of words; two Korean terms make one."""
    return sum(1.0 if term.isascii() else 0.5 for term in terms)


def _is_one_thing(old: frozenset[str], new: frozenset[str]) -> bool:
    """True for the words of two sentences about one thing."""
    fewer, shared = min(len(old), len(new)), len(old & new)
    if not shared or shared < max(min(FEWEST, fewer), SHARED * fewer):
        return False
    lost, added = old - new, new - old
    if any(LABEL.fullmatch(word) for word in lost | added):
        return False
    if not (lost or added):
        return True
    if not (lost and added):
        return width(lost | added) > QUALIFIER
    return max(width(lost), width(added)) > MOST_IN_PLACE
