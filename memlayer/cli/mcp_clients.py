"""Registers the MCP server in other clients' configuration files."""

import json
import os
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memlayer.edge.home import paths
from memlayer.errors import UserError

NAME = "memlayer"
BACKUP = ".before-memlayer"
_MAC = sys.platform == "darwin"
_CONFIG = "~/Library/Application Support" if _MAC else "${XDG_CONFIG_HOME:-~/.config}"
# Path, key and project of each: see McpClient.
CLIENTS: dict[str, tuple[str, str, str | None]] = {
    "claude-desktop": (_CONFIG + "/Claude/claude_desktop_config.json", "mcpServers", None),
    "codex": ("${CODEX_HOME:-~/.codex}/config.toml", "mcp_servers", ""),
    "cursor": ("~/.cursor/mcp.json", "mcpServers", "${workspaceFolder}"),
    "gemini": ("~/.gemini/settings.json", "mcpServers", ""),
    "vscode": (_CONFIG + "/Code/User/mcp.json", "servers", "${workspaceFolder}"),
    "windsurf": ("~/.codeium/windsurf/mcp_config.json", "mcpServers", None),
}


@dataclass(frozen=True)
class McpClient:
    """A program that starts MCP servers.

    key: of the table of servers in its file. project: its substitute for a folder, "" where the server starts in the
    project, None where no project is known.
    """

    name: str
    path: str
    key: str
    project: str | None


@dataclass(frozen=True)
class Change:
    """A file's change.

    text: the new one, "" where the file goes. mark: stands in every text with memlayer.
    """

    path: str
    before: str | None
    text: str
    is_needed: bool
    mark: str


def client_of(name: str) -> McpClient:
    """Return the client of a name in CLIENTS."""
    return McpClient(name, *CLIENTS[name])


def path_of(named: str) -> str:
    """Return the path of a configuration file, links followed."""
    match = re.match(r"\$\{(\w+):-([^}]*)\}(.*)", named)
    path = (os.environ.get(match[1]) or match[2]) + match[3] if match else named
    return os.path.realpath(os.path.expanduser(path))


def entry_of(client: McpClient, root: str, *, project: str, all_projects: bool) -> dict[str, Any]:
    """Return the entry for a folder, or "". Raises UserError without project."""
    arguments = ["mcp"]
    if all_projects:
        arguments.append("--all-projects")
    elif project or client.project:
        arguments += ["--project", project or str(client.project)]
    elif client.project is None:
        raise UserError(f"{client.name} has no project of its own. Give --project FOLDER or --all-projects")
    entry: dict[str, Any] = {"command": os.path.join(root, "bin", "memlayer"), "args": arguments}
    if os.environ.get("MEMLAYER_HOME"):
        entry["env"] = {"MEMLAYER_HOME": paths.home_of()}
    return entry


def planned(client: McpClient, entry: dict[str, Any] | None) -> Change:
    """Return the change that registers or removes (None). Raises UserError."""
    path = path_of(client.path)
    change = _toml if path.endswith(".toml") else _json
    return changed(path, lambda text: change(path, text, client.key, entry), is_removal=entry is None)


def changed(path: str, edit: Callable[[str], str], *, is_removal: bool, mark: str = NAME) -> Change:
    """Return a file's change by `edit`. Raises UserError."""
    before = read_text(path)
    text = edit(before or "")
    if is_removal and (kept := read_text(path + BACKUP)) is not None and _parsed(path, kept) == _parsed(path, text):
        text = kept  # nothing else was changed since: as it was, to the byte
    return Change(path, before, text, text != (before or ""), mark)


def carry_out(change: Change) -> None:
    """Write the file whole, a copy kept beside it. Raises OSError."""
    if change.mark not in (change.before or ""):
        paths.write_whole(change.path + BACKUP, (change.before or "").encode())
    if change.text:
        mode = os.stat(change.path).st_mode & 0o777 if change.before is not None else paths.FILE_MODE
        paths.write_whole(change.path, change.text.encode())
        os.chmod(change.path, mode)
    else:
        os.unlink(change.path)
    if change.mark not in change.text and os.path.exists(change.path + BACKUP):
        os.unlink(change.path + BACKUP)


def read_text(path: str) -> str | None:
    """A configuration file's text; None when there is none. Raises UserError."""
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read(1 << 24)
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as bad:
        raise UserError(f"{path} cannot be read: {getattr(bad, 'strerror', None) or 'it is no UTF-8'}") from bad


def _parsed(path: str, text: str) -> object:
    """The settings that a text holds; itself where it is not understood."""
    try:
        return tomllib.loads(text) if path.endswith(".toml") else json.loads(text or "{}")
    except (ValueError, RecursionError):
        return text


def _json(path: str, text: str, key: str, entry: dict[str, Any] | None) -> str:
    """Return the JSON text with or without the entry, in its order."""
    whole = json_of(path, text)
    servers = whole.get(key, {}) if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        raise UserError(f"{path}: {key} is no table of servers: nothing is changed")
    if servers.get(NAME) == entry:
        return text
    if entry is None:
        del servers[NAME]
        if not servers:
            del whole[key]
    else:
        whole[key] = {**servers, NAME: entry}
    return json_text(whole, text)


def json_of(path: str, text: str) -> Any:
    """Return the object in a JSON file, {} for none. Raises UserError."""
    try:
        return json.loads(text) if text.strip() else {}
    except (ValueError, RecursionError) as bad:
        raise UserError(f"{path} is no plain JSON ({bad}): nothing is changed. Change it by hand") from bad


def json_text(whole: Any, before: str) -> str:
    """Return a file's new text, indented as before; "" for nothing."""
    indent = re.search(r"\n([ \t]+)\"", before)
    return json.dumps(whole, ensure_ascii=False, indent=indent[1] if indent else 2) + "\n" if whole else ""


def _toml(path: str, text: str, key: str, entry: dict[str, Any] | None) -> str:
    """Return the TOML text with the table at its end, or without."""
    try:
        servers = tomllib.loads(text).get(key, {})
    except tomllib.TOMLDecodeError as bad:
        raise UserError(f"{path} is no TOML ({bad}): nothing is changed. Add the server by hand") from bad
    if servers.get(NAME) == entry:
        return text
    table = re.compile(r"(?m)^\[%s\.%s(?:\.\w+)?\][^\n]*\n(?:(?!\[)[^\n]*(?:\n|\Z))*" % (key, NAME))
    out = table.sub("", text).rstrip("\n")
    out = out + "\n" if out else ""
    if entry is not None:
        lines = [f"[{key}.{NAME}]"]
        lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry.items() if name != "env"]
        if "env" in entry:
            lines += ["", f"[{key}.{NAME}.env]"]
            lines += [f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in entry["env"].items()]
        out += ("\n" if out else "") + "\n".join(lines) + "\n"
    parsed = _parsed(path, out)
    if not isinstance(parsed, dict) or parsed.get(key, {}).get(NAME) != entry:
        raise UserError(f"{path} names {NAME} in a way that is not understood: nothing is changed. Do it by hand")
    return out
