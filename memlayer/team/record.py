"""Record of a project's team: ids and hashes, no text."""

from __future__ import annotations

import contextlib
import os
import shutil
from dataclasses import dataclass, field

from memlayer.edge.home import paths
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import ShareError
from memlayer.records import small_files
from memlayer.sharing.share import new_machine

FILE = "team.json"


@dataclass
class Team:
    """A team that the person set up or accepted for a project.

    address: folder, or that of a place. author: the name on own notes. writer: 16 hex digits, whose objects they are.
    promoted: ids of own memories. written: file name -> hash of what this home last wrote there. notes, authors,
    left_out: of the last pull.
    """

    address: str
    author: str
    is_automatic: bool
    writer: str = field(default_factory=new_machine)
    promoted: list[str] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    notes: int = 0
    authors: list[str] = field(default_factory=list)
    left_out: dict[str, int] = field(default_factory=dict)
    pull_ms: int = 0
    push_ms: int = 0
    problem: str = ""
    problem_ms: int = 0


def folder_of(home: str, project_id: str) -> str:
    """Return the folder of a project's team. Raises ShareError for none."""
    if not is_path_part(project_id):
        raise ShareError("this folder is no project that memlayer knows")
    return os.path.join(paths.team(home), project_id)


def read_team(home: str, project_id: str) -> Team | None:
    """Return a project's team, None without one. Raises ShareError."""
    path = os.path.join(folder_of(home, project_id), FILE)
    try:
        return small_files.load(path, Team)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as bad:
        raise ShareError(f"{path} cannot be read. Remove it, and set the team up anew") from bad


def write_team(home: str, project_id: str, team: Team) -> None:
    """Write the record. Raises OSError."""
    small_files.write(os.path.join(folder_of(home, project_id), FILE), team)


def end_team(home: str, project_id: str) -> None:
    """Remove the record first, then the rest."""
    folder = folder_of(home, project_id)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(os.path.join(folder, FILE))
    shutil.rmtree(folder, ignore_errors=True)


def projects_with_team(home: str) -> list[str]:
    """Return the ids of the projects with a team."""
    try:
        return sorted(filter(is_path_part, os.listdir(paths.team(home))))
    except OSError:
        return []
