"""The other pages: tasks, sessions, search, figures, health, settings."""

import re
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from memlayer.edge.home import given_notes as record
from memlayer.give.given_notes import of_action
from memlayer.model import unix_ms
from memlayer.view.app import PAGES
from memlayer.view.pages.today import talks
from memlayer.view.visit import MENU
from memlayer.wire.sessions import GivenPrompt, SessionRow
from tests.support.page_process import PATHS, SCRIPT, PageProcess, ViewedHome, links_of


def test_every_address_of_every_page_answers(page: PageProcess) -> None:
    seen, left = set(), ["/"]
    while left:
        path = left.pop()
        seen.add(path)
        answer = page.get(path)
        assert answer.status == 200, path
        if path.startswith("/static"):
            continue
        assert "Traceback" not in answer.text and "Undefined" not in answer.text
        left += [found for found in links_of(answer.text) if found not in seen and found not in left]
    pages = [route for module in PAGES for route in module.ROUTES if "GET" in (route.methods or ())]
    assert [route.path for route in pages if not any(route.path_regex.match(path) for path in seen)] == []
    plain = {route.path for route in pages if "{" not in route.path}
    assert plain <= {urlsplit(path).path for path in PATHS} and {path for path, _ in MENU} <= plain
    told = (Path(__file__).parents[3] / "docs" / "view.md").read_text(encoding="utf-8")
    assert [path for path in plain if not re.search(rf"`{path}[`?]", told)] == []
    assert len(seen) > 25


def test_tasks_stand_in_their_lanes_with_blockers_as_links(page: PageProcess) -> None:
    text = page.get("/tasks").text
    lanes = re.split(r'<section class="lane"', text)[1:]
    assert "배포 문서 고치기" in lanes[0] and "rotate the signing key" in lanes[1]
    assert "write the migration guide" in lanes[2] and "/search?q=about%3A%22acme%2Fcore%2342%22" in lanes[2]


def test_a_task_is_added_moved_and_opened_again(viewed: ViewedHome, page: PageProcess) -> None:
    assert page.post("/tasks", how="add", task="로그 정리하기").status == 303
    row = next(row for row in viewed.verb("task", "list")["tasks"] if row["title"] == "로그 정리하기")
    steps = (
        ("start", "in_progress"),
        ("block", "blocked"),
        ("done", "done"),
        ("reopen", "pending"),
        ("drop", "cancelled"),
    )
    for how, status in steps:
        by = {"by": "https://example.com/reviews/4"} if how == "block" else {}
        answer = page.post("/tasks", how=how, task=row["citation"], **by)
        assert answer.status == 303, answer.text
        shown = viewed.verb("task", "show", row["citation"])["tasks"][0]
        assert shown["status"] == status
    text = page.get(f"/tasks/{row['citation']}").text
    assert "status changed: blocked" in text and "reviews/4" in text
    assert page.post("/tasks", how="block", task=row["citation"], by="").status == 400
    assert page.post("/tasks", how="burn", task=row["citation"]).status == 400
    assert page.post("/tasks", how="done", task="아무도 모르는 일").status == 400
    assert page.post("/tasks", how="done", task=row["citation"], project="all").status == 400


def test_a_session_is_a_talk_with_notes_and_given_lines(page: PageProcess) -> None:
    listed = page.get("/sessions").text
    assert "/sessions/one" in links_of(listed) and "2 turns" in listed
    text = page.get("/sessions/one").text
    assert "<h1>Where do we keep order events?</h1>" in text and "session one" in text
    text = text.partition('id="talk-head"')[2]
    order = [text.index(words) for words in ("Where do we keep", "go to ClickHouse", "배포는 언제", "매주 화요일")]
    assert order == sorted(order)
    assert "Given: " in page.get("/sessions/two").text and "Given" not in text
    found = page.get("/sessions/one?q=%ED%99%94%EC%9A%94%EC%9D%BC").text
    assert "<mark>화요일</mark>" in found and "Where do we keep" not in found.partition('id="talk-head"')[2]
    assert page.get("/sessions/nobody").status == 404


def test_search_tells_why_a_hit_stands_where_it_does(page: PageProcess) -> None:
    text = page.get("/search?q=ClickHouse").text
    assert "<mark>ClickHouse</mark>" in text and "Why this rank" in text and "lexical" in text
    assert "Nothing was found" in page.get("/search?q=zzzzz").text
    assert "Nothing was found" in page.get("/search?q=ClickHouse&until=2020-01-01").text
    assert page.get("/search?q=x&since=gestern").status == 400
    assert page.get("/search?q=x&category=%3Cb%3E").status == 400


def test_talks_of_a_day_end_and_stand_in_order() -> None:
    """Newest first: the starts apart, the prompts as they were typed. Also of a session beyond the listed ones."""
    prompts = [GivenPrompt(session_id=session, at_ms=at) for session, at in (("b", 9), ("a", 8), ("b", 7), ("b", 1))]
    prompts[3].start = "startup"
    made = talks(prompts, [SessionRow("b", last_ms=9), SessionRow("없음", last_ms=5)])
    assert [(one.session.id, len(one.starts), [row.at_ms for row in one.prompts]) for one in made] == [
        ("b", 1, [7, 9]), ("a", 0, [8]), ("없음", 0, []),
    ]  # fmt: skip


