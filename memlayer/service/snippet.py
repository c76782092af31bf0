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
    weighed = Weighed(query, terms.weights(query.terms))
    spans = [text[span.start : span.end].strip() for span in sentences(text)]
    spans = [span for span in spans if span]
    wanted = []
    for place, span in enumerate(spans):
        fit = weighed.coverage(frequencies(query, index_terms(unlabelled(span)).split()))
        # An answer states its point early; ties go to the earlier sentence by a hair.
        wanted.append((fit * (0.5 if is_question(span) else 1.0)) + 0.05 / (1 + place))
    return best_sentences(spans, wanted, min(max_chars, WHOLE_CHARS + 200))
