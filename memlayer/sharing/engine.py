"""The port of a share: objects, each written by its machine alone."""

import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memlayer.errors import UserError

FOLDER, GIT, OBJECTS = "file", "git", "s3"
# Words of git's, the system's and an object store's errors, in lower case -> the reason for a person.
REASONS = (
    (
        ("aws credentials", "failedtoloadtoken", "computemetadata", "no azure account", "invalid gcp credentials"),
        "no key for this store is here; set its variables, such as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    ),
    (
        ("failed to resolve region",),
        "no bucket of that name is found; check it, or add ?region= (Amazon) or ?endpoint= (another provider)",
    ),
    (("requesttimetooskewed", "time too skewed"), "the clock of this machine is wrong; set it, then try again"),
    (
        ("403", "forbidden", "accessdenied", "access denied", "permission denied", "authentication failed",
         "could not read username", "invalidaccesskeyid", "signaturedoesnotmatch", "host key verification"),
        "the access is refused; check the key, the password or the rights",
    ),
    (("gives more than", "too large"), "it holds more than memlayer reads"),
    (("no space left", "quota"), "there is no space left"),
    (("read-only",), "it is read-only"),
    (("not implemented", "501", "preconditionfailed is not"), "this store has no conditional writes"),
    (
        ("nosuchbucket", "not appear to be a git repository", "repository not found", "does not exist"),
        "it does not exist",
    ),
    (
        ("could not resolve", "dns", "connection refused", "network is unreachable", "timed out",
         "connection reset", "error sending request", "could not connect", "unable to access", "connect error"),
        "it cannot be reached; there may be no network",
    ),
    (("no such file", "not a directory"), "the folder is not there; a drive may not be mounted"),
)  # fmt: skip
_SCP = re.compile(r"[\w.-]+@[\w.-]+:[^:].*").fullmatch
_INNARDS = re.compile(r",? (?:/\S+\.rs\b|location: |\w+ \{ )")  # of a Rust library's error
_MEANT = re.compile(r"(?i)(s3|gs|az|git|ssh|https):/*(.+)").fullmatch  # in capitals, or with fewer slashes
_HOST = re.compile(r"[\w-]+(\.[\w-]+)+/.+").fullmatch
_BUCKET_PAGE = re.compile(r"https://([^/]*\.)?s3[.-][^/]*amazonaws\.com/").match
_SCHEME = re.compile(r"([a-z][a-z0-9+.-]*)://").match


@dataclass(frozen=True)
class Layout:
    """Where the objects of a purpose lie within a place.

    folder: its name, also in a bucket. refs: of a git remote. is_object: whether a name is one of its objects.
    max_bytes: of an object. The rest of a longer one is not read.
    """

    folder: str
    refs: str
    is_object: Callable[[str], object]
    max_bytes: int


class Engine(Protocol):
    """A place that objects are carried through. Not thread-safe.

    All errors are ShareError, one line. An object is whole or absent, as far as the place allows.
    """

    def check(self) -> None:
        """Raise ShareError where the place cannot carry a share."""

    def refresh(self) -> None:
        """Look at the place as it is now."""

    def machines(self) -> list[str]:
        """Return the names of the machines that have objects."""

    def names(self, machine: str) -> list[str]:
        """Return the names of a machine's objects; other files are left out."""

    def read(self, machine: str, names: Sequence[str]) -> Mapping[str, bytes]:
        """Return objects by name; those that are gone are left out."""

    def change(self, machine: str, add: Mapping[str, bytes], remove: Collection[str]) -> None:
        """Add objects in order, then remove others, as one commit if possible."""

    def drop(self, machine: str) -> None:
        """Remove all of a machine's objects."""

    def purge(self) -> bool:
        """Erase the remains of removed objects; False where only the owner can."""


def kind_of(address: str) -> str:
    """Return file, git or s3. Raises UserError for another address.

    `git+file:///...` is a git repository in a folder.
    """
    scheme = _SCHEME(address)
    if "\n" in address or "\0" in address or address.startswith("-"):
        raise UserError("this is no address of a share")
    if scheme is None:
        if _SCP(address):
            return GIT
        if os.path.isabs(address):
            return GIT if address.endswith(".git") else FOLDER
        meant = _MEANT(address)
        near = f"{meant[1].lower()}://{meant[2]}" if meant else f"https://{address}" if _HOST(address) else ""
        told = f"Did you mean {near[:80]}?" if near else "Give file:///folder, a git remote, or s3://bucket/prefix"
        raise UserError(f"{address[:80]!r} is no address. {told}")
    if scheme[1] == "file":
        return FOLDER
    if scheme[1] in ("s3", "gs", "az"):
        return OBJECTS
    if scheme[1] == "https" and _BUCKET_PAGE(address):
        raise UserError(f"{shown(address)[:80]} is the page of a bucket. Give s3://bucket/prefix")
    if scheme[1] in ("git", "git+file", "git+ssh", "git+https", "ssh", "https"):
        return GIT
    raise UserError(f"{scheme[1]}:// is not known. Give file:///folder, a git remote, or s3://bucket/prefix")


def reason_of(message: str) -> str:
    """Return a failure's reason for a person; an unknown message itself."""
    low = message.lower()
    known = next((reason for words, reason in REASONS if any(word in low for word in words)), "")
    first = _INNARDS.split(" ".join(message.split()))[0].rpartition("Error(IO): ")[2][:200].strip(" :,")
    return known or first or "it failed without a word"


def shown(address: str) -> str:
    """Return an address without user and password."""
    scheme, mark, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}" if mark else address
