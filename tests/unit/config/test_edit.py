"""`memlayer config set` and `unset`: errors change nothing, other text stays."""

import json
import os
import stat
from pathlib import Path

import pytest

from memlayer.config import load_settings, set_setting, unset_setting
from memlayer.config.edit import set_settings
from memlayer.config.model import keys
from memlayer.errors import UserError
from tests.support.cli_process import Cli
from tests.support.tables import tables

TABLES = tables("config/edit")

WRITTEN = """\
# 내 설정
recall:
  # 몇 개까지
  max_entries: 5  # five
  min_chance: 0.4
# about the daemon

daemon:
  idle_minutes: 10
"""


@pytest.fixture
def file(home: Path) -> Path:
    home.mkdir(mode=0o700)
    return home / "config.yaml"


def set_in(file: Path, key: str, *values: str) -> object:
    return set_setting(str(file.parent), key, values)


def unset_in(file: Path, *keys: str) -> list[str]:
    return unset_setting(str(file.parent), *keys)


def test_first_setting_makes_the_file(file: Path) -> None:
    assert set_in(file, "recall.max_entries", "3") == 3
    assert file.read_text() == "recall:\n  max_entries: 3\n"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.yaml"]
    assert unset_in(file, "recall.max_entries") and not unset_in(file, "recall.max_entries")
    assert file.read_text() == ""


def test_comments_stay_where_they_are(file: Path) -> None:
    file.write_text(WRITTEN, encoding="utf-8")
    set_in(file, "recall.max_entries", "3")
    set_in(file, "recall.deadline_ms", "400")
    set_in(file, "citations.track", "false")
    set_in(file, "files.extra_paths", "~/문서", "~/my notes")
    assert (
        file.read_text("utf-8")
        == WRITTEN.replace("max_entries: 5  # five", "max_entries: 3  # five").replace(
            "min_chance: 0.4\n", "min_chance: 0.4\n  deadline_ms: 400\n"
        )
        + "citations:\n  track: false\nfiles:\n  extra_paths: [~/문서, ~/my notes]\n"
    )
    for key in ("recall.deadline_ms", "citations.track", "files.extra_paths", "recall.max_entries"):
        assert unset_in(file, key)
    assert file.read_text("utf-8") == WRITTEN.replace("  max_entries: 5  # five\n", "")


@pytest.mark.parametrize(("before", "key", "values", "after"), TABLES["edits_are_small"])
def test_edits_are_small(file: Path, before: str, key: str, values: list[str], after: str) -> None:
    file.write_bytes(before.encode())
    set_in(file, key, *values)
    assert file.read_bytes().decode() == after
    load_settings(str(file.parent), {})


@pytest.mark.parametrize(("before", "key", "after"), TABLES["unset_takes_only_that"])
def test_unset_takes_only_that(file: Path, before: str, key: str, after: str) -> None:
    file.write_text(before, encoding="utf-8")
    assert unset_in(file, key)
    assert file.read_text("utf-8") == after


@pytest.mark.parametrize(("key", "values", "part"), TABLES["wrong_values_change_nothing"])
def test_wrong_values_change_nothing(file: Path, key: str, values: list[str], part: str) -> None:
    written = WRITTEN + "citations:\n  track: false\n"
    file.write_text(written, encoding="utf-8")
    with pytest.raises(UserError) as refused:
        set_in(file, key, *values)
    assert part in str(refused.value) and "\n" not in str(refused.value)
    assert file.read_text("utf-8") == written
    assert sorted(path.name for path in file.parent.iterdir()) == ["config.yaml"]


def test_two_wrong_settings_are_corrected_one_by_one(file: Path) -> None:
    file.write_text("recall:\n  max_entries: 99\n  min_chance: 7\n", encoding="utf-8")
    set_in(file, "recall.max_entries", "3")
    assert unset_in(file, "recall.min_chance")
    assert load_settings(str(file.parent), {}).recall.max_entries == 3


