"""hooks/run, the sh launcher.

Its choice of the interpreter, and that nothing can fail the host.
"""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.host.plugin_copy import REPOSITORY

TELL = "import sys; sys.stdout.write(sys.executable + '|' + __file__ + '|' + sys.stdin.read())\n"
STEMS = [
    "session_start", "user_prompt_submit", "user_prompt_expansion", "pre_tool_use", "post_tool_use",
    "post_tool_use_failure", "stop",
    "session_end", "pre_compact", "post_compact", "subagent_start", "task_created", "task_completed",
]  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A plugin root with the real launcher and reporting scripts.

    The scripts tell how they were started.
    """
    hooks = tmp_path / "플러그 in 'root'" / "hooks"
    hooks.mkdir(parents=True)
    shutil.copy2(REPOSITORY / "hooks" / "run", hooks / "run")
    for stem in STEMS:
        (hooks / f"{stem}.py").write_text(TELL)
    return hooks.parent


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A memlayer home that remembers this interpreter."""
    folder = tmp_path / "my home"
    folder.mkdir()
    (folder / "python").write_text(sys.executable + "\n")
    (folder / "actions").write_text("npm\n")  # the hook before a call ends without it
    return folder


def launch(root: Path, stem: str, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run the launcher without any python3 on the PATH.

    Its environment has only `environ` and that PATH.
    """
    return subprocess.run(
        ["/bin/sh", f"{root}/hooks/run", stem],
        input='{"prompt": "안녕"}',
        env={"PATH": "/nonexistent", "CLAUDE_PROJECT_DIR": str(root), **environ},  # as the host names it
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


@pytest.mark.parametrize("stem", STEMS)
def test_remembered_interpreter_gets_stdin(root: Path, home: Path, stem: str) -> None:
    done = launch(root, stem, MEMLAYER_HOME=str(home))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f'{sys.executable}|{root}/hooks/{stem}.py|{{"prompt": "안녕"}}'


def test_trailing_slash_is_harmless(root: Path, home: Path) -> None:
    done = launch(Path(f"{root}/"), "stop", MEMLAYER_HOME=str(home))
    assert "/hooks/stop.py|" in done.stdout


def test_home_defaults_to_the_users(root: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / ".memlayer").symlink_to(home)
    assert launch(root, "stop", HOME=str(tmp_path)).stdout.startswith(sys.executable)


@pytest.mark.parametrize("remembered", [None, "", "/nonexistent/python3\n", "python3\n", "/\n", "rm -rf $HOME\n"])
def test_falls_back_to_path_python3(root: Path, home: Path, tmp_path: Path, remembered: str | None) -> None:
    (home / "python").unlink()
    if remembered is not None:
        (home / "python").write_text(remembered)
    on_path = tmp_path / "bin" / "python3"
    on_path.parent.mkdir()
    on_path.symlink_to(sys.executable)
    done = launch(root, "stop", MEMLAYER_HOME=str(home), PATH=str(on_path.parent))
    assert done.returncode == 0
    assert done.stdout.startswith(f"{on_path}|")


def test_interpreter_path_without_newline(root: Path, home: Path) -> None:
    (home / "python").write_text(sys.executable)
    assert launch(root, "stop", MEMLAYER_HOME=str(home)).stdout.startswith(sys.executable)


def test_no_python_is_silent(root: Path, home: Path) -> None:
    (home / "python").unlink()
    done = launch(root, "stop", MEMLAYER_HOME=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_disable_ends_before_any_interpreter_starts(root: Path, home: Path) -> None:
    done = launch(root, "stop", MEMLAYER_HOME=str(home), MEMLAYER_DISABLE="1")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("stem", ["", "other", "../stop", "stop.py", "session_start stop"])
def test_starts_no_script_but_the_four(root: Path, home: Path, stem: str) -> None:
    (root / "hooks" / "other.py").write_text(TELL)
    done = launch(root, stem, MEMLAYER_HOME=str(home))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_python_variables_are_dropped(root: Path, home: Path, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('shadowed')\n")
    (root / "hooks" / "stop.py").write_text("import json; print(json.dumps('own'))\n")
    done = launch(root, "stop", MEMLAYER_HOME=str(home), PYTHONPATH=str(tmp_path), PYTHONSTARTUP="/nonexistent")
    assert done.stdout == '"own"\n'


@pytest.mark.parametrize("broken", ["no launcher", "not executable", "no script", "script fails"])
def test_registered_command_never_fails(root: Path, home: Path, broken: str) -> None:
    hooks = root / "hooks"
    if broken == "no launcher":
        (hooks / "run").unlink()
    elif broken == "not executable":
        (hooks / "run").chmod(0o644)
    elif broken == "no script":
        (hooks / "stop.py").unlink()
    else:
        (hooks / "stop.py").write_text("import sys; sys.stderr.write('noise'); sys.exit(2)\n")
    for command in registered_commands():
        done = subprocess.run(
            ["/bin/sh", "-c", command],
            input="{}",
            env={
                "PATH": os.defpath,
                "MEMLAYER_HOME": str(home),
                "CLAUDE_PLUGIN_ROOT": str(root),
                "CLAUDE_PROJECT_DIR": str(root),
            },
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        if broken == "not executable":
            assert done.stdout.startswith(sys.executable)


def registered_commands() -> list[str]:
    """Every command of hooks.json."""
    events = json.loads((REPOSITORY / "hooks.json").read_text())["hooks"]
    return [hook["command"] for groups in events.values() for group in groups for hook in group["hooks"]]


def test_hook_before_a_call_starts_nothing_without_a_lesson(root: Path, home: Path) -> None:
    assert launch(root, "pre_tool_use", MEMLAYER_HOME=str(home)).stdout
    for change in (lambda: (home / "actions").write_text(""), (home / "actions").unlink):
        change()
        assert launch(root, "pre_tool_use", MEMLAYER_HOME=str(home)).stdout == ""
