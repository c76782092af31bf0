"""What a session was shown of a memory: a short one whole, of a long one some sentences.

A long answer is asked about more than once; what of it was not shown yet may still come.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable

from memlayer.core.context import ELLIPSIS
from memlayer.core.model import Chunk
from memlayer.core.query import Query
from memlayer.core.turn import unlabelled
from memlayer.service.candidate import Candidate, turn_of
from memlayer.service.snippet import WHOLE_CHARS, fits, spans_of
from memlayer.service.term_stats import TermStats

_BETWEEN = "#"  # a memory's id, and the sign of one of its sentences
_SIGN_CHARS = 12
MOST = 2000  # marks that are remembered of one session, the newest


def marked(shown: Iterable[str], entries: Iterable[Candidate]) -> list[str]:
    """The marks of what a session was shown, with these entries."""
    out = dict.fromkeys(shown)
    for one in entries:
        if _is_whole(one.chunk):
            out[one.chunk.memory_id] = None
        else:
            out.update(dict.fromkeys(_mark(one.chunk.memory_id, span) for span in _said(one.chunk, one.snippet)))
    return list(out)[-MOST:]


def was_shown(shown: Collection[str], chunk: Chunk, text: str, query: Query, terms: TermStats) -> bool:
    """Whether a session was shown what an entry says to its prompt: the best sentence of it. text: the entry's."""
    said = _said(chunk, text)
    known = {_mark(chunk.memory_id, span) for span in said}.intersection(shown)
    if len(known) in (0, len(said)):  # which of them is the best takes a millisecond to see
        return bool(known)
    fit = fits(chunk.text, query, terms)
    best = max(said, key=lambda span: fit.get(span, 0.0))
    return _mark(chunk.memory_id, best) in shown


def was_told(shown: Collection[str], statement: Chunk) -> bool:
    """Whether a session was shown the turn that a statement was drawn from, or the sentence."""
    turn = turn_of(statement) if statement.category == "core" else ""
    return bool(turn) and (turn in shown or _mark(turn, statement.text) in shown)


def without(shown: Iterable[str], memory_ids: Collection[str]) -> list[str]:
    """The marks without those of these memories."""
    return [one for one in shown if one.partition(_BETWEEN)[0] not in memory_ids]


def _is_whole(chunk: Chunk) -> bool:
    """Whether an entry shows all of its memory: only the last part of a long one is as short as that, too."""
    return chunk.start == 0 and len(chunk.text) <= WHOLE_CHARS


def _said(chunk: Chunk, text: str) -> list[str]:
    """The sentences of a memory that its entry shows; the entry where it shows a part of one."""
    return [span for span in spans_of(chunk.text) if span in text] or [text]


def _mark(memory_id: str, span: str) -> str:
    said = unlabelled(span).strip(ELLIPSIS + " .!?").encode("utf-8", "replace")
    return memory_id + _BETWEEN + hashlib.sha256(said).hexdigest()[:_SIGN_CHARS]
