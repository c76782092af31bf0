"""The page's routes."""

import logging
import os
import time
from collections import defaultdict
from importlib import resources

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from memlayer import __version__
from memlayer.edge.home import paths
from memlayer.edge.redaction.privacy import plain, redact
from memlayer.errors import MemlayerError, UserError
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import replace
from memlayer.view import api
from memlayer.view.guard import Guard, Keys
from memlayer.view.live import Live
from memlayer.view.pages import figures, health, notes, sessions, today, work
from memlayer.view.problems import PROGRAMS, answer_problem, status_of, title_of
from memlayer.view.source import EVERY_PROJECT, Project, Source
from memlayer.view.visit import TEMPLATES, Visit, endpoint
from memlayer.wire import memories as memory_ops
from memlayer.wire import tasks as task_ops
from memlayer.wire.memories import MemoryRow

ROWS = 10_000
log = logging.getLogger(__name__)
SAID = {404: "There is no such page. The list names all.", 405: "This address knows no such request."}


def write(source: Source, path: str, project: Project) -> int:
    """Write the notes, tasks and sessions; return the bytes. Raises UserError, OSError."""
    path = os.path.abspath(os.path.expanduser(path))
    if os.path.lexists(path):
        raise UserError(f"{path} is there already. Give another name")
    if not os.path.isdir(os.path.dirname(path)):
        raise UserError(f"There is no folder {os.path.dirname(path)}")
    notes = [row for row in _rows(source, project, Category.CORE) if row.kind != Kind.TASK]
    turns = _rows(source, project, Category.CONVERSATION)
    days = _rows(source, project, Category.DAILY)
    summaries = {row.session_id: row.text for row in days if row.kind == Kind.SESSION_SUMMARY}
    sessions: dict[str, list[MemoryRow]] = defaultdict(list)
    for row in reversed(turns):
        sessions[row.session_id].append(row)
    order = [str(kind) for kind in KINDS]
    notes.sort(key=lambda row: (order.index(row.kind) if row.kind in order else len(order), -row.at_ms))
    tasks = source.ask(task_ops.Tasks(project.folder, "all")).tasks
    style = Markup(resources.files("memlayer.view").joinpath("static", "page.css").read_text(encoding="utf-8"))  # ours
    told = sorted(sessions.items(), key=lambda one: -one[1][-1].at_ms)
    text = TEMPLATES.get_template("export.html").render(
        project=project, notes=notes, sessions=told,
        summaries=summaries, tasks=[row for row in tasks if row.is_open], style=style, version=__version__,
        made=time.strftime("%Y-%m-%d %H:%M"),
    )  # fmt: skip
    data = text.encode("utf-8", "replace")
    paths.write_whole(path, data)
    return len(data)


def _rows(source: Source, project: Project, category: Category) -> list[MemoryRow]:
    """Return memories, redacted once more."""
    found = source.ask(memory_ops.List(project.folder, category=category, limit=ROWS)).memories
    return [replace(row, text=redact(row.text)) for row in found]


def make(source: Source, keys: Keys) -> ASGIApp:
    """Return the application behind its guard."""
    static = str(resources.files("memlayer.view").joinpath("static"))
    app = Starlette(
        routes=[
            Route("/", endpoint(today.page)),
            *notes.ROUTES,
            *work.ROUTES,
            *sessions.ROUTES,
            Route("/search", endpoint(notes.page)),
            Route("/figures", endpoint(figures.page)),
            *health.ROUTES,
            *today.ROUTES,
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
