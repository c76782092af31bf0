"""Calls of other agents under Claude Code's names of tools.

So whatever reads calls needs to know no other agent.
"""

from __future__ import annotations

import re

from memlayer.edge.home.project import here

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

PATCH = "apply_patch"
SHELLS = frozenset((
    "bash", "shell", "exec_command", "local_shell", "container.exec", "run_shell_command", "run_terminal_cmd",
    "powershell", "run_terminal_command", "run_terminal_command_v2", "run_in_terminal",
))  # fmt: skip
EDITORS = frozenset((
    "edit", "edit_file", "edit_file_v2", "multiedit", "replace", "search_replace", "str_replace", "strreplace",
    "replace_string_in_file", "insert_edit_into_file",
))  # fmt: skip
WRITERS = frozenset(("write", "write_file", "create", "create_file"))
_PATHS = ("file_path", "filePath", "path", "target_file", "absolute_path", "relativeWorkspacePath", "targetFile")
_OLD = ("old_string", "oldString", "old_str")
_NEW = ("new_string", "newString", "new_str", "code")
_CONTENT = ("content", "contents", "file_text")
_PATCHES = ("patchText", "patch", "input", "command")
_PATCHED_FILE = re.compile(r"\*\*\* (?:Update|Add|Delete) File: (.+)")


def as_ours(tool: str, given: object, cwd: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a call's name and input, a patch by files."""
    fields = given if isinstance(given, dict) else {"input": given}
    name = tool.rpartition("/")[2].lower()
    if name == PATCH:
        patch = given if isinstance(given, str) else _first(fields, _PATCHES)
        yield from (("Edit", edit) for edit in _edits_of(patch, cwd))
    elif name in SHELLS:
        command = _command(fields)
        patched = list(_edits_of(command, cwd)) if command.lstrip().startswith(PATCH) else []
        yield from (("Edit", edit) for edit in patched)
        if not patched:
            yield "Bash", {"command": command}
    elif name in WRITERS:
        yield "Write", {"file_path": _path(_first(fields, _PATHS), cwd), "content": _first(fields, _CONTENT)}
    elif name in EDITORS:
        path = _path(_first(fields, _PATHS), cwd)
        yield "Edit", {"file_path": path, "old_string": _first(fields, _OLD), "new_string": _first(fields, _NEW)}
    else:
        yield tool, fields


def _edits_of(patch: str, cwd: str) -> Iterator[dict[str, Any]]:
    """Yield the edits of a patch, one a file."""
    for part in re.split(r"(?m)^(?=\*\*\* (?:Update|Add|Delete) File: )", patch):
        found = _PATCHED_FILE.match(part)
        if found:
            lines = part.split("\n")[1:]
            old, new = ("\n".join(row[1:] for row in lines if row.startswith(sign)) for sign in "-+")
            yield {"file_path": _path(found[1].strip(), cwd), "old_string": old, "new_string": new}


def _command(fields: Mapping[str, Any]) -> str:
    given = fields.get("command") or fields.get("cmd")
    if isinstance(given, list):  # `bash -lc` and its line
        texts = [part for part in given if isinstance(part, str)]
        return texts[-1] if len(texts) == 3 and texts[1].startswith("-") else " ".join(texts)
    return given if isinstance(given, str) else ""


def _first(fields: Mapping[str, Any], names: tuple[str, ...]) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str)), "")


def _path(path: str, cwd: str) -> str:
    return cwd.rstrip("/") + "/" + path if path and cwd and not (path.startswith("/") or here(path)) else path
