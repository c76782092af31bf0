"""How much a memory matters before anyone asks: by its category, and by words that signal a decision or a rule."""

from __future__ import annotations

import re

BASE = {"core": 0.7, "custom": 0.4, "daily": 0.3, "conversation": 0.2}
SIGNAL_STEP = 0.1
MAX_SIGNAL = 0.2

_ENGLISH = re.compile(
    r"\b(?:decision|decided?|always|never|important|critical|must|requirements?|polic(?:y|ies)|rules?|principles?)\b",
    re.IGNORECASE,
)
_KOREAN = re.compile(
    "결정|하기로 (?:했|하)|항상|언제나|절대|중요|치명|반드시|꼭|요구 ?사항|정책|규칙|원칙"  # same signals, in Korean
)


def importance(category: str, text: str) -> float:
    """In [0, 1]: BASE of the category, plus 0.1 for each different signal word, at most 0.2."""
    words = {word.lower() for word in _ENGLISH.findall(text)} | set(_KOREAN.findall(text))
    return min(1.0, BASE[category] + min(MAX_SIGNAL, SIGNAL_STEP * len(words)))
