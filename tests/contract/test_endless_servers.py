"""Servers whose answer has no end, or grows when it is unpacked: an error in a line, and little memory."""

import asyncio
import importlib
import importlib.util
import json
import tracemalloc
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memlayer.chat import ChatRequest
from memlayer.errors import ChatError, ConsolidationError, EmbedderError
from memlayer.providers import endpoint
from memlayer.providers.tools import asks_for_tools
from memlayer.providers.vector_services import RequestLoop
from tests.contract.test_language_model_contract import answer, model
from tests.support.embedding_api import KEY_VARIABLE, service
from tests.support.model_api import Asked, ModelApi, Said
from tests.support.talks import SDKS, TALK, talk

pytestmark = pytest.mark.usefixtures("foreign_variables")

PIECE = b"a" * (1 << 18)
DEADLINE_S = 40.0
MOST_BYTES = 4 << 20  # for a talk here: more takes the SDKs seconds
NOBODY = Asked("", {}, {})


def packed(piece: bytes) -> tuple[bytes, bytes]:
    """Return the head of a gzip stream, and a block of it that can follow itself."""
    zipped = zlib.compressobj(9, zlib.DEFLATED, 31)
    head = zipped.compress(piece) + zipped.flush(zlib.Z_FULL_FLUSH)
    return head, zipped.compress(piece) + zipped.flush(zlib.Z_FULL_FLUSH)


HEAD, BLOCK = packed(b" " * (1 << 22))
EVENTS = {"content-type": "text/event-stream"}
FLOODS = {
    "blanks": Said(again=b" " * (1 << 18)),
    "one string": Said(b'{"content":"', again=PIECE),
    "Korean": Said(b'{"content":"', again="가".encode() * 80_000),
    "an error": Said(b'{"error":{"message":"', 400, again=PIECE),
    "an error of the server": Said(b"<html>", 500, {"content-type": "text/html"}, again=PIECE),
    "events in one line": Said(b"data: ", headers=EVENTS, again=PIECE),
    "comments": Said(headers=EVENTS, again=b": ping\n\n" * 30_000),
    "another name": Said(headers={"content-type": "application/octet-stream"}, again=PIECE),
    "gzip": Said(HEAD, headers={"content-encoding": "gzip"}, again=BLOCK),
    "gzip of an error": Said(HEAD, 400, {"content-encoding": "gzip"}, again=BLOCK),
    "gzip in capitals": Said(HEAD, headers={"Content-Encoding": " GZip"}, again=BLOCK),
    "gzip of events": Said(HEAD, headers={"content-encoding": "gzip", **EVENTS}, again=BLOCK),
    "behind a gzip's end": Said(zlib.compress(b"{}", wbits=31), headers={"content-encoding": "gzip"}, again=PIECE),
    "zstd": Said(b"\x28\xb5\x2f\xfd", headers={"content-encoding": "zstd"}, again=PIECE),
    "two encodings": Said(HEAD, headers={"content-encoding": "gzip, gzip"}, again=BLOCK),
    "deflate": Said(HEAD, headers={"content-encoding": "deflate"}, again=BLOCK),
}


@pytest.fixture(params=FLOODS)
def flood(request: pytest.FixtureRequest, api: ModelApi, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelApi]:
    assert endpoint.MOST_BYTES > MOST_BYTES
    monkeypatch.setattr(endpoint, "MOST_BYTES", MOST_BYTES)
    said = FLOODS[request.param]
    api.script = lambda asked: said
    yield api


def bounded(flood: ModelApi, ask: Callable[[], object], *errors: type[Exception]) -> str:
    """Ask, and return the error's line; little was read, and less was kept."""
    tracemalloc.start()
    try:
        with pytest.raises(errors) as told:
            ask()
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert flood.sent_again < 6 * MOST_BYTES
    assert peak < 16 * MOST_BYTES
    line = str(told.value)
    assert line.isprintable() and len(line) < 400
    return line


def test_a_reader_of_sessions_stops_reading(provider: str, flood: ModelApi) -> None:
    asked = model(provider, flood)
    line = bounded(
        flood, lambda: asked.complete("s", "결제?", max_tokens=90, deadline_s=DEADLINE_S), ConsolidationError
    )
    assert "did not answer within" not in line


@pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in SDKS), reason="the SDKs are optional")
@pytest.mark.parametrize("is_stream", [False, True])
def test_a_talk_stops_reading(provider: str, flood: ModelApi, home: Path, is_stream: bool) -> None:
    chat = talk(provider, flood, home, max_retries=0)
    importlib.import_module(provider)  # untraced
    heard: list[str] = []
    is_chatter = is_stream and b": ping" in flood.script(NOBODY).again  # an SDK reads a megabyte of them in a second
    request = ChatRequest("tiny", TALK, (), temperature=0.0, max_tokens=900)
    line = bounded(
        flood,
        lambda: chat.chat(
            request, deadline_s=2.0 if is_chatter else DEADLINE_S, on_text=heard.append if is_stream else None
        ),
        ChatError,
    )
    assert ("did not answer" in line) == is_chatter and "no connection" not in line


