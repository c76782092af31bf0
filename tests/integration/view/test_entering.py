"""Who gets in: the file that enters, cookies of strangers, idle ends, slow requests, wrong types, words of others."""

import contextlib
import http.client
import itertools
import os
import re
import shutil
import socket
import stat
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import quote, unquote, urlencode, urlsplit

import pytest

from memlayer.view.guard import cookies
from memlayer.view.server import ENTRY_NAME, serve
from memlayer.view.source import LentVerbs, Source
from memlayer.view.texts import compared, spoken
from tests.support.page_process import PageProcess, ViewedHome
from tests.support.tables import tables
from tests.support.waiting import wait_for

STRANGERS = (
    'prefs={"theme":"dark"}', "flag", "테마=어두움", "a=b=c", "=x", "; ;", 'q="un;closed', "x=\x80\xff", "a b=c d",
    "memlayer_view=1", "memlayer_view_{port}=stale", "Memlayer_view_{port}=x", "memlayer_view_{port}", "[1]=2", "a=,b",
    "$Version=1", "expires=Thu, 01 Jan 1970 00:00:00 GMT", "j=%7B%22a%22%3A1%7D", "🍪=🍪",
)  # fmt: skip
WRONG_BODIES = (
    {"query": "x", "min_score": [1]}, {"query": "x", "min_score": "much"}, {"query": "x", "min_score": {}},
    {"query": "x", "limit": 10**40}, {"query": "x", "limit": 1.5}, {"query": "x", "limit": {"a": 1}},
    {"query": ["x"]}, {"query": {"a": 1}}, {"query": 7}, {"query": "x", "kind": 7}, {"query": "x", "kind": [[1]]},
    {"query": "x", "session_id": ["s"]}, {"query": "x", "since_ms": "gestern"}, {"query": "x", "since_ms": 10**40},
    {"query": "x", "category": "없는 것"}, ["x"], 7,
)  # fmt: skip
WRONG_UPDATES = (
    {"recall.max_entries": {"a": 1}}, {"recall.max_entries": [[1]]}, {"recall.max_entries": [1, 2]},
    {"recall.max_entries": "drei"}, {"없는.설정": 1}, {"recall": {"max_entries": 3}}, {"": 1},
    {"recall.max_entries": 1e300},
)  # fmt: skip


def entry_of(viewed: ViewedHome) -> tuple[str, dict[str, str]]:
    """Return address and fields of the form in the file that a browser is opened with."""
    text = (viewed.home / ENTRY_NAME).read_text()
    action = re.search(r'method="post" action="([^"]+)"', text)
    assert action is not None
    return action[1], dict(re.findall(r'name="(\w+)" value="([^"]*)"', text))


def post(page: PageProcess, fields: dict[str, str], **headers: str) -> tuple[int, dict[str, str]]:
    sent = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "null", "Sec-Fetch-Site": "cross-site"}
    answer = page.raw("POST", "/", {**sent, **headers}, urlencode(fields))
    return answer.status, answer.headers


def test_file_enters_once(viewed: ViewedHome) -> None:
    with viewed.page() as page:
        file = viewed.home / ENTRY_NAME
        assert stat.S_IMODE(os.stat(file).st_mode) == 0o600
        address, fields = entry_of(viewed)
        assert urlsplit(address).netloc == page.host and page.token not in file.read_text()
        assert page.raw("GET", f"/?{urlencode(fields)}").status == 401  # in no address, that a history keeps
        assert post(page, {"token": "wrong"})[0] == 401
        assert post(page, {})[0] == 401
        assert post(page, {"token": page.token})[0] == 401  # the file's own key alone
        assert post(page, fields, Host="evil.example")[0] == 403
        status, headers = post(page, fields)
        assert status == 200 and "SameSite=Strict" in headers["set-cookie"]
        page.cookie = headers["set-cookie"].partition(";")[0]
        assert page.get("/notes").status == 200
        assert post(page, fields)[0] == 401
        assert post(page, {"token": ""})[0] == 401
    assert page.process.returncode == 0


def test_unused_file_goes_with_its_page(viewed: ViewedHome) -> None:
    with viewed.page():
        assert (viewed.home / ENTRY_NAME).exists()
    assert not (viewed.home / ENTRY_NAME).exists()


@pytest.mark.parametrize("stranger", STRANGERS)
def test_cookies_of_other_programs_lock_nobody_out(page: PageProcess, stranger: str) -> None:
    page.enter()
    other = stranger.format(port=page.port) if "{port}" in stranger else stranger
    for header in (f"{other}; {page.cookie}", f"{page.cookie}; {other}", f"{other};{page.cookie};{other}"):
        request = f"GET /tasks HTTP/1.1\r\nHost: {page.host}\r\nCookie: {header}\r\nConnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as sock:
            sock.sendall(request.encode())
            assert sock.recv(20).split(b" ")[1] == b"200", header
        alone = f"GET /tasks HTTP/1.1\r\nHost: {page.host}\r\nCookie: {other}\r\nConnection: close\r\n\r\n"
        with socket.create_connection(("127.0.0.1", page.port), timeout=30) as sock:
            sock.sendall(alone.encode())
            assert sock.recv(20).split(b" ")[1] == b"401", header


def test_cookie_of_a_name_is_read_by_hand() -> None:
    assert list(cookies("a=1; b={;}; a=2;a =3; ab=4; a", "a")) == ["1", "2", "3", ""]


@pytest.mark.parametrize("body", WRONG_BODIES)
def test_search_of_a_wrong_type_is_400(page: PageProcess, body: object) -> None:
    answer = page.api("POST", "/api/search", body)
    assert answer.status == 400 and answer.json["detail"]


@pytest.mark.parametrize("updates", WRONG_UPDATES)
def test_setting_of_a_wrong_type_is_400(page: PageProcess, updates: object) -> None:
    assert page.api("PATCH", "/api/config", updates).status == 400


def test_right_types_are_answered(page: PageProcess) -> None:
    for body in (
        {"query": "포트"}, {"query": "port", "limit": 3, "kind": "decision"}, {"query": "port", "min_score": 0.1},
        {"query": "port", "min_score": 0, "session_id": None, "nobody_knows": [1]},
    ):  # fmt: skip
        assert page.api("POST", "/api/search", body).status == 200


def test_said_is_the_pages_own(viewed: ViewedHome, page: PageProcess) -> None:
    note = viewed.note("한국어로")
    mine = page.post(f"/notes/{note.id}/pin").headers["location"]
    assert "Pinned: it ranks first." in page.get(mine).text
    words = "Call 010-1234-5678 이 번호로 전화하세요"
    mark = unquote(mine.partition("mark=")[2].partition("&")[0])
    for address in (
        f"/notes?said={quote(words)}", f"/notes?said={quote(words)}&mark={mark}", f"/?said={quote(words)}&mark=",
        f"/review?mark={'0' * 64}&said={quote(words)}", f"/settings?said={quote(words)}&mark=%ED%95%9C",
        f"/tasks?said=x&said={quote(words)}", f"/search?said={quote(words)}",
        f"/health?said={quote(words)}&mark={mark}",
    ):  # fmt: skip
        answer = page.get(address)
        assert answer.status == 200 and "전화하세요" not in answer.text, address
    page.post(f"/notes/{note.id}/pin", off="1")


REPEATED = [
    ("a b " * 4000, "b a " * 4000), ("배포 화요일 " * 20_000, "배포 수요일 " * 20_000), ("-" * 50_000, "=-" * 25_000),
    ("\n" * 50_000, "\n\t" * 20_000), ("x. y. " * 5000, "y. x. " * 5000), ("가" * 200_000, "나" * 200_000),
    (" ".join(f"a b{n}" for n in range(198)), " ".join(f"a c{n}" for n in range(198))),
    ("0101 " * 3000 + "끝", "시작 " + "1010 " * 3000), ("the " * 9000, "the " * 8999),
]  # fmt: skip


@pytest.mark.parametrize(("older", "newer"), REPEATED)
def test_difference_is_bounded(older: str, newer: str) -> None:
    began = time.process_time()
    shown = re.sub(r"<del>.*?</del>|</?ins>", "", compared(older, newer), flags=re.DOTALL)
    assert time.process_time() - began < 3
    assert shown.split() == newer.split()


@pytest.mark.parametrize("mark", ["", "(did not hold) ", "(taken back) ", "(nobody typed this) "])
def test_a_turn_is_told_without_its_speakers(mark: str) -> None:
    assert spoken(mark + "User: 배포해 줘 Assistant: 했습니다") == mark + "배포해 줘 → 했습니다"
    assert spoken("my note. User: 배포") == "my note. User: 배포"


def test_difference_is_by_words() -> None:
    assert compared("the API listens on port 8080", "the API listens on port 9090 now") == (
        "the API listens on port <del>8080</del><ins>9090 now</ins>"
    )
    assert compared("배포는 화요일이다.", "배포는 수요일이다.") == "배포는 <del>화요일이다</del><ins>수요일이다</ins>."


