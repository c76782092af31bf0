"""The body of a server's answer: unpacked here, and read up to a limit.

httpx and its like unpack whatever comes, a thousand bytes from one, and a server may never end.
"""

from __future__ import annotations

import functools
import sys
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

from memlayer.errors import ChatError

ACCEPTED = "gzip"
MOST_BYTES = 32 << 20  # of the longest answer as events. Requests may ask for less
MOST_BYTES_KEY = "memlayer_most_bytes"  # in the extensions of a request
_PIECE_BYTES = 1 << 16


class EndlessAnswer(ChatError):
    """An answer of more bytes than any answer has."""


def bound(response: Any) -> None:
    """Let a response be read up to its limit. Raises EndlessAnswer there; ValueError for another encoding."""
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", ACCEPTED):
        raise ValueError("an encoding that was not asked for")
    response.headers.pop("content-length", None)
    most = response.request.extensions.get(MOST_BYTES_KEY, MOST_BYTES)
    response.stream = _stream_class(type(response).__module__.partition(".")[0])(response.stream, encoding, most)


async def bound_later(response: Any) -> None:
    """As bound; a hook of an asynchronous client."""
    bound(response)


@functools.cache
def _stream_class(package: str) -> Any:
    """Return the class of bounded streams for a package, which checks for its own."""
    http = sys.modules[package]

    class Bounded(http.AsyncByteStream, http.SyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, inner: Any, encoding: str, most_bytes: int) -> None:
            self._inner, self._left, self._most = inner, most_bytes, most_bytes
            self._unzip = zlib.decompressobj(31) if encoding == ACCEPTED else None

        @property
        def elapsed(self) -> Any:
            return self._inner.elapsed

        def __iter__(self) -> Iterator[bytes]:
            for raw in self._inner:
                yield from self._pieces(raw)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for raw in self._inner:
                for piece in self._pieces(raw):
                    yield piece

        def _pieces(self, raw: bytes) -> Iterator[bytes]:
            while raw:
                piece, rest = raw, b""
                if self._unzip is not None:
                    try:
                        piece, rest = self._unzip.decompress(raw, _PIECE_BYTES), self._unzip.unconsumed_tail
                    except zlib.error as bad:
                        raise ValueError("no " + ACCEPTED) from bad
                self._left -= len(piece) or len(raw)
                if self._left < 0:
                    raise EndlessAnswer(f"over {self._most >> 10:,} kB")
                if piece:
                    yield piece
                raw = rest

        def close(self) -> None:
            self._inner.close()

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded
