"""Entries whose turn says something that no longer holds: marked, shown without it, or not shown at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memlayer.core.model import Chunk, citation_of
from memlayer.core.query import Query
from memlayer.core.turn import unlabelled
from memlayer.service.candidate import Candidate, in_context, same_as, told_by, whole
from memlayer.service.replaced import Replaced, Replacement, Turn
from memlayer.service.sessions import Session
from memlayer.service.snippet import fits, snippet
from memlayer.service.term_stats import TermStats

TAKEN_BACK = "what it says was taken back"
MOST_FACTS = 8


def renewed(
    judged: Sequence[Candidate],
    replaced: Replaced,
    session: Session | None,
    query: Query,
    terms: TermStats,
    most: int,
    max_chars: int,
) -> list[Candidate]:
    """The candidates, with what was superseded or taken back since they were said put right. most: entries.

    Where the prompt is about something else in the turn, the turn is shown without it. Otherwise what was superseded is
    marked, and what holds now comes with it, in a turn that is there already or by itself; what the user took back does
    not come, but what else was drawn from that turn does.
    """
    out: list[Candidate] = []
    there = {one.chunk.memory_id for one in judged if one.kept}
    turns = {_turn_of(one.chunk): one.citation for one in judged if one.kept and one.chunk.category == "conversation"}
    room = most - len(there)
    orphans: set[str] = set()
    for one in judged:
        is_turn = one.kept and one.chunk.category == "conversation"
        change = replaced.of(one.chunk.project_id, _turn_of(one.chunk), one.snippet) if is_turn else None
        rest = one.chunk
        for _ in range(MOST_FACTS):  # of one turn
            rest = _without(rest, change, query, terms) if change is not None else rest
            if change is None or not rest.text:
                break
            one = replace(one, snippet=snippet(rest, query, terms, max_chars))
            change = replaced.of(one.chunk.project_id, _turn_of(one.chunk), one.snippet)
        if change is None:
            out.append(one)
        elif change.head is None:
            out.append(replace(one, kept=False, reason=TAKEN_BACK))
            orphans |= {told_by(one), same_as(one)}
            room += 1
        else:
            chunk = whole(change.head)
            told = turns.get(_turn_of(chunk), "") if _turn_of(chunk) != _turn_of(one.chunk) else ""
            if not told and chunk.memory_id not in there and room > 0 and not in_context(chunk, session):
                out.append(Candidate(chunk, one.score, True, "holds instead of " + one.citation, chunk.text))
                there.add(chunk.memory_id)
                room -= 1
            out.append(replace(one, newer=told or citation_of(chunk.memory_id)))
    for at, one in enumerate(out):
        if one.reason in orphans and one.chunk.category == "core" and room > 0:  # another turn may say it, too
            out[at] = replace(one, kept=True, reason="kept", snippet=snippet(one.chunk, query, terms, max_chars))
            room -= 1
    return out


def _without(chunk: Chunk, change: Replacement, query: Query, terms: TermStats) -> Chunk:
    """The turn without the sentences that hold no more, if the prompt is about another of them; without any if not."""
    fit = fits(chunk.text, query, terms)
    stale = {span for span in fit if change.is_said_by(span)}
    best = max((fit[span] for span in fit if span not in stale), default=0.0)
    text = ""
    if stale and best > max(fit[span] for span in stale):
        text = chunk.text
        for span in stale:
            text = text.replace(unlabelled(span), " ")
    return replace(chunk, text=text.strip())


def _turn_of(chunk: Chunk) -> Turn:
    return (chunk.session_id, chunk.prompt_id)
