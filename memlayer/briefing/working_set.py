"""The working set of a session's start; standing orders."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from memlayer.briefing.session_summary import SESSION_SUMMARY, is_due, is_farewell
from memlayer.briefing.summary_text import SUMMARY_CHARS, summary_in_short
from memlayer.consolidation import lineage
from memlayer.consolidation.rules.extraction import COMMITMENT, DECISION, PREFERENCE, has
from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import without_marks
from memlayer.indexing.indexer import OPEN_QUESTION
from memlayer.model import GLOBAL, Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.recall.superseded import Replacement, replacement_of
from memlayer.text import context_block
from memlayer.text.context_block import HEADER, flatten
from memlayer.text.sentences import prose
from memlayer.text.terms import index_terms
from memlayer.transcripts import host_memory
from memlayer.turns.remembered import BY_MODEL
from memlayer.turns.turn import ASSISTANT, USER

SHORTEST_CHARS = 25  # "ok", "계속": a turn that says nothing to somebody who was not there
ENTRY_CHARS = 240
MAX_OF_A_KIND = 3
MAX_DUE = 2
# Older commitments and open items are history: recall finds them for a prompt about them.
OPEN_MS = 14 * 86_400_000
# An order given earlier ("let's ...") has mostly been carried out; only an explicit decision is still in force.
DECIDED_SESSIONS = 2
_LOOKED_AT = 40
_CORE_LOOKED_AT = 300
_OVER_LOOKED_AT = 1000


@dataclass(frozen=True)
class WorkingSetRules:
    """The user's settings. max_chars counts the whole block."""

    enabled: bool = True
    max_entries: int = 6
    max_chars: int = 1200


@dataclass(frozen=True)
class _Line:
    memory: Memory
    text: str
    max_chars: int = ENTRY_CHARS


def compose(
    store: Store,
    project_id: str,
    rules: WorkingSetRules,
    *,
    excluded_session_id: str = "",
    excluded_ids: Collection[str] = (),
) -> str:
    """The working set of a project, "" for none.

    First the last session's summary, then pinned memories, those of every project, decisions, standing orders and due
    commitments, by turns.
    excluded_session_id: a session that has its own turns in its context, after a compaction. excluded_ids: memories
    that stand there already. Raises StoreError.
    """
    if not rules.enabled or not rules.max_entries:
        return ""
    head = context_block.head(context_block.WORKING_SET_EXPLANATION)
    lines: list[str] = []
    left = rules.max_chars - len(head)
    counted, everywhere = 0, left // 2  # memories of every project: no entry, at most half of the room
    seen: list[str] = []
    sources: set[str] = set()
    for entry in _chosen(store, project_id, excluded_session_id):
        if not entry.text or entry.memory.id in excluded_ids:
            continue
        is_told = entry.memory.category == "conversation" and not sources.isdisjoint(entry.memory.source_ids)
        is_order = entry.memory.kind == PREFERENCE  # said in passing it is easily missed
        if is_told or any(entry.text in other or (entry.memory.text in other and not is_order) for other in seen):
            continue  # said already: alone, in a summary, or by a statement of this turn
        seen.append(entry.text)
        sources.update(entry.memory.source_ids if entry.memory.category == "core" else ())
        day = context_block.day_of(entry.memory.at_ms)
        line = context_block.line_of(context_block.Entry(entry.memory.citation, day, entry.text), entry.max_chars)
        if len(line) + 1 > left:
            continue  # a shorter one may still fit
        if entry.memory.project_id == GLOBAL != project_id:
            if len(line) + 1 > everywhere:
                continue
            everywhere -= len(line) + 1
            counted -= 1
        lines.append(line)
        left -= len(line) + 1
        counted += 1
        if counted >= rules.max_entries:
            break
    return "\n".join([head, *lines]) if lines else ""


