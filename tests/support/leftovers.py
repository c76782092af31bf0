"""Processes that tests leave behind, found in /proc by their files."""

import contextlib
import os
import signal
import time
from pathlib import Path

GRACE_S = 12.0  # a daemon whose home was deleted looks for it every five seconds, then lets its clients go


def left_running(folder: Path, grace_s: float = GRACE_S) -> dict[int, str]:
    """Return pid -> command of each other process that works in `folder` once `grace_s` has passed."""
    deadline = time.monotonic() + grace_s
    while True:
        left = {
            int(pid): command_of(pid) for pid in os.listdir("/proc") if pid.isdigit() and works_in(pid, str(folder))
        }
        left.pop(os.getpid(), None)
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.1)


def end_all(folder: Path) -> None:
    """End the processes that work in a folder, and wait until they have gone."""
    for pid in left_running(folder, grace_s=0.0):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGTERM)
    for pid in left_running(folder, grace_s=10.0):
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)


def works_in(pid: str, folder: str) -> bool:
    """Return whether a process was started for a folder, stands in it or holds a file of it."""
    process = Path("/proc") / pid
    with contextlib.suppress(OSError):  # it has ended, or it is another user's
        started = (process / "environ").read_bytes() + (process / "cmdline").read_bytes()
        if os.fsencode(folder) in started:
            return True
        links = [process / "cwd", *(process / "fd").iterdir()]
        return any(os.readlink(link).startswith(folder) for link in links)
    return False


def command_of(pid: str) -> str:
    """Return a process's command line with its home, empty if it has ended."""
    with contextlib.suppress(OSError):
        process = Path("/proc") / pid
        variables = (process / "environ").read_bytes().split(b"\0")
        named = [row for row in variables if row.startswith(b"MEMLAYER_HOME=")]
        words = [*(process / "cmdline").read_bytes().split(b"\0"), *named]
        return b" ".join(words).decode(errors="replace").strip()
    return ""
