"""Settings of `memlayer agent`: off by default, from the user's file alone, editable by `memlayer config`."""

import json
from pathlib import Path

import pytest
import yaml

from memlayer.config import (
    Settings,
    ignored_variables,
    load_project_settings,
    load_settings,
    set_setting,
    settings_stamp,
)
from memlayer.config.agent import ClassificationRule, SoulSettings
from memlayer.errors import UserError
from tests.support.cli_process import Cli
from tests.support.tables import tables

GROUPS = ("agent", "query_classification", "soul")


def written(home: Path, **groups: object) -> Settings:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(yaml.safe_dump(groups, allow_unicode=True), encoding="utf-8")
    return load_settings(str(home), {})


def test_nothing_is_set_up_by_default(home: Path) -> None:
    chosen = load_settings(str(home), {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"})
    assert (chosen.agent.provider, chosen.agent.model_name, chosen.agent.key_variable) == ("", "", "")
    assert chosen.agent.max_tool_iterations == 20
    assert (chosen.agent.max_context_tokens, chosen.agent.compaction_threshold) == (100_000, 0.75)
    assert (chosen.agent.preserve_recent_messages, chosen.agent.auto_compaction) == (4, True)
    assert (chosen.agent.parallel_tools, chosen.agent.tool_dispatcher, chosen.agent.temperature) == (
        False,
        "auto",
        None,
    )
    assert not chosen.query_classification.enabled
    assert (chosen.soul.chance, chosen.soul.purge_minute) == (0.1, -1)  # without a file nothing is drawn


@pytest.mark.parametrize("group", GROUPS)
def test_no_variable_and_no_project_sets_any_of_it(project: Path, home: Path, group: str) -> None:
    values = {"agent": {"provider": "anthropic"}, "query_classification": {"enabled": True}, "soul": {"chance": 1}}
    environ = {
        f"MEMLAYER_{group.upper()}": json.dumps(values[group]),
        **{f"MEMLAYER_{group}__{name}".upper(): str(value) for name, value in values[group].items()},
        f"MEMLAYER_{group}__NO_SUCH".upper(): "{",
    }
    assert load_settings(str(home), environ) == load_settings(str(home), {})
    assert ignored_variables(environ) == sorted(environ)
    (project / ".memlayer.yaml").write_text(yaml.safe_dump({group: values[group]}))
    said = load_project_settings(str(project))
    assert f"{group}: a project may not set this" in said.warnings[0]
    assert getattr(Settings().for_project(said), group) == getattr(Settings(), group)


def test_a_flag_wins_over_the_file_and_is_checked(home: Path) -> None:
    written(home, agent={"provider": "anthropic", "model": "tiny"})
    chosen = load_settings(str(home), {}, {"agent.provider": "openai", "agent.model": "qwen3:8b"})
    assert (chosen.agent.model_name, chosen.agent.key_variable) == ("qwen3:8b", "OPENAI_API_KEY")
    assert chosen.origin("agent.model") == "flag"
    with pytest.raises(UserError, match=r"agent\.base_url must begin with http.* \(in flag\)"):
        load_settings(str(home), {}, {"agent.base_url": "localhost:8080"})


@pytest.mark.parametrize(("groups", "told"), tables("config/agent_settings")["a_wrong_value_is_one_line"])
def test_a_wrong_value_is_one_line(home: Path, groups: dict[str, object], told: str) -> None:
    with pytest.raises(UserError, match=told) as bad:
        written(home, **groups)
    assert "\n" not in str(bad.value) and "config.yaml" in str(bad.value)
    assert "sk-ant" not in str(bad.value)


def test_rules_and_models_are_set_in_the_terminal(home: Path) -> None:
    one = "{hint: fast, keywords: [quick, 간단히, 빨리], priority: 10}"
    other = "{hint: deep, keywords: [설계]}"
    set_setting(str(home), "query_classification.rules", [one, other])
    set_setting(str(home), "query_classification.models", ["{fast: claude-haiku-5-5, deep: 한국어-모델}"])
    set_setting(str(home), "agent.temperature", ["0"])
    found = load_settings(str(home), {})
    assert found.query_classification.rules == (
        ClassificationRule(hint="fast", keywords=("quick", "간단히", "빨리"), priority=10),
        ClassificationRule(hint="deep", keywords=("설계",)),
    )
    assert found.query_classification.models == {"fast": "claude-haiku-5-5", "deep": "한국어-모델"}
    assert found.agent.temperature == 0
    set_setting(str(home), "query_classification.rules", [f"[{other}]"])
    assert len(load_settings(str(home), {}).query_classification.rules) == 1


def test_config_shows_rules_and_models(home: Path, project: Path) -> None:
    cli = Cli(home, project)
    cli.environment["MEMLAYER_QUERY_CLASSIFICATION__MODELS"] = "{}"
    rule = "{hint: fast, keywords: [간단히]}"
    assert cli("config", "set", "query_classification.rules", rule).returncode == 0
    assert "Overridden" not in cli("config", "set", "query_classification.models", "{fast: tiny}").stdout
    shown = json.loads(cli("config", "--json").stdout)["settings"]
    values = {row["key"]: row["value"] for row in shown}
    assert values["query_classification.rules"] == [{"hint": "fast", "keywords": ["간단히"], "priority": 0}]
    assert values["query_classification.models"] == {"fast": "tiny"}
    plain = cli("config", "--all").stdout
    assert "hint: fast, keywords: 간단히, priority: 0" in plain and "fast: tiny" in plain
    assert "agent.temperature" in plain and "None" not in plain


@pytest.mark.parametrize(
    ("written_at", "minute", "duration", "seconds"),
    [("21:00", 1260, "15m", 900), ("9:05", 545, "90s", 90), ("23:59", 1439, "2h", 7200), ("00:00", 0, "24h", 86_400)],
)
def test_the_window_is_read(home: Path, written_at: str, minute: int, duration: str, seconds: int) -> None:
    soul = SoulSettings(purge_at=written_at, purge_duration=duration)
    assert (soul.purge_minute, soul.purge_seconds) == (minute, seconds)
    home.mkdir()
    # Without quotes YAML reads 21:00 as the number 1260.
    (home / "config.yaml").write_text(f"soul:\n  purge_at: {written_at}\n  purge_duration: {duration}\n")
    assert load_settings(str(home), {}).soul.purge_minute == minute
    set_setting(str(home), "soul.purge_at", [written_at])
    assert load_settings(str(home), {}).soul.purge_minute == minute


def test_agent_settings_need_no_restart_of_the_daemon(home: Path) -> None:
    before = settings_stamp(str(home))
    written(home, agent={"provider": "openai", "model": "한국어:8b"}, soul={"chance": 0.5}, query_classification={})
    assert settings_stamp(str(home)) == before
    written(home, agent={"provider": "openai", "model": "한국어:8b"}, recall={"max_entries": 2})
    changed = settings_stamp(str(home))
    (home / "config.yaml").write_text("recall: [", encoding="utf-8")
    assert len({before, changed, settings_stamp(str(home))}) == 3


def test_other_provider_by_flag_takes_nothing_of_the_first(home: Path) -> None:
    mine = {
        "agent": {"provider": "openai", "model": "qwen3", "base_url": "http://127.0.0.1:1/v1", "api_key_env": "MY_KEY",
                  "daily_tokens": 777},
        "query_classification": {"enabled": True, "rules": [{"hint": "fast", "keywords": ["간단히"]}],
                                 "models": {"fast": "qwen3-tiny"}},
    }  # fmt: skip
    home.mkdir(parents=True, exist_ok=True)
    (home / "config.yaml").write_text(json.dumps(mine))

    def chosen(**flags: str) -> Settings:
        return load_settings(str(home), {}, {"agent." + name: value for name, value in flags.items()})

    other = chosen(provider="anthropic")
    assert (other.agent.model_name, other.agent.base_url) == ("claude-haiku-5-5", "")
    assert (other.agent.key_variable, other.agent.daily_tokens) == ("ANTHROPIC_API_KEY", 777)
    assert other.query_classification.models == {}
    named = chosen(provider="anthropic", model="big", base_url="http://127.0.0.1:2")
    assert (named.agent.model, named.agent.base_url) == ("big", "http://127.0.0.1:2")
    same = chosen(provider="openai")
    assert (same.agent.model, same.agent.base_url, same.agent.api_key_env) == (
        "qwen3",
        "http://127.0.0.1:1/v1",
        "MY_KEY",
    )
    assert same.query_classification.models == {"fast": "qwen3-tiny"}
