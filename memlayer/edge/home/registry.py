"""Registry of known projects in projects.json, and their working sets on disk.

A project is known by keys, strongest first: `remote:` (the repository's remote), `commit:` (its root commit), `git:`
(its common git folder), `path:` (its root folder). A place matches the project that holds its strongest known key,
unless the two disagree on a stronger key: a fork with another remote, or a new repository in an old folder, is a
project of its own. A clone whose remote has been changed is still the same, as root commit and git folder both prove,
unless another clone is at work with the former remote.

A root commit proves descent, not identity: two clones of a template share it. So it names a project only where that
project's repository is no longer in its place, or where one is the other's clone.

The person's choice comes before all keys: "chosen" of a project holds keys of folders that the person gave to it.

Folders are used again. So a project that is found by `git:` or `path:` alone must not have been another repository: see
`_is_other_repository`. Working sets are text, a file per project: the daemon writes them, a hook without a daemon reads
them.
"""

from __future__ import annotations

import json
import os

from memlayer.edge.home import paths
from memlayer.edge.home.project import BORN_FILE, Place, born_of, own_home
from memlayer.edge.home.remotes import known_as, remote_of, remote_urls
from memlayer.errors import UserError

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

GLOBAL = "global"  # the project id of memories for every project, put there by the person alone
STRENGTH = ("remote:", "commit:", "git:", "path:")
# Keys that differ between repositories. A moved folder changes `git:` and `path:` only.
IDENTITY = ("remote:", "commit:")

# project id -> {"name", "root", "keys": [...], "since_ms", "born": {git folder: Place.born when it was last seen}}
Registry = dict[str, dict[str, "Any"]]

MAX_BYTES = 60_000


def is_path_part(text: str) -> bool:
    """True for ASCII letters and digits alone: no foreign id leads elsewhere."""
    return text.isascii() and text.isalnum()


def keys_of(place: Place, root_commit: str = "") -> list[str]:
    """Return the keys of a place, strongest first."""
    keys = []
    if place.remote:
        keys.append("remote:" + place.remote)
    if root_commit:
        keys.append("commit:" + root_commit)
    if place.git_dir:
        keys.append("git:" + place.git_dir)
    keys.append("path:" + place.root)
    return keys


def load(home: str) -> Registry:
    """Return the registry on disk; empty when missing or unreadable.

    Remotes are known as they are spelt now, whichever version wrote them. A damaged entry is left out: its folder gets
    the same id again, which is made of its first key.
    """
    whole = {}
    for project_id, entry in paths.read_object(paths.projects(home)).items():
        keys = entry.get("keys") if isinstance(entry, dict) else None
        if isinstance(keys, list):
            whole[project_id] = entry
            entry["keys"] = sorted({_known_key(key) for key in keys if isinstance(key, str)})
    return whole


def _known_key(key: str) -> str:
    return "remote:" + known_as(key[7:]) if key.startswith("remote:") else key