def shortened(text: str, max_chars: int = ENTRY_CHARS) -> str:
    """A turn in short: the heads of prompt and answer."""
    said, _, answered = prose(text).partition("\n" + ASSISTANT)
    if not answered:
        return context_block.cut(context_block.flatten(said), max_chars)
    said = context_block.flatten(said)
    half = max(max_chars // 2, max_chars - len(said) - 20)
    answer = context_block.cut(context_block.flatten(answered), half)
    said = context_block.cut(said, max(40, max_chars - len(answer) - len(ASSISTANT) - 1))
    return "%s %s%s" % (said, ASSISTANT, answer)


def _chosen(store: Store, project_id: str, excluded_session_id: str) -> Iterator[_Line]:
    """Candidates for the block, best first."""
    turns = store.memories(MemoryQuery(project_id=project_id, category="conversation", limit=_LOOKED_AT))
    over = store.memories(MemoryQuery(project_id=project_id, category="core", is_current=False, limit=_OVER_LOOKED_AT))
    gone = {(entry.session_id, entry.prompt_id) for entry in over if entry.prompt_id}  # turns of superseded statements
    turns = [
        entry
        for entry in turns
        if entry.session_id != excluded_session_id
        and (entry.session_id, entry.prompt_id) not in gone
        and _says_something(entry)
    ]
    summaries = store.memories(
        MemoryQuery(project_id=project_id, category="daily", kind=SESSION_SUMMARY, is_current=True, limit=_LOOKED_AT)
    )
    summaries = [entry for entry in summaries if entry.session_id != excluded_session_id]
    core = store.memories(
        MemoryQuery(project_id=project_id, category="core", is_current=True, limit=_CORE_LOOKED_AT, order="importance")
    )
    now_ms = max([entry.at_ms for entry in (*turns[:1], *summaries[:1], *core)], default=0)
    newest = summaries[0] if summaries else None
    # The newest turn's session has no summary yet: it still runs, it died a moment ago, or it was too short for one.
    if turns and (newest is None or turns[0].at_ms > newest.at_ms):
        yield _Line(turns[0], shortened(turns[0].text))
    if newest is not None:
        yield _Line(newest, summary_in_short(newest.text, SUMMARY_CHARS, _gone(store, newest, over)), SUMMARY_CHARS)
    for entry in [entry for entry in core if entry.pinned]:
        yield _stated(entry)
    if project_id == GLOBAL:  # all of it is there because the person put it there
        yield from map(_stated, core)
    else:
        found = store.memories(MemoryQuery(project_id=GLOBAL, category="core", is_current=True, limit=_CORE_LOOKED_AT))
        for entry in sorted(found, key=lambda entry: (not entry.pinned, -entry.at_ms)):
            yield _Line(entry, "(every project) " + entry.text)
    by_time = sorted(core, key=lambda entry: -entry.at_ms)
    today = time.strftime("%Y-%m-%d", time.localtime(now_ms / 1000))
    due = [
        entry
        for entry in by_time
        if entry.kind == COMMITMENT and now_ms - entry.at_ms < OPEN_MS and is_due(entry.text, today)
    ]
    orders = [entry for entry in core if entry.kind == PREFERENCE]
    heard = sorted((*turns, *summaries, *core), key=lambda entry: -entry.at_ms)
    recent = list(dict.fromkeys(entry.session_id for entry in heard))[:DECIDED_SESSIONS]
    decided = [
        entry
        for entry in by_time
        if entry.kind == DECISION and (entry.session_id in recent or has("decided", entry.text))
    ]
    for rest in chain.from_iterable(zip_longest(decided[:MAX_OF_A_KIND], orders[:MAX_OF_A_KIND], due[:MAX_DUE])):
        if rest is not None:
            yield _stated(rest)


def _gone(store: Store, summary: Memory, over: Sequence[Memory]) -> list[Replacement]:
    """The statements of the summary's session that hold no more."""
    return [
        replacement_of(entry, lineage.head(store, entry)) for entry in over if entry.session_id == summary.session_id
    ]


def _stated(memory: Memory) -> _Line:
    return _Line(memory, "(%s) %s" % (memory.kind, memory.text) if memory.kind else memory.text)


def _says_something(memory: Memory) -> bool:
    if memory.kind == OPEN_QUESTION or memory.superseded_by:
        return False
    said, _, _ = memory.text.partition("\n" + ASSISTANT)
    if said.startswith(USER) and (not recallable(said[len(USER) :]) or is_farewell(said)):
        return False
    return len(prose(without_marks(memory.text)).replace(USER, "").replace(ASSISTANT, "").strip()) >= SHORTEST_CHARS


def without_said(block: str, host_lines: host_memory.Lines) -> str:
    """Return a working set without the lines of the host's own memory."""
    if not host_lines or not block:
        return block
    lines = [line for line in block.split("\n") if not (line.startswith("- [mem:") and _is_said(line, host_lines))]
    return "\n".join(lines) if any(line.startswith("- [mem:") for line in lines) else ""


def _is_said(line: str, host_lines: host_memory.Lines) -> bool:
    _, _, text = line.partition(": ")  # behind the citation and the day
    return host_memory.says(host_lines, text)


def in_short(block: str, max_chars: int) -> str:
    """Return the head of a working set for a subagent."""
    lines, left = [context_block.HEADER, context_block.SHORT_EXPLANATION], max_chars
    left -= sum(len(line) + 1 for line in lines)
    for line in context_block.entry_lines(block):
        if len(line) + 1 <= left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines) if len(lines) > 2 else ""


