"""The API: the verbs' JSON, pages of results, problem JSON, the live socket."""

import asyncio
import json
import time
from typing import Any

import pytest
import websockets
from websockets.exceptions import InvalidStatus

from tests.support.page_process import PageProcess, ViewedHome


def test_sessions_in_pages(viewed: ViewedHome, page: PageProcess) -> None:
    whole = page.api("GET", "/api/sessions").json
    first, second = (page.api("GET", f"/api/sessions?limit=1&skip={at}").json["sessions"] for at in (0, 1))
    assert [first[0]["id"], second[0]["id"]] == ["two", "one"]
    assert whole == viewed.verb("sessions") and whole["total"] > 1


def test_one_session_with_its_facts(viewed: ViewedHome, page: PageProcess) -> None:
    found = page.api("GET", "/api/sessions/one").json
    assert found == viewed.verb("sessions", "one") and found["sessions"][0]["events"] == 4


def test_events_by_session_kind_and_page(page: PageProcess) -> None:
    found = page.api("GET", "/api/events?session_id=one&kind=user&limit=1").json
    assert found["total"] == 2 and found["events"][0]["text"].startswith("배포는 언제")
    older = page.api("GET", f"/api/events?session_id=one&kind=user&before_ms={found['events'][0]['at_ms']}").json
    assert [row["text"] for row in older["events"]] == ["Where do we keep order events?"]


def test_one_event(page: PageProcess) -> None:
    rows = page.api("GET", "/api/events?session_id=one").json["events"]
    assert [row["kind"] for row in rows] == ["assistant", "user", "assistant", "user"]
    assert page.api("GET", f"/api/events/{rows[1]['id']}").json["events"] == [rows[1]]


def test_search_is_posted(viewed: ViewedHome, page: PageProcess) -> None:
    found = page.api("POST", "/api/search", {"query": "ClickHouse", "limit": 2}).json
    assert found == viewed.verb("search", "ClickHouse", "--limit", "2") and found["mode"] == "lexical"
    one = page.api("POST", "/api/search", {"query": "ClickHouse", "session_id": "two"}).json
    assert {row["session_id"] for row in one["hits"]} == {"two"}


def test_stats_and_days(viewed: ViewedHome, page: PageProcess) -> None:
    found, told = page.api("GET", "/api/stats").json, viewed.verb("stats")
    assert found["events"] == told["events"] and set(found) <= set(told)
    days = page.api("GET", "/api/days").json["days"]
    assert days[-1]["date"] == time.strftime("%Y-%m-%d") and days[-1]["events"] > 4


def test_a_project_narrows_and_no_folder_does(viewed: ViewedHome, page: PageProcess) -> None:
    shop = next(row for row in viewed.verb("project", "list")["projects"] if row["project"] == "shop")
    narrowed = page.api("GET", f"/api/events?project={shop['project_id']}&project_dir=%2Ftmp").json["events"]
    assert narrowed and {row["project"] for row in narrowed} == {"shop"}


def test_config_is_read_and_patched(viewed: ViewedHome, page: PageProcess) -> None:
    def held(answer: Any) -> dict[str, Any]:
        return {row["key"]: row["value"] for row in answer["settings"]}

    done = page.api("PATCH", "/api/config", {"daemon.idle_minutes": 7})
    assert done.status == 200 and held(done.json)["daemon.idle_minutes"] == 7 and done.json["changed_since_daemon"]
    assert page.api("PATCH", "/api/config", {"daemon.idle_minutes": "뭐"}).status == 400
    page.api("PATCH", "/api/config", {"daemon.idle_minutes": None})
    assert held(page.api("GET", "/api/config").json)["daemon.idle_minutes"] != 7


