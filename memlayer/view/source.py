"""The page's way to the daemon, and the projects it can show."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.home import registry
from memlayer.edge.home.project import locate
from memlayer.edge.ipc.client import Client
from memlayer.view.problems import NotFound
from memlayer.wire.tasks import TaskChanged

if TYPE_CHECKING:
    from memlayer.edge.ipc.client import Answer, Asked

EVERY = "all"  # the name of every project in an address
ASK_S = 60.0


@dataclass(frozen=True)
class LentVerbs:
    """Functions that the command line lends.

    checks: of `doctor`, for a folder. restart: the daemon, with new settings. change_task: by its verb and title, in a
    project's folder.
    """

    checks: Callable[[str], Iterable[Any]]
    restart: Callable[[], object]
    change_task: Callable[..., TaskChanged]


@dataclass(frozen=True)
class Project:
    """A project in an address. folder: "" for every project."""

    id: str
    name: str
    folder: str


EVERY_PROJECT = Project(EVERY, "every project", "")


class Source:
    """Answers of the daemon of a home."""

    def __init__(self, home: str, verbs: LentVerbs, folder: str = "") -> None:
        """folder: where the page was opened; its project is shown first."""
        self.home = home
        self.verbs = verbs
        self._client = Client(home, plugin_root(), sys.executable)
        place = locate(folder) if folder else None
        self.first = registry.find_place(registry.load(home), place) if place else ""

    def ask(self, arguments: "Asked[Answer]", deadline_s: float = ASK_S) -> "Answer":
        """Return the daemon's answer. Raises MemlayerError."""
        return self._client.ask(arguments, deadline_s=deadline_s)

    def status(self) -> Mapping[str, Any]:
        """Return a running daemon's status, {} without one. Starts none. Raises DaemonError."""
        return self._client.status() or {}

    def projects(self) -> list[Project]:
        """Return every project that is known, by name."""
        found = [
            Project(id_, str(row.get("name") or os.path.basename(str(row.get("root")))), str(row.get("root") or ""))
            for id_, row in registry.load(self.home).items()
            if id_ != registry.GLOBAL and row.get("root")
        ]
        return sorted(found, key=lambda project: (project.name.casefold(), project.folder))

    def project(self, id_: str) -> Project:
        """Return a project by its id in an address. Raises NotFound."""
        wanted = id_ or self.first or EVERY
        if wanted == EVERY:
            return EVERY_PROJECT
        found = next((one for one in self.projects() if one.id == wanted), None)
        if found is None and id_:
            raise NotFound("No project is known by that id. Choose one from the list")
        return found or EVERY_PROJECT
