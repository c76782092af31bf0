"""Projects: their ids, names and folders."""

import contextlib
import hashlib
import json
import os
import re
import stat
import subprocess
import threading
import time
import unicodedata
from collections.abc import Callable, Collection
from typing import Any

from memlayer.edge.home import paths, project, registry
from memlayer.edge.home.registry import is_path_part
from memlayer.edge.home.remotes import normalise_remote
from memlayer.errors import UserError
from memlayer.model import GLOBAL
from memlayer.records import git

MAX_CHARS = 40
GIT_LIMIT_S = 5.0
_OUT = re.compile(r"[^\w.+-]+")
_EDGES = " .-_+"
OWN = " (own)"  # behind the name of a project that a person parted, which has the name of the other one
# A repository's common git folder -> its root commit, "" while it has none. Raises TimeoutError.
RootCommit = Callable[[str], str]


def turned_on(home: str, place: str, now_ms: int) -> int:
    """Note that a daemon begins with a model turned on.

    Returns since when it is, in Unix ms. place: where sessions are sent: the provider, and its address. Another place
    is turned on now. So is a place whose note is lost or names a time that is yet to come.
    """
    known = paths.read_object(paths.model_since(home))
    since_ms = known.get("since_ms")
    if known.get("place") == place and type(since_ms) is int and 0 < since_ms <= now_ms:
        return since_ms
    note = {"place": place, "since_ms": now_ms}
    with contextlib.suppress(OSError):  # it holds for this daemon, and the next one is later still
        paths.write_whole(paths.model_since(home), json.dumps(note, ensure_ascii=False).encode())
    return now_ms


def turned_off(home: str) -> None:
    """A daemon begins with the rules alone."""
    with contextlib.suppress(OSError):
        os.unlink(paths.model_since(home))


def folder_name(name: str, unique: str) -> str:
    """Name a folder `<readable part>-<unique>`, safe in shells and file systems.

    unique: letters and digits, which tell two projects of one name apart.
    """
    kept = _OUT.sub("-", unicodedata.normalize("NFC", name).encode("utf-8", "replace").decode("utf-8"))
    kept = re.sub("-{2,}", "-", kept).strip(_EDGES)[:MAX_CHARS].strip(_EDGES)
    return "%s-%s" % (kept or "project", unique)


