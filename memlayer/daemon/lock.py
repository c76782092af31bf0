"""Who the daemon is: the process that holds daemon.lock for as long as it lives."""

from __future__ import annotations

import fcntl
import os
import time

from memlayer.edge.home import paths


def hold(home: str, wait_s: float) -> int | None:
    """Take the lock; returns its open file, or None if another process still holds it after wait_s.

    The kernel frees it with the process, however that ends. The file's text, pid and start, is for people only.
    """
    fd = os.open(paths.lock(home), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, paths.FILE_MODE)
    ends = time.monotonic() + wait_s
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= ends:
                os.close(fd)
                return None
            time.sleep(0.05)
            continue
        if still_ours(home, fd):
            os.ftruncate(fd, 0)
            os.write(fd, b"%d %d\n" % (os.getpid(), int(time.time())))
            return fd
        os.close(fd)  # the file was replaced while we waited for it: a lock on a ghost
        return hold(home, max(0.0, ends - time.monotonic()))


def still_ours(home: str, fd: int) -> bool:
    """False once the home, or the lock in it, has been deleted or replaced."""
    try:
        named = os.stat(paths.lock(home))
    except FileNotFoundError:
        return False
    ours = os.fstat(fd)
    return (named.st_dev, named.st_ino) == (ours.st_dev, ours.st_ino)
