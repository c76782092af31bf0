"""The MCP server's protocol: handshake, schemas, malformed lines, end of input; no daemon needed."""

import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memlayer.edge import mcp
from memlayer.edge.ipc import protocol
from memlayer.edge.mcp import MAX_LINE_BYTES, PROTOCOLS
from tests.support.mcp_client import McpServer
from tests.support.scripted_daemon import ScriptedDaemon
from tests.support.tables import tables

TABLES = tables("edge/mcp_server")


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


@pytest.mark.parametrize(("arguments", "says"), TABLES["bad_arguments_are_named"])
def test_bad_arguments_are_named(arguments: Any, says: str) -> None:
    with pytest.raises(ValueError, match="^" + re.escape(says)) as bad:
        mcp.checked("mem-search", arguments)
    assert "\n" not in str(bad.value) and len(str(bad.value)) < 200


UNSET = [
    None,
    "",
    " \t",
    "null",
    "None",
    "UNDEFINED",
    "nil",
    '""',
    "''",
    "[]",
    "{}",
    "없음",
    [],
    {},
    [""],
    [None],
    {"id": ""},
]


@pytest.mark.parametrize("unset", UNSET, ids=repr)
def test_what_means_nothing_is_unset(unset: Any) -> None:
    for tool, needed in (("mem-search", {"query": "배포 요일"}), ("mem-remember", {"text": "배포는 화요일이다"})):
        others = {name: unset for name in mcp.BY_NAME[tool]["inputSchema"]["properties"] if name not in needed}
        assert mcp.checked(tool, {**others, **needed}) == needed
    for tool in ("mem-timeline", "mem-details"):
        asked = {"ids": ["a7Bc3x"], "window": unset, "from": unset}
        assert mcp.checked(tool, asked) == {"ids": ["a7Bc3x"]}
        with pytest.raises(ValueError, match="ids is missing: a list of ids"):
            mcp.checked(tool, {"ids": unset})
    assert mcp.checked("mem-search", {"query": unset, "error": "KeyError: 'x'"}) == {"error": "KeyError: 'x'"}


@pytest.mark.parametrize("word", ["null", "undefined", "None"])
def test_a_query_for_such_a_word_stays(word: str) -> None:
    """Whoever asks for nothing else means the word."""
    assert mcp.checked("mem-search", {"query": word, "kind": "note"}) == {"query": word, "kind": "note"}


@pytest.mark.parametrize(("tool", "given", "taken"), TABLES["arguments_of_one_meaning_are_taken"])
def test_arguments_of_one_meaning_are_taken(tool: str, given: Any, taken: Any) -> None:
    assert mcp.checked(tool, given) == taken


def test_ids_are_bounded() -> None:
    with pytest.raises(ValueError, match="ids: at most 20"):
        mcp.checked("mem-details", {"ids": ["x"] * 21})


@pytest.mark.parametrize("depth", [900, 100_000])
def test_deep_arguments_are_refused(depth: int) -> None:
    deep: Any = ["a", "b"]
    for _ in range(depth):
        deep = ["배포", deep]
    for name in ("query", "limit", "file"):
        with pytest.raises(ValueError, match="^%s: " % name):
            mcp.checked("mem-search", {"query": "x", name: deep})


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


@pytest.mark.parametrize(("params", "says"), TABLES["bad_shape_of_call_is_an_error_text"])
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


CALL = '"method": "tools/call", "params": {"name": "mem-search", "arguments": {"id": 9, "query": "%s"}}'


@pytest.mark.parametrize(
    ("line", "number"),
    [
        ('{"jsonrpc": "2.0", "id": 7, %s}' % CALL, 7),
        ('{%s, "jsonrpc": "2.0", "id": 7}' % CALL, 7),  # as the SDK of TypeScript writes it
        ('{"id":"요청-1","jsonrpc":"2.0",%s}' % CALL, "요청-1"),
        ('  {%s,"id":"b-2"}  ' % CALL, "b-2"),
        ('{"id": -3, %s}' % CALL, -3),
        ("{%s}" % CALL, None),
        ('{"id": [7], %s}' % CALL, None),
        ('{"method": "%s id: 5"}', None),
    ],
)
def test_line_that_is_too_long_is_answered_by_its_id(server: McpServer, line: str, number: object) -> None:
    for words in ("결제 " * 400_000, "x" * MAX_LINE_BYTES, '{\\"id\\": 4} ' * 90_000):
        server.send((line % words).encode())
        answer = server.answer()
        assert answer["id"] == number and "longer than 1048576 bytes" in answer["error"]["message"]
    assert server.ask("ping")["result"] == {}
    assert server.close() == 0


def test_wrong_use_is_told(home: Path, project: Path) -> None:
    with McpServer(home, project, "--prject", "x") as server:
        assert server.process.wait(10) == 2
        assert server.process.stderr is not None and b"Usage: memlayer mcp" in server.process.stderr.read()