def trickle(page: PageProcess, start: bytes, seconds: float) -> float:
    """Send a byte at a time; return when the other side has closed."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", page.port), timeout=5) as sock:
        sock.sendall(start)
        while time.monotonic() - began < seconds:
            time.sleep(0.5)
            try:
                sock.sendall(b"a")
                sock.settimeout(0.01)
                if sock.recv(1 << 16) == b"":
                    break
            except TimeoutError:
                continue
            except OSError:
                break
    return time.monotonic() - began


def test_slow_request_is_not_awaited_for_ever(page: PageProcess) -> None:
    """Three at a time, for each waits for the page's own deadline of 10 or 20 s."""
    first = f"GET /static/page.css HTTP/1.1\r\nHost: {page.host}\r\n\r\n"
    post_ = f"POST %s HTTP/1.1\r\nHost: {page.host}\r\nContent-Length: 5000\r\n\r\n"
    second, refused_body, key = first + "GET / HTTP/1.1\r\nX: ", post_ % "/notes/x/pin", post_ % "/"
    with ThreadPoolExecutor(3) as pool:
        took = list(pool.map(lambda start: trickle(page, start.encode(), 40), (second, refused_body, key)))
    assert max(took) < 35


def test_requests_without_a_key_do_not_keep_it_open(viewed: ViewedHome) -> None:
    source = Source(str(viewed.home), LentVerbs(lambda _: [], lambda: None, lambda *_: None))
    ports: list[int] = []
    has_ended = threading.Event()

    def ask() -> None:
        while not ports:
            time.sleep(0.05)
        for path in itertools.cycle(("/static/page.css", "/", "/?token=wrong", "/api/stats", "/ws")):
            if has_ended.is_set():
                return
            connection = http.client.HTTPConnection("127.0.0.1", ports[0], timeout=5)
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection.request("GET", path, headers={"Cookie": "x=y"})
                connection.getresponse()
            connection.close()
            time.sleep(0.1)

    asking = threading.Thread(target=ask)
    asking.start()
    began = time.monotonic()
    serve(source, port=0, is_read_only=True, opened=lambda address, entry, port: ports.append(port), idle_s=1)
    has_ended.set()
    assert time.monotonic() - began < 19
    asking.join()


def test_folder_is_given_to_another_project(viewed: ViewedHome, page: PageProcess) -> None:
    rows = {row["project"]: row for row in viewed.verb("project", "list")["projects"]}
    shop, site = rows["shop"], rows["사이트"]
    shown = page.get(f"/projects?project={site['project_id']}").text
    assert "사이트" in shown and str(viewed.shop) in shown and shown.count(">Go on here") == len(rows) - 1
    form = {"project": site["project_id"], "how": "join", "name": shop["project_id"]}
    answer = page.post("/projects", **form)
    assert answer.status == 303 and site["project_id"] in unquote(answer.headers["location"])
    told = viewed.verb("list", "--project", str(viewed.site))["memories"]
    assert any("port 9090" in row["text"] for row in told)
    viewed.verb("project", "join", site["project_id"], "--project", str(viewed.site))
    told = viewed.verb("list", "--project", str(viewed.site))["memories"]
    assert any("Astro" in row["text"] for row in told) and not any("port 9090" in row["text"] for row in told)
    for wrong in ({"how": "join"}, {"how": "part", "name": "x"}, {"how": "burn", "name": shop["project_id"]}, {}):
        assert page.post("/projects", project=site["project_id"], **wrong).status == 400
    assert page.post("/projects", **{**form, "name": "nobody"}).status in (400, 404)
    assert page.post("/projects", token="x", **form).status == 403


def test_path_of_a_home_may_hold_anything(tmp_path: Path) -> None:
    entry = (tmp_path / "집 #1?%" / ENTRY_NAME).absolute().as_uri()
    assert "#" not in entry and "?" not in entry and unquote(urlsplit(entry).path).endswith("집 #1?%/" + ENTRY_NAME)


@pytest.mark.parametrize(
    ("older", "newer", "is_apart"), tables("integration/view/entering")["translation_stands_beside_its_text"]
)
def test_translation_stands_beside_its_text(older: str, newer: str, is_apart: bool) -> None:
    drawn = compared(older, newer)
    assert (drawn == f"<del>{older}</del>\n<ins>{newer}</ins>") is is_apart


def test_page_ends_when_its_home_is_gone(tmp_path: Path) -> None:
    made = ViewedHome(tmp_path)
    with made.daemon, made.page() as page:
        made.daemon.stop()  # it would write there while it goes

        def has_ended() -> bool:
            shutil.rmtree(made.home, ignore_errors=True)
            return page.process.poll() is not None

        wait_for(has_ended, "the page's end", within_s=30.0)
        assert page.process.poll() == 0
