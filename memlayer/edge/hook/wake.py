"""Sees to it that a daemon comes: starts it, or the building of its runtime, without waiting for either."""

from __future__ import annotations

import os
import time

from memlayer.edge.bootstrap import health, spawn
from memlayer.edge.bootstrap.runtime import find_runtime, start_setup_in_background
from memlayer.edge.home import paths

AGAIN_AFTER_S = 2.0
SETUP_AGAIN_AFTER_S = 60.0
NOTICE = (
    "memlayer is preparing its runtime in the background (once, about a minute). "
    "Nothing is lost meanwhile; memories are recalled as soon as it is ready."
)


def wake(home: str) -> str:
    """Start the daemon, or the setup when there is no runtime. Returns a notice for the person, once a setup.

    Raises OSError when the disk or the process table refuses.
    """
    root = spawn.plugin_root()
    python = find_runtime(home, root)
    if python is not None:
        if _due(os.path.join(home, "wake.stamp"), AGAIN_AFTER_S):
            spawn.spawn_daemon(home, python)
        return ""
    if _due(os.path.join(home, "setup.stamp"), SETUP_AGAIN_AFTER_S):
        start_setup_in_background(home, root)
    noticed = os.path.join(home, "setup.noticed")
    if os.path.exists(noticed):
        return ""
    paths.write_whole(noticed, health.PREPARING)
    return NOTICE


def _due(stamp: str, after_s: float) -> bool:
    """True if the stamp is missing, old, or from the future (a clock set back); then it is renewed."""
    try:
        age_s = time.time() - os.lstat(stamp).st_mtime
    except FileNotFoundError:
        age_s = after_s
    if 0 <= age_s < after_s:
        return False
    flags = os.O_WRONLY | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    try:
        fd = os.open(stamp, flags, paths.FILE_MODE)
    except OSError:  # a link, or a folder: not ours to write through
        os.unlink(stamp)
        fd = os.open(stamp, flags, paths.FILE_MODE)
    os.close(fd)
    os.utime(stamp)
    return True