@pytest.mark.parametrize("interface", ["openai", "gemini"])
@pytest.mark.parametrize("is_query", [False, True])
def test_vectors_stop_being_read(
    interface: str, flood: ModelApi, is_query: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, "k")
    served, loop = service(interface, flood.url), RequestLoop("test")
    served.prepare()
    try:
        bounded(
            flood, lambda: loop.run(lambda: served.embed(["결제 포트"], is_query=is_query), DEADLINE_S), EmbedderError
        )
        assert flood.sent_again < 3 * MOST_BYTES
    finally:
        loop.run(served.close, 5.0)
        loop.close()


def test_the_question_for_tools_stops_reading(flood: ModelApi) -> None:
    tracemalloc.start()
    try:
        assert asks_for_tools(flood.url + "/v1", "m", "") in (None, False)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert flood.sent_again < 6 * MOST_BYTES and peak < 16 * MOST_BYTES


# The first was reported; the others were written with it.
HEADS = {
    "headers": Said(b"HTTP/1.1 200 OK\r\n", again=b"x-more: aaaa\r\n" * 1_000, is_raw=True),
    "one header": Said(b"HTTP/1.1 200 OK\r\nx-more: ", again=PIECE, is_raw=True),
    "a reason": Said(b"HTTP/1.1 200 ", again=PIECE, is_raw=True),
    "bytes": Said(again=b"\x00\x01\x02" * 9_000, is_raw=True),
    "no HTTP": Said("안녕\r\n\r\n".encode(), is_raw=True),
    "a header that is none": Said(b"HTTP/1.1 200 OK\r\nno header\r\n\r\n{}", is_raw=True),
    "a length that is none": Said(b"HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\n{}", is_raw=True),
}


@pytest.mark.parametrize("name", HEADS)
def test_an_answer_that_is_no_http_is_told_as_one(
    provider: str, api: ModelApi, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    api.script = lambda asked: HEADS[name]
    with pytest.raises(ConsolidationError, match="is no HTTP, or its head has no end: see"):
        model(provider, api).complete("s", "결제?", max_tokens=90, deadline_s=10)
    monkeypatch.setenv(KEY_VARIABLE, "k")
    served, loop = service("openai", api.url), RequestLoop("test")
    served.prepare()
    try:
        with pytest.raises(EmbedderError, match="is no HTTP, or its head has no end: see"):
            loop.run(lambda: served.embed(["결제"], is_query=True), 10.0)
    finally:
        loop.run(served.close, 5.0)
        loop.close()


@pytest.mark.parametrize(
    ("body", "says"),
    [(b"", "no connection"), (b"HTTP/1.1 200 OK\r\ncontent-length: 90\r\n\r\n{", "broke off in the middle")],
)
def test_an_answer_that_ends_too_soon_is_told_as_that(provider: str, api: ModelApi, body: bytes, says: str) -> None:
    api.script = lambda asked: Said(body, is_raw=True)
    with pytest.raises(ConsolidationError, match=says):
        model(provider, api).complete("s", "결제?", max_tokens=90, deadline_s=10)


def test_an_answer_in_gzip_is_read(provider: str, api: ModelApi) -> None:
    body = zlib.compress(json.dumps(answer(provider, "답이다")).encode(), wbits=31)
    api.script = lambda asked: Said(body, headers={"content-encoding": "gzip"})
    done = model(provider, api).complete("s", "결제?", max_tokens=90, deadline_s=10)
    assert done.text == "답이다" and api.asked[0].headers["accept-encoding"] == "gzip"


@pytest.mark.parametrize("body", [b"[" * 200_000, b'{"a":' * 100_000, b"no gzip at all"])
def test_nested_and_broken_answers_are_errors(
    provider: str, api: ModelApi, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoded = {"content-encoding": "gzip"} if body.startswith(b"no") else {}
    api.script = lambda asked: Said(body, headers=encoded)
    with pytest.raises(ConsolidationError, match=r"no answer of its interface|is no gzip"):
        model(provider, api).complete("s", "결제?", max_tokens=90, deadline_s=10)
    monkeypatch.setenv(KEY_VARIABLE, "k")
    served = service("openai", api.url)
    served.prepare()

    async def closed() -> None:
        try:
            await served.embed(["결제"], is_query=True)
        finally:
            await served.close()

    with pytest.raises(EmbedderError, match=r"no answer of its interface|is no gzip"):
        asyncio.run(closed())
