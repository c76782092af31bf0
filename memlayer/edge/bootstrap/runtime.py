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

import os

from memlayer.edge.home import paths

LOCK_FILE = "requirements.lock"
CONTENTS = "contents"


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
    """True while a process builds this home's runtime."""
    return paths.is_locked(build_lock(home))
