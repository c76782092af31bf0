"""No language model is loaded or called until the user chooses it."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from memlayer.cli.doctor import checks, checks_daemon
from memlayer.config import Settings, daemon_variables, load_project_settings, load_settings, write_daemon_variables
from memlayer.config.model import fields_of
from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client
from memlayer.errors import UserError
from tests.support.notes_in_memory import Noting
from tests.support.tables import tables

ROOT = Path(__file__).resolve().parents[3]
VALUES = {
    "provider": "openai", "model": "evil", "base_url": "http://evil.example/v1", "api_key_env": "HOME",
    "daily_tokens": 10**9, "reads": "turn", "by_session": True,
}  # fmt: skip


def settings(home: Path, **values: object) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(yaml.safe_dump({"consolidation": values}), encoding="utf-8")
    return load_settings(str(home), {})


def test_by_default_it_is_rules_and_costs_nothing(home: Path) -> None:
    chosen = load_settings(str(home), {}).consolidation
    assert chosen.provider == "rules" and chosen.model_name == ""
    assert chosen.daily_tokens == 200_000


def test_the_values_below_are_all_that_there_are() -> None:
    assert set(VALUES) == set(fields_of("consolidation"))


@pytest.mark.parametrize("name", VALUES)
def test_a_project_can_set_none_of_it(project: Path, home: Path, name: str) -> None:
    (project / ".memlayer.yaml").write_text(yaml.safe_dump({"consolidation": {name: VALUES[name]}, "enabled": True}))
    said = load_project_settings(str(project))
    assert len(said.warnings) == 1 and "consolidation: a project may not set this" in said.warnings[0]
    mine = settings(home, provider="claude-cli")
    assert mine.for_project(said).consolidation == mine.consolidation
    plain = Settings()
    assert plain.for_project(said).consolidation == plain.consolidation


@pytest.mark.parametrize(("values", "told"), tables("config/llm_settings")["a_wrong_value_is_one_line"])
def test_a_wrong_value_is_one_line(home: Path, values: dict[str, object], told: str) -> None:
    with pytest.raises(UserError, match=told) as bad:
        settings(home, **values)
    assert "\n" not in str(bad.value)


@pytest.mark.parametrize("key", ["sk-ant-api03-abcdefgh", "AKIA0000 1111", "a_small_name"])
def test_a_key_where_a_variables_name_belongs_is_refused_and_not_repeated(home: Path, key: str) -> None:
    with pytest.raises(UserError, match="not the key itself") as bad:
        settings(home, provider="anthropic", api_key_env=key)
    assert key not in str(bad.value)


@pytest.mark.parametrize(
    ("values", "model", "key"),
    [
        ({"provider": "claude-cli"}, "haiku", ""),
        ({"provider": "anthropic"}, "claude-haiku-5-5", "ANTHROPIC_API_KEY"),
        ({"provider": "anthropic", "api_key_env": "MY_KEY"}, "claude-haiku-5-5", "MY_KEY"),
        ({"provider": "openai", "model": "hf.co/한/모델:Q4_K_M"}, "hf.co/한/모델:Q4_K_M", "OPENAI_API_KEY"),
        ({"provider": "openai", "model": "m", "base_url": "https://API.openai.com/v1/"}, "m", "OPENAI_API_KEY"),
    ],
)
def test_a_provider_knows_its_model_and_its_key(home: Path, values: dict[str, object], model: str, key: str) -> None:
    chosen = settings(home, **values).consolidation
    assert (chosen.model_name, chosen.key_variable) == (model, key)


@pytest.mark.parametrize(
    "address", ["http://127.0.0.1:8080/v1", "https://api.openai.com.example/v1", "https://게이트웨이.example"]
)
@pytest.mark.parametrize("provider", ["anthropic", "openai"])
def test_another_address_gets_no_key_that_was_not_named_for_it(home: Path, provider: str, address: str) -> None:
    usual = settings(home, provider=provider, model="m", base_url=address)
    assert usual.consolidation.key_variable == ""
    assert daemon_variables(usual)[0] == "HTTPS_PROXY"  # the key does not even reach the daemon
    named = settings(home, provider=provider, model="m", base_url=address, api_key_env="MY_KEY")
    assert named.consolidation.key_variable == daemon_variables(named)[0] == "MY_KEY"


def test_the_daemon_inherits_the_key_only_when_a_model_is_on(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k1")
    monkeypatch.setenv("MY_KEY", "k2")
    rules = settings(home)
    write_daemon_variables(str(home), rules)
    assert daemon_variables(rules) == () and os.listdir(home) == ["config.yaml"]

    write_daemon_variables(str(home), settings(home, provider="anthropic", api_key_env="MY_KEY"))
    named = Path(paths.daemon_variables(str(home)))
    assert stat.S_IMODE(named.stat().st_mode) == 0o600
    assert "k1" not in named.read_text() and "k2" not in named.read_text()
    given = runtime.kept_environment(runtime.daemon_variables(str(home)))
    assert given["MY_KEY"] == "k2" and "ANTHROPIC_API_KEY" not in given

    write_daemon_variables(str(home), settings(home, provider="claude-cli"))
    given = runtime.kept_environment(runtime.daemon_variables(str(home)))
    assert given["ANTHROPIC_API_KEY"] == "k1" and "MY_KEY" not in given

    write_daemon_variables(str(home), settings(home))
    assert "ANTHROPIC_API_KEY" not in runtime.kept_environment(runtime.daemon_variables(str(home)))


def test_with_default_settings_no_adapter_is_loaded_and_no_process_started(home: Path) -> None:
    """In an interpreter of its own, which reports imports and processes."""
    code = """
