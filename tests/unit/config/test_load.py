"""Settings: precedence, refused values, and a project's harmless file."""

import ast
import os
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from pydantic import ValidationError

import memlayer
from memlayer.config import (
    Settings,
    describe,
    ignored_variables,
    load_project_settings,
    load_settings,
    load_what_holds,
    unset_setting,
    what_holds,
)
from memlayer.config.groups import Group
from memlayer.config.load import RETIRED
from memlayer.config.model import describe_groups, fields_of, groups_that
from memlayer.errors import UserError
from tests.support.repositories import git
from tests.support.tables import tables


def user_file(home: Path, text: str) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.yaml").write_text(text, encoding="utf-8")
    return home


def project_file(folder: Path, text: str) -> str:
    (folder / ".memlayer.yaml").write_text(text, encoding="utf-8")
    return str(folder)


def test_without_any_source_the_defaults_hold(home: Path) -> None:
    settings = load_settings(str(home), {})
    assert (settings.recall.max_entries, settings.recall.max_chars) == (3, 1400)
    assert settings.recall.min_chance == Settings().recall.min_chance
    assert settings.daemon.idle_minutes == 30.0


def test_a_variable_wins_over_the_file(home: Path) -> None:
    user_file(home, "recall:\n  max_entries: 3\n  min_chance: 0.5\n  max_chars: 900\n")
    environ = {"MEMLAYER_RECALL__MAX_ENTRIES": "2", "MEMLAYER_RECALL__MIN_CHANCE": "0.6"}
    settings = load_settings(str(home), environ)
    assert (settings.recall.max_entries, settings.recall.min_chance, settings.recall.max_chars) == (2, 0.6, 900)
    assert settings.origin("recall.max_entries") == "MEMLAYER_RECALL__MAX_ENTRIES"
    assert settings.origin("recall.min_chance") == "MEMLAYER_RECALL__MIN_CHANCE"
    assert settings.origin("recall.max_chars") == str(home / "config.yaml")
    assert settings.origin("recall.deadline_ms") == "default"


def test_a_retired_setting_is_told_and_is_no_mistake(home: Path) -> None:
    user_file(
        home,
        "moments:\n  changed_files: true\nrecall:\n  candidates: 많이\n  max_entries: 2\nchunking: {max_tokens: 9}\n",
    )
    environ = {"MEMLAYER_CHUNKING__MAX_TOKENS": "x", "MEMLAYER_RECALL": '{"weight_lexical": 7}'}
    assert load_settings(str(home), environ).recall.max_entries == 2
    assert load_what_holds(str(home), environ) == (load_settings(str(home), environ), "")
    [told] = what_holds(str(home), "", environ)["warnings"]
    keys = "moments.changed_files, recall.candidates, chunking.max_tokens"
    assert told == f"{keys}: no longer a setting; `memlayer config unset KEY` removes the line"
    assert unset_setting(str(home), *keys.split(", "))
    assert (home / "config.yaml").read_text() == "recall:\n  max_entries: 2\nchunking: {}\n"
    assert not what_holds(str(home), "", {})["warnings"] and load_settings(str(home), {}).recall.max_entries == 2


@pytest.mark.parametrize("group", RETIRED)
def test_no_setting_is_retired_and_there(group: str) -> None:
    assert not set(RETIRED[group]) & set(fields_of(group))


def test_a_setting_of_another_group_is_a_mistake(home: Path) -> None:
    user_file(home, "files:\n  changed_files: true")
    with pytest.raises(UserError, match="no such setting"):
        load_settings(str(home), {})


