"""Questions in both shapes against a scripted server: requests, answers, errors and silence."""

import contextlib
import json
import os
import time
from pathlib import Path

import pytest

from memlayer.config import Settings
from memlayer.config.providers import PROVIDERS
from memlayer.errors import ConsolidationError
from memlayer.ports import LanguageModel, ModelMissing
from memlayer.providers.chosen import language_model
from memlayer.providers.questions import Questions
from tests.support.model_api import Asked, JsonObject, ModelApi, Said, chat_answer, messages_answer
from tests.support.tables import tables
from tests.support.talks import KEY

SYSTEM, PROMPT = "You keep a memory.", "결제 모듈은 포트원으로 바꾸기로 했어."

pytestmark = pytest.mark.usefixtures("foreign_variables")


def model_url(provider: str, api: ModelApi) -> str:
    return api.url + ("/v1" if provider == "openai" else "")


def reader(**chosen: str) -> Questions:
    """The model that such settings of consolidation name."""
    made = language_model(Settings.model_validate({"consolidation": {"model": "tiny", **chosen}}))
    assert isinstance(made, Questions)
    return made


def model(provider: str, api: ModelApi) -> Questions:
    return reader(provider=provider, base_url=model_url(provider, api), api_key_env="MY_KEY")


def answer(provider: str, text: str) -> JsonObject:
    return messages_answer(text) if provider == "anthropic" else chat_answer(text)


def ask(asked: LanguageModel, deadline_s: float = 10.0) -> str:
    return asked.complete(SYSTEM, PROMPT, max_tokens=900, deadline_s=deadline_s).text


def test_one_call_and_what_it_took(provider: str, api: ModelApi) -> None:
    api.script = lambda asked: Said(answer(provider, "답이다"))
    done = model(provider, api).complete(SYSTEM, PROMPT, max_tokens=900, deadline_s=10)
    assert (done.text, done.output_tokens, done.cost_usd) == ("답이다", 60, 0.0)
    assert done.input_tokens == (705 if provider == "anthropic" else 700)
    [asked] = api.asked
    assert asked.headers["authorization"] == "Bearer " + KEY
    assert asked.body["model"] == "tiny" and asked.body["max_tokens"] == 900
    assert "tools" not in asked.body and not asked.body.get("stream")
    if provider == "anthropic":
        assert asked.path == "/v1/messages" and asked.headers["anthropic-version"] == "2023-06-01"
        content = [{"type": "text", "text": PROMPT}]
        assert (asked.body["system"], asked.body["messages"]) == (SYSTEM, [{"role": "user", "content": content}])
        assert asked.body["output_config"] == {"effort": "low"}
        assert "temperature" not in asked.body  # the interface has none any more
    else:
        assert asked.path == "/v1/chat/completions"
        assert [message["content"] for message in asked.body["messages"]] == [SYSTEM, PROMPT]
        assert asked.body["temperature"] == 0.1 and asked.body["response_format"] == {"type": "json_object"}


def test_refused_parameters_are_dropped(provider: str, api: ModelApi) -> None:
    known = {"model", "max_tokens", "messages", "system"}

    def picky(asked: Asked) -> Said:
        extra = set(asked.body) - known
        return Said({"error": {"message": "unknown: %s" % extra}}, 400) if extra else Said(answer(provider, "ok"))

    api.script = picky
    one = model(provider, api)
    assert [ask(one), ask(one)] == ["ok", "ok"]
    assert [bool(set(asked.body) - known) for asked in api.asked] == [True, False, False]


@pytest.mark.parametrize(("status", "told"), tables("contract/language_model_contract")["error_hides_prompt_and_key"])
def test_error_hides_prompt_and_key(provider: str, api: ModelApi, status: int, told: str) -> None:
    api.script = lambda asked: Said({"error": {"type": "x", "message": PROMPT + KEY}}, status)
    with pytest.raises(ConsolidationError) as bad:
        ask(model(provider, api))
    assert str(bad.value) == "%s: %s (HTTP %d)" % (provider, told, status)
    assert len(api.asked) <= 2  # no retries: the next turn is one