# An order: rules given as notes are forgotten after a compaction, an imperative one is obeyed (claude-code#95745).
LEAD = "The user gave these standing orders. They still hold after the compaction. Follow every one:"
MAX_CHARS = 4_000
SHARE = 0.8  # of a statement's terms, in the event that it comes from
_ORDERS_LOOKED_AT = 300


def standing_orders(store: Store, project_id: str, max_chars: int = MAX_CHARS) -> tuple[str, frozenset[str]]:
    """Return (the block, the ids of the memories in it). Raises StoreError.

    The block is "" without any order.

    What a person asked for in this project, then in every project; pinned ones first, then the newest. An order that
    does not fit whole is left out: half an order is another one.
    """
    lines = [HEADER, LEAD]
    left = max_chars - sum(len(line) + 1 for line in lines)
    kept: set[str] = set()
    said: set[str] = set()
    for memory in _orders(store, project_id):
        text = flatten(memory.text)
        line = "- %s [mem:%s]" % (text, memory.citation)
        if text.casefold() in said or len(line) + 1 > left:
            continue
        said.add(text.casefold())
        kept.add(memory.id)
        lines.append(line)
        left -= len(line) + 1
    return ("\n".join(lines) if kept else "", frozenset(kept))


def _orders(store: Store, project_id: str) -> Iterator[Memory]:
    for scope in dict.fromkeys((project_id, GLOBAL)):
        found = store.memories(
            MemoryQuery(project_id=scope, category="core", kind=PREFERENCE, is_current=True, limit=_ORDERS_LOOKED_AT)
        )
        yield from sorted(by_a_person(store, found), key=lambda memory: (not memory.pinned, -memory.at_ms))


def by_a_person(store: Store, found: Sequence[Memory]) -> list[Memory]:
    """Return the memories that a person pinned or said."""
    ids = sorted({source for memory in found for source in memory.source_ids})
    events = {event.id: event for event in store.events(ids=ids, limit=len(ids))} if ids else {}
    return [
        memory
        for memory in found
        if memory.pinned or not _is_models([events[key] for key in memory.source_ids if key in events], memory.text)
    ]


def _is_models(sources: Sequence[Event], text: str) -> bool:
    """True for a statement that a model made, and no person repeated.

    An order comes from the person. A text that a person edited stands in no source, and counts as the person's.
    """
    terms = frozenset(index_terms(text).split())
    holders = [event for event in sources if len(terms & set(index_terms(event.text).split())) >= SHARE * len(terms)]
    return bool(holders) and all(event.kind == "assistant" or event.detail == BY_MODEL for event in holders)
