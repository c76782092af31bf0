"""The page as a process, and requests to it as a browser or an attacker sends them."""

import http.client
import json
import os
import re
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

from memlayer.edge.capture import spool
from memlayer.tasks.events import CREATED, Observation, TaskEvent, captured
from memlayer.tasks.states import By, Status
from memlayer.turns.remembered import remember_event
from memlayer.wire import memories as memory_ops
from memlayer.wire import tasks as task_ops
from tests.support.cli_process import Cli
from tests.support.prepared_processes import ROOT, start_verb
from tests.support.processes import Daemon, HookRunner

SCRIPT = "<script>alert(1)</script>"


class Answer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body, read as JSON."""
        return json.loads(self.text)


class PageProcess:
    """`memlayer view` of a home, in a folder."""

    def __init__(self, home: Path, folder: Path, *arguments: str, token: str = "") -> None:
        cli = Cli(home, folder)
        environment = {**cli.environment, "MEMLAYER_RUNTIME_DIR": sys.prefix}
        if token:
            environment["MEMORY_VIEWER_TOKEN"] = token
        null, (said, stdout), (failed, stderr) = os.open(os.devnull, os.O_RDONLY), os.pipe(), os.pipe()
        self.process = start_verb(
            ["view", "--json", *arguments], environment, folder, (null, stdout, stderr), is_fresh=Daemon.is_fresh
        )
        for fd in (null, stdout, stderr):
            os.close(fd)
        self.stdout, self.stderr = (open(fd, encoding="utf-8") for fd in (said, failed))  # noqa: SIM115
        lines = ""
        while not lines.rstrip().endswith("}"):
            line = self.stdout.readline()
            assert line, self.stderr.read()
            lines += line
        self.said = json.loads(lines)
        self.port = int(self.said["port"])
        self.token = self.said["address"].partition("token=")[2]
        self.cookie = ""

    @property
    def host(self) -> str:
        """The host that the page answers to."""
        return f"127.0.0.1:{self.port}"

    def raw(
        self, method: str, path: str, headers: dict[str, str] | None = None, body: str | bytes | None = None
    ) -> Answer:
        """Send a request as it is, without a token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read().decode())
        finally:
            connection.close()

    def enter(self) -> None:
        """Visit the first address, and keep the cookie."""
        answer = self.raw("GET", f"/?token={self.token}")
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def get(self, path: str, **headers: str) -> Answer:
        """Load an address as the browser does that has the cookie."""
        if not self.cookie:
            self.enter()
        return self.raw("GET", path, {"Cookie": self.cookie, **headers})

    def form_token(self, path: str = "/notes") -> str:
        """The token in the forms of a page; that of the process."""
        import hashlib
        import hmac

        if not self.cookie:
            self.enter()
        return hmac.new(self.cookie.partition("=")[2].encode(), b"form", hashlib.sha256).hexdigest()

    def post(self, path: str, token: str | None = None, headers: dict[str, str] | None = None, **form: str) -> Answer:
        """Post a form as the page's own forms do."""
        own_token = self.form_token()
        given = {"csrf": own_token if token is None else token, **form}
        sent = {
            "Cookie": self.cookie,
            "Origin": f"http://{self.host}",
            "Content-Type": "application/x-www-form-urlencoded",
            **(headers or {}),
        }
        return self.raw("POST", path, sent, urlencode(given))

    def api(self, method: str, path: str, body: object = None, **headers: str) -> Answer:
        """Ask the API with the bearer."""
        sent = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json", **headers}
        return self.raw(method, path, sent, None if body is None else json.dumps(body))

    def stop(self) -> int:
        """End it as Ctrl-C does; return the exit code."""
        import signal

        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        code = self.process.wait(20)
        self.stdout.close()
        self.stderr.close()
        return code

    def __enter__(self) -> "PageProcess":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


class ViewedHome:
    """A home with two projects, in English and Korean, worth looking at."""

    def __init__(self, base: Path) -> None:
        self.home, self.shop, self.site = base / "home", base / "shop", base / "사이트"
        for folder in (self.shop, self.site):
            folder.mkdir(parents=True)
        self.daemon = Daemon(ROOT, self.home)
        self.hook = HookRunner(ROOT, self.home, self.shop)
        self.hook.forbid_background()
        self.cli = Cli(self.home, self.shop)
        self.cli.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix

    def tell(self) -> None:
        """Have sessions, notes and tasks told by the real hooks and verbs."""
        turn = self.hook.turn
        self.daemon.settle()  # the store is open: prompts are answered
        turn("one", "p1", "Where do we keep order events?", "Decided: order events go to ClickHouse, for 90 days.")
        turn(
            "one",
            "p2",
            "배포는 언제 하기로 했지?",
            "배포는 매주 화요일 오전 10시에 하기로 했습니다. checkout.py 를 먼저 봅니다.",
        )
        self.daemon.settle()
        turn("two", "p3", "which database holds the order events again?", "ClickHouse, as decided: see `schema.sql`.")
        turn("two", "p4", "결제 웹훅 포트가 뭐였지?", "웹훅은 9090 포트에서 듣습니다.")
        for text in (
            "the API listens on port 8080", "the API listens on port 9090 now", "항상 커밋 메시지는 한국어로 쓴다",
            "gzip slowed the export (tried, unconfirmed)",
        ):  # fmt: skip
            self.remember(text, self.shop)
        self.change(Observation(CREATED, "배포 문서 고치기", priority="high"))
        waits = ("acme/core#42",)
        self.change(Observation(CREATED, "write the migration guide", status=Status.BLOCKED, blockers=waits))
        self.change(Observation(CREATED, "rotate the signing key"))
        self.change(Observation(Status.IN_PROGRESS, "rotate the signing key"))
        self.remember("the site is built with Astro", self.site)
        self.daemon.settle()

    def remember(self, text: str, folder: Path) -> None:
        """Remember a text as the verb does, without its process."""
        event = remember_event(text, project_dir=str(folder), at_ms=time.time_ns() // 1_000_000)
        spool.put(str(self.home), event)
        self.daemon.client.ask(memory_ops.Remember(str(event["id"])), deadline_s=40)

    def change(self, row: Observation) -> None:
        """Change a task as the verb does, without its process."""
        said = TaskEvent(By.PERSON, (row,))
        event = captured(said, project_dir=str(self.shop), at_ms=time.time_ns() // 1_000_000)
        spool.put(str(self.home), event)
        self.daemon.client.ask(task_ops.TaskChange(str(event["id"])), deadline_s=40)

    def verb(self, *arguments: str) -> Any:
        """Run a verb; return its JSON."""
        done = self.cli(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def note(self, text: str) -> Any:
        """Return the note with these words."""
        wanted = memory_ops.List(str(self.shop), category="core", limit=200, with_superseded=True)
        rows = self.daemon.client.ask(wanted, deadline_s=40).memories
        return next(row for row in rows if text in row.text)

    def page(self, *arguments: str, token: str = "") -> PageProcess:
        """Open the page on a port that is free."""
        return PageProcess(self.home, self.shop, *arguments, token=token)


# Of each page without a name in its address; the browser looks at all of them.
PATHS = (
    "/", "/notes", "/notes?state=replaced", "/notes/refused", "/review", "/tasks", "/sessions", "/sessions/one",
    "/search?q=ClickHouse", "/figures", "/health", "/settings?q=recall", "/?project=all", "/projects",
)  # fmt: skip


def links_of(page: str) -> list[str]:
    """Return the addresses of a page's own links, without their queries."""
    return sorted({urlsplit(found).path for found in re.findall(r'href="(/[^"#]*)"', page)})
