"""The official SDK's client drives the MCP server, in both handshakes."""

import asyncio
from pathlib import Path
from typing import Any, Literal

import pytest

from tests.support.mcp_client import ROOT, command, environment
from tests.support.processes import Daemon


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.filterwarnings("ignore")  # the SDK's own
def test_client_lists_and_calls(tmp_path: Path, mode: Literal["auto", "legacy"]) -> None:
    from mcp import Client, StdioServerParameters

    home, project = tmp_path / "home", tmp_path / "가게"
    project.mkdir()
    program, *arguments = command()
    server = StdioServerParameters(command=program, args=arguments, env=environment(home, project), cwd=project)

    async def talk() -> tuple[list[str], list[Any], str]:
        async with Client(server, mode=mode, read_timeout_seconds=30) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            answers = [
                await client.call_tool("mem-remember", {"text": "배포는 항상 화요일 오전에 한다"}),
                await client.call_tool("mem-search", {"query": "배포는 언제?"}),
                await client.call_tool("mem-details", {"ids": ["zzzzzz"]}),
                await client.call_tool("mem-search", {}),
            ]
            return tools, answers, client.instructions or ""

    with Daemon(ROOT, home):
        tools, answers, instructions = asyncio.run(talk())
    assert tools == ["mem-search", "mem-timeline", "mem-details", "mem-stats", "mem-remember"]
    assert "mem-search" in instructions
    texts = [answer.content[0].text for answer in answers]
    assert "화요일" in texts[1] and texts[2].startswith("Not known") and texts[3].startswith("Error: query is missing")
    assert [bool(answer.is_error) for answer in answers] == [False, False, False, True]
    assert all(answer.structured_content is None for answer in answers)
