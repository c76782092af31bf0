"""How much a memory matters before anyone asks: by its category, and by words that signal a decision or a rule."""

from __future__ import annotations

import re

BASE = {"core": 0.7, "custom": 0.4, "daily": 0.3, "conversation": 0.2}
SIGNAL_STEP = 0.1
MAX_SIGNAL = 0.2


def _signal(english: str, korean: str) -> re.Pattern[str]:
    # Not \b: in `rule을` there is none, Hangul counts as word characters.
    return re.compile(rf"(?<![A-Za-z0-9_])(?:{english})(?![A-Za-z0-9_])|{korean}", re.IGNORECASE)


# One pattern a signal: whoever says it twice, or in two languages, has said it once.
_SIGNALS = (
    _signal("decisions?(?! trees?)|decided?", "결정(?!론| ?트리)|기로 ?(?:했|하|한|합|결정|정)|확정"),
    _signal("always", "항상|언제나|매번|(?<![가-힣])늘(?![가-힣])"),
    _signal("never(?! mind)", "절대(?! ?(?:경로|값|좌표|위치|주소|시간))|결코"),
    _signal("(?<!not )(?<!n't )(?<!less )important", "중요(?!하지 ?않|치 ?않)"),
    _signal("critical", "치명|핵심"),
    _signal("must", "반드시|필수|(?<![가-힣])꼭(?![가-힣])"),
    _signal("requirements?", "요구 ?사항"),
    _signal("polic(?:y|ies)", "정책|방침"),
    _signal("rules?", "(?<!불)규칙|규정"),
    _signal("principles?", "원칙"),
)


def importance(category: str, text: str) -> float:
    """In [0, 1]: BASE of the category, plus 0.1 for each different signal, at most 0.2."""
    found = sum(1 for signal in _SIGNALS if signal.search(text))
    return round(min(1.0, BASE[category] + min(MAX_SIGNAL, SIGNAL_STEP * found)), 2)
