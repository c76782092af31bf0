"""Attacks on the page: other hosts, other origins, wrong tokens, long bodies, half-open sockets, paths that climb."""

import http.client
import os
import re
import resource
import signal
import socket
import stat
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.cli_process import MAIN
from tests.support.page_process import SCRIPT, PageProcess, ViewedHome

PAGES = ("/", "/notes", "/notes/refused", "/review")


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example:{port}", "127.0.0.1:1", "127.0.0.1", ""]
)
def test_another_host_is_refused_before_anything_else(page: PageProcess, host: str) -> None:
    page.enter()
    for path in ("/", "/static/page.css", "/nowhere", f"/?token={page.token}"):
        answer = page.raw("GET", path, {"Host": host.format(port=page.port), "Cookie": page.cookie})
        assert answer.status == 403 or (host == "" and answer.status == 400), (path, answer)
        assert page.token not in answer.text


def test_two_hosts_are_no_host(page: PageProcess) -> None:
    with socket.create_connection(("127.0.0.1", page.port)) as sock:
        lines = f"GET /static/page.css HTTP/1.1\r\nHost: {page.host}\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        sock.sendall(lines.encode())
        assert sock.recv(100).split(b" ")[1] in (b"400", b"403")


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"])
def test_another_origin_is_refused(viewed: ViewedHome, page: PageProcess, origin: str) -> None:
    note = viewed.note("한국어로")
    headers = {"Origin": origin.format(port=page.port)}
    assert page.get("/notes", **headers).status == 403
    assert page.post(f"/notes/{note.id}/pin", headers=headers).status == 403
    assert viewed.note("한국어로").pinned is False


