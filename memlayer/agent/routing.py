"""Choice of the model that answers a message, by its words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_HANGUL = re.compile("[가-힣]")


@dataclass(frozen=True)
class Rule:
    """Words that give a message a hint, such as `fast`.

    keywords: words or phrases in any case; a Korean one also with an ending ("간단히" in "간단히만"). priority: the
    highest of the matching rules holds, of equals the first.
    """

    hint: str
    keywords: tuple[str, ...]
    priority: int = 0


class Router:
    """Rules, best first, and the model of each hint."""

    def __init__(self, rules: Sequence[Rule] = (), models: Mapping[str, str] | None = None) -> None:
        """models: by hint; a hint without a model never holds."""
        models = models or {}
        ranked = sorted(rules, key=lambda rule: -rule.priority)
        self._rules = [(_pattern(rule.keywords), models[rule.hint]) for rule in ranked if models.get(rule.hint)]

    def model_for(self, message: str, default: str) -> str:
        """Return the model of the rule that holds, else the default."""
        return next((model for pattern, model in self._rules if pattern.search(message)), default)


def _pattern(keywords: Sequence[str]) -> re.Pattern[str]:
    """A pattern of whole words; after Hangul an ending may follow."""
    parts = []
    for keyword in keywords:
        words = r"\s+".join(map(re.escape, keyword.split()))
        if words:
            end = "" if _HANGUL.match(keyword.split()[-1][-1]) else r"(?![A-Za-z0-9_])"
            parts.append(r"(?<!\w)%s%s" % (words, end))
    return re.compile("|".join(parts) or r"(?!)", re.IGNORECASE)
