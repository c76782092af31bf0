"""LanguageModel over the official Anthropic SDK.

The Messages API, or a compatible service at another address.
"""

from __future__ import annotations

from typing import Any

from memlayer.adapters.llm import model_call
from memlayer.edge.bootstrap.extras import EXTRAS
from memlayer.ports import Completion

BASE_URL = "https://api.anthropic.com"
REQUIREMENT = EXTRAS["anthropic"]
NAME = "anthropic"


class AnthropicModel:
    """base_url "": Anthropic's own. key_variable: the environment variable that holds the key."""

    def __init__(self, model: str, *, base_url: str, key_variable: str) -> None:
        self._model, self._base_url, self._key_variable = model, base_url, key_variable
        self._is_plain = False  # the server has refused the parameters that only some models know

    def check(self) -> None:
        """See CheckedModel."""
        model_call.check_package(NAME, REQUIREMENT)
        self._key()

    def _key(self) -> str:
        return model_call.key_from(self._key_variable, is_needed=not self._base_url)

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """Complete a prompt: see LanguageModel.

        This API has no temperature; models that think are asked to think little.
        """
        self.check()
        key = self._key()
        import anthropic  # takes a second and some 50 MB: not before it is needed

        async def call() -> Completion:
            # Address and key are given: the SDK would otherwise look for them in variables and files of its own.
            async with anthropic.AsyncAnthropic(
                api_key=key,
                base_url=self._base_url or BASE_URL,
                timeout=deadline_s,
                max_retries=0,
                http_client=anthropic.DefaultAsyncHttpxClient(
                    follow_redirects=False
                ),  # a turn goes to the address that was named
            ) as client:
                request: dict[str, Any] = {
                    "model": self._model,
                    "max_tokens": max_tokens,
                    "system": system,
                    "messages": [{"role": "user", "content": prompt}],
                }
                more: dict[str, Any] = {} if self._is_plain else {"output_config": {"effort": "low"}}
                try:
                    answer = await client.messages.create(**request, **more)
                except anthropic.APIStatusError as bad:
                    if not more or bad.status_code not in model_call.REFUSED:
                        raise
                    answer = await client.messages.create(**request)
                    self._is_plain = True
            usage = answer.usage
            read = model_call.tokens_of(
                usage.input_tokens, usage.cache_creation_input_tokens, usage.cache_read_input_tokens
            )
            text = "".join(str(block.text) for block in answer.content if block.type == "text")
            return Completion(text, read, model_call.tokens_of(usage.output_tokens))

        try:
            return model_call.run(call, deadline_s, NAME)
        except (anthropic.AnthropicError, AttributeError, TypeError, ValueError) as bad:
            raise model_call.redacted_error(
                bad, NAME, has_key=bool(self._key_variable)
            ) from bad  # the last three: an answer in another shape
