"""The effect of a new statement on an older: merge, supersede, keep."""

from __future__ import annotations

import re
from typing import NamedTuple

from memlayer.consolidation.conflict.features import MAX_CHARS, Parts, normal, parts
from memlayer.consolidation.conflict.subject_name import Naming, compare_names
from memlayer.text.sentences import is_question
from memlayer.text.terms import query_terms

MERGE, SUPERSEDE, KEEP = "merge", "supersede", "keep"

# Relevance is counted from the background, so 1 is the top for two unrelated texts and statements of one
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
    """A verdict (merge, supersede, keep) and its reasons."""

    verdict: str
    reasons: tuple[str, ...]


def judge(older: str, newer: str, relevance: float | None = None) -> Verdict:
    """Compare two statements of one project; never raises on any text.

    relevance: their centred cosine on the model's calibrated scale, (cosine - low) / (high - low), not cut off at 1;
    None without vectors. The vectors say whether the two belong together, the words how they differ.
    """
    if older.strip() == newer.strip():
        return Verdict(MERGE, ("the same text",))
    pair = _pair(older, newer, relevance)
    found = _by_names(pair, newer) or _by_values(pair, older, newer)
    return Verdict(found[0], found[1:])


class _Pair(NamedTuple):
    """Two statements with measures of their likeness; by vectors False without."""

    older: Parts
    newer: Parts
    naming: Naming
    overlap: float
    jaccard: float
    far: bool
    near: bool
    alike: bool


def _pair(older_text: str, newer_text: str, relevance: float | None) -> _Pair:
    older, newer = parts(older_text), parts(newer_text)
    shared = len(older.terms & newer.terms)
    near = relevance if relevance is not None else float("nan")  # no comparison with it holds
    return _Pair(
        older,
        newer,
        compare_names(older_text, newer_text),
        shared / max(1, min(len(older.terms), len(newer.terms))),
        shared / max(1, len(older.terms | newer.terms)),
        far=near < UNRELATED,
        near=near >= NEAR,
        alike=near >= ALIKE,
    )


def _by_names(pair: _Pair, newer: str) -> tuple[str, str] | None:
    """Verdict and reason where names or meaning decide."""
    if is_question(newer):
        return KEEP, "a question"
    if pair.naming.reason:
        return KEEP, pair.naming.reason
    if _ends_value(pair.older, pair.newer) and (pair.overlap >= _HARDLY_ELSE or (pair.overlap and pair.near)):
        return SUPERSEDE, "names the old value and does away with it"
    if pair.far and pair.jaccard < _SAME_WORDS:
        return KEEP, "unrelated by meaning"
    return None


def _by_values(pair: _Pair, older: str, newer: str) -> tuple[str, str]:
    """Verdict and reason by the values that the two statements give."""
    earlier, later = pair.older, pair.newer
    different, equal = _compare(earlier, later)
    is_denial = all(before != after for before, after in zip(earlier.denies, later.denies, strict=False))
    changed = later.changes and not earlier.changes
    if is_denial and different and not changed:
        return KEEP, "denied of another"
    if not _same_subject(earlier, later) and not (pair.alike and equal):
        return KEEP, "about something else"
    if pair.overlap < _SHARED and not (pair.near and (different or equal)) and not pair.alike:
        return KEEP, "hardly a word in common"
    stands = leaves_alone(older, newer, different)
    if stands:
        return KEEP, stands
    unsure = _is_unsure(pair.naming, earlier, later, set(different))
    if unsure and (different or ((is_denial or changed) and not equal)):
        return KEEP, "perhaps about something else"
    if different and (pair.overlap >= _SAME_WORDS or later.changes or pair.near):
        return SUPERSEDE, "another " + ", ".join(different)
    if pair.jaccard > _NEARLY_ALL and not different and not is_denial:
        return MERGE, "the same words"
    if is_denial and (pair.jaccard > _SAME_WORDS or ((changed or pair.alike) and pair.overlap >= _SAME_WORDS)):
        return SUPERSEDE, "denies the other"
    return _by_wording(pair, changed, bool(equal))