def test_a_citation_is_shown(viewed: ViewedHome, page: PageProcess) -> None:
    turn = next(row for row in viewed.verb("list", "conversation")["memories"] if "화요일" in row["text"])
    found = page.api("GET", f"/api/citations/{turn['citation']}").json
    assert found["matches"] == viewed.verb("show", turn["citation"])["matches"]
    assert found["matches"][0]["events"][0]["text"].startswith("배포는")


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [("GET", "/api/citations/zzzzzz", None, 404), ("GET", "/api/events/none", None, 404),
     ("GET", "/api/sessions/none", None, 404), ("GET", "/api/nothing", None, 404),
     ("GET", "/api/events?limit=many", None, 400), ("POST", "/api/search", [1], 400),
     ("GET", "/api/events?limit=0", None, 400), ("POST", "/api/search", {"query": "x", "limit": 20_000}, 400),
     ("PATCH", "/api/config", {"no.such": 1}, 400), ("POST", "/api/sessions", {}, 405)],
)  # fmt: skip
def test_errors_are_problem_json(page: PageProcess, method: str, path: str, body: object, status: int) -> None:
    answer = page.api(method, path, body)
    assert answer.status == status and answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status and answer.json["detail"] and "Traceback" not in answer.text


def test_the_cookie_needs_the_form_token_to_change(page: PageProcess) -> None:
    page.enter()
    sent = {"Cookie": page.cookie, "Origin": f"http://{page.host}", "Content-Type": "application/json"}
    body = json.dumps({"recall.max_entries": 2})
    assert page.raw("PATCH", "/api/config", sent, body).status == 403
    token = {"X-CSRF-Token": page.form_token()}
    assert page.raw("PATCH", "/api/config", {**sent, **token}, json.dumps({})).status == 400


def test_secrets_in_settings_are_masked(viewed: ViewedHome, page: PageProcess) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 6
    done = page.api("PATCH", "/api/config", {"consolidation.model": key})
    file = viewed.home / "config.yaml"
    assert done.status == 400 and key not in done.text
    before = file.read_bytes() if file.exists() else b""
    assert key.encode() not in before
    try:
        file.write_text(json.dumps({"consolidation": {"model": key}}))  # as a person may, by hand
        file.chmod(0o600)
        told = page.api("GET", "/api/config").text
        assert key not in told and "[redacted:" in told and key not in page.get("/settings").text
    finally:
        file.write_bytes(before)


def test_a_live_event_comes_once(viewed: ViewedHome, page: PageProcess) -> None:
    async def watch() -> list[dict[str, Any]]:
        headers = {"Cookie": page.cookie, "Origin": f"http://{page.host}"}
        seen: list[dict[str, Any]] = []
        async with websockets.connect(f"ws://{page.host}/ws", additional_headers=headers) as socket:
            await socket.send(json.dumps({"type": "subscribe", "channels": ["everything"]}))
            assert json.loads(await asyncio.wait_for(socket.recv(), 10))["channel"] == "error"
            await socket.send(json.dumps({"type": "subscribe", "channels": ["events", "status"]}))
            await asyncio.sleep(1.0)
            await asyncio.to_thread(viewed.hook.turn, "live", "l1", "지금 일어나는 일", "네.")
            ends = time.monotonic() + 20
            while time.monotonic() < ends and sum(row["channel"] == "events" for row in seen) < 2:
                try:
                    seen.append(json.loads(await asyncio.wait_for(socket.recv(), 1)))
                except TimeoutError:
                    continue
            await asyncio.sleep(2)
        return seen

    page.enter()
    seen = asyncio.run(watch())
    told = [row["data"] for row in seen if row["channel"] == "events" and row["data"]["session_id"] == "live"]
    assert [row["text"] for row in told] == ["지금 일어나는 일", "네."]
    assert any(row["channel"] == "status" for row in seen)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Cookie": "memlayer_view_37777=wrong"}])
def test_a_stranger_gets_no_socket(page: PageProcess, headers: dict[str, str]) -> None:
    page.enter()
    sent = {"Cookie": page.cookie, **headers} if headers.get("Origin") else headers

    async def knock() -> None:
        async with websockets.connect(f"ws://{page.host}/ws", additional_headers=sent):
            pass

    with pytest.raises(InvalidStatus):
        asyncio.run(knock())
