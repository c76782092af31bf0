"""Before a provider is asked: whether its server takes tools, consent, keys and the day's budget."""

import importlib.util
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.config import load_settings
from memlayer.edge.home import paths
from memlayer.errors import ChatError
from memlayer.providers.chosen import BudgetedChat, chat_provider
from memlayer.providers.endpoint import NotCharged, ToolsRefused
from memlayer.providers.tools import ToolFindings
from memlayer.records.model_budget import ModelBudget
from tests.support.chat_api import ChatScript, Spoken
from tests.support.model_api import Asked, JsonObject, ModelApi, Said
from tests.support.talks import KEY, PROMPT, SDKS, SEARCH, ask, talk, tokens_today

pytestmark = [
    pytest.mark.usefixtures("foreign_variables"),
    pytest.mark.skipif(any(importlib.util.find_spec(name) is None for name in SDKS), reason="the SDKs are optional"),
]


def llama_cpp(takes: bool) -> Callable[[Asked], Said]:
    abilities = {"supports_tools": takes, "supports_tool_calls": takes, "supports_system_role": True}
    return lambda asked: Said({"chat_template_caps": abilities}) if asked.path == "/props" else Said({}, 404)


def ollama(takes: bool) -> Callable[[Asked], Said]:
    abilities = ["completion", "tools"] if takes else ["completion"]
    return lambda asked: Said({"capabilities": abilities}) if asked.path == "/api/show" else Said({}, 404)


@pytest.mark.parametrize("takes", [True, False])
@pytest.mark.parametrize("server", [llama_cpp, ollama])
def test_server_that_can_tell_is_not_tried(
    api: ModelApi, home: Path, server: Callable[[bool], Callable[[Asked], Said]],
    takes: bool,
) -> None:  # fmt: skip
    api.script = ChatScript([Spoken("never")], other=server(takes))
    chat = talk("openai", api, home)
    assert [chat.supports_native_tools(), chat.supports_native_tools()] == [takes, takes]
    assert not any(asked.path.endswith("/chat/completions") for asked in api.asked)
    assert len(api.asked) == (1 if server is llama_cpp else 2)  # and once only


@pytest.mark.parametrize(
    ("answer", "takes"),
    [
        (Spoken("ok"), True),
        (Said({"error": {"message": '"auto" tool choice requires --enable-auto-tool-choice'}}, 400), False),
        (Said({"detail": "tools: extra inputs are not permitted"}, 422), False),
        (Said({"error": {"message": "tools are not implemented"}}, 501), False),
        (Said({"error": {"message": "Unsupported param: tools"}}, 500), False),
    ],
)
def test_server_that_cannot_tell_is_tried_once(api: ModelApi, home: Path, answer: Spoken | Said, takes: bool) -> None:
    api.script = ChatScript([answer])
    chat = talk("openai", api, home)
    assert [chat.supports_native_tools(), chat.supports_native_tools()] == [takes, takes]
    tried = [asked for asked in api.asked if asked.path == "/v1/chat/completions"]
    assert len(tried) == 1 and tried[0].body["tools"] and tried[0].headers["authorization"] == "Bearer " + KEY
    assert 0 < tokens_today(home) <= 200


def test_server_that_is_not_there_yet_is_asked_again(api: ModelApi, home: Path) -> None:
    chat = talk("openai", api, home)
    api.script = ChatScript([Said({"error": {"message": "loading the model"}}, 503)])
    assert chat.supports_native_tools() is False
    api.script = ChatScript([Spoken("ok")])
    assert chat.supports_native_tools() is True


def test_finding_is_remembered_by_address_and_model(api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Spoken("ok")])
    assert talk("openai", api, home).supports_native_tools() is True
    asked, spent = len(api.asked), tokens_today(home)
    assert talk("openai", api, home).supports_native_tools() is True
    assert (len(api.asked), tokens_today(home)) == (asked, spent)  # the second talk asks and pays nothing
    refusing = Said({"error": {"message": "tools are not supported"}}, 400)
    api.script = ChatScript([refusing])
    assert talk("openai", api, home, model="other").supports_native_tools() is False
    assert len(api.asked) == 2 * asked
    assert talk("openai", api, home, model="other").supports_native_tools() is False
    assert len(api.asked) == 2 * asked


def test_finding_that_proves_wrong_is_forgotten(api: ModelApi, home: Path) -> None:
    """The server was started with another template meanwhile."""
    api.script = ChatScript([Spoken("ok")])
    assert talk("openai", api, home).supports_native_tools() is True
    api.script = ChatScript([Said({"error": {"message": "tiny does not support tools"}}, 400)])
    with pytest.raises(ToolsRefused, match=r"set agent\.tool_dispatcher to xml"):
        ask(talk("openai", api, home), tools=(SEARCH,))
    assert talk("openai", api, home).supports_native_tools() is False


