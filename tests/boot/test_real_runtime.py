"""The real runtime, built from requirements.lock.

Its size, its first prompt, damage in it, and its repair. Needs a package index; uses the person's pip or uv cache, so
that nothing is fetched twice.
"""

import json
import os
import pwd
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import health
from memlayer.edge.ipc.client import Client, is_locked

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).resolve().parents[2]
BASE_PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
MAX_BYTES = 620_000_000  # 555 MiB with the lock of November 2026 (Linux, x86-64, by pip)


class Installed:
    """A home with a runtime of its own, and its hook."""

    def __init__(self, folder: Path) -> None:
        self.home, self.project = folder / "나의 home", folder / "work 폴더"
        self.project.mkdir()
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMLAYER_", "CLAUDE"))}
        self.environ = {**kept, "MEMLAYER_HOME": str(self.home), "MEMLAYER_PYTHON": BASE_PYTHON}
        self.environ["HOME"] = pwd.getpwuid(os.getuid()).pw_dir

    def run(self, *argv: str, **environ: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(ROOT / "bin" / "memlayer"), *argv], env={**self.environ, **environ}, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=400, cwd=self.project,
        )  # fmt: skip

    def hook(self, name: str, **fields: str) -> dict[str, object]:
        done = subprocess.run(
            ["sh", str(ROOT / "hooks" / "run"), name], env={**self.environ, "CLAUDE_PROJECT_DIR": str(self.project)},
            input=json.dumps({"session_id": "s1", "cwd": str(self.project), **fields}), capture_output=True, text=True,
            timeout=30, cwd=self.project,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        return dict(json.loads(done.stdout)) if done.stdout else {}

    @property
    def packages(self) -> Path:
        (site,) = (self.home / "runtime" / "current").resolve().glob("lib/python3*/site-packages")
        return site

    def daemon_comes(self) -> None:
        ends_s = time.monotonic() + 60
        client = Client(str(self.home), str(ROOT))
        while (found := client.status()) is None or found["store"] != "open":
            assert time.monotonic() < ends_s, "no daemon came"
            time.sleep(0.1)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    found = Installed(tmp_path_factory.mktemp("installed"))
    found.hook("session_start", source="startup")  # says that it prepares, and has it made in the background
    yield found
    Client(str(found.home), str(ROOT)).stop()


def test_first_prompt_after_setup_is_answered(installed: Installed) -> None:
    installed.hook("user_prompt_submit", prompt_id="p1", prompt="우리는 배포를 화요일 오전에만 하기로 했다")
    installed.hook(
        "stop", prompt_id="p1", last_assistant_message="Noted: deploys on Tuesday mornings only, 화요일 오전."
    )
    assert installed.run("setup").returncode == 0  # waits for the one in the background
    installed.daemon_comes()
    Client(str(installed.home), str(ROOT)).call("flush", {"wait": True}, deadline_s=60.0)
    said = installed.hook("user_prompt_submit", prompt_id="p2", prompt="배포는 언제 하기로 했지?", session_id="s2")
    assert said["systemMessage"] == health.READY
    assert "화요일 오전" in json.dumps(said["hookSpecificOutput"], ensure_ascii=False)
    again = installed.hook("session_start", source="startup", session_id="s3")
    assert health.READY not in str(again.get("systemMessage"))


def test_runtime_works_and_has_its_size(installed: Installed) -> None:
    assert installed.run("setup").returncode == 0
    files = [path for path in (installed.home / "runtime" / "current").resolve().rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files if not path.is_symlink()) < MAX_BYTES
    found = json.loads(installed.run("doctor", "--json").stdout)
    states = {one["name"]: one["state"] for one in found["checks"]}
    assert {name: states[name] for name in ("runtime", "daemon", "store", "model")} == dict.fromkeys(
        ("runtime", "daemon", "store", "model"), "ok"
    )


@pytest.mark.parametrize(
    "verb", [["doctor"], ["--version"], ["daemon"], ["daemon", "stop"], ["daemon", "status"]], ids=" ".join
)
def test_bare_verbs_build_no_runtime(tmp_path: Path, verb: list[str]) -> None:
    bare = Installed(tmp_path)
    done = bare.run(*verb, "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (1 if verb == ["doctor"] else 0, "")
    if verb == ["doctor"]:
        runtime = found["checks"][0]
        assert (runtime["name"], runtime["state"]) == ("runtime", "fail") and "memlayer setup" in runtime["remedy"]
    assert not bare.home.exists()


def test_missing_package_is_noticed_and_mended(installed: Installed) -> None:
    assert installed.run("setup").returncode == 0
    assert installed.run("remember", "배포는 화요일 오전에만 한다").returncode == 0
    Client(str(installed.home), str(ROOT)).stop()
    lancedb = installed.packages / "lancedb"
    lancedb.rename(installed.home / "lancedb")
    found = json.loads(installed.run("doctor", "--json").stdout)["checks"][0]
    assert (found["name"], found["state"]) == ("runtime", "fail")
    assert not is_locked(str(installed.home))
    (installed.home / "lancedb").rename(lancedb)
    assert installed.run("list").returncode == 0
    Client(str(installed.home), str(ROOT)).stop()
    (lancedb / "table.py").unlink()  # damaged within: only trying shows it
    found = json.loads(installed.run("doctor", "--json").stdout)["checks"][0]
    assert found["state"] == "fail" and "lancedb.table" in found["says"]
    assert json.loads(installed.run("setup", "--json").stdout)["built"] is True
    installed.daemon_comes()
    listed = installed.run("list")
    assert listed.returncode == 0 and "배포" in listed.stdout


def test_package_put_back_needs_no_restart(installed: Installed) -> None:
    """With a runtime that the person has named, which memlayer never touches."""
    assert installed.run("setup").returncode == 0
    Client(str(installed.home), str(ROOT)).stop()
    named = {"MEMLAYER_RUNTIME_DIR": str((installed.home / "runtime" / "current").resolve())}
    lancedb = installed.packages / "lancedb"
    lancedb.rename(installed.home / "lancedb")
    failed = installed.run("list", **named)
    assert failed.returncode == 1 and "does not work (No module named 'lancedb'): run `memlayer setup`" in failed.stderr
    refused = installed.run("setup", **named)
    assert refused.returncode == 1 and "unset it" in refused.stderr
    time.sleep(3.5)
    (installed.home / "lancedb").rename(lancedb)
    mended = installed.run("list", **named)
    assert mended.returncode == 0, mended.stderr
    assert json.loads(installed.run("daemon", "status", "--json").stdout)["running"] is True
