"""The page's routes."""

from __future__ import annotations

import logging
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memlayer.errors import MemlayerError
from memlayer.view import api
from memlayer.view.guard import Guard, Keys
from memlayer.view.live import Live
from memlayer.view.pages import figures, health, map, notes, projects, search, sessions, today, work
from memlayer.view.problems import answer_problem, status_of
from memlayer.view.source import Source
from memlayer.view.visit import endpoint

log = logging.getLogger(__name__)
SAID = {
    404: "There is no such page. The list on the left, or at the top, names all.",
    405: "This address knows no such request.",
}


def make(source: Source, keys: Keys) -> ASGIApp:
    """Return the application behind its guard."""
    static = str(resources.files("memlayer.view").joinpath("static"))
    app = Starlette(
        routes=[
            Route("/", endpoint(today.page)),
            *notes.ROUTES,
            *work.ROUTES,
            *sessions.ROUTES,
            Route("/search", endpoint(search.page)),
            Route("/map", endpoint(map.page)),
            Route("/figures", endpoint(figures.page)),
            *health.ROUTES,
            *projects.ROUTES,
            *api.ROUTES,
            WebSocketRoute("/ws", Live(source).serve),
            Mount("/static", StaticFiles(directory=static)),
        ],
        exception_handlers={MemlayerError: _ours, HTTPException: _of_http, Exception: _unexpected},
        middleware=[Middleware(Guard, keys=keys)],
    )
    app.router.redirect_slashes = False
    app.state.source, app.state.keys = source, keys
    return app


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemlayerError)
    return answer_problem(request.scope, status_of(error), str(error))


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer_problem(request.scope, error.status_code, SAID.get(error.status_code, error.detail))


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s failed: %s", request.url.path, type(error).__name__)
    return answer_problem(request.scope, 500, "Something went wrong here. Run `memlayer doctor`; nothing was changed.")
