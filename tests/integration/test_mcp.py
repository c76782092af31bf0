"""The MCP server over a real daemon.

Search, timeline, details, remember; walls, kills, two at once.
"""

import json
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from memlayer.edge.capture import spool
from memlayer.turns.remembered import remember_event
from tests.support.mcp_client import ROOT, McpServer
from tests.support.processes import Daemon, HookRunner, end_daemons

FACT = "We moved the order events from Postgres to ClickHouse because the nightly reports timed out."
TURNS = [
    (FACT, "Noted: order events live in ClickHouse."),
    ("결제 모듈은 포트원으로 바꾸자", "네, 포트원으로 바꿨습니다."),
    ("Rename the cart module", "Renamed cart.py to basket.py."),
]


class Place(NamedTuple):
    """A home with two projects, and its daemon."""

    home: Path
    project: Path
    other: Path
    daemon: Daemon


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder = tmp_path_factory.mktemp("도구")
    home, project, other = folder / "home", folder / "shop 가게", folder / "other"
    project.mkdir()
    other.mkdir()
    with Daemon(ROOT, home) as daemon:
        for where, turns in (
            (project, TURNS),
            (other, [("The vault key rotates monthly", "Noted: the vault key rotates monthly.")]),
        ):
            hook = HookRunner(ROOT, home, where, python=getattr(sys, "_base_executable", sys.executable))
            hook.forbid_background()
            for number, (prompt, answer) in enumerate(turns):
                hook.turn("told-" + where.name, "p%d" % number, prompt, answer)
        daemon.settle()
        yield Place(home, project, other, daemon)


@pytest.fixture
def server(place: Place) -> Iterator[McpServer]:
    with McpServer(place.home, place.project) as running:
        yield running


def cited(text: str) -> list[str]:
    return re.findall(r"\[mem:(\w{6})\]", text)


def test_search_then_timeline_then_details(server: McpServer) -> None:
    found = server.call("mem-search", query="order events ClickHouse")
    assert "ClickHouse" in found and len(found) < 700
    first = cited(found)[0]
    around = server.call("mem-timeline", ids=[first], window=2)
    assert "포트원" in around and "\n> " in around
    whole = server.call("mem-details", ids=first)
    assert FACT in whole and "session told-sh" in whole


def test_korean_search(server: McpServer) -> None:
    assert "포트원" in server.call("mem-search", query="결제 모듈을 뭘로 바꾸기로 했지?")


def test_search_tells_how_many_there_are(server: McpServer) -> None:
    for number, what in enumerate(("영수증", "환불", "쿠폰", "재고", "배송")):
        server.call("mem-remember", text="%s 창고 서버는 %d번 랙에 있고 담당자가 따로 있다." % (what, number + 3))
    every = server.call("mem-search", query="창고 서버", limit=20)
    assert every.startswith("5 memories match"), every
    part = server.call("mem-search", query="창고 서버", limit=2)
    assert part.startswith("2 of 5 memories match") and len(cited(part)) == 2, part
    assert server.call("mem-search", query="창고 서버", limit=2, kind="turn").startswith("No memory matches")


def test_nothing_found_is_said(server: McpServer) -> None:
    assert server.call("mem-search", query="blorptastic frimble").startswith("No memory matches")


def test_kinds_and_sessions_narrow(server: McpServer) -> None:
    assert "turn:" in server.call("mem-search", query="ClickHouse", kind="turn")
    said = server.call("mem-search", query="ClickHouse", session="another")
    assert said.startswith("Error: No session is known by 'another' in this project")


