"""Where a hook meets the world: how its home is written."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from memlayer.wire import paths
from tests.processes import HookRunner

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("stands_in", ["~/메모리 mem", "~"])
def test_a_home_that_begins_with_a_tilde_is_in_the_persons_folder(
    hook: HookRunner, project: Path, stands_in: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The host's settings hand `env` on as it is written: no shell expands it."""
    person = Path(hook.environment["HOME"])
    hook.environment["MEMLAYER_HOME"] = stands_in
    home = person / stands_in[2:]
    home.mkdir(parents=True, mode=0o700)
    (home / "setup.stamp").touch()
    hook("user_prompt_submit", "s1", "p1", prompt="포트는 7711이다")
    assert [json.loads(path.read_text())["text"] for path in (home / "spool").glob("*.json")] == ["포트는 7711이다"]
    assert list(project.iterdir()) == []
    monkeypatch.setenv("HOME", str(person))
    assert paths.home_of({"MEMLAYER_HOME": stands_in}) == str(home).rstrip("/")


@pytest.mark.parametrize("start", ["hooks/run", "bin/memlayer"])
def test_the_launchers_look_for_the_remembered_python_there_too(tmp_path: Path, start: str) -> None:
    (tmp_path / "내 mem").mkdir()
    stand_in = tmp_path / "python"
    stand_in.write_text("#!/bin/sh\necho started\n")
    stand_in.chmod(0o755)
    (tmp_path / "내 mem" / "python").write_text("%s\n" % stand_in)
    done = subprocess.run(
        ["/bin/sh", str(ROOT / start), "stop"], env={"HOME": str(tmp_path), "MEMLAYER_HOME": "~/내 mem", "PATH": ""},
        capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=20, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("started\n", 0)
