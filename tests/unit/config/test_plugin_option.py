"""The plugin's own setting of notes: the person's file alone counts."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from memlayer.config import load_settings, load_what_holds, plugin_option, settings_stamp
from memlayer.config.edit import set_setting

YES = {"pluginConfigs": {"memlayer@memlayer": {"options": {"notes": True}}}}
NO = {"pluginConfigs": {"memlayer@memlayer": {"options": {"notes": False}}}}


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A person's home folder with a memlayer home."""
    folder = tmp_path / "김 사람"
    (folder / ".memlayer").mkdir(parents=True, mode=0o700)
    (folder / ".claude").mkdir()
    monkeypatch.setenv("HOME", str(folder))
    return folder


def tell(own: Path, value: Any, name: str = "settings.json") -> Path:
    path = own / ".claude" / name
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def provider(own: Path) -> str:
    return load_settings(str(own / ".memlayer"), os.environ).consolidation.provider


def test_yes_in_the_persons_file_turns_notes_on(own: Path) -> None:
    assert provider(own) == "rules"
    path = tell(own, {"model": "한국어", **YES})
    settings = load_settings(str(own / ".memlayer"), {})
    assert (settings.consolidation.provider, settings.consolidation.reads) == ("claude-cli", "session")
    assert settings.origin("consolidation.provider") == str(path)


def test_a_typed_off_wins_over_the_yes(own: Path) -> None:
    tell(own, YES)
    set_setting(str(own / ".memlayer"), "consolidation.provider", ["rules"])
    assert provider(own) == "rules"
    tell(own, NO)
    set_setting(str(own / ".memlayer"), "consolidation.provider", ["anthropic"])
    assert provider(own) == "anthropic"


def test_no_is_an_answer_and_silence_is_none(own: Path) -> None:
    home = str(own / ".memlayer")
    assert plugin_option.notes_answer(home) is None
    tell(own, NO)
    assert plugin_option.notes_answer(home) is False
    assert load_settings(home, {}).origin("consolidation.provider") != "default"  # so it is not offered again
    both = {**YES["pluginConfigs"], "memlayer@other": {"options": {"notes": False}}}
    tell(own, {"pluginConfigs": both})
    assert plugin_option.notes_answer(home) is False


@pytest.mark.parametrize(
    "value",
    [
        {"env": {"CLAUDE_PLUGIN_OPTION_NOTES": "true"}},
        {"pluginConfigs": {"memlayer-fork@x": {"options": {"notes": True}}}},
        {"pluginConfigs": {"memlayer@x": {"options": {"notes": "true"}}}},
        {"pluginConfigs": {"memlayer@x": {"options": {"notes": 1}}}},
        {"pluginConfigs": {"memlayer@x": {"notes": True}}},
        {"pluginConfigs": ["memlayer@x"]},
        {"options": {"notes": True}},
        [YES],
        "{ not json",
        "[" * 100_000,
        "",
    ],
    ids=str,
)
def test_nothing_but_a_plain_yes_counts(own: Path, value: Any) -> None:
    tell(own, value)
    assert plugin_option.notes_answer(str(own / ".memlayer")) is None
    assert provider(own) == "rules"


def test_variable_of_the_host_is_no_consent(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_PLUGIN_OPTION_NOTES", "true")
    assert provider(own) == "rules"


def test_local_settings_and_other_folders_do_not_count(
    own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tell(own, YES, "settings.local.json")
    clone = tmp_path / "clone"
    (clone / ".claude").mkdir(parents=True)
    tell(clone, YES)
    monkeypatch.chdir(clone)
    monkeypatch.setenv("CLAUDE_PROJECT_DIR", str(clone))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(clone / ".claude"))
    assert provider(own) == "rules"
    # A memlayer home that was put elsewhere has no settings of the host beside it, whatever lies there.
    (clone / ".memlayer").mkdir(mode=0o700)
    assert plugin_option.settings_file(str(clone / ".memlayer")) == ""
    assert load_settings(str(clone / ".memlayer"), os.environ).consolidation.provider == "rules"


def test_a_pipe_a_large_file_and_a_foreign_one_are_not_read(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, path = str(own / ".memlayer"), own / ".claude" / "settings.json"
    os.mkfifo(path)
    assert plugin_option.notes_answer(home) is None
    path.unlink()
    tell(own, {**YES, "long": "가" * plugin_option.MAX_BYTES})
    assert plugin_option.notes_answer(home) is None
    tell(own, YES)
    assert plugin_option.notes_answer(home) is True
    monkeypatch.setattr(os, "getuid", lambda: 12_345)
    assert plugin_option.notes_answer(home) is None


def test_wrong_settings_keep_the_yes_but_never_against_a_no(own: Path) -> None:
    home = own / ".memlayer"
    tell(own, YES)
    (home / "config.yaml").write_text("recall: {max_entries: many}\n")
    assert load_what_holds(str(home), {})[0].consolidation.provider == "claude-cli"
    for text in (
        "recall: {max_entries: many}\nconsolidation: {provider: rules}\n",
        "consolidation: {provider: rules, daily_tokens: many}\n",
        "consolidation: off\n",
        "consolidation: {provider: rules}\n[",
    ):
        (home / "config.yaml").write_text(text)
        settings, problem = load_what_holds(str(home), {})
        assert settings.consolidation.provider == "rules" and (problem or "max_entries" not in text), text


def test_stamp_changes_with_the_answer(own: Path) -> None:
    home = str(own / ".memlayer")
    before = settings_stamp(home)
    tell(own, YES)
    assert settings_stamp(home) != before
    tell(own, {"model": "haiku"})
    assert settings_stamp(home) == before
