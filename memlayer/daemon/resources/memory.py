"""Memory of the daemon's process."""

import ctypes
import gc
import os
import sys
from collections.abc import Iterable, Iterator

_MADV_DONTNEED = 4


def rss_bytes() -> int:
    """Return this process's resident memory; on macOS its peak."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def loaded() -> None:
    """Free leftovers of loading, and spare later collections the objects that stay."""
    gc.collect()
    gc.freeze()
    give_back()
    unmap_code()


def give_back() -> None:
    """Return freed memory that glibc keeps to the system."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim is not None:
            trim(0)


def rest() -> None:
    """Give back all that a daemon at rest does not use."""
    give_back()
    unmap_code()


def unmap_code() -> int:
    """Release pages of shared libraries. Returns how many bytes of address space.

    Starting and building indexes touches some 60 MB of machine code that answering prompts never runs. The pages stay
    in the system's file cache, so those in use come back without a disk: the next recall takes 3 to 5 ms longer. Only
    mappings of code without a single changed page are taken. A no-op where there is no /proc.
    """
    try:
        with open("/proc/self/smaps", encoding="utf-8", errors="replace") as file:
            places = list(unchanged_code(file))
        advise = ctypes.CDLL(None, use_errno=True).madvise
    except (OSError, AttributeError):
        return 0
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return sum(end - start for start, end in places if advise(start, end - start, _MADV_DONTNEED) == 0)


def unchanged_code(smaps: Iterable[str]) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of each unchanged mapping of library code in /proc/<pid>/smaps."""
    place: tuple[int, int] | None = None
    for line in smaps:
        first, _, rest = line.partition(" ")
        if not first.endswith(":"):  # a mapping's first line: addresses, rights, offset, device, inode, path
            start, _, end = first.partition("-")
            rights, _, rest = rest.partition(" ")
            path = rest.split(None, 3)[3].rstrip() if len(rest.split(None, 3)) == 4 else ""
            is_code = rights == "r-xp" and (path.endswith(".so") or ".so." in path)
            place = (int(start, 16), int(end, 16)) if is_code else None
        elif first == "Anonymous:" and place is not None and rest.split()[0] == "0":
            yield place
