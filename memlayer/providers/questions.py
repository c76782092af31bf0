"""A question and its answer: a JSON object each way."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from memlayer.chat import ChatRequest, WireMessage
from memlayer.errors import ChatError, ConsolidationError
from memlayer.ports import Completion, ModelMissing
from memlayer.providers import anthropic_chat, openai_chat
from memlayer.providers.endpoint import MOST_BYTES_KEY, NO_KEY, Endpoint, NotSent
from memlayer.providers.sdk_chat import CONNECT_S, REFUSED, JsonObject, tokens_of

MOST_ANSWER_BYTES = 4 << 20
MESSAGES_VERSION = "2023-06-01"  # of the Messages API


class StatusError(Exception):
    """An answer with a status of failure."""

    def __init__(self, status_code: int, body: str, headers: Mapping[str, str]) -> None:
        super().__init__(f"HTTP {status_code}")
        self.status_code, self.body, self.headers = status_code, body, headers


def open_client(endpoint: Endpoint, key_header: str = "authorization", **more: Any) -> Any:
    """Return a client that sends the endpoint's key. Raises NotSent."""
    import httpx

    key = endpoint.key()
    sent = f"Bearer {key}" if key_header == "authorization" else key
    headers = {} if key == NO_KEY else {key_header: sent}
    timeout = httpx.Timeout(None, connect=CONNECT_S)
    client = httpx.AsyncClient
    return endpoint.client(client, client, httpx.InvalidURL, headers=headers, timeout=timeout, **more)


async def post(client: Any, url: str, body: JsonObject, most_bytes: int = MOST_ANSWER_BYTES) -> JsonObject:
    """Return the answer.

    Raises StatusError, ValueError for no object, BodyRefused, httpx.HTTPError.
    """
    answer = await client.post(url, json=body, extensions={MOST_BYTES_KEY: most_bytes})
    if answer.status_code >= 300:
        raise StatusError(answer.status_code, answer.text, answer.headers)
    try:
        parsed = answer.json()
    except RecursionError as bad:
        raise ValueError("the answer is nested too deep") from bad
    if not isinstance(parsed, dict):
        raise ValueError("the answer is no JSON object")
    return parsed


@dataclass(frozen=True)
class Shape:
    """An interface for questions.

    extras: parameters that some servers and models refuse. read: raises AttributeError, LookupError,
    TypeError or ValueError for another shape.
    """

    path: str
    body: Callable[[ChatRequest, Endpoint], JsonObject]
    extras: JsonObject
    read: Callable[[JsonObject], Completion]
    headers: Mapping[str, str] = field(default_factory=dict)


class Questions:
    """LanguageModel at an endpoint.

    It goes to the address that was named, by no redirect, with the key that was named. Parameters that only some
    servers know are left out once one was refused.
    """

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint, self._model, self._shape = endpoint, model, SHAPES[endpoint.name]
        self._extras = self._shape.extras  # {} once the server has refused one

    def check(self) -> None:
        """Look for key and way; loads and sends nothing. Raises ModelMissing."""
        try:
            self._endpoint.check()
        except ChatError as bad:
            raise ModelMissing(str(bad)) from bad

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """See LanguageModel."""
        self.check()
        import httpx

        endpoint, texts = self._endpoint, (WireMessage("system", system), WireMessage("user", prompt))
        asked = ChatRequest(self._model, texts, max_tokens=max_tokens)

        async def call() -> Completion:
            async with open_client(endpoint) as client:
                return await self._ask(client, asked)

        failure: ChatError
        try:
            return endpoint.run(call, deadline_s, endpoint.wait(self._model, None, deadline_s, str))
        except ChatError as bad:
            failure = bad
        except (StatusError, httpx.HTTPError, AttributeError, LookupError, TypeError, ValueError) as bad:
            failure = endpoint.failure(bad, asked)
        raise (ModelMissing if isinstance(failure, NotSent) else ConsolidationError)(str(failure)) from failure

    async def _ask(self, client: Any, asked: ChatRequest) -> Completion:
        url, body = self._endpoint.url.rstrip("/") + self._shape.path, self._shape.body(asked, self._endpoint)
        client.headers.update(self._shape.headers)
        try:
            answer = await post(client, url, {**body, **self._extras})
        except StatusError as bad:
            if not self._extras or bad.status_code not in REFUSED:
                raise
            answer = await post(client, url, body)
            self._extras = {}
        if answer.get("error") and not (answer.get("content") or answer.get("choices")):
            raise self._endpoint.refused(answer["error"], asked)
        return self._shape.read(answer)


def _read_message(answer: JsonObject) -> Completion:
    usage = answer.get("usage") or {}
    text = "".join(block["text"] for block in answer["content"] if block["type"] == "text")
    return Completion(text, tokens_of(*map(usage.get, anthropic_chat.READ)), tokens_of(usage.get("output_tokens")))


def _read_completion(answer: JsonObject) -> Completion:
    usage = answer.get("usage") or {}
    text = answer["choices"][0]["message"]["content"] or ""
    return Completion(str(text), tokens_of(usage.get("prompt_tokens")), tokens_of(usage.get("completion_tokens")))


SHAPES = {
    "anthropic": Shape(
        "/v1/messages",
        lambda asked, endpoint: anthropic_chat.request_body(asked),
        {"output_config": {"effort": "low"}},  # a text is read once, and with little thought
        _read_message,
        {"anthropic-version": MESSAGES_VERSION},
    ),
    "openai": Shape(
        "/chat/completions",
        openai_chat.request_body,
        {"temperature": 0.1, "response_format": {"type": "json_object"}},
        _read_completion,
    ),
}
