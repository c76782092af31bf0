"""The folders of memory files, opened without following links.

Folders below the anchor may come with a clone: a link there could lead anywhere, a pipe would make a reader wait.
"""

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memlayer.edge.home import paths, project
from memlayer.model import GLOBAL
from memlayer.records.projects import Projects, folder_name

MAX_READ_BYTES = 16_000_000
_TEMPORARY = re.compile(r"\.tmp-(?:MEMORY|\d{4}-\d\d-\d\d)\.md-\d+$")
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC

IN_HOME = "projects"
IN_PROJECT = ".memlayer"


class NoPlainFile(OSError):
    """A name of no plain file: a link, folder or pipe."""


@dataclass(frozen=True)
class Stamp:
    """A file's state without reading: mtime, size in bytes, inode."""

    mtime_ns: int
    size: int
    inode: int


@dataclass(frozen=True)
class AnchoredFolder:
    """An open folder."""

    fd: int
    path: str

    def stamp(self, name: str) -> Stamp | None:
        """Return the stamp of a file, None without one. Raises NoPlainFile."""
        try:
            info = os.stat(name, dir_fd=self.fd, follow_symlinks=False)
        except FileNotFoundError:
            return None
        if not stat.S_ISREG(info.st_mode):
            raise NoPlainFile(0, "no plain file stands there", os.path.join(self.path, name))
        return Stamp(info.st_mtime_ns, info.st_size, info.st_ino)

    def read(self, name: str, max_bytes: int = MAX_READ_BYTES) -> bytes | None:
        """Return a file's first max_bytes, or None. Raises NoPlainFile, OSError."""
        if self.stamp(name) is None:
            return None
        try:
            fd = os.open(name, _FLAGS | os.O_NONBLOCK, dir_fd=self.fd)
        except FileNotFoundError:
            return None
        with os.fdopen(fd, "rb") as file:
            if not stat.S_ISREG(os.fstat(fd).st_mode):
                raise NoPlainFile(0, "no plain file stands there", os.path.join(self.path, name))
            return file.read(max_bytes)

    def names(self) -> list[str]:
        """Return all names in the folder, sorted."""
        return sorted(os.listdir(self.fd))

    def sweep(self) -> None:
        """Remove temporary files that a crash left."""
        for name in self.names():
            if _TEMPORARY.match(name):
                with contextlib.suppress(OSError):  # a folder may have that name
                    os.unlink(name, dir_fd=self.fd)

    def replace(self, name: str, data: bytes, expected: str) -> bool:
        """Replace a file by `data` if it is as expected.

        expected: digest_of() the bytes read there, "" for no file. A new file is for this user only, an existing one
        keeps its permissions. Raises NoPlainFile, or OSError. Then nothing has changed.
        """
        temporary = ".tmp-%s-%d" % (name[:80], os.getpid())
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=self.fd)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        fd = os.open(temporary, flags, paths.FILE_MODE, dir_fd=self.fd)
        try:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
                if self.stamp(name) is not None:
                    before = os.stat(name, dir_fd=self.fd, follow_symlinks=False).st_mode
                    os.fchmod(fd, stat.S_IMODE(before) & 0o777)
                os.fsync(fd)
            finally:
                os.close(fd)
            # As late as possible: an editor may have saved while the disk was busy.
            if self.digest(name) != expected:
                os.unlink(temporary, dir_fd=self.fd)
                return False
            os.rename(temporary, name, src_dir_fd=self.fd, dst_dir_fd=self.fd)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=self.fd)
            raise
        os.fsync(self.fd)
        return True

    def remove(self, name: str, expected: str) -> bool:
        """Remove a file if as expected (see replace); True when gone."""
        if self.digest(name) != expected:
            return False
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name, dir_fd=self.fd)
        os.fsync(self.fd)
        return True

    def digest(self, name: str) -> str:
        """Return digest_of() a file, "" without one. Raises NoPlainFile, or OSError."""
        data = self.read(name)
        return "" if data is None else digest_of(data)


def digest_of(data: bytes) -> str:
    """Hash bytes to 32 hex characters."""
    return hashlib.sha256(data).hexdigest()[:32]


@contextlib.contextmanager
def open_folder(anchor: str, parts: Sequence[str], *, make: bool) -> Iterator[AnchoredFolder]:
    """Open the folder anchor/parts. make: create missing ones, for this user only.

    Raises NoPlainFile when a link or a file is in the way, FileNotFoundError when it is missing.
    """
    path = anchor
    fd = os.open(anchor, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts:
            path = os.path.join(path, part)
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(part, paths.FOLDER_MODE, dir_fd=fd)
                    os.fsync(fd)
            try:
                below = os.open(part, _FLAGS | os.O_DIRECTORY, dir_fd=fd)
            except OSError as bad:
                if bad.errno not in (errno.ELOOP, errno.ENOTDIR):
                    raise
                raise NoPlainFile(bad.errno, "a link or a file stands in the way", path) from bad
            os.close(fd)
            fd = below
        yield AnchoredFolder(fd, path)
    finally:
        os.close(fd)


def remove_empty(anchor: str, parts: Sequence[str], *, levels: int) -> None:
    """Remove the folder anchor/parts if empty, and so many `levels` upwards."""
    for end in range(len(parts), len(parts) - levels, -1):
        with contextlib.suppress(OSError), open_folder(anchor, parts[: end - 1], make=False) as above:
            os.rmdir(parts[end - 1], dir_fd=above.fd)


class FilePlace(NamedTuple):
    """A place of memory files.

    anchor: a folder of the user's choice. parts: folders below it. No link is followed there.
    """

    anchor: str
    parts: tuple[str, ...]

    @property
    def path(self) -> str:
        return os.path.join(self.anchor, *self.parts)

    @property
    def in_tree(self) -> bool:
        """True in a work tree, where anybody may write."""
        return self.parts == (IN_PROJECT,)


@dataclass(frozen=True)
class FileRules:
    """Settings of memory files. in_project: in the repository, not the home."""

    enabled: bool = True
    in_project: bool = False


def place_of(
    home: str, projects: Projects, project_id: str, rules: FileRules, *, even_off: bool = False
) -> FilePlace | None:
    """Return the place of a project's files. None where there is none.

    None for a project that is unknown, switched off (unless even_off), moved away or not mounted.
    """
    if project_id == GLOBAL:
        return FilePlace(home, (GLOBAL,))
    root = projects.root(project_id)
    if not root or not (even_off or project.enabled(root)):
        return None
    # A user's home folder may be a project. Its .memlayer is the memlayer home.
    if rules.in_project and os.path.realpath(os.path.join(root, IN_PROJECT)) != os.path.realpath(home):
        is_there = os.path.isdir(root) and projects.find(root)[0] == project_id
        return FilePlace(root, (IN_PROJECT,)) if is_there else None
    return FilePlace(home, (IN_HOME, _folder(home, projects, project_id)))


def place_at(home: str, path: str) -> FilePlace:
    """Return the place of a recorded path."""
    above, name = os.path.split(path)
    return FilePlace(home, (IN_HOME, name)) if above == os.path.join(home, IN_HOME) else FilePlace(above, (name,))


def _folder(home: str, projects: Projects, project_id: str) -> str:
    alike = sum(known[:8] == project_id[:8] for known in projects.known())
    unique = project_id[:8] if alike < 2 else project_id
    try:
        folders = [name for name in os.listdir(os.path.join(home, IN_HOME)) if name.endswith("-" + unique)]
    except OSError:
        folders = []
    # A renamed project keeps its folder: an editor may have it open.
    return min(folders) if folders else folder_name(projects.name(project_id), unique)
