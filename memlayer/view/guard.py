"""The gate of the page: host, origin, token, form token, size, headers.

Loopback is no boundary: any page in the person's browser, and any program on the machine, can reach a port. So nothing
is routed before the host is one of ours (a rebound name carries its own), and nothing but the style sheet is answered
without the token.
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memlayer.view.problems import answer_problem

COOKIE = "memlayer_view"
MAX_BODY_BYTES = 256_000
KEY_S = 10.0  # for the body with a key
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
NO_TOKEN = "This page is private. Type /memory-view in Claude Code, or run memlayer view in a terminal."
OTHER_HOST = "This page answers to 127.0.0.1 and its own port alone."
OTHER_ORIGIN = "Another page has sent this. Nothing is changed."
NO_FORM_TOKEN = "This form is too old, or not ours. Load the page again; nothing is changed."
READ_ONLY = "The page was opened with --read-only. Nothing is changed."
# Opened from a file: a browser's arguments show its path, and no key. The cookie is for this site's own requests alone,
# so the answer leads on by itself.
ENTRY = """<!doctype html><html lang="en"><meta charset="utf-8"><title>memlayer</title>
<form method="post" action="%s"><input type="hidden" name="token" value="%s"><button>Open the memory</button></form>
<script>document.forms[0].submit()</script></html>
"""
ENTERED = b"""<!doctype html><html lang="en"><meta charset="utf-8"><meta http-equiv="refresh" content="0;url=/">
<title>memlayer</title><a href="/">Open the memory</a></html>
"""
TOO_LONG = f"More than {MAX_BODY_BYTES // 1000} kB were sent. Nothing is changed."


@dataclass
class Keys:
    """The secrets of a page.

    token: of the home, in the first address and as a bearer. cookie: of this process alone, since a browser sends a
    cookie to every port of its host. door: signs keys that are posted once each, by the files that browsers are opened
    with. used: those keys. last_s: when a request with a key last came.
    """

    token: str
    port: int
    is_read_only: bool = False
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    door: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    used: set[str] = field(default_factory=set)
    last_s: float = field(default_factory=time.monotonic)

    @property
    def hosts(self) -> tuple[str, ...]:
        """The values of Host that are ours."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name: pages of two homes share a host."""
        return f"{COOKIE}_{self.port}"

    def takes(self, key: str) -> bool:
        """Take a key once; return whether it is of this door."""
        nonce, _, sign = key.partition(".")
        is_new = key not in self.used and _same(sign, signed(self.door, nonce))
        self.used |= {key} if is_new else set()
        return is_new

    @property
    def form_token(self) -> str:
        """The token that each form carries."""
        return self.mark("form")

    def mark(self, text: str) -> str:
        """Return the sign that a text is this page's own."""
        return signed(self.cookie, text)


def signed(secret: str, text: str) -> str:
    """Return the sign of a text under a secret."""
    return hmac.new(secret.encode(), text.encode("utf-8", "replace"), hashlib.sha256).hexdigest()


def entry(door: str, port: int) -> str:
    """Return a file that enters a page by itself, once."""
    nonce = secrets.token_urlsafe(32)
    return ENTRY % (f"http://127.0.0.1:{port}/", f"{nonce}.{signed(door, nonce)}")


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
        if scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == "/":
            await self._enter(scope, receive, send, sent)
            return
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
        if self._has_bearer(sent) or self._has_cookie(sent) or (is_http and self._is_first_visit(scope)):
            self._keys.last_s = time.monotonic()
            return None
        if is_http and scope["method"] in SAFE and scope["path"].startswith(OPEN_PATHS):
            return None
        return 401, NO_TOKEN

    def _has_bearer(self, sent: Mapping[str, str]) -> bool:
        kind, _, token = sent.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and _same(token.strip(), self._keys.token)

    def _has_cookie(self, sent: Mapping[str, str]) -> bool:
        return any(_same(value, self._keys.cookie) for value in cookies(sent.get("cookie", ""), self._keys.cookie_name))

    def _is_first_visit(self, scope: Scope) -> bool:
        given = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token", "")
        return scope["method"] == "GET" and _same(given, self._keys.token)

    async def _enter(self, scope: Scope, receive: Receive, send: Send, sent: Mapping[str, str]) -> None:
        """Exchange the key that a file posts for a cookie."""
        if sent.get("host", "") not in self._keys.hosts:
            await _refuse(scope, receive, send, 403, OTHER_HOST)
            return
        try:
            body = await asyncio.wait_for(_body(receive), KEY_S)
        except TimeoutError:
            body = None
        given = dict(parse_qsl((body or b"").decode("utf-8", "replace"))).get("token", "")
        if not self._keys.takes(given):
            await _refuse(scope, receive, send, 401, NO_TOKEN)
            return
        self._keys.last_s = time.monotonic()
        headers = [(b"content-type", b"text/html; charset=utf-8"), (b"set-cookie", self._cookie.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": ENTERED})

    @property
    def _cookie(self) -> str:
        return f"{self._keys.cookie_name}={self._keys.cookie}; Path=/; HttpOnly; SameSite=Strict"

    async def _welcome(self, scope: Scope, send: Send) -> None:
        """Exchange the token for a cookie, so that no history keeps it."""
        pairs = parse_qsl(scope["query_string"].decode("latin-1"))
        query = [pair for pair in pairs if pair[0] != "token"]
        place = "/" + scope["raw_path"].decode("latin-1").lstrip("/\\") + ("?" + urlencode(query) if query else "")
        headers = [(b"location", place.encode("latin-1")), (b"set-cookie", self._cookie.encode())]
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
            if message["type"] == "websocket.send":  # a live page is in use
                self._keys.last_s = time.monotonic()
            if message["type"] == "http.response.start":
                theirs = [
                    pair for pair in message.get("headers", []) if pair[0].decode("latin-1").lower() not in headers
                ]
                message = {**message, "headers": [*theirs, *ours]}
            await send(message)

        return out


def _same(given: str, known: str) -> bool:
    return bool(known) and hmac.compare_digest(given.encode("utf-8", "replace"), known.encode("utf-8", "replace"))


def cookies(header: str, name: str) -> Iterator[str]:
    """Yield a cookie's values.

    Other programs of this machine write into the header, too, as they like: no parser of the whole stands that.
    """
    for pair in header.split(";"):
        key, _, value = pair.partition("=")
        if key.strip() == name:
            yield value.strip()


def _headers(scope: Scope) -> dict[str, str]:
    """Return the headers by name, repeated ones without a value."""
    headers: dict[str, str] = {}
    for name, value in scope["headers"]:
        key, text = name.decode("latin-1").lower(), value.decode("latin-1")
        headers[key] = text if key not in headers else f"{headers[key]};{text}" if key == "cookie" else "\0"
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
