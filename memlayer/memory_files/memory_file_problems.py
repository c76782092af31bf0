"""Which memory files were left alone, and why: for `doctor`, for who forgets something, and once for the log."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

from memlayer.memory_files.anchored_folder import Stamp

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
