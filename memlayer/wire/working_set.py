"""The working set as text on disk, one file a project: the daemon writes it, a hook without a daemon can read it."""

from __future__ import annotations

import os
import stat

from memlayer.core.path_part import is_path_part
from memlayer.errors import UserError
from memlayer.wire import paths, registry
from memlayer.wire.project import Place

MAX_BYTES = 60_000


def path_of(home: str, project_id: str) -> str:
    """Where a project's working set stands. Raises UserError for what is no id of ours and may lead elsewhere."""
    if not is_path_part(project_id):
        raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
    return os.path.join(paths.working_sets(home), project_id + ".txt")


def read_working_set(home: str, place: Place) -> str:
    """The working set of the project that `place` is, or "" when there is none."""
    project_id = registry.find_place(registry.load(home), place)
    if not project_id:
        return ""
    try:
        # What stands there goes to the model: no link is followed to somewhere else, and no pipe waited for.
        fd = os.open(path_of(home, project_id), os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
        with open(fd, "rb") as file:
            raw = file.read(MAX_BYTES) if stat.S_ISREG(os.fstat(fd).st_mode) else b""
    except (OSError, UserError):
        return ""
    return raw.decode("utf-8", "replace")


def write_working_set(home: str, project_id: str, text: str) -> None:
    """Replace a project's working set; "" removes it. Raises OSError."""
    path = path_of(home, project_id)
    if text:
        paths.write_whole(path, text.encode("utf-8", "replace"))
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def sweep(home: str) -> int:
    """Remove what a crash left of working sets that were being written; returns how many. For who alone writes them."""
    return paths.sweep(paths.working_sets(home), 0.0, 0.0, 0.0)