@pytest.mark.parametrize(
    "body", [b"", b"<html>gateway</html>", b"{}", b"[]", b'{"content": 7, "choices": [], "usage": "x"}', b"null"]
)
def test_an_answer_in_another_shape_is_an_error(provider: str, api: ModelApi, body: bytes) -> None:
    api.script = lambda asked: Said(body)
    with pytest.raises(ConsolidationError) as bad:
        ask(model(provider, api))
    assert str(bad.value).startswith("%s: %s" % (provider, api.url))
    assert str(bad.value).endswith(": see consolidation.base_url")
    assert PROMPT not in str(bad.value) and "\n" not in str(bad.value)


def test_dripping_server_meets_deadline(provider: str, api: ModelApi) -> None:
    api.script = lambda asked: Said(b"", drip_s=0.05)
    one = model(provider, api)
    began = time.monotonic()
    with pytest.raises(ConsolidationError, match=r"did not answer within 1 s: .*"):
        ask(one, deadline_s=1.0)
    assert 0.9 < time.monotonic() - began < 5


def test_nobody_listening_is_an_error(provider: str) -> None:
    with ModelApi() as gone:
        pass
    gone_model = model(provider, gone)
    with pytest.raises(ConsolidationError, match=r"no connection: is the server running at .*consolidation\.base_url"):
        ask(gone_model)


def test_missing_key_sends_nothing(provider: str, api: ModelApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key is needed by the provider's own server, and wherever its variable is named."""
    monkeypatch.delenv("MY_KEY")
    monkeypatch.delenv(provider.upper() + "_API_KEY")
    own = PROVIDERS[provider]
    for asked, variable in (
        (model(provider, api), "MY_KEY"),
        (reader(provider=provider, api_key_env="MY_KEY"), "MY_KEY"),
        (reader(provider=provider, base_url=own.url + "/"), own.key_variable),
    ):
        with pytest.raises(ModelMissing, match=variable + " is not set where the daemon was started: .* restart"):
            ask(asked)
        with pytest.raises(ModelMissing, match=variable):
            asked.check()
    assert api.asked == []


@pytest.mark.parametrize("status", [200, 401])
def test_another_address_gets_no_key_that_was_not_named_for_it(
    provider: str, api: ModelApi, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setenv(provider.upper() + "_API_KEY", KEY)
    api.script = lambda asked: Said(answer(provider, "답"), status)
    url = model_url(provider, api)
    usual = reader(provider=provider, base_url=url)
    if status == 200:
        assert ask(usual) == "답"
    else:
        with pytest.raises(ConsolidationError, match=r"name the variable that holds it in consolidation\.api_key_env"):
            ask(usual)
    assert KEY not in json.dumps([asked.headers for asked in api.asked])
    assert not any("authorization" in asked.headers for asked in api.asked)
    with contextlib.suppress(ConsolidationError):
        ask(reader(provider=provider, base_url=url, api_key_env="MY_KEY"))
    assert api.asked[-1].headers["authorization"] == "Bearer " + KEY


def test_no_redirect_is_followed(provider: str, api: ModelApi) -> None:
    """A turn goes to the address that was named, and nowhere else."""
    with ModelApi() as elsewhere:
        elsewhere.script = lambda asked: Said(answer(provider, "답"))
        api.script = lambda asked: Said({}, 307, headers={"location": elsewhere.url + asked.path})
        with pytest.raises(ConsolidationError, match="HTTP 307"):
            ask(model(provider, api))
        assert elsewhere.asked == []


def test_an_answer_without_usage_is_taken(api: ModelApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    api.script = lambda asked: Said(chat_answer("ok", read=0))
    done = model("openai", api).complete(SYSTEM, PROMPT, max_tokens=9, deadline_s=10)
    assert (done.text, done.input_tokens, done.output_tokens) == ("ok", 0, 0)


def test_an_answer_without_text_is_empty(api: ModelApi, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    api.script = lambda asked: Said(chat_answer(None))
    assert ask(model("openai", api)) == ""


def test_calls_leave_no_files(provider: str, api: ModelApi, tmp_path: Path) -> None:
    api.script = lambda asked: Said(answer(provider, "ok"))
    ask(model(provider, api))
    left = [path for path in Path(os.environ["HOME"]).rglob("*")] if Path(os.environ["HOME"]).exists() else []
    assert left == []
    assert json.dumps(api.asked[0].body)
