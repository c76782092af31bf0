"""The API: the verbs' JSON, with the names of viewers beside it."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from memlayer.config import unset_setting
from memlayer.errors import UserError
from memlayer.text.chunking import estimate_tokens
from memlayer.text.context_block import bare_id
from memlayer.view.live import event_preview
from memlayer.view.pages import health
from memlayer.view.pages.sessions import around, one
from memlayer.view.problems import NotFound
from memlayer.view.visit import Visit
from memlayer.wire import memories as memory_ops
from memlayer.wire import record as record_ops
from memlayer.wire import sessions as session_ops
from memlayer.wire import upkeep as upkeep_ops
from memlayer.wire.record import StoredEvent
from memlayer.wire.sessions import SessionRow

PAGE_SIZE = 20
DAY_MS = 86_400_000
MAX_WORD_CHARS = 20_000
FENCE = "```"


def sessions(visit: Visit) -> object:
    """GET /api/sessions: newest first, in pages."""
    page, page_size = visit.number("page", 1), visit.number("pageSize", PAGE_SIZE, most=200)
    found = visit.ask(session_ops.Sessions("", visit.folder, page_size, (page - 1) * page_size))
    counts = visit.ask(record_ops.Days(visit.folder)).by_session
    events = {row.session_id: row.events for row in counts}
    rows = [_session(row, events.get(row.id, 0)) for row in found.sessions]
    return {"sessions": rows, "total": found.total, "page": page, "pageSize": page_size}


def _session(row: SessionRow, events: int) -> dict[str, Any]:
    return {
        **row.fields(), "sessionId": row.id, "projectPath": row.project_dir, "startedAt": row.since_ms,
        "endedAt": row.ended_ms if row.ended else None, "eventCount": events,
        "status": "ended" if row.ended else "active",
    }  # fmt: skip


def session(visit: Visit) -> object:
    """GET /api/sessions/{id}: one session with its events and counts."""
    row = one(visit, visit.path["id"])
    found = visit.ask(record_ops.Events(session_id=row.id, limit=10_000))
    kinds = [event.kind for event in found.events]
    limit = visit.number("limit", 200)
    stats = {
        "promptCount": kinds.count("user"), "responseCount": kinds.count("assistant"), "toolCount": kinds.count("tool"),
        "totalTokens": row.total_tokens,
    }  # fmt: skip
    told = {**_session(row, found.total), "summary": row.summary}
    return {"session": told, "events": [_event(event) for event in found.events[:limit]], "stats": stats}


def events(visit: Visit) -> object:
    """GET /api/events: newest first, `before` a moment in ms."""
    session_id = one(visit, visit.text("sessionId")).id if visit.text("sessionId") else ""
    wanted = record_ops.Events(
        session_id=session_id, project_dir=visit.folder, kind=visit.text("type"), limit=visit.number("limit", 100),
        before_ms=visit.number("before", 0, most=10**15),
    )  # fmt: skip
    found = visit.ask(wanted)
    return {"events": [_event(row) for row in found.events], "total": found.total}


def _event(row: StoredEvent) -> dict[str, Any]:
    told = {name: value for name, value in event_preview(row).items() if name != "type"}
    return {**told, "metadata": {"tokenCount": estimate_tokens(row.text), "hasCode": FENCE in row.text}}


def event(visit: Visit) -> object:
    """GET /api/events/{id}: the whole event, and its neighbours in the session."""
    found = visit.ask(record_ops.Events(ids=(visit.path["id"],))).events
    if not found:
        raise NotFound("No event is known by that id: it was forgotten, or never there")
    earlier, later = around(visit, found[0]) if found[0].session_id else (None, None)
    related = {"previous": earlier and earlier.id, "next": later and later.id}
    return {"event": {**found[0].fields(), **_event(found[0]), "payload": found[0].text}, "related": related}


def search(visit: Visit) -> object:
    """POST /api/search {query, filters, options}."""
    body = _body(visit)
    filters, options = _part(body, "filters"), _part(body, "options")
    query = body.get("query")
    if not isinstance(query, str) or not query.strip():
        raise UserError("query: words to search for are expected")
    kinds = filters.get("eventType") or []
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if not isinstance(kinds, list) or not all(isinstance(kind, str) for kind in kinds):
        raise UserError("eventType: a list of names is expected")
    for name, whole in (("topK", options), ("dateFrom", filters), ("dateTo", filters)):
        if type(whole.get(name) or 0) is not int:
            raise UserError(f"{name}: a whole number is expected")
    wanted = memory_ops.Search.parse({
        "query": query.strip()[:MAX_WORD_CHARS], "project_dir": visit.folder, "limit": options.get("topK"),
        "min_score": options.get("minScore"), "since_ms": filters.get("dateFrom"), "until_ms": filters.get("dateTo"),
        "kind": kinds[0] if kinds else "", "session_id": filters.get("sessionId"),
    })  # fmt: skip
    found = visit.ask(wanted)
    rows = [
        {
            **hit.fields(), "type": hit.event_type, "timestamp": hit.at_ms, "sessionId": hit.session_id,
            "highlight": hit.snippet,
        }
        for hit in found.hits
    ]  # fmt: skip
    mode = "fts" if found.mode == "lexical" else found.mode
    meta = {"totalMatches": len(rows), "mode": mode, "why": found.why}
    return {"results": rows, "done": [row.fields() for row in found.done], "meta": meta}


def stats(visit: Visit) -> object:
    """GET /api/stats: as `memlayer stats --json`, and row 31's groups."""
    found = visit.ask(upkeep_ops.Stats())
    days = visit.ask(record_ops.Days(visit.folder)).days
    rows = visit.ask(session_ops.Sessions("", visit.folder, 1))
    return {
        **found.fields(),
        "storage": {
            "eventCount": found.events, "vectorCount": found.embedded,
            "dbSizeMB": round(found.disk_bytes / 1e6, 2),
        },
        "sessionTotals": {"total": rows.total, "thisWeek": sum(row.sessions for row in days[-7:])},
        "embeddings": {"pending": found.chunks - found.embedded, "processed": found.embedded},
    }  # fmt: skip


