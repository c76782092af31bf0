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
from memlayer.edge.bootstrap.install import Installer, site_of
from memlayer.edge.bootstrap.interpreters import choose_python, platform_problem, runs
from memlayer.edge.home import paths
from memlayer.errors import MemlayerError, UserError

TYPE_CHECKING = False  # for type checkers, without importing `typing`
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import TracebackType
    from typing import TextIO

    Report = Callable[[str, int, int], None]  # (step, packages done, packages in all). Called at least twice a second

MAX_LOG_BYTES = 1_000_000


class SetupProgress:
    """Progress of a setup: a rewritten line, or one a step."""

    def __init__(self, stream: TextIO, *, is_quiet: bool = False) -> None:
        self.stream = stream
        self.is_quiet = is_quiet
        self.rewrites = stream.isatty()
        self.step = ""
        self.shown = ""
        self.started_s = time.monotonic()

    def __enter__(self) -> SetupProgress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def __call__(self, step: str, done: int, total: int) -> None:
        """Show the step. done: packages of `total`, unless that is 0."""
        if self.is_quiet:
            return
        if self.rewrites:
            count = " %d/%d" % (done, total) if total else ""
            line = "memlayer: %s%s (%d s)" % (step, count, time.monotonic() - self.started_s)
            if line != self.shown:
                self.stream.write("\r\x1b[K" + line)
        elif step != self.step:
            line = "memlayer: %s%s ..." % (step, " (%d)" % total if total else "")
            self.stream.write(line + "\n")
        else:
            return
        self.step, self.shown = step, line
        self.stream.flush()

    def close(self) -> None:
        """Take the rewritten line away."""
        if self.rewrites and self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
            self.shown = ""


def build_runtime(home: str, root: str, report: Report, *, wait: bool = True) -> str | None:
    """Build the runtime of `root/requirements.lock` unless it exists.

    Returns its python's absolute path. While another process builds, this one waits and then takes the result; with
    `wait=False` it returns None instead. Raises UserError (one line: the failure, the log) after removing its half-made
    venv. The runtime that was in use, if any, stays in use.
    """
    if os.environ.get("MEMLAYER_RUNTIME_DIR"):
        raise UserError(
            "MEMLAYER_RUNTIME_DIR=%s holds no Python: unset it, and memlayer makes its own runtime"
            % runtime.runtime_dir(home)
        )
    prepare(home)
    with held(runtime.build_lock(home), report, wait) as lock_fd:
        if lock_fd is None:
            return None
        python = runtime.find_runtime(home, root)
        if python:
            return python
        return build_held(home, root, report, lock_fd)


def build_held(home: str, root: str, report: Report, lock_fd: int) -> str:
    """Build, switch, tidy; the caller holds the lock."""
    folder = runtime.runtimes(home)
    previous = runtime.runtime_dir(home)
    remove_all_but(folder, [previous], only_half_made=True)
    venv = os.path.join(folder, "%s-%d" % (time.strftime("%Y%m%d-%H%M%S"), os.getpid()))
    is_made = False
    try:
        base = make_venv(venv, os.path.join(root, runtime.LOCK_FILE), report, runtime.setup_log(home), lock_fd)
        log_path = runtime.setup_log(home)
        with open_log(log_path) as log:
            extras.keep(home, previous, venv, report, log, log_path)
        switch(folder, os.path.basename(venv))
        is_made = True
    except MemlayerError as error:
        with contextlib.suppress(OSError):
            paths.write_whole(runtime.failure_file(home), ("%s\n" % error).encode())
        raise
    finally:
        if not is_made:  # after Ctrl-C too: half a venv is useless
            shutil.rmtree(venv, ignore_errors=True)
    with contextlib.suppress(OSError):
        os.unlink(runtime.failure_file(home))
    remember_python(home, base)
    remove_all_but(folder, [venv, previous])  # a daemon may still be running from the previous runtime
    return runtime.python_in(venv)


