"""Which project a place is: the registry of known projects in projects.json, and how a place is matched against it.

A project is known by keys, strongest first: `remote:` (the repository's remote), `commit:` (its root commit), `git:`
(its common git folder), `path:` (its root folder). A place matches the project that holds its strongest known key,
unless the two disagree on a stronger one: a fork with another remote, or a new repository in an old folder, is a
project of its own. A clone whose remote has been changed is still the same: root commit and git folder both say so.

Folders are used again. So a project that is found by `git:` or `path:` alone must not have been another repository,
which is seen by when that one was made; see `_began_anew`.
"""

from __future__ import annotations

import json

from memlayer.edge.home import paths
from memlayer.edge.home.project import BORN_FILE, Place

TYPE_CHECKING = False  # what type checkers look for; importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

GLOBAL = "global"  # the project id of memories for every project, put there by the person alone
STRENGTH = ("remote:", "commit:", "git:", "path:")
# What speaks for another repository when it differs. A moved folder changes `git:` and `path:` only.
IDENTITY = ("remote:", "commit:")

# project id -> {"name", "root", "keys": [...], "since_ms", "born": {git folder: Place.born when it was last seen}}
Registry = dict[str, dict[str, "Any"]]


def is_path_part(text: str) -> bool:
    """True for ASCII letters and digits alone, as in ids made here.

    An id that comes with a file may be anything, and must not become part of a path.
    """
    return text.isascii() and text.isalnum()


def keys_of(place: Place, root_commit: str = "") -> list[str]:
    """The keys of a place, strongest first."""
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
    """The registry on disk; empty when there is none or it cannot be read."""
    try:
        with open(paths.projects(home), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    for known in found.values():
        if isinstance(known, dict) and isinstance(known.get("keys"), list):
            known["keys"] = without_relative([str(key) for key in known["keys"]])
    return found


def without_relative(keys: list[str]) -> list[str]:
    """Without remotes like `../origin`, which were keys once: unrelated repositories share them. Who has one is still
    known by its other keys."""
    return [key for key in keys if not key.startswith("remote:file:") or key.startswith("remote:file:/")]


def save(home: str, registry: Registry) -> None:
    """Raises OSError."""
    paths.write_whole(
        paths.projects(home), json.dumps(registry, ensure_ascii=False, indent=1).encode("utf-8", "replace")
    )


def find_place(registry: Registry, place: Place, root_commit: str = "") -> str:
    """The id of the project that a place is, or ""."""
    keys = keys_of(place, root_commit)
    for key, project_id in _matches(registry, keys):
        if key.startswith(IDENTITY) or not _began_anew(registry[project_id], place, keys):
            return project_id
    return ""


def find(registry: Registry, keys: list[str]) -> str:
    """The id of the project these keys belong to, or "". For what is no place of this machine, or no longer one."""
    return next((project_id for _, project_id in _matches(registry, keys)), "")


def _matches(registry: Registry, keys: list[str]) -> Iterator[tuple[str, str]]:
    """(shared key, project id), strongest key first."""
    for key in keys:
        for project_id, project in registry.items():
            if key in project["keys"] and not _contradicts(project["keys"], keys, key):
                yield key, project_id


def _began_anew(known: dict[str, Any], place: Place, asked: list[str]) -> bool:
    """True if the folder is a known project's, but the repository in it is another one or may be.

    Without a commit to compare (there is none yet, or git is not asked) nothing but its birth tells a repository from
    the one that was there. A project that has never been a repository with a commit is its folder.
    """
    born = known.get("born", {}).get(place.git_dir, "")
    if born and born == place.born:
        return False
    if born.startswith(BORN_FILE) and place.born.startswith(BORN_FILE):
        return True
    return _has_commit(known["keys"]) and not _has_commit(asked)


def _has_commit(keys: list[str]) -> bool:
    return any(key.startswith("commit:") for key in keys)


def _contradicts(known: list[str], asked: list[str], shared: str) -> bool:
    """True if both sides have an identity key of one sort, stronger than the shared key, and none in common."""
    agreed = {key.partition(":")[0] for key in known if key in asked}
    if agreed >= {"commit", "git"}:
        return False
    strength = STRENGTH.index(shared.partition(":")[0] + ":")
    return differ(known, asked, IDENTITY[:strength])


def differ(known: list[str], asked: list[str], sorts: tuple[str, ...] = IDENTITY) -> bool:
    """True if both sides have an identity key of one sort, and none in common."""
    for prefix in sorts:
        ours = {key for key in known if key.startswith(prefix)}
        theirs = {key for key in asked if key.startswith(prefix)}
        if ours and theirs and not ours & theirs:
            return True
    return False
