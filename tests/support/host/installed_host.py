"""Installs the real host from npm into a cache folder.

At a pinned and at the newest version.
"""

import fcntl
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
PINNED_VERSION = "2.1.197"  # the oldest version that is supported
CODEX_VERSION = "0.171.0"
INSTALL_TIMEOUT_S = 600


class HostUnavailable(Exception):
    """The host cannot be installed here.

    No npm, no registry, or no build for this machine.
    """


@dataclass(frozen=True)
class InstalledHost:
    """One version of the host.

    `claude` is the absolute path of its executable.
    """

    version: str
    claude: Path


def cache_folder() -> Path:
    """Where installs are kept between runs: MEMLAYER_HOST_CACHE, else .cache/host in the repository."""
    named = os.environ.get("MEMLAYER_HOST_CACHE")
    return Path(named) if named else Path(__file__).resolve().parents[3] / ".cache" / "host"


def newest_version() -> str:
    """Return the newest version that the registry serves.

    Without a registry, the newest one in the cache.
    """
    try:
        said = _npm(["view", PACKAGE, "version"], cwd=Path.home(), timeout_s=60).strip()
    except HostUnavailable:
        kept = sorted((path.name for path in cache_folder().glob("[0-9]*")), key=_by_number)
        if not kept:
            raise
        return kept[-1]
    if not re.fullmatch(r"\d+\.\d+\.\d+", said):
        raise HostUnavailable(f"npm view answered {said!r}, which is no version")
    return said


def install(version: str) -> InstalledHost:
    """Install `version` unless the cache has it.

    One process at a time; raises HostUnavailable.
    """
    cache_folder().mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / "install.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return _installed(version)


def _installed(version: str) -> InstalledHost:
    folder = cache_folder() / version
    if _version_of(folder) != version:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "package.json").write_text('{"private": true}\n')
        # Some npm settings skip install scripts, so the package's own one is run by name: it puts the
        # binary in its place.
        _npm(["install", f"{PACKAGE}@{version}", "--save-exact", "--ignore-scripts"], cwd=folder)
        _run(["node", "install.cjs"], cwd=folder / "node_modules" / PACKAGE)
        if _version_of(folder) != version:
            raise HostUnavailable(f"{PACKAGE}@{version} is installed but does not say that version")
    return InstalledHost(version=version, claude=_executable(folder))


def install_codex() -> Path:
    """Return the executable of the pinned Codex, installed unless the cache has it. Raises HostUnavailable."""
    folder = cache_folder() / f"codex-{CODEX_VERSION}"
    codex = folder / "node_modules" / ".bin" / "codex"
    folder.mkdir(parents=True, exist_ok=True)
    with open(cache_folder() / "install.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not codex.exists():
            (folder / "package.json").write_text('{"private": true}\n')
            _npm(["install", f"@openai/codex@{CODEX_VERSION}", "--save-exact", "--ignore-scripts"], cwd=folder)
    if CODEX_VERSION not in _run([str(codex), "--version"], cwd=folder, timeout_s=60):
        raise HostUnavailable(f"Codex {CODEX_VERSION} is installed but does not say that version")
    return codex


def _executable(folder: Path) -> Path:
    return folder / "node_modules" / ".bin" / "claude"


def _version_of(folder: Path) -> str:
    claude = _executable(folder)
    if not claude.exists():
        return ""
    bare = {"HOME": str(folder), "PATH": os.defpath, "DISABLE_AUTOUPDATER": "1"}
    said = subprocess.run([claude, "--version"], capture_output=True, text=True, env=bare, timeout=60, check=False)
    return said.stdout.split(" ")[0].strip()


def _npm(arguments: list[str], *, cwd: Path, timeout_s: float = INSTALL_TIMEOUT_S) -> str:
    quiet = ["--loglevel=error", "--no-fund", "--no-audit", "--no-update-notifier"]
    return _run(["npm", *arguments, *quiet], cwd=cwd, timeout_s=timeout_s)


def _run(command: list[str], *, cwd: Path, timeout_s: float = INSTALL_TIMEOUT_S) -> str:
    """Run with the caller's environment and return stdout.

    npm's registry is the user's own setting.
    """
    try:
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout_s, check=False)
    except (FileNotFoundError, subprocess.TimeoutExpired) as error:
        raise HostUnavailable(str(error)) from error
    if done.returncode:
        raise HostUnavailable(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def _by_number(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
