"""The page's routes."""

import logging
from importlib import resources

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memlayer.edge.redaction.privacy import plain
from memlayer.errors import MemlayerError, UserError
from memlayer.view import api
from memlayer.view.guard import Guard, Keys
from memlayer.view.live import Live
from memlayer.view.pages import figures, health, notes, sessions, today, work
from memlayer.view.problems import PROGRAMS, answer_problem, status_of, title_of
from memlayer.view.source import EVERY_PROJECT, Source
from memlayer.view.visit import Visit

PAGES = (today, notes, work, sessions, figures, health)  # each has ROUTES
log = logging.getLogger(__name__)
SAID = {404: "There is no such page. The list names all.", 405: "This address knows no such request."}


def make(source: Source, keys: Keys) -> ASGIApp:
    """Return the application behind its guard."""
    static = str(resources.files("memlayer.view").joinpath("static"))
    app = Starlette(
        routes=[
            *(route for page in PAGES for route in page.ROUTES),
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


def _told(request: Request, status: int, why: str) -> Response:
    """Return an error in the pages' frame, or for a program."""
    if request.url.path.startswith(PROGRAMS):
        return answer_problem(request.scope, status, why)
    visit = Visit(request, request.app.state.source, request.app.state.keys)
    try:
        visit.project  # noqa: B018
    except UserError:
        visit.project = EVERY_PROJECT
    return visit.page("problem.html", title_of(status), status, why=plain(why))


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, MemlayerError)
    return _told(request, status_of(error), str(error))


async def _of_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _told(request, error.status_code, SAID.get(error.status_code, error.detail))


async def _unexpected(request: Request, error: Exception) -> Response:
    log.error("%s failed: %s", request.url.path, type(error).__name__)
    return _told(request, 500, "Nothing was changed. `/memory-doctor` in Claude Code may say why.")
