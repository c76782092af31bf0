"""Bodies of servers' answers: unpacked here, read up to a limit.

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


class BodyRefused(ChatError):
    """A body that is not read on, and why."""


def bound(response: Any) -> None:
    """Bound the reading of a response; a hook of a client.

    Raises BodyRefused for another encoding, as reading it does at the limit.
    """
    encoding = response.headers.pop("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", ACCEPTED):
        raise BodyRefused("is packed as nobody asked for")
    response.headers.pop("content-length", None)
    most = response.request.extensions.get(MOST_BYTES_KEY, MOST_BYTES)
    response.stream = _stream_class(type(response).__module__.partition(".")[0])(
        response.stream, _Meter(encoding, most)
    )


async def bound_later(response: Any) -> None:
    """As bound, for an asynchronous client."""
    bound(response)


class _Meter:
    """Unpacks pieces of a body, and counts them."""

    def __init__(self, encoding: str, most_bytes: int) -> None:
        self._left, self._most = most_bytes, most_bytes
        self._unzip = zlib.decompressobj(31) if encoding == ACCEPTED else None

    def pieces(self, raw: bytes) -> Iterator[bytes]:
        while raw:
            piece, rest = raw, b""
            if self._unzip is not None:
                try:
                    piece, rest = self._unzip.decompress(raw, _PIECE_BYTES), self._unzip.unconsumed_tail
                except zlib.error as bad:
                    raise BodyRefused("is no " + ACCEPTED) from bad
            self._left -= len(piece) or len(raw)
            if self._left < 0:
                raise BodyRefused(f"has no end (over {self._most >> 10:,} kB)")
            if piece:
                yield piece
            raw = rest


@functools.cache
def _stream_class(package: str) -> Any:
    """Return the class of bounded streams that a package accepts."""
    http = sys.modules[package]

    class Bounded(http.AsyncByteStream, http.SyncByteStream):  # type: ignore[name-defined, misc]
        def __init__(self, inner: Any, meter: _Meter) -> None:
            self._inner, self._meter = inner, meter
            self.elapsed = None  # the packages note it here
            self.close, self.aclose = getattr(inner, "close", None), getattr(inner, "aclose", None)

        def __iter__(self) -> Iterator[bytes]:
            for raw in self._inner:
                yield from self._meter.pieces(raw)

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for raw in self._inner:
                for piece in self._meter.pieces(raw):
                    yield piece

    return Bounded
