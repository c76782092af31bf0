"""Small files of a home: JSON of a known type, written whole."""

import contextlib
import glob
import json
import logging
import os
from collections.abc import Iterator
from typing import Generic, TypeVar

import msgspec

from memlayer.edge.home import paths

DAMAGED = ".damaged"
Value = TypeVar("Value")
log = logging.getLogger(__name__)


def load(path: str, kind: type[Value]) -> Value:
    """Return a file's value. Raises OSError, ValueError.

    Names that its type does not know are ignored: a newer version may have written them.
    """
    with paths.open_regular(path) as file:
        text = file.read().decode("utf-8", "surrogatepass")
    try:
        return msgspec.convert(json.loads(text), kind)
    except RecursionError as bad:
        raise ValueError("it is nested too deep") from bad


def read(path: str, kind: type[Value]) -> Value | None:
    """Return a file's value, None for none.

    A damaged one is told in the log and set aside, so that nothing is written over it.
    """
    try:
        return load(path, kind)
    except OSError as bad:
        if os.path.lexists(path):  # a folder or a pipe in its place is told
            log.error("%s cannot be read: %s", path, bad)
    except ValueError as bad:
        log.error("%s is damaged, and is set aside as *%s: %s", path, DAMAGED, bad)
        with contextlib.suppress(OSError):
            os.replace(path, path + DAMAGED)
    return None


def write(path: str, value: object) -> None:
    """Replace a file, durably. Raises OSError."""
    text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False)
    paths.write_whole(path, text.encode("utf-8", "surrogatepass") + b"\n")


class Folder(Generic[Value]):
    """Values of one type in a folder, a file each."""

    def __init__(self, path: str, kind: type[Value]) -> None:
        self.path, self._kind = path, kind

    def get(self, id_: str) -> Value | None:
        """Return the value of an id, None for none."""
        return read(paths.file_of(self.path, id_), self._kind)

    def put(self, id_: str, value: Value) -> None:
        """Replace the value of an id. Raises OSError."""
        write(paths.file_of(self.path, id_), value)

    def drop(self, id_: str) -> None:
        """Remove the value of an id. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(paths.file_of(self.path, id_))

    def all(self) -> Iterator[Value]:
        """Yield every value that can be read."""
        with contextlib.suppress(OSError):
            for name in os.listdir(self.path):
                if len(name) == len(".json") + 32 and (value := read(os.path.join(self.path, name), self._kind)):
                    yield value

    def drop_damaged(self) -> None:
        """Remove the files that were set aside. Raises OSError."""
        for path in glob.glob(os.path.join(glob.escape(self.path), "*" + DAMAGED)):
            os.unlink(path)
