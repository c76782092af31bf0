"""Answers a search: hits above a floor, filtered, each with its memory's fields and its place in a file."""

from __future__ import annotations

from dataclasses import asdict

from memlayer import compose
from memlayer.daemon.ops.arguments import limit_of, number_of, text_of
from memlayer.daemon.ops.queries import Fields, Operation, Progress, memory_fields, parts_of, scope_of, services_of
from memlayer.daemon.resources.state import State
from memlayer.indexing.turn_memories import TURN
from memlayer.memory_files.locations import FileLines
from memlayer.recall.query import reduce_prompt
from memlayer.recall.search import Filters, Found, Search, find
from memlayer.recall.snippet import snippet

SNIPPET_CHARS = 800
SNIPPET_SENTENCES = 6
TOOL_HITS = 5


def search(state: State, asked: Fields, progress: Progress) -> Fields:
    """hits: memories, best first, each with score, parts, snippet, path, start_line and end_line. done: turns in which
    something was done that holds the words."""
    services = services_of(state)
    query_text = text_of(asked, "query")
    query = reduce_prompt(query_text)
    mode, why = state.mode()
    scope, filters, lines = scope_of(state, asked), _filters(asked), FileLines(services.files, services.extra)
    rules = compose.recall_rules(state.settings)
    finder = Search(services.store, services.retriever, rules.weights, rules.candidates)
    found = finder.find(
        query, scope, filters, limit_of(asked, 10), number_of(asked, "min_score"), lambda one: lines.of(one).path
    )

    rarity = services.terms.weights(query.terms)

    def fields(hit: Found) -> Fields:
        return {
            **memory_fields(state, hit.memory),
            "score": hit.score.score,
            "parts": parts_of(asdict(hit.score)),
            "snippet": snippet(hit.chunk.text, rarity, SNIPPET_CHARS, most=SNIPPET_SENTENCES),
            **lines.of(hit.memory)._asdict(),
        }

    done = []
    if filters.kind in ("", TURN) and filters.category in ("", "conversation"):
        done = find(services.store, query_text, scope.project_ids, TOOL_HITS, filters.admits_event)
    return {
        "mode": mode,
        "why": why,
        "hits": [fields(hit) for hit in found],
        "done": [
            {**memory_fields(state, memory), "snippet": event.text, "at_ms": event.at_ms} for memory, event in done
        ],
    }


def _filters(asked: Fields) -> Filters:
    return Filters(
        category=text_of(asked, "category"),
        kind=text_of(asked, "kind"),
        session_id=text_of(asked, "session_id"),
        file=text_of(asked, "file"),
        since_ms=int(number_of(asked, "since_ms")),
        until_ms=int(number_of(asked, "until_ms")),
    )


OPERATIONS: dict[str, Operation] = {"search": search}
