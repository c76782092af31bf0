"""memlayer as a tool of uv and of pipx, from a clone.

It works, is upgraded with the clone, and is uninstalled. Needs a package index; uses uv's cache.
"""

import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ROOT = Path(__file__).resolve().parents[2]
UV = Path(sys.prefix) / "bin" / "uv"
LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "*_cache", "__pycache__", "dist", "build")
Verb = Callable[..., str]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of the sources that a test may change."""
    return Path(shutil.copytree(ROOT, tmp_path / "clone 폴더", ignore=LEFT_OUT))


def release(clone: Path, version: str) -> None:
    """Have the clone be of another version, as a pull may."""
    (clone / "memlayer" / "__init__.py").write_text(f'"""memlayer."""\n\n__version__ = "{version}"\n', encoding="utf-8")


def environment(folder: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MEMLAYER_", "CLAUDE"))}
    tools = {"UV_TOOL_DIR": "uv", "UV_TOOL_BIN_DIR": "bin", "PIPX_HOME": "pipx", "PIPX_BIN_DIR": "bin"}
    cache = subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
    return {
        **kept, **{name: str(folder / value) for name, value in tools.items()}, "UV_CACHE_DIR": cache,
        "MEMLAYER_HOME": str(folder / "memory 집"),
    }  # fmt: skip


@pytest.mark.parametrize("tool", ["uv", "pipx"])
def test_tool_is_installed_upgraded_and_removed(tool: str, clone: Path, tmp_path: Path) -> None:
    told = environment(tmp_path)

    def run(*words: str | Path, code: int = 0) -> str:
        done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, env=told, timeout=600)
        assert done.returncode == code, done.stderr or done.stdout
        return done.stdout

    if tool == "uv":
        manager: list[str | Path] = [UV, "tool"]
        run(*manager, "install", "--python", sys.executable, clone)
    else:
        venv.create(tmp_path / "of pipx", with_pip=True)
        run(tmp_path / "of pipx" / "bin" / "python", "-m", "pip", "install", "--quiet", "pipx")
        manager = [tmp_path / "of pipx" / "bin" / "pipx"]
        run(*manager, "install", "--python", sys.executable, clone)
    memlayer = tmp_path / "bin" / "memlayer"
    try:
        assert "installed as a package" in run(memlayer, "setup")
        assert "배포" in run(memlayer, "remember", "배포는 화요일에 한다")
        assert "[mem:" in run(memlayer, "search", "배포")
        assert "installed as a package" in run(memlayer, "doctor")
        release(clone, "9.8.7")
        run(*manager, "upgrade", "memlayer")
        assert run(memlayer, "--version").startswith("memlayer 9.8.7, ")
        assert "배포는" in run(memlayer, "list")
    finally:
        run(memlayer, "daemon", "stop")
    run(*manager, "uninstall", "memlayer")
    assert not memlayer.exists()
