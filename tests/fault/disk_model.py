"""A disk that keeps only bytes that were fsynced.

It replays a real process's system calls and builds the tree that a power cut leaves. POSIX promises no more than this:
fsync of a file makes its bytes durable, fsync of a folder makes its entries durable, nothing else is durable, and
anything may be. Real file systems are kinder, each in its own way.
"""

import os
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

TRACED = (
    "openat,write,pwrite64,lseek,close,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,"
    "link,linkat,ftruncate,writev,sendto,sendmsg,exit_group,copy_file_range,sendfile,symlink,symlinkat"
)
_UNFINISHED = re.compile(r"^(\d*) *(.*) <unfinished \.\.\.>$")
_RESUMED = re.compile(r"^(\d*) *<\.\.\. (\w+) resumed>(.*)$")
_CALL = re.compile(r"^(\d*) *(\w+)\((.*)\) += (-?\d+)")
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')
_FD = re.compile(r"^(\d+)<((?:\\x[0-9a-f]{2}|[^>])*)>")


def strace(argv: list[str], log: Path, *, threads: bool = False, **more: object) -> subprocess.Popen[bytes]:
    """Start argv under strace, with its threads if asked.

    Threads share their descriptors; children would not.
    """
    more_of_it = ["-f"] if threads else []
    command = ["strace", *more_of_it, "-y", "-xx", "-s", "100000000", "-e", "trace=" + TRACED, "-o", str(log), *argv]
    return subprocess.Popen(command, **more)  # type: ignore[call-overload, no-any-return]


@dataclass
class Call:
    """One finished system call.

    begun: the position in the trace where it started.
    """

    name: str
    arguments: str
    result: int
    begun: int


def calls_of(log: Path) -> Iterator[Call]:
    """The calls of a trace, in the order in which they finished."""
    begun: dict[str, tuple[str, int]] = {}
    with log.open(encoding="ascii", errors="replace") as lines:
        for number, line in enumerate(lines):
            line = line.rstrip("\n")
            cut = _UNFINISHED.match(line)
            if cut:
                begun[cut[1]] = (cut[2], number)
                continue
            at = number
            back = _RESUMED.match(line)
            if back:
                head, at = begun.pop(back[1])
                line = "%s %s%s" % (back[1], head, back[3])
            call = _CALL.match(line)
            if call:
                yield Call(call[2], call[3], int(call[4]), at)
            elif "exit_group(" in line:
                yield Call("exit_group", "", 0, at)


@dataclass
class File:
    """A file's bytes now, and those that are on the platter."""

    now: bytearray = field(default_factory=bytearray)
    kept: bytes = b""


@dataclass
class Folder:
    """A folder's entries now, and those that are on the platter."""

    now: "dict[str, File | Folder]" = field(default_factory=dict)
    kept: "dict[str, File | Folder]" = field(default_factory=dict)


