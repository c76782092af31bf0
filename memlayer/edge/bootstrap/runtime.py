"""Find the runtime: the venv with memlayer's third-party packages.

A hook imports this on its fallback path, so it imports `os` and little else; edge.bootstrap.provision builds.

    <home>/runtime/<stamp>/              a venv; complete once it holds a copy of its lock
    <home>/runtime/<stamp>/contents      the folder of its packages, and their names, a line each
    <home>/runtime/current -> <stamp>    the venv in use
    <home>/runtime.lock                  held (flock) by the process that builds
    <home>/runtime.failed                why the last build failed, one line; absent after a good one
    <home>/python                        absolute path of a real interpreter for the hook scripts; no shim
"""

from __future__ import annotations

import os

from memlayer.edge.home import paths

LOCK_FILE = "requirements.lock"
CONTENTS = "contents"


def runtimes(home: str) -> str:
    """Return the folder of all runtimes of this home."""
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
    """True if `<home>/python` names an existing interpreter."""
    try:
        with open(remembered_python(home), encoding="utf-8", errors="surrogateescape") as stream:
            named = stream.readline().rstrip("\n")
    except OSError:
        return False
    return os.path.isabs(named) and os.path.isfile(named) and os.access(named, os.X_OK)


def runtime_dir(home: str) -> str:
    """Return the venv to use.

    MEMLAYER_RUNTIME_DIR when it is set, else the target of `<home>/runtime/current`. The link is resolved: a process
    that was started from one runtime must not import from the next one once `current` is switched. Without a link the
    answer is the link's own path, where nothing stands.
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
    """Return the absolute path of the runtime's python, or None.

    None when missing, half-made, stale, or without its base or a package. `root` is the plugin's root: the runtime must
    have been built from the bytes of `root/requirements.lock`. A venv that MEMLAYER_RUNTIME_DIR names is its owner's
    business and is taken as it is.
    """
    venv = runtime_dir(home)
    python = python_in(venv)
    if not os.access(python, os.X_OK):  # follows the link, so a removed base interpreter shows here
        return None
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        return python
    return python if is_built_from(venv, os.path.join(root, LOCK_FILE)) and has_its_packages(venv) else None


def has_its_packages(venv: str) -> bool:
    """True if every package still exists, by its name.

    Damage within a package is found by `doctor`.
    """
    try:
        with open(os.path.join(venv, CONTENTS), encoding="utf-8", errors="surrogateescape") as stream:
            folder, *names = stream.read().splitlines()
        return set(os.listdir(os.path.join(venv, folder))).issuperset(names)
    except (OSError, ValueError):
        return False


def is_built_from(venv: str, lock_file: str) -> bool:
    """True for a complete venv made from the bytes of `lock_file`."""
    built_from = os.path.join(venv, LOCK_FILE)
    try:
        if os.stat(built_from).st_size != os.stat(lock_file).st_size:
            return False
        with open(built_from, "rb") as ours, open(lock_file, "rb") as theirs:
            return ours.read() == theirs.read()
    except OSError:
        return False


def setup_failure(home: str) -> str | None:
    """Return why the last setup failed, one line, or None."""
    try:
        with open(failure_file(home), encoding="utf-8", errors="replace") as stream:
            return stream.readline().strip() or None
    except OSError:
        return None


def setup_is_running(home: str) -> bool:
    """True while a process builds this home's runtime."""
    return paths.is_locked(build_lock(home))
