"""Variables of memlayer in a clone's `.claude/settings.json`.

They reach the environment and do not count.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from memlayer.edge.home.project_env import drop_project_variables, project_of_session
from tests.support.processes import HookRunner

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "MEMLAYER_RECALL__MAX_ENTRIES"


def settings(project: Path, text: str, name: str = "settings.json") -> Path:
    path = project / ".claude" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="surrogateescape")
    return path


def left(project: Path, *names: str) -> list[str]:
    """Which of these variables are heeded in the project."""
    environ = {os.fsencode(name): b"1" for name in (*names, "PATH")}
    drop_project_variables(environ, os.fsencode(project))
    return [os.fsdecode(name) for name in environ if name != b"PATH"]


@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"env": {NAME: "3"}}),
        '{"env": {"\\u004dEMLAYER_RECALL__MAX_ENTRIES": "3"}}',
        '\ufeff{"env": {"%s": "3", "FOO": "1"}}' % NAME,
    ],
    ids=["plain", "escaped", "with a byte order mark"],
)  # fmt: skip
def test_project_set_variables_are_dropped(project: Path, text: str, file: str) -> None:
    settings(project, text, file)
    assert left(project, NAME, "MEMLAYER_RECALL__MAX_TOKENS") == ["MEMLAYER_RECALL__MAX_TOKENS"]


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", '{"env": ["%s"]}' % NAME, '{"hooks": "%s"}' % NAME, '{"한글": "\udcff"}', "{" * 90_000,
     '{"env": {"MEMLAYER_DISABLE": "1"}}', '{"env": {"MEMLAYER_\\ud800": "1"}}', '{"env": {"MEMLAYER_한글": "1"}}'],
    ids=["empty", "no JSON", "no object", "no variables", "another key", "no UTF-8", "too deep", "harmless",
         "half a letter", "no setting's name"],
)  # fmt: skip
def test_empty_settings_drop_nothing(project: Path, text: str) -> None:
    settings(project, text)
    assert left(project, NAME, "MEMLAYER_DISABLE") == [NAME, "MEMLAYER_DISABLE"]


SETS = '"env": {"%s": "3"}' % NAME
BEYOND_US = {
    "no UTF-8": '{"x": "\udcff", %s}' % SETS,
    "no UTF-8 before an escaped name": '{"x": "\udced\udca0", %s}' % SETS.replace("M", "\\u004d"),
    "long": "{" + " " * 1_100_000 + SETS + "}",
    "long and escaped": "{" + SETS.replace("M", "\\u004d") + " " * 1_100_000 + "}",
    "deep": '{"x": %s, %s}' % ("[" * 5000 + "]" * 5000, SETS),
    "a number of many digits": '{"x": %s, %s}' % ("1" * 5000, SETS),
    "with a comment": "{%s} // 한글" % SETS,
    "nothing but its name": NAME,
}


@pytest.mark.parametrize("form", BEYOND_US)
def test_unreadable_settings_drop_all_but_off(project: Path, form: str) -> None:
    settings(project, BEYOND_US[form])
    assert left(project, NAME, "MEMLAYER_DISABLE", "FOO") == ["MEMLAYER_DISABLE", "FOO"]


def test_settings_in_utf_16(project: Path) -> None:
    settings(project, "").write_bytes(("{%s}" % SETS).encode("utf-16"))
    assert left(project, NAME, "MEMLAYER_DISABLE") == ["MEMLAYER_DISABLE"]


def test_home_folder_settings_are_trusted(project: Path, tmp_path: Path) -> None:
    settings(project, json.dumps({"env": {NAME: "3"}}))
    (tmp_path / "link").symlink_to(project)
    for way in (project, tmp_path / "link"):
        environ = {b"HOME": os.fsencode(way), NAME.encode(): b"3"}
        drop_project_variables(environ, os.fsencode(project) + b"/")
        assert NAME.encode() in environ


def test_settings_pipe_blocks_nobody(project: Path) -> None:
    (project / ".claude").mkdir()
    os.mkfifo(project / ".claude" / "settings.json")
    assert left(project, NAME) == [NAME]


@pytest.mark.parametrize("text", ["{}", BEYOND_US["long"]], ids=["short", "long"])
def test_hosted_command_finds_project_settings(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    settings(project, text)
    inner = project / "src" / "한글"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    inside = {b"CLAUDECODE": b"1", b"HOME": os.fsencode(tmp_path)}
    assert project_of_session(inside) == os.fsencode(project)
    assert project_of_session({b"HOME": os.fsencode(tmp_path)}) == b""  # a terminal: the person set the variables
    assert project_of_session({**inside, b"HOME": os.fsencode(project)}) == b""  # their own settings
    assert project_of_session({**inside, b"CLAUDE_PROJECT_DIR": b"/elsewhere"}) == b"/elsewhere"


def test_invalid_utf8_name_loses_nothing(hook: HookRunner, project: Path, home: Path) -> None:
    settings(project, '{"env": {"MEMLAYER_\\ud800": "1"}}')
    hook.forbid_background()
    done = hook("user_prompt_submit", "s1", "p1", prompt="배포 포트는 8443")
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(list((home / "spool").glob("[0-9]*.json"))) == 1


@pytest.mark.parametrize("form", ["{%s}", '{"x": "\udcff", %s}', "{" + " " * 1_100_000 + "%s}"])
def test_hook_keeps_persons_home(hook: HookRunner, project: Path, home: Path, form: str) -> None:
    stolen = project / "stolen"
    settings(project, form % ('"env": {"MEMLAYER_HOME": "%s"}' % stolen))
    hook.environment["MEMLAYER_HOME"] = str(stolen)
    own = Path(hook.environment["HOME"]) / ".memlayer"
    own.mkdir(parents=True)
    for name in ("setup.stamp", "setup.noticed"):  # as in hook.forbid_background
        (own / name).touch()
    done = hook("user_prompt_submit", "s1", "p1", prompt="배포 포트는 8443")
    assert (done.returncode, done.stderr) == (0, b"")
    hook("user_prompt_expansion", command_name="memlayer:memory-remember", command_args="배포 포트는 8443")
    assert len(list((own / "typed").iterdir())) == 1
    assert not stolen.exists()
    assert len(list((own / "spool").glob("[0-9]*.json"))) == 1


@pytest.mark.parametrize("inside", [True, False])
def test_cli_heeds_variables_outside_host(project: Path, home: Path, inside: bool) -> None:
    settings(project, json.dumps({"env": {NAME: "2"}}))
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home.parent), "MEMLAYER_HOME": str(home), NAME: "2",
        "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", sys.prefix),
    }  # fmt: skip
    done = subprocess.run(
        [str(ROOT / "bin" / "memlayer"), "config", "--json"], cwd=project, capture_output=True, text=True, timeout=30,
        env={**environment, **({"CLAUDECODE": "1"} if inside else {})}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    [found] = [one for one in json.loads(done.stdout)["settings"] if one["key"] == "recall.max_entries"]
    assert found["from"] == ("default" if inside else NAME)
