"""This process's memory: how much it holds, and giving back what it no longer needs."""

from __future__ import annotations

import ctypes
import gc
import os
import sys


def rss_bytes() -> int:
    """Resident memory of this process; the peak where the system does not tell the present (macOS)."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def give_back() -> None:
    """Return freed memory to the system: glibc keeps what loading a model or a batch has used. A no-op elsewhere."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)
