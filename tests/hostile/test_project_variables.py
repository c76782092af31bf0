"""Variables of memlayer in a clone's `.claude/settings.json`.

They reach the environment and do not count.
"""

import json
import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

from memlayer.edge.home.paths import file_of, sessions
from memlayer.edge.home.project_env import drop_project_variables, folders_of_session, upward
from memlayer.edge.hook.main import home_of
from tests.support.processes import HookRunner
from tests.support.tables import tables

TABLES = tables("hostile/project_variables")

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "MEMLAYER_RECALL__MAX_ENTRIES"


def settings(project: Path, text: str, name: str = "settings.json") -> Path:
    path = project / ".claude" / name
    path.parent.mkdir(parents=True, exist_ok=True)
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


def is_above(project: Path, environ: dict[bytes, bytes]) -> bool:
    """True where settings in this folder count for a session."""
    return any(os.path.samefile(one, project) for folder in folders_of_session(environ) for one in upward(folder))


@pytest.mark.parametrize("text", ["{}", BEYOND_US["long"]], ids=["short", "long"])
def test_hosted_command_finds_project_settings(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    settings(project, text)
    inner = project / "src" / "한글"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    inside = {b"CLAUDECODE": b"1", b"HOME": os.fsencode(tmp_path)}
    assert is_above(project, inside)
    assert folders_of_session({b"HOME": os.fsencode(tmp_path)}) == []  # a terminal: the person set the variables
    folders = folders_of_session({**inside, b"CLAUDE_PROJECT_DIR": b"/elsewhere"})
    assert b"/elsewhere" in folders and is_above(project, inside)


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


@pytest.mark.parametrize("named", [{"MEMLAYER_HOME": ""}, {"HOME": ""}, {"HOME": "/src"}, {"HOME": "", "USER": "kim"}])
def test_hook_in_a_sub_folder_takes_no_home_in_the_clone(project: Path, tmp_path: Path, named: dict[str, str]) -> None:
    (project / "src" / "깊은").mkdir(parents=True)
    named = {name: str(project) + below for name, below in named.items()}
    settings(project, json.dumps({"env": named}))
    environ = {b"HOME": os.fsencode(tmp_path)} | {key.encode(): os.fsencode(value) for key, value in named.items()}
    assert not home_of(environ, os.fsencode(project / "src" / "깊은")).startswith(os.fsencode(project))


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


# --- variables by another name, and the interpreter that a home remembers

OTHERS = ("HOME", "MEMORY_VIEWER_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_PROJECT_DIR")


@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize(
    "form", ['{"env": {"%s": "/proc/self/cwd"}}', '\ufeff{"한글": 1, "env": {"FOO": "1", "%s": "x"}}']
)
@pytest.mark.parametrize("name", OTHERS)
def test_other_variables_of_memlayers_are_dropped(project: Path, file: str, form: str, name: str) -> None:
    settings(project, form % name, file)
    kept = left(project, *OTHERS, "FOO")
    assert set(kept) - {"HOME"} == {*OTHERS, "FOO"} - {name, "HOME"}
    environ = {b"HOME": os.fsencode(project), b"FOO": b"1"}
    drop_project_variables(environ, os.fsencode(project))
    own = os.fsencode(pwd.getpwuid(os.getuid()).pw_dir)
    assert environ[b"HOME"] == (own if name == "HOME" else os.fsencode(project))


def test_escaped_names_are_dropped(project: Path) -> None:
    settings(project, '{"env": {"MEMORY_\\u0056IEWER_TOKEN": "1", "\\u0048OME": "/proc/self/cwd"}}')
    environ = {b"HOME": b"/proc/self/cwd", b"MEMORY_VIEWER_TOKEN": b"1"}
    drop_project_variables(environ, os.fsencode(project))
    assert environ == {b"HOME": os.fsencode(pwd.getpwuid(os.getuid()).pw_dir)}


@pytest.mark.parametrize("form", [form for form in BEYOND_US if not form.startswith("no UTF-8")])
def test_a_home_in_the_project_is_not_heeded_where_settings_are_unreadable(project: Path, form: str) -> None:
    settings(project, BEYOND_US[form])
    (project / "안").mkdir()
    for home in (project, project / "안", project / "." / "안" / "..", project.parent / "elsewhere"):
        environ = {b"HOME": os.fsencode(home), b"MEMORY_VIEWER_TOKEN": b"1"}
        drop_project_variables(environ, os.fsencode(project))
        assert (environ[b"HOME"] == os.fsencode(home)) is (home.name == "elsewhere")


def test_settings_without_such_names_drop_nothing(project: Path) -> None:
    settings(project, '{"permissions": {"allow": ["Bash(echo $HOME)", "Read(~/한글)"]}, "env": {"HOMEBREW": "1"}}')
    assert left(project, *OTHERS) == list(OTHERS)


def test_a_clone_that_names_itself_home_is_searched(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings(project, '{"env": {"HOME": "/proc/self/cwd"}}')
    (project / "src").mkdir()
    ways = (
        (project, b"/proc/self/cwd"),
        (project / "src", os.fsencode(project)),
        (project / "src", os.fsencode(project / "src")),
    )
    for folder, home in ways:
        monkeypatch.chdir(folder)
        assert is_above(project, {b"CLAUDECODE": b"1", b"HOME": home})


def planted(project: Path) -> Path:
    """Plant an interpreter of a clone's in its `.memlayer`; return what it leaves when it runs."""
    mark, program = project / "ran", project / "evil"
    project.mkdir(exist_ok=True)
    program.write_text("#!/bin/sh\necho ran > '%s'\n" % mark)
    program.chmod(0o755)
    for folder in (project / ".memlayer", project / "src" / ".memlayer"):
        folder.mkdir(parents=True)
        (folder / "python").write_text(str(program) + "\n")
    return mark


def scripts(tmp_path: Path) -> tuple[list[str], list[str]]:
    """Return the commands of a hook and of a verb, of shell alone: nothing of memlayer's runs, or is written."""
    for script in ("hooks/run", "bin/memlayer"):
        (tmp_path / "tree" / script).parent.mkdir(parents=True)
        (tmp_path / "tree" / script).write_text(
            (ROOT / script).read_text("utf-8").partition("\n'''\n")[0] + "\n", "utf-8"
        )
    return ["sh", str(tmp_path / "tree/hooks/run"), "stop"], ["sh", str(tmp_path / "tree/bin/memlayer"), "--version"]


HOMES = TABLES["homes"]


@pytest.mark.parametrize("file", ["settings.json", "settings.local.json"])
@pytest.mark.parametrize("name", HOMES)
def test_no_interpreter_of_a_clone_is_run(project: Path, tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / "link").symlink_to(project)
    mark = planted(project)
    named = {key: value.format(project=project, link=tmp_path / "link") for key, value in HOMES[name].items()}
    settings(project, json.dumps({"env": named}), file)
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "USER": "root", **named}
    hook, verb = scripts(tmp_path)
    (project / "src" / "깊은" / "곳").mkdir(parents=True)
    below = (project, project / "src", project / "src/깊은/곳", "/proc/self/cwd", project / "src/..", "/elsewhere")
    ways = [(hook, {"CLAUDE_PROJECT_DIR": str(folder)}) for folder in below]
    for command, more in (*ways, (hook, {}), (verb, {"CLAUDECODE": "1"})):
        for folder in (project, project / "src"):
            subprocess.run(
                command, cwd=folder, input=b"no json", capture_output=True, timeout=30, check=False,
                env={**environment, **more, "MEMLAYER_RUNTIME_DIR": os.environ.get("MEMLAYER_RUNTIME_DIR", sys.prefix)},
            )  # fmt: skip
            assert not mark.exists(), (command, folder)


def test_the_remembered_interpreter_is_still_preferred(project: Path, tmp_path: Path) -> None:
    """By hooks of a project without settings, and by verbs outside of the host."""
    mark = planted(tmp_path / "person")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "person"), "CLAUDE_PROJECT_DIR": str(project)}
    for command in scripts(tmp_path):
        subprocess.run(command, cwd=project, input=b"{}", capture_output=True, timeout=30, env=environment, check=False)
        assert mark.exists(), command
        mark.unlink()