def test_finding_lasts_a_week(home: Path) -> None:
    now = [1e9]
    findings = ToolFindings(paths.tool_findings(str(home)), lambda: now[0])
    findings.put("http://a/v1/", "m", False)
    now[0] += 6 * 86_400
    assert findings.get("http://a/v1", "m") is False and findings.get("http://a/v1", "n") is None
    now[0] += 2 * 86_400
    assert findings.get("http://a/v1", "m") is None
    Path(paths.tool_findings(str(home))).write_text("[torn")
    assert findings.get("http://a/v1", "m") is None


def test_providers_own_servers_are_not_asked(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # a request would fail
    for name in SDKS:
        flags = {"agent.provider": name, "agent.model": "tiny", "agent.api_key_env": "MY_KEY"}
        assert chat_provider(load_settings(str(home), {}, flags), str(home)).supports_native_tools()


def test_key_alone_is_no_consent(provider: str, api: ModelApi, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in SDKS:
        monkeypatch.setenv(f"{name.upper()}_API_KEY", KEY)
        monkeypatch.setenv(f"{name.upper()}_BASE_URL", api.url)
    monkeypatch.setenv("MEMLAYER_AGENT__PROVIDER", provider)
    monkeypatch.setenv("MEMLAYER_AGENT__BASE_URL", api.url)
    with pytest.raises(ChatError, match=r"no language model is set up.*config set agent.provider"):
        chat_provider(load_settings(str(home), dict(os.environ)), str(home))
    assert api.asked == [] and not home.exists()


def test_nothing_is_sent_before_the_first_call(provider: str, api: ModelApi, home: Path) -> None:
    chat = talk(provider, api, home)
    chat.check()
    assert chat.name == provider and api.asked == [] and not home.exists()


def test_another_address_gets_no_key_that_was_not_named_for_it(
    provider: str, api: ModelApi, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    api.script = ChatScript([Spoken("네")])
    chat = talk(provider, api, home, api_key_env="")
    assert ask(chat).text == "네"
    chat.supports_native_tools()
    assert KEY not in json.dumps([asked.headers for asked in api.asked])
    api.script = ChatScript([Said({"error": {"message": "key?"}}, 401)])
    with pytest.raises(NotCharged, match=r"name the variable that holds it in agent.api_key_env"):
        ask(chat)


def test_no_redirect_is_followed(provider: str, api: ModelApi, home: Path) -> None:
    """A talk goes to the address that was named, and nowhere else."""
    with ModelApi() as elsewhere:
        elsewhere.script = ChatScript([Spoken("네")])
        api.script = lambda asked: Said({}, 307, headers={"location": elsewhere.url + asked.path})
        with pytest.raises(ChatError, match="HTTP 307"):
            ask(talk(provider, api, home))
        assert elsewhere.asked == []


def test_headers_for_another_address_are_not_sent(api: ModelApi, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", f"X-Gateway-Key: {KEY}2\nX-Team: pay")
    api.script = ChatScript([Spoken("네")])
    assert ask(talk("anthropic", api, home)).text == "네"
    assert not {"x-gateway-key", "x-team"} & api.asked[0].headers.keys()


def test_missing_key_is_said(provider: str, api: ModelApi, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chat = talk(provider, api, home, api_key_env="NO_SUCH_KEY")
    for call in (chat.check, lambda: ask(chat)):
        with pytest.raises(NotCharged, match="NO_SUCH_KEY is not set: export it"):
            call()
    monkeypatch.setenv("NO_SUCH_KEY", "sk-비밀")
    with pytest.raises(NotCharged, match="does not hold a key") as bad:
        chat.check()
    assert "비밀" not in str(bad.value) and api.asked == []


def test_used_up_budget_sends_nothing(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Spoken("네")])
    chat = talk(provider, api, home, daily_tokens=1500)
    assert ask(chat).text == "네"
    with pytest.raises(ChatError, match=r"760 of 1,500 tokens are used.*Raise agent.daily_tokens") as bad:
        ask(chat)
    assert len(api.asked) == 1 and "\n" not in str(bad.value)
    with pytest.raises(ChatError, match=r"agent\.daily_tokens"):
        ask(talk(provider, api, home, daily_tokens=0))
    assert len(api.asked) == 1


def test_budget_that_cannot_be_kept_sends_nothing(provider: str, api: ModelApi, home: Path) -> None:
    home.write_text("in the way")
    found = ModelBudget(paths.agent_use(str(home)), daily_tokens=10**6)
    inner = talk(provider, api, home.parent / "other")
    with pytest.raises(ChatError, match="cannot be counted on disk, so nothing is sent"):
        ask(BudgetedChat(inner, found))
    assert api.asked == []


def test_calls_leave_one_file(provider: str, api: ModelApi, home: Path) -> None:
    api.script = ChatScript([Spoken("포트원입니다")])
    ask(talk(provider, api, home))
    assert os.listdir(home) == ["agent_use.json"]
    kept: JsonObject = json.loads((home / "agent_use.json").read_text())
    assert KEY not in json.dumps(kept) and PROMPT not in json.dumps(kept, ensure_ascii=False)
    person = Path(os.environ["HOME"])
    assert not person.exists() or list(person.rglob("*")) == []
