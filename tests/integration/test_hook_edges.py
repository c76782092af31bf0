"""Hooks and their surroundings.

The spelling of the home, other hooks at once, a host that reads no more.
"""

import json
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memlayer.edge.home import paths
from memlayer.edge.ipc.client import Client, is_locked
from tests.support.processes import Daemon, HookRunner

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("stands_in", ["~/메모리 mem", "~"])
def test_tilde_home_expands(hook: HookRunner, project: Path, stands_in: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's settings hand `env` on as it is written.

    No shell expands it.
    """
    person = Path(hook.environment["HOME"])
    hook.environment["MEMLAYER_HOME"] = stands_in
    home = person / stands_in[2:]
    home.mkdir(parents=True, mode=0o700)
    (home / "setup.stamp").touch()
    hook("user_prompt_submit", "s1", "p1", prompt="포트는 7711이다")
    assert [json.loads(path.read_text())["text"] for path in (home / "spool").glob("*.json")] == ["포트는 7711이다"]
    assert list(project.iterdir()) == []
    monkeypatch.setenv("HOME", str(person))
    monkeypatch.setenv("MEMLAYER_HOME", stands_in)
    assert paths.home_of() == str(home).rstrip("/")


@pytest.mark.parametrize("start", ["hooks/run", "bin/memlayer"])
def test_launchers_expand_tilde_home(tmp_path: Path, start: str) -> None:
    (tmp_path / "내 mem").mkdir()
    stand_in = tmp_path / "python"
    stand_in.write_text("#!/bin/sh\necho started\n")
    stand_in.chmod(0o755)
    (tmp_path / "내 mem" / "python").write_text("%s\n" % stand_in)
    environment = {
        "HOME": str(tmp_path),
        "MEMLAYER_HOME": "~/내 mem",
        "PATH": "",
        "CLAUDE_PROJECT_DIR": str(tmp_path / "x"),
    }
    done = subprocess.run(
        ["/bin/sh", str(ROOT / start), "stop"], env=environment, capture_output=True, text=True,
        stdin=subprocess.DEVNULL, timeout=20, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("started\n", 0)


@pytest.mark.parametrize("start", ["hooks/run", "bin/memlayer"])
def test_relative_home_names_no_python(tmp_path: Path, start: str) -> None:
    """A clone could bring it."""
    (tmp_path / "mem").mkdir()
    (tmp_path / "python").write_text("#!/bin/sh\ntouch owned\n")
    (tmp_path / "python").chmod(0o755)
    (tmp_path / "mem" / "python").write_text("%s\n" % (tmp_path / "python"))
    subprocess.run(
        ["/bin/sh", str(ROOT / start), "stop"], env={"HOME": str(tmp_path), "MEMLAYER_HOME": "mem", "PATH": ""},
        capture_output=True, cwd=tmp_path, stdin=subprocess.DEVNULL, timeout=20, check=False,
    )  # fmt: skip
    assert not (tmp_path / "owned").exists()


def test_relative_home_is_refused(hook: HookRunner, project: Path) -> None:
    hook.environment["MEMLAYER_HOME"] = "집/memory"
    told = hook("session_start", "s1", source="startup")
    assert "MEMLAYER_HOME is not absolute" in json.loads(told.stdout)["systemMessage"]
    said = hook("user_prompt_submit", "s1", "p1", prompt="포트는 7711이다")
    assert (said.returncode, said.stdout) == (0, b"")
    assert list(project.iterdir()) == []


def test_concurrent_hooks_create_nested_home(tmp_path: Path) -> None:
    together = threading.Barrier(4)

    def make(number: int) -> str:
        together.wait()
        return paths.make_folder(str(tmp_path / ("집 %d" % number) / "x" / "y" / "z"))

    with ThreadPoolExecutor(4) as pool:
        for number in range(200):
            made = set(pool.map(make, [number] * 4))
            assert len(made) == 1
            assert os.path.isdir(made.pop())


def test_file_instead_of_folder_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "x" / "y"):
        with pytest.raises(OSError, match=r"exists|Not a directory"):
            paths.make_folder(str(path))


@pytest.mark.parametrize("has_daemon", [True, False])
def test_closed_stdout_loses_no_turn(hook: HookRunner, home: Path, has_daemon: bool) -> None:
    def start_session(session: str, stdout: int) -> int:
        said = json.dumps({"session_id": session, "cwd": str(hook.project), "source": "startup"})
        script = str(ROOT / "hooks" / "session_start.py")
        return subprocess.run(
            [hook.python, "-I", "-S", script], input=said.encode(), stdout=stdout, env=hook.environment,
            cwd=hook.project, timeout=20, check=False,
        ).returncode  # fmt: skip

    with Daemon(ROOT, home) as daemon:
        hook.turn("s1", "p1", "포트는 7711로 하기로 했다", "Noted: port 7711.")
        daemon.settle()
        if has_daemon:
            read, write = os.pipe()
            os.close(read)
            assert start_session("s2", write) == 0
            os.close(write)
    if not has_daemon:
        read, write = os.pipe()
        os.close(read)
        assert start_session("s2", write) == 0
        os.close(write)
        assert [event["session_id"] for event in hook.spooled] == ["s2"]
    log = home / "logs" / "hook.log"
    assert not log.exists() or "failed" not in log.read_text()


SHOW_HOME = (
    "import sys; sys.path.insert(0, sys.argv[1]); from memlayer.edge.hook import main; "
    "main.forward = lambda home, *_: (print(home.decode()), (main.TAKEN, b''))[1]; main.serve('stop')"
)


@pytest.mark.parametrize(
    "environment", [{}, {"HOME": "/집"}, {"HOME": "/집/"}, {"MEMLAYER_HOME": "~/메모리"}, {"MEMLAYER_HOME": ""}]
)
def test_hook_and_command_line_agree_on_the_home_without_one_told(environment: dict[str, str]) -> None:
    shown = subprocess.run(
        [sys.executable, "-I", "-S", "-c", SHOW_HOME, str(ROOT)], input=b"{}", capture_output=True, env=environment,
        cwd="/", check=True,
    ).stdout.decode()  # fmt: skip
    own = "import sys; sys.path.insert(0, sys.argv[1]); from memlayer.edge.home import paths; print(paths.home_of())"
    told = subprocess.run(
        [sys.executable, "-I", "-S", "-c", own, str(ROOT)], capture_output=True, env=environment, cwd="/", check=True
    ).stdout.decode()
    assert shown == told and shown.startswith("/")


def test_daemon_that_a_hook_has_just_woken_can_be_stopped(home: Path, project: Path) -> None:
    hook = HookRunner(ROOT, home, project)
    hook.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix
    hook("user_prompt_submit", "s1", "p1", prompt="포트는 7711이다")
    client = Client(str(home), str(ROOT), sys.executable)
    assert client.stop(deadline_s=40.0)
    time.sleep(1.0)
    assert not is_locked(str(home)) and not client.stop()