@pytest.mark.parametrize("written", ["recall: [\n", "- a\n", "recall: 3\n"])
def test_broken_file_is_left_alone(file: Path, written: str) -> None:
    file.write_text(written, encoding="utf-8")
    with pytest.raises(UserError):
        set_in(file, "recall.max_entries", "3")
    assert file.read_text("utf-8") == written


def test_anchors_with_comments_are_refused(file: Path) -> None:
    written = "recall: &all  # mine\n  max_entries: 3\nworking_set:\n  <<: *all\n"
    file.write_text(written, encoding="utf-8")
    with pytest.raises(UserError, match="by hand"):
        set_in(file, "recall.max_entries", "4")
    assert file.read_text("utf-8") == written


def test_linked_file_stays_a_link(file: Path, tmp_path: Path) -> None:
    dotfile = tmp_path / "설정.yaml"
    dotfile.write_text("recall:\n  max_entries: 5\n", encoding="utf-8")
    file.symlink_to(dotfile)
    set_in(file, "recall.max_entries", "3")
    assert file.is_symlink() and dotfile.read_text("utf-8") == "recall:\n  max_entries: 3\n"


def test_every_default_can_be_written(file: Path) -> None:
    settings = load_settings(str(file.parent), {})
    for key in keys():
        group, _, name = key.partition(".")
        value = getattr(getattr(settings, group), name)
        typed = [str(item) for item in value] if isinstance(value, tuple) else [str(value)]
        if value not in ("", (), None):
            set_in(file, key, *typed)
    again = load_settings(str(file.parent), {})
    assert again.model_dump() == settings.model_dump()


def test_verbs_set_and_unset(home: Path, project: Path) -> None:
    cli = Cli(home, project)
    done = cli("config", "set", "recall.max_entries", "3")
    assert (done.returncode, done.stdout) == (0, "recall.max_entries is now 3.\n")
    told = json.loads(cli("config", "set", "files.extra_paths", "~/문서", "~/notes", "--json").stdout)
    assert (told["key"], told["value"], told["file"]) == (
        "files.extra_paths", ["~/문서", "~/notes"], os.path.join(home, "config.yaml"),
    )  # fmt: skip
    assert cli("config", "unset", "recall.max_entries").stdout == "recall.max_entries has its default again.\n"
    assert cli("config", "unset", "recall.max_entries").stdout.startswith("recall.max_entries is not set in ")
    wrong = cli("config", "set", "recall.max_entris", "3")
    assert (wrong.returncode, wrong.stdout) == (1, "") and "did you mean recall.max_entries?" in wrong.stderr
    cli.environment["MEMLAYER_RECALL__MAX_ENTRIES"] = "2"
    assert "Overridden by the variable MEMLAYER_RECALL__MAX_ENTRIES" in cli(
        "config", "set", "recall.max_entries", "4"
    ).stdout  # fmt: skip


def test_several_settings_are_unset_together(home: Path, project: Path) -> None:
    cli = Cli(home, project)
    cli("config", "set", "recall.max_entries", "2", "recall.min_chance", "0.3", "files.extra_paths", "~/노트")
    done = cli("config", "unset", "recall.max_entries", "files.extra_paths", "citations.track")
    assert done.stdout.splitlines() == [
        "recall.max_entries has its default again.", "files.extra_paths has its default again.",
        f"citations.track is not set in {home}/config.yaml.",
    ]  # fmt: skip
    assert (home / "config.yaml").read_text() == "recall:\n  min_chance: 0.3\n"
    refused = cli("config", "unset", "recall.min_chance", "recall.max_entires")
    assert refused.returncode == 1 and "did you mean recall.max_entries?" in refused.stderr
    assert (home / "config.yaml").read_text() == "recall:\n  min_chance: 0.3\n"
    told = json.loads(cli("config", "unset", "recall.min_chance", "citations.track", "--json").stdout)
    assert told["settings"] == [{"key": key, "value": None} for key in ("recall.min_chance", "citations.track")]


