"""Limits for a process: disk, permissions, processes, a shifted clock."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"  # one that every user may run
_MOUNT = 'mount -t tmpfs -o size=%d,mode=700 none "$1" && echo ready && exec sleep 3600'


class NotHere(Exception):
    """This system does not let us make the trouble."""


@contextlib.contextmanager
def small_disk(folder: Path, size_bytes: int) -> Iterator[Path]:
    """Mount a tmpfs of that size.

    In a mount namespace of its own (unshare -rm); it is seen from outside through /proc. Raises NotHere where the
    system has no such namespaces.
    """
    if shutil.which("unshare") is None or not os.path.isdir("/proc/self/root"):
        raise NotHere("no unshare, or no /proc")
    folder.mkdir()
    command = ["unshare", "-rm", "--propagation", "private", "sh", "-c", _MOUNT % size_bytes, "sh", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as holder:
        try:
            assert holder.stdout is not None and holder.stderr is not None
            if holder.stdout.readline() != b"ready\n":
                raise NotHere(holder.stderr.read().decode().strip())
            yield Path("/proc/%d/root%s" % (holder.pid, folder))
        finally:
            holder.terminate()


def fill(disk: Path, leave_bytes: int = 0) -> Path:
    """Fill the disk, but for leave_bytes.

    Returns the file that fills it.
    """
    hog = disk / "hog"
    with contextlib.suppress(OSError), hog.open("wb", buffering=0) as file:
        while True:
            free = os.statvfs(disk).f_bavail * os.statvfs(disk).f_frsize - leave_bytes
            if free <= 0:
                break
            file.write(bytes(min(free, 65536)))
    return hog


def powerless(argv: list[str]) -> list[str]:
    """Return argv such that file modes hold for it, even for root.

    Raises NotHere.
    """
    if os.getuid() != 0:
        return argv
    if shutil.which("setpriv") is None:
        raise NotHere("root ignores file modes, and setpriv is not there to take that power away")
    return ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--", *argv]


def with_clock(argv: list[str], shift_s: float) -> list[str]:
    """Return a command whose script sees a shifted wall clock.

    argv: [python, options, script]. shift_s: seconds.
    """
    code = (
        "import runpy, sys, time; real_ns, real = time.time_ns, time.time;"
        "time.time_ns = lambda: real_ns() + int(%r * 1e9); time.time = lambda: real() + %r;"
        "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')" % (shift_s, shift_s)
    )
    return [*argv[:-1], "-c", code, argv[-1]]


def open_to_all(path: Path) -> bool:
    """Return whether every user may read path.

    Each folder above it has to let them through.
    """
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in [path, *path.parents])


def python_for_others() -> str:
    """An interpreter that other users may run. Raises NotHere."""
    for candidate in (SYSTEM_PYTHON, os.path.realpath(sys.executable)):
        if os.path.exists(candidate) and open_to_all(Path(os.path.realpath(candidate))):
            return candidate
    raise NotHere("no python3 that another user may run")