def test_line_at_a_call_stands_among_its_prompts(page: PageProcess, viewed: ViewedHome) -> None:
    now_ms = unix_ms()
    event = {"at_ms": now_ms, "session_id": "one", "id": "toolu_1"}
    project_id = viewed.daemon.call("given", session_id="one")["prompts"][0]["project_id"]
    record.put(str(viewed.home), of_action(event, project_id, "`pay --as 관리자` worked [mem:abc123]", "before"))
    text = page.get("/").text
    assert "Before a call" in text
    assert "A prompt that was not kept" not in text


def test_figures_are_tables_with_bars(page: PageProcess) -> None:
    text = page.get("/figures?days=7").text
    assert text.count("<table>") == 2 and '<rect width="100%" height="100%"/>' in text
    assert "Preferences" in text and "No model reads sessions" in text
    assert not any(word in text for word in ("chunks", "rows of", "L2", "level"))


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nowhere", 404, "There is no such page"), ("/map", 404, "There is no such page"),
        ("/notes/zzzzzz", 404, "was forgotten, or never there"), ("/tasks/zzzzzz", 404, "No task is known"),
        ("/?project=아무도", 404, "No project is known"), ("/notes?page=eins", 400, "a whole number is expected"),
        ("/?day=어제", 400, "a date such as"), ("/sessions/nobody", 404, "No session is known"),
    ],
)  # fmt: skip
def test_error_stands_in_the_frame_of_the_pages(page: PageProcess, path: str, status: int, words: str) -> None:
    answer = page.get(quote(path, safe="/?=&"))
    assert answer.status == status and words in answer.text
    assert {"/", "/notes", "/tasks", "/sessions", "/search", "/figures", "/health"} <= set(links_of(answer.text))


def test_health_says_what_doctor_says(page: PageProcess) -> None:
    text = page.get("/health").text
    for name in ("runtime", "daemon", "store", "permissions"):
        assert f"<td>{name}</td>" in text


def test_a_setting_is_changed_checked_and_unset(viewed: ViewedHome, page: PageProcess) -> None:
    shown = page.get("/settings").text
    top, _, folded = shown.partition("<details")
    assert 'id="recall.max_entries"' in top and 'id="daemon.idle_minutes"' in folded and "<details open" not in shown
    assert page.post("/settings", key="recall.max_entries", value="3").status == 303
    assert page.post("/settings", key="daemon.idle_minutes", value="60").status == 303
    assert 'id="daemon.idle_minutes"' in page.get("/settings").text.partition("<details")[0]  # it is set
    assert "Restart it to use these" in page.get("/settings").text  # daemon: recall is read while the daemon runs
    assert page.post("/settings", key="daemon.idle_minutes", unset="1").status == 303
    assert "Restart it to use these" not in page.get("/settings").text
    held = {row["key"]: row["value"] for row in viewed.verb("config")["settings"]}
    assert held["recall.max_entries"] == 3
    assert page.post("/settings", key="recall.max_entries", value="뭐").status == 400
    assert page.post("/settings", key="no.such", value="3").status == 400
    assert page.post("/settings", key="recall.max_entries", value="").status == 400
    assert page.post("/settings", key="recall.max_entries", unset="1").status == 303
    held = {row["key"]: row["from"] for row in viewed.verb("config")["settings"]}
    assert held["recall.max_entries"] == "default"


@pytest.mark.parametrize("path", ["/tasks", "/sessions", "/sessions/evil", "/search?q=evilword", "/"])
def test_markup_in_prompts_answers_files_and_tasks_is_text(
    viewed: ViewedHome, page: PageProcess, path: str, request: pytest.FixtureRequest
) -> None:
    if not any(row["id"] == "evil" for row in viewed.verb("sessions")["sessions"]):
        attack = f"evilword evilword.py {SCRIPT} <svg onload=alert(1)> [x](javascript:alert(1)) \u202e\x1b]0;x\x07"
        viewed.hook.turn("evil", "e1", attack, attack)
        viewed.hook("post_tool_use", "evil", "e1", tool_name="Bash", tool_input={"command": attack}, tool_response={})
        viewed.verb("task", "add", attack)
        viewed.daemon.settle()
    text = page.get(path).text
    assert SCRIPT not in text and "<svg onload" not in text and 'href="javascript' not in text.lower()
    assert "\u202e" not in text and "\x1b" not in text


def test_an_export_is_one_private_file_without_script(viewed: ViewedHome) -> None:
    path = viewed.home.parent / "notes.html"
    viewed.verb("view", "--export", str(path))
    text = path.read_text(encoding="utf-8")
    assert path.stat().st_mode & 0o777 == 0o600
    assert "holds your notes" in text and "한국어로 쓴다" in text and "go to ClickHouse" in text and "Astro" not in text
    assert "<script" not in text and "default-src 'none'" in text and 'href="http' not in text
    again = viewed.cli("view", "--export", str(path))
    assert again.returncode == 1 and "is there already" in again.stderr


def test_session_without_a_summary_is_called_by_its_first_prompt(viewed: ViewedHome, page: PageProcess) -> None:
    for path in ("/sessions", "/"):
        shown = page.get(path).text
        assert "/sessions/one" in links_of(shown) and "Where do we keep order events?" in shown, path


def test_setting_of_few_values_offers_them(viewed: ViewedHome, page: PageProcess) -> None:
    shown = page.get("/settings").text
    offered = re.search(r'<select id="v-memory.mode" name="value">(.*?)</select>', shown, re.DOTALL)
    assert offered and re.findall(r">(\w+)</option>", offered[1]) == ["session", "endless"]
    assert "<code>rules</code>: no language model" in shown