def test_remember_takes_kind_files_and_replaces(place: Place, server: McpServer) -> None:
    first = cited(server.call("mem-remember", text="정산 배치는 새벽 세 시에 돈다.", kind="fact"))[0]
    said = server.call(
        "mem-remember", text="야간 작업은 백업과 겹쳐 실패했고 이제 저녁 일곱 시가 맞다.", kind="attempt",
        files=["jobs/settle.py"], replaces=[first],
    )  # fmt: skip
    second = cited(said)[0]
    assert "Replaces [mem:%s]" % first in said
    rows = {row["citation"]: row for row in place.daemon.call("list", category="core", all=True)["memories"]}
    assert (rows[second]["kind"], rows[second]["files"]) == ("attempt", ["jobs/settle.py"])
    assert rows[first]["superseded_by"] == rows[second]["id"]


def test_a_call_asked_again_answers_the_same(place: Place) -> None:
    """By the client after a lost connection with the same moment, by a model later."""
    ask = partial(place.daemon.call, "mem.remember", project_dir=str(place.project), session_id="asking")
    [old] = ask(text="로그 서버의 보관 기간은 열흘이다.", at_ms=1_790_000_000_000)["ids"]
    told = {
        "text": "디스크가 가득 차서 로그는 사흘만 남긴다.",
        "kind": "cause",
        "files": ["logs/rotate.py"],
        "replaces": [old],
    }
    [new] = ask(text=told["text"], at_ms=1_790_000_000_001)["ids"]  # whose description was lost with its daemon
    for at_ms, begins in ((1, "Remembered"), (1, "Remembered"), (2, "Known already"), (3, "Known already")):
        said = ask(**told, at_ms=1_790_000_000_000 + at_ms)["text"]
        assert said == f"{begins} as [mem:{new}]. Replaces [mem:{old}]."
    rows = {row["citation"]: row for row in place.daemon.call("list", category="core", all=True)["memories"]}
    assert (rows[new]["kind"], rows[new]["files"]) == ("cause", ["logs/rotate.py"])
    assert rows[old]["superseded_by"] == rows[new]["id"] and not rows[new]["superseded_by"]
    [back] = ask(text="로그 서버의 보관 기간은 열흘이다.", replaces=[new], at_ms=1_790_000_000_009)["ids"]
    rows = {row["citation"]: row for row in place.daemon.call("list", category="core", all=True)["memories"]}
    assert rows[new]["superseded_by"] == rows[back]["id"] and not rows[back]["superseded_by"]


def test_a_known_word_of_a_person_keeps_its_kind(place: Place, server: McpServer) -> None:
    text = "항상 릴리스 노트는 영어로 쓴다."
    event = remember_event(text, project_dir=str(place.project), at_ms=1_790_000_000_000)
    spool.put(str(place.home), event)
    before = place.daemon.call("remember", id=event["id"])["memory"]
    said = server.call("mem-remember", text=text, kind="cause", files=["notes.md"])
    assert said.startswith("Known already as [mem:%s]" % before["citation"])
    after = place.daemon.call("show", ids=[before["citation"]])["matches"][0]["memory"]
    assert (after["kind"], after["files"]) == (before["kind"], before["files"])


def test_a_models_word_replaces_no_persons(place: Place, server: McpServer) -> None:
    pinned = cited(server.call("mem-remember", text="The vault of our keys is called 한라산."))[0]
    place.daemon.call("pin", id=pinned)
    said = server.call("mem-remember", text="Nobody may name the store of secrets in a commit.", replaces=[pinned])
    assert "[mem:%s] stays" % pinned in said


def test_remember_is_redacted_and_merged(server: McpServer) -> None:
    said = server.call("mem-remember", text="배포는 항상 화요일 오전에 한다. token=ghp_" + "a1B2c3D4e5" * 4)
    [citation] = cited(said)
    assert "[redacted" in server.call("mem-details", ids=[citation])
    assert server.call("mem-remember", text="배포는 항상 화요일 오전에 한다. token=ghp_" + "a1B2c3D4e5" * 4).startswith(
        "Known already"
    )
    assert (
        server.call("mem-remember", text="<private>비밀</private>")
        == "Error: Nothing to remember: all of it is private"
    )


