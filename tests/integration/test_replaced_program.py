"""The plugin's folder is replaced under its daemon, with the same version: a reinstall, a `git pull`."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.edge.ipc.client import Client, is_locked
from memlayer.errors import MemlayerError
from tests.support.processes import ROOT, HookRunner, end_daemons
from tests.support.waiting import wait_for

NEEDED = ("memlayer", "hooks", "bin", "requirements.lock")
STATS = "memlayer/daemon/ops/disclosure.py"
OLD, NEW = "Remembered of this project", "배운 것 of this project"


def copy(folder: Path) -> None:
    """Put the plugin into a folder, as a host does."""
    folder.mkdir(parents=True)
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)


def change(folder: Path, file: str, old: str, new: str) -> None:
    text = (folder / file).read_text("utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), "utf-8")


def reinstall(plugin: Path) -> None:
    """Remove the folder, then put the new one there."""
    shutil.rmtree(plugin)
    copy(plugin)
    change(plugin, STATS, OLD, NEW)


def pull(plugin: Path) -> None:
    """Change a file in its place."""
    change(plugin, STATS, OLD, NEW)


def swap(plugin: Path) -> None:
    """Move the old folder away and the new one into its place."""
    copy(plugin.parent / "new")
    change(plugin.parent / "new", STATS, OLD, NEW)
    plugin.rename(plugin.parent / "old")
    (plugin.parent / "new").rename(plugin)


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    copy(tmp_path / "plugins" / "mem layer")
    return tmp_path / "plugins" / "mem layer"


@pytest.fixture
def hook(plugin: Path, home: Path, project: Path) -> Iterator[HookRunner]:
    home.mkdir(parents=True, mode=0o700)
    (home / "config.yaml").write_text(json.dumps({"embedding": {"provider": "none"}}))
    runner = HookRunner(plugin, home, project)
    runner.environment["MEMLAYER_RUNTIME_DIR"] = sys.prefix
    yield runner
    end_daemons(home)


def stats(hook: HookRunner, *, start: bool = False) -> str:
    """Return the daemon's answer, "" while there is none."""
    client = Client(str(hook.home), str(hook.root), sys.executable)
    fields = {"project_dir": str(hook.project)}
    try:
        return str(client.call("mem.stats", fields, deadline_s=20.0, start=start)["text"])
    except MemlayerError:
        return ""


def told(hook: HookRunner, prompt: str) -> str:
    return hook.context("user_prompt_submit", "s9", "p9", prompt=prompt)


@pytest.mark.parametrize("replace", [reinstall, pull, swap])
def test_daemon_gives_way_to_the_program_that_is_there_now(hook: HookRunner, plugin: Path, replace: object) -> None:
    hook("session_start", "s1", source="startup")
    wait_for(lambda: stats(hook).startswith(OLD), "the first daemon")
    hook.turn("s1", "p1", "결제 모듈 포트는 몇 번으로 하지?", "결제 모듈 포트는 5433으로 정했습니다.")
    assert callable(replace)
    replace(plugin)
    hook.turn("s1", "p2", "which queue takes failed orders?", "Failed orders go to the queue orders.dead.")
    wait_for(lambda: stats(hook).startswith(NEW), "the new program", within_s=40)
    client = Client(str(hook.home), str(plugin), sys.executable)
    client.call("flush", {"wait": True}, deadline_s=40.0, start=False)
    kept = json.dumps(client.call("list", {"category": "conversation"}, start=False), ensure_ascii=False)
    assert "5433" in kept and "orders.dead" in kept and kept.count('"id"') == 2
    assert "5433" in told(hook, "지난번에 결제 모듈 포트 몇 번으로 정했지?")
    log = (hook.home / "logs" / "daemon.log").read_text("utf-8")
    assert log.count("the program's files have changed") == 1 and "Error" not in log


def test_daemon_leaves_a_program_that_is_gone(hook: HookRunner, plugin: Path) -> None:
    hook("session_start", "s1", source="startup")
    wait_for(lambda: stats(hook).startswith(OLD), "the first daemon")
    hook.turn("s1", "p1", "결제 모듈 포트는 몇 번으로 하지?", "결제 모듈 포트는 5433으로 정했습니다.")
    shutil.rmtree(plugin)
    wait_for(lambda: not is_locked(str(hook.home)), "its end", within_s=40)
    copy(plugin)
    hook("session_start", "s2", source="startup")
    wait_for(lambda: "1 turn" in stats(hook), "the next daemon", within_s=40)


@pytest.mark.parametrize("verb", ["mcp", "view"])
@pytest.mark.parametrize("replace", [reinstall, pull, shutil.rmtree])
def test_server_ends_with_its_program(hook: HookRunner, plugin: Path, verb: str, replace: object) -> None:
    python = getattr(sys, "_base_executable", sys.executable)
    command = [python, "-I", "-S", str(plugin / "bin" / "memlayer"), verb, *(["--no-open"] if verb == "view" else [])]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hook.environment,
        cwd=hook.project, text=True,
    ) as server:  # fmt: skip
        assert server.stdin is not None and server.stdout is not None and server.stderr is not None
        if verb == "mcp":
            server.stdin.write('{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
            server.stdin.flush()
        assert server.stdout.readline()
        assert callable(replace)
        replace(plugin)
        assert server.wait(40) == 0
        assert server.stderr.read() == "memlayer was replaced or removed, so this ends: start it again\n"


def test_module_that_is_gone_is_answered_by_the_new_program(hook: HookRunner, plugin: Path) -> None:
    """A person who asks at once does not meet the old daemon's failed import."""
    change(plugin, STATS, '"""Return index lines', 'from memlayer.text import gone_words\n    """Return index lines')
    (plugin / "memlayer" / "text" / "gone_words.py").write_text("")
    hook("session_start", "s1", source="startup")
    wait_for(lambda: stats(hook).startswith(OLD), "the first daemon")
    reinstall(plugin)
    done = subprocess.run(
        [sys.executable, "-I", plugin / "memlayer" / "cli" / "__main__.py", "search", "배포 요일"],
        env=hook.environment, cwd=hook.project, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "") and "Nothing found" in done.stdout
    wait_for(lambda: stats(hook).startswith(NEW), "the new program")
