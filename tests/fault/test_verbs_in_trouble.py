"""bin/memlayer on a full disk and in a read-only home.

Verbs that need to write nothing still work.
"""

import contextlib
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fault.confined import NotHere, fill, powerless, small_disk
from tests.support.witness import ROOT

MB = 1 << 20


def verb(home: Path, project: Path, *words: str, confined: bool = False) -> subprocess.CompletedProcess[str]:
    """Run bin/memlayer as a person does."""
    argv = [str(ROOT / "bin" / "memlayer"), *words]
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(home.parent), "MEMLAYER_HOME": str(home),
        "MEMLAYER_EMBEDDING__PROVIDER": "none", "MEMLAYER_RUNTIME_DIR": os.environ["MEMLAYER_RUNTIME_DIR"],
    }  # fmt: skip
    return subprocess.run(
        powerless(argv) if confined else argv, env=environment, cwd=project, capture_output=True, text=True, timeout=90
    )


@pytest.fixture(autouse=True)
def needs_a_runtime() -> None:
    if "MEMLAYER_RUNTIME_DIR" not in os.environ:
        pytest.skip("no runtime is named in MEMLAYER_RUNTIME_DIR")


@pytest.fixture
def home_on_small_disk(tmp_path: Path) -> Iterator[Path]:
    with contextlib.ExitStack() as held:
        try:
            yield held.enter_context(small_disk(tmp_path / "disk", 40 * MB)) / "메모리"
        except NotHere as why:
            pytest.skip("no small disk can be mounted here: %s" % why)


def test_interpreter_is_remembered_once(home: Path, project: Path) -> None:
    home.mkdir(mode=0o700)
    assert verb(home, project, "--version").returncode == 0
    written = os.stat(home / "python")
    assert os.access((home / "python").read_text().strip(), os.X_OK)
    assert verb(home, project, "--version").returncode == 0
    again = os.stat(home / "python")
    assert (again.st_ino, again.st_mtime_ns) == (written.st_ino, written.st_mtime_ns)


@pytest.mark.parametrize("named", ["/no/such/python3", "", "python3", "\udcff"])
def test_missing_interpreter_is_replaced(home: Path, project: Path, named: str) -> None:
    home.mkdir(mode=0o700)
    (home / "python").write_bytes(named.encode("utf-8", "surrogateescape"))
    assert verb(home, project, "--version").returncode == 0
    assert os.access((home / "python").read_text().strip(), os.X_OK)


def test_unwritable_home_stops_no_verb(home: Path, project: Path) -> None:
    home.mkdir(mode=0o500)
    try:
        for words in (("--version",), ("config",), ("daemon", "status")):
            done = verb(home, project, *words, confined=True)
            assert (done.returncode, done.stderr) == (0, ""), words
        found = verb(home, project, "doctor", confined=True)
    except NotHere as why:
        pytest.skip(str(why))
    finally:
        home.chmod(0o700)
    assert found.returncode == 1 and "fail" in found.stdout and "Traceback" not in found.stderr


@pytest.mark.parametrize("locked", ["", "daemon.lock", "logs", "logs/daemon.err"])
def test_verb_without_a_daemon_names_what_cannot_be_written(home: Path, project: Path, locked: str) -> None:
    (home / "logs").mkdir(parents=True, mode=0o700)
    (home / "daemon.lock").touch()
    if locked.endswith(".err"):
        (home / locked).touch()
    (home / locked).chmod(0o500)
    try:
        for words in (("search", "배포 요일"), ("list",)):
            done = verb(home, project, *words, confined=True)
            assert done.returncode == 1 and done.stderr.startswith(
                f"memlayer: no daemon can start: {home / locked} cannot be written."
            ), done.stderr
            assert done.stderr.count("\n") == 1
        assert "cannot be written" in verb(home, project, "doctor", confined=True).stdout
    except NotHere as why:
        pytest.skip(str(why))
    finally:
        (home / locked).chmod(0o700)


def test_full_disk_allows_reading(home_on_small_disk: Path, project: Path) -> None:
    home = home_on_small_disk
    assert verb(home, project, "remember", "배포는 화요일에 한다").returncode == 0
    (home / "python").unlink(missing_ok=True)
    hog = fill(home.parent)
    try:
        assert "화요일" in verb(home, project, "list").stdout
        found = verb(home, project, "doctor")
        assert "disk" in found.stdout and "Traceback" not in found.stderr
        refused = verb(home, project, "remember", "the API listens on port 9090")
        assert refused.returncode == 1 and len(refused.stderr.splitlines()) == 1 and "space" in refused.stderr
    finally:
        hog.unlink()
        assert verb(home, project, "remember", "after that").returncode == 0
        verb(home, project, "daemon", "stop")
