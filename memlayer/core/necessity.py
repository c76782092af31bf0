"""How much a word of a question must stand in the answer: "why" and "이유" are asked with, and answers do without them.

Term necessity is Zhao and Callan's (2010, "Term Necessity Prediction"): the share of the answers to questions with a
term that hold it. The inverse document frequency knows nothing of it: "까닭" is rare, and says nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from memlayer.core.necessity_data import TENTHS


def necessity(term: str) -> float:
    """Beside that of a word one knows nothing of, in [0.1, 1]. term: as in `core.terms`."""
    return _table().get(term, 1.0)


def asked(weights: Mapping[str, float]) -> dict[str, float]:
    """term of a question -> what it counts: its weight by its necessity."""
    return {term: weight * necessity(term) for term, weight in weights.items()}


@lru_cache(maxsize=1)
def _table() -> dict[str, float]:
    return {term: tenths / 10 for tenths, terms in TENTHS.items() for term in terms.split()}
