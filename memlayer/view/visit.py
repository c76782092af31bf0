"""A request as a page sees it: project, parameters, form, answers."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from memlayer import __version__
from memlayer.edge.capture import hosts
from memlayer.edge.counting import counted, size
from memlayer.errors import UserError
from memlayer.kinds import KINDS, Kind
from memlayer.model import PROVEN
from memlayer.view import texts
from memlayer.view.guard import Keys
from memlayer.view.source import EVERY, Project, Source

if TYPE_CHECKING:
    from memlayer.edge.ipc.client import Answer, Asked

MAX_PARAMETER_CHARS = 2000
MENU = (
    ("/", "Today"), ("/notes", "Notes"), ("/tasks", "Open work"), ("/sessions", "Sessions"), ("/search", "Search"),
    ("/figures", "Figures"), ("/health", "Health"), ("/settings", "Settings"),
)  # fmt: skip


def heading_of(kind: object) -> str:
    """Return the heading of a kind of memory."""
    known = Kind(str(kind)) if str(kind) in set(Kind) else None
    return (KINDS[known].heading or KINDS[known].label.capitalize()) if known else "Notes"


def _environment() -> Environment:
    made = Environment(
        loader=PackageLoader("memlayer.view"), autoescape=select_autoescape(("html", "svg"), default=True),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        finalize=lambda value: texts.harmless(value) if type(value) is str else value,
    )  # fmt: skip
    made.filters.update(
        code=texts.code, markdown=texts.markdown, marked=texts.marked, short=texts.short,
        spoken=texts.spoken,
        moment=texts.moment, counted=counted, bytes=size, author=texts.author, first_line=texts.first_line,
        compared=texts.compared, with_quote=texts.with_quote, heading=heading_of,
        host_title=lambda name: hosts.named(name).title,
    )  # fmt: skip
    return made


TEMPLATES = _environment()


@dataclass
class Visit:
    """A request. form: the posted fields."""

    request: Request
    source: Source
    keys: Keys
    form: Mapping[str, str] = field(default_factory=dict)

    def ask(self, arguments: "Asked[Answer]") -> "Answer":
        """Return the daemon's answer. Raises MemlayerError."""
        return self.source.ask(arguments)

    def text(self, name: str, default: str = "") -> str:
        """Return a parameter of the address."""
        return self.request.query_params.get(name, default)[:MAX_PARAMETER_CHARS].strip()

    def number(self, name: str, default: int, least: int = 1, most: int = 10_000) -> int:
        """Return a whole number of the address, within bounds. Raises UserError."""
        given = self.text(name)
        if not given:
            return default
        if not (given.isascii() and given.isdigit() and len(given) < 16):
            raise UserError(f"{name}: a whole number is expected")
        return min(most, max(least, int(given)))

    @property
    def path(self) -> Mapping[str, str]:
        """The parts of the path that have names."""
        return self.request.path_params

    @cached_property
    def project(self) -> Project:
        """The project that is shown. Raises NotFound."""
        return self.source.project(self.form.get("project", "") or self.text("project"))

    @property
    def folder(self) -> str:
        """The folder of the project, "" for every project."""
        return self.project.folder

    def address(self, path: str, **parameters: object) -> str:
        """Return an address of ours that keeps the project."""
        given = {name: str(value) for name, value in parameters.items() if value not in ("", None, 0, False)}
        if "project" not in given and (self.text("project") or self.form.get("project")):
            given["project"] = self.project.id
        return path + ("?" + urlencode(given) if given else "")

    def page(self, template: str, title: str, code: int = 200, **values: Any) -> Response:
        """Return a page, with all that its frame needs."""
        place = "/" + self.request.url.path.strip("/").split("/")[0]
        frame = dict(
            title=title, place="/notes" if place == "/review" else place, pages=MENU, version=__version__, every=EVERY,
            project=self.project, projects=self.source.projects(), address=self.address, csrf=self.keys.form_token,
            is_read_only=self.keys.is_read_only, said=self._said(), here=self.request.url.path,
            parameters=dict(self.request.query_params), proven=PROVEN,
        )  # fmt: skip
        return HTMLResponse(TEMPLATES.get_template(template).render(**frame, **values), code)

    def back(self, path: str, said: str = "", **parameters: object) -> Response:
        """Return the redirect after a change, with a line that tells it."""
        said = texts.short(said, 200)
        return RedirectResponse(self.address(path, said=said, mark=self.keys.mark(said), **parameters), 303)

    def _said(self) -> str:
        """Return the line of a change, if this page signed it."""
        said = self.text("said")
        return said if hmac.compare_digest(self.text("mark").encode(), self.keys.mark(said).encode()) else ""


Page = Callable[[Visit], Response]


def endpoint(work: Page) -> Callable[[Request], Awaitable[Response]]:
    """Return the handler of a route; its work gets a thread."""

    async def handler(request: Request) -> Response:
        form: dict[str, str] = {}
        if request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            form = dict(parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True))
        visit = Visit(request, request.app.state.source, request.app.state.keys, form)
        return await run_in_threadpool(work, visit)

    return handler