import json, sys
sys.path.insert(0, %r)
started = []
sys.addaudithook(lambda event, _: started.append(event) if event in (
    "subprocess.Popen", "os.system", "os.posix_spawn", "os.fork", "os.exec", "socket.connect") else None)
from memlayer import compose
from memlayer.config import Settings
reader = compose.session_reader(Settings(), %r, None, None)
sys.modules.pop("memlayer.adapters.sqlite_files", None)
loaded = [name for name in sys.modules if name.startswith("memlayer.adapters.") or name.partition(".")[0] in (
    "anthropic", "openai", "httpx", "httpx2")]
print(json.dumps([reader, loaded, started, compose.model_use(Settings(), %r).is_on]))
""" % (str(ROOT), str(home), str(home))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [None, [], [], False]
    assert not home.exists()


@pytest.mark.parametrize("reads", ["session", "turn"])
@pytest.mark.parametrize("provider", ["claude-cli", "anthropic", "openai"])
def test_turning_a_model_on_loads_and_starts_nothing_before_it_reads(home: Path, provider: str, reads: str) -> None:
    from memlayer import compose

    chosen = settings(home, provider=provider, model="m", reads=reads)
    before = set(sys.modules)
    noting = Noting(home)
    reader = compose.session_reader(chosen, str(home), noting.store, noting.keeper)
    assert reader is not None and reader.each_turn is (reads == "turn")
    fresh = {name.partition(".")[0] for name in set(sys.modules) - before}
    assert not fresh & {"anthropic", "openai", "httpx", "httpx2"}
    reader.hang_up()


def test_no_variable_turns_it_on_and_doctor_says_so(home: Path) -> None:
    """The host hands on variables that a cloned repository's .claude/settings.json sets."""
    environ = {
        "MEMLAYER_CONSOLIDATION__PROVIDER": "openai",
        "MEMLAYER_CONSOLIDATION__BASE_URL": "http://evil.example/v1",
        "MEMLAYER_CONSOLIDATION": '{"provider": "openai"}',
        "MEMLAYER_RECALL__MAX_ENTRIES": "3",
    }
    chosen = load_settings(str(home), environ)
    assert (chosen.consolidation, chosen.recall.max_entries) == (Settings().consolidation, 3)
    settings(home, provider="anthropic")
    mine = load_settings(str(home), environ)
    assert (mine.consolidation.provider, mine.consolidation.base_url) == ("anthropic", "")
    client = Client(str(home), str(ROOT))
    found = checks.settings(lambda root: checks_daemon.held_settings(client, root, environ), "")
    says = [(check.state, check.says) for check in found]
    assert ("warn", "MEMLAYER_CONSOLIDATION__PROVIDER is ignored") in says
    assert not any("RECALL" in line for _, line in says)
