"""A model's tool calls, and whether a server takes tools.

llama.cpp and Ollama can tell. Llama.cpp drops tools silently where the model's template has none. Any other server is
tried once, and the finding is kept: it may cost a completion, which each start of a talk would pay for.
"""

import contextlib
import json
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from memlayer.chat import ToolCall
from memlayer.edge.home import paths
from memlayer.providers.endpoint import ACCEPTED, BodyRefused, bound, direct
from memlayer.providers.failures import refuses_tools

JsonObject = dict[str, Any]
TELL_S = 3.0
TRY_S = 30.0  # a model may have to be loaded first
TRY_TOKENS = 200  # of the trial, in and out, at most
KEPT_S = 7 * 86_400  # a server may be started with another template or another version
MAX_FINDINGS = 100
_NO_TOOL = {
    "type": "function",
    "function": {"name": "noop", "description": "Does nothing.", "parameters": {"type": "object", "properties": {}}},
}


@dataclass
class CallPart:
    """A tool call as it comes; the text of its arguments grows."""

    id: str = ""
    name: str = ""
    arguments: str = ""


def tool_call(part: CallPart, number: int) -> ToolCall:
    """Return a call with its arguments read.

    number: its place in the answer, for a server that gives no id. Arguments that are no JSON object are a problem of
    the call, not an error: the model is told, and may correct itself.
    """
    arguments, problem = read_arguments(part.arguments)
    if not part.name:
        problem = "the call names no tool"
    return ToolCall(part.id or f"call_{number}", part.name, arguments, problem)


def read_arguments(arguments: object) -> tuple[dict[str, object], str]:
    """Return (arguments, "") or ({}, the problem).

    arguments: JSON text, or an object, as some servers give it. Nothing at all is no argument.
    """
    if isinstance(arguments, Mapping):
        return {str(name): value for name, value in arguments.items()}, ""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return {}, ""
    try:
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError) as bad:
        where = f" at character {bad.pos}" if isinstance(bad, json.JSONDecodeError) else ""
        return {}, f"the arguments are not valid JSON{where}"
    if not isinstance(parsed, dict):
        return {}, "the arguments are not a JSON object"
    return parsed, ""


def arguments_text(arguments: object) -> str:
    """Return arguments as JSON text: many servers give text, some an object."""
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False)


class ToolFindings:
    """The file of findings.

    path "": nothing is kept. clock: Unix time, seconds. A file that cannot be read or written costs a question and no
    more.
    """

    def __init__(self, path: str = "", clock: Callable[[], float] = time.time) -> None:
        self._path, self._clock = path, clock

    def get(self, url: str, model: str) -> bool | None:
        """Return a finding, None for none that is recent."""
        entry = paths.read_object(self._path).get(_key(url, model))
        if not isinstance(entry, dict):
            return None
        at_s = entry.get("at_s")
        if not isinstance(at_s, int | float) or not 0 <= self._clock() - at_s < KEPT_S:
            return None
        takes = entry.get("takes_tools")
        return takes if isinstance(takes, bool) else None

    def put(self, url: str, model: str, takes_tools: bool | None) -> None:
        """Keep a finding; None forgets it."""
        if not self._path:
            return
        findings = paths.read_object(self._path)
        if findings.pop(_key(url, model), None) is None and takes_tools is None:
            return
        if takes_tools is not None:
            findings[_key(url, model)] = {"takes_tools": takes_tools, "at_s": int(self._clock())}
        newest = dict(list(findings.items())[-MAX_FINDINGS:])
        with contextlib.suppress(OSError):
            paths.make_folder(os.path.dirname(self._path))
            paths.write_whole(self._path, json.dumps(newest, ensure_ascii=False).encode())


def _key(url: str, model: str) -> str:
    return "%s %s" % (url.rstrip("/"), model)


def asks_for_tools(base_url: str, model: str, key: str) -> bool | None:
    """Return whether requests may carry tools. None: not said.

    key "": none is sent. Loads the SDK's HTTP client. Sends the model's name and, in the trial, two words.
    """
    import httpx2

    headers = {"accept-encoding": ACCEPTED, **({"authorization": "Bearer " + key} if key else {})}
    root = base_url.rstrip("/").removesuffix("/v1")
    try:
        with httpx2.Client(
            headers=headers, timeout=TELL_S, event_hooks={"response": [bound]}, **direct(base_url)
        ) as client:
            told = _of_llama_cpp(_json(client.get(root + "/props")))
            if told is None:
                told = _of_ollama(_json(client.post(root + "/api/show", json={"model": model})))
            if told is not None:
                return told
            body = {"model": model, "messages": [{"role": "user", "content": "Say ok."}], "tools": [_NO_TOOL]}
            answer = client.post(
                base_url.rstrip("/") + "/chat/completions", json={**body, "max_tokens": 16}, timeout=TRY_S
            )
    except (
        BodyRefused,
        httpx2.HTTPError,
        httpx2.InvalidURL,
        ImportError,
        OSError,
        ValueError,
    ):  # the last three: variables
        return None
    if answer.status_code == 200:
        return True
    return False if refuses_tools(answer.status_code, answer.text.lower()) else None


def _json(answer: Any) -> JsonObject:
    """Return the object that a server gave, {} for anything else."""
    try:
        data = answer.json() if answer.status_code == 200 else {}
    except (ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _of_llama_cpp(props: JsonObject) -> bool | None:
    """Read `/props`: abilities of the model's template."""
    abilities = props.get("chat_template_caps")
    if not isinstance(abilities, dict):
        return None
    supports_tools = abilities.get("supports_tools", abilities.get("supports_tool_calls"))
    return supports_tools if isinstance(supports_tools, bool) else None


def _of_ollama(shown: JsonObject) -> bool | None:
    """Read `/api/show`: abilities of the model."""
    abilities = shown.get("capabilities")
    return "tools" in abilities if isinstance(abilities, list) else None
