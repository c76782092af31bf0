"""Finds the runtime (the venv that holds memlayer's third-party packages), and has it made in the background.

A hook imports this on its fallback path, so it imports `os` and little else; edge.bootstrap.provision builds.

    <home>/runtime/<stamp>/              one venv; complete once it holds a copy of the lock it was built from
    <home>/runtime/<stamp>/contents      the folder of its packages, and what stood in it then, a line each
    <home>/runtime/current -> <stamp>    the one in use
    <home>/runtime.lock                  held (flock) by whoever builds
    <home>/runtime.failed                why the last build failed, one line; absent after a good one
    <home>/python                        absolute path of a real interpreter for the hook scripts; no shim
"""

from __future__ import annotations

import errno
import os

from memlayer.edge.home import paths

TYPE_CHECKING = False  # what type checkers look for; importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Mapping

LOCK_FILE = "requirements.lock"
CONTENTS = "contents"

# How long hooks leave a failed setup alone: without a network each prompt would otherwise start another one.
RETRY_AFTER_S = 600

# What an install may need of the user's environment, and nothing that could change which code runs.
PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR",
             "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NIX_SSL_CERT_FILE", "NETRC")  # fmt: skip
PASSED_ON_PREFIXES = ("LC_", "PIP_", "UV_", "XDG_", "MEMLAYER_")
PASSED_ON_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "FTP_PROXY")


def runtimes(home: str) -> str:
    """The folder of all runtimes of this home."""
    return os.path.join(home, "runtime")


def build_lock(home: str) -> str:
    return os.path.join(home, "runtime.lock")


def setup_log(home: str) -> str:
    return os.path.join(paths.logs(home), "setup.log")


def failure_file(home: str) -> str:
    return os.path.join(home, "runtime.failed")


def remembered_python(home: str) -> str:
    return os.path.join(home, "python")


def remembers_python(home: str) -> bool:
    """Whether `<home>/python` names an interpreter that is there."""
    try:
        with open(remembered_python(home), encoding="utf-8", errors="surrogateescape") as stream:
            named = stream.readline().rstrip("\n")
    except OSError:
        return False
    return os.path.isabs(named) and os.path.isfile(named) and os.access(named, os.X_OK)


def runtime_dir(home: str) -> str:
    """The venv to use: MEMLAYER_RUNTIME_DIR when it is set, else where `<home>/runtime/current` points.

    The link is resolved: a process that was started from one runtime must not import from the next one once
    `current` is switched. Without a link the answer is the link's own path, where nothing stands.
    """
    named = os.environ.get("MEMLAYER_RUNTIME_DIR")
    if named:
        return os.path.abspath(named)
    link = os.path.join(runtimes(home), "current")
    try:
        return os.path.join(runtimes(home), os.readlink(link))
    except OSError:
        return link


def python_in(venv: str) -> str:
    return os.path.join(venv, "bin", "python")


def find_runtime(home: str, root: str) -> str | None:
    """The absolute path of the runtime's python; None when missing, half-made, stale, or its base or a package is gone.

    `root` is the plugin's root: the runtime must have been built from the bytes of `root/requirements.lock`.
    A venv that MEMLAYER_RUNTIME_DIR names is its owner's business and is taken as it is.
    """
    venv = runtime_dir(home)
    python = python_in(venv)
    if not os.access(python, os.X_OK):  # follows the link, so a removed base interpreter shows here
        return None
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        return python
    return python if is_built_from(venv, os.path.join(root, LOCK_FILE)) and has_its_packages(venv) else None


def has_its_packages(venv: str) -> bool:
    """Whether every package is still there, by its name. One that was damaged within is found by `doctor`."""
    try:
        with open(os.path.join(venv, CONTENTS), encoding="utf-8", errors="surrogateescape") as stream:
            folder, *names = stream.read().splitlines()
        return set(os.listdir(os.path.join(venv, folder))).issuperset(names)
    except (OSError, ValueError):
        return False


def is_built_from(venv: str, lock_file: str) -> bool:
    """Whether this venv is complete and was made from the very bytes of `lock_file`."""
    built_from = os.path.join(venv, LOCK_FILE)
    try:
        if os.stat(built_from).st_size != os.stat(lock_file).st_size:
            return False
        with open(built_from, "rb") as ours, open(lock_file, "rb") as theirs:
            return ours.read() == theirs.read()
    except OSError:
        return False


def setup_failure(home: str) -> str | None:
    """One line on why the last setup failed, or None."""
    try:
        with open(failure_file(home), encoding="utf-8", errors="replace") as stream:
            return stream.readline().strip() or None
    except OSError:
        return None


def setup_is_running(home: str) -> bool:
    """Whether some process is building this home's runtime now."""
    import fcntl

    try:
        fd = os.open(build_lock(home), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False


def start_setup_in_background(home: str, root: str) -> bool:
    """Start `bin/memlayer setup` as a process of its own; True when this call started one.

    False when one is running, or when the last one failed within RETRY_AFTER_S. Returns at once. The process
    is double-forked, because the host kills the process tree of a hook. Raises OSError when the disk refuses.
    """
    import sys

    from memlayer.edge.bootstrap.spawn import spawn_detached

    if failed_lately(home) or setup_is_running(home):
        return False
    make_private(paths.logs(home))
    environ = setup_environ(os.environ)
    environ["MEMLAYER_HOME"] = home
    started_by = [sys.executable, "-I", "-S"] if sys.executable else ["/bin/sh"]
    command = [*started_by, os.path.join(root, "bin", "memlayer"), "setup", "--quiet", "--no-wait"]
    spawn_detached(command, environ, os.path.join(paths.logs(home), "setup.err"))
    return True


def failed_lately(home: str) -> bool:
    import time

    try:
        return time.time() - os.stat(failure_file(home)).st_mtime < RETRY_AFTER_S
    except OSError:
        return False


def setup_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """The part of `environ` that a setup in the background gets."""
    return {
        name: value
        for name, value in environ.items()
        if name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES) or name.upper() in PASSED_ON_PROXIES
    }


def make_private(folder: str) -> None:
    """Make one folder, and whatever above it is missing, for this user only."""
    if not os.path.isdir(folder):
        above = os.path.dirname(folder)
        if above != folder:
            make_private(above)
        try:
            os.mkdir(folder, paths.FOLDER_MODE)
        except FileExistsError:
            if not os.path.isdir(folder):
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), folder) from None
