"""Growth of a rule that is said again, and its words.

Requirements 25.4, 25.5, 26.1 and 26.3.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli_process import Cli, runner
from tests.support.mcp_client import McpServer
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]
RULE = "main 에는 절대 직접 푸시하지 마."
ENGLISH = "Run the linters before each commit please."


@pytest.fixture
def daemon(home: Path) -> Iterator[Daemon]:
    with Daemon(ROOT, home) as running:
        yield running


def say(hook: HookRunner, session: str, *prompts: str) -> None:
    """Play a session of these prompts."""
    hook("session_start", session, source="startup")
    for number, prompt in enumerate(prompts):
        hook.turn(session, "%s-%d" % (session, number), prompt, "알겠습니다.")
    hook("session_end", session, reason="exit")


def rules(run: Cli) -> list[dict[str, Any]]:
    listed = json.loads(run("list", "core", "--json").stdout)["memories"]
    return sorted((row for row in listed if row["kind"] == "preference"), key=lambda row: str(row["text"]))


def test_rule_points_at_its_words_and_grows(home: Path, project: Path, hook: HookRunner, daemon: Daemon) -> None:
    run = runner(home, project)
    for session in ("s1", "s2", "s3"):
        say(hook, session, "배포 스크립트 좀 봐줘. " + RULE, ENGLISH)
    daemon.settle()
    english, korean = rules(run)
    for row, words in ((english, ENGLISH), (korean, RULE)):
        [match] = json.loads(run("show", row["citation"], "--json").stdout)["matches"]
        assert [proof["quote"].rstrip(".") for proof in match["quotes"]] == [words.rstrip(".")] * 3
        assert {(proof["speaker"], proof["method"], proof["confidence"]) for proof in match["quotes"]} == {
            ("user", "exact", 1.0)
        }
        again = [(turn["session_id"], turn["category"]) for turn in match["said_again"]]
        assert again == [("s2", "conversation"), ("s3", "conversation")]
        growth = match["growth"]
        assert (growth["said"], growth["sessions"], growth["has_evidence"]) == (3, 2, True)
        assert growth["level"] in (1, 2)  # a late start was shown no rule
        assert growth["reason"].startswith("L%d: " % (growth["level"] + 1))
    shown = run("show", korean["citation"]).stdout
    assert (
        "said in 3 sessions" in shown
        and shown.count("Said again") == 2
        and "Rests on the person's words" in shown
        and "level L%d (%s)" % (growth["level"], growth["name"]) in shown
    )


def test_remembered_text_has_no_quote_and_counts_as_evidence(
    home: Path, project: Path, hook: HookRunner, daemon: Daemon
) -> None:
    run = runner(home, project)
    made = json.loads(run("remember", "배포는 화요일 오전", "--json").stdout)["memory"]
    [match] = json.loads(run("show", made["citation"], "--json").stdout)["matches"]
    assert match["quotes"] == [] and match["growth"]["has_evidence"] is True


def test_rule_cited_in_many_sessions_is_proven_and_stands_first_at_a_start(
    home: Path, project: Path, hook: HookRunner, daemon: Daemon
) -> None:
    run = runner(home, project)
    rules = [
        json.loads(run("remember", text, "--json").stdout)["memory"]["citation"]
        for text in ("배포 전에는 반드시 스모크 테스트를 돌린다", "Always write commit messages in English")
    ]
    for number in range(11):
        session = "s%d" % number
        hook("session_start", session, source="startup")
        hook.turn(session, session, "배포해도 될까?", "스모크 테스트부터 돌립니다 [mem:%s]." % rules[0])
        hook("session_end", session, reason="exit")
    daemon.settle()
    [match] = json.loads(run("show", rules[0], "--json").stdout)["matches"]
    assert match["growth"]["level"] == 4 and match["memory"]["level"] == 4
    [other] = json.loads(run("show", rules[1], "--json").stdout)["matches"]
    assert other["growth"]["level"] == 1
    told = hook("session_start", "next", source="startup").context
    assert 0 < told.index("스모크 테스트를") < told.index("Always write commit")


def test_a_models_own_word_is_not_proven_by_models(home: Path, project: Path, hook: HookRunner, daemon: Daemon) -> None:
    run = runner(home, project)
    with McpServer(home, project, CLAUDE_CODE_SESSION_ID="s0") as server:
        own = server.call("mem-remember", text="창고 동기화는 밤 두 시에 돈다")
    citation = own.partition("[mem:")[2][:6]
    for number in range(7):
        session = "s%d" % number
        hook("session_start", session, source="startup")
        hook.turn(session, session, "동기화는 언제 돌지?", "밤 두 시에 돕니다 [mem:%s]." % citation)
        if number % 2:
            with McpServer(home, project, CLAUDE_CODE_SESSION_ID=session) as server:
                assert citation in server.call("mem-remember", text="창고 동기화는 밤 두 시에 돈다")
        hook("session_end", session, reason="exit")
    daemon.settle()

    def level() -> tuple[int, str]:
        [match] = json.loads(run("show", citation, "--json").stdout)["matches"]
        return match["growth"]["level"], match["growth"]["reason"]

    assert level() == (1, "L2: no words of a person and no output of a command prove it")
    run("remember", "창고 동기화는 밤 두 시에 돈다")
    assert level()[0] == 3
