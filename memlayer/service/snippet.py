"""The part of a memory that answers: its best sentences for this query, not its first characters."""

from __future__ import annotations

from memlayer.core.chunking import sentences
from memlayer.core.context import best_sentences
from memlayer.core.model import Chunk
from memlayer.core.query import Query
from memlayer.core.question import is_question
from memlayer.core.scoring import Weighed, frequencies
from memlayer.core.terms import index_terms
from memlayer.core.turn import unlabelled
from memlayer.service.term_stats import TermStats

WHOLE_CHARS = 400  # a memory this short is shown whole


def snippet(chunk: Chunk, query: Query, terms: TermStats, max_chars: int) -> str:
    """At most max_chars characters of the chunk. Statements go before questions: an echo of the prompt says nothing."""
    text = chunk.text
    if len(text) <= min(WHOLE_CHARS, max_chars):
        return text
    spans = _spans(text)
    fit = fits(text, query, terms)
    # An answer states its point early; ties go to the earlier sentence by a hair.
    wanted = [fit[span] + 0.05 / (1 + place) for place, span in enumerate(spans)]
    return best_sentences(spans, wanted, min(max_chars, WHOLE_CHARS + 200))


def fits(text: str, query: Query, terms: TermStats) -> dict[str, float]:
    """How much of the query each sentence holds, in [0, 1]; a question counts half."""
    weighed = Weighed(query, terms.weights(query.terms))
    return {
        span: weighed.coverage(frequencies(query, index_terms(unlabelled(span)).split()))
        * (0.5 if is_question(span) else 1.0)
        for span in _spans(text)
    }


def _spans(text: str) -> list[str]:
    return [span for span in (text[span.start : span.end].strip() for span in sentences(text)) if span]
