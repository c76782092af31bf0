"""Tells a prompt that only the turn before it explains: "why did we choose that?", "그건 왜 그렇게 했지?"."""

from __future__ import annotations

import re

from memlayer.core.terms import query_terms

_POINTS = re.compile(
    r"\b(?:that|it|its|this|those|these|them|they|there|the (?:same|other|former|latter|first|second) (?:one|thing)?|one|then)\b",
    re.IGNORECASE,
)
_KOREAN_POINTS = re.compile(
    "(?:^|\\s)(?:그거|그건|그게|그걸|그것|그럼|그러면|그때|그땐|그렇게|그래서|그쪽|그 ?방식|그 ?방법|거기|거긴|이거|이건|이게|이걸|이것|이렇게"
    "|이쪽|이 ?방식|이 ?방법|여기|여긴|저거|저건|저렇게|그[ ]|이[ ]|저[ ]|걔|얘|걔네|왜 ?그)"
)  # fmt: skip
MAX_OWN_TERMS = 6  # a prompt with more words of its own says what it is about
MAX_ELLIPTIC_TERMS = 5


def points_back(prompt: str) -> bool:
    """True if the prompt names its subject by a pronoun or leaves it out, and says little besides."""
    own = len(query_terms(prompt))
    if own <= MAX_ELLIPTIC_TERMS:
        return True
    return own <= 2 * MAX_OWN_TERMS and bool(_KOREAN_POINTS.search(prompt) or _POINTS.search(prompt))
