"""Finding the runtime, choosing its Python, install environments; builds nothing."""

import fcntl
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from memlayer.edge.bootstrap import install, provision, runtime
from memlayer.edge.home import paths
from memlayer.errors import UserError

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(autouse=True)
def no_named_runtime(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MEMLAYER_RUNTIME_DIR", raising=False)
    monkeypatch.delenv("MEMLAYER_PYTHON", raising=False)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "플러그인 root"
    folder.mkdir()
    (folder / "requirements.lock").write_bytes(b"click==8.4.0 \\\n    --hash=sha256:00\n")
    return folder


@pytest.fixture
def home(tmp_path: Path, root: Path) -> Path:
    """A home with a complete runtime `one`, in use."""
    home = tmp_path / "집 home"
    add_runtime(home, "one", root)
    provision.switch(str(home / "runtime"), "one")
    return home


def add_runtime(home: Path, name: str, root: Path) -> Path:
    venv = home / "runtime" / name
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").symlink_to(sys.executable)
    packages = venv / "lib" / "python3.12" / "site-packages"
    for package in ("lancedb", "click"):
        (packages / package).mkdir(parents=True)
    install.note_contents(str(venv))
    (venv / "requirements.lock").write_bytes((root / "requirements.lock").read_bytes())
    return venv


def find(home: Path, root: Path) -> str | None:
    return runtime.find_runtime(str(home), str(root))


def test_runtime_link_is_resolved(home: Path, root: Path) -> None:
    assert find(home, root) == str(home / "runtime" / "one" / "bin" / "python")


def test_empty_home_has_no_runtime(tmp_path: Path, root: Path) -> None:
    assert find(tmp_path / "없음", root) is None


@pytest.mark.parametrize("changed", [b"click==8.4.1 \\\n    --hash=sha256:00\n", b"", b"click==8.4.0\n"])
def test_other_lock_makes_runtime_stale(home: Path, root: Path, changed: bytes) -> None:
    (root / "requirements.lock").write_bytes(changed)
    assert find(home, root) is None


def test_half_made_runtime_is_none(home: Path, root: Path) -> None:
    (home / "runtime" / "one" / "requirements.lock").unlink()
    assert find(home, root) is None


@pytest.mark.parametrize("gone", ["lancedb", "click", "", "contents"])
def test_runtime_without_package_is_none(home: Path, root: Path, gone: str) -> None:
    venv = home / "runtime" / "one"
    place = venv / gone if gone == "contents" else venv / "lib" / "python3.12" / "site-packages" / gone
    place.rename(venv / "away")
    assert find(home, root) is None
    (venv / "away").rename(place)
    assert find(home, root) is not None


def test_runtime_with_more_packages_is_found(home: Path, root: Path) -> None:
    (home / "runtime" / "one" / "lib" / "python3.12" / "site-packages" / "anthropic").mkdir()
    assert find(home, root) is not None


def test_runtime_without_base_is_none(home: Path, root: Path) -> None:
    python = home / "runtime" / "one" / "bin" / "python"
    python.unlink()
    python.symlink_to("/nonexistent/python3.11")
    assert find(home, root) is None


def test_named_venv_is_not_checked(tmp_path: Path, home: Path, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    venv = add_runtime(tmp_path / "dev", "venv", root)
    (venv / "requirements.lock").write_text("of another lock")
    monkeypatch.setenv("MEMLAYER_RUNTIME_DIR", str(venv))
    assert find(home, root) == str(venv / "bin" / "python")
    (venv / "bin" / "python").unlink()
    assert find(home, root) is None
    with pytest.raises(UserError, match="MEMLAYER_RUNTIME_DIR"):
        provision.build_runtime(str(home), str(root), lambda step, line: None)


def test_switch_replaces_the_link(home: Path, root: Path) -> None:
    add_runtime(home, "two", root)
    provision.switch(str(home / "runtime"), "two")
    assert find(home, root) == str(home / "runtime" / "two" / "bin" / "python")
    assert not [name for name in os.listdir(home / "runtime") if name.startswith(".")]


def test_running_build_is_not_awaited(home: Path, root: Path) -> None:
    (root / "requirements.lock").write_bytes(b"changed\n")
    quiet = lambda step, line: None  # noqa: E731
    with open(runtime.build_lock(str(home)), "wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert runtime.setup_is_running(str(home))
        assert provision.build_runtime(str(home), str(root), quiet, wait=False) is None
        assert runtime.spawn_setup(str(home), str(root)) is False
    assert not runtime.setup_is_running(str(home))


def test_failed_setup_waits_for_retry(home: Path, root: Path) -> None:
    failure = Path(runtime.failure_file(str(home)))
    failure.write_text("setup failed: 디스크\n", encoding="utf-8")
    assert runtime.setup_failure(str(home)) == "setup failed: 디스크"
    assert runtime.spawn_setup(str(home), str(root)) is False
    long_ago_s = time.time() - runtime.RETRY_AFTER_S - 1
    os.utime(failure, (long_ago_s, long_ago_s))
    assert not runtime.failed_lately(str(home))


def test_made_folders_are_private(tmp_path: Path) -> None:
    paths.make_folder(str(tmp_path / "a" / "나" / "c"))
    for folder in (tmp_path / "a", tmp_path / "a" / "나", tmp_path / "a" / "나" / "c"):
        assert folder.stat().st_mode & 0o777 == 0o700


def test_finding_runtime_imports_nothing_slow() -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); from memlayer.edge.bootstrap import runtime;"
        "runtime.find_runtime('/nonexistent', sys.argv[1]); print(*sys.modules)"
    )
    command = [sys.executable, "-I", "-S", "-c", code, str(ROOT)]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert not loaded & {"subprocess", "typing", "json", "re", "shutil", "hashlib", "logging", "dataclasses", "fcntl"}


# choosing a Python


@pytest.fixture
def stand_in(tmp_path: Path) -> Callable[..., str]:
    """Make an executable that answers like an interpreter: its base, then why it does not fit."""

    def make(name: str, problem: str = "") -> str:
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f'#!/bin/sh\necho "$0"\necho "{problem}"\n')
        path.chmod(0o755)
        return str(path)

    return make


