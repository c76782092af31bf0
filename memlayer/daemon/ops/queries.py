"""Read operations on memories: recall, search, show, list, and their uses."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from typing import Any

from memlayer import compose
from memlayer.daemon.ops.disclosure import A_MODEL, note_opened
from memlayer.daemon.ops.requests import (
    Progress,
    about_given,
    category_given,
    memory_row,
    named,
    project_of,
    row_of,
    scope_of,
    score_parts,
    services_of,
    session_named,
)
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import code_check
from memlayer.disclosure import label_of
from memlayer.edge.redaction.privacy import redact
from memlayer.give.candidate import Candidate
from memlayer.give.query import typed_query
from memlayer.give.recall import Recalled
from memlayer.give.search import Filters, Found, Search, find
from memlayer.give.snippet import snippet
from memlayer.give.standing_orders import orders_in_force
from memlayer.growth.levels import CRITERIA, Level, facts_of, grow
from memlayer.keep import keep
from memlayer.kinds import Category, Kind
from memlayer.model import CITED, GLOBAL, SHOWN, Event, Memory, Usage
from memlayer.ports import MemoryQuery, Store, UsageQuery, memories_by_id
from memlayer.records.usages import MANY, sessions_citing, uses_within
from memlayer.text.context_block import bare_id, cut, flatten
from memlayer.turns import evidence
from memlayer.turns.turn_memory import mark_of, marked_text, spoken_parts
from memlayer.wire import memories as ops

NEIGHBOURS = 2
LEFT_OUT_CHARS = 200
SNIPPET_CHARS = 800
SNIPPET_SENTENCES = 6
PREVIEW_CHARS = 50
TOOL_HITS = 5
DAY_MS = 86_400_000
DEFAULT_DAYS = 30
UNUSED_AFTER = 3  # sessions that were shown a memory, and did not cite it


def recall(state: State, arguments: ops.Recall, progress: Progress) -> ops.Recalled:
    """Return the block for a prompt, with its gate and candidates."""
    services = services_of(state)
    project_id, place = state.projects.find(arguments.project_dir)
    scope = state.scope(project_id)
    session_id = session_named(state, arguments.session_id, scope)
    session = state.sessions.get(session_id) if session_id else None
    rules = state.held.rules_for(arguments.project_dir).recall
    marks = code_check.look(state, project_id, place.root)
    recalled = services.recall.answer(redact(arguments.prompt), scope, rules, session, marks=marks)
    mode, why = state.mode()
    return ops.Recalled(
        block=recalled.block,
        mode=mode,
        why=why,
        gate=recalled.gate.value,
        need=round(recalled.need, 4),
        signals=asdict(recalled.signals) if recalled.signals else {},
        queries=[recalled.query.text, " ".join(recalled.query.terms)] if recalled.query else [],
        took_ms=round(recalled.took_ms, 2),
        candidates=[
            _candidate(candidate, recalled, services if arguments.is_explained else None)
            for candidate in recalled.ranked
        ],
    )


def _candidate(candidate: Candidate, recalled: Recalled, services: compose.Services | None) -> ops.Candidate:
    """Return a candidate; services: None where nobody reads those left out."""
    text = candidate.snippet
    if not text and recalled.query and services is not None:  # left out: a short look at it
        text = snippet(
            candidate.chunk.text, services.recall.retriever.terms.weights(recalled.query.terms), LEFT_OUT_CHARS
        )
    return ops.Candidate.of(
        candidate,
        score=candidate.score.score,
        chance=round(candidate.chance, 4),
        parts={"helps": round(candidate.helps, 4), **score_parts(candidate.score)},
        snippet=text,
    )


def search(state: State, arguments: ops.Search, progress: Progress) -> ops.Hits:
    """Return memories above a floor, and turns by their tool calls.

    Best first. The tool calls of the turns hold the words. hits: each with score, parts, snippet, preview (the start of
    its text), event_type (turn, day, note or the kind of a statement), path, start_line and end_line. done: the turns.
    """
    services = services_of(state)
    scope, lines = scope_of(state, arguments.project_dir), services.files.lines()
    words, memory_ids, is_named = about_given(state, arguments.query, scope)
    query = typed_query(words)
    filters = Filters(
        category=category_given(arguments.category),
        kind=arguments.kind,
        session_id=session_named(state, arguments.session_id, scope),
        file=arguments.file,
        since_ms=arguments.since_ms,
        until_ms=arguments.until_ms,
        memory_ids=memory_ids,
        is_named=is_named,
    )
    rules = state.rules.recall
    finder = Search(services.recall.retriever, services.recall.outcomes, rules)
    hits = finder.find(
        query, scope, filters, arguments.limit, arguments.min_score, lambda memory: lines.of(memory).path
    )
    mode, why = state.mode()  # as it is after the query was embedded, or not
    rarity = services.recall.retriever.terms.weights(query.terms)
    marks = code_check.of_folder(state, arguments.project_dir)

    def row(hit: Found) -> ops.Hit:
        place = lines.of(hit.memory)
        mark = ("(older; newer: %s) " % hit.newer if hit.newer else "") + marks.get(hit.memory.citation, "")
        mark += mark_of(hit.memory)
        return row_of(
            state,
            hit.memory,
            ops.Hit,
            score=hit.score.score,
            parts=score_parts(hit.score),
            snippet=mark + hit.told(rarity, SNIPPET_CHARS, SNIPPET_SENTENCES),
            preview=cut(flatten(marked_text(hit.memory)), PREVIEW_CHARS),
            event_type=label_of(hit.memory),
            path=place.path,
            start_line=place.start_line,
            end_line=place.end_line,
        )

    done = []
    if memory_ids is None and filters.kind in ("", Kind.TURN) and filters.category in (None, Category.CONVERSATION):
        done = find(services.store, arguments.query, scope.project_ids, TOOL_HITS, filters.admits_event)
    return ops.Hits(
        mode=mode,
        why=why,
        hits=[row(hit) for hit in hits],
        done=[row_of(state, memory, ops.Hit, snippet=event.text, at_ms=event.at_ms) for memory, event in done],
    )


def show(state: State, arguments: ops.Show, progress: Progress) -> ops.Matches:
    """Return memories with their events, versions and neighbours in the session."""
    services = services_of(state)
    scope = scope_of(state, arguments.limit_dir)
    by_name = {name: named(services.store, name, scope) for name in map(bare_id, arguments.ids)}
    matches = {memory.id: memory for memories in by_name.values() for memory in memories}
    note_opened(state, list(matches.values()), A_MODEL if arguments.limit_dir else "")
    return ops.Matches(
        matches=[_match(state, services, memory) for memory in matches.values()],
        unknown=[name for name, memories in by_name.items() if not memories],
    )


def _match(state: State, services: compose.Services, memory: Memory) -> ops.Shown:
    store = services.store
    events = store.events(ids=memory.source_ids)
    turn = keep.own_turn(store, memory)
    around = keep.turns_around(store, turn, NEIGHBOURS) if turn is not None else []
    older = store.memories(MemoryQuery(superseded_by=[memory.id]))
    newer = store.memories(MemoryQuery(ids=[memory.superseded_by])) if memory.superseded_by else []
    said_again = memories_by_id(store, services.tasks.graph.said_again(memory.id)).values()
    return ops.Shown(
        memory=memory_row(state, memory),
        newer=[memory_row(state, version) for version in newer],
        older=[memory_row(state, version) for version in older],
        events=[event for event in events if event.kind != Kind.TASK],  # `task show` has its steps
        cited_in=sessions_citing(store, memory.id),
        quotes=_quotes(memory, events),
        growth=_growth(store, memory),
        missing=services.forget.missing(memory, [event.id for event in events]),
        said_again=[memory_row(state, turn) for turn in sorted(said_again, key=lambda row: row.at_ms)],
        beside=[neighbour.told for neighbour in services.tasks.graph.neighbours(memory.id)],
        neighbours=[
            ops.Neighbour.of(near, text=marked_text(near), mine=turn is not None and near.id == turn.id)
            for near in around
        ],
    )


def _growth(store: Store, memory: Memory) -> dict[str, Any]:
    """Return a memory's level and the facts behind it."""
    if memory.category != Category.CORE:
        return {}
    facts = facts_of(store, [memory])[memory.id]
    level, reason = grow(facts, int(time.time() * 1000))
    return {
        "level": int(level),
        "name": level.name.lower(),
        "reason": reason,
        "accesses": facts.accesses,
        "confidence": facts.confidence(CRITERIA[Level.ACTIVE].accesses),
        "sessions": facts.sessions,
        "last_ms": facts.last_ms,
        "said": facts.said,
        "has_evidence": facts.has_evidence,
    }