def test_settings_of_the_persons_own_home_set_what_they_like(tmp_path: Path) -> None:
    """They stand above every project of theirs."""
    home = tmp_path / "person"
    settings(home, json.dumps({"env": {NAME: "3"}}))
    (home / "src" / "일").mkdir(parents=True)
    environ = {b"HOME": os.fsencode(home), NAME.encode(): b"3"}
    drop_project_variables(environ, os.fsencode(home / "src" / "일"))
    assert NAME.encode() in environ


@pytest.mark.parametrize("below", ["src", "src/깊은/곳", "src/.."])
def test_settings_above_the_named_folder_set_nothing(project: Path, tmp_path: Path, below: str) -> None:
    (project / below).mkdir(parents=True, exist_ok=True)
    settings(project, json.dumps({"env": {NAME: "3", "MEMLAYER_HOME": str(project / ".memlayer")}}))
    environ = {b"HOME": os.fsencode(tmp_path), NAME.encode(): b"3", b"MEMLAYER_HOME": os.fsencode(project)}
    drop_project_variables(environ, os.fsencode(project / below))
    assert environ == {b"HOME": os.fsencode(tmp_path)}


def test_page_takes_no_key_of_a_clone(project: Path, home: Path) -> None:
    settings(project, json.dumps({"env": {"MEMORY_VIEWER_TOKEN": "a-word-of-the-clones"}}))
    environ = {
        b"MEMORY_VIEWER_TOKEN": b"a-word-of-the-clones",
        b"CLAUDECODE": b"1",
        b"CLAUDE_PROJECT_DIR": os.fsencode(project),
    }
    for folder in folders_of_session(environ):
        drop_project_variables(environ, folder)
    assert b"MEMORY_VIEWER_TOKEN" not in environ


