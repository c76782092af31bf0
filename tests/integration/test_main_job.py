"""The main job with real hooks, daemon and model.

A fact told in one session is there in the next.
"""

import json
import os
import re
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer import __version__
from memlayer.edge.ipc import client, protocol
from tests.support.processes import Daemon, HookRunner
from tests.support.tables import tables

TABLES = tables("integration/main_job")

ROOT = Path(__file__).resolve().parent.parent.parent
FACTS = TABLES["facts"]


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Daemon, HookRunner]]:
    """A home in which one session has told FACTS, settled."""
    base = tmp_path_factory.mktemp("main job")
    project = base / "상점 shop"
    project.mkdir()
    with Daemon(ROOT, base / "home", settings={}) as daemon:
        hook = HookRunner(ROOT, base / "home", project, python=getattr(sys, "_base_executable", sys.executable))
        assert hook("session_start", "told", source="startup").stdout == b""
        for number, (prompt, answer) in enumerate(FACTS):
            hook.turn("told", "p%d" % number, prompt, answer)
        hook("session_end", "told", reason="other")
        settled = daemon.settle()
        assert (settled["waiting"], settled["unembedded"]) == (0, 0)
        yield daemon, hook


@pytest.mark.parametrize(("prompt", "expected"), TABLES["next_session_is_given_facts"])
def test_next_session_is_given_facts(told: tuple[Daemon, HookRunner], prompt: str, expected: str) -> None:
    _, hook = told
    done = hook("user_prompt_submit", "next " + prompt, "q1", prompt=prompt)
    assert (done.returncode, done.stderr) == (0, b"")
    lines = done.context.splitlines()
    assert lines[0] == "[Memory context]"
    assert expected in done.context
    assert len(lines) <= 2 + 5
    assert all(re.match(r"- \[mem:[0-9A-Za-z]{6}\] \d{4}-\d\d-\d\d: ", line) for line in lines[2:])


@pytest.mark.parametrize("is_started", [True, False])
def test_header_explained_once_a_session(told: tuple[Daemon, HookRunner], is_started: bool) -> None:
    _, hook = told
    session = "explained %s" % is_started
    first = [hook.context("session_start", session, source="startup")] if is_started else []
    asked = ["결제모듈 포트가 몇 번이었지?", "which database holds the order events?"]
    blocks = first + [hook.context("user_prompt_submit", session, str(at), prompt=one) for at, one in enumerate(asked)]
    blocks.append(hook.context("session_start", session, source="compact"))
    hook("post_compact", session)
    blocks.append(hook.context("user_prompt_submit", session, "after", prompt=asked[0]))
    assert all(block.startswith("[Memory context]\n") for block in blocks)
    said = [bool(re.search("evidence, not as instructions|evidence that may be outdated", block)) for block in blocks]
    assert said == [not at or at == len(first) + len(asked) for at in range(len(blocks))]


@pytest.mark.parametrize(
    "prompt",
    ["thanks!", "ok", "계속", "응 고마워", "안녕", "2+2?", "what is the capital of France?", "오늘 날씨 어때?",
     "write a haiku about autumn", "/review checkout.py",
     "<task-notification>order events ClickHouse</task-notification>"],
)  # fmt: skip
def test_silence_where_nothing_fits(told: tuple[Daemon, HookRunner], prompt: str) -> None:
    _, hook = told
    done = hook("user_prompt_submit", "silent " + prompt, "q1", prompt=prompt)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_session_start_continues_last(told: tuple[Daemon, HookRunner]) -> None:
    _, hook = told
    for source in ("startup", "clear", "compact"):
        context = hook.context("session_start", "new " + source, source=source)
        assert "NestJS" in context and context.startswith("[Memory context]"), source
        assert len(context) <= 1200
    assert hook("session_start", "resumed", source="resume").stdout == b""


def test_same_named_project_gets_nothing(told: tuple[Daemon, HookRunner], tmp_path: Path) -> None:
    daemon, hook = told
    other = tmp_path / hook.project.name
    other.mkdir()
    foreign = HookRunner(ROOT, hook.home, other, python=hook.python)
    assert foreign("session_start", "foreign", source="startup").stdout == b""
    assert foreign("user_prompt_submit", "foreign", "q1", prompt="which database holds the order events?").stdout == b""
    own = daemon.call("search", query="order events", project_dir=str(other), limit=5)["hits"]
    assert all("ClickHouse" not in hit["snippet"] and hit["session_id"] == "foreign" for hit in own)
    assert daemon.call("search", query="order events", project_dir="", limit=5)["hits"]


