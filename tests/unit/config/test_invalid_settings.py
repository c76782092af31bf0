"""The valid part of wrong settings: valid groups, and disabled groups."""

from pathlib import Path

import pytest

from memlayer.config import load_project_settings, load_settings, load_what_holds, settings_stamp, what_holds
from memlayer.edge.home import project as places
from memlayer.errors import UserError
from tests.support.tables import tables

TABLES = tables("config/invalid_settings")


def written(home: Path, text: str) -> str:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text, encoding="utf-8")
    return str(home)


def test_valid_settings_load_as_usual(home: Path) -> None:
    at = written(home, "recall: {max_entries: 3}\n")
    assert load_what_holds(at, {}) == (load_settings(at, {}), "")


@pytest.mark.parametrize("text", TABLES["disabled_group_stays_off"])
def test_disabled_group_stays_off(home: Path, text: str) -> None:
    settings, problem = load_what_holds(written(home, text), {})
    assert settings.capture.enabled is False and settings.recall.enabled is True
    assert settings.recall.max_entries == 3 and settings.origin("capture.enabled").endswith("config.yaml")
    assert "config.yaml" in problem and "\n" not in problem


def test_a_group_that_is_valid_by_itself_holds(home: Path) -> None:
    text = "retention: {conversation_days: 30}\nrecall: {max_entries: 3, weight_vector: 7}\nx: 1\n"
    settings, problem = load_what_holds(written(home, text), {"MEMLAYER_DAEMON__IDLE_MINUTES": "2"})
    assert problem and (settings.retention.conversation_days, settings.daemon.idle_minutes) == (30, 2)
    assert settings.recall.max_entries == 3 and settings.origin("recall.max_entries") == "default"


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
    ("name", "value", "parts"), TABLES["a_variable_that_must_be_json_is_named_with_its_right_form"]
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
    at = written(home, f"recall: {{max_chars: 0x{'f' * 5000}}}\n")
    with pytest.raises(UserError, match=r"recall\.max_chars"):
        load_settings(at, {})
    assert load_what_holds(at, {})[1]


@pytest.mark.parametrize(
    "text",
    TABLES["persons_switch_turns_everything_off"],
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
    TABLES["what_has_its_default_is_told"],
)  # fmt: skip
def test_what_has_its_default_is_told(home: Path, text: str, until: str) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert problem.endswith(f". Until that is corrected, {until}")


@pytest.mark.parametrize(("text", "parts"), TABLES["every_mistake_is_named_at_once"])
def test_every_mistake_is_named_at_once(home: Path, text: str, parts: list[str]) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert all(part in problem for part in parts), problem
    assert "\n" not in problem and problem.count("config.yaml") == 1


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({"MEMLAYER_RECAL__X": "1", "MEMLAYER_TOOL__KEPT": "[]"}, ""),
        ({"MEMLAYER_RECALL": "3개", "MEMLAYER_FILES__EXTRA_PATHS": "/tmp"}, ""),
        ({"MEMLAYER_RECALL_ENABLED": "1", "MEMLAYER_RECALL__MAX_ENTRIES": "많이"}, ""),
        ({"MEMLAYER_TOOLS__KEPT": "Bash", "MEMLAYER_DAEMONS__IDLE_MINUTES": "2"}, "recall: {max_chars: 많이}"),
        ({"MEMLAYER_MEMORY": "[1]", "MEMLAYER_CAPTUR__ENABLED": "1", "MEMLAYER_RECALL": "{"}, "x: 1"),
    ],
)
def test_every_wrong_variable_is_named_at_once(home: Path, environ: dict[str, str], text: str) -> None:
    rest = {"MEMLAYER_DAEMON__IDLE_MINUTES": "2"}
    settings, problem = load_what_holds(written(home, text), {**environ, **rest})
    named = [name.removeprefix("MEMLAYER_").replace("__", ".").lower() for name in environ]
    assert all(one in problem or key in problem for one, key in zip(environ, named, strict=True)), problem
    assert "\n" not in problem and problem.count("config.yaml") == bool(text)
    assert settings.daemon.idle_minutes == 2  # the others hold


@pytest.mark.parametrize(
    "text",
    [
        "Enabled: false\n",
        "ENABLED: no\nRecall: {Max_Entries: 5}\n",
        '"Enabled": off\n# 끔\nRECALL:\n  max_entries: 5\n',
    ],
)
def test_names_count_in_any_case(home: Path, project: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLAYER_HOME", written(home, text))
    assert not places.enabled(str(project))
    settings, problem = load_what_holds(str(home), {})
    assert not problem and settings.recall.max_entries == (5 if "5" in text else 3)
    monkeypatch.setenv("MEMLAYER_HOME", str(home / "none"))
    (project / ".memlayer.yaml").write_text(text, "utf-8")
    said = load_project_settings(str(project))
    assert said.enabled is False and not said.warnings


def test_many_mistakes_are_counted_where_they_do_not_fit(home: Path) -> None:
    _, problem = load_what_holds(written(home, "".join(f"x{number}: 1\n" for number in range(40))), {})
    assert "x0:" in problem and "35 more" in problem and len(problem) < 600


@pytest.mark.parametrize(("text", "line"), TABLES["broken_yaml_names_the_line_of_the_mistake"])
def test_broken_yaml_names_the_line_of_the_mistake(home: Path, text: str, line: int) -> None:
    _, problem = load_what_holds(written(home, text), {})
    assert f"not valid YAML: line {line}, column" in problem


def test_switch_asks_for_no_restart(home: Path) -> None:
    before = settings_stamp(written(home, "recall: {max_entries: 3}\n"))
    assert settings_stamp(written(home, "enabled: false\nrecall: {max_entries: 3}\n")) == before
    assert settings_stamp(written(home, "enabled: false\nrecall: {max_entries: 2}\n")) != before
