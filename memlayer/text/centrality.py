"""Find the sentences that are most about a session's matter."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from memlayer.text.terms import query_terms

# A sentence of fewer words is judged as if it had so many: two frequent words alone say little.
SHORTEST_TERMS = 8


def centrality(sentences: Sequence[str], session: Sequence[str]) -> list[float]:
    """How much of a session's vocabulary each sentence carries, per term, at least 0.

    The centroid method of extractive summaries (Radev et al. 2004), with the logarithm of a term's number of texts in
    place of its frequency, so that no pasted log decides. session: its prompts and answers.
    """
    counts: Counter[str] = Counter()
    for text in session:
        counts.update(set(query_terms(text)))
    found = []
    for sentence in sentences:
        terms = query_terms(sentence)
        found.append(
            sum(math.log1p(counts[one] - 1) for one in terms if counts[one] > 1) / max(SHORTEST_TERMS, len(terms))
        )
    return found
