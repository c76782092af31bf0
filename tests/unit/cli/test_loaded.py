"""Doctor tries the runtime's packages unless a daemon has loaded the same files."""

from __future__ import annotations

import os
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memlayer.cli.doctor import checks, loaded
from memlayer.errors import DaemonError

LONG_AGO_S = 1_000_000_000.0


class RunningDaemon:
    """The part of a client that doctor asks; `status` raises what it is given."""

    def __init__(self, answer: dict[str, Any] | Exception | None) -> None:
        self._answer = answer

    def status(self) -> dict[str, Any] | None:
        if isinstance(self._answer, Exception):
            raise self._answer
        return self._answer


def status(of: str, **changed: Any) -> dict[str, Any]:
    since_ms = int(time.time() * 1000) + 60_000  # files of this test are older
    model = {"provider": "fastembed"}
    answer = {"store": "open", "mode": "hybrid", "model": model, "python": of, "since_ms": since_ms}
    return {**answer, **changed}


def add_distribution(site: Path, name: str) -> Path:
    """Return the module of a new distribution, with its RECORD."""
    module, info = site / name / "__init__.py", site / f"{name}-1.0.dist-info"
    module.parent.mkdir()
    module.write_text(f"name = {name!r}\n")
    info.mkdir()
    rows = [f"{name}/__init__.py,{loaded.digest_of(str(module))},9", f"{name}/__pycache__/x.pyc,,"]
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,"]) + "\n")
    return module


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A runtime's python with one package."""
    package = tmp_path / "런타임" / "lib" / "python3.11" / "site-packages" / "lancedb"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("x = 1\n")
    (package / "__pycache__").mkdir()
    for name in loaded.OF_VERBS:
        add_distribution(package.parent, name)
    (tmp_path / "런타임" / "bin").mkdir()
    return str(tmp_path / "런타임" / "bin" / "python")


def by_daemon(answer: dict[str, Any] | Exception | None, python: str) -> bool:
    return loaded.by_daemon(RunningDaemon(answer), python)  # type: ignore[arg-type]


def test_same_files_in_a_daemon_count_as_loaded(python: str) -> None:
    assert by_daemon(status(python), python)


def test_a_daemon_without_a_model_as_set_has_loaded_all_that_it_uses(python: str) -> None:
    without = status(python, mode="lexical", model={"provider": "none"})
    assert by_daemon(without, python)
    assert not by_daemon({**without, "store": "failed"}, python)


@pytest.mark.parametrize(
    "changed",
    [
        {"store": "failed"},
        {"store": "opening"},
        {"mode": "lexical"},
        {"model": {"provider": "openai"}},  # loads no fastembed
        {"python": "/another/python"},
        {"python": None},  # a daemon of an earlier version
        {"since_ms": 1000},  # every file was written since
    ],
)
def test_other_daemons_prove_nothing(python: str, changed: dict[str, Any]) -> None:
    assert not by_daemon(status(python, **changed), python)


@pytest.mark.parametrize("answer", [None, DaemonError("it hangs")])
def test_no_daemon_proves_nothing(python: str, answer: Exception | None) -> None:
    assert not by_daemon(answer, python)


@pytest.mark.parametrize(
    ("change", "is_seen"),
    [
        (lambda package: (package / "__init__.py").write_text("raise ImportError\n"), True),
        (lambda package: (package / "__init__.py").unlink(), True),
        (lambda package: (package / "더.py").write_text(""), True),
        (lambda package: (package / "__pycache__" / "x.pyc").write_bytes(b"x"), False),
    ],
)
def test_changes_since_are_seen(python: str, change: Callable[[Path], object], is_seen: bool) -> None:
    site = Path(python).parent.parent / "lib" / "python3.11" / "site-packages"
    time.sleep(0.02)
    since_s = time.time()
    time.sleep(0.02)
    assert loaded.unchanged_since(str(site), since_s)
    change(site / "lancedb")
    assert loaded.unchanged_since(str(site), since_s) is not is_seen


def test_an_older_date_does_not_hide_a_change(python: str) -> None:
    site = Path(python).parent.parent / "lib" / "python3.11" / "site-packages"
    file = site / "lancedb" / "__init__.py"
    time.sleep(0.02)
    since_s = time.time()
    time.sleep(0.02)
    file.write_text("raise ImportError\n")
    os.utime(file, (LONG_AGO_S, LONG_AGO_S))
    assert not loaded.unchanged_since(str(site), since_s)


def test_runtime_is_tried_unless_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "requirements.lock").write_text("")
    runtime = tmp_path / "runtime"
    (runtime / "bin").mkdir(parents=True)
    python = runtime / "bin" / "python"
    python.write_text("#!/bin/sh\necho 'ModuleNotFoundError: No module named lancedb' >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setenv("MEMLAYER_RUNTIME_DIR", str(runtime))
    assert checks.runtime_state(str(tmp_path), str(tmp_path)).state == checks.FAIL
    assert checks.runtime_state(str(tmp_path), str(tmp_path), lambda used: used == str(python)).state == checks.OK


def test_this_runtime_has_the_command_lines_packages() -> None:
    site = sysconfig.get_paths()["purelib"]
    assert [name for name in loaded.OF_VERBS if not loaded.is_whole(site, name)] == []


@pytest.mark.parametrize("name", loaded.OF_VERBS)
@pytest.mark.parametrize(
    "damage",
    [
        lambda module: module.write_text("raise ImportError\n"),
        lambda module: module.write_text(""),
        lambda module: module.unlink(),
        lambda module: next(module.parent.parent.glob(f"{module.parent.name}-*/RECORD")).unlink(),
        lambda module: next(module.parent.parent.glob(f"{module.parent.name}-*/RECORD")).write_text("한 줄"),
    ],
)
def test_damage_within_a_package_of_the_verbs_is_seen(python: str, name: str, damage: Callable[[Path], object]) -> None:
    module = Path(python).parent.parent / "lib" / "python3.11" / "site-packages" / name / "__init__.py"
    times = module.stat()
    damage(module)
    if module.exists():
        os.utime(module, (times.st_atime, times.st_mtime))
    assert not by_daemon(status(python), python)