def _quotes(memory: Memory, events: Sequence[Event]) -> list[ops.Quote]:
    """Return the words that a statement rests on, of unchanged turns."""
    quotes: list[ops.Quote] = []
    for row in evidence.from_json(memory.evidence):
        prompt, answer = spoken_parts([event for event in events if event.prompt_id == row.prompt_id])
        words = evidence.words_of(row, prompt, answer)
        at_ms = min((event.at_ms for event in events if event.prompt_id == row.prompt_id), default=0)
        if words:
            quotes.append(ops.Quote.of(row, quote=words, at_ms=at_ms))
    return quotes


def list_memories(state: State, arguments: ops.List, progress: Progress) -> ops.Memories:
    """Return memories of a project and every project, newest first."""
    store, folder, category = services_of(state).store, arguments.project_dir, category_given(arguments.category)
    project_id = project_of(state, folder)
    if arguments.rules:
        orders = orders_in_force(store, project_id or GLOBAL)[: arguments.limit]
        return ops.Memories(memories=[memory_row(state, memory) for memory in orders])
    session_id = session_named(state, arguments.session_id, scope_of(state, folder))
    wanted = [(project_id, category)] if project_id or not folder else []
    if folder and project_id != GLOBAL and state.derived.has_global and category in (None, Category.CORE):
        wanted.append((GLOBAL, Category.CORE))
    memories = [
        memory
        for scope, kept in wanted
        for memory in store.memories(
            MemoryQuery(
                project_id=scope,
                session_id=session_id,
                category=kept,
                limit=arguments.limit,
                is_current=None if arguments.with_superseded else True,
            )
        )
    ]
    if session_id and category in (None, Category.CORE):
        known = {memory.id for memory in memories}
        memories += _worded_anew(state, arguments, project_id, session_id, known)
    memories = sorted(memories, key=lambda memory: -memory.at_ms)[: arguments.limit]
    return ops.Memories(memories=[memory_row(state, memory) for memory in memories])


