"""The valid part of wrong settings: valid groups, and disabled groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.config import load_settings, load_what_holds
from memlayer.errors import UserError


def written(home: Path, text: str) -> str:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text, encoding="utf-8")
    return str(home)


def test_valid_settings_load_as_usual(home: Path) -> None:
    at = written(home, "recall: {max_entries: 3}\n")
    assert load_what_holds(at, {}) == (load_settings(at, {}), "")


@pytest.mark.parametrize(
    "text",
    [
        "capture: {enabled: false}\nrecal: {max_entries: 3}\n",
        "capture: {enabled: false, typo: 1}\n",
        "capture: {enabled: off}\nrecall: {max_entries: 99}\n",
        "capture:\n  enabled: false\nrecall: 3\n",
        "# 설정\ncapture:   # 기억하지 않음\n  enabled: no\nrecall: {max_entries: [\n",
        "recall: {max_entries: [\ncapture: {typo: 1, enabled: False}\n",
        "capture: {enabled: false}\n\tx: 1\n",
    ],
)
def test_disabled_group_stays_off(home: Path, text: str) -> None:
    settings, problem = load_what_holds(written(home, text), {})
    assert settings.capture.enabled is False and settings.recall.enabled is True
    assert settings.recall.max_entries == 3 and settings.origin("capture.enabled").endswith("config.yaml")
    assert "config.yaml" in problem and "\n" not in problem


def test_a_group_that_is_valid_by_itself_holds(home: Path) -> None:
    text = "retention: {conversation_days: 30}\nrecall: {max_entries: 3, weight_lexical: 0, weight_vector: 0}\nx: 1\n"
    settings, problem = load_what_holds(written(home, text), {"MEMLAYER_DAEMON__IDLE_MINUTES": "2"})
    assert problem and (settings.retention.conversation_days, settings.daemon.idle_minutes) == (30, 2)
    assert settings.recall.max_entries == 3 and settings.origin("recall.max_entries") == "default"
    assert settings.embedding.cache_dir == f"{home}/cache/models"


def test_a_wrong_variable_switches_nothing_on(home: Path) -> None:
    at = written(home, "capture: {enabled: false}\n")
    for environ in (
        {"MEMLAYER_CAPTURE__ENABLED": "maybe"}, {"MEMLAYER_RECALL": "x"}, {"MEMLAYER_RECAL__X": "1"},
        {"MEMLAYER_FILES__EXTRA_PATHS": "/tmp"},
    ):  # fmt: skip
        settings, problem = load_what_holds(at, environ)
        assert problem and settings.capture.enabled is False, environ
    settings, problem = load_what_holds(at, {"MEMLAYER_CAPTURE__ENABLED": "true", "MEMLAYER_RECALL__MAX_ENTRIES": "x"})
    assert problem and settings.capture.enabled is True  # the person's variable, and it is a valid one


@pytest.mark.parametrize("said", ["enabled: false", "x:\n  enabled: false\n]", "text: capture enabled false\n]"])
def test_only_a_group_switches_itself_off(home: Path, said: str) -> None:
    settings, problem = load_what_holds(written(home, said), {})
    assert problem and settings.capture.enabled and settings.recall.enabled


@pytest.mark.parametrize(
    ("name", "value", "parts"),
    [
        ("MEMLAYER_FILES__EXTRA_PATHS", "/tmp", ["JSON list", '["/tmp"]']),
        ("MEMLAYER_FILES__EXTRA_PATHS", "~/노트", ["JSON list", '["~/노트"]']),
        ("MEMLAYER_TOOLS__KEPT", "Bash", ["JSON list", '["Bash"]']),
        ("MEMLAYER_RECALL", "3x", ["JSON object", "MEMLAYER_RECALL__ENABLED"]),
    ],
)
def test_a_variable_that_must_be_json_is_named_with_its_right_form(
    home: Path, name: str, value: str, parts: list[str]
) -> None:
    with pytest.raises(UserError) as raised:
        load_settings(str(home), {name: value})
    assert str(raised.value).startswith(name) and all(part in str(raised.value) for part in parts)


@pytest.mark.parametrize("path", ["relative", "./메모", "", "/a\\0b"])
def test_an_extra_path_that_leads_nowhere_is_refused(home: Path, path: str) -> None:
    with pytest.raises(UserError, match=r"files\.extra_paths"):
        load_settings(written(home, f'files: {{extra_paths: ["{path}"]}}\n'), {})
    load_settings(written(home, 'files: {extra_paths: ["~/노트", "/srv/notes"]}\n'), {})


def test_a_number_of_thousands_of_digits_is_one_line(home: Path) -> None:
    at = written(home, f"flush: {{context_window: 0x{'f' * 5000}}}\n")
    with pytest.raises(UserError, match=r"flush\.context_window"):
        load_settings(at, {})
    assert load_what_holds(at, {})[1]
