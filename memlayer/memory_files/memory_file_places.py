"""Where a project's memory files are: in the memlayer home, or in the project itself, to be shared with it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import NamedTuple

from memlayer.edge.home import project
from memlayer.model import GLOBAL
from memlayer.records.folder_name import folder_name
from memlayer.records.projects import Projects

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
