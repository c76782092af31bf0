"""A server's own words, JSON instead of a stream, web pages and long waits, in both SDKs."""

import importlib.util
import json
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.errors import ChatError
from memlayer.providers import failures
from memlayer.providers.endpoint import NotCharged
from tests.support.chat_api import Call, ChatScript, Spoken, anthropic_said, openai_said
from tests.support.model_api import ModelApi, Said
from tests.support.talks import KEY, PROMPT, SDKS, SEARCH, ask, talk, tokens_today

PAGE = b"<!DOCTYPE html>\n<html><head><title>Sign in &middot; \xed\x9a\x8c\xec\x82\xac</title></head><body>x</body>"
WRONG_KEY = "litellm.AuthenticationError: OpenAIException - Incorrect API key provided"
WRONG_MODEL = "litellm.BadRequestError: Invalid model name passed in model=tiny. 모델이 없습니다"

pytestmark = [
    pytest.mark.usefixtures("foreign_variables"),
    pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in SDKS), reason="the SDKs are optional"),
]


def whole(provider: str, spoken: Spoken) -> Said:
    return anthropic_said(spoken) if provider == "anthropic" else openai_said(spoken)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"error": {"message": WRONG_KEY, "type": None, "code": "400"}}, WRONG_KEY),
        ({"error": {"message": WRONG_MODEL}}, WRONG_MODEL),
        ({"error": "model is required"}, "model is required"),
        ({"detail": "quota of the team is empty"}, "quota of the team is empty"),
        ({"detail": [{"loc": ["body", "n"], "msg": "Input should be a valid integer"}]}, "Input should be a valid"),
        ({"message": '{"error": {"message": "upstream says no"}}'}, "upstream says no"),
        (b"bad\r\nrequest\x1b[31m here", "bad request here"),
    ],
)
def test_servers_message_is_told_and_logged(
    provider: str, api: ModelApi, home: Path, body: dict[str, object] | bytes, told: str
) -> None:
    api.script = ChatScript([Said(body, 400)])
    with pytest.raises(NotCharged, match=r"see agent.model \(HTTP 400\)\. The server") as bad:
        ask(talk(provider, api, home, max_retries=0))
    assert "The server says: " + told in str(bad.value) and str(bad.value).isprintable()
    [entry] = map(json.loads, Path(paths.agent_log(str(home))).read_text().splitlines())
    assert (entry["what"], entry["provider"]) == (str(bad.value), provider)
    assert Path(paths.agent_log(str(home))).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("is_stream", [False, True])
def test_message_repeats_neither_key_nor_talk_nor_secret(
    provider: str, api: ModelApi, home: Path, is_stream: bool
) -> None:
    token = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    said = f"no such route for '{PROMPT}' with {KEY}, token {token}: ask the admin. " + "아" * 2000
    api.script = ChatScript([Said({"error": {"message": said}}, 422)])
    with pytest.raises(ChatError) as bad:
        ask(talk(provider, api, home), on_text=(lambda text: None) if is_stream else None)
    log = Path(paths.agent_log(str(home))).read_text()
    for text in (str(bad.value), log):
        assert "no such route for" in text and "ask the admin" in text
        for secret in (PROMPT, PROMPT[2:], KEY, token):
            assert secret not in text
    assert len(str(bad.value)) < 600


@pytest.mark.parametrize("label", ["application/json", "text/plain", ""])
def test_json_instead_of_a_stream_is_read(provider: str, api: ModelApi, home: Path, label: str) -> None:
    spoken = Spoken("포트원입니다.", [Call("t1", "memory_search", '{"query": "결제"}')])
    api.script = ChatScript([Said(whole(provider, spoken).body, headers={"content-type": label})])
    heard: list[str] = []
    reply = ask(talk(provider, api, home), tools=(SEARCH,), on_text=heard.append)
    assert (reply.text, "".join(heard)) == ("포트원입니다.", "포트원입니다.")
    assert [(one.name, one.arguments) for one in reply.calls] == [("memory_search", {"query": "결제"})]
    assert (reply.use.input_tokens, tokens_today(home)) == (700, 760)


def test_stream_by_another_name_is_read(provider: str, api: ModelApi, home: Path) -> None:
    streams = ChatScript([Spoken("포트원입니다.")])
    asked: list[bytes] = []

    def renamed(request: object) -> Said:
        asked.append(b"".join(streams(request).chunks))  # type: ignore[arg-type]
        return Said(asked[-1], headers={"content-type": "text/plain"})

    api.script = renamed
    assert ask(talk(provider, api, home), on_text=lambda text: None).text == "포트원입니다."


@pytest.mark.parametrize("is_stream", [False, True])
def test_error_with_a_status_of_success_is_told(provider: str, api: ModelApi, home: Path, is_stream: bool) -> None:
    api.script = ChatScript([Said({"error": {"message": "no credits left", "code": 402}})])
    with pytest.raises(ChatError, match=r"no answer: see agent\.model\. The server says: no credits left"):
        ask(talk(provider, api, home), on_text=(lambda text: None) if is_stream else None)


@pytest.mark.parametrize("is_stream", [False, True])
@pytest.mark.parametrize(("status", "label"), [(200, "text/html"), (200, "application/json"), (404, "text/html")])
def test_web_page_is_named(provider: str, api: ModelApi, home: Path, status: int, label: str, is_stream: bool) -> None:
    api.script = ChatScript([Said(PAGE, status, headers={"content-type": label})])
    with pytest.raises(ChatError) as bad:
        ask(talk(provider, api, home, max_retries=0), on_text=(lambda text: None) if is_stream else None)
    assert "answers with a web page, “Sign in · 회사”" in str(bad.value)
    assert "see agent.base_url" in str(bad.value) and str(bad.value).isprintable()


def test_gateways_error_page_keeps_its_advice(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Said(b"<html><head><title>502 Bad Gateway</title></head></html>", 502)])
    with pytest.raises(ChatError, match=r"ask again later \(HTTP 502\)\. The server says: a web page, “502 Bad Gat"):
        ask(talk(provider, api, home, max_retries=0))


def test_error_within_a_stream_has_its_message(api: ModelApi, home: Path) -> None:
    event = b'data: {"error": {"message": "the model ran out of memory", "code": 500}}\n\n'
    api.script = ChatScript([Said(chunks=[event])])
    with pytest.raises(ChatError, match=r"broke off .*The server says: the model ran out of memory"):
        ask(talk("openai", api, home), on_text=lambda text: None)


def test_long_wait_says_for_what(provider: str, api: ModelApi, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "WAIT_S", 0.3)
    api.script = ChatScript([Said(drip_s=0.05)])
    told: list[str] = []
    with pytest.raises(ChatError, match="did not answer"):
        ask(talk(provider, api, home), deadline_s=1.2, on_wait=told.append)
    [line] = told
    assert provider in line and "tiny at " + api.url in line and "no answer" in line
    api.script = ChatScript([Said({}, 429, headers={"retry-after": "1"}), Spoken("네")])
    assert ask(talk(provider, api, home), on_text=lambda text: None, on_wait=told.append).text == "네"
    assert "is busy (HTTP 429) and is asked again" in told[1] and len(told) == 2


def test_quick_answer_says_nothing_of_waiting(provider: str, api: ModelApi, home: Path) -> None:
    told: list[str] = []
    api.script = ChatScript([Spoken("네")])
    assert ask(talk(provider, api, home), on_wait=told.append).text == "네"
    assert told == []
