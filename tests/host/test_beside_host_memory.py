"""Beside the host's own memory: rules after compactions, subagents, and its MEMORY.md."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

RULES = [
    "Always write commit messages in Korean", "Never push to main directly", "항상 pnpm 을 써라, npm 은 쓰지 마",
    "Always run make lint before a commit", "테스트 없이 머지하지 마", "Never use emojis in the docs",
    "Always name branches after the ticket", "SQL 은 항상 소문자로 써라", "Never log customer emails",
    "Always use UTC in timestamps", "주석은 항상 영어로 써라", "Never edit generated files by hand",
]  # fmt: skip
COMPACTIONS = 10
FACT = "We moved the order events from Postgres to ClickHouse because the nightly reports timed out."


def test_rules_survive_ten_compactions(claude: Claude) -> None:
    claude.settle()
    for rule in RULES:
        claude.memlayer("remember", rule)
    with claude.chat() as chat:
        chat.say("hello, let us begin")
        chat.say("what is next?")
        for number in range(COMPACTIONS):
            chat.say("/compact")
            [request, *_] = chat.say("go on with step %d" % number)
            for rule in RULES:
                assert re.search(r"- %s \[mem:\w{6}\]" % re.escape(rule), request.text), (number, rule, claude.logs())
            assert "Follow every one:" in request.text
    assert claude.hook_failures() == []


def test_subagent_knows_what_its_session_was_given(claude: Claude) -> None:
    claude(FACT)
    claude.settle()
    called: list[bool] = []

    def script(request: Request) -> Answer:
        if not request.is_turn or called:
            return Answer(text="Mock answer.")
        called.append(True)
        task = {"description": "look", "prompt": "SUBTASK: look around", "subagent_type": "general-purpose"}
        return Answer(tool_uses=(("Agent", task),))

    claude.api.script = script
    run = claude("MAINTASK: begin")
    [subagent] = [one for one in run.turns if "SUBTASK: look around" in one.text and "MAINTASK" not in one.text]
    given = subagent.injected("SubagentStart")  # attachments of the host follow
    notes = [line for line in given.splitlines() if line.startswith("- ") and "[mem:" in line]
    assert given.startswith("[Memory context]") and any("ClickHouse" in line for line in notes), given
    assert sum(map(len, notes)) <= 600


def test_host_memory_is_searched_and_not_repeated(claude: Claude) -> None:
    claude(FACT)
    claude.settle()
    folder = claude.transcripts()[0].parent / "memory"
    folder.mkdir(exist_ok=True)
    (folder / "MEMORY.md").write_text("- Order events moved from Postgres to ClickHouse, nightly reports timed out\n")
    (folder / "billing.md").write_text("# Billing\n\n정산 배치는 매일 새벽 3시 KST 에 돈다.\n", encoding="utf-8")
    before = digest(folder)
    silent = claude("Which database did we move the order events to, and why?").turn
    notes = [line for line in silent.injected("UserPromptSubmit").splitlines() if line.startswith("- [mem:")]
    assert not any("ClickHouse" in line for line in notes), notes
    claude.memlayer("stats", "--files")
    hits = claude.memlayer("search", "정산 배치 새벽")["hits"]
    assert any("새벽 3시" in hit["snippet"] for hit in hits), json.dumps(hits, ensure_ascii=False)
    claude.settle()
    assert digest(folder) == before


def digest(folder: Path) -> str:
    """A hash of all names and bytes of a folder."""
    parts = [str(path.relative_to(folder)).encode() + path.read_bytes() for path in sorted(folder.rglob("*.md"))]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()