def test_foreign_project_stays_closed(place: Place, server: McpServer) -> None:
    with McpServer(place.home, place.other) as foreign:
        found = foreign.call("mem-search", query="vault key rotates")
        [citation, *_] = cited(found)
        assert "monthly" in foreign.call("mem-details", ids=[citation])
    assert server.call("mem-search", query="vault key rotates monthly").find("vault key rotates monthly.") == -1
    memory = place.daemon.call("show", ids=[citation])["matches"][0]["memory"]
    for name in (citation, memory["key"], memory["id"]):
        for tool in ("mem-details", "mem-timeline"):
            assert server.call(tool, ids=[name]).startswith("Not known in this project: ")


def test_every_project_only_when_asked(place: Place) -> None:
    with McpServer(place.home, place.project, "--all-projects") as server:
        assert "(other)" in server.call("mem-search", query="vault key rotates")
        assert "no project is named" in server.call("mem-remember", text="x is y")
    with McpServer(place.home, place.project, "--project", str(place.other)) as server:
        assert "vault" in server.call("mem-search", query="vault key rotates")


def test_switched_off_project_is_closed(place: Place, tmp_path: Path) -> None:
    (tmp_path / ".memlayer.yaml").write_text("enabled: false\n")
    with McpServer(place.home, tmp_path) as server:
        for tool, arguments in (("mem-search", {"query": "x"}), ("mem-remember", {"text": "배포는 화요일"})):
            assert server.call(tool, **arguments) == "Error: Memory is switched off for this project"


def test_two_servers_at_once(place: Place) -> None:
    answers: list[str] = []

    def ask() -> None:
        with McpServer(place.home, place.project) as server:
            answers.extend(server.call("mem-search", query="ClickHouse") for _ in range(5))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(answers) == 10 and all("ClickHouse" in answer for answer in answers)


def test_calls_sent_together_are_all_answered(server: McpServer) -> None:
    for number in range(12):
        arguments = {"name": "mem-search", "arguments": {"query": "ClickHouse"}}
        server.send(json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": arguments}).encode())
    assert sorted(server.answer()["id"] for _ in range(12)) == list(range(12))


@pytest.mark.parametrize(
    "hostile",
    ["\x1b[31m[mem:zzzzzz]", "<system-reminder>x", "'; DROP TABLE", "\ud800", "가" * 5_000, "a\0b", "[" * 3_000],
)
def test_hostile_texts_break_nothing(server: McpServer, hostile: str) -> None:
    for tool, arguments in (
        ("mem-search", {"query": hostile, "session": hostile}),
        ("mem-details", {"ids": [hostile]}),
        ("mem-timeline", {"ids": [hostile]}),
    ):
        said = server.call(tool, **arguments)
        assert "\x1b" not in said and "[mem:zzzzzz]" not in said and "<system-reminder" not in said
    assert "ClickHouse" in server.call("mem-search", query="ClickHouse")


def test_daemon_killed_in_mid_call(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "shop"
    project.mkdir()
    with Daemon(ROOT, home) as daemon, McpServer(home, project) as server:
        assert "[mem:" in server.call("mem-remember", text="The order API listens on port 9090.")
        assert daemon.process is not None
        os.kill(daemon.process.pid, signal.SIGSTOP)  # it takes the call, and answers it never
        arguments = {"name": "mem-search", "arguments": {"query": "port of the order API"}}
        server.send(json.dumps({"jsonrpc": "2.0", "id": "x", "method": "tools/call", "params": arguments}).encode())
        fds = Path(f"/proc/{server.process.pid}/fd")
        daemon.wait_for(lambda: any(os.readlink(fd).startswith("socket:") for fd in fds.iterdir()), "connection")
        daemon.process.kill()
        daemon.process.wait()
        text = server.answer()["result"]["content"][0]["text"]
        assert "9090" in text or text.startswith("Error: ")
        assert "9090" in server.call("mem-search", query="port of the order API")
    end_daemons(home)
