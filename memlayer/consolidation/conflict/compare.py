"""The effect of a new statement on an older: merge, supersede, keep.

A careful rule: a statement supersedes another that says the same words with another value, or, where it says that
something has changed, with another word or the opposite. In doubt both are kept: of 8,097 pairs of real statements
hardly one is a change, and a model that reads the turns names what a statement replaces.
"""

import re
from enum import StrEnum

from memlayer.consolidation.conflict.another_value import LABEL, content, differ
from memlayer.consolidation.conflict.change import CHANGE, DENIES, ENDS, UNDECIDED, replaces
from memlayer.consolidation.conflict.reversal import reverses, says_two
from memlayer.text.sentences import is_question
from memlayer.text.value_slots import slots

FEWEST = 2  # words in common, where the two have as many
MOSTLY = 0.8  # of the words of two statements that say the same

# Of one character: `A 서버`, `Phase 1`. No term of a search, and yet a name.
_SHORT_NAME = re.compile(r"(?<![\w'])(?:[A-Z]|[b-hj-z]|[가-힣](?= )|v?\d+)(?![\w'])")
_ANY_NUMBER = re.compile(r"v?\d+")
_CHANGE_WORDS = re.compile(rf"(?:{CHANGE.pattern}|{ENDS.pattern})[가-힣]*", re.IGNORECASE)
_KOREAN_START = re.compile(r"^(?:(?:우리|저희|이제|앞으로) )*([가-힣]{1,2})[가-힣]* ")


class Verdict(StrEnum):
    """The effect of a new statement on an older one."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    KEEP = "keep"


def judge(older: str, newer: str) -> Verdict:
    """Compare two statements of one project; never raises on any text."""
    if older.strip() == newer.strip():
        return Verdict.MERGE
    if is_question(newer):
        return Verdict.KEEP
    if reverses(older, newer) or (replaces(older, newer) and not says_two(older)):
        return Verdict.SUPERSEDE
    if not _begin_alike(older, newer):
        return Verdict.KEEP
    before, after = (slots(" ".join(_CHANGE_WORDS.sub(" ", text).split())) for text in (older, newer))
    old, new = content(before), content(after)
    lost = old - new
    added = new.difference(old, *before.values.values())  # `no longer 8443`
    shared = len(old & new) + (before.values == after.values != {})
    if shared < max(1, min(FEWEST, len(old))) or any(LABEL.fullmatch(word) for word in lost | added):
        return Verdict.KEEP
    if _letters(older) != _letters(newer):
        return Verdict.KEEP
    is_change = CHANGE.search(newer) or ENDS.search(newer)
    if differ(before, after) or differ(after, before):
        denies = DENIES.search(older) or DENIES.search(newer) or UNDECIDED.search(newer) or UNDECIDED.search(older)
        return Verdict.KEEP if lost or added or denies else Verdict.SUPERSEDE
    if before.values != after.values or _short_names(older) != _short_names(newer):
        return Verdict.KEEP
    if bool(DENIES.search(older)) != bool(DENIES.search(newer)):
        return Verdict.KEEP if lost or added else Verdict.SUPERSEDE
    is_same = not is_change and len(old & new) >= max(FEWEST, MOSTLY * len(old | new))
    return Verdict.MERGE if is_same else Verdict.KEEP


def _begin_alike(older: str, newer: str) -> bool:
    """False for a Korean statement whose first word the other lacks."""
    starts = _KOREAN_START.match(older), _KOREAN_START.match(newer)
    return all(start is None or start[1] in text for start, text in zip(starts, (newer, older), strict=True))


def _short_names(text: str) -> frozenset[str]:
    return frozenset(_SHORT_NAME.findall(text))


def _letters(text: str) -> frozenset[str]:
    return frozenset(name for name in _short_names(text) if not _ANY_NUMBER.fullmatch(name))
