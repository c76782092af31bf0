"""The plugin's MCP server in the real host.

The model looks for itself.
"""

from __future__ import annotations

import json
import re

import pytest

from tests.support.host.claude_run import Claude
from tests.support.host.messages_api import Answer, Request

pytestmark = [pytest.mark.host, pytest.mark.timeout(300)]

FACT = "We moved the order events from Postgres to ClickHouse because the nightly reports timed out."
SEARCH = "mcp__plugin_memlayer_memlayer__mem-search"
ALLOWED = json.dumps({"permissions": {"allow": [SEARCH]}})


def test_model_searches_by_itself(claude: Claude) -> None:
    claude(FACT)
    claude.settle()

    def script(request: Request) -> Answer:
        if not request.is_turn:
            return Answer(text="Mock title")
        if not request.has_tool_result:
            return Answer(tool_uses=((SEARCH, {"query": "order events database"}),))
        found = re.search(r"\[mem:\w{6}\]", request.last_user_text)
        return Answer(text="It is ClickHouse %s." % (found[0] if found else "?"))

    claude.api.script = script
    arguments = ["-p", "--plugin-dir", str(claude.plugin), "--settings", ALLOWED]
    run = claude.run(arguments, stdin="go ahead with the plan")
    first, second = run.turns
    assert first.injected("UserPromptSubmit") == ""  # the block was silent
    tools = {tool["name"]: tool for tool in first.body["tools"]}
    assert SEARCH in tools and tools[SEARCH]["input_schema"]["required"] == ["query"]
    result = second.last_user_text
    assert result.startswith('1 memory matches "order events database"') and "ClickHouse" in result, result
    assert "ClickHouse [mem:" in run.stdout
    assert claude.hook_failures() == []


def test_instructions_reach_the_model(claude: Claude) -> None:
    request = claude("hello there, what is this project?").turn
    assert "Call mem-search before you answer from guesswork" in json.dumps(request.body)


def test_server_is_listed_as_connected(claude: Claude) -> None:
    listed = claude.run(["--plugin-dir", str(claude.plugin), "mcp", "list"])
    assert re.search(r"plugin:memlayer:memlayer: .*Connected", listed.stdout), listed.stdout + listed.stderr
