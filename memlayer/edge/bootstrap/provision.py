"""Build the runtime: one venv per requirements.lock.

Built aside, then switched to, never by two processes at once. Run as `python3 -m memlayer.edge.bootstrap.provision VENV
LOCK_FILE` it makes a venv at a fixed place, for development.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import sys
import time

from memlayer.edge.bootstrap import extras, runtime
from memlayer.edge.bootstrap.install import Installer, probe
from memlayer.edge.home import paths
from memlayer.errors import MemlayerError, UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memlayer.edge.bootstrap.install import Report


@contextlib.contextmanager
def progress(*, is_quiet: bool = False) -> Iterator[Report]:
    """Yield a report to stderr: a line a step, or one rewritten."""
    last, started_s, rewrites = "", time.monotonic(), sys.stderr.isatty()

    def report(step: str, line: str) -> None:
        nonlocal last
        if is_quiet:
            return
        if rewrites:
            text = "memlayer: %s (%d s) %s" % (step, time.monotonic() - started_s, line.strip())
            sys.stderr.write("\r\x1b[K" + text[: shutil.get_terminal_size().columns - 1])
        elif step != last:
            sys.stderr.write("memlayer: %s ...\n" % step)
        last = step
        sys.stderr.flush()

    try:
        yield report
    finally:
        sys.stderr.write("\r\x1b[K" if rewrites and last else "")
        sys.stderr.flush()


def build_runtime(home: str, root: str, report: Report, *, wait: bool = True) -> str | None:
    """Build the runtime of `root/requirements.lock` unless it exists.

    Returns its python's absolute path. While another process builds, this one waits and then takes the result; with
    `wait=False` it returns None instead. Raises UserError or OSError after removing its half-made venv. The runtime
    that was in use, if any, stays in use.
    """
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        raise UserError(
            "MEMLAYER_RUNTIME_DIR=%s holds no Python: unset it, and memlayer makes its own runtime"
            % runtime.runtime_dir(home)
        )
    for folder in (home, paths.logs(home), runtime.runtimes(home)):
        paths.make_folder(folder)
    with open(paths.open_fd(runtime.build_lock(home), os.O_WRONLY | os.O_CREAT), "wb") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not wait:
                    return None
                report("waiting for another memlayer setup", "")
                time.sleep(0.3)
        installer = Installer(report, runtime.setup_log(home), lock.fileno())
        return runtime.find_runtime(home, root) or _build(home, root, installer)


def _build(home: str, root: str, installer: Installer) -> str:
    """Build aside, then switch; the caller holds the lock."""
    folder, previous = runtime.runtimes(home), runtime.runtime_dir(home)
    for name in os.listdir(folder):  # leftovers of killed builds, and all that no daemon runs from any more
        if name not in ("current", "extras", os.path.basename(previous)):
            shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    venv = os.path.join(folder, "%s-%d" % (time.strftime("%Y%m%d-%H%M%S"), os.getpid()))
    try:
        installer.make(venv, os.path.join(root, runtime.LOCK_FILE))
        extras.install_again(home, previous, venv, installer)
        switch(folder, os.path.basename(venv))
    except (MemlayerError, OSError, KeyboardInterrupt) as error:
        shutil.rmtree(venv, ignore_errors=True)  # before the reason is written: it may fill the disk
        if not isinstance(error, KeyboardInterrupt):
            with contextlib.suppress(OSError):
                paths.write_whole(runtime.failure_file(home), ("%s\n" % error).encode())
        raise
    with contextlib.suppress(OSError):
        os.unlink(runtime.failure_file(home))
    with contextlib.suppress(OSError):
        remember_python(home, runtime.python_in(venv))
    return runtime.python_in(venv)


def switch(folder: str, name: str) -> None:
    """Point `current` at the runtime of this name, in one step."""
    temporary = os.path.join(folder, ".current")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    os.symlink(name, temporary)
    os.replace(temporary, os.path.join(folder, "current"))
    paths.sync_folder(folder)


def remember_python(home: str, python: str) -> None:
    """Write `<home>/python`: a Python's base, the interpreter of later hooks."""
    base, _ = probe(python)
    if base:
        paths.write_whole(runtime.remembered_python(home), (base + "\n").encode())


def main(argv: list[str]) -> int:
    """Make, or keep, the venv of the development environment."""
    venv, lock_file = os.path.abspath(argv[0]), os.path.abspath(argv[1])
    if runtime.is_built_from(venv, lock_file) and probe(runtime.python_in(venv))[0]:
        return 0
    shutil.rmtree(venv, ignore_errors=True)
    try:
        with progress() as report:
            Installer(report, venv + ".log").make(venv, lock_file)
    except MemlayerError as error:
        print("memlayer: %s" % error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