def test_variables_that_are_no_settings_are_left_alone(home: Path) -> None:
    environ = dict.fromkeys(
        ("MEMLAYER_HOME", "MEMLAYER_DISABLE", "MEMLAYER_RUNTIME_DIR", "MEMLAYER_HOST_CACHE", "MEMLAYER_X"), "1"
    )
    assert load_settings(str(home), environ) == load_settings(str(home), {})


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("recall:\n  max_entrys: 3", ["recall.max_entrys", "no such setting", "recall.max_entries"]),
        ("recal:\n  max_entries: 3", ["recal", "no such setting"]),
        ("enabled: perhaps", ["enabled", "true or false", "perhaps"]),
        ("recall: 5", ["recall", "group", "5"]),
        ("recall:\n  max_entries: 많이", ["recall.max_entries", "integer", "많이"]),
        ("recall:\n  max_entries: true", ["recall.max_entries", "number", "True"]),
        ("recall:\n  max_entries: 21", ["recall.max_entries", "20", "21"]),
        ("recall:\n  max_chars: 9501", ["recall.max_chars", "9500"]),
        ("recall:\n  min_chance: .nan", ["recall.min_chance", "nan"]),
        ("recall:\n  weight_vector: 2", ["recall.weight_vector"]),
        ("memory:\n  weights: [0, 0, 0, 0]", ["memory.weights", "above 0"]),
        ("memory:\n  weights: [0.5, 0.5]", ["memory.weights", "four numbers"]),
        ("daemon:\n  idle_minutes: 0.01", ["daemon.idle_minutes", "0.05"]),
        ("embedding:\n  provider: hash", ["embedding.provider", "fastembed", "hash"]),
        ("recall: [1", ["not valid YAML", "line 1"]),
        ("- a\n- b", ["not a mapping"]),
        ("a: 2026-99-99", ["not valid YAML"]),
        ("[" * 5000, ["not valid YAML"]),
    ],
)
def test_a_wrong_file_is_one_line_that_names_key_value_and_file(home: Path, text: str, parts: list[str]) -> None:
    user_file(home, text)
    with pytest.raises(UserError) as raised:
        load_settings(str(home), {})
    message = str(raised.value)
    assert "\n" not in message
    for part in [*parts, str(home / "config.yaml")]:
        assert part in message


@pytest.mark.parametrize(("name", "value", "part"), tables("config/load")["a_wrong_variable_is_named"])
def test_a_wrong_variable_is_named(home: Path, name: str, value: str, part: str) -> None:
    with pytest.raises(UserError) as raised:
        load_settings(str(home), {name: value})
    assert part in str(raised.value)
    assert name in str(raised.value) or name == "MEMLAYER_RECALL"


def test_a_group_with_everything_commented_out_is_no_error(home: Path) -> None:
    user_file(home, "recall:\n  # max_entries: 3\n")
    assert load_settings(str(home), {}).recall.max_entries == 3


def test_an_unreadable_settings_file_is_an_error_of_the_user(home: Path) -> None:
    home.mkdir()
    (home / "config.yaml").mkdir()
    with pytest.raises(UserError, match=r"config\.yaml"):
        load_settings(str(home), {})


def test_settings_are_frozen() -> None:
    settings = Settings()
    with pytest.raises(ValidationError):
        settings.recall.max_entries = 3  # type: ignore[misc]


def test_bare_settings_do_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMLAYER_RECALL__MAX_ENTRIES", "1")
    assert Settings().recall.max_entries == 3


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
groups = st.sampled_from([*Settings.model_fields, "enabled", "기타"])
names = st.sampled_from([setting.key.partition(".")[2] for setting in describe()] + ["max_entrys"])
mappings = st.dictionaries(groups, json_values | st.dictionaries(names, json_values, max_size=4), max_size=4)


@given(mappings)
@example({"recall": {"\n": None}})
@hypothesis_settings(deadline=None, max_examples=150)
def test_whatever_the_file_holds_the_answer_is_settings_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, said: dict[str, object]
) -> None:
    home = user_file(tmp_path_factory.mktemp("home"), yaml.safe_dump(said, allow_unicode=True))
    try:
        settings = load_settings(str(home), {})
    except UserError as bad:
        assert "\n" not in str(bad) and "config.yaml" in str(bad)
    else:
        assert 0 <= settings.recall.max_entries <= 20


