"""YAML files: the user's own read strictly, a project's without trust."""

import contextlib
import hashlib
import os
import re
import stat
from typing import Any

import yaml

from memlayer.config import plugin_option
from memlayer.config.model import groups_that
from memlayer.edge.home import paths
from memlayer.errors import UserError

MAX_BYTES = 65_536
SWITCH = "enabled"  # of a whole file, for everything: see edge.home.project.switch_off
MAX_BRACKETS = 200
_OPEN_QUOTE = re.compile(r""":\s+(["'])(?:(?!\1).)*$""")
_BEHIND_NO_COLON = ("mapping values are not allowed", "expected <block end>, but found '<block mapping start>'")
_COLON = re.compile(r":(?:\s|$)")
_GROUP = re.compile(r"(\w+)[ \t]*:")
_OFF = re.compile(r"(?:[ \t]+|[ \t]*\{(?:.*[\s,])?)enabled[ \t]*:[ \t]*(?:false|no|off)\b", re.IGNORECASE)


class _Untrusted(yaml.SafeLoader):
    """YAML without aliases and merge keys, which make gigabytes of 500 bytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            at = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.composer.ComposerError(None, None, "aliases are not read in a project's file", at)
        return super().compose_node(parent, index)

    def flatten_mapping(self, node: yaml.MappingNode) -> None:
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                problem = "merge keys are not read in a project's file"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
        super().flatten_mapping(node)


def read_user_file(path: str) -> dict[str, Any]:
    """Read the user's file, {} without it. Raises UserError, one line."""
    return parse_user_text(_user_bytes(path), path)


def parse_user_text(raw: bytes, path: str) -> dict[str, Any]:
    """Parse the user's file, present or future. Raises UserError, one line."""
    parsed, trouble = _parse(raw, yaml.SafeLoader)
    if trouble:
        raise UserError(f"{trouble} (in {path})")
    return parsed


def user_text(path: str) -> str:
    """Return the user's text, or "". Raises UserError, one line."""
    try:
        return _user_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as bad:
        raise UserError(f"not UTF-8 text (in {path})") from bad


def _user_bytes(path: str) -> bytes:
    try:
        return _read_regular(path)
    except FileNotFoundError:
        return b""
    except (OSError, ValueError) as bad:
        raise UserError(f"the settings cannot be read: {getattr(bad, 'strerror', None) or bad} ({path})") from bad


def is_outdated(stamp: object, home: str) -> bool:
    """True if settings changed since a daemon read those of a stamp."""
    return bool(stamp) and stamp != settings_stamp(home)


def settings_stamp(home: str) -> str:
    """Return a stamp that changes with any setting that a daemon reads."""
    path, raw = paths.settings(home), b""
    with contextlib.suppress(UserError):  # a file that is no YAML counts as it stands
        raw = _user_bytes(path)
        groups = parse_user_text(raw, path)
        others = (SWITCH, *groups_that("is_read_by_talks"))
        raw = repr([group for group in sorted(groups.items(), key=str) if group[0] not in others]).encode()
    raw += b"%d" % (plugin_option.notes_answer(home) is True)
    return hashlib.sha256(raw).hexdigest()[:16]


def switched_off(path: str) -> dict[str, dict[str, bool]]:
    """Return group -> {"enabled": False} of disabled groups, read by line.

    For a file that is no YAML: a group that is off must not go on because of a bracket that is missing elsewhere.
    """
    try:
        text = _read_regular(path).decode("utf-8", "replace")
    except (OSError, ValueError):
        return {}
    by_group: dict[str, dict[str, bool]] = {}
    group = ""
    for line in text.splitlines():
        head = _GROUP.match(line)
        group = head.group(1).lower() if head else group
        if group and _OFF.match(line[head.end() :] if head else line):
            by_group[group] = {"enabled": False}
    return by_group


def read_untrusted(path: str) -> tuple[dict[str, Any], str]:
    """Return (mapping, "") of a project's file, or ({}, the cause).

    Never raises, never waits, reads at most MAX_BYTES: a clone may hold anything under this name, a pipe too.
    """
    try:
        raw = _read_regular(path)
    except FileNotFoundError:
        return {}, ""
    except (OSError, ValueError) as bad:
        return {}, f"cannot be read: {getattr(bad, 'strerror', None) or bad}"
    if raw.count(b"[") + raw.count(b"{") > MAX_BRACKETS:  # the parser takes seconds to find that out
        return {}, "not valid YAML: nested too deeply"
    return _parse(raw, _Untrusted)


def _read_regular(path: str) -> bytes:
    """Read a regular, short file. Raises OSError, or ValueError for others."""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe without a writer would wait for ever
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise ValueError("not a regular file")
        raw = file.read(MAX_BYTES + 1)
    if len(raw) > MAX_BYTES:
        raise ValueError(f"longer than {MAX_BYTES} bytes, so nothing is kept where it holds: shorten it")
    return raw


def _parse(raw: bytes, loader: type[yaml.SafeLoader]) -> tuple[dict[str, Any], str]:
    """Return (mapping, "") or ({}, the mistake, one line)."""
    try:
        parsed = yaml.load(raw.decode("utf-8-sig"), loader)
    except UnicodeDecodeError:
        return {}, "not UTF-8 text"
    except RecursionError:
        return {}, "not valid YAML: nested too deeply"
    except (yaml.YAMLError, ValueError) as bad:  # ValueError: a date such as 2026-99-99
        return {}, f"not valid YAML: {_mistake(bad, raw.decode('utf-8-sig'))}"
    if parsed is None:
        return {}, ""
    if not isinstance(parsed, dict) or not all(isinstance(key, str) for key in parsed):
        return {}, "not a mapping of names to values"
    return {group.lower(): _in_small(fields) for group, fields in parsed.items()}, ""


def _in_small(fields: object) -> object:
    """Return a group with its names in small letters."""
    if not isinstance(fields, dict):
        return fields
    return {name.lower() if isinstance(name, str) else name: value for name, value in fields.items()}


def _mistake(bad: Exception, text: str) -> str:
    """Return the line, column and kind of a mistake.

    A parser notices it behind the line without a colon, or where a bracket or a quote that was never closed fails.
    """
    mark, start = getattr(bad, "problem_mark", None), getattr(bad, "context_mark", None)
    problem = str(getattr(bad, "problem", None) or str(bad).split("\n")[0])
    if mark is None:
        return problem
    line, column, context = mark.line, mark.column, str(getattr(bad, "context", ""))
    rows = list(enumerate(text.split("\n")[:line]))[::-1]
    is_open = "end of stream" in problem or context.endswith("a simple key")
    if start is not None and (is_open or (" flow " in context and _is_unclosed(text[start.index :]))):
        line, column = start.line, start.column
    elif "found '<scalar>'" in problem:
        quotes = [(number, found.start(1)) for number, row in rows if (found := _OPEN_QUOTE.search(row))]
        line, column = quotes[0] if quotes else (line, column)
    elif problem.startswith(_BEHIND_NO_COLON):
        for number, row in rows:
            words = row.strip()
            if words and words[0] != "#":
                if _COLON.search(row) or words[0] == "-":
                    break
                line, column, problem = number, row.index(words), "could not find expected ':'"
    return f"line {line + 1}, column {column + 1}: {problem}"


def _is_unclosed(text: str) -> bool:
    return sum(map(text.count, "[{")) > sum(map(text.count, "]}"))
