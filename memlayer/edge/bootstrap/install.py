"""Install the packages of a lock file, by uv or pip.

uv does not read pip's settings: pip installs where only pip is told of an index. Files that memlayer never loads are
left out: a third of the size. They are set aside first, removed once the rest has been tried. Where a platform needs
one of them after all, all come back.
"""

from __future__ import annotations

import configparser
import glob
import os
import re
import selectors
import shutil
import subprocess
import time

from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TextIO

    from memlayer.edge.bootstrap.interpreters import Interpreter

# Variables of the user's shell that would send an install elsewhere, or contradict the lock.
KEPT_OUT = {
    "VIRTUAL_ENV", "CONDA_PREFIX", "__PYVENV_LAUNCHER__",
    "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "PIP_CONSTRAINT", "PIP_REQUIREMENT",
    "PIP_REQUIRE_VIRTUALENV", "PIP_NO_BINARY", "PIP_DRY_RUN", "PIP_QUIET", "PIP_VERBOSE", "PIP_REPORT",
    "UV_PYTHON", "UV_SYSTEM_PYTHON", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_PROJECT_ENVIRONMENT", "UV_NO_BINARY",
}  # fmt: skip

NO_NETWORK = re.compile(
    "name resolution|Name or service not known|nodename nor servname|Network is unreachable|dns error"
    "|Connection refused|NewConnectionError|ConnectTimeout|Connection timed out|ReadTimeout|ProxyError"
    "|tcp connect error",
    re.IGNORECASE,
)
# Sign in the output -> cause and cure. The first match counts.
CURES = (
    (re.compile("No space left on device|Disk quota exceeded"), "the disk is full: make room"),
    (
        re.compile("CERTIFICATE_VERIFY_FAILED|UnknownIssuer|invalid peer certificate|SSLError", re.IGNORECASE),
        "the package index shows a certificate that is not trusted: name your CA file in SSL_CERT_FILE",
    ),
    (
        re.compile("407 Proxy|40[13] (Client Error|Unauthorized|Forbidden)|HTTP status client error .40[13]"),
        "the package index, or a proxy, refuses access: put the credentials into its URL or ~/.netrc",
    ),
    (
        NO_NETWORK,
        "the package index cannot be reached: check the connection; or set HTTPS_PROXY, or an index in PIP_INDEX_URL "
        "and UV_INDEX_URL; offline, set PIP_NO_INDEX=1 and PIP_FIND_LINKS to a folder of wheels",
    ),
    (
        re.compile("No matching distribution found|No solution found|no wheels|was not found in the package registry"),
        "the package index lacks a package of requirements.lock: set PIP_INDEX_URL or UV_INDEX_URL to a full one",
    ),
    (
        re.compile("DO NOT MATCH THE HASHES|Hash mismatch", re.IGNORECASE),
        "a package differs from the one that memlayer was tested with: set another index, or empty its cache",
    ),
)
TRIED_S = 120.0
TICK_S = 0.25
INSTALLED = "lib/python*/site-packages/*.dist-info"
PIP_FILES = (
    "/etc/pip.conf",
    "/etc/xdg/pip/pip.conf",
    "~/.pip/pip.conf",
    "/Library/Application Support/pip/pip.conf",
    "~/Library/Application Support/pip/pip.conf",
)
UV_INDEX_NAMES = ("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_FIND_LINKS", "UV_NO_INDEX")
UV_INDEX_LINE = re.compile(r"^\s*(index-url|extra-index-url|find-links|\[\[index\]\])", re.MULTILINE)

SITE = os.path.join("lib", "python3*", "site-packages")

# Below site-packages: headers, tests, clients of servers, tools that make models, second copies of libraries.
UNUSED = (
    "pyarrow/include", "pyarrow/src", "pyarrow/tests", "pyarrow/libarrow_flight*", "pyarrow/libarrow_python_flight*",
    "pyarrow/_flight*", "pyarrow/libarrow_s3*", "pyarrow/_s3fs*", "pyarrow/libarrow_python*.so",
    "pyarrow/libarrow_python*.so.*.*.*", "numpy/tests", "numpy/*/tests", "onnxruntime/transformers",
    "onnxruntime/tools", "onnxruntime/quantization", "onnxruntime/capi/libonnxruntime.so.*",
)  # fmt: skip

# Files of `python -m venv` that no wheel needs. The .pth goes first: it imports the others at every start.
FROM_VENV = ("distutils-precedence.pth", "_distutils_hack", "pkg_resources", "setuptools", "setuptools-*")

ASIDE = "unused"


