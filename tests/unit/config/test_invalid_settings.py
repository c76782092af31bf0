"""The valid part of wrong settings: valid groups, and disabled groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from memlayer.config import load_settings, load_what_holds, settings_stamp, what_holds
from memlayer.edge.home import project as places
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


@pytest.mark.parametrize("said", ["x:\n  enabled: false\n]", "text: capture enabled false\n]"])
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


@pytest.mark.parametrize(
    "text",
    [
        "enabled: false\n", "# 잠시 끔\nenabled: no\nrecall: {max_entries: 5}\n",
        "recall:\n  enabled: true\nenabled: off\n",
        "enabled: false\nrecal: {max_entries: 3}\n", "enabled: false\nrecall: [\n", "enabled: flase\n",
        "{enabled: false, recall: {enabled: true}}\n", '"enabled" : False\ncapture: {enabled: true}\n', "enabled:\n",
    ],
)  # fmt: skip
def test_persons_switch_turns_everything_off(
    home: Path, project: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLAYER_HOME", written(home, text))
    assert not places.enabled(str(project))
    held = what_holds(str(home), str(project), {"MEMLAYER_CAPTURE__ENABLED": "true"})
    values = {row["key"]: (row["value"], row["from"]) for row in held["settings"]}
    for group in ("recall", "capture", "working_set", "notes"):
        assert values[f"{group}.enabled"] == (False, f"{home}/config.yaml")
    assert bool(held["problem"]) is ("recal:" in text or "[" in text or "flase" in text or text == "enabled:\n")


@pytest.mark.parametrize(
    "text",
    [
        "enabled: true\n", "capture: {enabled: false}\n", "capture:\n  enabled: false\n", "# enabled: false\n", "",
        "{capture: {enabled: false}}\n", '{"files": {"enabled": false}, "recall": {"max_entries": 3}}\n',
        "agent: {model: 'enabled: false'}\n", "flush:\n    enabled: off\n", "{enabled: true, tools: {enabled: no}}\n",
    ],
)  # fmt: skip
def test_groups_switch_is_not_the_persons(
    home: Path, project: Path, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMLAYER_HOME", written(home, text))
    assert places.enabled(str(project))
    settings, problem = load_what_holds(str(home), {})
    assert not problem and settings.recall.enabled


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("recall: {max_entires: 3, max_chars: 500}", "every recall.* setting has its default"),
        ("recal: {max_entries: 3}", "all other settings hold"),
        ("recall: 5", "every recall.* setting has its default"),
        ("recall: [", "no line of that file counts but `enabled: false`"),
        ("recall: {최대: 3}\nworking_set: {max_chars: -1}",
         "every recall.* setting has its default, every working_set.* setting has its default"),
        ("capture: {enabled: flase}", "every capture.* setting but capture.enabled, which is off, has its default"),
        ("privacy: {extra_patterns: ['(']}", "only the valid part of privacy.extra_patterns counts"),
        ("recall: {weight_lexical: 0, weight_vector: 0}\nx: 1", "every recall.* setting has its default"),
    ],
)  # fmt: skip
def test_what_has_its_default_is_told(home: Path, text: str, until: str) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert problem.endswith(f". Until that is corrected, {until}")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("recall: {max_entries: 99, min_chance: 7}", ["recall.max_entries", "recall.min_chance"]),
        ("recal: {x: 1}\nchunkin: {y: 2}\nrecall: {max_entries: 3}", ["recal:", "chunkin:"]),
        ("recall: 5\ncapture: 배포\ndaemon: {idle_minutes: x}", ["recall:", "capture:", "daemon.idle_minutes"]),
        ("recall: {max_entrys: 3, max_entries: 많이}", ["max_entrys", "recall.max_entries"]),
        ("enabled: 아니\nrecall: {max_entries: x}", ["enabled:", "recall.max_entries"]),
        ("recall: {weight_lexical: 0, weight_vector: 0}\nx: 1", ["recall.weight_lexical", "x: there is no such"]),
        ("embedding: {provider: hash}\nagent: {temperature: hot}", ["embedding.provider", "agent.temperature"]),
        ("files: {extra_paths: 3}\nflush: {enabled: maybe}\nx: {y: 1}", ["files.extra_paths", "flush.enabled", "x: "]),
    ],
)
def test_every_mistake_is_named_at_once(home: Path, text: str, parts: list[str]) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert all(part in problem for part in parts), problem
    assert "\n" not in problem and problem.count("config.yaml") == 1


def test_many_mistakes_are_counted_where_they_do_not_fit(home: Path) -> None:
    _, problem = load_what_holds(written(home, "".join(f"x{number}: 1\n" for number in range(40))), {})
    assert "x0:" in problem and "35 more" in problem and len(problem) < 600


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("recall:\n  max_entries 3\n  min_chance: 0.2\n", 2),
        ("recall\n  max_entries: 3\n", 1),
        ("recall:\n  min_chance: 0.2\n  max_entries 3\n", 3),
        ("recall:\n  최대값 3\n\n  # 주석\n  min_chance: 0.2\n", 2),
        ("files:\n  extra_paths: [a, b\nrecall:\n  max_entries: 3\n", 2),
        ("recall: {max_entries: 3\ncapture: {enabled: false}\n", 1),
        ('agent:\n  model: "haiku\n  provider: x\nrecall:\n  max_entries: 3\n', 2),
        ("agent:\n  model: '하이쿠\nrecall:\n  max_entries: 3\n", 2),
        ("recall:\n  max_entries:3\n  min_chance: 0.2\n", 2),
        ("recall:\n  max_entries: 3\n min_chance: 0.2\n", 3),  # what follows was right before
        ("recall:\n  max_entries: 3\n    min_chance: 0.2\n", 3),
        ("recall:\n\tmax_entries: 3\n", 2),
        ("recall: max_entries: 3\n", 1),
        ("agent:\n  model: @x\n", 2),
        ('agent:\n  model: "C:\\dir"\n', 2),
        ("files:\n  extra_paths:\n   - a\n  - b\n", 4),
        ("recall: *x\n", 1),
        ('agent:\n  model: "haiku\n  provider: "x"\n', 2),
        ("agent:\n  model: '하이쿠\n  provider: 'x'\n", 2),
        ("files:\n  extra_paths: [\n    a,\n    b: c: d,\n  ]\n", 4),
        ("files:\n  extra_paths: [\n    a,\n    b\nrecall: {max_entries: 3}\n", 2),
        ("recall:\n  max_entries: 3\ncapture\n  enabled: false\n", 3),
        ("agent:\r\n  base_url http://x\r\n  model: y\r\n", 2),
        ("agent:\n  model: haiku: small\n", 2),
        ('# "quoted\nagent:\n  model: "x" y\n', 3),
        ('agent:\n  model: "x" y\n  provider: z\n', 2),
    ],
)
def test_broken_yaml_names_the_line_of_the_mistake(home: Path, text: str, line: int) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert f"not valid YAML: line {line}, column" in problem


def test_switch_asks_for_no_restart(home: Path) -> None:
    before = settings_stamp(written(home, "recall: {max_entries: 3}\n"))
    assert settings_stamp(written(home, "enabled: false\nrecall: {max_entries: 3}\n")) == before
    assert settings_stamp(written(home, "enabled: false\nrecall: {max_entries: 2}\n")) != before
