"""Make a venv with a lock's packages, by uv, else by pip."""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import re
import shutil
import subprocess
import sys
import time

from memlayer.edge.bootstrap import runtime
from memlayer.edge.home import paths
from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import BinaryIO

    Report = Callable[[str, str], None]  # (step, line of its output). Called at each line

OLDEST, NEWEST = (3, 11), (3, 14)  # the newest that every pinned package has a wheel for
OWN_PYTHON: str = getattr(sys, "_base_executable", "") or sys.executable
# Prints the base interpreter, then its version and why no venv of packages can be made with it, if that is so.
PROBE = """
import sys, importlib.util as u
print(getattr(sys, "_base_executable", None) or sys.executable)
version = "%%d.%%d" %% sys.version_info[:2]
lacks = [name for name in ("venv", "ensurepip", "_ssl") if not u.find_spec(name)]
if not getattr(sys, "_is_gil_enabled", lambda: True)(): print(version, "free-threaded")
elif not %r <= sys.version_info[:2] <= %r: print(version)
elif lacks: print(version, "without", *lacks)
else: print()
""" % (OLDEST, NEWEST)
NEEDED = "Python %d.%d to %d.%d with venv is needed" % (*OLDEST, *NEWEST)
UV_PYTHON = ">=%d.%d,<%d.%d" % (*OLDEST, NEWEST[0], NEWEST[1] + 1)
HOW_TO_GET = (
    "put one on the PATH (apt install python3-venv, brew install python@3.12) or into MEMLAYER_PYTHON, or install uv"
)

# Only whole wheels with the hashes of the lock. pip and uv have these options alike.
PINNED = ("--require-hashes", "--no-deps", "--only-binary", ":all:")
QUIET_PIP = ("--no-compile", "--no-user", "--no-input", "--progress-bar", "off", "--disable-pip-version-check")
# Variables of the user's shell that would send an install elsewhere, or contradict the lock.
KEPT_OUT = {
    "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__",
    "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_CONSTRAINT", "PIP_REQUIREMENT",
    "PIP_REQUIRE_VIRTUALENV", "PIP_NO_BINARY", "PIP_DRY_RUN", "PIP_QUIET", "PIP_VERBOSE", "PIP_REPORT",
    "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_PROJECT_ENVIRONMENT", "UV_NO_BINARY",
}  # fmt: skip
_CHECK_INDEX = ": check the connection, HTTPS_PROXY, SSL_CERT_FILE, PIP_INDEX_URL, UV_INDEX_URL"
# Sign in the output -> remedy. The first match counts.
HINTS = (
    (
        re.compile(
            "name resolution|Name or service not known|nodename nor servname|dns error|Network is unreachable"
            "|NewConnectionError|tcp connect error|connection broken by|Failed to fetch|Could not fetch|redirects"
            "|Connection refused|timed out|ProxyError|SSLError|UnknownIssuer|peer certificate"
            "|40[137] (Client Error|Error|Unauthorized|Forbidden|Proxy)",
            re.IGNORECASE,
        ),
        "the package index cannot be reached" + _CHECK_INDEX,
    ),
    (
        re.compile(r"no wheels|from versions: \d"),  # it has named what it has
        "the package index has no build for this machine: docs/install.md has the platforms",
    ),
    (
        re.compile("No matching distribution|No solution found"),
        "the package index does not answer, or has no build for this machine (docs/install.md)" + _CHECK_INDEX,
    ),
)
MAX_LINE_CHARS = 300
MAX_LOG_BYTES = 1_000_000
TRIED_S = 120.0
TRIAL = os.path.join(runtime.plugin_root(), "memlayer", "daemon", "trial.py")


class Installer:
    """The commands of a setup, with their output in its log.

    lock_fd: a lock that the commands inherit, so that one of a killed setup is free only when nothing writes any more.
    """

    def __init__(self, report: Report, log_path: str, lock_fd: int = -1) -> None:
        self.report = report
        self.log_path = log_path
        self.lock_fd = lock_fd

    def make(self, venv: str, lock_file: str) -> None:
        """Make a whole venv from a lock, and load its packages.

        venv must not exist. A copy of the lock gets its name last of all: without it the venv counts as half-made.
        Raises UserError, naming the log.
        """
        has_uv, copy = bool(shutil.which("uv")), os.path.join(venv, "installing.txt")
        base = choose_python(os.environ, has_uv=has_uv)
        by_uv, by_pip = ["uv", "venv", "--python", base or UV_PYTHON], [base, "-I", "-m", "venv"]
        try:
            with open(lock_file, "rb") as stream:
                pinned = stream.read()  # once: an update may replace the file meanwhile
            for maker in [by_uv] * has_uv + [by_pip] * bool(base):
                try:
                    self.step("making a venv", [*maker, venv])
                    paths.write_whole(copy, pinned)
                    self.install(venv, [copy])
                    break
                except UserError:  # uv reads no settings of pip, which may name the only index that can be reached
                    if maker is by_pip or not base:
                        raise
                    shutil.rmtree(venv, ignore_errors=True)
            self.step("trying the packages", [runtime.python_in(venv), "-I", TRIAL])
            note_contents(venv)
            os.rename(copy, os.path.join(venv, runtime.LOCK_FILE))
        except OSError as error:
            raise UserError("setup failed: %s: %s" % (error.strerror or error, error.filename or venv)) from error

    def install(self, venv: str, locks: Iterable[str]) -> None:
        """Install the packages of locks. Raises UserError, OSError."""
        python = runtime.python_in(venv)
        by_pip = [python, "-I", "-m", "pip", "install", *QUIET_PIP]
        by_uv = ["uv", "pip", "install", "--python", python, "--no-progress"]
        # uv makes venvs without pip.
        command = by_pip if os.path.isdir(os.path.join(site_of(venv), "pip")) else by_uv
        named = [word for lock in locks for word in ("-r", lock)]
        self.step("installing packages", [*command, *PINNED, *named])

    def step(self, name: str, command: list[str]) -> None:
        """Run a command, its output into the log. Raises UserError, OSError."""
        head = "== %s %s: %s\n" % (time.strftime("%Y-%m-%d %H:%M:%S"), name, " ".join(command))
        lines = []
        with open_log(self.log_path) as log, subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
            errors="replace", env=install_environ(os.environ), cwd=os.path.dirname(self.log_path),
            pass_fds=(self.lock_fd,) if self.lock_fd >= 0 else (),
        ) as process:  # fmt: skip
            assert process.stdout is not None
            for line in itertools.chain([head], process.stdout):
                lines.append(line)
                self.report(name, line)
                with contextlib.suppress(OSError):  # of a full disk the reason is told all the same
                    log.write(line.encode())
        if process.returncode:
            raise UserError("setup failed while %s: %s (log: %s)" % (name, reason(lines[1:]), self.log_path))


