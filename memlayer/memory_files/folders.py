"""The folders of memory files, and the problems found there."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from typing import NamedTuple

from memlayer.edge.home import project
from memlayer.memory_files.safe_folder import Stamp
from memlayer.model import GLOBAL
from memlayer.records.projects import Projects, folder_name

log = logging.getLogger(__name__)


@dataclass
class Problems:
    """Problems of files as of their project's last sync."""

    _by_project: dict[str, dict[str, str]] = field(default_factory=dict)  # project id -> file -> why it was skipped
    _seen: dict[tuple[str, str], Stamp] = field(default_factory=dict)  # of skipped files
    _logged: set[tuple[str, str, str]] = field(default_factory=set)

    def of(self, project_id: str) -> dict[str, str]:
        """Return file -> its problem."""
        return dict(self._by_project.get(project_id, {}))

    def begin(self, project_id: str) -> None:
        """Forget a project's problems before its files are read again."""
        self._by_project[project_id] = {}

    def note(self, project_id: str, name: str, problem: str, *, seen: Stamp | None = None, to_log: bool = True) -> None:
        """Note a skipped file, not read again while its stamp is `seen`."""
        self._by_project.setdefault(project_id, {})[name] = problem
        if seen is not None:
            self._seen[project_id, name] = seen
        if to_log and (project_id, name, problem) not in self._logged:
            self._logged.add((project_id, name, problem))
            log.warning("memory file %s: %s", name, problem)

    def seen(self, project_id: str, name: str) -> Stamp | None:
        """Return a file's stamp when it was skipped."""
        return self._seen.get((project_id, name))


IN_HOME = "projects"
IN_PROJECT = ".memlayer"


class Place(NamedTuple):
    """A place of memory files.

    anchor: a folder of the user's choice. parts: folders below it; no link is followed there.
    """

    anchor: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        return os.path.join(self.anchor, *self.parts)


@dataclass(frozen=True)
class FileRules:
    """Settings of memory files.

    in_project: the files are in the repository instead of the memlayer home.
    """

    enabled: bool = True
    in_project: bool = False


def place_of(
    home: str, projects: Projects, project_id: str, rules: FileRules, *, even_off: bool = False
) -> Place | None:
    """Return the place of a project's files; None where there is none.

    None for a project that is unknown, switched off (unless even_off), moved away or not mounted.
    """
    if project_id == GLOBAL:
        return Place(home, (GLOBAL,))
    root = projects.root(project_id)
    if not root or not (even_off or project.enabled(root)):
        return None
    # A user's home folder may be a project; its .memlayer is the memlayer home.
    if rules.in_project and os.path.realpath(os.path.join(root, IN_PROJECT)) != os.path.realpath(home):
        is_there = os.path.isdir(root) and projects.find(root)[0] == project_id
        return Place(root, (IN_PROJECT,)) if is_there else None
    return Place(home, (IN_HOME, _folder(home, projects, project_id)))


def place_at(home: str, path: str) -> Place:
    """Return the place of a recorded path."""
    above, name = os.path.split(path)
    return Place(home, (IN_HOME, name)) if above == os.path.join(home, IN_HOME) else Place(above, (name,))


def _folder(home: str, projects: Projects, project_id: str) -> str:
    alike = sum(known[:8] == project_id[:8] for known in projects.known())
    unique = project_id[:8] if alike < 2 else project_id
    try:
        held = [name for name in os.listdir(os.path.join(home, IN_HOME)) if name.endswith("-" + unique)]
    except OSError:
        held = []
    # A renamed project keeps its folder: an editor may have it open.
    return min(held) if held else folder_name(projects.name(project_id), unique)
