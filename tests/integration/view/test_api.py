"""The API: the verbs' JSON, pages of results, problem JSON, the live socket."""

from __future__ import annotations

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
    assert {"sessions", "total", "page", "pageSize"} <= set(whole)
    first, second = (page.api("GET", f"/api/sessions?pageSize=1&page={at}").json["sessions"] for at in (1, 2))
    assert [first[0]["sessionId"], second[0]["sessionId"]] == ["two", "one"]
    row = next(row for row in whole["sessions"] if row["sessionId"] == "one")
    assert row["eventCount"] == 4 and row["status"] == "active" and row["projectPath"] == str(viewed.shop)
    told = next(row for row in viewed.verb("sessions")["sessions"] if row["id"] == "one")
    assert {name: row[name] for name in told} == told  # the verb's own JSON is in it


def test_one_session_with_its_counts(page: PageProcess) -> None:
    found = page.api("GET", "/api/sessions/one").json
    stats = found["stats"]
    assert (stats["promptCount"], stats["responseCount"], stats["toolCount"]) == (2, 2, 0)
    assert [row["eventType"] for row in found["events"]] == ["assistant", "user", "assistant", "user"]


def test_events_by_session_type_and_page(page: PageProcess) -> None:
    found = page.api("GET", "/api/events?sessionId=one&type=user&limit=1").json
    assert found["total"] == 2 and found["events"][0]["preview"].startswith("배포는 언제")
    assert found["events"][0]["metadata"]["tokenCount"] > 3
    older = page.api("GET", f"/api/events?sessionId=one&type=user&before={found['events'][0]['timestamp']}").json
    assert [row["preview"] for row in older["events"]] == ["Where do we keep order events?"]


def test_one_event_with_its_neighbours(page: PageProcess) -> None:
    rows = page.api("GET", "/api/events?sessionId=one").json["events"]
    found = page.api("GET", f"/api/events/{rows[1]['eventId']}").json
    assert found["event"]["payload"].startswith("배포는 언제")
    assert found["related"] == {"previous": rows[2]["eventId"], "next": rows[0]["eventId"]}


def test_search_is_posted(viewed: ViewedHome, page: PageProcess) -> None:
    found = page.api("POST", "/api/search", {"query": "ClickHouse", "options": {"topK": 2}}).json
    assert found["results"][0]["highlight"] and found["meta"]["mode"] == "fts"
    told = viewed.verb("search", "ClickHouse", "--limit", "2")["hits"]
    assert [row["id"] for row in found["results"]] == [row["id"] for row in told]
    one = page.api("POST", "/api/search", {"query": "ClickHouse", "filters": {"sessionId": "two"}}).json
    assert {row["sessionId"] for row in one["results"]} == {"two"}


def test_stats_and_timeline(viewed: ViewedHome, page: PageProcess) -> None:
    found, told = page.api("GET", "/api/stats").json, viewed.verb("stats")
    assert found["counts"]["events"] == told["counts"]["events"] == found["storage"]["eventCount"]
    daily = page.api("GET", "/api/stats/timeline").json["daily"]
    assert daily[-1]["date"] == time.strftime("%Y-%m-%d") and daily[-1]["eventCount"] > 4


def test_config_is_read_and_patched(viewed: ViewedHome, page: PageProcess) -> None:
    assert "recall.max_entries" in page.api("GET", "/api/config").json["editable"]
    done = page.api("PATCH", "/api/config", {"updates": {"recall.max_entries": 2}})
    assert done.status == 200 and done.json["config"]["recall.max_entries"] == 2 and done.json["restartRequired"]
    assert page.api("PATCH", "/api/config", {"updates": {"recall.max_entries": "뭐"}}).status == 400
    page.api("PATCH", "/api/config", {"updates": {"recall.max_entries": None}})
    assert page.api("GET", "/api/config").json["config"]["recall.max_entries"] != 2


def test_a_citation_with_its_event(viewed: ViewedHome, page: PageProcess) -> None:
    turn = next(row for row in viewed.verb("list", "--category", "conversation")["memories"] if "화요일" in row["text"])
    found = page.api("GET", f"/api/citations/{turn['citation']}").json
    assert found["citation"] == turn["citation"] and found["event"]["text"].startswith("배포는")
    assert found["matches"] == viewed.verb("show", turn["citation"])["matches"]
    assert found["related"]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [("GET", "/api/citations/zzzzzz", None, 404), ("GET", "/api/events/none", None, 404),
     ("GET", "/api/sessions/none", None, 404), ("GET", "/api/nothing", None, 404),
     ("GET", "/api/events?limit=many", None, 400), ("POST", "/api/search", {}, 400),
     ("POST", "/api/search", [1], 400), ("POST", "/api/search", {"query": "x", "filters": 3}, 400),
     ("PATCH", "/api/config", {"updates": {"no.such": 1}}, 400), ("POST", "/api/sessions", {}, 405)],
)  # fmt: skip
def test_errors_are_problem_json(page: PageProcess, method: str, path: str, body: object, status: int) -> None:
    answer = page.api(method, path, body)
    assert answer.status == status and answer.headers["content-type"] == "application/problem+json"
    assert answer.json["status"] == status and answer.json["detail"] and "Traceback" not in answer.text


def test_the_cookie_needs_the_form_token_to_change(page: PageProcess) -> None:
    page.enter()
    sent = {"Cookie": page.cookie, "Origin": f"http://{page.host}", "Content-Type": "application/json"}
    body = json.dumps({"updates": {"recall.max_entries": 2}})
    assert page.raw("PATCH", "/api/config", sent, body).status == 403
    token = {"X-CSRF-Token": page.form_token()}
    assert page.raw("PATCH", "/api/config", {**sent, **token}, json.dumps({"updates": {}})).status == 400


def test_secrets_in_settings_are_masked(viewed: ViewedHome, page: PageProcess) -> None:
    key = "sk-ant-api03-" + "a1B2c3D4" * 6
    done = page.api("PATCH", "/api/config", {"updates": {"consolidation.model": key}})
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
            await socket.send(json.dumps({"type": "subscribe", "channels": ["events", "outbox"]}))
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
    told = [row["data"] for row in seen if row["channel"] == "events" and row["data"]["sessionId"] == "live"]
    assert [row["preview"] for row in told] == ["지금 일어나는 일", "네."]
    assert any(row["channel"] == "outbox" for row in seen)


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://evil.example"}, {"Cookie": "memlayer_view_37777=wrong"}])
def test_a_stranger_gets_no_socket(page: PageProcess, headers: dict[str, str]) -> None:
    page.enter()
    sent = {"Cookie": page.cookie, **headers} if headers.get("Origin") else headers

    async def knock() -> None:
        async with websockets.connect(f"ws://{page.host}/ws", additional_headers=sent):
            pass

    with pytest.raises(InvalidStatus):
        asyncio.run(knock())