def open_log(path: str) -> BinaryIO:
    """Open the setup log for appending; begin a large one anew."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with contextlib.suppress(OSError):
        if os.stat(path).st_size > MAX_LOG_BYTES:
            flags |= os.O_TRUNC
    return open(paths.open_fd(path, flags), "ab", buffering=0)


def install_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what diverts an install; indexes stay."""
    return {name: value for name, value in environ.items() if name not in KEPT_OUT and not name.startswith("PYTHON")}


def reason(lines: Iterable[str]) -> str:
    """Return why a command failed, one line: last error, hint."""
    printed = [line.strip() for line in lines if line.strip()] or ["it ended without a word"]
    errors = [line for line in printed if re.match(r"(ERROR|error|fatal|\w*Error)\b", line)] or printed
    last = re.sub(r"^(ERROR|error):\s*", "", errors[-1])[:MAX_LINE_CHARS]
    hint = next((hint for sign, hint in HINTS if sign.search("\n".join(printed))), "")
    return "%s; %s" % (hint, last) if hint else last


def problem_of(python: str) -> str:
    """Return why a runtime's packages do not load, or ""; takes seconds."""
    try:
        tried = subprocess.run([python, "-I", TRIAL], capture_output=True, timeout=TRIED_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "loading its packages takes longer than %d s" % TRIED_S
    except OSError as bad:
        return "it does not start: %s" % bad.strerror
    return reason((tried.stdout + tried.stderr).decode("utf-8", "replace").splitlines()) if tried.returncode else ""


def choose_python(environ: Mapping[str, str], *, has_uv: bool, own: str = OWN_PYTHON) -> str:
    """Return the Python for a venv; "" where uv brings one.

    MEMLAYER_PYTHON alone when set, else the running one, then those of the PATH, newest first. Raises UserError.
    """
    named, places = environ.get("MEMLAYER_PYTHON"), environ.get("PATH", os.defpath)
    names = [*("python3.%d" % minor for minor in range(NEWEST[1], OLDEST[1] - 1, -1)), "python3", "python"]
    paths_tried = [named] if named else [own, *(shutil.which(name, path=places) for name in names)]
    problems = []
    for path in filter(None, dict.fromkeys(paths_tried)):
        base, problem = probe(path)
        if not problem:
            return base
        problems.append(problem)
    if has_uv and not named:
        return ""
    found = ", ".join(dict.fromkeys(problems)) or "none"
    what = "MEMLAYER_PYTHON=%s cannot be used: " % named if named else ""
    raise UserError("%s%s; found: %s. Please %s" % (what, NEEDED, found, HOW_TO_GET))


def probe(path: str) -> tuple[str, str]:
    """Return a Python's base interpreter and its fault, "" for none."""
    command = [path, "-I", "-S", "-c", PROBE]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=30, stdin=subprocess.DEVNULL)
        base, problem = answer.stdout.splitlines()
    except (OSError, ValueError, subprocess.SubprocessError):
        return "", "one that does not run"
    return os.path.realpath(base), problem


def site_of(venv: str) -> str:
    """Return the folder of a venv's packages; "" without one."""
    return next(iter(glob.glob(os.path.join(glob.escape(venv), "lib", "python3*", "site-packages"))), "")


def note_contents(venv: str) -> None:
    """Write the names of a venv's packages for runtime.has_its_packages. Raises OSError."""
    site = site_of(venv)
    names = sorted(name for name in os.listdir(site) if name != "__pycache__")
    text = "\n".join([os.path.relpath(site, venv), *names]) + "\n"
    paths.write_whole(os.path.join(venv, runtime.CONTENTS), text.encode("utf-8", "surrogateescape"))