def timeline(visit: Visit) -> object:
    """GET /api/stats/timeline: counts by day."""
    found = visit.ask(record_ops.Days(visit.folder)).days
    return {"daily": [{**row.fields(), "eventCount": row.events, "sessionCount": row.sessions} for row in found]}


def config(visit: Visit) -> object:
    """GET /api/config: as `memlayer config --json`, and the editable keys."""
    found = health.values(visit)
    values = {row["key"]: row["value"] for row in found["settings"]}
    return {**found, "config": values, "editable": list(values)}


def change_config(visit: Visit) -> object:
    """PATCH /api/config {updates: {key: value, null for the default}}."""
    updates = _part(_body(visit), "updates")
    if not updates:
        raise UserError("updates: an object of settings is expected")
    for key, value in updates.items():
        if any(isinstance(part, (list, dict)) for part in (value if isinstance(value, list) else [value])):
            raise UserError(f"{key}: a word, a number, true, false, or a list of them is expected")
        if value is None:
            unset_setting(visit.source.home, str(key))
        else:
            health.set_one(visit, str(key), health.typed(value))
    found = health.values(visit)
    config_ = {row["key"]: row["value"] for row in found["settings"]}
    return {"success": True, "config": config_, "restartRequired": found["changed_since_daemon"]}


def citation(visit: Visit) -> object:
    """GET /api/citations/{id}: as `memlayer show --json`, and the event it comes from."""
    found = visit.ask(memory_ops.Show((bare_id(visit.path["id"]),)))
    if not found.matches:
        raise NotFound("Nothing is known by that citation: it was forgotten, or never there")
    match = found.matches[0]
    related = [row.citation for row in match.neighbours if not row.mine]
    event_ = match.events[0] if match.events else None
    return {
        **found.fields(),
        "citation": match.memory.citation,
        "event": event_ and event_.fields(),
        "related": related,
    }


def _body(visit: Visit) -> Mapping[str, Any]:
    try:
        body = json.loads(visit.form.get("", "") or "{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise UserError("The body is no JSON object")
    return body


def _part(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = body.get(name) or {}
    if not isinstance(part, dict):
        raise UserError(f"{name}: an object is expected")
    return part


def answering(work: Callable[[Visit], object]) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of an API route."""

    async def handler(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        visit = Visit(request, request.app.state.source, request.app.state.keys, {"": body})
        found = await run_in_threadpool(work, visit)
        return JSONResponse(visit.source.verbs.for_machines(found))

    return handler


ROUTES = (
    Route("/api/sessions", answering(sessions)),
    Route("/api/sessions/{id}", answering(session)),
    Route("/api/events", answering(events)),
    Route("/api/events/{id}", answering(event)),
    Route("/api/search", answering(search), methods=["POST"]),
    Route("/api/stats", answering(stats)),
    Route("/api/stats/timeline", answering(timeline)),
    Route("/api/config", answering(config)),
    Route("/api/config", answering(change_config), methods=["PATCH"]),
    Route("/api/citations/{id}", answering(citation)),
)
