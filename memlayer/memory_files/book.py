"""A project's files as memlayer left them: place, digests, problems."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from dataclasses import dataclass, field

from memlayer.edge.home import paths
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import UserError
from memlayer.memory_files.folders import AnchoredFolder, FilePlace, NoPlainFile, Stamp, open_folder
from memlayer.records import small_files

log = logging.getLogger(__name__)
STATE = "place.json"
MAX_REMOVED = 500
CORE_PAGE = "MEMORY.md"


@dataclass
class Left:
    """A project's files as memlayer left them.

    files: name (`MEMORY.md`, `memory/2026-11-19.md`) -> digest of the bytes last read or written. path: their folder.
    accepted: a folder in the work tree whose files the person takes in. removed: ids of memories that a person deleted
    in a file -> the state that this began from, for an undo. notices: name -> a message for the person.
    """

    path: str = ""
    accepted: str = ""
    files: dict[str, str] = field(default_factory=dict)
    removed: dict[str, str] = field(default_factory=dict)
    notices: dict[str, str] = field(default_factory=dict)


class Book(Left):
    """The same, kept on disk, with all that the last sync found."""

    def __init__(self, home: str, project_id: str) -> None:
        """Read the state. Raises UserError for an unsafe id."""
        if not is_path_part(project_id):
            raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
        self.id = project_id
        self._folder = os.path.join(paths.cache(home), "files", project_id)
        super().__init__(**vars(small_files.read(os.path.join(self._folder, STATE), Left) or Left()))
        self._saved = Left()
        self.place: FilePlace | None = None
        self.is_behind = False
        self.stamps: dict[str, Stamp] = {}
        self.skipped: dict[str, str] = {}  # name -> why it was neither read nor written
        self._logged: set[tuple[str, str]] = set()

    def save(self) -> None:
        """Write the state if it changed. Raises OSError."""
        removed = dict(list(self.removed.items())[-MAX_REMOVED:])
        left = Left(self.path, self.accepted, dict(self.files), removed, dict(self.notices))
        if left != self._saved:
            small_files.write(os.path.join(self._folder, STATE), left)
            self._saved = left

    def drop(self, name: str) -> None:
        """Forget a file."""
        for known in (self.files, self.notices, self.stamps):
            known.pop(name, None)

    def skip(self, name: str, why: str, stamp: Stamp | None = None, *, to_log: bool = True) -> None:
        """Note a skipped file, whose change since this stamp is looked for."""
        self.skipped = {**self.skipped, name: why}
        if stamp is not None:
            self.stamps[name] = stamp
        if to_log and (name, why) not in self._logged:
            self._logged.add((name, why))
            log.warning("memory file %s: %s", name, why)

    def lines(self, problems: dict[str, str]) -> list[str]:
        """Return problems of files as lines."""
        return ["%s: %s" % (os.path.join(self.path, name), problems[name]) for name in sorted(problems)]

    @contextlib.contextmanager
    def opened(self, place: FilePlace, name: str, *, make: bool = False) -> Iterator[tuple[AnchoredFolder | None, str]]:
        """Open a file's folder: (None if unavailable, its name there)."""
        below, _, file = name.rpartition("/")
        with contextlib.ExitStack() as stack:
            folder = None
            try:
                folder = stack.enter_context(open_folder(place.anchor, (*place.parts, *below.split()), make=make))
            except NoPlainFile as bad:
                self.skip(below or CORE_PAGE, "left alone: %s" % bad.strerror)
            except FileNotFoundError:
                pass
            yield folder, file