class Installer:
    """A venv in the making; report(step, done, total) at least every TICK_S."""

    def __init__(
        self,
        venv: str,
        pinned: bytes,
        report: Callable[[str, int, int], None],
        log: TextIO,
        log_path: str,
        lock_fd: int,
    ):
        self.venv = venv
        self.python = os.path.join(venv, "bin", "python")
        self.pinned = pinned
        self.names = re.findall(r"^([A-Za-z0-9._-]+)==", pinned.decode("utf-8"), re.MULTILINE)
        self.report = report
        self.log = log
        self.log_path = log_path
        self.kept_fds = (lock_fd,) if lock_fd >= 0 else ()

    def run(self, base: Interpreter | None, uv: str | None) -> None:
        """Make the venv, install the packages, and load them.

        `base` is None only when `uv` is given: uv then brings a Python. Raises UserError, naming the log.
        """
        pip_can = base is not None and base.has_venv
        if uv and not (pip_can and pip_has_an_index(os.environ) and not uv_has_an_index(os.environ)):
            try:
                self.install_with_uv(uv, base.path if base else ">=3.11,<3.15")
            except UserError:
                if not pip_can:
                    raise
                print("-- uv failed: trying pip", file=self.log, flush=True)
                shutil.rmtree(self.venv, ignore_errors=True)
                uv = None
        else:
            uv = None
        if not uv and base:
            self.install_with_pip(base.path)
        if "lancedb" in self.names:
            self.slim_down()

    def install_with_uv(self, uv: str, python: str) -> None:
        self.step("making a venv", [uv, "venv", "--quiet", "--python", python, self.venv])
        self.step(
            "installing packages",
            [uv, "pip", "install", "--python", self.python, "--require-hashes", "--no-deps",
             "--only-binary", ":all:", "--no-progress", "-r", self.requirements()],
        )  # fmt: skip

    def install_with_pip(self, base: str) -> None:
        self.step("making a venv", [base, "-I", "-m", "venv", self.venv])
        self.step(
            "installing packages",
            [self.python, "-I", "-m", "pip", "install", "--require-hashes", "--no-deps",
             "--only-binary", ":all:", "--no-compile", "--no-user", "--no-input", "--no-color", "--progress-bar", "off",
             "--no-warn-script-location", "--disable-pip-version-check", "-r", self.requirements()],
        )  # fmt: skip

    def add(self, locks: list[str]) -> None:
        """Install the packages of further locks beside the pinned ones. Raises UserError."""
        has_pip = bool(glob.glob(os.path.join(glob.escape(self.venv), SITE, "pip")))
        uv = shutil.which("uv")
        if not uv and not has_pip:
            raise UserError("setup failed: neither uv nor the runtime's pip is there to install %s" % locks[0])
        use_uv = uv and not (has_pip and pip_has_an_index(os.environ) and not uv_has_an_index(os.environ))
        command = [uv, "pip", "install", "--python", self.python, "--no-progress"] if uv and use_uv else [
            self.python, "-I", "-m", "pip", "install", "--no-user", "--no-input", "--no-color", "--progress-bar", "off",
            "--no-warn-script-location", "--disable-pip-version-check",
        ]  # fmt: skip
        named = [word for lock in locks for word in ("-r", lock)]
        self.step("installing extras", [*command, "--require-hashes", "--no-deps", "--only-binary", ":all:", *named])

    def slim_down(self) -> None:
        """Leave out unused files, and try the rest at once."""
        moved = set_aside(self.venv, self.names)
        name, command = "trying the packages", [self.python, "-I", trial()]
        try:
            self.step(name, command)
        except UserError:
            print("-- it needs the parts left out, or fails anyway", file=self.log, flush=True)
            put_back(moved)
            self.step(name, command)
        remove_unused(self.venv)

    def requirements(self) -> str:
        """Copy the lock, which an update may replace; return the path."""
        path = os.path.join(self.venv, "installing.txt")
        with open(path, "wb") as stream:
            stream.write(self.pinned)
        return path

    def step(self, name: str, command: list[str]) -> None:
        """Run a command, its output into the log. Raises UserError."""
        lines: list[str] = []
        started_s = time.monotonic()
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env=install_environ(os.environ), cwd=os.path.dirname(self.venv), pass_fds=self.kept_fds,
        ) as process:  # fmt: skip
            self.follow(process, name, lines)
        print("-- %s: %.1f s" % (name, time.monotonic() - started_s), file=self.log, flush=True)
        if process.returncode:
            raise UserError("setup failed while %s: %s (log: %s)" % (name, reason(lines), self.log_path))

    def follow(self, process: subprocess.Popen[bytes], name: str, lines: list[str]) -> None:
        """Copy the output to the log by lines, and report progress."""
        assert process.stdout is not None
        counted = name == "installing packages"
        total, done, rest = len(self.names) if counted else 0, 0, b""
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while True:
                if counted:  # uv says nothing until it has ended, so packages in the venv count too
                    done = max(done, len(glob.glob(os.path.join(glob.escape(self.venv), INSTALLED))))
                self.report(name, min(done, total), total)
                if not selector.select(TICK_S):
                    continue
                data = os.read(process.stdout.fileno(), 65536)
                *whole, rest = (rest + data).split(b"\n")
                if not data and rest:
                    whole, rest = [rest], b""
                for line in (each.decode("utf-8", "replace").rstrip() for each in whole):
                    print(line, file=self.log, flush=True)
                    lines.append(line)
                    done += line.startswith(("Collecting ", "Processing ")) and counted
                    total -= line.startswith("Ignoring ") and counted  # pinned for another platform
                if not data:
                    return