@pytest.mark.parametrize("key", ["recall.max_entires", "reall", "x", "설정", "recall.", "recall.기억"])
def test_a_setting_that_there_is_not_is_told_alike(home: Path, project: Path, key: str) -> None:
    cli = Cli(home, project)
    told = [cli("config", *words) for words in (("get", key), ("set", key, "3"), ("unset", key))]
    assert {(done.returncode, done.stdout) for done in told} == {(1, "")}
    assert len({done.stderr for done in told}) == 1
    assert "did you mean" in told[0].stderr or "`memlayer config --all` lists them" in told[0].stderr


def test_a_misspelt_line_is_removed_as_such(home: Path, project: Path) -> None:
    home.mkdir()
    file = home / "config.yaml"
    file.write_text("recall:\n  max_entires: 3\n  max_chars: 500\n")
    cli = Cli(home, project)
    why = (
        f"recall.max_entires: there is no such setting; did you mean recall.max_entries? (in {file}). "
        "Until that is corrected, every recall.* setting has its default"
    )
    done = cli("config", "set", "recall.max_chars", "600")
    assert done.stdout == (
        f"recall.max_chars is written to {file}, and in force once that file is corrected.\nWrong: {why}.\n"
    )
    held = cli("config", "get", "recall.max_chars")
    assert (held.stdout, held.stderr) == ("1400\n", f"Wrong: {why}.\n")
    assert cli("config").stderr.startswith(f"Wrong: {why}.")
    assert cli("config", "set", "citations.track", "false").stdout.startswith("citations.track is now false.\nWrong")
    done = cli("config", "unset", "recall.max_entires")
    assert done.stdout == f"recall.max_entires, which is no setting, is removed from {file}.\n"
    assert cli("config", "get", "recall.max_chars").stdout == "600\n"


@pytest.mark.parametrize(
    "words", ["agent.provider openai agent.model gpt-x", "agent.provider=openai agent.model=gpt-x"]
)
def test_several_settings_change_together(tmp_path: Path, words: str) -> None:
    cli = Cli(tmp_path / "home", tmp_path)
    done = cli("config", "set", *words.split())
    assert (done.returncode, done.stderr) == (0, "")
    file = tmp_path / "home" / "config.yaml"
    before = file.read_bytes()
    assert b"provider: openai" in before and b"model: gpt" in before
    wrong = cli("config", "set", "agent.model", "gpt-y", "recall.max_entries", "많이")
    assert wrong.returncode == 1 and "Nothing is changed" in wrong.stderr
    assert file.read_bytes() == before
    assert cli("config", "set", "agent.model", "recall.max_entries", "2").returncode == 2
    found = json.loads(cli("config", "set", *words.split(), "--json").stdout)
    assert [row["key"] for row in found["settings"]] == ["agent.provider", "agent.model"]


def test_several_settings_in_a_file_of_json(file: Path) -> None:
    file.write_text('{"embedding": {"provider": "none"}}')
    set_settings(str(file.parent), {"consolidation.provider": ["openai"], "consolidation.model": ["qwen3:8b"]})
    settings = load_settings(str(file.parent), {})
    assert (settings.embedding.provider, settings.consolidation.model) == ("none", "qwen3:8b")


def test_a_group_in_capitals_is_changed_in_its_place(home: Path) -> None:
    file = home / "config.yaml"
    home.mkdir(parents=True, exist_ok=True)
    file.write_text("# 내 설정\nRecall:\n  Max_entries: 2  # 적게\n", "utf-8")
    set_setting(str(home), "recall.max_entries", ["4"])
    assert file.read_text("utf-8") == "# 내 설정\nRecall:\n  Max_entries: 4  # 적게\n"
    assert unset_setting(str(home), "recall.max_entries") == ["recall.max_entries"]
    assert "entries" not in file.read_text("utf-8")
