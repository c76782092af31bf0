"""The host's transcripts: their files, sessions, folders and reading order."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memlayer.edge.home import project
from memlayer.transcripts.lines import open_transcript, parse
from memlayer.transcripts.reader import at_ms_of

SUFFIX = ".jsonl"
AGENT_PREFIX = "agent-"
_HEAD_BYTES = 256 * 1024  # snapshots and listings of tools come before the first prompt
_HEAD_LINES = 200


@dataclass(frozen=True)
class Transcript:
    """One transcript file.

    cwd: the folder the session was started in, "" if unknown. first: the uuid of its first prompt or answer: a fork
    begins with copies, so it has its parent's.
    """

    path: str
    size: int
    mtime_ns: int
    is_agent: bool = False
    session_id: str = ""
    cwd: str = ""
    first: str = ""
    first_ms: int = 0


def find(paths: Iterable[str], count: Callable[[str], None]) -> list[Transcript]:
    """Find the transcripts in files and folders, newest first.

    A link inside a folder is not followed. Count gets the reason for each file left out. Raises OSError for a path that
    does not exist or cannot be read.
    """
    by_path: dict[str, Transcript] = {}
    for given in paths:
        path = os.path.realpath(given)
        if os.path.isdir(path):
            for inside in _inside(path, count):
                by_path[inside.path] = inside
        else:
            info = os.stat(path)
            if not stat.S_ISREG(info.st_mode):
                count("no regular files")
                continue
            by_path[path] = _described(path, info)
    return sorted(by_path.values(), key=lambda transcript: (-transcript.mtime_ns, transcript.path))


def in_order(files: list[Transcript], since_ms: Callable[[str], int]) -> list[Transcript]:
    """Order newest first, but a session before its forks.

    Records of both belong to the session. since_ms: when the hooks first heard of a session, 0 for never. A session
    that they knew at its first prompt is no fork. Among the others the file that was written last is the fork's.
    """
    families: dict[str, list[Transcript]] = {}
    for file in files:
        families.setdefault(file.first or file.path, []).append(file)

    def is_fork(file: Transcript) -> bool:
        known = since_ms(file.session_id)
        return known > file.first_ms + 5_000 if known else True

    out: list[Transcript] = []
    for file in files:
        family = families.pop(file.first or file.path, [])
        out += sorted(family, key=lambda member: (is_fork(member), member.mtime_ns, member.path))
    return out


def _inside(folder: str, count: Callable[[str], None]) -> Iterator[Transcript]:
    for at, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "tool-results")
        for name in sorted(names):
            if not name.endswith(SUFFIX):
                continue
            path = os.path.join(at, name)
            try:
                info = os.lstat(path)
                if stat.S_ISREG(info.st_mode):
                    yield _described(path, info)
                else:
                    count("links" if stat.S_ISLNK(info.st_mode) else "no regular files")
            except OSError:
                count("files that cannot be read")


def _described(path: str, info: os.stat_result) -> Transcript:
    is_agent = os.path.basename(path).startswith(AGENT_PREFIX)
    cwd = session_id = first = stamp = ""
    slug = os.path.basename(os.path.dirname(path))
    for record in _head(path):
        where = record.get("cwd")
        if isinstance(where, str) and where and (not cwd or _slug(cwd) != slug):
            # The folder follows the shell's `cd`. The one that names the transcript's folder stays.
            cwd = where if not cwd or _slug(where) == slug else cwd
        session = record.get("sessionId")
        session_id = session_id or (session if isinstance(session, str) else "")
        uuid = record.get("uuid")
        if not first and record.get("type") in ("user", "assistant") and isinstance(uuid, str):
            first, stamp = uuid, str(record.get("timestamp") or "")
    return Transcript(
        path,
        info.st_size,
        info.st_mtime_ns,
        is_agent,
        os.path.basename(path)[: -len(SUFFIX)]
        if is_agent or not session_id
        else session_id,  # a sub-agent's is its own
        project.here(cwd),
        first,
        at_ms_of(stamp),
    )


def _head(path: str) -> Iterator[dict[str, object]]:
    with open_transcript(path) as file:
        lines = file.read(_HEAD_BYTES).split(b"\n")[:-1][:_HEAD_LINES]
    for line in lines:
        record = parse(line)
        if record is not None:
            yield record


def _slug(folder: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", folder)
