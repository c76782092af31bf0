"""Places of a team's notes, `<id>.md`: the work tree, or engines."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice

from memlayer.edge.home import project
from memlayer.errors import ShareError, UserError
from memlayer.memory_files.folders import AnchoredFolder, NoPlainFile, open_folder
from memlayer.records.projects import git_setting
from memlayer.sharing.engine import Engine, Layout, kind_of, reason_of
from memlayer.sharing.share import open_engine
from memlayer.team.note import MAX_FILE_BYTES, is_note_file

TEAM = Layout("memlayer-team", "refs/memlayer/team/", is_note_file, MAX_FILE_BYTES + 1)
PARTS = (".memlayer", "team")
IN_WORK_TREE, IN_ORIGIN = "folder", "git"
MAX_AUTHORS, MAX_NOTES, MAX_OF_AUTHOR = 200, 500, 200  # looked at: nobody crowds the others out

NoteFile = tuple[str, str, bytes]  # (whose objects hold it, file name, bytes)


class WorkTree:
    """`.memlayer/team/` of a repository. The person commits it, as code.

    A clone may hold links and pipes there: none is followed, none is waited for.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def read(self) -> list[NoteFile]:
        out: list[NoteFile] = []
        with self._opened() as folder:
            names = filter(is_note_file, folder.names()) if folder is not None else ()
            for name in islice(names, MAX_NOTES):
                with contextlib.suppress(NoPlainFile):
                    out.append(("", name, folder.read(name, MAX_FILE_BYTES + 1) or b""))  # type: ignore[union-attr]
        return out

    def names(self, writer: str) -> set[str]:
        with self._opened() as folder:
            return set() if folder is None else set(filter(is_note_file, folder.names()))

    def change(self, writer: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        with self._opened(make=bool(add)) as folder:
            if folder is not None:
                for name, data in add.items():
                    folder.replace(name, data, folder.digest(name))
                for name in remove:
                    folder.remove(name, folder.digest(name))

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[AnchoredFolder | None]:
        """Open the folder; None where it is missing."""
        shown = os.path.join(self._root, *PARTS)
        try:
            opened = open_folder(self._root, PARTS, make=make)
        except FileNotFoundError:
            yield None
            return
        except OSError as bad:
            raise ShareError(f"{shown}: {reason_of(bad.strerror or str(bad))}") from bad
        with opened as folder:
            try:
                yield folder
            except OSError as bad:
                raise ShareError(f"{shown}: {reason_of(bad.strerror or str(bad))}") from bad


class Remote:
    """A git remote, a folder or a bucket, each author writing alone."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        engine.refresh()

    def read(self) -> list[NoteFile]:
        out: list[NoteFile] = []
        for writer in self._engine.machines()[:MAX_AUTHORS]:
            names = sorted(self._engine.names(writer))[: min(MAX_OF_AUTHOR, MAX_NOTES - len(out))]
            out += [(writer, name, data) for name, data in self._engine.read(writer, names).items()] if names else []
        return out

    def names(self, writer: str) -> set[str]:
        return set(self._engine.names(writer))

    def change(self, writer: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        if not add and self.names(writer) <= set(remove):
            self._engine.drop(writer)
        else:
            self._engine.change(writer, add, remove)


TeamPlace = WorkTree | Remote  # read: the files of all authors. Names, change: of one. All errors are ShareError


def resolved(address: str, root: str) -> str:
    """Return the full address of a team; "folder" stays.

    address: folder, git (the repository's origin), or that of a place. Raises UserError.
    """
    place = project.locate(root)
    if address == IN_WORK_TREE:
        if not place.git_dir:
            raise UserError("this project is no git repository. Give an address: file:///folder, a git remote, s3://…")
        return address
    if address != IN_ORIGIN:
        kind_of(address)
        return address
    origin = git_setting(place.git_dir, "remote.origin.url")
    if not origin:
        raise UserError("this repository has no remote `origin`. Give an address, or `folder` for its work tree")
    if "://" not in origin and (origin.startswith(("/", ".", "~")) or ":" not in origin.partition("/")[0]):
        origin = "git+file://" + os.path.abspath(os.path.join(root, os.path.expanduser(origin)))
    elif origin.startswith("file://"):
        origin = "git+" + origin
    return origin


def open_place(address: str, root: str, own_folder: str) -> TeamPlace:
    """Open a team's place. own_folder: for the engine's files. Raises ShareError."""
    if address == IN_WORK_TREE:
        if not os.path.isdir(root):
            raise ShareError(f"{root}: the project's folder is not there")
        return WorkTree(root)
    return Remote(open_engine(address, own_folder, TEAM))
