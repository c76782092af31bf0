"""The MCP server's protocol: handshake, schemas, malformed lines, end of input; no daemon needed."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge import mcp
from memlayer.edge.ipc import protocol
from memlayer.edge.mcp import MAX_LINE_BYTES, PROTOCOLS
from tests.support.mcp_client import McpServer
from tests.support.scripted_daemon import ScriptedDaemon


@pytest.fixture
def server(home: Path, project: Path) -> Iterator[McpServer]:
    home.mkdir(parents=True)
    with McpServer(home, project, MEMLAYER_RUNTIME_DIR=str(home / "none")) as running:
        yield running


def test_schemas_are_small() -> None:
    listed = list(mcp.TOOLS)
    assert len(json.dumps(listed)) <= 3_000
    assert len(mcp.INSTRUCTIONS) <= 600
    assert [tool["name"] for tool in listed if tool.get("_meta")] == ["mem-search"]
    assert not any("forget" in name or "delete" in name for name in mcp.BY_NAME)


def test_handshake_and_list(server: McpServer) -> None:
    assert server.ask("server/discover")["error"]["code"] == -32601
    result = server.ask("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}})["result"]
    assert result["protocolVersion"] == "2025-06-18"
    assert result["capabilities"] == {"tools": {"listChanged": False}}
    assert "mem-search" in result["instructions"]
    server.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
    assert server.ask("ping")["result"] == {}
    assert [tool["name"] for tool in server.ask("tools/list")["result"]["tools"]] == list(mcp.BY_NAME)
    assert server.ask("resources/list")["error"]["code"] == -32601
    assert server.close() == 0


def test_unknown_protocol_gets_newest(server: McpServer) -> None:
    assert server.ask("initialize", {"protocolVersion": "2031-01-01"})["result"]["protocolVersion"] == PROTOCOLS[-1]


def test_missing_runtime_is_an_error_text(server: McpServer) -> None:
    assert "memlayer setup" in server.call("mem-search", query="배포")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "query is missing"),
        ({"query": ""}, "query is missing"),
        ({"query": 7}, "query: a string is expected"),
        ({"query": "x", "limit": "many"}, "limit: a number is expected"),
        ({"query": "x", "limit": True}, "limit: a number is expected"),
        ({"query": "x", "kind": "메모"}, "kind: one of turn, settled, day, note, task is expected"),
        ([1], "arguments: an object is expected"),
    ],
)
def test_bad_arguments_are_named(arguments: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        mcp.checked(mcp.BY_NAME["mem-search"], arguments)


def test_arguments_of_models_are_taken() -> None:
    checked = mcp.checked
    assert checked(mcp.BY_NAME["mem-details"], {"ids": "a7Bc3x, b8Cd4y"}) == {"ids": ["a7Bc3x", "b8Cd4y"]}
    assert checked(mcp.BY_NAME["mem-search"], {"query": "배포", "limit": "99", "other": 1}) == {
        "query": "배포",
        "limit": 20,
    }
    with pytest.raises(ValueError, match="at most 20"):
        checked(mcp.BY_NAME["mem-details"], {"ids": ["x"] * 21})


def test_unknown_tool_is_an_error_text(server: McpServer) -> None:
    assert "there is no tool 'mem-forget'" in server.call("mem-forget", ids=["a"])
    assert "there is no tool" in server.ask("tools/call", {"name": ["x"]})["result"]["content"][0]["text"]


def test_unexpected_error_is_answered_and_logged(server: McpServer, home: Path) -> None:
    """A reply so deeply nested that it cannot be parsed: no error that memlayer raises on purpose."""
    too_deep = [(protocol.REPLY, b"[" * 200_000)]
    with ScriptedDaemon(home, {"mem.search": too_deep, "mem.stats": {"text": "3 turns"}}):
        for _ in range(6):  # more than may run at a time: each gives its place back
            text = server.call("mem-search", query="배포 secret words")
            assert text == "Error: mem-search failed inside memlayer (RecursionError); see %s" % (home / "logs/mcp.log")
        assert server.call("mem-stats") == "3 turns"
    log = home / "logs" / "mcp.log"
    entries = [json.loads(line) for line in log.read_text("utf-8").splitlines()]
    assert [(one["tool"], one["error"]) for one in entries] == [("mem-search", "RecursionError")] * 6
    assert entries[0]["at"] and "배포" not in log.read_text("utf-8")
    assert log.stat().st_mode & 0o777 == 0o600


def test_unexpected_error_without_log_is_answered(server: McpServer, home: Path) -> None:
    (home / "logs").write_text("a file where the folder should be")
    with ScriptedDaemon(home, {"mem.search": [(protocol.REPLY, b"[" * 200_000)]}):
        assert server.call("mem-search", query="배포").startswith("Error: mem-search failed inside memlayer")


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"name": "mem-search", "arguments": "배포"}, "arguments: an object is expected"),
        ({"name": "mem-search", "arguments": [{}]}, "arguments: an object is expected"),
        ({"name": "mem-search", "arguments": {"query": {"text": "x"}}}, "query: a string is expected"),
        ({"name": "mem-details", "arguments": {"ids": {"a": 1}}}, "ids: a list of ids is expected"),
        ({"arguments": {"query": "x"}}, "there is no tool None"),
        ({"name": {"a": "배포"}}, "there is no tool"),
        (None, "there is no tool None"),
    ],
)
def test_bad_shape_of_call_is_an_error_text(server: McpServer, params: Any, says: str) -> None:
    result = server.ask("tools/call", params)["result"]
    assert result["isError"] and result["content"][0]["text"].startswith("Error: ")
    assert says in result["content"][0]["text"]


@pytest.mark.parametrize("params", [[], ["mem-search"], "mem-search", 7, True, ""])
def test_params_that_are_no_object_are_refused(server: McpServer, params: Any) -> None:
    assert server.ask("tools/call", params)["error"]["code"] == -32602


def test_deep_name_is_answered(server: McpServer) -> None:
    for depth in (100, 900, 990, 5_000):
        deep = b"[" * depth + b"]" * depth
        server.send(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%s}}' % (depth, deep))
        answer = server.answer()
        assert answer.get("error", {}).get("code") == -32700 or answer["result"]["isError"], answer


def test_id_that_json_cannot_hold_is_refused(server: McpServer) -> None:
    for number in (b"1e999", b"NaN", b"true", b"null", b"[1]"):
        server.send(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % number)
        assert server.answer() == {
            "jsonrpc": "2.0",
            "id": None,
            "error": {"code": -32600, "message": "the id must be a string or a number"},
        }


def test_disabled_server_offers_nothing(home: Path, project: Path) -> None:
    home.mkdir(parents=True)
    with McpServer(home, project, MEMLAYER_DISABLE="1") as server:
        assert "instructions" not in server.ask("initialize", {})["result"]
        assert server.ask("tools/list")["result"]["tools"] == []
        assert "there is no tool" in server.call("mem-search", query="x")


def test_malformed_lines_break_nothing(server: McpServer) -> None:
    chance = random.Random(17)
    whole = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": ["배포", None, 1.5]}}).encode()
    for number in range(1_000):
        line = bytearray(whole)
        for _ in range(chance.randint(1, 6)):
            line[chance.randrange(len(line))] = chance.choice(b'{}[]",:0\\\xff\x00n ')
        line = line.replace(b"\n", b" ")[: chance.randint(1, len(line))]
        server.send(bytes(line))
        if number % 100 == 99:  # each line has at most one answer, so that the pipe stays short
            marker = "marker-%d" % number
            server.send(json.dumps({"jsonrpc": "2.0", "id": marker, "method": "ping"}).encode())
            while server.answer().get("id") != marker:
                pass
    for line in (b"[" * 200_000, b'{"id":1e999,"method":"ping"}', b"x" * (MAX_LINE_BYTES + 9), b"[]", b"\xed\xa0\x80"):
        server.send(line)
    assert server.answer()["error"]["code"] == -32700
    server.send(json.dumps({"jsonrpc": "2.0", "id": "last", "method": "ping"}).encode())
    while server.answer().get("id") != "last":
        pass
    assert server.close() == 0


def test_wrong_use_is_told(home: Path, project: Path) -> None:
    with McpServer(home, project, "--prject", "x") as server:
        assert server.process.wait(10) == 2
        assert server.process.stderr is not None and b"Usage: memlayer mcp" in server.process.stderr.read()