WAYS_OUT = TABLES["ways_out"]


@pytest.mark.parametrize("way", WAYS_OUT)
def test_a_verb_heeds_no_variable_of_a_clone_wherever_it_is_typed(
    project: Path, tmp_path: Path, home: Path, way: str
) -> None:
    """The runtime that its settings name is not run."""
    folder, named = WAYS_OUT[way]
    mark, evil = project / "ran", project / "ev" / "bin" / "python"
    evil.parent.mkdir(parents=True)
    evil.write_text("#!/bin/sh\necho ran > '%s'\n" % mark)
    evil.chmod(0o755)
    (evil.parent.parent / "memlayer-runtime.json").write_text("{}")
    named = {**named, "MEMLAYER_RUNTIME_DIR": str(project / "ev")}
    settings(project, json.dumps({"env": named}))
    settings(project / "하위", "{}")
    record = file_of(sessions(str(home)), "s1")
    os.makedirs(os.path.dirname(record), exist_ok=True)
    Path(record).write_text(json.dumps({"id": "s1", "project_dir": str(project)}))
    environ = {b"CLAUDECODE": b"1", b"HOME": os.fsencode(tmp_path), b"MEMLAYER_HOME": os.fsencode(home)}
    environ |= {b"CLAUDE_CODE_SESSION_ID": b"s1"} | {key.encode(): os.fsencode(value) for key, value in named.items()}
    command = [sys.executable, "-I", "-S", ROOT / "bin/memlayer", "--version"]
    environ[b"PATH"] = b"/nowhere"
    subprocess.run(command, cwd=project / folder, timeout=120, check=False, env=environ, capture_output=True)
    assert not mark.exists()
