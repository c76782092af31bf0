"""Whether a server of the OpenAI interface takes tools.

llama.cpp and Ollama can tell; llama.cpp drops tools silently where the model's template has none. Any other server is
tried once.
"""

from __future__ import annotations

from typing import Any

from memlayer.adapters.chat.failures import refuses_tools

JsonObject = dict[str, Any]
TELL_S = 3.0
TRY_S = 30.0  # a model may have to be loaded first
TRY_TOKENS = 200  # of the trial, in and out, at most
_NO_TOOL = {
    "type": "function",
    "function": {"name": "noop", "description": "Does nothing.", "parameters": {"type": "object", "properties": {}}},
}


def asks_for_tools(base_url: str, model: str, key: str) -> bool | None:
    """Return whether requests may carry tools; None: not said.

    key "": none is sent. Loads the SDK's HTTP client; sends the model's name and, in the trial, two words.
    """
    import httpx2

    headers = {"authorization": "Bearer " + key} if key else {}
    root = base_url.rstrip("/").removesuffix("/v1")
    try:
        with httpx2.Client(headers=headers, timeout=TELL_S) as client:
            told = _of_llama_cpp(_json(client.get(root + "/props")))
            if told is None:
                told = _of_ollama(_json(client.post(root + "/api/show", json={"model": model})))
            if told is not None:
                return told
            body = {"model": model, "messages": [{"role": "user", "content": "Say ok."}], "tools": [_NO_TOOL]}
            answer = client.post(
                base_url.rstrip("/") + "/chat/completions", json={**body, "max_tokens": 16}, timeout=TRY_S
            )
    except (httpx2.HTTPError, httpx2.InvalidURL):
        return None
    if answer.status_code == 200:
        return True
    return False if refuses_tools(answer.status_code, answer.text.lower()) else None


def _json(answer: Any) -> JsonObject:
    """Return the object that a server gave, {} for anything else."""
    try:
        found = answer.json() if answer.status_code == 200 else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _of_llama_cpp(props: JsonObject) -> bool | None:
    """Read `/props`: abilities of the model's template."""
    abilities = props.get("chat_template_caps")
    if not isinstance(abilities, dict):
        return None
    found = abilities.get("supports_tools", abilities.get("supports_tool_calls"))
    return found if isinstance(found, bool) else None


def _of_ollama(shown: JsonObject) -> bool | None:
    """Read `/api/show`: abilities of the model."""
    abilities = shown.get("capabilities")
    return "tools" in abilities if isinstance(abilities, list) else None
