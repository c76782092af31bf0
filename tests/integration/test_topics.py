"""The verbs topics and mode over a daemon (22.1, 22.11, 22.13, 22.15)."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.support.cli_process import runner
from tests.support.page_process import PageProcess
from tests.support.processes import Daemon, HookRunner
from tests.support.waiting import wait_for

ROOT = Path(__file__).resolve().parents[2]
SESSIONS = {
    "s1": ("결제 웹훅이 두 번 와. toss_webhook.py 봐줘", "toss_webhook.py의 재시도 때문에 결제 웹훅이 두 번 옵니다."),
    "s2": ("The search index in search_index.rs is slow", "search_index.rs splits its segments now, so it is quick."),
    "s3": ("결제 웹훅 서명 검증을 toss_webhook.py에 넣어줘", "toss_webhook.py에 결제 웹훅 서명 검증을 넣었습니다."),
    "s4": ("Shrink the search index in search_index.rs", "search_index.rs writes half the index now."),
}


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(ROOT, home, {"embedding": {"provider": "none"}, "memory": {"mode": "endless"}}) as running:
        yield running


def play(hook: HookRunner, daemon: Daemon) -> None:
    for session, (prompt, answer) in SESSIONS.items():
        hook("session_start", session, source="startup")
        hook.turn(session, session + "-p", prompt, answer)
        hook("session_end", session, reason="exit")
    daemon.settle()


def test_topics_of_sessions_with_citations(home: Path, project: Path, hook: HookRunner, daemon: Daemon) -> None:
    run = runner(home, project)
    assert "No sessions in the last 30 days" in run("project", "topics").stdout
    play(hook, daemon)
    topics = json.loads(run("project", "topics", "--json").stdout)["topics"]
    assert {tuple(row["session_id"] for row in topic["members"]) for topic in topics} == {("s1", "s3"), ("s2", "s4")}
    shown = run("project", "topics").stdout
    assert "toss_webhook.py (2 sessions" in shown and shown.count("[mem:") == 4


def test_summaries_and_topics_are_found_by_search_and_given_at_no_prompt(
    home: Path, project: Path, hook: HookRunner, daemon: Daemon
) -> None:
    run = runner(home, project)
    parts = ("재시도", "서명 검증", "로그")
    for session in ("s1", "s2", "s3"):
        for number, part in enumerate(parts):
            prompt = "%s의 결제 웹훅 %s 문제를 toss_webhook.py에서 고쳐줘" % (session, part)
            hook.turn(
                session, "%s-%d" % (session, number), prompt, "toss_webhook.py의 결제 웹훅 %s를 고쳤습니다." % part
            )
        hook("session_end", session, reason="exit")
    daemon.settle()
    run("daemon", "stop")  # the next one looks for topics at once

    def found(*words: str) -> list[dict[str, Any]]:
        return list(json.loads(run("search", "결제 웹훅 toss_webhook.py", *words, "--json").stdout)["hits"])

    wait_for(lambda: found("--kind", "topic"), "a topic", within_s=30, every_s=0.5)
    assert {row["kind"] for row in found("--kind", "daily")} == {"session_summary", "topic"}
    assert {row["session_id"] for row in found("--kind", "session_summary")} == {"s1", "s2", "s3"}
    whole = [row["category"] for row in found("--limit", "20")]
    assert "daily" in whole and whole == sorted(whole, key=lambda category: category == "daily")
    with PageProcess(home, project) as page:
        for asked in ({"kind": "topic"}, {"kind": "session_summary"}, {"category": "daily"}):
            text = page.get("/search?" + urlencode({"q": "결제 웹훅 toss_webhook.py", **asked})).text
            shown = set(re.findall(r'<a class="cite" href="/notes/(\w{6})"', text))
            wanted = {row["citation"] for row in found("--limit", "20", "--kind", *asked.values())}
            assert shown == wanted and wanted
    prompt = "결제 웹훅이 전에 왜 두 번 왔지? toss_webhook.py"
    recalled = json.loads(run("search", "--as-prompt", prompt, "--explain", "--json").stdout)
    days = {row["citation"] for row in found("--kind", "daily")}
    assert recalled["candidates"] and not days & {row["citation"] for row in recalled["candidates"]}
    run("doctor", "reindex")
    assert {row["kind"] for row in found("--kind", "daily")} == {"session_summary", "topic"}
    [topic, *_] = found("--kind", "topic")
    run("forget", topic["citation"], "--yes")
    assert topic["id"] not in {row["id"] for row in found("--kind", "daily")}


def test_changed_files_make_the_score_where_only_they_weigh_22_8(home: Path, project: Path, hook: HookRunner) -> None:
    only_files = {"weights": [0, 0, 1, 0]}
    settings = {"embedding": {"provider": "none"}, "memory": {"mode": "endless", **only_files}}
    with Daemon(ROOT, home, settings) as daemon:
        run = runner(home, project)
        for session, names in (("s1", "cart.py 결제.py"), ("s2", "결제.py"), ("s3", "other.py")):
            hook("user_prompt_submit", session, session + "-p", prompt="%s 고쳐줘, please fix these" % names)
            for name in names.split():
                path = str(project / name)
                hook(
                    "post_tool_use", session, session + "-p", tool_name="Edit", tool_use_id=session + name,
                    tool_input={"file_path": path, "old_string": "a", "new_string": "b"},
                    tool_response={"filePath": path},
                )  # fmt: skip
            hook("stop", session, session + "-p", last_assistant_message="고쳤습니다. Both are fixed now.")
            hook("session_end", session, reason="exit")
        daemon.settle()

        def logged() -> list[float]:
            file = home / "logs" / "continuity.jsonl"
            return [json.loads(line)["score"] for line in file.read_text().splitlines()] if file.exists() else []

        wait_for(lambda: len(logged()) == 3, "the daemon's first look", within_s=30, every_s=0.2)
        assert logged() == [0.5, 0.5, 0.0]
        assert "above 0" in run("config", "set", "memory.weights", "0", "0", "0", "0", code=1).stderr


def test_endless_goes_on_with_the_day_and_session_mode_is_as_before(
    home: Path, project: Path, hook: HookRunner, daemon: Daemon
) -> None:
    run = runner(home, project)
    play(hook, daemon)

    def compared() -> dict[str, Any] | None:
        found: dict[str, Any] = json.loads(run("project", "mode", "--json").stdout)
        return None if found["score"] is None else found

    state = wait_for(compared, "the daemon's first look", within_s=30, every_s=0.2)
    assert state is not None
    assert (state["mode"], state["turns"]) == ("endless", 4) and state["transition"]
    started = hook("session_start", "s5", source="startup").context
    assert started.count("서명 검증을 toss_webhook.py") == 1 and "(last day)" not in started  # told once
    assert "endless" in run("project", "mode").stdout and "4 turns" in run("project", "mode").stdout
    listed = run("list", "conversation", "--json").stdout
    assert (
        "mode" in run("project", "mode", "session").stdout
        and json.loads(run("project", "mode", "--json").stdout)["mode"] == "session"
    )
    assert run("list", "conversation", "--json").stdout == listed
    assert hook("session_start", "s6", source="startup").context == started
