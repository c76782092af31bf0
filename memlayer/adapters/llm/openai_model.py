"""LanguageModel over the OpenAI SDK, also for llama.cpp and Ollama."""

from __future__ import annotations

from typing import Any

from memlayer.adapters.llm import model_call
from memlayer.edge.bootstrap.extras import EXTRAS
from memlayer.ports import Completion

BASE_URL = "https://api.openai.com/v1"
REQUIREMENT = EXTRAS["openai"]
NAME = "openai"


class OpenAIModel:
    """OpenAI chat completions.

    base_url "": OpenAI's own; key_variable: the variable with the key.
    """

    def __init__(self, model: str, *, base_url: str, key_variable: str, temperature: float) -> None:
        self._model, self._base_url, self._key_variable = model, base_url, key_variable
        self._temperature = temperature
        self._is_plain = False  # the server has refused the parameters that only some models know

    def check(self) -> None:
        """See CheckedModel."""
        model_call.check_package(NAME, REQUIREMENT)
        self._key()

    def _key(self) -> str:
        return model_call.key_from(self._key_variable, is_needed=not self._base_url)

    def complete(self, system: str, prompt: str, *, max_tokens: int, deadline_s: float) -> Completion:
        """See LanguageModel."""
        self.check()
        key = self._key()
        import openai  # takes a second and some 50 MB: not before it is needed

        async def call() -> Completion:
            # Address and key are given: the SDK would otherwise look for them in variables of its own.
            async with openai.AsyncOpenAI(
                api_key=key,
                base_url=self._base_url or BASE_URL,
                timeout=deadline_s,
                max_retries=0,
                http_client=openai.DefaultAsyncHttpxClient(
                    follow_redirects=False
                ),  # a turn goes to the address that was named
            ) as client:
                request: dict[str, Any] = {
                    "model": self._model,
                    "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt}],
                    # Many compatible servers know the old name alone; newer models refuse it.
                    "max_tokens" if self._base_url else "max_completion_tokens": max_tokens,
                }
                more: dict[str, Any] = {"temperature": self._temperature, "response_format": {"type": "json_object"}}
                if self._is_plain:
                    more = {}
                try:
                    answer = await client.chat.completions.create(**request, **more)
                except openai.APIStatusError as bad:
                    if not more or bad.status_code not in model_call.REFUSED:
                        raise
                    answer = await client.chat.completions.create(**request)
                    self._is_plain = True
            text = answer.choices[0].message.content or ""
            usage = answer.usage
            if usage is None:
                return Completion(text, 0, 0)
            return Completion(
                text, model_call.tokens_of(usage.prompt_tokens), model_call.tokens_of(usage.completion_tokens)
            )

        try:
            return model_call.run(call, deadline_s, NAME)
        except (openai.OpenAIError, AttributeError, IndexError, TypeError, ValueError) as bad:
            raise model_call.redacted_error(
                bad, NAME, has_key=bool(self._key_variable)
            ) from bad  # all but the first: an answer in another shape