class Projects:
    """The registry of one home. Only the daemon writes it.

    Thread-safe. root_commit is asked only for a repository that no remote identifies, once while the daemon lives and
    the repository's configuration stays.
    """

    def __init__(self, home: str, root_commit: RootCommit) -> None:
        self._home = home
        self._root_commit = root_commit
        self._commits: dict[tuple[str, int, int], str] = {}
        self._registry = registry.load(home)
        self._lock = threading.Lock()

    def resolve(self, folder: str) -> tuple[str, project.Place]:
        """Return a folder's (project id, place), registered if new. Raises OSError."""
        place = project.locate(folder)
        keys = registry.keys_of(place)
        with self._lock:
            project_id = self._former(folder)
            if project_id:
                return project_id, place
            project_id = registry.chosen_for(self._registry, place)
            if project_id:
                if not os.path.isdir(str(self._registry[project_id].get("root", ""))):
                    self._registry[project_id] |= {"root": place.root, "name": os.path.basename(place.root)}
                    registry.save(self._home, self._registry)
                return project_id, place
            project_id = registry.find_place(self._registry, place) if place.remote else ""
            if not project_id:
                commit = self._commit(place)
                keys = registry.keys_of(place, commit)
                project_id = registry.find_place(self._registry, place, commit)
            if not project_id:
                project_id = self._free(hashlib.sha256(keys[0].encode("utf-8", "surrogatepass")).hexdigest()[:16])
                self._registry[project_id] = {"keys": [], "since_ms": int(time.time() * 1000)}
            self._learn(project_id, keys, place)
        return project_id, place

    def find(self, folder: str) -> tuple[str, project.Place]:
        """Like resolve, but an unknown project is "" and stays unknown."""
        place = project.locate(folder)
        with self._lock:
            project_id = self._former(folder) or registry.find_place(self._registry, place)
            if not project_id:
                project_id = registry.find_place(self._registry, place, self._commit(place))
        return project_id, place

    def adopt(self, project_id: str, entry: dict[str, Any], apart: Collection[str] = (), machine: str = "") -> str:
        """Take in a project of another home. Return its id here.

        The project: an entry of that home's registry. apart: ids of projects that it is not. machine: the home that
        sent it, whose projects stay as many here as they are there. Raises OSError, or UserError for an invalid id: ids
        become parts of paths.
        """
        if not is_path_part(project_id):
            raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
        keys = [str(key) for key in entry["keys"]]
        with self._lock:
            ordered = [key for prefix in registry.STRENGTH for key in keys if key.startswith(prefix)]
            here = self._same_project(project_id, ordered, str(entry.get("name", "")), machine)
            if here and here not in apart:
                known = set(self._registry[here]["keys"])
                self._registry[here]["keys"] = sorted(
                    known | {key for key in keys if key.startswith(registry.IDENTITY)}
                )
            else:
                here = self._free(project_id)
                # When another machine's repositories were made says nothing of those here.
                self._registry[here] = {**entry, "keys": keys, "born": {}, "chosen": []}
            if machine:
                self._registry[here].setdefault("adopted", {})[machine] = project_id
            registry.save(self._home, self._registry)
        return here

    def _same_project(self, project_id: str, keys: list[str], name: str, machine: str) -> str:
        """Return the project here that another home's project is; "" in doubt.

        Copies of a repository have its first commit, and ids by the order in which a home saw them. So among several of
        one commit the name tells, and two projects of one home are never one. keys: strongest first.
        """
        adopted = {here: row.get("adopted", {}).get(machine, "") for here, row in self._registry.items()}
        if project_id in adopted.values():
            return next(here for here, theirs in adopted.items() if theirs == project_id)
        is_known = project_id in self._registry and not registry.differ(self._registry[project_id]["keys"], keys)
        found = project_id if is_known else registry.find(self._registry, keys)
        if not machine or not found:
            return found
        strongest = next((key for key in keys if key in self._registry[found]["keys"]), "")
        alike = [here for here, row in self._registry.items() if strongest in row["keys"]]
        if len(alike) < 2 or strongest.startswith("remote:"):
            return found if is_known or not adopted[found] else ""
        named = [here for here in alike if self._registry[here].get("name") == name and not adopted[here]]
        return named[0] if len(named) == 1 else found if is_known else ""

    def named(self, name: str) -> str:
        """Return a project's id by id, folder or name. Raises UserError."""
        if name in self._registry:
            return name
        path = project.real(os.path.expanduser(name))
        with self._lock:
            rows = self._registry.items()
            found: list[str] = []
            for one in (os.path.abspath(os.path.expanduser(name)), path):  # a link may stand where a project was
                found = found or [id_ for id_, row in rows if "path:" + one in row["keys"]]
                found = found or [id_ for id_, row in rows if row.get("root") == one]
            found = found or [id_ for id_, row in rows if row.get("name") == name]
        found = found or list(filter(None, [self.find(path)[0]] if os.path.isdir(path) else []))
        if len(found) == 1:
            return found[0]
        if found:
            raise UserError(f"Several projects are called {name}: give an id, of `memlayer project list`")
        raise UserError(f"No project is known by {name}: `memlayer project list` has them all")

    def choose(self, folder: str, to: str) -> tuple[str, str]:
        """Give a folder to a project. Return (former id, id).

        to: its id. "" for one of the folder's own. Nothing that is stored moves. Raises OSError.
        """
        former, place = self.resolve(folder)
        key = registry.folder_key(place)
        with self._lock:
            for row in self._registry.values():
                row["chosen"] = [other for other in row.get("chosen", ()) if other != key]
            # Back to its own one, where it was with another.
            own = "" if to else registry.find_place(self._registry, place, self._commit(place))
            to = to or (own if own != former else "")
            if not to:
                to = hashlib.sha256(("own " + key).encode("utf-8", "surrogatepass")).hexdigest()[:16]
                to = self._free(to) if to == former else to  # one that it had before comes back
                name = (os.path.basename(place.root) or place.root) + OWN
                since_ms = int(time.time() * 1000)
                new = {"keys": [], "since_ms": since_ms, "root": place.root, "name": name}
                self._registry.setdefault(to, new)
            if to != own:
                self._registry[to]["chosen"] = [*self._registry[to].get("chosen", ()), key]
            registry.save(self._home, self._registry)
        self.resolve(folder)
        return former, to

    def name(self, project_id: str) -> str:
        """The folder's last path component, for people; never an identity."""
        if project_id == GLOBAL:
            return "every project"
        with self._lock:
            return str(self._registry.get(project_id, {}).get("name", project_id))

    def root(self, project_id: str) -> str:
        """Where the project was last seen, or ""."""
        with self._lock:
            return str(self._registry.get(project_id, {}).get("root", ""))

    def root_of_remote(self, remote: str) -> str:
        """Where the project of a remote was last seen, or ""."""
        key = "remote:" + normalise_remote(remote)
        with self._lock:
            return next((str(row.get("root", "")) for row in self._registry.values() if key in row["keys"]), "")

    def known(self) -> dict[str, dict[str, Any]]:
        """A copy of the registry."""
        with self._lock:
            return {project_id: dict(entry) for project_id, entry in self._registry.items()}

    def scopes(self) -> list[str]:
        """The ids of all memory scopes: known projects, and every project."""
        with self._lock:
            return [*self._registry, GLOBAL]

    def _free(self, project_id: str) -> str:
        """Return this id, or a new one where another project has it."""
        while project_id in self._registry:
            project_id = hashlib.sha256(project_id.encode()).hexdigest()[:16]
        return project_id

    def _former(self, folder: str) -> str:
        """Return the former project of a folder that is gone, or "".

        A repository above it would answer for it otherwise, and the project's record would name a place that is no
        more.
        """
        path = project.real(folder)
        return "" if os.path.isdir(path) else registry.find(self._registry, ["path:" + path])

    def _commit(self, place: project.Place) -> str:
        if not place.git_dir:
            return ""
        try:
            # A repository that was deleted and made anew in the same folder has another configuration file. Its inode
            # alone does not tell, a file system may give it out again.
            config = os.stat(os.path.join(place.git_dir, "config"))
        except OSError:
            known_as = (place.git_dir, 0, 0)
        else:
            if not stat.S_ISREG(config.st_mode):
                return ""  # git would wait for a pipe
            known_as = (place.git_dir, config.st_ino, config.st_mtime_ns)
        if known_as not in self._commits:
            try:
                commit = self._root_commit(place.git_dir)
            except TimeoutError:
                # Not asked again: all projects wait meanwhile.
                return self._commits.setdefault(known_as, "")
            if not commit or known_as[1] == 0:
                return commit
            self._commits[known_as] = commit
        return self._commits[known_as]

    def _learn(self, project_id: str, keys: list[str], place: project.Place) -> None:
        known = self._registry[project_id]
        name = os.path.basename(place.root) or place.root
        born = {place.git_dir: place.born} if place.born else {}
        is_known = set(keys) <= set(known["keys"]) and born.items() <= known.get("born", {}).items()
        if is_known and known.get("root") == place.root and known.get("name") == name:
            return
        known["keys"] = sorted(set(known["keys"]) | set(keys))
        known["root"], known["name"] = place.root, name
        known["born"] = {**known.get("born", {}), **born}
        # A place belongs to one project only: whoever had this folder before has moved away.
        for other_id, other in self._registry.items():
            if other_id != project_id:
                other["keys"] = [
                    key for key in other["keys"] if key not in keys or not key.startswith(("path:", "git:"))
                ]
        registry.save(self._home, self._registry)


def root_commit(git_dir: str) -> str:
    """Return the oldest commit without parents that HEAD reaches.

    "" for an empty repository, without git, or when git fails.

    A shallow clone has no true root commit, so it answers "". Raises TimeoutError.
    """
    try:
        shallow = _git(git_dir, "rev-parse", "--is-shallow-repository")
        if shallow != "false":
            return ""
        roots = _git(git_dir, "rev-list", "--max-parents=0", "HEAD").split()
    except subprocess.TimeoutExpired as late:  # a pipe among its files, or more history than can be walked in time
        raise TimeoutError("git takes too long: " + git_dir) from late
    except (OSError, subprocess.SubprocessError):
        return ""
    return roots[-1] if roots else ""


def git_setting(git_dir: str, name: str) -> str:
    """Return a value of git's configuration, "" for none."""
    try:
        return _git(git_dir, "config", "--get", name) if git_dir else ""
    except (OSError, subprocess.SubprocessError):
        return ""


def _git(git_dir: str, *words: str) -> str:
    done = git.run(["--git-dir", git_dir, *words], limit_s=GIT_LIMIT_S)
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""
