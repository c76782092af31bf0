"""Guards for an older statement against denials and other owners."""

from __future__ import annotations

import re

from memlayer.consolidation.conflict.features import MAX_CHARS, Parts, normal, parts
from memlayer.text.terms import query_terms


def leaves_alone(older: str, newer: str, different: list[str]) -> str:
    """Return why the older statement stands beside the newer one, or "".

    different: the types in which their values differ.
    """
    older, newer = older[:MAX_CHARS], newer[:MAX_CHARS]
    older_parts, newer_parts = parts(older), parts(newer)
    if not newer_parts.changes and (_names_owner_unknown_to(newer, older) or _names_owner_unknown_to(older, newer)):
        return "somebody else's"
    if different and not _names_a_value(older_parts, newer_parts, different) and _only_denies(newer, different):
        return "denies a value that the older one does not give"
    return ""


def _names_a_value(older: Parts, newer: Parts, different: list[str]) -> bool:
    """True if the newer statement names a value of the older one.

    So it does to end that value.
    """
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
