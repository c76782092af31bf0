"""Processes that tests leave behind, found in /proc by their files."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path


def left_running(folder: Path, grace_s: float = 5.0) -> dict[int, str]:
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
    """Return a process's command line, empty if it has ended."""
    with contextlib.suppress(OSError):
        return (Path("/proc") / pid / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
    return ""
