"""Where memory files stand, and what is wrong with them."""

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
    """What is the matter with files as of their project's last sync."""

    _says: dict[str, dict[str, str]] = field(default_factory=dict)  # project id -> file -> why it was left alone
    _seen: dict[tuple[str, str], Stamp] = field(default_factory=dict)  # what these looked like
    _told: set[tuple[str, str, str]] = field(default_factory=set)  # what the log has

    def of(self, project_id: str) -> dict[str, str]:
        """File -> what is the matter with it."""
        return dict(self._says.get(project_id, {}))

    def begin(self, project_id: str) -> None:
        """A project's files are looked at anew."""
        self._says[project_id] = {}

    def note(self, project_id: str, name: str, says: str, *, seen: Stamp | None = None, to_log: bool = True) -> None:
        """A file is left alone. seen: what it looked like, so that it is not looked at again before it changes."""
        self._says.setdefault(project_id, {})[name] = says
        if seen is not None:
            self._seen[project_id, name] = seen
        if to_log and (project_id, name, says) not in self._told:
            self._told.add((project_id, name, says))
            log.warning("memory file %s: %s", name, says)

    def seen(self, project_id: str, name: str) -> Stamp | None:
        """What a file looked like when it was left alone."""
        return self._seen.get((project_id, name))


IN_HOME = "projects"
IN_PROJECT = ".memlayer"


class Place(NamedTuple):
    """anchor: a folder that the user has chosen. parts: the folders below it, where no link is followed."""

    anchor: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        return os.path.join(self.anchor, *self.parts)


@dataclass(frozen=True)
class FileRules:
    """What the user may set. in_project: the files stand in the repository instead of the memlayer home."""

    enabled: bool = True
    in_project: bool = False


def place_of(
    home: str, projects: Projects, project_id: str, rules: FileRules, *, even_off: bool = False
) -> Place | None:
    """The place of a project's files; None where there is none: unknown, switched off (unless even_off), moved away,
    not mounted."""
    if project_id == GLOBAL:
        return Place(home, (GLOBAL,))
    root = projects.root(project_id)
    if not root or not (even_off or project.enabled(root)):
        return None
    # A person's home folder may be a project; its .memlayer is where all of memlayer is.
    if rules.in_project and os.path.realpath(os.path.join(root, IN_PROJECT)) != os.path.realpath(home):
        is_there = os.path.isdir(root) and projects.find(root)[0] == project_id
        return Place(root, (IN_PROJECT,)) if is_there else None
    return Place(home, (IN_HOME, _folder(home, projects, project_id)))


def place_at(home: str, path: str) -> Place:
    """The place whose path was written down."""
    above, name = os.path.split(path)
    return Place(home, (IN_HOME, name)) if above == os.path.join(home, IN_HOME) else Place(above, (name,))


def _folder(home: str, projects: Projects, project_id: str) -> str:
    alike = sum(one[:8] == project_id[:8] for one in projects.known())
    unique = project_id[:8] if alike < 2 else project_id
    try:
        held = [one for one in os.listdir(os.path.join(home, IN_HOME)) if one.endswith("-" + unique)]
    except OSError:
        held = []
    # A project that is renamed keeps its folder: somebody may have it open.
    return min(held) if held else folder_name(projects.name(project_id), unique)
