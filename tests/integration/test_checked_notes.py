"""Notes checked against the code, through real hooks, a daemon and a repository."""

from pathlib import Path

import pytest

from tests.support.processes import Daemon, HookRunner
from tests.support.repositories import git

GONE, KEPT = "장바구니는 CartStore를 거쳐서만 읽는다.", "배포는 화요일에만 한다."
ASKED = "장바구니는 무엇을 거쳐서 읽기로 했지?"
MARK = "(since changed) "


@pytest.fixture
def shop(project: Path, hook: HookRunner, daemon: Daemon) -> Path:
    """A repository whose notes a session's model has remembered."""
    git(project, "init")
    (project / "cart.py").write_text("class CartStore: ...\n")
    git(project, "add", "-A")
    git(project, "commit", "-m", "장바구니")
    hook("session_start", "s1", source="startup")
    hook.turn("s1", "p1", "장바구니를 어디서 읽는지 봐 줘", "cart.py의 CartStore에서 읽습니다.")
    for at_ms, text in enumerate((GONE, KEPT), 1):
        daemon.call("mem.remember", text=text, kind="decision", at_ms=at_ms, project_dir=str(project), session_id="s1")
    hook("session_end", "s1", reason="other")
    daemon.settle()
    file = project.parent.parent / "메모리 home" / "noted_names"
    daemon.wait_for(lambda: any("CartStore" in one.read_text() for one in file.glob("*.json")), "names")
    return project


def changed(shop: Path) -> None:
    (shop / "cart.py").write_text("class Basket: ...\n")
    git(shop, "commit", "-a", "-m", "바구니")


def test_start_prompt_and_search_mark_it(shop: Path, hook: HookRunner, daemon: Daemon) -> None:
    assert MARK not in hook("session_start", "s2", source="startup").context
    changed(shop)
    start = hook("session_start", "s3", source="startup").context
    assert "- %s%s [mem:" % (MARK, GONE) in start and "- %s [mem:" % KEPT in start
    assert MARK in hook("user_prompt_submit", "s4", "q1", prompt=ASKED).context
    asked = {"query": "장바구니 CartStore", "project_dir": str(shop)}
    assert MARK in daemon.call("mem.search", **asked)["text"]
    hits = {hit["text"]: hit["snippet"] for hit in daemon.call("search", **asked)["hits"]}
    assert hits[GONE].startswith(MARK)
    block = daemon.call("recall", prompt=ASKED, project_dir=str(shop))["block"]
    assert MARK in block


def test_next_daemon_knows_what_stood_there(shop: Path, hook: HookRunner, daemon: Daemon) -> None:
    assert daemon.stop() == 0
    changed(shop)
    with Daemon(daemon.root, daemon.home):
        assert MARK + GONE in hook("session_start", "s2", source="startup").context


def test_forgotten_names_are_gone(shop: Path, hook: HookRunner, daemon: Daemon) -> None:
    daemon.call("forget", session_id="s1")
    [file] = (daemon.home / "noted_names").glob("*.json")
    assert "CartStore" not in file.read_text()
