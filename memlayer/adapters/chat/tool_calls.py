"""A model's tool calls, from the arguments that a server gives."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from memlayer.chat import ToolCall


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


def read_arguments(said: object) -> tuple[dict[str, object], str]:
    """Return (arguments, "") or ({}, the problem).

    said: JSON text, or an object, as some servers give it. Nothing at all is no argument.
    """
    if isinstance(said, Mapping):
        return {str(name): value for name, value in said.items()}, ""
    if said is None or (isinstance(said, str) and not said.strip()):
        return {}, ""
    try:
        found = json.loads(said) if isinstance(said, str) else said
    except (ValueError, RecursionError) as bad:
        where = f" at character {bad.pos}" if isinstance(bad, json.JSONDecodeError) else ""
        return {}, f"the arguments are not valid JSON{where}"
    if not isinstance(found, dict):
        return {}, "the arguments are not a JSON object"
    return found, ""


def arguments_text(said: object) -> str:
    """Return arguments as JSON text: many servers give text, some an object."""
    if isinstance(said, str):
        return said
    return "" if said is None else json.dumps(said, ensure_ascii=False)


def given_arguments(call: ToolCall) -> str:
    """Return a call's arguments as the JSON text that is given back."""
    return json.dumps(dict(call.arguments), ensure_ascii=False)