def test_a_form_on_another_page_changes_nothing(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("한국어로")
    path = f"/notes/{note.id}/pin"
    assert page.post(path, token="").status == 403
    assert page.post(path, token="0" * 64).status == 403
    assert page.post(path, headers={"Sec-Fetch-Site": "cross-site"}).status == 403
    assert page.raw("POST", path, {"Content-Type": "text/plain", "Cookie": page.cookie}, "csrf=x").status == 403
    assert viewed.note("한국어로").pinned is False


@pytest.mark.parametrize("path", PAGES)
def test_no_page_without_the_token(page: PageProcess, path: str) -> None:
    for headers in (
        {},
        {"Authorization": "Bearer wrong"},
        {"Cookie": f"memlayer_view_{page.port}=wrong"},
        {"Cookie": "=;;=,"},
    ):
        answer = page.raw("GET", path, headers)
        assert answer.status == 401
        assert "ClickHouse" not in answer.text
    assert page.raw("GET", path + "?token=wrong").status == 401
    assert page.get(path).status == 200


def test_the_token_is_exchanged_for_a_cookie(viewed: ViewedHome, page: PageProcess) -> None:
    answer = page.raw("GET", f"/notes?kind=fact&token={page.token}")
    assert (answer.status, answer.headers["location"]) == (303, "/notes?kind=fact")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and page.token not in cookie
    assert page.raw("GET", f"//evil.example/?token={page.token}").headers["location"] == "/evil.example/"
    held = viewed.home / "view.token"
    assert stat.S_IMODE(os.stat(held).st_mode) == 0o600
    assert held.read_text().strip() == page.token


def test_pages_of_two_homes_keep_their_cookies_apart(viewed: ViewedHome, page: PageProcess) -> None:
    with viewed.page() as other:
        page.enter()
        other.enter()
        both = f"{page.cookie}; {other.cookie}"
        assert page.cookie.partition("=")[0] != other.cookie.partition("=")[0]
        assert page.raw("GET", "/tasks", {"Cookie": both}).status == 200
        assert other.raw("GET", "/tasks", {"Cookie": both}).status == 200
        assert other.raw("GET", "/tasks", {"Cookie": page.cookie}).status == 401


@pytest.fixture
def browser(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """Return the variable of a browser, and the file in which it keeps the last address that it got."""
    program, seen = tmp_path / "browser", tmp_path / "address"
    program.write_text(f'#!/bin/sh\nprintf %s "$1" > "{seen}.new" && mv "{seen}.new" "{seen}"\n')
    program.chmod(0o700)
    return {"BROWSER": f"{program} %s"}, seen


def entered(viewed: ViewedHome, seen: Path) -> tuple[str, list[int]]:
    """Return the page's address, and the answers to two visits with the file that the browser got."""
    viewed.daemon.wait_for(seen.exists, "address")
    told = seen.read_text()
    seen.unlink()
    file = Path(unquote(urlsplit(told).path))
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and file.parent == viewed.home
    address, key = re.search(r'action="(http://127[^"]+)".*value="([^"]{40,})"', file.read_text()).groups()  # type: ignore[union-attr]
    assert key not in told

    def visit() -> int:
        connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port or 0, timeout=10)
        connection.request("POST", "/", f"token={key}", {"Origin": "null"})
        status = connection.getresponse().status
        connection.close()
        return status

    return address, [visit(), visit()]


def test_the_browser_is_opened_with_a_file(viewed: ViewedHome, browser: tuple[dict[str, str], Path]) -> None:
    """Other users can read its arguments: they hold no key, and the file is the person's alone."""
    environment = {**viewed.cli.environment, **browser[0]}
    command = [sys.executable, "-I", str(MAIN), "view"]
    with subprocess.Popen(command, env=environment, cwd=viewed.shop, stdout=subprocess.DEVNULL) as process:
        assert entered(viewed, browser[1])[1] == [200, 401]
        process.terminate()


def test_slash_command_opens_the_page_and_opens_it_again(
    viewed: ViewedHome, browser: tuple[dict[str, str], Path]
) -> None:
    """In a project in Korean, from the host's shell: the page is there when that shell is gone."""
    environment = {**viewed.cli.environment, **browser[0], "CLAUDECODE": "1"}
    command = [sys.executable, "-I", str(MAIN), "slash", "memory-view", "s1"]
    pages = []
    try:
        for _ in range(2):
            viewed.hook("user_prompt_expansion", "s1", command_name="memlayer:memory-view", command_args="")
            done = subprocess.run(command, env=environment, cwd=viewed.site, capture_output=True, text=True, timeout=60)
            address, answers = entered(viewed, browser[1])
            pages.append((viewed.home / "view.open").read_text().split())
            assert (done.returncode, done.stderr, answers) == (0, "", [200, 401])
            assert address in done.stdout and not any(key in done.stdout for key in pages[-1][2:])
        assert pages[0] == pages[1]
        alone = subprocess.run(command, env=environment, cwd=viewed.site, capture_output=True, text=True, timeout=60)
        assert alone.returncode == 1 and "did not arrive" in alone.stderr and not browser[1].exists()
    finally:
        os.kill(int(pages[0][0]), signal.SIGTERM)


def test_each_answer_forbids_what_a_page_could_do(page: PageProcess) -> None:
    for answer in (page.get("/notes"), page.raw("GET", "/notes"), page.get("/nowhere"), page.get("/static/page.js")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none';") and "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy and f"ws://{page.host}" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_nothing_in_a_page_is_inline_or_from_elsewhere(page: PageProcess) -> None:
    for path in PAGES:
        text = page.get(path).text
        assert "<script>" not in text and " style=" not in text and " onclick=" not in text
        assert "http://" not in text.replace("http://www.w3.org/2000/svg", "") and "https://" not in text


@pytest.mark.parametrize(
    "path",
    ["/static/../view.token", "/static/%2e%2e/guard.py", "/static/..%2fguard.py", "/static//etc/passwd",
     "/notes/..%2f..%2fetc%2fpasswd", "/notes/%00", "/%2e%2e/%2e%2e/etc/passwd", "/static/\\..\\guard.py"],
)  # fmt: skip
def test_a_path_leads_to_nothing_else(page: PageProcess, path: str) -> None:
    answer = page.get(path)
    assert answer.status in (400, 404), answer
    assert "root:" not in answer.text and page.token not in answer.text and "class Guard" not in answer.text


def test_a_long_body_is_refused_unread(page: PageProcess) -> None:
    answer = page.post("/notes/x/edit", text="가" * 100_000)
    assert answer.status == 413
    with socket.create_connection(("127.0.0.1", page.port)) as sock:  # without a length, in pieces
        head = (
            f"POST /notes/x/edit HTTP/1.1\r\nHost: {page.host}\r\nCookie: {page.cookie}\r\n"
            "Transfer-Encoding: chunked\r\n\r\n"
        )
        sock.sendall(head.encode())
        sent = 0
        try:
            while sent < 10_000_000:
                sock.sendall(b"10000\r\n" + b"a" * 65536 + b"\r\n")
                sent += 65536
        except OSError:  # it has closed
            pass
        sock.settimeout(10)
        try:
            assert b"413" in sock.recv(200)
        except ConnectionError:
            assert sent < 10_000_000
    assert page.get("/notes").status == 200


def test_a_name_of_nothing_is_404_and_a_wrong_value_400(page: PageProcess) -> None:
    assert page.get("/notes/zzzzzz").status == 404
    assert page.get("/nowhere").status == 404
    assert page.get("/?project=nobody").status == 404
    assert page.get("/notes?page=eins").status == 400
    assert page.get("/?day=9999-99-99").status == 400
    assert page.get("/?day=0001-01-01").status in (200, 400)
    assert page.raw("DELETE", "/notes", {"Cookie": page.cookie}).status == 405


def test_half_open_sockets_do_not_keep_others_out(viewed: ViewedHome, page: PageProcess) -> None:
    held = []
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4096, hard), hard))
    try:
        for _ in range(1000):
            sock = socket.create_connection(("127.0.0.1", page.port), timeout=5)
            sock.sendall(b"GET / HTTP/1.1\r\nHost: ")
            held.append(sock)
        assert page.get("/notes").status == 200
        assert viewed.verb("daemon", "status")["running"] is True
    finally:
        for sock in held:
            sock.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_read_only_changes_nothing(viewed: ViewedHome) -> None:
    note = viewed.note("9090 now")
    with viewed.page("--read-only") as page:
        assert page.get(f"/notes/{note.id}").text.count("<form") == 1  # the choice of a project
        assert page.post(f"/notes/{note.id}/pin").status == 403
    assert viewed.note("9090 now").pinned is False


