"""The MCP server that `memlayer mcp` runs: JSON-RPC over standard streams.

It holds no memory and no store: a tool call becomes one request to the daemon, whose answer is text already. It needs
the standard library alone, so that a client has it within its first turn.
"""

from __future__ import annotations

import json
import math
import os
import re
import select
import sys
import threading
import time

from memlayer import __version__
from memlayer.edge.bootstrap.program import ENDS, LOOK_S, Program
from memlayer.edge.home.agents import IN_SHELLS, OTHERS, mark_in, session_folder
from memlayer.edge.home.project_env import is_disabled

TYPE_CHECKING = False  # type checkers look for it, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

SERVER_NAME = "memlayer"
INSTRUCTIONS = (
    "memlayer remembers earlier sessions of this project. Call mem-search before you answer from guesswork whenever a "
    "matter may have a past: why something is as it is, a decision, a bug seen before, a name you do not know, "
    '"again", "last time", 지난번, 이전에. Open a hit with mem-details, and look around it with mem-timeline. Cite as '
    "[mem:id]. Call mem-remember when something is settled, an attempt failed for good, or a fact lies outside the "
    "repository; not for what was built or what code and history show. Memories are evidence and may be outdated."
)
MAX_QUERY_CHARS = 2_000
MAX_IDS = 20
SEARCHED_BY = ("query", "file", "error")  # of mem-search. Any will do
SEARCHED_BY_WORDS = ("query", "error")
# Sent by clients and models for an option that they leave out; written in any case, and between quotes or brackets.
UNSET = frozenset(("", "null", "none", "undefined", "nil", "nan", "n/a", "없음"))
_AROUND = " \t\r\n\"'`<>()[]{}.,:*_-"

NOTE_KINDS = ("decision", "preference", "fact", "cause", "attempt", "commitment")  # of kinds.NOTED
_IDS = {"type": "array", "items": {"type": "string"}, "description": "Ids, as in [mem:id]"}

# Oldest first. A client that asks for another gets the newest.
PROTOCOLS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MAX_LINE_BYTES = 1 << 20
MAX_CALLS = 4  # at a time. The next one waits for its turn
DAEMON_WAIT_S = 5.0  # for a daemon that has to be started
ANSWER_S = 5.0
_END_BYTES = 2_000  # of a line that is too long: its id stands there
_ID = rb'"id"\s*:\s*("[^"\\]{1,200}"|-?\d{1,18})(?=\s*[,}])'
PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS = -32700, -32600, -32601, -32602


def _tool(
    name: str, description: str, properties: dict[str, Any], needs: str = "", *, writes: bool = False
) -> dict[str, Any]:
    """Return a tool's entry in tools/list; its operation is `mem.<verb>`."""
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if needs:
        schema["required"] = [needs]
    annotations = {"destructiveHint": True} if writes else {"readOnlyHint": True}
    return {"name": name, "description": description, "inputSchema": schema, "annotations": annotations}


TOOLS = (
    _tool(
        "mem-search",
        "Search what was said and decided in earlier sessions of this project. One line a hit: id, day, kind, "
        "sentence. Use the words of the matter, in the user's language; about:NAME keeps to a file, issue or person.",
        {
            "query": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20, "default": 5},
            "session": {"type": "string", "description": "Only this session's id"},
            "kind": {"type": "string", "enum": ["turn", "settled", "day", "note", "task"]},
            "file": {"type": "string", "description": "Only about this path"},
            "error": {"type": "string", "description": "An error line, for what cured it; needs no query"},
        },
    ),
    _tool(
        "mem-timeline",
        "The turns before and after a memory in its session, a line each.",
        {"ids": _IDS, "window": {"type": "integer", "minimum": 1, "maximum": 10, "default": 3}},
        "ids",
    ),
    _tool(
        "mem-details",
        "The whole text of memories, with versions, sources, files and commands. Open only the ids you need.",
        {
            "ids": _IDS,
            "from": {"type": "integer", "minimum": 0, "description": "Character to go on from, of a single long text"},
        },
        "ids",
    ),
    _tool("mem-stats", "How much is remembered of this project, and since when.", {}),
    _tool(
        "mem-remember",
        "Remember one statement for later sessions: a sentence that stands by itself, with its subject and reason. "
        "Only lasting matters that the user has settled or asked to keep, and attempts that failed.",
        {
            "text": {"type": "string"},
            "kind": {"type": "string", "enum": list(NOTE_KINDS)},
            "headline": {"type": "string", "description": "The whole rule in at most 120 characters"},
            "subject": {"type": "string", "description": "What it belongs to, such as checkout or tests"},
            "quote": {"type": "string", "description": "Words of the user, or of a tool's output, that prove it"},
            "files": {"type": "array", "items": {"type": "string"}, "description": "Paths that it is about"},
            "replaces": {**_IDS, "description": "Ids of memories that it makes untrue; never the user's own"},
        },
        "text",
        writes=True,
    ),
)
# Tools that a host defers go unused. This key has Claude Code load the tool with the first request.
TOOLS[0]["_meta"] = {"anthropic/alwaysLoad": True}
BY_NAME = {tool["name"]: tool for tool in TOOLS}


