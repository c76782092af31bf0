"""The host's transcripts: their files, sessions, folders and reading order."""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from memlayer.edge.home import project
from memlayer.transcripts.lines import open_transcript, parse
from memlayer.transcripts.reader import at_ms_of

SUFFIX = ".jsonl"
NAME = re.compile(r".*\.jsonl\Z", re.DOTALL)
AGENT_PREFIX = "agent-"
# A file of an unforeseen form: it is counted, and the others are read.
BROKEN_FILE = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
UNREADABLE = "files that cannot be read"
_HEAD_BYTES = 256 * 1024  # snapshots and listings of tools come before the first prompt
_HEAD_LINES = 200


@dataclass(frozen=True)
class Transcript:
    """One transcript file.

    cwd: the folder the session was started in, "" if unknown. first: the uuid of its first prompt or answer: a fork
    begins with copies, so it has its parent's. agent: who wrote it (sources.py). inside: the session's name where a
    file holds many, raw: its text there. is_run: nobody typed its prompts. remote: of its repository, as it recorded.
    """

    path: str
    size: int
    mtime_ns: int
    is_agent: bool = False
    session_id: str = ""
    cwd: str = ""
    first: str = ""
    first_ms: int = 0
    agent: str = "claude"
    inside: str = ""
    raw: bytes = b""
    is_run: bool = False
    remote: str = ""

    @property
    def key(self) -> str:
        """The name in the import log."""
        return "%s#%s" % (self.path, self.inside) if self.inside else self.path


def find(
    paths: Iterable[str],
    wanted: re.Pattern[str],
    describe: Callable[[str, os.stat_result, Callable[[str], None]], Iterable[Transcript]],
    count: Callable[[str], None],
) -> list[Transcript]:
    """Find the sessions in files and folders, newest first.

    wanted: names of files in folders. A link inside a folder is not followed. Count gets the reason for each file left
    out. Raises OSError for a path that does not exist or cannot be read.
    """
    by_key: dict[str, Transcript] = {}
    for given in paths:
        path = os.path.realpath(given)
        if not os.path.isdir(path):
            info = os.stat(path)
            if not stat.S_ISREG(info.st_mode):
                count("no regular files")
                continue
            try:
                by_key |= {found.key: found for found in describe(path, info, count)}
            except BROKEN_FILE:
                count(UNREADABLE)
            continue
        for at, folders, names in os.walk(path):
            folders[:] = sorted(name for name in folders if name != "tool-results")
            for inside in (os.path.join(at, name) for name in sorted(filter(wanted.match, names))):
                try:
                    info = os.lstat(inside)
                    if stat.S_ISREG(info.st_mode):
                        by_key |= {found.key: found for found in describe(inside, info, count)}
                    else:
                        count("links" if stat.S_ISLNK(info.st_mode) else "no regular files")
                except (OSError, *BROKEN_FILE):
                    count(UNREADABLE)
    return sorted(by_key.values(), key=lambda transcript: (-transcript.mtime_ns, transcript.key))


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


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the transcript of Claude Code in a file. Raises OSError."""
    is_agent = os.path.basename(path).startswith(AGENT_PREFIX)
    cwd = session_id = first = stamp = ""
    slug = os.path.basename(os.path.dirname(path))
    for record in head(path):
        where = record.get("cwd")
        if isinstance(where, str) and where and (not cwd or _slug(cwd) != slug):
            # The folder follows the shell's `cd`. The one that names the transcript's folder stays.
            cwd = where if not cwd or _slug(where) == slug else cwd
        session = record.get("sessionId")
        session_id = session_id or (session if isinstance(session, str) else "")
        uuid = record.get("uuid")
        if not first and record.get("type") in ("user", "assistant") and isinstance(uuid, str):
            first, stamp = uuid, str(record.get("timestamp") or "")
    yield Transcript(
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


def head(path: str) -> Iterator[dict[str, object]]:
    """Yield the first records of a file. Raises OSError."""
    with open_transcript(path) as file:
        lines = file.read(_HEAD_BYTES).split(b"\n")[:-1][:_HEAD_LINES]
    for line in lines:
        record = parse(line)
        if record is not None:
            yield record


def _slug(folder: str) -> str:
    return re.sub(r"[^A-Za-z0-9]", "-", folder)
