"""A server on this machine is asked by no proxy; a variable of the network that is wrong is named in a line."""

import asyncio
import contextlib
import http.client
import importlib.util
import os
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from memlayer.chat import ChatRequest, WireMessage
from memlayer.config.providers import NETWORK_VARIABLES, PROVIDERS, is_loopback, network_problem, proxy_variable
from memlayer.errors import ChatError, ConsolidationError, EmbedderError, ShareError
from memlayer.providers.endpoint import Asker, Endpoint, NotSent
from memlayer.providers.questions import Questions
from memlayer.providers.tools import ToolFindings, asks_for_tools
from memlayer.providers.vector_services import SERVICES
from memlayer.sharing.table_engine import TableEngine

HERE = (
    "127.0.0.1", "127.0.0.53", "127.255.255.254", "localhost", "LOCALHOST", "localhost.", "api.localhost", "[::1]",
    "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "127.1", "127.0.1", "0x7f.1", "2130706433",
    "017700000001", "0.0.0.0", "[::]", "LocalHost.LocalDomain", "모델.localhost",
)  # fmt: skip
ELSEWHERE = (
    "128.0.0.1", "126.255.255.255", "10.0.0.127", "127.0.0.1.example.com", "localhost.example.com", "mylocalhost",
    "localhost-2", "example.com", "[::2]", "[::ffff:10.0.0.1]", "192.168.127.1", "api.openai.com", "로컬호스트",
    "1270.0.0.1", "",
)  # fmt: skip
# Spellings that each client's address parser takes.
REACHED = ("127.0.0.1", "localhost", "LOCALHOST", "127.1", "127.0.0.2", "0.0.0.0", "[::ffff:127.0.0.1]", "localhost.")
WRONG = [
    ({"ALL_PROXY": "socks5://127.0.0.1:1080"}, "ALL_PROXY"),
    ({"all_proxy": "socks5h://user:pw@proxy.example:1080"}, "all_proxy"),
    ({"HTTPS_PROXY": "socks4://proxy.example:1"}, "HTTPS_PROXY"),
    ({"HTTP_PROXY": "ftp://proxy.example:1"}, "HTTP_PROXY"),
    ({"https_proxy": "http://proxy.example:notaport"}, "https_proxy"),
    ({"HTTPS_PROXY": "http://"}, "HTTPS_PROXY"),
    ({"HTTPS_PROXY": "http://[::1"}, "HTTPS_PROXY"),
    ({"HTTPS_PROXY": "http://proxy.example:0"}, "HTTPS_PROXY"),
    ({"SSL_CERT_FILE": "/없는/인증서.pem"}, "SSL_CERT_FILE"),
    ({"SSL_CERT_FILE": "/tmp"}, "SSL_CERT_FILE"),
    ({"SSL_CERT_DIR": "/없는/폴더"}, "SSL_CERT_DIR"),
]


class Recorder(ThreadingHTTPServer):
    """A server, or a proxy, that writes down what it is asked."""

    daemon_threads = True

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(("0.0.0.0", 0), Recording)


class Recording(BaseHTTPRequestHandler):
    def answer(self) -> None:
        self.server.asked.append("%s %s" % (self.command, self.path))  # type: ignore[attr-defined]
        self.send_response(404)
        self.send_header("content-length", "0")
        self.end_headers()

    do_GET = do_POST = do_PUT = do_HEAD = do_CONNECT = do_DELETE = answer

    def log_message(self, *words: object) -> None:
        return


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Recorder, Recorder]]:
    """A server on this machine, and a proxy that the variables name."""
    made = Recorder(), Recorder()
    for one in made:
        threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    for name in NETWORK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:%d" % made[1].server_port)
    yield made
    for one in made:
        one.shutdown()
        one.server_close()


def endpoint(provider: str, url: str, *, is_daemon: bool = True) -> Endpoint:
    return Endpoint(PROVIDERS[provider], Asker("consolidation", is_daemon), url)


def chat_with(provider: str, url: str) -> None:
    from memlayer.providers.anthropic_chat import AnthropicChat
    from memlayer.providers.openai_chat import OpenAIChat

    chosen = endpoint(provider, url)
    chat = AnthropicChat(chosen) if provider == "anthropic" else OpenAIChat(chosen, "m", ToolFindings())
    chat.chat(ChatRequest("m", (WireMessage("user", "배포 요일은 화요일"),), (), None, 16), deadline_s=20)


def question_to(provider: str, url: str) -> None:
    Questions(endpoint(provider, url), "m").complete("s", "배포 요일", max_tokens=16, deadline_s=20)


def embed_with(provider: str, url: str) -> None:
    service = SERVICES[provider](endpoint(provider, url), "m")
    service.prepare()
    asyncio.run(service.embed(["배포 요일은 화요일"], is_query=True))


def look_at_bucket(url: str) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        os.environ[name] = "x"
    os.environ["AWS_REGION"] = "us-east-1"
    try:
        TableEngine("s3://bucket/prefix?endpoint=" + url).refresh()
    finally:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"):
            del os.environ[name]