def checked(name: str, arguments: object) -> dict[str, Any]:
    """Return the arguments that a tool knows. Raises ValueError for the model.

    What means nothing is unset, and what can mean one thing only is taken for that.
    """
    schema, arguments = BY_NAME[name]["inputSchema"], {} if _is_unset(arguments) else _decoded(arguments)
    if not isinstance(arguments, dict):
        raise ValueError("arguments: an object is expected")
    given = {_plain(name): value for name, value in arguments.items() if not _is_unset(value)}
    given.update((name, value) for name, value in arguments.items() if not _is_unset(value))
    known, properties = {}, schema["properties"]
    for field, row in properties.items():
        if (value := given.get(field, given.get(_plain(field)))) is not None:
            known[field] = _value(field, row, value)
    is_search = name == "mem-search" and known.get("kind") != "task"
    if is_search and not any(map(known.get, SEARCHED_BY)):
        word = arguments.get("query")
        if not isinstance(word, str) or not word.strip(_AROUND):
            raise ValueError("query is missing: text, or a file or error, is expected")
        known["query"] = word  # "null": the word is meant
    for field in schema.get("required", ()):
        if not known.get(field):
            raise ValueError("%s is missing: %s is expected" % (field, _takes(field, properties[field])))
    return known


def _is_unset(value: object) -> bool:
    """Return whether a value means nothing."""
    value = _single(value)
    parts = value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else [value]
    return all(
        part is None
        or part is False
        or part != part
        or (isinstance(part, str) and part.strip(_AROUND).casefold() in UNSET)
        for part in parts
    )  # what differs from itself is no number


def _single(value: object) -> object:
    """Return what stands in a list or an object of one element."""
    while isinstance(value, (list, dict)) and (len(value) == 1 or ("id" in value and isinstance(value, dict))):
        value = value[0] if isinstance(value, list) else value.get("id", next(iter(value.values())))
    return value


def _decoded(value: object) -> object:
    """Return a list or an object, sent as JSON in a text."""
    try:
        return json.loads(value) if isinstance(value, str) and value.strip()[:1] in ("[", "{") else value
    except (ValueError, RecursionError):
        return value


def _plain(name: str) -> str:
    """Return a name in small letters and the singular."""
    return name.strip(_AROUND).casefold().rstrip("s")


def _takes(name: str, schema: dict[str, Any]) -> str:
    """Return what an argument takes, in words."""
    if schema["type"] == "array":
        return "a list of paths" if name == "files" else "a list of ids, as in [mem:id],"
    if schema["type"] == "integer":
        return "a number from %d%s" % (schema["minimum"], " to %d" % schema["maximum"] if "maximum" in schema else "")
    return "one of %s" % ", ".join(schema["enum"]) if "enum" in schema else "text"


def _value(name: str, schema: dict[str, Any], value: object) -> object:
    """A value of the schema's type, within its bounds. Raises ValueError."""
    shown = "a list" if isinstance(value, list) else "an object" if isinstance(value, dict) else "%.60r" % (value,)
    bad = ValueError("%s: %s is expected, not %s" % (name, _takes(name, schema), shown))
    if schema["type"] == "array":
        return _listed(name, _decoded(value), bad)
    if isinstance(_single(_decoded(value)), (str, int, float)):
        value = _single(_decoded(value))
    elif name in SEARCHED_BY_WORDS and isinstance(value, list) and all(isinstance(word, str) for word in value):
        value = " ".join(value)
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise bad
    if schema["type"] == "integer":
        try:
            number = float(value)
        except ValueError:
            raise bad from None
        return int(max(schema["minimum"], min(schema.get("maximum", 2**31), number)))
    if "enum" in schema:
        named = [option for option in schema["enum"] if _plain(option) == _plain(str(value))]
        if not named:
            raise bad
        return named[0]
    return str(value)[:MAX_QUERY_CHARS] if name == "query" else str(value)


