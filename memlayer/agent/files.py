"""File tools, within the project's folder: read, write, change a passage."""

import contextlib
import difflib
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol

from memlayer.edge.counting import counted
from memlayer.errors import ToolError

MAX_READ_CHARS = 9_000  # of a file in one call. The rest by its lines
MAX_LINE_CHARS = 2_000
MAX_EDITED_BYTES = 4_000_000
MAX_DIFF_LINES = 40
MAX_PLACES = 10  # of a passage that is not unique
FILE_MODE = 0o644
PATH = "relative to the project's folder"
WHOLE_NUMBERS = ("limit", "start_line", "window", "from")
UNCHANGED = "Unchanged: the file holds this already"


def schema(*required: str, **descriptions: str) -> Mapping[str, Any]:
    """Return the JSON schema of arguments; all but WHOLE_NUMBERS are texts."""
    types = {name: "integer" if name in WHOLE_NUMBERS else "string" for name in descriptions}
    properties = {name: {"type": types[name], "description": text} for name, text in descriptions.items()}
    return {"type": "object", "properties": properties, "required": list(required)}


class Approve(Protocol):
    """A question to the person."""

    def __call__(self, question: str, details: str, *, always: str = "") -> None:
        """Ask. Raises ToolError for a refusal.

        always: the command that the person may allow for the rest of the talk, "" for none.
        """


class ProjectFolder:
    """The project's folder, outside of which nothing is touched."""

    def __init__(self, path: str) -> None:
        self.root = Path(os.path.realpath(path))

    def resolve(self, path: str) -> Path:
        """Return a path without links. Raises ToolError for one outside."""
        if not path.strip() or "\0" in path:
            raise ToolError("path: a file of the project is expected")
        target = Path(os.path.realpath(self.root / os.path.expanduser(path)))
        if target != self.root and self.root not in target.parents:
            raise ToolError("%s is outside of the project's folder" % path)
        return target


class ReadFile:
    """Reads a text file of the project, or lists a folder."""

    name = "read_file"
    description = "Read a text file of the project, or list a folder. Long files come in parts: go on with start_line."
    parameters = schema("path", path=PATH, start_line="from 1")

    def __init__(self, folder: ProjectFolder) -> None:
        self._folder = folder

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        path = self._folder.resolve(text_of(arguments, "path"))
        start = arguments.get("start_line") or 1
        if not isinstance(start, int) or start < 1:
            raise ToolError("start_line: a number from 1 is expected")
        if path.is_dir():
            return (
                "\n".join(sorted(entry.name + ("/" if entry.is_dir() else "") for entry in path.iterdir())) or "(empty)"
            )
        return "".join(self._lines(path, start)) or "(empty)"

    def _lines(self, path: Path, start: int) -> Iterator[str]:
        """Yield lines from a number on, until there are enough."""
        left = MAX_READ_CHARS
        with open_regular(path) as file:
            for number in range(1, 1 << 40):
                line = file.readline(MAX_LINE_CHARS)  # a longer line counts as several
                if not line:
                    return
                if b"\0" in line:
                    raise ToolError("%s is no text file" % path.name)
                if number < start:
                    continue
                text = line.decode("utf-8", "replace")
                left -= len(text)
                if left < 0:
                    yield "\n[... more; go on with start_line %d]" % number
                    return
                yield text


class _Change:
    """A change of one file, shown to the person first."""

    def __init__(self, folder: ProjectFolder, approve: Approve) -> None:
        self._folder = folder
        self._approve = approve

    def permit(self, arguments: Mapping[str, Any]) -> None:
        """See execution.Guarded. Shows the change in short, unless it is empty."""
        path, before, after = self._change(arguments)
        if before == after:
            return
        verb, relative = "Write" if before is None else "Change", path.relative_to(self._folder.root)
        old, new = _decoded(before or b""), _decoded(after)
        self._approve("%s %s (%s)?" % (verb, relative, counted(len(new.splitlines()), "line")), short_diff(old, new))

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        path, before, after = self._change(arguments)
        if before == after:
            return UNCHANGED
        write_whole(path, after)
        return "Written: %s, %s" % (
            path.relative_to(self._folder.root),
            counted(len(_decoded(after).splitlines()), "line"),
        )

    def _change(self, arguments: Mapping[str, Any]) -> tuple[Path, bytes | None, bytes]:
        """Return path, content before (None: no file) and after. Raises ToolError."""
        raise NotImplementedError

    def _file(self, arguments: Mapping[str, Any]) -> tuple[Path, bytes | None]:
        """Return path and content, None for no file. Raises ToolError."""
        path = self._folder.resolve(text_of(arguments, "path"))
        if not path.exists():
            return path, None
        with open_regular(path) as file:
            content = file.read(MAX_EDITED_BYTES + 1)
        if len(content) > MAX_EDITED_BYTES:
            raise ToolError("%s is too large to be changed by a tool" % path.name)
        return path, content


