"""Errors as a page, or as problem JSON (RFC 9457) for programs."""

import html
from http import HTTPStatus

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import Scope

from memlayer.edge.redaction.privacy import plain
from memlayer.errors import DaemonError, MemlayerError, StoreError, UserError

UNKNOWN = ("No ", "Nothing is known")  # how the daemon begins to say that a name means nothing
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>%(title)s · memlayer</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/static/page.css">
</head><body class="alone"><main id="main"><p class="eyebrow">memlayer</p><h1>%(title)s</h1><p>%(why)s</p>
</main></body></html>"""
PROGRAMS = ("/api/", "/ws")  # are asked by programs
TITLES = {400: "That did not work", 404: "Not found", 500: "Something went wrong", 503: "The memory does not answer"}


class NotFound(UserError):
    """A name of nothing."""


def answer_problem(scope: Scope, status: int, why: str) -> Response:
    """Return an error, for a program or without a frame."""
    title, why = title_of(status), plain(why)
    if str(scope.get("path", "")).startswith(PROGRAMS):
        return JSONResponse(
            {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": why},
            status, media_type="application/problem+json",
        )  # fmt: skip
    return HTMLResponse(PAGE % {"title": html.escape(title), "why": html.escape(why)}, status)


def title_of(status: int) -> str:
    """Return the heading of an error."""
    return TITLES.get(status) or HTTPStatus(status).phrase


def status_of(error: MemlayerError) -> int:
    """Return the HTTP status of an error of ours."""
    if isinstance(error, NotFound) or (isinstance(error, UserError) and str(error).startswith(UNKNOWN)):
        return 404
    if isinstance(error, UserError):
        return 400
    return 503 if isinstance(error, (DaemonError, StoreError)) else 500
