"""A careful rule: a later sentence gives a thing another value.

Both say the same words and give a value of one kind (text.value_slots). In doubt they speak of two things.
"""

from __future__ import annotations

import re
from functools import cache

from memlayer.text.terms import query_terms
from memlayer.text.value_slots import Slots, slots
from memlayer.text.word_lists import word_list, word_set

SHARED = 0.5  # of the fewer words of the two
FEWEST = 2  # words in common, where the two have as many
MOST_IN_PLACE = 2  # words in the place of which others stand, in the same wording: `staging`, `local`
QUALIFIER = 1  # words more in one of them: `the port`, `the internal port`
# A number, a letter or an environment tells two things of one kind apart.
LABEL = re.compile(
    r"v?\d+|[a-z]|[a-z]+(?:-[a-z]+)*-\d+|prod\w*|stage|dev|develop|qa|test|local|운영|스테이징|개발|로컬"
)
DENIES = re.compile(
    r"\b(?:not|never|no|cannot)\b|n't\b|아니|않|(?<![가-힣])안 |없|금지|마(?:세요|라)?$|던가", re.IGNORECASE
)
CHANGE = re.compile(
    r"\b(?:now|no longer|any ?more|instead|moved|changed|switched|dropped|dropping|replaced|upgraded|raised"
    r"|lowered|postponed|slips?|slipped"
    r"|delayed|taking over|took over|takes over|from now on|no more|is gone|are gone|migrated|renamed|bumped"
    r"|extended|shortened|again|turned out"
    r"|deprecated|retired|removed|increased|decreased|reduced)\b"
    r"|이제|더 이상|더는|대신|말고|바뀌|바뀐|바꾸|바꿨|변경|옮기|옮겼|연기|올리|올렸|늘리|늘렸|낮추|낮췄|줄이"
    r"|줄였|교체|넘어갔|밀렸|앞당겨|안 쓰|없앴|폐지|아니라"
    r"|갈아탔|전환|으로 올라|로 내려|미뤄|미루|당겨",
    re.IGNORECASE,
)


def gives_another_value(older: str, newer: str) -> bool:
    """True if the newer sentence gives the older's thing another value.

    Never raises on any text.
    """
    before, after = slots(older), slots(newer)
    if not differ(before, after):
        return False
    says_change = CHANGE.search(newer) is not None
    if not says_change and (DENIES.search(older) or DENIES.search(newer)):
        return False
    return _is_one_thing(content(before), content(after), says_change=says_change)


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
    english = query_terms(" ".join(word_list(__package__, "filler")))
    return word_set(__package__, "filler_korean").union(english)


def width(terms: frozenset[str]) -> float:
    """The number of words; two Korean terms make one."""
    return sum(1.0 if term.isascii() else 0.5 for term in terms)


def _is_one_thing(old: frozenset[str], new: frozenset[str], *, says_change: bool) -> bool:
    """True for the words of two sentences about one thing."""
    fewer, shared = min(len(old), len(new)), len(old & new)
    if not shared or shared < max(min(FEWEST, fewer), SHARED * fewer):
        return False
    lost, added = old - new, new - old
    if any(LABEL.fullmatch(word) for word in lost | added):
        return False
    if says_change or not (lost or added):
        return True
    if not (lost and added):
        return width(lost | added) > QUALIFIER
    return max(width(lost), width(added)) > MOST_IN_PLACE