def _by_wording(pair: _Pair, changed: bool, equal: bool) -> tuple[str, str]:
    """Verdict and reason where no values differ."""
    earlier, later = pair.older, pair.newer
    is_change = changed and (pair.overlap >= _SAME_WORDS or pair.near) and pair.jaccard < _SAME_TEXT
    if is_change and earlier.terms - later.terms and later.terms - earlier.terms:
        return SUPERSEDE, "says that it has changed"
    if pair.naming.another_word:
        return KEEP, "another word in its place"
    if equal:
        return MERGE, "the same value"
    if is_change:
        return SUPERSEDE, "says that it has changed"
    if _says_the_same(pair):
        return MERGE, "the same words" if pair.jaccard >= _SAME_WORDS else "the same by meaning"
    return KEEP, "another aspect"


def _is_unsure(naming: Naming, earlier: Parts, later: Parts, different: set[str]) -> bool:
    """True if the names differ too much for a change."""
    if not later.changes or earlier.changes:
        return naming.lost or naming.added or (different <= _NAMES and not naming.attribute)
    known = later.terms.union(*later.values.values())
    return naming.lost and not any(held & known for held in earlier.values.values())


def _says_the_same(pair: _Pair) -> bool:
    earlier, later = pair.older, pair.newer
    if earlier.values or later.values:
        return pair.jaccard >= _SAME_TEXT or (pair.alike and pair.jaccard >= _MOSTLY)
    held = pair.overlap > 0.9 and len(earlier.terms & later.terms) >= 3
    by_meaning = (pair.near and pair.jaccard >= _SHARED) or (pair.alike and pair.overlap >= _SHARED)
    return pair.jaccard >= _MOSTLY or held or by_meaning


def _same_subject(earlier: Parts, later: Parts) -> bool:
    """True unless each subject is unknown to the other statement."""
    if not earlier.subject or not later.subject:
        return True
    forth = len(earlier.subject & (later.terms | later.subject)) / len(earlier.subject)
    back = len(later.subject & (earlier.terms | earlier.subject)) / len(later.subject)
    if forth < 1 and back < 1:
        return min(forth, back) >= 0.7 and max(forth, back) > 0.75
    return min(forth, back) >= _SAME_WORDS


def _compare(earlier: Parts, later: Parts) -> tuple[list[str], list[str]]:
    """(types with different values, types with a value in common)."""
    different, equal = [], []
    for kind in earlier.values:
        if kind not in later.values:
            if earlier.values[kind] <= later.terms:
                equal.append(kind)
            continue
        left, right = earlier.values[kind], later.values[kind]
        if left <= right or right <= left:
            equal.append(kind)
        elif left - right - later.terms and right - left - earlier.terms:
            different.append(kind)
    return different, equal


def _ends_value(earlier: Parts, later: Parts) -> bool:
    """True if the newer statement ends a value of the older."""
    known = earlier.terms.union(*earlier.values.values())
    return bool(later.discarded & (known - earlier.subject) - earlier.discarded)


def leaves_alone(older: str, newer: str, different: list[str]) -> str:
    """Return why the older statement stands beside the newer, or ""."""
    older, newer = older[:MAX_CHARS], newer[:MAX_CHARS]
    older_parts, newer_parts = parts(older), parts(newer)
    if not newer_parts.changes and (_names_owner_unknown_to(newer, older) or _names_owner_unknown_to(older, newer)):
        return "somebody else's"
    if different and not _names_a_value(older_parts, newer_parts, different) and _only_denies(newer, different):
        return "denies a value that the older one does not give"
    return ""


def _names_a_value(older: Parts, newer: Parts, different: list[str]) -> bool:
    """True if the newer statement names a value of the older one."""
    known = newer.terms.union(*newer.values.values())
    return any(older.values[kind] & known for kind in different)


