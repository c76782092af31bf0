"""Embeddings over the google-genai SDK: Gemini, or its interface elsewhere."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

from memlayer.adapters.embedding import lazy_import
from memlayer.adapters.embedding.service import KEEP_ALIVE_S, Answered, Place, ServiceError, check_requirements, failure
from memlayer.adapters.llm.model_call import tokens_of
from memlayer.edge.bootstrap.extras import EXTRAS

BASE_URL = "https://generativelanguage.googleapis.com"
REQUIREMENT = EXTRAS["gemini"]
PACKAGE = "google.genai"
NAME = "gemini"
MAX_TEXTS = 100  # of one request, by the provider's limit
_TASKS = {True: "RETRIEVAL_QUERY", False: "RETRIEVAL_DOCUMENT"}


class GeminiEmbeddings(Place):
    """The method `batchEmbedContents`."""

    name = NAME
    own_url = BASE_URL

    def prepare(self) -> None:
        """Load the SDK, in a second and 40 MB. Raises EmbedderError."""
        if self._client is not None:
            return
        key = check_requirements(PACKAGE, REQUIREMENT, self._key_variable, needs_key=self.is_own_address)
        with lazy_import.ONE_AT_A_TIME:
            import httpx2
            from google import genai
            from google.genai import types
        # Address, key and interface are given: the SDK would otherwise look for them in variables of its own.
        self._client = genai.Client(
            vertexai=False,
            api_key=key,
            http_options=types.HttpOptions(
                base_url=self._base_url,
                retry_options=types.HttpRetryOptions(attempts=1),
                async_client_args={
                    "limits": httpx2.Limits(keepalive_expiry=KEEP_ALIVE_S),
                    "follow_redirects": False,  # texts go to the address that was named
                },
            ),
        ).aio

    async def close(self) -> None:
        """See Service."""
        if self._client is not None:
            await self._client.aclose()

    async def embed(self, texts: Sequence[str], *, is_query: bool) -> Answered:
        """See Service."""
        import httpx2
        from google.genai import errors, types

        config = types.EmbedContentConfig(task_type=_TASKS[is_query], output_dimensionality=self.dimensions or None)
        contents = [types.Content(parts=[types.Part(text=text)]) for text in texts]
        try:
            answer = await self._client.models.embed_content(model=self.model, contents=contents, config=config)
            use = getattr(answer.usage_metadata, "prompt_token_count", 0)
            return Answered([one.values for one in answer.embeddings], tokens_of(use))
        except errors.APIError as bad:
            raise _failure(bad) from bad
        except httpx2.TransportError as bad:
            raise ServiceError("%s: nobody answers at %s" % (NAME, self.host)) from bad
        except (AttributeError, TypeError, ValueError) as bad:  # an answer in another shape
            raise failure(bad, NAME, None) from bad


def _failure(bad: Any) -> ServiceError:
    """Return the error; it says in its details when to ask again."""
    found = failure(bad, NAME, bad.code, getattr(bad.response, "headers", None))
    with contextlib.suppress(AttributeError, KeyError, TypeError, ValueError):
        for detail in bad.details["error"]["details"]:
            if str(detail.get("@type", "")).endswith("RetryInfo"):
                found.retry_after_s = float(str(detail["retryDelay"]).removesuffix("s"))
    return found
