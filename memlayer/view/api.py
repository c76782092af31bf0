"""The API: the daemon's answers, as the verbs print them with --json."""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from memlayer.config import unset_setting
from memlayer.errors import UserError
from memlayer.view.pages import health
from memlayer.view.problems import NotFound
from memlayer.view.visit import Visit
from memlayer.wire.memories import Search, Show
from memlayer.wire.message import Asking
from memlayer.wire.record import Days, Events
from memlayer.wire.sessions import Sessions
from memlayer.wire.upkeep import Stats


def by_address(kind: type[Asking[Any]]) -> Callable[[Visit], object]:
    """Return the work of a GET whose parameters are an operation's arguments."""

    def work(visit: Visit) -> object:
        return visit.ask(kind.parse({**visit.request.query_params, **visit.path, "project_dir": visit.folder}))

    return work


def search(visit: Visit) -> object:
    """POST /api/search: the arguments in the body."""
    return visit.ask(Search.parse({**_body(visit), "project_dir": visit.folder}))


def event(visit: Visit) -> object:
    """GET /api/events/{id}: the whole event. Raises NotFound."""
    found = visit.ask(Events(ids=(visit.path["id"],)))
    if not found.events:
        raise NotFound("No event is known by that id: it was forgotten, or never there")
    return found


def citation(visit: Visit) -> object:
    """GET /api/citations/{id}: as `memlayer show --json`. Raises NotFound."""
    found = visit.ask(Show((visit.path["id"],)))
    if not found.matches:
        raise NotFound("Nothing is known by that citation: it was forgotten, or never there")
    return found


def change_config(visit: Visit) -> object:
    """PATCH /api/config {key: value, null for the default}: the settings after it."""
    updates = _body(visit)
    if not updates:
        raise UserError("An object of settings is expected")
    for key, value in updates.items():
        if any(isinstance(part, (list, dict)) for part in (value if isinstance(value, list) else [value])):
            raise UserError(f"{key}: a word, a number, true, false, or a list of them is expected")
        if value is None:
            unset_setting(visit.source.home, str(key))
        else:
            health.set_one(visit, str(key), health.typed(value))
    return health.values(visit)


def _body(visit: Visit) -> Mapping[str, Any]:
    try:
        body = json.loads(visit.form.get("", "") or "{}")
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise UserError("The body is no JSON object")
    return body


def answering(work: Callable[[Visit], object]) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of an API route."""

    async def handler(request: Request) -> Response:
        body = (await request.body()).decode("utf-8", "replace")
        visit = Visit(request, request.app.state.source, request.app.state.keys, {"": body})
        found = await run_in_threadpool(work, visit)
        return Response(json.dumps(found, default=lambda one: one.fields()), media_type="application/json")

    return handler


ROUTES = (
    Route("/api/sessions", answering(by_address(Sessions))),
    Route("/api/sessions/{id}", answering(by_address(Sessions))),
    Route("/api/events", answering(by_address(Events))),
    Route("/api/events/{id}", answering(event)),
    Route("/api/search", answering(search), methods=["POST"]),
    Route("/api/stats", answering(by_address(Stats))),
    Route("/api/days", answering(by_address(Days))),
    Route("/api/config", answering(health.values)),
    Route("/api/config", answering(change_config), methods=["PATCH"]),
    Route("/api/citations/{id}", answering(citation)),
)