def test_a_variable_sets_the_token(viewed: ViewedHome) -> None:
    with viewed.page(token="a-long-word-of-mine") as page:
        assert page.raw("GET", "/notes", {"Authorization": "Bearer a-long-word-of-mine"}).status == 200
        held = (viewed.home / "view.token").read_text().strip()
        assert page.raw("GET", "/notes", {"Authorization": f"Bearer {held}"}).status == 401


def test_the_next_free_port_is_taken_and_ctrl_c_ends_it(viewed: ViewedHome) -> None:
    with viewed.page() as first, viewed.page() as second:
        assert first.port != second.port and second.port > 37776
        taken = viewed.cli("view", "--no-open", "--port", str(first.port))
        assert taken.returncode == 1 and "is taken" in taken.stderr and taken.stderr.count("\n") == 1
    assert (first.process.returncode, second.process.returncode) == (0, 0)


def test_the_page_listens_on_loopback_and_the_daemon_nowhere(viewed: ViewedHome, page: PageProcess) -> None:
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "0A"]
    ours = [row[1] for row in listening if row[1].endswith(f":{page.port:04X}")]
    assert ours == [f"0100007F:{page.port:04X}"]
    inodes = {row[9] for row in listening}
    pid = viewed.verb("daemon", "status")["pid"]
    fds = Path(f"/proc/{pid}/fd")
    held = {os.readlink(fd) for fd in fds.iterdir() if fd.exists() or fd.is_symlink()}
    assert not {f"socket:[{inode}]" for inode in inodes} & held


def test_stored_markup_is_text(viewed: ViewedHome, page: PageProcess) -> None:
    attack = (
        f"the mirror is at [here](javascript:alert(1)) {SCRIPT} <img src=x onerror=alert(1)> \u202egnp.exe \x1b[31mred"
    )
    viewed.verb("remember", attack)
    note = viewed.note("the mirror is at")
    for path in ("/", "/notes", f"/notes/{note.id}", f"/notes/{note.id}/forget", "/review"):
        text = page.get(path).text
        assert SCRIPT not in text and "<img src=x" not in text
        assert 'href="javascript' not in text.lower()
        assert "\u202e" not in text and "\x1b" not in text
    viewed.verb("forget", note.id, "--yes")


def test_it_ends_when_nobody_uses_it(viewed: ViewedHome, monkeypatch: pytest.MonkeyPatch) -> None:
    from memlayer.view import server
    from memlayer.view.source import LentVerbs, Source

    monkeypatch.setenv("MEMLAYER_HOME", str(viewed.home))
    source = Source(
        str(viewed.home),
        LentVerbs(lambda folder: [], lambda: None, lambda row, folder: pytest.fail("no task is changed")),
    )
    told: list[int] = []
    began = time.monotonic()
    server.serve(source, port=0, is_read_only=True, opened=lambda address, once, port: told.append(port), idle_s=0.2)
    assert told and time.monotonic() - began < 30