def _worded_anew(
    state: State, arguments: ops.List, project_id: str, session_id: str, known: Collection[str]
) -> list[Memory]:
    """Return a session's notes that were edited since.

    They belong to no session: none has them in its context.
    """
    store = services_of(state).store
    said = [event.id for event in store.events(session_id=session_id, project_id=project_id, limit=MANY)]
    is_current = None if arguments.with_superseded else True
    query = MemoryQuery(source_ids=said, category=Category.CORE, is_current=is_current, limit=arguments.limit)
    rows = store.memories(query) if said else []
    return [row for row in rows if not row.session_id and row.id not in known]


# -- uses


def citations(state: State, arguments: ops.Citations, progress: Progress) -> ops.Cited:
    """Return memories by use: newest, most cited, or never cited."""
    store, folder, order = services_of(state).store, arguments.project_dir, arguments.order
    days = DEFAULT_DAYS if order else 0
    since_ms = int(time.time() * 1000) - days * DAY_MS if days else 0
    project_id = project_of(state, folder)
    if folder and not project_id:
        return ops.Cited(memories=[])
    uses = store.usages(UsageQuery(project_id=project_id, since_ms=since_ms, limit=MANY))
    cited = _by_memory(use for use in uses if use.how == CITED)
    shown = _by_memory(use for use in uses if use.how == SHOWN)
    chosen = _chosen(order, cited, shown)[: arguments.limit]
    memories = memories_by_id(store, chosen)
    return ops.Cited(
        memories=[
            row_of(
                state,
                memories[memory_id],
                ops.CitedMemory,
                cited=len(cited.get(memory_id, ())),
                cited_sessions=_sessions(cited.get(memory_id, [])),
                shown_sessions=_sessions(shown.get(memory_id, [])),
                last_cited_ms=max((use.at_ms for use in cited.get(memory_id, ())), default=0),
            )
            for memory_id in chosen
            if memory_id in memories
        ]
    )


def usage_share(state: State, arguments: ops.CountUses, progress: Progress) -> ops.UsageShare:
    """Count notes shown, cited and opened lately, once a session."""
    return uses_within(services_of(state).store, arguments.days)


def _chosen(order: str, cited: dict[str, list[Usage]], shown: dict[str, list[Usage]]) -> list[str]:
    """The ids of memories in an order."""
    if order == "unused":
        never = [memory_id for memory_id in shown if memory_id not in cited]
        often = [memory_id for memory_id in never if _sessions(shown[memory_id]) >= UNUSED_AFTER]
        return sorted(often, key=lambda memory_id: -_sessions(shown[memory_id]))
    if order == "popular":
        return sorted(cited, key=lambda memory_id: -len(cited[memory_id]))
    return list(cited)  # the newest use first, as they come


def _by_memory(uses: Iterable[Usage]) -> dict[str, list[Usage]]:
    by_memory: dict[str, list[Usage]] = {}
    for use in uses:
        by_memory.setdefault(use.memory_id, []).append(use)
    return by_memory


def _sessions(uses: list[Usage]) -> int:
    return len({use.session_id for use in uses})
