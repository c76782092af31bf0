"""The page in a real browser: looks, keys, changes and their undoing, attacks."""

import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.page_process import PATHS, PageProcess, ViewedHome
from tests.support.processes import HookRunner
from tests.view.conftest import Tab

ROOT = Path(__file__).resolve().parents[2]
AXE = Path(os.environ.get("MEMLAYER_AXE") or ROOT / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js")
AUDIT = "async (options) => (await axe.run(document, {resultTypes: ['violations'], ...options})).violations"
ATTACK = (
    "evilword evilword.py <script>window.pwned=1</script> <img src=x onerror=window.pwned=1> "
    '<svg onload=window.pwned=1> [x](javascript:window.pwned=1) "\' onfocus=window.pwned=1 autofocus x=" {{7*7}} \u202e'
)
pytestmark = pytest.mark.timeout(180)


def note_path(viewed: ViewedHome, text: str) -> str:
    return f"/notes/{viewed.note(text).id}"


@pytest.mark.parametrize(("width", "dark"), [(1440, False), (1440, True), (390, False)])
def test_each_page_is_whole_quiet_and_reachable(viewed: ViewedHome, tab: Tab, width: int, dark: bool) -> None:
    shown = tab(width, dark)
    axe = AXE.read_text(encoding="utf-8")
    task = viewed.verb("task", "list")["tasks"][0]
    paths = [
        *PATHS,
        note_path(viewed, "9090 now"),
        note_path(viewed, "9090 now") + "/forget",
        f"/tasks/{task['citation']}",
    ]
    wrong: dict[str, Any] = {}
    for path in paths:
        shown.go(path)
        if shown.tab.evaluate("document.documentElement.scrollWidth") > width:
            wrong[path] = "wider than the window"
        shown.tab.evaluate(axe)
        for fault in shown.tab.evaluate(AUDIT, {"runOnly": ["color-contrast"]} if dark else {}):
            if fault["impact"] in ("serious", "critical"):
                wrong[path + " " + fault["id"]] = [node["html"][:200] for node in fault["nodes"][:3]]
    assert wrong == {}
    assert shown.said == [] and shown.strangers() == []


BROKEN = """() => {
  const ranges = document.createRange(), broken = [];
  for (const cell of document.querySelectorAll("th, td, nav a, button, .badge, dt")) {
    if (cell.querySelector("code, form, .why")) continue;
    const walk = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let node = walk.nextNode(); node; node = walk.nextNode())
      for (const word of node.data.matchAll(/[A-Za-z\uac00-\ud7a3]{3,30}/g)) {
        ranges.setStart(node, word.index); ranges.setEnd(node, word.index + word[0].length);
        if (new Set([...ranges.getClientRects()].map((box) => Math.round(box.top))).size > 1) broken.push(word[0]);
      }
  }
  return broken;
}"""
CUT = """() => [...document.querySelectorAll("main *")].filter(
  (one) => one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).overflowX !== "visible"
    && !one.closest("pre, .sr, select, input, .raw, .bubble")).map((one) => one.outerHTML.slice(0, 80))"""


@pytest.mark.parametrize("width", [1440, 1024, 390])
def test_no_word_is_broken_and_nothing_is_cut(viewed: ViewedHome, tab: Tab, width: int) -> None:
    shown = tab(width)
    wrong: dict[str, Any] = {}
    for path in (*PATHS, "/projects", "/nowhere", note_path(viewed, "9090 now")):
        shown.tab.goto(f"http://{shown.host}{path}")
        if found := [*shown.tab.evaluate(BROKEN), *shown.tab.evaluate(CUT)]:
            wrong[path] = found
    assert wrong == {}


def test_today_ends_and_its_starts_are_folded(viewed: ViewedHome, tab: Tab) -> None:
    """A busy day: twelve sessions of twelve prompts each."""
    busy = viewed.home.parent / "바쁜 날"
    busy.mkdir()
    hook = HookRunner(ROOT, viewed.home, busy)
    hook.forbid_background()
    for session in range(12):
        hook("session_start", f"busy-{session}", source="startup")
        for place in range(12):
            hook.turn(
                f"busy-{session}",
                f"b{session}-{place}",
                f"{place}번째 물음: 배포는 언제 하지? ({session})",
                "화요일입니다.",
            )
    viewed.daemon.settle()
    shown = tab()
    at = shown.go("/")
    with at.expect_navigation():
        at.select_option("#project", label="바쁜 날")
    assert at.evaluate("document.documentElement.scrollHeight") < 4000
    talk = at.locator("details.talk[open]")
    assert talk.count() == 1 and at.locator("details.talk").count() == 12
    prompts = [text.split(maxsplit=1)[1] for text in talk.locator("h3").all_inner_texts()]
    assert [int(text.partition("번째")[0]) for text in prompts] == list(range(12))
    assert talk.locator("details[open]").count() == 0  # the start and those left out


def test_it_works_without_script(tab: Tab) -> None:
    shown = tab(script=False)
    at = shown.go("/notes")
    at.select_option("#project", "all")
    at.click(".switch button")
    assert "Astro" in at.inner_text("main")
    at.fill("input[name=q]", "한국어")
    at.press("input[name=q]", "Enter")
    assert "한국어로 쓴다" in at.inner_text("main") and "9090" not in at.inner_text("main")


def test_the_keyboard_alone_is_enough(viewed: ViewedHome, tab: Tab) -> None:
    shown = tab()
    at = shown.go("/tasks")
    at.keyboard.press("Tab")
    assert at.evaluate("document.activeElement.className") == "skip"
    at.keyboard.press("Enter")
    assert at.evaluate("document.activeElement.id") == "main"
    card = viewed.verb("task", "list", "pending")["tasks"][0]
    at.focus(f"#t-{card['citation']}")
    with at.expect_navigation():
        at.keyboard.press("d")
    assert viewed.verb("task", "show", card["citation"])["tasks"][0]["status"] == "done"
    at.focus(f"#t-{card['citation']}")
    with at.expect_navigation():
        at.keyboard.press("o")
    assert viewed.verb("task", "show", card["citation"])["tasks"][0]["status"] == "pending"
    at = shown.go("/notes")
    at.keyboard.press("/")
    at.keyboard.type("9090")
    with at.expect_navigation():
        at.keyboard.press("Enter")
    assert at.locator("mark").first.inner_text() == "9090"
    at.focus("a.cite")
    with at.expect_navigation():
        at.keyboard.press("Enter")
    at.focus("details.act summary")
    at.keyboard.press("Enter")
    assert at.locator("textarea[name=text]").is_visible()
    assert shown.said == []


def test_a_card_is_dragged_to_another_lane_and_back(viewed: ViewedHome, tab: Tab) -> None:
    shown = tab()
    card = viewed.verb("task", "list", "pending")["tasks"][0]["citation"]
    for lane, status in (("start", "in_progress"), ("done", "done"), ("reopen", "pending")):
        at = shown.go("/tasks")
        with at.expect_navigation():
            at.drag_and_drop(f"#t-{card} h3", f".lane[data-how={lane}] h2")
        assert viewed.verb("task", "show", card)["tasks"][0]["status"] == status
    assert shown.said == []


def test_a_note_is_pinned_edited_restored_and_forgotten(viewed: ViewedHome, tab: Tab) -> None:
    viewed.verb("remember", "the mirror answers on port 7070")
    shown = tab()
    path = note_path(viewed, "port 7070")
    at = shown.go(path)
    for name, pinned in (("Pin", True), ("Unpin", False)):
        with at.expect_navigation():
            at.click(f"button:text-is('{name}')")
        assert viewed.note("port 7070").pinned is pinned
    at.click("summary:text-is('Edit')")
    at.fill("textarea[name=text]", "거울은 7070 포트에서 답한다")
    with at.expect_navigation():
        at.click("button:text-is('Save')")
    assert at.locator(".said").inner_text().startswith("Changed") and at.locator("ins").count()
    with at.expect_navigation():
        at.click("button:text-is('Restore this text')")
    assert viewed.note("port 7070").superseded_by == ""
    with at.expect_navigation():
        at.click("a:text-is('Forget…')")
    with at.expect_navigation():
        at.click("a:text-is('Keep it')")
    assert viewed.note("port 7070")
    at = shown.go(path + "/forget")
    with at.expect_navigation():
        at.click("button.danger")
    assert "Forgotten" in at.locator(".said").inner_text()
    assert shown.said == []


def test_review_and_settings_are_changed_and_taken_back(viewed: ViewedHome, tab: Tab) -> None:
    shown = tab()
    at = shown.go("/review")
    with at.expect_navigation():
        at.click("button:text-is('Keep')")
    assert "Nothing to review" in at.inner_text("main")
    with at.expect_navigation():
        at.click("button:text-is('Undo the last decision')")
    assert "gzip slowed" in at.inner_text("main")
    at = shown.go("/settings?q=max_entries")
    at.fill("input[id='v-recall.max_entries']", "2")
    with at.expect_navigation():
        at.click("tr[id='recall.max_entries'] button:text-is('Set')")
    at = shown.go("/settings?q=max_entries")
    with at.expect_navigation():
        at.click("tr[id='recall.max_entries'] button:text-is('Default')")
    held = {row["key"]: row["from"] for row in viewed.verb("config")["settings"]}
    assert held["recall.max_entries"] == "default" and shown.said == []


def test_the_switch_of_projects_and_the_copy_of_a_citation(viewed: ViewedHome, tab: Tab) -> None:
    shown = tab()
    at = shown.go("/notes")
    with at.expect_navigation():
        at.select_option("#project", label="사이트")
    assert "Astro" in at.inner_text("main") and "9090" not in at.inner_text("main")
    shown.tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    note = viewed.note("9090 now")
    at = shown.go(f"/notes/{note.id}")
    at.click("[data-copy]")
    at.wait_for_selector("button:text-is('Copied')")
    assert at.evaluate("navigator.clipboard.readText()") == f"[mem:{note.citation}]"


def test_a_prompt_appears_without_a_reload(viewed: ViewedHome, tab: Tab) -> None:
    shown = tab()
    at = shown.go("/")
    at.wait_for_selector("[data-live]:not([hidden])")
    viewed.hook.turn("live", "l1", "지금 막 물었다", "네.")
    at.wait_for_selector("[data-new]:not([hidden])", timeout=15_000)
    assert "new event" in at.inner_text("[data-new]")
    with at.expect_navigation():
        at.click("[data-new] a")
    assert "지금 막 물었다" in at.inner_text("main") and shown.said == []


def test_stored_markup_runs_nowhere(viewed: ViewedHome, tab: Tab) -> None:
    viewed.hook.turn("evil", "e1", ATTACK, ATTACK)
    viewed.hook("post_tool_use", "evil", "e1", tool_name="Bash", tool_input={"command": ATTACK}, tool_response={})
    viewed.verb("remember", "evilword is a note " + ATTACK)
    viewed.verb("task", "add", ATTACK)
    evil = viewed.home.parent / "<img src=x onerror=window.pwned=1>"
    evil.mkdir()
    viewed.cli.project = evil
    viewed.verb("remember", "a note in a project with such a name")
    viewed.cli.project = viewed.shop
    viewed.daemon.settle()
    shown = tab()
    paths = ("/", "/notes", note_path(viewed, "evilword is"), note_path(viewed, "evilword is") + "/forget", "/tasks",
             "/sessions", "/sessions/evil", "/sessions/evil?q=evilword", "/search?q=evilword",
             "/notes?project=all", "/search?q=%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E",
             "/notes?q=%22%3E%3Cscript%3Ewindow.pwned%3D1%3C%2Fscript%3E")  # fmt: skip
    for path in paths:
        at = shown.go(path)
        at.wait_for_timeout(50)
        assert at.evaluate("window.pwned") is None, path
        assert "49" not in at.inner_text("main").replace("1449", ""), path
    assert shown.said == [] and shown.strangers() == []


@pytest.fixture
def elsewhere(viewed: ViewedHome, page: PageProcess) -> Iterator[str]:
    """Another site on this machine, whose page attacks ours."""
    path = f"http://{page.host}/notes/{viewed.note('한국어로').id}/pin"
    html = (
        f"<form id=f method=post action={path}><input name=csrf value=x></form><script>"
        f"fetch('{path}', {{method:'POST', mode:'no-cors', credentials:'include', body:'csrf=x'}}).catch(() => 0);"
        f"window.read = fetch('http://{page.host}/api/sessions', {{credentials:'include'}})"
        ".then(() => 'read', () => 'no');"
        f"window.heard = new Promise(done => {{ const s = new WebSocket('ws://{page.host}/ws');"
        " s.onopen = () => done('open'); s.onerror = () => done('no'); });</script>"
    )

    class Site(http.server.BaseHTTPRequestHandler):
        """A site with one page."""

        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}/"
    server.shutdown()
    server.server_close()


def test_a_page_of_another_site_reads_and_changes_nothing(viewed: ViewedHome, tab: Tab, elsewhere: str) -> None:
    shown = tab()
    shown.tab.goto(elsewhere)
    assert shown.tab.evaluate("window.read") == "no"
    assert shown.tab.evaluate("window.heard") == "no"
    with shown.tab.expect_navigation():
        shown.tab.evaluate("document.getElementById('f').submit()")
    assert "Nothing is changed" in shown.tab.inner_text("main")
    assert viewed.note("한국어로").pinned is False


def test_an_export_opens_without_a_server(viewed: ViewedHome, chromium: Any, tmp_path: Path) -> None:
    path = tmp_path / "notes.html"
    viewed.verb("view", "--export", str(path))
    context = chromium.new_context(java_script_enabled=False)
    at = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(request.url))
    at.goto(path.as_uri())
    assert "한국어로 쓴다" in at.inner_text("main") and "holds your notes" in at.inner_text("main").lower()
    at.click("summary >> nth=0")
    assert at.locator("details[open] .raw").first.is_visible()
    assert [url for url in asked if not url.startswith("file:")] == []
    context.close()