ASKING = {
    "openai": lambda url: chat_with("openai", url + "/v1"),
    "anthropic": lambda url: chat_with("anthropic", url),
    "vectors": lambda url: embed_with("openai", url + "/v1"),
    "gemini": lambda url: embed_with("gemini", url),
    "questions": lambda url: question_to("openai", url + "/v1"),
    "messages": lambda url: question_to("anthropic", url),
    "probe": lambda url: asks_for_tools(url + "/v1", "m", ""),
}


@pytest.mark.parametrize("host", HERE)
def test_this_machine_in_any_spelling(host: str) -> None:
    assert is_loopback("http://%s:8080/v1" % host)


@pytest.mark.parametrize("host", ELSEWHERE)
def test_other_machines_stay_what_they_are(host: str) -> None:
    assert not is_loopback("http://%s:8080/v1" % host)


@pytest.mark.parametrize("url", ["", "http://", "http://[", "no address", "https://user@example.com/127.0.0.1"])
def test_no_address_is_not_this_machine(url: str) -> None:
    assert not is_loopback(url)


@pytest.mark.parametrize("host", REACHED)
@pytest.mark.parametrize("name", ASKING)
def test_server_here_is_asked_by_no_proxy(servers: tuple[Recorder, Recorder], name: str, host: str) -> None:
    server, proxy = servers
    with contextlib.suppress(ChatError, ConsolidationError, EmbedderError):
        ASKING[name]("http://%s:%d" % (host, server.server_port))
    assert proxy.asked == []
    assert server.asked or host.endswith(".")  # not every resolver knows that spelling


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]"])
def test_bucket_here_is_asked_by_no_proxy(servers: tuple[Recorder, Recorder], host: str) -> None:
    server, proxy = servers
    with pytest.raises(ShareError):
        look_at_bucket("http://%s:%d" % (host, server.server_port))
    assert proxy.asked == []
    assert server.asked


def test_another_machine_is_asked_by_the_proxy(servers: tuple[Recorder, Recorder]) -> None:
    _, proxy = servers
    for number, ask in enumerate((chat_with, question_to), start=1):
        with pytest.raises((ChatError, ConsolidationError)):
            ask("openai", "http://model.example/v1")
        assert len(proxy.asked) >= number
    assert proxy_variable("http://model.example/v1") == "http_proxy"
    assert proxy_variable("http://127.0.0.1/v1") == ""


@pytest.mark.parametrize(("variables", "name"), WRONG)
def test_wrong_variable_is_named(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], name: str) -> None:
    for known in NETWORK_VARIABLES:
        monkeypatch.delenv(known, raising=False)
    for one, value in variables.items():
        monkeypatch.setenv(one, value)
    if "socks5" in next(iter(variables.values())) and importlib.util.find_spec("socksio"):
        pytest.skip("socksio is installed")
    said = network_problem("https://api.openai.com/v1")
    assert said.startswith(name + " ") and "\n" not in said and "pw" not in said
    assert network_problem("http://127.0.0.1:11434/v1") == ""
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 20)
    chosen = Endpoint(PROVIDERS["openai"], Asker("agent", is_daemon=False), key_variable="OPENAI_API_KEY")
    with pytest.raises(NotSent, match=name):
        chosen.check()


@pytest.mark.parametrize(
    "variables",
    [
        {}, {"HTTPS_PROXY": "http://proxy.example:3128"}, {"https_proxy": "proxy.example:3128"},
        {"HTTPS_PROXY": "https://user:p%40ss@proxy.example"}, {"ALL_PROXY": "socks5://x", "NO_PROXY": "*"},
        {"HTTPS_PROXY": "", "ALL_PROXY": ""}, {"NO_PROXY": "localhost,127.0.0.0/8"}, {"SSL_CERT_DIR": "/"},
        {"FTP_PROXY": "socks5://x"},
    ],
)  # fmt: skip
def test_usual_variables_are_no_problem(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for known in NETWORK_VARIABLES:
        monkeypatch.delenv(known, raising=False)
    for one, value in variables.items():
        monkeypatch.setenv(one, value)
    assert network_problem("https://api.openai.com/v1") == ""


def test_wrong_variables_keep_no_server_here_away(
    servers: tuple[Recorder, Recorder], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, _ = servers
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:1")
    monkeypatch.setenv("SSL_CERT_FILE", "/없는/인증서.pem")
    for number, ask in enumerate(ASKING.values(), start=1):
        with contextlib.suppress(ChatError, ConsolidationError, EmbedderError):
            ask("http://127.0.0.1:%d" % server.server_port)
        assert len(server.asked) >= number


def test_nothing_is_counted_for_a_server_that_is_not_reached(home: Path) -> None:
    from memlayer.providers.remote_embedder import ServiceCalls
    from memlayer.records.model_budget import ModelBudget

    closed = http.client.HTTPConnection("127.0.0.1", 1)
    closed.close()
    budget = ModelBudget(str(home / "use.json"), daily_tokens=1000)
    service = SERVICES["openai"](endpoint("openai", "http://127.0.0.1:1/v1"), "m")
    service.prepare()
    asking = ServiceCalls(service, budget, query_deadline_s=5, deadline_s=5)
    for _ in range(3):
        with pytest.raises(EmbedderError):
            asking.passages(["배포 요일"])
    asking.close()
    assert budget.summary().today.tokens == 0
