"""Working sets as text on disk, a file per project.

The daemon writes them, a hook without a daemon reads them.
"""

from __future__ import annotations

import os

from memlayer.edge.home import paths
from memlayer.edge.home.project import Place
from memlayer.edge.home.registry import GLOBAL, find_place, is_path_part, load
from memlayer.errors import UserError

MAX_BYTES = 60_000


def path_of(home: str, project_id: str) -> str:
    """Return the file of a project's working set.

    Raises UserError for a foreign id, which may lead elsewhere.
    """
    if not is_path_part(project_id):
        raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
    return os.path.join(paths.working_sets(home), project_id + ".txt")


def read_working_set(home: str, place: Place) -> str:
    """Return the working set of a place's project.

    Without one the working set for every project, or "".
    """
    project_id = find_place(load(home), place)
    return (_read(home, project_id) if project_id else "") or _read(home, GLOBAL)


def _read(home: str, project_id: str) -> str:
    try:
        path = path_of(home, project_id)
    except UserError:
        return ""
    # The text goes to the model: no link may lead to another file.
    return paths.read_start(path, MAX_BYTES, follow_links=False).decode("utf-8", "replace")


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


def drop_all(home: str) -> None:
    """Remove every project's working set. Raises OSError."""
    folder = paths.working_sets(home)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".txt"):
            os.unlink(os.path.join(folder, name))


def sweep(home: str) -> int:
    """Remove half-written working sets after a crash; return how many.

    Only for the process that writes them.
    """
    return paths.sweep(paths.working_sets(home), 0.0, 0.0, 0.0)
