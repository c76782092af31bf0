"""What a pattern is and how patterns add up; the patterns themselves stand by language."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT = "decision", "preference", "fact", "cause", "commitment"
KINDS = (DECISION, PREFERENCE, FACT, CAUSE, COMMITMENT)


class Signal(NamedTuple):
    """A sign that a sentence states something of a kind. weight: 1 is enough alone, below it needs another."""

    name: str
    kind: str
    weight: float
    pattern: re.Pattern[str]


def signal(name: str, kind: str, weight: float, *alternatives: str) -> Signal:
    """The alternatives are regular expressions, joined by `|`, without regard to case."""
    return Signal(name, kind, weight, re.compile("|".join(alternatives), re.IGNORECASE))


def one_of(*alternatives: str) -> re.Pattern[str]:
    """One pattern of several, without regard to case."""
    return re.compile("|".join(alternatives), re.IGNORECASE)


def weigh(text: str, signals: Iterable[Signal]) -> tuple[dict[str, float], list[str]]:
    """Weights by kind and the names of the signals that were found."""
    weights: dict[str, float] = {}
    names = []
    for one in signals:
        if one.pattern.search(text):
            weights[one.kind] = weights.get(one.kind, 0.0) + one.weight
            names.append(one.name)
    return weights, names


# A value that a fact is about: exact, short, and the same tomorrow.
VALUE = re.compile(
    r"https?://\S+|\b[\w.+-]+@[\w-]+\.[\w.-]+\b"
    r"|`[^`\n]+`"
    r"|(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?:/\d+)?\b"
    r"|(?<![\w/.])/[A-Za-z][\w.-]*(?:/[\w.-]+)+"
    r"|\b[\w-]+(?:\.[\w-]+)*\.(?:com|dev|io|org|net|internal|local|lan|app|kr|co|sh|ai|cloud)\b(?::\d+)?(?:/\S*)?"
    r"|\b[\w/-]+\.(?:py|ts|tsx|js|jsx|go|rs|rb|java|kt|swift|toml|ya?ml|json|md|sql|sh|env|ini|cfg|tf|proto|css)\b"
    r"|\b0x[0-9a-f]+\b|(?<![\d:])\d{1,2}:\d{2}(?![\d:])|\b\d{2,4}(?:-\d{3,4})+\b|#[a-z][\w-]{2,}|\"[\w.-]{2,30}\""
    r"|\b[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+\b(?<![a-z]-[a-z])"
    r"|\b\d[\d,.]*(?:\s?(?:k|m|g|t)?b|\s?(?:ms|s|sec|seconds?|minutes?|mins?|hours?|hrs?|days?|weeks?|months?"
    r"|years?|%|rows?"
    r"|requests?|times|users?|nodes?|workers?|replicas?|eur|usd|krw|won|dollars?|vat|cores?|attempts?|chars?|characters"
    r"|dimensions|bytes|[kmg]?hz|fps|px|rps|qps))\b"
    r"|\d[\d,.]*\s?(?:%|초|분|시간|시|일|주|개월|달|년|회|번|건|개|대|명|행|자|원|만|천|억|배|칸|차원|바이트|퍼센트)"
    r"|\b(?:v|version )?\d+\.\d+(?:\.\d+)*\b|(?<=port )\d{2,5}\b|포트(?:는|가|:)? ?\d{2,5}"
    r"|(?<![\w.,-])\d{4,}(?![\w.,]*\d)"
    r"|\b[A-Z][A-Za-z]+ \d{1,2}(?:\.\d+)?\b",
    re.IGNORECASE,
)
