"""Places of a team's notes, `<id>.md`: the work tree, or engines."""

import contextlib
import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from memlayer.edge.home import paths, project
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import ShareError, UserError
from memlayer.memory_files.folders import AnchoredFolder, NoPlainFile, open_folder
from memlayer.records import small_files
from memlayer.records.projects import git_setting
from memlayer.sharing.engine import Engine, Layout, kind_of, reason_of
from memlayer.sharing.share import new_machine, open_engine
from memlayer.team.note import MAX_FILE_BYTES, is_note_file

FILE = "team.json"
TEAM = Layout("memlayer-team", "refs/memlayer/team/", is_note_file, MAX_FILE_BYTES + 1)
PARTS = (".memlayer", "team")
IN_WORK_TREE, IN_ORIGIN = "folder", "git"
MAX_AUTHORS, MAX_NOTES, MAX_OF_AUTHOR = 200, 500, 200  # looked at: nobody crowds the others out
ALL_AUTHORS = ""  # of a work tree, whose files tell nobody's objects apart
NoteFile = tuple[str, str, bytes]  # (whose objects hold it, file name, bytes)


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


class WorkTree:
    """The engine of a work tree's `.memlayer/team/`.

    The person commits it, as code. A clone may hold links and pipes there: none is followed, none is waited for.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def refresh(self) -> None:
        if not os.path.isdir(self._root):
            raise ShareError(f"{self._root}: the project's folder is not there")

    def machines(self) -> list[str]:
        return [ALL_AUTHORS]

    def names(self, machine: str) -> list[str]:
        with self._opened() as folder:
            return [] if folder is None else list(filter(is_note_file, folder.names()))

    def read(self, machine: str, names: Sequence[str]) -> dict[str, bytes]:
        out: dict[str, bytes] = {}
        with self._opened() as folder:
            for name in names if folder is not None else ():
                with contextlib.suppress(NoPlainFile):
                    out[name] = folder.read(name, MAX_FILE_BYTES + 1) or b""  # type: ignore[union-attr]
        return out

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        with self._opened(make=bool(add)) as folder:
            if folder is not None:
                for name, data in add.items():
                    folder.replace(name, data, folder.digest(name))
                for name in remove:
                    folder.remove(name, folder.digest(name))

    def drop(self, machine: str) -> None:
        self.change(machine, {}, self.names(machine))

    @contextmanager
    def _opened(self, *, make: bool = False) -> Iterator[AnchoredFolder | None]:
        """Open the folder; None where it is missing."""
        with contextlib.ExitStack() as stack:
            try:
                folder = None
                with contextlib.suppress(FileNotFoundError):
                    folder = stack.enter_context(open_folder(self._root, PARTS, make=make))
                yield folder
            except OSError as bad:
                shown = os.path.join(self._root, *PARTS)
                raise ShareError(f"{shown}: {reason_of(bad.strerror or str(bad))}") from bad


TeamPlace = WorkTree | Engine  # each author's objects, written by that author alone. All errors are ShareError


def read_files(place: TeamPlace) -> list[NoteFile]:
    """Return the files of all authors, up to the limits."""
    out: list[NoteFile] = []
    for author in place.machines()[:MAX_AUTHORS]:
        most = MAX_NOTES if author == ALL_AUTHORS else MAX_OF_AUTHOR
        names = sorted(place.names(author))[: min(most, MAX_NOTES - len(out))]
        out += [(author, name, data) for name, data in place.read(author, names).items()] if names else []
    return out


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
    place = WorkTree(root) if address == IN_WORK_TREE else open_engine(address, own_folder, TEAM)
    place.refresh()
    return place