def make_venv(venv: str, lock_file: str, report: Report, log_path: str, lock_fd: int = -1) -> str:
    """Make a whole venv from `lock_file`. Return its base interpreter.

    venv must not exist. A copy of the lock is put into the venv last of all: without it the venv counts as half-made.
    """
    problem = platform_problem()
    if problem:
        raise UserError("cannot run here: %s" % problem)
    try:
        with open(lock_file, "rb") as stream:
            pinned = stream.read()
        with open_log(log_path) as log:
            report("looking for a Python", 0, 0)
            uv = shutil.which("uv")
            base = choose_python(os.environ, has_uv=bool(uv))
            at = time.strftime("%Y-%m-%d %H:%M:%S")
            print("== %s: %s" % (at, base or "uv's own Python"), file=log, flush=True)
            installer = Installer(venv, pinned, report, log, log_path, lock_fd)
            installer.run(base, uv)
            report("finishing", 0, 0)
        note_contents(venv)
        paths.write_whole(os.path.join(venv, runtime.LOCK_FILE), pinned)
    except OSError as error:
        raise UserError("setup failed: %s: %s" % (error.strerror or error, error.filename or venv)) from error
    return base.path if base else os.path.realpath(runtime.python_in(venv))


def note_contents(venv: str) -> None:
    """Write down the names of a venv's packages. See runtime.has_its_packages. Raises OSError."""
    site = site_of(venv)
    names = sorted(name for name in os.listdir(site) if name != "__pycache__")
    text = "\n".join([os.path.relpath(site, venv), *names]) + "\n"
    paths.write_whole(os.path.join(venv, runtime.CONTENTS), text.encode("utf-8", "surrogateescape"))


def discard(home: str) -> None:
    """Mark the present, broken runtime as half-made. Raises UserError."""
    venv = runtime.runtime_dir(home)
    try:
        os.unlink(os.path.join(venv, runtime.LOCK_FILE))
    except FileNotFoundError:
        return
    except OSError as error:
        raise UserError("cannot write %s: %s" % (venv, error.strerror)) from error


@contextlib.contextmanager
def held(lock_path: str, report: Report, wait: bool) -> Iterator[int | None]:
    """Hold the build lock. Yield its descriptor.

    None when another process has it and `wait` is False. The installer's child processes inherit the descriptor, so
    that the lock of a killed build is free only when nothing writes into its folder any more.
    """
    fd = os.open(lock_path, os.O_RDWR | os.O_CREAT, paths.FILE_MODE)
    try:
        while True:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if not wait:
                    yield None
                    return
                report("waiting for another memlayer setup", 0, 0)
                time.sleep(0.3)
        yield fd
    finally:
        os.close(fd)


def switch(folder: str, name: str) -> None:
    """Point `current` at the runtime of this name, in one step."""
    temporary = os.path.join(folder, ".current-%d" % os.getpid())
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)
    os.symlink(name, temporary)
    os.replace(temporary, os.path.join(folder, "current"))
    paths.sync_folder(folder)


def remove_all_but(folder: str, kept: list[str], *, only_half_made: bool = False) -> None:
    """Remove the runtimes not in `kept`, or just the half-made."""
    for name in os.listdir(folder):
        path = os.path.join(folder, name)
        if path in kept or name in ("current", "extras"):
            continue
        if os.path.islink(path):
            os.unlink(path)
        elif not (only_half_made and os.path.exists(os.path.join(path, runtime.LOCK_FILE))):
            shutil.rmtree(path, ignore_errors=True)


def remember_python(home: str, base: str) -> None:
    """Write `<home>/python`: the interpreter of later hooks."""
    if runs(base):
        paths.write_whole(runtime.remembered_python(home), (base + "\n").encode())


def prepare(home: str) -> None:
    """Make the folders that a build writes to. Raises UserError."""
    try:
        for folder in (home, paths.logs(home), runtime.runtimes(home)):
            paths.make_folder(folder)
    except OSError as error:
        raise UserError("cannot write %s: %s" % (error.filename or home, error.strerror)) from error


def open_log(path: str) -> TextIO:
    """Open the setup log for appending; begin a large one anew."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    with contextlib.suppress(OSError):
        if os.stat(path).st_size > MAX_LOG_BYTES:
            flags |= os.O_TRUNC
    return os.fdopen(os.open(path, flags, paths.FILE_MODE), "a", encoding="utf-8")


def main(argv: list[str]) -> int:
    """Make, or keep, the venv of the development environment."""
    venv, lock_file = os.path.abspath(argv[0]), os.path.abspath(argv[1])
    if runtime.is_built_from(venv, lock_file) and runs(runtime.python_in(venv)):
        return 0
    shutil.rmtree(venv, ignore_errors=True)
    with SetupProgress(sys.stderr) as progress:
        try:
            make_venv(venv, lock_file, progress, venv + ".log")
        except MemlayerError as error:
            progress.close()
            print("memlayer: %s" % error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