def save(home: str, registry: Registry) -> None:
    """Write the registry. Raises OSError."""
    paths.write_whole(
        paths.projects(home), json.dumps(registry, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    )


def find_place(registry: Registry, place: Place, root_commit: str = "") -> str:
    """Return the id of the project of a place, or ""."""
    chosen = chosen_for(registry, place)
    if chosen:
        return chosen
    keys = keys_of(place, root_commit)
    for key, project_id in _matches(registry, keys):
        known = registry[project_id]
        if key.startswith("commit:"):
            is_other = not _is_one_repository(known, place)
        else:
            is_other = not key.startswith(IDENTITY) and _is_other_repository(known, place, keys)
        if not is_other:
            return project_id
    return ""


def folder_key(place: Place) -> str:
    """Return the key of a place on this machine alone."""
    return "git:" + place.git_dir if place.git_dir else "path:" + place.root


def chosen_for(registry: Registry, place: Place) -> str:
    """Return the id of the person's choice for a place, or ""."""
    key = folder_key(place)
    return next((project_id for project_id, known in registry.items() if key in known.get("chosen", ())), "")


def _is_one_repository(known: dict[str, Any], place: Place) -> bool:
    """True if one repository and its clone share a root commit."""
    keys = set(known["keys"])
    others = [key[4:] for key in keys if key.startswith("git:")]
    if place.git_dir in others or not all(_lives(known, git_dir) for git_dir in others) or not others:
        return True
    if not place.remote and remote_urls(place.git_dir):
        return True  # a relative one: it is a clone, and no more is known of its origin
    origin = place.remote.removeprefix("file:") if place.remote.startswith("file:") else ""
    related = {"remote:file:" + place.root, "remote:file:" + place.git_dir}
    if origin:
        related |= {"path:" + origin, "git:" + origin}
    return bool(related & keys)


def _lives(known: dict[str, Any], git_dir: str) -> bool:
    """True while a project's repository is in its place."""
    if not os.path.exists(os.path.join(git_dir, "HEAD")):
        return False
    born, now = known.get("born", {}).get(git_dir, ""), born_of(git_dir)
    return not (born.startswith(BORN_FILE) and now.startswith(BORN_FILE) and born != now)


def find(registry: Registry, keys: list[str]) -> str:
    """Return the id of the project with these keys, or ""."""
    return next((project_id for _, project_id in _matches(registry, keys)), "")


def _matches(registry: Registry, keys: list[str]) -> Iterator[tuple[str, str]]:
    """Yield (shared key, project id), strongest key first."""
    # Of several (an earlier version told one remote's spellings apart) a folder keeps its own.
    rows = sorted(registry.items(), key=lambda row: -len(set(keys).intersection(row[1]["keys"])))
    for key in keys:
        for project_id, project in rows:
            if key in project["keys"] and not _contradicts(project["keys"], keys, key):
                yield key, project_id


def _is_other_repository(known: dict[str, Any], place: Place, keys: list[str]) -> bool:
    """True if another repository may have replaced the project's.

    Without a commit to compare (there is none yet, or git is not asked) only its birth tells a repository from its
    predecessor. A project that has never been a repository with a commit is its folder.
    """
    if not place.git_dir and place.root in (own_home(), "/"):
        return False  # its repository counts no more
    born = known.get("born", {}).get(place.git_dir, "")
    if born and born == place.born:
        return False
    if born.startswith(BORN_FILE) and place.born.startswith(BORN_FILE):
        return True
    return _has_commit(known["keys"]) and not _has_commit(keys)


def _has_commit(keys: list[str]) -> bool:
    return any(key.startswith("commit:") for key in keys)


def _contradicts(known: list[str], keys: list[str], shared: str) -> bool:
    """True if stronger identity keys of one sort have none in common."""
    agreed = {key.partition(":")[0] for key in known if key in keys}
    if agreed >= {"commit", "git"}:
        others = [key[4:] for key in known if key.startswith("git:") and key not in keys]
        if not any("remote:" + remote_of(git_dir) in known for git_dir in others):
            return False
    strength = STRENGTH.index(shared.partition(":")[0] + ":")
    return differ(known, keys, IDENTITY[:strength])


def differ(known: list[str], keys: list[str], sorts: tuple[str, ...] = IDENTITY) -> bool:
    """True if both sides have identity keys of a sort, none shared."""
    for prefix in sorts:
        ours = {key for key in known if key.startswith(prefix)}
        theirs = {key for key in keys if key.startswith(prefix)}
        if ours and theirs and not ours & theirs:
            return True
    return False


def working_set_path(home: str, project_id: str) -> str:
    """Return a working set's file. Raises UserError for a foreign id."""
    if not is_path_part(project_id):
        raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
    return os.path.join(paths.working_sets(home), project_id + ".txt")


def read_working_set(home: str, place: Place) -> str:
    """Return the working set of a place, or that for every project."""
    project_id = find_place(load(home), place)
    return (_read_working_set(home, project_id) if project_id else "") or _read_working_set(home, GLOBAL)


def _read_working_set(home: str, project_id: str) -> str:
    try:
        path = working_set_path(home, project_id)
    except UserError:
        return ""
    # The text goes to the model: no link may lead to another file.
    return paths.read_start(path, MAX_BYTES, follow_links=False).decode("utf-8", "replace")


def write_working_set(home: str, project_id: str, text: str) -> None:
    """Replace a project's working set; "" removes it. Raises OSError."""
    path = working_set_path(home, project_id)
    if text:
        paths.write_whole(path, text.encode("utf-8", "replace"))
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        return


def drop_working_sets(home: str) -> None:
    """Remove every project's working set. Raises OSError."""
    folder = paths.working_sets(home)
    for name in os.listdir(folder) if os.path.isdir(folder) else ():
        if name.endswith(".txt"):
            os.unlink(os.path.join(folder, name))


def sweep_working_sets(home: str) -> int:
    """Remove half-written working sets after a crash; for their writer alone."""
    return paths.sweep(paths.working_sets(home), 0.0, 0.0, 0.0)