@given(st.one_of(mappings.map(lambda said: yaml.safe_dump(said).encode()), st.binary(max_size=200)))
@hypothesis_settings(deadline=None, max_examples=150)
def test_whatever_a_project_says_it_never_raises_and_never_gets_more_than_the_user_allows(
    tmp_path_factory: pytest.TempPathFactory, raw: bytes
) -> None:
    folder = tmp_path_factory.mktemp("project")
    (folder / ".memlayer.yaml").write_bytes(raw)
    before = Settings()
    after = before.for_project(load_project_settings(str(folder)))
    assert after.recall.max_entries <= before.recall.max_entries
    assert after.recall.max_chars <= before.recall.max_chars
    assert after.recall.min_chance >= before.recall.min_chance
    assert after.embedding == before.embedding and after.daemon == before.daemon


def test_a_project_without_a_file_says_nothing(project: Path) -> None:
    said = load_project_settings(str(project))
    assert (said.enabled, said.warnings, said.file) == (True, (), "")
    assert Settings().for_project(said) == Settings()


def test_a_project_may_ask_for_less(project: Path) -> None:
    text = "recall:\n  max_entries: 2\n  max_chars: 600\n  min_chance: 0.7\n"
    said = load_project_settings(project_file(project, text))
    after = Settings().for_project(said)
    assert (after.recall.max_entries, after.recall.max_chars, after.recall.min_chance) == (2, 600, 0.7)
    assert after.origin("recall.max_entries") == str(project / ".memlayer.yaml")
    assert said.warnings == ()


def test_a_sub_folder_may_ask_for_less(project: Path) -> None:
    git(project, "init", "-q")
    below = project / "src" / "결제"
    below.mkdir(parents=True)
    project_file(project, "recall: {max_entries: 2, min_chance: 0.5}\n")
    project_file(below, "recall: {max_entries: 3, min_chance: 0.6, max_chars: 500}\nnotes: {enabled: false}\nx: 1\n")
    said = load_project_settings(str(below))
    asks = {"recall.max_entries": 2, "recall.min_chance": 0.6, "recall.max_chars": 500, "notes.enabled": False}
    assert said.asks == asks and said.file == str(below / ".memlayer.yaml")
    assert said.warnings == (f"x: a project may not set this; ignored ({below}/.memlayer.yaml)",)
    above = load_project_settings(str(project / "src"))
    assert (above.asks, above.warnings) == ({"recall.max_entries": 2, "recall.min_chance": 0.5}, ())


def test_a_project_may_not_ask_for_more(project: Path) -> None:
    text = "recall:\n  enabled: true\n  max_entries: 20\n  max_chars: 9500\n  min_chance: 0.0\n"
    before = Settings(recall={"enabled": False})
    after = before.for_project(load_project_settings(project_file(project, text)))
    assert after == before


def test_forbidden_project_setting_is_ignored_with_warning(project: Path) -> None:
    text = "embedding:\n  model: /tmp/evil\nrecall:\n  max_entries: 1\n  weight_vector: 0\n  min_chance: hoch\nx: 1\n"
    said = load_project_settings(project_file(project, text))
    assert said.asks == {"recall.max_entries": 1}
    assert [warning.partition(":")[0] for warning in said.warnings] == [
        "embedding",
        "x",
        "recall.weight_vector",
        "recall.min_chance",
    ]
    assert all("\n" not in warning and ".memlayer.yaml" in warning for warning in said.warnings)


@pytest.mark.parametrize(
    "text", ["enabled: false\n", "enabled: off # 끔\n", "{enabled: false}\n", "enabled: false\n[[["]
)
def test_a_project_that_opts_out_is_neither_captured_nor_recalled(project: Path, text: str) -> None:
    after = Settings().for_project(load_project_settings(project_file(project, text)))
    assert not (after.capture.enabled or after.recall.enabled or after.working_set.enabled)


def test_a_variable_of_the_person_wins_over_the_project(home: Path, project: Path) -> None:
    said = load_project_settings(project_file(project, "recall:\n  max_entries: 1\n  max_chars: 100\n"))
    after = load_settings(str(home), {"MEMLAYER_RECALL__MAX_ENTRIES": "4"}).for_project(said)
    assert (after.recall.max_entries, after.recall.max_chars) == (4, 100)