_CLAUSE = re.compile(
    r"[,;:](?= )|\b(?:but|instead|rather|so|because)\b|(?<=아니라) |(?<=아니고) |(?<=않고) |(?<=말고) |(?<=지만) "
    r"|(?<=는데) ",
    re.IGNORECASE,
)
_DENIES = re.compile(
    r"\b(?:not|never|cannot)\b(?! (?:more|less|fewer|only|just|later|before)\b)|n't\b|아니(?!면)|아닙|아님"
    r"|(?<![가-힣])안 |않"
    r"|없(?!이)|지 ?마",
    re.IGNORECASE,
)
# A limit is named by the values beyond it: `not above 50`, `50 넘으면 안 된다`.
_BEYOND = re.compile(
    r"\b(?:over|above|beyond|below|under|after|before|until|unless|except|without|than|exceeds?|outside)\b"
    r"|이상|초과|넘|이하|미만|없이|외에|이전|이후|까지|뿐",
    re.IGNORECASE,
)


def _only_denies(newer: str, different: list[str]) -> bool:
    """True if every clause that gives one of these values denies it."""
    giving = [clause for clause in _CLAUSE.split(newer) if clause and _gives(clause, different)]
    return bool(giving) and all(_DENIES.search(clause) and not _BEYOND.search(clause) for clause in giving)


def _gives(clause: str, different: list[str]) -> bool:
    found = parts(clause.strip()).values
    return any(found.get(kind) for kind in different)


_NOT_AN_OWNER = (
    r"(?!(?i:it|that|what|let|there|here|he|she|who|how|where|when|this|everyone|everybody|nobody|today|tomorrow"
    r"|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|team|claude)'s)"
)
# The owner of a thing. News of another's thing says nothing about ours; their work on ours does.
_OWNER = re.compile(
    rf"\b{_NOT_AN_OWNER}([A-Z][\w.-]+)'s (?!(?:area|baby|domain|job|responsibility|turn|call|task|team)\b)(?=[a-z])"
    r"|\b(?:[Tt]he|[Oo]ur|[Aa]|[Mm]y) (customer|client|partner|vendor|competitor|supplier|agency|bank)(?:'s|s') "
    r"|\b[Tt]he ([\w-]+(?: [\w-]+)?) (?:team|squad|group|department|folks|people|guys|crew)(?:'s \w+ \w+| (?:uses?"
    r"|prefers?|runs?|deploys?|has|stores?"
    r"|writes?|keeps?|(?:has |have )?(?:decided|agreed|chose|opted) to (?:use|go|run|deploy|keep|store|switch"
    r"|stay)))\b"
    r"|(?:^|[.,] )([Tt]hey) (?:use|decided|agreed|chose|prefer|deploy|run)\b|(?:^|[.,] )([Tt]heir) "
    r"|\b[Ii]n my (\w+ project)\b"
    r"|(?:^|[,.] ?|\s)(?!우리|저희|이번|현재)([가-힣A-Za-z]{1,8}(?:팀|부서|본부|고객사|경쟁사|협력사|파트너사"
    r"|외주사|거래처))(?:은|는|의|에서는|에선) (?!.*(?:담당|맡|책임|관리|소관))"
    r"|(?:^|[,.] ?)(고객사?|경쟁사|협력사|파트너사?|외주사|거래처|타사)(?:은|는|이|가|의|에서는|에선)? ",
)
_THEM = re.compile(r"\b(?:they|their|them)\b", re.IGNORECASE)


def _names_owner_unknown_to(text: str, known: str) -> bool:
    heard = set(query_terms(normal(known)))
    for found in _OWNER.finditer(text):
        owner = next(filter(None, found.groups()), "")
        if owner.lower() in ("they", "their"):
            if not _THEM.search(known):
                return True
        elif owner and not set(query_terms(normal(owner))) <= heard:
            return True
    return False
