"""What is known of a project's memory files: what each looked like when last seen, and what its revisions held.

A revision is what a person may still have open in an editor. Its record is on disk before the file is. One record a
file: a project has one for each day of its life, and a change touches one or two.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields

from memlayer.edge.home import paths
from memlayer.edge.home.registry import is_path_part
from memlayer.errors import UserError
from memlayer.memory_files.merge import Entry
from memlayer.memory_files.safe_folder import Stamp

KEPT_REVISIONS = 64
PLACE = "place"


@dataclass
class Span:
    """A memory in a file, from one revision to another; last 0: still in it."""

    memory_id: str
    citation: str
    digest: str
    pinned: bool
    first: int
    last: int = 0

    @property
    def entry(self) -> Entry:
        return Entry(self.memory_id, self.citation, self.digest, self.pinned)


@dataclass
class FileRecord:
    """One file. read: digest of the bytes that were last taken back or written. stamp: the file's when it was so.

    names: a revision's name in the file -> its number. removed: ids of memories that a person deleted from the file ->
    name of the revision they were deleted from; somebody who takes that back has the same one. notice: what a person
    should know about it, or "".
    """

    read: str = ""
    stamp: Stamp | None = None
    revision: int = 0
    names: dict[str, int] = field(default_factory=dict)
    spans: list[Span] = field(default_factory=list)
    removed: dict[str, str] = field(default_factory=dict)
    notice: str = ""

    def held(self, name: str) -> list[Entry] | None:
        """What the revision of that name held; None when it is not known (any more)."""
        number = self.names.get(name)
        if number is None:
            return None
        return [one.entry for one in self.spans if one.first <= number and (not one.last or number <= one.last)]

    def knows(self, citation: str, digest: str) -> bool:
        """True if some revision held exactly that."""
        return any((one.citation, one.digest) == (citation, digest) for one in self.spans)

    def issue(self, name: str, entries: Sequence[Entry]) -> None:
        """The file's next revision."""
        number = self.revision + 1
        staying = set(entries)
        for one in self.spans:
            if not one.last and one.entry not in staying:
                one.last = self.revision
        present = {one.entry for one in self.spans if not one.last}
        self.spans += [Span(*entry, first=number) for entry in entries if entry not in present]
        self.revision = number
        self.names.pop(name, None)
        self.names[name] = number
        while len(self.names) > KEPT_REVISIONS:
            del self.names[next(iter(self.names))]
        oldest = min(self.names.values())
        self.spans = [one for one in self.spans if not one.last or one.last >= oldest]
        self.removed = {key: base for key, base in self.removed.items() if base in self.names}

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Nothing of these memories is known any more, not even that they were there."""
        gone = set(memory_ids)
        self.spans = [one for one in self.spans if one.memory_id not in gone]


class Book:
    """The records of a project's files by name (`MEMORY.md`, `memory/2026-11-19.md`), and where they were last."""

    def __init__(self, home: str, project_id: str) -> None:
        """Raises UserError for what is no id of ours and may lead elsewhere."""
        if not is_path_part(project_id):
            raise UserError("a project's id is not one of memlayer's: %r" % project_id[:40])
        self._folder = os.path.join(paths.cache(home), "files", project_id)
        self.files: dict[str, FileRecord] = {}
        self.place = ""
        for name, data in self._on_disk():
            if name == PLACE:
                self.place = str(data.get("path", ""))
            else:
                with contextlib.suppress(TypeError, KeyError, AttributeError):
                    self.files[name.replace("+", "/") + ".md"] = _record(data)

    def record(self, name: str) -> FileRecord:
        """The record of a file, made if there is none."""
        return self.files.setdefault(name, FileRecord())

    def save(self, name: str) -> None:
        """Write one record. Raises OSError."""
        record = self.files[name]
        data = {one.name: getattr(record, one.name) for one in fields(record)}
        data["stamp"] = asdict(record.stamp) if record.stamp is not None else None
        data["spans"] = [[getattr(span, one.name) for one in fields(span)] for span in record.spans]
        paths.write_whole(self._path(name), json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))

    def drop(self, name: str) -> None:
        """Nothing is known of a file any more."""
        self.files.pop(name, None)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._path(name))

    def move(self, place: str) -> None:
        """The files are there now. Raises OSError."""
        self.place = place
        data = json.dumps({"path": place}, ensure_ascii=False).encode("utf-8", "surrogatepass")
        paths.write_whole(os.path.join(self._folder, PLACE + ".json"), data)

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name.removesuffix(".md").replace("/", "+") + ".json")

    def _on_disk(self) -> Iterator[tuple[str, dict[str, object]]]:
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:
            return
        for name in names:
            with contextlib.suppress(OSError, ValueError), open(os.path.join(self._folder, name), "rb") as file:
                data = json.loads(file.read().decode("utf-8", "surrogatepass"))
                if name.endswith(".json") and isinstance(data, dict):
                    yield name.removesuffix(".json"), data


def _record(data: dict[str, object]) -> FileRecord:
    known = {one.name: data[one.name] for one in fields(FileRecord)}
    known["stamp"] = Stamp(**data["stamp"]) if data["stamp"] else None  # type: ignore[arg-type]
    known["spans"] = [Span(*one) for one in data["spans"]]  # type: ignore[attr-defined]
    return FileRecord(**known)  # type: ignore[arg-type]