@pytest.mark.timeout(10)
def test_a_pipe_or_a_huge_file_in_a_clone_is_told_and_waited_for_by_nobody(tmp_path: Path) -> None:
    piped, huge, broken = (tmp_path / name for name in ("piped", "huge", "broken"))
    for folder in (piped, huge, broken):
        folder.mkdir()
    os.mkfifo(piped / ".memlayer.yaml")
    (huge / ".memlayer.yaml").write_text("x: " + "y" * 100_000)
    (broken / ".memlayer.yaml").write_text("recall: [\n")
    for folder in (piped, huge, broken):
        said = load_project_settings(str(folder))
        assert len(said.warnings) == 1 and said.enabled == (folder != huge)  # its end may say no


_TENFOLD = "a0: &a0 {x: 1, y: 2}\n" + "".join(
    f"a{i}: &a{i}\n  <<: [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n" for i in range(1, 8)
)
_LISTS = "a0: &a0 [x, x]\n" + "".join(f"a{i}: &a{i} [" + ", ".join([f"*a{i - 1}"] * 10) + "]\n" for i in range(1, 9))


@pytest.mark.parametrize(
    ("text", "part"),
    [
        (_TENFOLD, "aliases"),
        (_LISTS + "enabled: *a8\n", "aliases"),
        ("recall: &a {max_entries: 1} # 설정\nx: *a", "aliases"),
        ("<<: {enabled: true}", "merge"),
        ("recall:\n  <<: [{max_entries: 1}]", "merge"),
    ],
)
def test_project_file_cannot_use_aliases(project: Path, text: str, part: str) -> None:
    before_s = time.process_time()
    said = load_project_settings(project_file(project, text))
    assert time.process_time() - before_s < 2
    assert not said.asks
    [warning] = said.warnings
    assert part in warning and "line " in warning


def test_every_setting_is_described_for_the_docs() -> None:
    described = {setting.key: setting for setting in describe()}
    assert len(described) == sum(len(type(getattr(Settings(), group)).model_fields) for group in Settings.model_fields)
    for setting in described.values():
        assert setting.description.endswith(".")
        needs_no_bounds = isinstance(setting.default, bool | str | tuple | dict)
        assert needs_no_bounds or (setting.bounds and (setting.unit or isinstance(setting.default, float | None)))
    assert described["recall.max_chars"].bounds == "0 to 9500"
    assert described["embedding.provider"].bounds == "fastembed, openai, gemini, auto, none"


def test_each_setting_is_read_somewhere() -> None:
    """In a module that names its group or the group's class."""
    modules = []
    for path in Path(memlayer.__file__).parent.rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
        named = {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.alias)}
        modules.append((attributes, attributes | named))
    unread = []
    for group in Settings.model_fields:
        names = {group, type(getattr(Settings(), group)).__name__}
        read = set().union(*(attributes for attributes, named in modules if named & names))
        unread += [f"{group}.{name}" for name in fields_of(group) if name not in read]
    assert unread == []


def test_a_group_heeds_variables_only_where_it_says_so() -> None:
    """Of those that do, none has an address, a key or an age but embedding, which sifts them."""
    assert not Group.heeds_variables
    for group in set(groups_that("heeds_variables")) - {"embedding"}:
        assert not [name for name in fields_of(group) if name.endswith(("url", "key_env", "days", "patterns"))], group
    closed = [group for group in Settings.model_fields if group not in groups_that("heeds_variables")]
    told = [group for group, words in describe_groups().items() if "No variable is heeded here" in words]
    assert closed == [group for group in Settings.model_fields if group in told]
    assert ignored_variables(dict.fromkeys((f"MEMLAYER_{group.upper()}__X" for group in closed), "1")) == sorted(
        f"MEMLAYER_{group.upper()}__X" for group in closed
    )


@pytest.mark.parametrize("name", ["MEMLAYER_RETENTION__TOOLS_DAYS", "memlayer_retention__x", "MEMLAYER_RETENTION"])
def test_no_variable_has_memories_erased(home: Path, name: str) -> None:
    """A model in a shell could restart the daemon with it, and what age deletes is gone."""
    environ = {name: '{"conversation_days": 1}' if name == "MEMLAYER_RETENTION" else "1"}
    assert load_settings(str(home), environ).retention == Settings().retention
    assert ignored_variables(environ) == [name]
