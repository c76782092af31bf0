"""The plugin's MCP server in the real host.

The model looks for itself.
"""

import json
import re

import pytest

from memlayer.edge.mcp import BY_NAME, INSTRUCTIONS
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
    assert SEARCH in tools and "query" in tools[SEARCH]["input_schema"]["properties"]
    result = second.last_user_text
    assert result.startswith('1 memory matches "order events database"') and "ClickHouse" in result, result
    cited = re.search(r"ClickHouse \[mem:(\w{6})\]", run.stdout)
    assert cited is not None, run.stdout
    claude.settle()
    told, asking = (path.stem for path in claude.transcripts())
    [match] = claude.memlayer("show", cited[1])["matches"]
    assert match["memory"]["session_id"] == told and FACT in match["memory"]["text"]
    assert [one["session_id"] for one in match["cited_in"]] == [asking]
    shown = claude.printed("show", cited[1])
    assert f"Cited in 1 session: {asking[:8]} (" in shown, shown
    assert claude.hook_failures() == []


@pytest.mark.parametrize("prompt", ["hello there, what is this project?", "안녕, 이 프로젝트는 뭐야?"])
def test_first_request_holds_instructions_and_schema(claude: Claude, prompt: str) -> None:
    first = claude(prompt).turns[0]
    assert len(INSTRUCTIONS) <= 600
    places = [text for text in [*first.system_texts, *first.texts] if INSTRUCTIONS in text]
    assert len(places) == 1, [text[:200] for text in [*first.system_texts, *first.texts]]
    [offered] = [tool for tool in first.body["tools"] if tool["name"] == SEARCH]
    listed = BY_NAME["mem-search"]
    assert offered["description"] == listed["description"]
    assert offered["input_schema"]["properties"] == listed["inputSchema"]["properties"]
    assert "required" not in offered["input_schema"]  # words, a file or an error


def test_server_is_listed_as_connected(claude: Claude) -> None:
    listed = claude.run(["--plugin-dir", str(claude.plugin), "mcp", "list"])
    assert re.search(r"plugin:memlayer:memlayer: .*Connected", listed.stdout), listed.stdout + listed.stderr
