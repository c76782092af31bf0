"""The gate of the page: host, origin, token, form token, size, headers.

Loopback is no boundary: any page in the person's browser, and any program on the machine, can reach a port. So nothing
is routed before the host is one of ours (a rebound name carries its own), and nothing but the style sheet is answered
without the token.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memlayer.view.problems import answer_problem

COOKIE = "memlayer_view"
MAX_BODY_BYTES = 256_000
OPEN_PATHS = ("/static/",)  # style sheet and script: the same for everybody
SAFE = ("GET", "HEAD")
CHANGING = ("POST", "PATCH")
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self' %s; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
    "cache-control": "no-store",
}
NO_TOKEN = "This page is private. Run `memlayer view` and open the address that it prints."
OTHER_HOST = "This page answers to 127.0.0.1 and its own port alone."
OTHER_ORIGIN = "Another page has sent this. Nothing is changed."
NO_FORM_TOKEN = "This form is too old, or not ours. Load the page again; nothing is changed."
READ_ONLY = "The page was opened with --read-only. Nothing is changed."
TOO_LONG = f"More than {MAX_BODY_BYTES // 1000} kB were sent. Nothing is changed."


@dataclass(frozen=True)
class Keys:
    """The secrets of a page.

    token: of the home, in the first address and as a bearer. cookie: of this process alone, since a browser sends a
    cookie to every port of its host. once: works for one visit, for the browser that is opened: other users can read
    the arguments of its process.
    """

    token: str
    port: int
    is_read_only: bool = False
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    once: set[str] = field(default_factory=lambda: {secrets.token_urlsafe(32)})

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of Host that are ours."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name: pages of two homes share a host."""
        return f"{COOKIE}_{self.port}"

    @property
    def form_token(self) -> str:
        """The token that each form carries."""
        return hmac.new(self.cookie.encode(), b"form", hashlib.sha256).hexdigest()


class Guard:
    """ASGI middleware that lets requests of the person through."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or refuse, one request."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        sent = _headers(scope)
        send = self._with_headers(send)
        refusal = self._refusal(scope, sent)
        if refusal is not None:
            await _refuse(scope, receive, send, *refusal)
        elif scope["type"] == "http" and self._is_first_visit(scope):
            await self._welcome(scope, send)
        elif scope["type"] == "http" and scope["method"] in CHANGING:
            await self._changing(scope, receive, send, sent)
        else:
            await self._app(scope, receive, send)

    def _refusal(self, scope: Scope, sent: Mapping[str, str]) -> tuple[int, str] | None:
        """Return (status, why) of a request that goes no further."""
        if sent.get("host", "") not in self._keys.hosts:
            return 403, OTHER_HOST
        origin = sent.get("origin")
        if origin is not None and origin not in [f"http://{host}" for host in self._keys.hosts]:
            return 403, OTHER_ORIGIN
        is_http = scope["type"] == "http"
        if is_http and scope["method"] not in (*SAFE, *CHANGING):
            return 405, "This page knows GET, POST and PATCH."
        if is_http and scope["method"] in CHANGING and sent.get("sec-fetch-site", "same-origin") != "same-origin":
            return 403, OTHER_ORIGIN
        if not is_http and origin is None and not self._has_bearer(sent):
            return 403, OTHER_ORIGIN
        if is_http and scope["method"] in SAFE and scope["path"].startswith(OPEN_PATHS):
            return None
        if self._has_bearer(sent) or self._has_cookie(sent) or (is_http and self._is_first_visit(scope)):
            return None
        return 401, NO_TOKEN

    def _has_bearer(self, sent: Mapping[str, str]) -> bool:
        kind, _, token = sent.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and _same(token.strip(), self._keys.token)

    def _has_cookie(self, sent: Mapping[str, str]) -> bool:
        try:
            cookie = SimpleCookie(sent.get("cookie", "")).get(self._keys.cookie_name)
        except CookieError:
            return False
        return cookie is not None and _same(cookie.value, self._keys.cookie)

    def _is_first_visit(self, scope: Scope) -> bool:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        return scope["method"] == "GET" and any(_same(given, known) for known in (self._keys.token, *self._keys.once))

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Exchange the token for a cookie, so that no history keeps it."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"))
        self._keys.once.discard(dict(pairs)["token"])
        query = [pair for pair in pairs if pair[0] != "token"]
        place = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\") + ("?" + urlencode(query) if query else "")
        cookie = f"{self._keys.cookie_name}={self._keys.cookie}; Path=/; HttpOnly; SameSite=Strict"
        headers = [(b"location", place.encode("latin-1")), (b"set-cookie", cookie.encode())]
        await send({"type": "http.response.start", "status": 303, "headers": headers})
        await send({"type": "http.response.body", "body": b""})

    async def _changing(self, scope: Scope, receive: Receive, send: Send, sent: Mapping[str, str]) -> None:
        """Read the body, within its limit, and check the form's token."""
        length = sent.get("content-length", "0")
        body = b"" if not length.isdigit() or int(length) > MAX_BODY_BYTES else await _body(receive)
        if body is None or not length.isdigit() or int(length) > MAX_BODY_BYTES:
            await _refuse(scope, receive, send, 413, TOO_LONG)
            return
        given = sent.get("x-csrf-token", "")
        if sent.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            given = given or dict(parse_qsl(body.decode("utf-8", "replace"))).get("csrf", "")
        is_asking = scope["path"] == "/api/search"  # long questions are posted, and change nothing
        if not self._has_bearer(sent) and not _same(given, self._keys.form_token):
            await _refuse(scope, receive, send, 403, NO_FORM_TOKEN)
        elif self._keys.is_read_only and not is_asking:
            await _refuse(scope, receive, send, 403, READ_ONLY)
        else:
            await self._app(scope, _read(body, receive), send)

    def _with_headers(self, send: Send) -> Send:
        sockets = " ".join(f"ws://{host}" for host in self._keys.hosts)
        headers = {**HEADERS, "content-security-policy": POLICY % sockets}
        ours = [(name.encode(), value.encode()) for name, value in headers.items()]

        async def out(message: Message) -> None:
            if message["type"] == "http.response.start":
                theirs = [
                    pair for pair in message.get("headers", []) if pair[0].decode("latin-1").lower() not in headers
                ]
                message = {**message, "headers": [*theirs, *ours]}
            await send(message)

        return out


def _same(given: str, known: str) -> bool:
    return bool(known) and hmac.compare_digest(given.encode("utf-8", "replace"), known.encode("utf-8", "replace"))


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name; a repeated header has no valid value."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = value.decode("latin-1") if key not in headers else "\0"
    return headers


async def _body(receive: Receive) -> bytes | None:
    """Return the body, None if it is too long."""
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += bytes(message.get("body", b""))
        if len(body) > MAX_BODY_BYTES:
            return None
        if not message.get("more_body", False):
            return body


def _read(body: bytes, receive: Receive) -> Receive:
    """Return a channel that hands over a body that was read."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


async def _refuse(scope: Scope, receive: Receive, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 4000 + status, "reason": why[:100]})
        return
    await answer_problem(scope, status, why)(scope, receive, send)
