"""A provider of embeddings is chosen by the person, in their own file, by name."""

import json
import shutil
from pathlib import Path

import pytest
import yaml

from memlayer import compose
from memlayer.adapters.embedding import model_folder
from memlayer.cli.doctor import checks, checks_daemon
from memlayer.config import Settings, daemon_variables, language_model_variables, load_project_settings, load_settings
from memlayer.config.embedding import FILE_ONLY, SHIPPED_MODEL
from memlayer.edge.ipc.client import Client
from memlayer.errors import EmbedderError, UserError
from tests.support.tables import tables

EVIL = {
    "provider": "openai", "model": "evil", "base_url": "http://evil.example/v1", "api_key_env": "HOME",
    "daily_tokens": 10**12,
}  # fmt: skip
ROOT = Path(__file__).resolve().parents[3]
KEYS = {"OPENAI_API_KEY": "sk-1", "GEMINI_API_KEY": "g-1"}


def settings(home: Path, **values: object) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(yaml.safe_dump({"embedding": values}), encoding="utf-8")
    return load_settings(str(home), {})


def doctor_says(home: Path, environ: dict[str, str]) -> list[str]:
    client = Client(str(home), str(ROOT))
    found = checks.settings(lambda root: checks_daemon.held_settings(client, root, environ), "")
    return [check.says for check in found]


def test_default_is_the_local_model() -> None:
    chosen = Settings().embedding
    assert (chosen.provider, chosen.model_name, chosen.key_variables) == ("fastembed", SHIPPED_MODEL, ())
    assert SHIPPED_MODEL == model_folder.SHIPPED_MODEL


def test_each_provider_knows_its_model_and_keys(home: Path) -> None:
    openai, gemini = settings(home, provider="openai").embedding, settings(home, provider="gemini").embedding
    assert (openai.model_name, openai.key_variables) == ("text-embedding-3-small", ("OPENAI_API_KEY",))
    assert (gemini.model_name, gemini.key_variables) == ("gemini-embedding-001", ("GEMINI_API_KEY",))
    named = settings(home, provider="openai", model="한국어/임베딩:8b", api_key_env="MY_KEY").embedding
    assert (named.model_name, named.key_variables) == ("한국어/임베딩:8b", ("MY_KEY",))
    assert settings(home, provider="auto").embedding.key_variables == ("OPENAI_API_KEY", "GEMINI_API_KEY")


@pytest.mark.parametrize("address", ["http://127.0.0.1:11434/v1", "https://임베딩.example/v1"])
@pytest.mark.parametrize("provider", ["openai", "gemini"])
def test_another_address_gets_no_key_that_was_not_named_for_it(home: Path, provider: str, address: str) -> None:
    usual = settings(home, provider=provider, base_url=address)
    assert usual.embedding.key_variables == () and usual.embedding.is_remote
    assert daemon_variables(usual)[0] == "HTTPS_PROXY"  # the key does not even reach the daemon
    named = settings(home, provider=provider, base_url=address, api_key_env="MY_KEY")
    assert named.embedding.key_variables == ("MY_KEY",)
    assert settings(home, provider="none").embedding.model_name == ""


@pytest.mark.parametrize("name", EVIL)
def test_a_project_can_choose_none_of_it(project: Path, name: str) -> None:
    (project / ".memlayer.yaml").write_text(yaml.safe_dump({"embedding": {name: EVIL[name]}}))
    said = load_project_settings(str(project))
    assert ["embedding: a project may not set this" in warning for warning in said.warnings] == [True]
    assert Settings().for_project(said).embedding == Settings().embedding


@pytest.mark.parametrize("name", EVIL)
def test_no_variable_chooses_it_and_doctor_says_so(home: Path, name: str) -> None:
    """The host hands on variables that a cloned repository's settings name."""
    for environ in (
        {"MEMLAYER_EMBEDDING__" + name.upper(): str(EVIL[name])},
        {"MEMLAYER_EMBEDDING": json.dumps({name: EVIL[name]})},
    ):
        assert load_settings(str(home), environ).embedding == load_settings(str(home), {}).embedding
        [variable] = environ
        assert variable + " is ignored" in doctor_says(home, environ)


def test_the_other_variables_are_heeded(home: Path) -> None:
    environ = {"MEMLAYER_EMBEDDING__PROVIDER": "none"}
    found = load_settings(str(home), environ).embedding
    assert found.provider == "none"
    assert set(EVIL) == {"provider", *FILE_ONLY}
    assert not any("ignored" in says for says in doctor_says(home, environ))


@pytest.mark.parametrize(("values", "told"), tables("config/embedding_settings")["a_wrong_value_is_one_line"])
def test_a_wrong_value_is_one_line(home: Path, values: dict[str, object], told: str) -> None:
    with pytest.raises(UserError, match=told) as bad:
        settings(home, **values)
    assert "\n" not in str(bad.value) and "sk-abc" not in str(bad.value)


def test_the_daemon_inherits_a_key_only_for_a_chosen_provider(home: Path) -> None:
    assert daemon_variables(settings(home)) == ()
    named = daemon_variables(settings(home, provider="openai"))
    assert named[0] == "OPENAI_API_KEY" and "HTTPS_PROXY" in named and "GEMINI_API_KEY" not in named
    assert daemon_variables(settings(home, provider="auto"))[:2] == ("OPENAI_API_KEY", "GEMINI_API_KEY")
    assert language_model_variables(settings(home, provider="auto")) == ()


def provider(home: Path, **values: object) -> str:
    return compose._embedding_provider(settings(home, provider="auto", **values))


def test_auto_takes_the_local_model_though_keys_are_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    assert provider(home) == "fastembed"


def test_auto_without_local_files_takes_the_first_key(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = str(tmp_path / "없는 모델")
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(EmbedderError, match="no local model and no key in OPENAI_API_KEY or GEMINI_API_KEY") as bad:
        provider(home, model=gone)
    assert "\n" not in str(bad.value)
    monkeypatch.setenv("GEMINI_API_KEY", "g-1")
    assert provider(home, model=gone) == "gemini"
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    assert provider(home, model=gone) == "openai"
    shutil.copytree(model_folder.models_root() / SHIPPED_MODEL, gone)
    assert provider(home, model=gone) == "fastembed"
