"""Embeddings over the OpenAI SDK, also for Ollama, LM Studio and vLLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from memlayer.adapters.embedding import lazy_import
from memlayer.adapters.embedding.service import KEEP_ALIVE_S, Answered, Place, ServiceError, check_requirements, failure
from memlayer.adapters.llm.model_call import tokens_of
from memlayer.adapters.llm.openai_model import BASE_URL, NAME, REQUIREMENT


class OpenAIEmbeddings(Place):
    """The endpoint `/embeddings`."""

    name = NAME
    own_url = BASE_URL

    def prepare(self) -> None:
        """Load the SDK, in a second and 40 MB. Raises EmbedderError."""
        if self._client is not None:
            return
        key = check_requirements(NAME, REQUIREMENT, self._key_variable, needs_key=self.is_own_address)
        with lazy_import.ONE_AT_A_TIME:
            import httpx2
            import openai
        # Address and key are given: the SDK would otherwise look for them in variables of its own.
        self._client = openai.AsyncOpenAI(
            api_key=key,
            base_url=self._base_url,
            max_retries=0,
            http_client=openai.DefaultAsyncHttpxClient(
                limits=httpx2.Limits(keepalive_expiry=KEEP_ALIVE_S),
                follow_redirects=False,  # texts go to the address that was named
            ),
        )

    async def close(self) -> None:
        """See Service."""
        if self._client is not None:
            await self._client.close()

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """See Service; these models know no difference between query and passage."""
        import openai

        more: dict[str, Any] = {"dimensions": self.dimensions} if self.dimensions else {}
        if not self.is_own_address:
            more["encoding_format"] = "float"  # compatible servers know no other
        try:
            answer = await self._client.embeddings.create(model=self.model, input=list(texts), **more)
            vectors = [row.embedding for row in sorted(answer.data, key=lambda row: row.index)]
            return Answered(vectors, tokens_of(getattr(answer.usage, "prompt_tokens", 0)))
        except openai.APIStatusError as bad:
            raise failure(bad, NAME, bad.status_code, bad.response.headers) from bad
        except openai.APIConnectionError as bad:
            raise ServiceError("%s: nobody answers at %s" % (NAME, self.host)) from bad
        except (openai.OpenAIError, AttributeError, TypeError, ValueError) as bad:
            # All but the first: an answer in another shape.
            raise failure(bad, NAME, None) from bad