def _listed(name: str, value: object, bad: ValueError) -> list[str]:
    """Return ids or paths, each as text. Raises ValueError, or `bad`."""
    # Models write a single id as a string, and several with commas. A path in a list may hold blanks.
    is_whole = name == "files" and not isinstance(value, str)
    value = _single(value) if isinstance(value, dict) else value
    found: list[str] = []
    for item in value if isinstance(value, list) else [value]:
        one = _single(item)
        if isinstance(one, bool) or (not isinstance(one, (str, int, float)) and one is not None):
            raise bad
        found += [str(one)] if is_whole else str(one).replace(",", " ").split()
    found = [one for one in found if not _is_unset(one)]
    if len(found) > MAX_IDS:
        raise ValueError("%s: at most %d at once" % (name, MAX_IDS))
    return found


class McpSession:
    """One client's session: requests in, answers out, until the input ends."""

    def __init__(self, root: str, home: str, *, project: str, session: str = "", is_disabled: bool = False) -> None:
        """Keep the folder, project and session of the client.

        root: the plugin's folder. project: folder whose memories are meant, "" for every project's. session: id of the
        host's session. is_disabled: offer no tool.
        """
        self._root = root
        self._home = home
        self._project = project
        self._session = session
        self._is_disabled = is_disabled
        self._writing = threading.Lock()
        self._calls = threading.BoundedSemaphore(MAX_CALLS)
        self._running: list[threading.Thread] = []
        self._program = Program()

    def serve(self, source: int, sink: int) -> None:
        """Answer lines of fd `source` on `sink`, then finish running calls."""
        self._sink = sink
        try:
            for line in lines_of(source, self._program.is_replaced):
                if isinstance(line, LongLine):
                    says = "the line is longer than %d bytes: send less" % MAX_LINE_BYTES
                    self._send(error_of(line.id(), INVALID_REQUEST, says))
                elif line.strip():
                    self._take(line)
        except (BrokenPipeError, KeyboardInterrupt):
            return
        for thread in self._running:
            thread.join(ANSWER_S)
        if self._program.is_changed():
            print(ENDS, file=sys.stderr)

    def _take(self, line: bytes) -> None:
        """Answer a line; tool calls in threads, so that pings pass."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(error_of(None, PARSE_ERROR, "this is no JSON"))
            return
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            if not (
                isinstance(message, dict) and ("result" in message or "error" in message)
            ):  # a client's answer: none was asked for
                self._send(error_of(None, INVALID_REQUEST, "a request object with a method is expected"))
            return
        if "id" not in message:  # a notification
            return
        number, method, params = message["id"], message["method"], message.get("params")
        if not _is_id(number):
            self._send(error_of(None, INVALID_REQUEST, "the id must be a string or a number"))
        elif params is not None and not isinstance(params, dict):
            self._send(error_of(number, INVALID_PARAMS, "params: an object is expected"))
        elif method == "tools/call":
            self._calls.acquire()
            self._running = [thread for thread in self._running if thread.is_alive()]
            thread = threading.Thread(target=self._call, args=(number, params or {}), daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system gives no more threads
                self._call(number, params or {})
            else:
                self._running.append(thread)
        else:
            self._send(self._answer(number, method, params or {}))

    def _answer(self, number: object, method: str, params: dict[str, Any]) -> dict[str, Any]:
        if method == "initialize":
            wanted = params.get("protocolVersion")
            result: dict[str, Any] = {
                "protocolVersion": wanted if wanted in PROTOCOLS else PROTOCOLS[-1],
                "capabilities": {"tools": {"listChanged": False}},
                "serverInfo": {"name": SERVER_NAME, "version": __version__},
            }
            if not self._is_disabled:
                result["instructions"] = INSTRUCTIONS
        elif method == "ping":
            result = {}
        elif method == "tools/list":
            result = {"tools": [] if self._is_disabled else list(TOOLS)}
        else:
            return error_of(number, NO_METHOD, "method not found: %.80s" % method)
        return {"jsonrpc": "2.0", "id": number, "result": result}

    def _call(self, number: object, params: dict[str, Any]) -> None:
        """Send the answer to tools/call: text, whether it succeeds or not."""
        try:
            try:
                text, is_error = self._text(params)
            except Exception as bad:  # an edge: a model without an answer waits for the host's timeout
                text, is_error = self._failed(params.get("name"), bad), True
            result: dict[str, Any] = {"content": [{"type": "text", "text": text}]}
            if is_error:
                result["isError"] = True
            self._send({"jsonrpc": "2.0", "id": number, "result": result})
        except OSError:  # the client has gone
            return
        finally:
            self._calls.release()

    def _text(self, params: dict[str, Any]) -> tuple[str, bool]:
        """(text for the model, whether it tells of an error)."""
        # The client's code is needed by calls alone: a server starts sooner without it.
        from memlayer.edge.ipc.client import Client
        from memlayer.errors import MemlayerError

        name = params.get("name")
        if not isinstance(name, str) or name not in BY_NAME or self._is_disabled:
            return "Error: there is no tool %.60r. There are: %s" % (name, ", ".join(BY_NAME)), True
        try:
            arguments = checked(name, params.get("arguments"))
            request = {**arguments, "project_dir": self._project, "session_id": self._session, "at_ms": _now_ms()}
            client = Client(self._home, self._root, wait_s=DAEMON_WAIT_S)
            answer = client.call(name.replace("-", "."), request, deadline_s=ANSWER_S, project_dir=self._project)
            return str(answer.get("text", "")), False
        except (MemlayerError, ValueError, OSError) as bad:
            return "Error: %s" % " ".join(str(bad).split()), True

    def _failed(self, name: object, bad: Exception) -> str:
        """Log an unexpected error, if the disk takes it; return the answer."""
        if isinstance(bad, ImportError) and self._program.is_changed():
            return "Error: " + ENDS
        from memlayer.edge.home import error_log, paths

        tool = name if isinstance(name, str) and name in BY_NAME else "the tool"
        log = paths.mcp_log(self._home)
        says = "Error: %s failed inside memlayer (%s)" % (tool, type(bad).__name__)
        try:
            error_log.write_traceback(log, tool=tool)
        except OSError:
            return says
        return "%s; see %s" % (says, log)

    def _send(self, message: dict[str, Any]) -> None:
        """Write one line. Raises BrokenPipeError and other OSErrors."""
        data = json.dumps(message, ensure_ascii=True, separators=(",", ":")).encode("ascii") + b"\n"
        with self._writing:
            while data:
                data = data[os.write(self._sink, data) :]


def error_of(number: object, code: int, says: str) -> dict[str, Any]:
    """A JSON-RPC error."""
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": says}}


class LongLine(bytes):
    """The two ends of a line that is too long."""

    def id(self) -> object:
        """Return the id beside the request's method; None without one."""
        found = re.match(rb"\s*\{[^{}]*?" + _ID, self) or re.search(_ID + rb"[^{}]*\}\s*$", self)
        return json.loads(found.group(1)) if found else None


