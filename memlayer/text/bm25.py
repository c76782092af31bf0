"""Okapi BM25 over terms.

It gives the inverse document frequency, term frequencies and the score of a document. After Robertson and Zaragoza
2009. The lexical search in memory (adapters.search.word_index) computes the same over arrays, with the constants and
the inverse document frequency of this module.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

K1, B = 1.2, 0.75  # also the constants of the table's own full-text search


def inverse_document_frequency(documents: int, holding: int) -> float:
    """Return the weight of a term that `holding` of `documents` documents hold.

    Robertson and Sparck Jones' weight in Lucene's form, which never falls below zero.
    """
    return math.log(1.0 + (documents - holding + 0.5) / (holding + 0.5))


def frequencies(terms: Iterable[str], document: Sequence[str]) -> dict[str, int]:
    """Count each of the terms that occur in a document.

    document: its terms, with repeats.
    """
    return {term: document.count(term) for term in set(terms).intersection(document)}


def bm25(found: Mapping[str, int], weight: Mapping[str, float], length: float) -> float:
    """Return the BM25 score of a document.

    found: the query's terms in the document (frequencies()). weight: inverse document frequency by term. length: the
    document's, over the mean.
    """
    norm = K1 * (1 - B + B * length)
    return sum([weight[term] * often * (K1 + 1) / (often + norm) for term, often in found.items()])
