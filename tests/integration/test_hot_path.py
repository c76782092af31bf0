"""Imports of a hook process.

With a live daemon next to nothing, and without one nothing slow.
"""

import json
import subprocess
from pathlib import Path

import pytest

from memlayer.edge import HOOKS
from tests.support.processes import Daemon, HookRunner

OWN = {
    "memlayer",
    "memlayer.errors",
    "memlayer.edge",
    "memlayer.edge.hook",
    "memlayer.edge.hook.main",
    "memlayer.edge.home",
    "memlayer.edge.ipc",
    "memlayer.edge.ipc.protocol",
    "memlayer.edge.home.project_env",  # only where variables of ours are set, as they are here
}
BUILT_IN = {"sys", "posix", "time", "_socket"}
# Each costs a hook a good part of a bare interpreter start.
DEAR = {"asyncio", "argparse", "dataclasses", "inspect", "logging", "pathlib", "socket", "subprocess", "tempfile",
        "traceback", "typing"}  # fmt: skip
SAID = {"prompt": "포트가 몇 번이었지?", "last_assistant_message": "5433", "source": "startup", "reason": "other",
        "tool_name": "Bash", "tool_input": {"command": "make deploy"}, "error": "exit 2",
        "task_id": "1", "task_subject": "장바구니 고치기"}  # fmt: skip


def imported(hook: HookRunner, *arguments: str, stdin: bytes = b"") -> set[str]:
    """The modules that `python3 -I -S <arguments>` imports, whatever becomes of it."""
    done = subprocess.run(
        [hook.python, "-I", "-S", "-X", "importtime", *arguments], input=stdin, capture_output=True, timeout=20,
        env=hook.environment, cwd=hook.project, check=True,
    )  # fmt: skip
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def imported_by(hook: HookRunner, name: str, *host: str) -> set[str]:
    """Return the imports of hooks/<name>.py beyond a bare start."""
    payload = {"session_id": "s1", "prompt_id": "p1", "transcript_path": "", "cwd": str(hook.project), **SAID}
    script = hook.root / "hooks" / (name + ".py")
    return imported(hook, str(script), *host, stdin=json.dumps(payload).encode()) - imported(hook, "-c", "pass")


def test_hook_imports_little_with_daemon(daemon: Daemon, hook: HookRunner) -> None:
    daemon.settle()
    for name in (stem for stem, row in HOOKS.items() if row.wait_s):
        found = imported_by(hook, name)
        assert found >= OWN, name
        assert found - OWN <= BUILT_IN, name
        assert imported_by(hook, name, "codex") == found, name


@pytest.mark.parametrize("name", [stem for stem, row in HOOKS.items() if row.kind not in ("", "task")])
def test_hook_imports_cheaply_without_daemon(hook: HookRunner, name: str, tmp_path: Path) -> None:
    runtime = tmp_path / "runtime"
    (runtime / "bin").mkdir(parents=True)
    (runtime / "bin" / "python").write_text("#!/bin/sh\n")
    (runtime / "bin" / "python").chmod(0o755)
    hook.environment["MEMLAYER_RUNTIME_DIR"] = str(runtime)
    found = imported_by(hook, name)
    assert "memlayer.edge.hook.fallback" in found
    assert found & DEAR == set()
    assert len(hook.spooled) == 1
    assert (hook.home / "wake.stamp").exists()


@pytest.mark.parametrize("name", [stem for stem, row in HOOKS.items() if row.wait_s and not row.kind])
def test_asking_hook_is_silent_without_daemon(hook: HookRunner, name: str) -> None:
    found = imported_by(hook, name)
    assert "memlayer.edge.hook.fallback" not in found and hook.spooled == []
    assert hook(name, agent_type="general-purpose").stdout == b""
