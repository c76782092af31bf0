"""Whose server an address is, its key, and its parameters: one rule for talks, readers and vectors."""

import functools
from pathlib import Path
from typing import get_args

import pytest

from memlayer.adapters.embedding.model_folder import models_root
from memlayer.chat import ChatRequest, WireMessage
from memlayer.cli.terminal.invocation import LANGUAGE_MODELS
from memlayer.config import Settings
from memlayer.config.providers import PROVIDERS, VECTOR_PROVIDERS, LanguageModel, Provider
from memlayer.edge.bootstrap.extras import EXTRAS
from memlayer.errors import ChatError
from memlayer.providers.chosen import provider_at
from memlayer.providers.endpoint import NO_KEY, Asker, Endpoint, NotSent
from memlayer.providers.openai_chat import OpenAIChat
from memlayer.providers.questions import SHAPES
from memlayer.providers.remote_embedder import fingerprint_of
from memlayer.providers.tools import ToolFindings
from memlayer.providers.vector_services import SERVICES

AGENT, DAEMON = Asker("agent", is_daemon=False), Asker("consolidation")
REQUEST = ChatRequest("tiny", (WireMessage("user", "결제는 포트원으로?"),), max_tokens=900)
SERVERS = [row for row in PROVIDERS.values() if row.url]


@pytest.mark.parametrize("row", SERVERS, ids=lambda row: row.name)
def test_default_address_written_out_is_the_same(row: Provider, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(row.key_variable, "sk-own")
    for address in (row.url, row.url + "/", row.url.upper()):
        written = Endpoint(row, DAEMON, address, row.key_for(address, ""))
        assert written.is_own and written.key() == Endpoint(row, DAEMON, "", row.key_for("", "")).key() == "sk-own"
        parameters = {"max_tokens": 1, "max_completion_tokens": 1, "encoding_format": "float"}
        assert written.known(**parameters) == Endpoint(row, DAEMON).known(**parameters)


@pytest.mark.parametrize("row", SERVERS, ids=lambda row: row.name)
@pytest.mark.parametrize(
    "address",
    [
        "http://127.0.0.1:8080/v1",
        "https://%s.example/v1",
        "https://not-%s/v1",
        "https://게이트웨이.example",
        "http://[::1]:1",
    ],
)
def test_another_server_is_sent_no_key_unless_named(
    row: Provider, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(row.key_variable, "sk-own")
    monkeypatch.setenv("MY_KEY", "sk-named")
    address = address.replace("%s", Endpoint(row, DAEMON).host)
    assert not row.is_own(address)
    assert Endpoint(row, DAEMON, address, row.key_for(address, "")).key() == NO_KEY
    assert Endpoint(row, DAEMON, address, row.key_for(address, "MY_KEY")).key() == "sk-named"


@pytest.mark.parametrize(
    ("address", "bound"),
    [("", "max_completion_tokens"), ("https://api.openai.com/v1/", "max_completion_tokens"),
     ("http://127.0.0.1:11434/v1", "max_tokens")],
)  # fmt: skip
@pytest.mark.parametrize("group", ["agent", "consolidation"])
def test_bound_of_an_answer_has_the_servers_name(address: str, bound: str, group: str) -> None:
    body = OpenAIChat(Endpoint(PROVIDERS["openai"], Asker(group), address), "tiny", ToolFindings()).body(REQUEST)
    assert {name: value for name, value in body.items() if name.startswith("max")} == {bound: 900}


def test_groups_of_settings_agree_on_the_key() -> None:
    for address, key in (("", "OPENAI_API_KEY"), ("https://api.openai.com/v1", "OPENAI_API_KEY"), ("http://a/v1", "")):
        chosen = {"provider": "openai", "model": "tiny", "base_url": address}
        settings = Settings.model_validate({"agent": chosen, "consolidation": chosen, "embedding": chosen})
        assert settings.agent.key_variable == settings.consolidation.key_variable == key
        assert settings.embedding.key_variables == tuple(filter(None, [key]))


def test_rows_have_all_that_rooms_look_up() -> None:
    assert {row.name for row in PROVIDERS.values() if row.vectors} == set(VECTOR_PROVIDERS) == SERVICES.keys()
    readers = {row.name: row for row in PROVIDERS.values() if row.title}
    assert set(get_args(LanguageModel)) == set(LANGUAGE_MODELS.choices) == readers.keys()
    assert all(row.payer and row.remedy and (row.key_variable or row.variables) for row in readers.values())
    assert {row.name for row in readers.values() if row.url} == EXTRAS.keys() == SHAPES.keys()
    assert all(row.key_variable for row in SERVERS)


def test_provider_without_talks_is_an_error(tmp_path: Path) -> None:
    """Not a talk with somebody else's server."""
    for row in PROVIDERS.values():
        made = functools.partial(provider_at, Endpoint(row, AGENT), "tiny", ToolFindings(str(tmp_path / "findings")))
        if row.title:
            assert made().name == row.name
        else:
            with pytest.raises(ChatError, match=row.name):
                made()


def test_missing_key_is_told_to_whoever_can_set_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    row = PROVIDERS["openai"]
    with pytest.raises(NotSent, match=r"export it, or name another one in agent\.api_key_env"):
        Endpoint(row, AGENT, "", row.key_for("", "")).key()
    with pytest.raises(NotSent, match=r"where the daemon was started: .*memlayer daemon restart"):
        Endpoint(row, DAEMON, "", row.key_for("", "")).key()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-비밀")
    for asker in (AGENT, DAEMON):
        with pytest.raises(NotSent, match="does not hold a key") as bad:
            Endpoint(row, asker, "", row.key_for("", "")).key()
        assert "비밀" not in str(bad.value)


@pytest.mark.parametrize("name", VECTOR_PROVIDERS)
def test_vectors_of_the_default_address_are_one_model(name: str) -> None:
    """Whoever writes the address out keeps their vectors."""
    row, corpus = PROVIDERS[name], models_root() / "calibration"
    usual, written, other = (
        fingerprint_of(SERVICES[name](Endpoint(row, DAEMON, address), row.vectors), 768, corpus)
        for address in ("", row.url, "http://127.0.0.1:11434/v1")
    )
    assert usual == written and usual.startswith(f"{name}:{row.vectors}:768/") and other != usual