class WriteFile(_Change):
    """Writes a text file of the project, whole or not at all."""

    name = "write_file"
    description = "Write a text file of the project: the whole content, in place of what it held."
    parameters = schema("path", "content", path=PATH, content="the whole text")

    def _change(self, arguments: Mapping[str, Any]) -> tuple[Path, bytes | None, bytes]:
        return *self._file(arguments), text_of(arguments, "content").encode("utf-8", "replace")


class EditFile(_Change):
    """Replaces a passage of a text file, which must stand there once."""

    name = "edit_file"
    description = (
        "Replace a passage of a text file: old_text, exactly as it stands there and only once, becomes new_text. Give"
        " as many lines around it as make it unique."
    )
    parameters = schema(
        "path", "old_text", "new_text", path=PATH, old_text="the passage, blanks and line breaks included",
        new_text="the text in its place",
    )  # fmt: skip

    def _change(self, arguments: Mapping[str, Any]) -> tuple[Path, bytes | None, bytes]:
        path, before = self._file(arguments)
        old, new = text_of(arguments, "old_text"), text_of(arguments, "new_text")
        if before is None:
            raise ToolError("There is no %s; write_file writes a new file" % path.name)
        if not old:
            raise ToolError("old_text: the passage to replace is expected; write_file writes a whole file")
        try:
            text = before.decode()
        except UnicodeDecodeError as bad:
            raise ToolError("%s is no UTF-8 text, so no passage of it can be replaced" % path.name) from bad
        if old not in text and "\r\n" in text:  # models write line feeds alone
            old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
        places = places_of(old, text)
        if not places:
            raise ToolError(
                "old_text is not in %s: it must stand there exactly, blanks and line breaks included. Read the file"
                " again" % path.name
            )
        if len(places) > 1:
            lines = ", ".join(str(text.count("\n", 0, place) + 1) for place in places[:MAX_PLACES])
            count = "%d times" % len(places) if len(places) <= MAX_PLACES else "more than %d times" % MAX_PLACES
            raise ToolError("old_text is %s in %s (lines %s): give more lines around it" % (count, path.name, lines))
        after = text[: places[0]] + new + text[places[0] + len(old) :]
        return path, before, after.encode("utf-8", "replace")


def places_of(part: str, text: str) -> list[int]:
    """Return where a part begins, overlaps included; a few at most."""
    places: list[int] = []
    at = text.find(part)
    while at >= 0 and len(places) <= MAX_PLACES:
        places.append(at)
        at = text.find(part, at + 1)
    return places


def text_of(arguments: Mapping[str, Any], name: str) -> str:
    """Return a text argument. Raises ToolError for another type."""
    value = arguments.get(name)
    if not isinstance(value, str):
        raise ToolError("%s: a text is expected" % name)
    return value


def open_regular(path: Path) -> Any:
    """Open a regular file without waiting for a pipe. Raises ToolError."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as bad:
        raise ToolError("%s: %s" % (path.name, bad.strerror)) from bad
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ToolError("%s is no file" % path.name)
    return os.fdopen(handle, "rb")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file whole or not at all. Raises OSError."""
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else FILE_MODE
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix="." + path.name[:40] + ".", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def short_diff(before: str, after: str) -> str:
    """Return a unified diff without its head, cut."""
    lines = list(difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=1))[2:]
    left = len(lines) - MAX_DIFF_LINES
    more = ["[... %s]" % counted(left, "more line")] if left > 0 else []
    return "\n".join([*lines[:MAX_DIFF_LINES], *more]) or "(only line breaks change)"
