"""Choose the runtime's Python: new, no shim, able to make a venv."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
import sys

from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

OLDEST = (3, 11)
NEWEST = (3, 14)  # the newest that every pinned package has a wheel for

HOW_TO_GET = "install one: apt install python3.12-venv, brew install python@3.12 or uv python install 3.12"

OWN_PYTHON: str = getattr(sys, "_base_executable", "") or sys.executable
USUAL_PLACES = (
    "/usr/bin",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/opt/local/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/Library/Frameworks/Python.framework/Versions/*/bin",
    "~/.local/bin",
    "~/.local/share/uv/python/*/bin",
    "~/.local/share/mise/installs/python/*/bin",
    "~/.pyenv/versions/*/bin",
    "~/.asdf/installs/python/*/bin",
    "~/miniconda3/bin",
)

# Prints the version; whether a venv with pip can be made, TLS works, threads are free; the base interpreter.
PROBE = """
import sys, importlib.util as u
has = lambda name: u.find_spec(name) is not None
free_threaded = not getattr(sys, "_is_gil_enabled", lambda: True)()
print(*sys.version_info[:2], int(has("venv") and has("ensurepip")), int(has("_ssl")), int(free_threaded))
print(getattr(sys, "_base_executable", None) or sys.executable)
"""


class Interpreter:
    """A Python on this machine, as it described itself."""

    def __init__(self, path: str, version: tuple[int, int], has_venv: bool, is_usable: bool) -> None:
        self.path = path
        self.version = version
        self.has_venv = has_venv
        self.is_usable = is_usable and OLDEST <= version <= NEWEST

    def __str__(self) -> str:
        return "Python %d.%d at %s" % (*self.version, self.path)


def choose_python(
    environ: Mapping[str, str],
    *,
    has_uv: bool,
    own_python: str = OWN_PYTHON,
    usual_places: Sequence[str] = USUAL_PLACES,
) -> Interpreter | None:
    """Return the first fit interpreter.

    MEMLAYER_PYTHON alone when set, else the running one, then PATH, then the usual places. None when there is none but
    `has_uv`: uv brings a Python of its own. Raises UserError otherwise.
    """
    named = environ.get("MEMLAYER_PYTHON")
    seen: list[Interpreter] = []
    for path in [named] if named else candidates(environ, own_python, usual_places):
        interpreter = inspect(path)
        if interpreter and interpreter.is_usable and (interpreter.has_venv or has_uv):
            return interpreter
        if interpreter:
            seen.append(interpreter)
    if named:
        problem = str(seen[0]) if seen else "it does not run"
        raise UserError("MEMLAYER_PYTHON=%s cannot be used (%s): %s" % (named, problem, needed()))
    for each in seen:
        if each.is_usable:
            raise UserError(
                "%s has no venv module: apt install python%d.%d-venv, or install uv" % (each, *each.version)
            )
    if has_uv:
        return None
    have = ", ".join(sorted({"%d.%d" % each.version for each in seen}))
    raise UserError("%s; found: %s. Please %s" % (needed(), have or "none", HOW_TO_GET))


def needed() -> str:
    return "Python %d.%d to %d.%d is needed" % (*OLDEST, *NEWEST)


def candidates(environ: Mapping[str, str], own_python: str, usual_places: Sequence[str]) -> Iterator[str]:
    """Yield paths to try, best first, each once."""
    tried: set[str] = set()
    names = ["python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)] + ["python3", "python"]
    on_path = [shutil.which(name, path=environ.get("PATH", os.defpath)) for name in names]
    folders = [folder for place in usual_places for folder in glob.glob(os.path.expanduser(place))]
    folders.sort(key=by_version)
    elsewhere = [os.path.join(folder, name) for folder in folders for name in names]
    for path in [own_python, *on_path, *elsewhere]:
        if path and path not in tried and os.access(path, os.X_OK):
            tried.add(path)
            yield path


def by_version(folder: str) -> list[int]:
    """Sort key: folders that name no version first, then the newest."""
    return [-int(part) for part in re.findall(r"\d+", folder)] or [-1000]


def inspect(path: str) -> Interpreter | None:
    """Ask an interpreter for its base, version, abilities; None when it fails."""
    try:
        probed = subprocess.run(
            [path, "-I", "-S", "-c", PROBE],
            capture_output=True,
            text=True,
            timeout=30,
            stdin=subprocess.DEVNULL,
        )
        facts, base = probed.stdout.splitlines()
        major, minor, has_venv, has_ssl, free_threaded = map(int, facts.split())
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    real = next((each for each in (os.path.realpath(base), base) if runs(each)), "")
    return Interpreter(real, (major, minor), bool(has_venv), bool(real and has_ssl and not free_threaded))


def runs(python: str) -> bool:
    """True for an interpreter that starts without its site packages."""
    try:
        tried = subprocess.run([python, "-I", "-S", "-c", "pass"], capture_output=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return False
    return tried.returncode == 0


def platform_problem() -> str | None:
    """Return why LanceDB or ONNX Runtime has no wheels here, or None."""
    system, _, release, _, machine = os.uname()
    if system == "Darwin":
        if machine != "arm64":
            return "Intel Macs are not supported: LanceDB has no build for them (an arm64 Python is needed)"
        if int(release.split(".")[0]) < 23:
            return "macOS 14 or newer is needed (ONNX Runtime has no build for this one)"
        return None
    if system != "Linux" or machine not in ("x86_64", "aarch64", "arm64"):
        return "%s on %s is not supported; use Linux (x86_64, aarch64), macOS 14 on Apple silicon, or WSL" % (
            system, machine)  # fmt: skip
    try:
        libc = os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (ValueError, OSError):
        libc = ""
    version = tuple(int(part) for part in re.findall(r"\d+", libc))
    if version < (2, 28):
        return "glibc 2.28 or newer is needed (%s here); musl systems such as Alpine are not supported" % (
            libc or "another libc")  # fmt: skip
    return None