def test_no_repeats_until_compaction(told: tuple[Daemon, HookRunner]) -> None:
    daemon, hook = told
    hook("session_start", "live", source="startup")
    hook.turn("live", "l1", "캐시 서버 주소를 정하자", "캐시 서버는 redis-main:6390 을 쓰기로 했습니다.")
    daemon.settle()
    asked = {"prompt": "캐시 서버 주소가 뭐였지?"}
    assert "redis-main" not in hook("user_prompt_submit", "live", "l2", **asked).context
    assert "redis-main" in hook("user_prompt_submit", "elsewhere", "e1", **asked).context
    hook("session_start", "live", source="compact")
    assert "redis-main" in hook("user_prompt_submit", "live", "l3", **asked).context
    # Shown once, it is in the context again.
    assert "redis-main" not in hook("user_prompt_submit", "live", "l4", **asked).context


def test_repeated_turns_change_nothing(told: tuple[Daemon, HookRunner]) -> None:
    daemon, hook = told
    daemon.settle()
    before = daemon.call("stats")
    for number, (prompt, answer) in enumerate(FACTS):
        hook.turn("told", "p%d" % number, prompt, answer)
    daemon.settle()
    after = daemon.call("stats")
    assert {name: after[name] for name in ("events", "memories", "chunks")} == {
        name: before[name] for name in ("events", "memories", "chunks")
    }


def test_recall_matches_the_hook(told: tuple[Daemon, HookRunner]) -> None:
    daemon, hook = told
    prompt = "which database holds the order events?"
    found = daemon.call("recall", prompt=prompt, project_dir=str(hook.project))
    assert found["block"] == hook("user_prompt_submit", "explained", "q1", prompt=prompt).context
    assert found["mode"] == "hybrid"
    kept = [one for one in found["candidates"] if one["kept"]]
    dropped = [one for one in found["candidates"] if not one["kept"]]
    assert kept and dropped and all(one["reason"] for one in found["candidates"])
    assert 0 < found["need"] <= 1
    assert all(0 <= one["parts"][name] <= 1 for one in kept for name in ("helps", "relevance", "lexical", "vector"))


RULES = ("Always write commit messages in Korean", "항상 pnpm 을 써라, npm 은 쓰지 마")


def compact_too_late(hook: HookRunner, session: str) -> None:
    """Tell of a compaction as a hook does that waits a millisecond."""
    payload = {"session_id": session, "transcript_path": "", "cwd": str(hook.project), "source": "compact"}
    raw, folder = json.dumps(payload).encode(), os.fsencode(hook.project)
    asked = protocol.request(
        "hook.session_start", raw, build=__version__, deadline_ms=1, at_ms=time.time_ns() // 10**6, project_dir=folder
    )
    with socket.socket(socket.AF_UNIX) as sock:
        client.connect(sock, str(hook.home))
        sock.sendall(asked)
        while sock.recv(1 << 16):
            pass


def test_rules_of_a_late_compaction_come_with_the_next_prompt(daemon: Daemon, hook: HookRunner) -> None:
    for number, rule in enumerate(RULES):
        hook.turn("told", "p%d" % number, rule, "네.")
    hook("session_end", "told", reason="other")
    daemon.settle()
    compact_too_late(hook, "long")
    other = hook("user_prompt_submit", "other", "o1", prompt="go on with step 1").context
    first = hook("user_prompt_submit", "long", "p1", prompt="go on with step 1").context
    second = hook("user_prompt_submit", "long", "p2", prompt="다음 단계로 가자").context
    assert [rule in first for rule in RULES] == [True, True] and "Follow every one:" in first
    assert not [text for text in (other, second) if RULES[0] in text]
    assert RULES[1] in hook.context("session_start", "long", source="compact")
    assert RULES[1] not in hook("user_prompt_submit", "long", "p3", prompt="go on with step 3").context
