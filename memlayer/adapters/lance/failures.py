"""Failures of LanceDB and the disk, in plain words with a remedy."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pyarrow as pa

from memlayer.errors import StoreError

FAILURES = (RuntimeError, ValueError, OSError, pa.ArrowException)
_SOURCE = re.compile(r",? ?/(?:rustc|root|home|Users|build)/\S*\.rs:\d+:\d+")  # where in LanceDB an error was raised
# Words of errors, in lower case, that say nothing against the files -> the reason, and what a person does.
TROUBLES = (
    (("no space left", "os error 28)"), "no space is left on the disk: free some, the store itself is sound"),
    (("quota exceeded", "os error 122)"), "the disk quota is used up: free some space, the store itself is sound"),
    (
        ("too many open files", "os error 24)", "os error 23)"),
        "too many files are open: raise `ulimit -n`, then run `memlayer daemon restart`; the store itself is sound",
    ),
    (("read-only file system", "os error 30)"), "the disk is read-only: make it writable, the store itself is sound"),
    (
        ("permission denied", "operation not permitted", "os error 13)", "os error 1)"),
        "the permissions forbid it: give yourself read and write access to the store folder",
    ),
    (
        ("cannot allocate memory", "os error 12)"),
        "the memory is used up: end other programs, the store itself is sound",
    ),
)
# Words of LanceDB's and the system's errors, in lower case -> the reason for a person.
REASONS = (
    (("not found", "no such file", "os error 2"), "a file is missing"),
    (("eof", "end of file", "out of bounds", "out of range", "too small", "past the end"), "a file is cut short"),
)


@contextmanager
def failing(says: str, remedy: str = "") -> Iterator[None]:
    """Turn an error of LanceDB or the disk into a StoreError."""
    try:
        yield
    except FAILURES as error:
        reason = trouble_of(error) or first_line(error) + (f"; {remedy}" if remedy else "")
        raise StoreError(f"{says}: {reason}") from error


def first_line(error: BaseException) -> str:
    """Return an error's first line, without the source locations LanceDB adds."""
    text = _SOURCE.sub("", str(error)).strip().splitlines()
    return f"{type(error).__name__}: {text[0][:200]}" if text else type(error).__name__


def trouble_of(error: BaseException) -> str:
    """Return what stands in the way and its remedy, "" for damage."""
    text = str(error).lower()
    return next((says for words, says in TROUBLES if any(word in text for word in words)), "")


def plain_reason(error: BaseException) -> str:
    """Return the reason why a table cannot be read, in plain words."""
    text = str(error).lower()
    return next((reason for words, reason in REASONS if any(word in text for word in words)), "a file is damaged")


def remedy(table: str) -> str:
    """Return a person's remedy for a table that does not work."""
    if table == "chunks":
        return "stop the daemon and remove the folder chunks.lance: it is rebuilt from the events"
    return "restore the store folder from a backup, or move it away to start with an empty one"
