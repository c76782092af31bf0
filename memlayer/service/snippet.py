"""The part of a memory that answers: its best sentences for this query, not its first characters."""

from __future__ import annotations

import textwrap

from memlayer.core.chunking import sentences
from memlayer.core.context import ELLIPSIS, best_sentences
from memlayer.core.model import Chunk
from memlayer.core.query import Query
from memlayer.core.question import is_question
from memlayer.core.scoring import Weighed, frequencies
from memlayer.core.terms import index_terms
from memlayer.core.turn import unlabelled
from memlayer.service.term_stats import TermStats

WORDS_CHARS, PARTS = 60, 5  # an excerpt of a sentence without an end is so many parts of so many characters
WHOLE_CHARS = 400  # a memory this short is shown whole


def snippet(chunk: Chunk, query: Query, terms: TermStats, max_chars: int) -> str:
    """At most max_chars characters of the chunk. Statements go before questions: an echo of the prompt says nothing."""
    text = chunk.text
    if len(text) <= min(WHOLE_CHARS, max_chars):
        return text
    room = min(max_chars, WHOLE_CHARS + 200)
    weighed = Weighed(query, terms.weights(query.terms))
    spans = [span if len(span) < room else _excerpt(span, weighed, room) for span in spans_of(text)]
    # An answer states its point early; ties go to the earlier sentence by a hair.
    wanted = [_fit(span, weighed) + 0.05 / (1 + place) for place, span in enumerate(spans)]
    return best_sentences(spans, wanted, room)


def fits(text: str, query: Query, terms: TermStats) -> dict[str, float]:
    """How much of the query each sentence holds, in [0, 1]; a question counts half."""
    weighed = Weighed(query, terms.weights(query.terms))
    return {span: _fit(span, weighed) for span in spans_of(text)}


def _fit(span: str, weighed: Weighed) -> float:
    found = frequencies(weighed.query, index_terms(unlabelled(span)).split())
    return weighed.coverage(found) * (0.5 if is_question(span) else 1.0)


def spans_of(text: str) -> list[str]:
    """The sentences of a text."""
    return [span for span in (text[span.start : span.end].strip() for span in sentences(text)) if span]


def _excerpt(span: str, weighed: Weighed, room: int) -> str:
    """Of a sentence for which there is no room, as it is dictated or pasted, the part that has most of the query; of
    several that have as much the middle one."""
    words = textwrap.wrap(span, WORDS_CHARS, break_on_hyphens=False)
    many = max(1, min(PARTS, room // (WORDS_CHARS + 1) - 1))
    parts = [words[at : at + many] for at in range(max(1, len(words) - many + 1))]
    fit = [_fit(" ".join(part), weighed) for part in parts]
    best = [at for at, one in enumerate(fit) if one >= max(fit)]
    at = best[len(best) // 2]
    return ELLIPSIS * bool(at) + " ".join(parts[at]) + ELLIPSIS * (at + many < len(words))
