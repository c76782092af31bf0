"""A turn that the next prompt takes back, through hooks, daemon and store."""

import sys
from pathlib import Path

from tests.support.cli_process import Cli
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
MARK = "(did not hold) "
ASKED = "The checkout throws KeyError currency for legacy carts, can you look?"
ANSWER = "Root cause: the currency middleware runs twice for legacy carts. I fixed it in checkout.py."
DECISION = "주문 이벤트는 ClickHouse에 저장하기로 했어."


def test_taken_back_turn_says_so_everywhere(home: Path, project: Path) -> None:
    hook = HookRunner(ROOT, home, project, python=getattr(sys, "_base_executable", sys.executable))
    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", ASKED, ANSWER)
        hook.turn("s1", "p2", "did not work, restore it", "I restored checkout.py.")
        hook.turn("s1", "p3", DECISION, "네, ClickHouse로 옮겼습니다.")
        daemon.settle()
        assert DECISION in [memory["text"] for memory in daemon.call("list", category="core", limit=10)["memories"]]
        hook.turn("s1", "p4", "안 되네 원래대로", "되돌렸습니다.")
        daemon.settle()
        assert daemon.call("list", category="core", limit=10)["memories"] == []
        turns = daemon.call("list", category="conversation", limit=10)["memories"]
        marked = {turn["prompt_id"] for turn in turns if turn["text"].startswith(MARK)}
        assert marked == {turn["prompt_id"] for turn in turns if turn["kind"] == "did_not_hold"} == {"p1", "p3"}
        block = hook("user_prompt_submit", "s2", "q1", prompt="KeyError currency again, have we seen it?").context
        assert "middleware" not in block or MARK in block
        hits = daemon.call("search", query="KeyError currency middleware", limit=5)["hits"]
        hit = next(hit for hit in hits if hit["session_id"] == "s1")  # the question of s2 is a memory by now as well
        assert hit["snippet"].startswith(MARK) and hit["preview"].startswith(MARK)
        for verb in (("show", hit["citation"]), ("list",), ("search", "KeyError")):
            assert MARK in Cli(home, project)(*verb).stdout, verb
        assert daemon.call("reindex")["chunks"] > 0
        again = daemon.call("list", category="conversation", limit=10)["memories"]
        assert {turn["prompt_id"] for turn in again if turn["text"].startswith(MARK)} == marked