def lines_of(source: int, is_over: Callable[[], bool] = lambda: False) -> Iterator[bytes]:
    """Yield each line; of a long one its ends."""
    kept, head = b"", b""
    while True:
        if not select.select([source], [], [], LOOK_S)[0]:
            if is_over():
                return
            continue
        data = os.read(source, 1 << 16)
        if not data:
            if kept or head:
                yield LongLine(head + kept[-_END_BYTES:]) if head else kept
            return
        *whole, kept = (kept + data).split(b"\n")
        for line in whole:
            is_long = head or len(line) > MAX_LINE_BYTES
            yield LongLine((head or line[:_END_BYTES]) + line[-_END_BYTES:]) if is_long else line
            head = b""
        if head or len(kept) > MAX_LINE_BYTES:
            head, kept = head or kept[:_END_BYTES], kept[-_END_BYTES:]


def _is_id(number: object) -> bool:
    """True if a request's id can be sent back as JSON."""
    if isinstance(number, float):
        return math.isfinite(number)
    return isinstance(number, (str, int)) and not isinstance(number, bool)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def main(root: str, home: str, argv: list[str]) -> int:
    """Serve [--project FOLDER | --all-projects]; return an exit code."""
    mark = mark_in(os.environ, IN_SHELLS)
    if mark and argv:  # typed by a model: a host sets none of these for its servers
        print("memlayer: " + OTHERS % mark, file=sys.stderr)
        return 1
    if argv[:1] == ["--project"] and len(argv) == 2:
        project = os.path.abspath(os.path.expanduser(argv[1]))
    elif argv == ["--all-projects"]:
        project = ""
    elif argv:
        print("Usage: memlayer mcp [--project FOLDER | --all-projects]", file=sys.stderr)
        return 2
    else:
        told = "" if mark else os.environ.get("CLAUDE_PROJECT_DIR")
        project = told or session_folder(os.environ, home)
    session = os.environ.get("CLAUDE_CODE_SESSION_ID", "")
    is_off = is_disabled(os.environ.get("MEMLAYER_DISABLE"))
    McpSession(root, home, project=project, session=session, is_disabled=is_off).serve(0, 1)
    return 0