def choose(path: str, *, has_uv: bool = False, **environ: str) -> str:
    return install.choose_python({"PATH": os.path.dirname(path), **environ}, has_uv=has_uv, own="")


@pytest.mark.parametrize("problem", ["3.9", "3.15", "3.12 without ensurepip", "3.14 free-threaded"])
def test_needed_python_is_named(stand_in: Callable[..., str], problem: str) -> None:
    path = stand_in("python3", problem)
    with pytest.raises(UserError, match=rf"^Python 3\.11 to 3\.14 with venv is needed; found: {problem}\. Please .*$"):
        choose(path)
    assert choose(path, has_uv=True) == ""


def test_uv_replaces_a_missing_python(tmp_path: Path) -> None:
    assert choose(str(tmp_path / "python3"), has_uv=True) == ""
    with pytest.raises(UserError, match="found: none"):
        choose(str(tmp_path / "python3"))


def test_newest_python_on_path_wins(stand_in: Callable[..., str]) -> None:
    stand_in("python3")
    stand_in("python3.12")
    stand_in("python3.14", "3.14 without _ssl")
    assert choose(newest := stand_in("python3.13")) == newest


@pytest.mark.parametrize("has_uv", [True, False])
def test_named_python_alone_is_tried(stand_in: Callable[..., str], has_uv: bool) -> None:
    stand_in("python3.13")
    old = stand_in("옛것", "3.9")
    with pytest.raises(UserError, match=r"^MEMLAYER_PYTHON=.*found: 3\.9\."):
        choose(old, has_uv=has_uv, MEMLAYER_PYTHON=old)
    with pytest.raises(UserError, match=r"found: one that does not run\."):
        choose(old, has_uv=has_uv, MEMLAYER_PYTHON=old + ".none")


def test_probed_venv_names_its_base() -> None:
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    assert install.probe(sys.executable) == (base, "")


def test_remembered_python_is_the_base(home: Path) -> None:
    provision.remember_python(str(home), sys.executable)
    assert (home / "python").read_text() == os.path.realpath(getattr(sys, "_base_executable", "")) + "\n"
    provision.remember_python(str(home), str(home / "없음"))  # one that does not run changes nothing
    assert (home / "python").exists()


# environments of installs


def test_install_environment_keeps_indexes() -> None:
    given = {
        "PATH": "/bin", "PIP_INDEX_URL": "u", "https_proxy": "p", "UV_INDEX": "i", "SSL_CERT_FILE": "c",
        "PYTHONPATH": "x", "PYTHONHOME": "x", "PIP_TARGET": "x", "PIP_USER": "1", "VIRTUAL_ENV": "x",
    }  # fmt: skip
    assert set(install.install_environ(given)) == {"PATH", "PIP_INDEX_URL", "https_proxy", "UV_INDEX", "SSL_CERT_FILE"}


def test_background_setup_gets_no_keys() -> None:
    given = {"PATH": "/bin", "ANTHROPIC_API_KEY": "k", "PIP_CERT": "c", "http_proxy": "p",
             "MEMLAYER_HOME": "h", "PYTHONPATH": "x", "CLAUDECODE": "1"}  # fmt: skip
    assert set(runtime.setup_environ(given)) == {"PATH", "PIP_CERT", "http_proxy", "MEMLAYER_HOME"}