class Disk:
    """The part of a file system below `base`.

    The files present at the start are durable.
    """

    def __init__(self, base: Path) -> None:
        self.base = str(base)
        self.root = _as_it_is(base)
        self._files: dict[int, tuple[File | Folder, int]] = {}  # descriptor -> open node, position

    def apply(self, call: Call) -> None:
        """Apply a call to the tree.

        Calls that failed change nothing.
        """
        if call.result < 0:
            return
        handler = getattr(self, "_" + call.name, None)
        if handler is not None:
            handler(call)

    def leftovers(self, dice: random.Random) -> Iterator[tuple[str, dict[str, bytes | None]]]:
        """Yield (how the cut went, tree) pairs.

        A tree maps relative paths to bytes, or to None for a folder.
        """
        yield "only fsynced bytes", self._tree(lambda one: one.kept, lambda one: one.kept)
        yield "everything", self._tree(lambda one: one.now, lambda one: bytes(one.now))
        yield "all names, no unsynced bytes", self._tree(lambda one: one.now, lambda one: one.kept)
        yield "all names, half of the unsynced bytes", self._tree(lambda one: one.now, _half)
        chosen: dict[int, bool] = {}

        def some(one: Folder) -> dict[str, File | Folder]:
            return one.now if chosen.setdefault(id(one), dice.random() < 0.5) else one.kept

        yield "some folders", self._tree(some, lambda one: bytes(one.now) if dice.random() < 0.5 else one.kept)

    def _tree(self, entries: object, content: object) -> dict[str, bytes | None]:
        out: dict[str, bytes | None] = {}

        def walk(folder: Folder, at: str) -> None:
            for name, one in entries(folder).items():  # type: ignore[operator]
                path = os.path.join(at, name)
                if isinstance(one, Folder):
                    out[path] = None
                    walk(one, path)
                else:
                    out[path] = content(one)  # type: ignore[operator]

        walk(self.root, "")
        return out

    # -- the calls

    def _openat(self, call: Call) -> None:
        path = self._paths(call.arguments)[0]
        found = self._find(path)
        if found is None and "O_CREAT" in call.arguments and (parent := self._parent(path)) is not None:
            found = parent.now[os.path.basename(path)] = File()
        if isinstance(found, File) and "O_TRUNC" in call.arguments:
            found.now.clear()
        if found is not None:
            at_end = len(found.now) if "O_APPEND" in call.arguments else 0
            self._files[call.result] = (found, at_end)
        else:
            self._files.pop(call.result, None)

    def _close(self, call: Call) -> None:
        self._files.pop(_descriptor(call), None)

    def _lseek(self, call: Call) -> None:
        one, _ = self._files.get(_descriptor(call), (None, 0))
        if one is not None:
            self._files[_descriptor(call)] = (one, call.result)

    def _write(self, call: Call) -> None:
        one, at = self._files.get(_descriptor(call), (None, 0))
        if isinstance(one, File):
            data = _texts(call.arguments)[0][: call.result]
            one.now[at : at + len(data)] = data
            self._files[_descriptor(call)] = (one, at + len(data))

    def _pwrite64(self, call: Call) -> None:
        one, _ = self._files.get(_descriptor(call), (None, 0))
        if isinstance(one, File):
            data, at = _texts(call.arguments)[0][: call.result], int(call.arguments.rpartition(", ")[2])
            one.now.extend(bytes(max(0, at - len(one.now))))
            one.now[at : at + len(data)] = data

    def _ftruncate(self, call: Call) -> None:
        one, _ = self._files.get(_descriptor(call), (None, 0))
        if isinstance(one, File):
            size = int(call.arguments.rpartition(", ")[2])
            del one.now[size:]
            one.now.extend(bytes(size - len(one.now)))

    def _fsync(self, call: Call) -> None:
        one, _ = self._files.get(_descriptor(call), (None, 0))
        if isinstance(one, Folder):
            one.kept = dict(one.now)
        elif one is not None:
            one.kept = bytes(one.now)

    _fdatasync = _fsync

    def _rename(self, call: Call) -> None:
        source, target = self._paths(call.arguments)[:2]
        there, here = self._parent(source), self._parent(target)
        if there is not None and here is not None and (one := there.now.pop(os.path.basename(source), None)):
            here.now[os.path.basename(target)] = one

    _renameat = _renameat2 = _rename

    def _link(self, call: Call) -> None:
        source, target = self._paths(call.arguments)[:2]
        one, here = self._find(source), self._parent(target)
        if one is not None and here is not None:
            here.now[os.path.basename(target)] = one

    _linkat = _link

    def _unlink(self, call: Call) -> None:
        path = self._paths(call.arguments)[0]
        parent = self._parent(path)
        if parent is not None:
            parent.now.pop(os.path.basename(path), None)

    _unlinkat = _rmdir = _unlink

    def _mkdir(self, call: Call) -> None:
        path = self._paths(call.arguments)[0]
        parent = self._parent(path)
        if parent is not None:
            parent.now[os.path.basename(path)] = Folder()

    _mkdirat = _mkdir

    def _writev(self, call: Call) -> None:
        if _descriptor(call) in self._files:
            raise NotImplementedError("writev to a file of the home: teach the model to read it")

    _copy_file_range = _sendfile = _writev

    def _paths(self, arguments: str) -> list[str]:
        """The absolute paths that a call names, in order."""
        out = []
        folder = ""
        for part in re.finditer(r"(?:AT_FDCWD|\d+)<((?:\\x[0-9a-f]{2}|[^>])*)>|" + _TEXT.pattern, arguments):
            if part[1] is not None:
                folder = _plain(part[1])
            else:
                out.append(os.path.normpath(os.path.join(folder, os.fsdecode(_bytes(part[2])))))
        return out

    def _find(self, path: str) -> File | Folder | None:
        if path == self.base:
            return self.root
        parent = self._parent(path)
        return parent.now.get(os.path.basename(path)) if parent is not None else None

    def _parent(self, path: str) -> Folder | None:
        if not path.startswith(self.base + "/"):
            return None
        folder = self.root
        for name in path[len(self.base) + 1 :].split("/")[:-1]:
            found = folder.now.get(name)
            if not isinstance(found, Folder):
                return None
            folder = found
        return folder


def lay_out(tree: dict[str, bytes | None], folder: Path) -> None:
    """Write a tree to a real folder."""
    folder.mkdir(parents=True)
    for name, content in tree.items():
        if content is None:
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        else:
            (folder / name).write_bytes(content)


def _as_it_is(folder: Path) -> Folder:
    entries: dict[str, File | Folder] = {}
    for path in folder.iterdir():
        if path.is_dir():
            entries[path.name] = _as_it_is(path)
        elif path.is_file():
            content = path.read_bytes()
            entries[path.name] = File(bytearray(content), content)
    return Folder(dict(entries), dict(entries))


def _half(one: File) -> bytes:
    new = bytes(one.now)
    if new == one.kept:
        return new
    return new[: len(one.kept) + (len(new) - len(one.kept)) // 2] if len(new) > len(one.kept) else new[: len(new) // 2]


def _descriptor(call: Call) -> int:
    return int(re.match(r"\d+", call.arguments)[0])  # type: ignore[index]


def _texts(arguments: str) -> list[bytes]:
    return [_bytes(found) for found in _TEXT.findall(arguments)]


def _bytes(escaped: str) -> bytes:
    return bytes.fromhex(escaped.replace("\\x", ""))


def _plain(path: str) -> str:
    return os.fsdecode(_bytes(path)) if path.startswith("\\x") else path