def install_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment without what diverts an install; indexes stay."""
    return {name: value for name, value in environ.items() if name not in KEPT_OUT and not name.startswith("PYTHON")}


def reason(lines: list[str]) -> str:
    """Return why a command failed: a known cause, the last error line."""
    text = "\n".join(lines)
    printed = [line for line in lines if line.strip()] or ["it ended without a word"]
    errors = [line for line in printed if re.match(r"\s*(ERROR|error|fatal|\w*Error)\b", line)] or printed
    last = re.sub(r"^\s*(ERROR|error):\s*", "", errors[-1])[:300].strip()
    cure = next((cure for sign, cure in CURES if sign.search(text)), "")
    return "%s; %s" % (cure, last) if cure else last


def trial() -> str:
    """Return the path of the script that tries a runtime."""
    return os.path.join(plugin_root(), "memlayer", "daemon", "trial.py")


def problem_of(python: str) -> str:
    """Return why a runtime's packages do not load, or ""; takes seconds."""
    if not os.path.isfile(trial()):
        return ""
    try:
        tried = subprocess.run(
            [python, "-I", trial(), "--load"], capture_output=True, timeout=TRIED_S, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired:
        return "loading its packages takes longer than %d s" % TRIED_S
    except OSError as bad:
        return "it does not start: %s" % bad.strerror
    if tried.returncode == 0:
        return ""
    return reason((tried.stdout + tried.stderr).decode("utf-8", "replace").splitlines())


def pip_has_an_index(environ: Mapping[str, str]) -> bool:
    """True if environment or files tell pip where packages come from."""
    keys = ("index-url", "extra-index-url", "find-links", "no-index")
    if any(environ.get("PIP_" + key.upper().replace("-", "_")) for key in keys):
        return True
    config_home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    files = [os.path.join(config_home, "pip", "pip.conf"), *PIP_FILES]
    named = environ.get("PIP_CONFIG_FILE")
    if named == os.devnull:
        return False  # pip's own way to say: read none of the files
    parser = configparser.RawConfigParser(strict=False)
    for path in [*files, *([named] if named else [])]:
        try:
            parser.read(os.path.expanduser(path), encoding="utf-8")
        except (configparser.Error, UnicodeDecodeError):
            continue
    return any(parser.has_option(part, key) for part in ("global", "install") for key in keys)


def uv_has_an_index(environ: Mapping[str, str]) -> bool:
    """True if uv is told where packages come from."""
    if any(environ.get(name) for name in UV_INDEX_NAMES):
        return True
    config_home = environ.get("XDG_CONFIG_HOME") or "~/.config"
    named = environ.get("UV_CONFIG_FILE") or os.path.join(config_home, "uv", "uv.toml")
    try:
        with open(os.path.expanduser(named), encoding="utf-8") as stream:
            return UV_INDEX_LINE.search(stream.read()) is not None
    except (OSError, UnicodeDecodeError):
        return False


def site_of(venv: str) -> str:
    """Return the folder of a venv's packages; "" without one."""
    return next(iter(glob.glob(os.path.join(glob.escape(venv), SITE))), "")


def set_aside(venv: str, pinned: Iterable[str]) -> list[tuple[str, str]]:
    """Move unused files to another folder of the venv.

    Returns (from, to) of each. pinned: names of packages to keep whole. Compiled modules go at once: each module in use
    is compiled again when it is first loaded. Raises OSError.
    """
    site, folder = site_of(venv), os.path.join(venv, ASIDE)
    os.makedirs(folder, exist_ok=True)
    patterns = UNUSED if "setuptools" in pinned else UNUSED + FROM_VENV
    moved: list[tuple[str, str]] = []
    for pattern in patterns:
        for path in glob.glob(os.path.join(glob.escape(site), pattern)):
            moved.append((path, os.path.join(folder, str(len(moved)))))
            os.rename(*moved[-1])
    for parent, names, _ in os.walk(site):
        if "__pycache__" in names:
            names.remove("__pycache__")
            shutil.rmtree(os.path.join(parent, "__pycache__"), ignore_errors=True)
    return moved


def put_back(moved: list[tuple[str, str]]) -> None:
    """Undo set_aside. Raises OSError."""
    for path, aside in reversed(moved):
        os.rename(aside, path)


def remove_unused(venv: str) -> None:
    """Remove the files that were set aside."""
    shutil.rmtree(os.path.join(venv, ASIDE), ignore_errors=True)
