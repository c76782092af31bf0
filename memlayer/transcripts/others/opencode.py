"""OpenCode: a database of all sessions, in two schemas.

1.x has rows of messages and rows of their parts. 2.x has whole messages in the order `seq`. The file holds credentials
too: other tables stay unread. Before 1.2 it kept files of JSON, which are not read.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby
from operator import itemgetter

from memlayer.edge.home import project
from memlayer.text.word_lists import word_set
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally, string
from memlayer.transcripts.others.databases import Database, json_of, opened
from memlayer.transcripts.others.talk import Json, Talk, part, parts, time_of

AGENT = "opencode"
SEEN = "1.18, 2 by its sources"
TABLES = ("session", "session_v2", "message", "part", "session_message")
NAME = re.compile(r"opencode(?:-[\w.-]+)?\.db\Z")
_FIELDS = ("id", "directory", "parent_id", "time_created", "time_updated", "version", "revert")
_ENDED = ("completed", "error")


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the sessions of a database. Raises OSError."""
    with opened(path, TABLES) as database:
        lengths = _lengths(database)
        for row in _sessions(database):
            session, at_ms = str(row["id"]), time_of(row["time_updated"]) or time_of(row["time_created"])
            yield Transcript(
                path, 1 + lengths[session], at_ms * 1_000_000, agent=AGENT, inside=session, session_id=session,
                cwd=project.here(str(row["directory"] or "")), is_agent=bool(row["parent_id"]),
                first_ms=time_of(row["time_created"]),
            )  # fmt: skip


def _sessions(database: Database, session: str = "") -> Iterator[Json]:
    """Yield the rows of one or all sessions, of both schemas."""
    for table in ("session", "session_v2"):
        names = database.columns(table)
        if "id" in names:
            columns = ", ".join(name if name in names else "NULL" for name in _FIELDS)
            query = f"SELECT {columns} FROM {table} WHERE id IS NOT NULL" + (" AND id = ?" if session else "")
            rows = list(database.rows(query, (session,) if session else ()))
            yield from (dict(zip(_FIELDS, row, strict=True)) for row in rows)


def _lengths(database: Database) -> Counter[str]:
    """Return how many messages each session has."""
    total: Counter[str] = Counter()
    for table in ("message", "session_message"):
        if "session_id" in database.columns(table):
            for session, number in database.rows(f"SELECT session_id, count(*) FROM {table} GROUP BY session_id"):
                total[str(session)] += int(str(number))
    return total


def read(file: Transcript, tally: Tally) -> Talk:
    """Return a session's turns. Raises OSError."""
    talk = Talk(file.session_id, tally, cwd=file.cwd)
    with opened(file.path, TABLES) as database:
        row = next(_sessions(database, file.session_id), {})
        tally.version = str(row.get("version") or "")
        # Taken back, and gone from the file as soon as the person goes on from there.
        left = string(json_of(row.get("revert")), "messageID")
        left_at = -1
        for message_id, message, content in _messages(database, file.session_id):
            left_at = len(talk) if left and message_id == left else left_at
            _hear(talk, message_id, message, content)
        if left_at >= 0:
            talk.take_back_from(left_at)
    return talk


def _messages(database: Database, session: str) -> Iterator[tuple[str, Json, list[Json]]]:
    """Yield (id, message, its parts), of the schema that has them."""
    if {"seq", "session_id"} <= database.columns("session_message"):
        query = "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq"
        rows = list(database.rows(query, (session,)))
        for message_id, kind, data in rows:
            message = {**json_of(data), "role": kind}
            yield str(message_id or ""), message, list(parts(message.get("content")))
        if any(kind == "user" for _, kind, _ in rows):  # else those of 1.x, which tell of a model's change
            return
    if "session_id" in database.columns("message"):
        query = (
            "SELECT m.id, m.data, m.time_created, p.data FROM message m LEFT JOIN part p ON p.message_id = m.id"
            " WHERE m.session_id = ? ORDER BY m.time_created, m.id, p.id"
        )
        for (message_id, data, created), told in groupby(database.rows(query, (session,)), itemgetter(0, 1, 2)):
            content = [json_of(row[3]) for row in told if row[3] is not None]
            yield str(message_id or ""), {"created": created, **json_of(data)}, content


def _hear(talk: Talk, message_id: str, message: Json, content: list[Json]) -> None:
    role = string(message, "role")
    at_ms = time_of(part(message, "time").get("created")) or time_of(message.get("created"))
    said = [string(one, "text") for one in content if one.get("type") == "text" and not _is_hosts(one)]
    text = "\n".join(filter(str.strip, said)) or string(message, "text")
    if role == "user":
        talk.prompt(text, at_ms, message_id)
        content = [one for one in content if one.get("type") != "text"]
    elif role == "assistant":
        talk.answer(text, at_ms, message_id)
    elif role not in word_set(__package__, "opencode messages"):
        talk.unknown(role)
    for one in content:
        kind, state = string(one, "type"), part(one, "state")
        if kind == "tool":
            call_id, status = string(one, "callID") or string(one, "id") or message_id, string(state, "status")
            talk.call(call_id, string(one, "tool") or string(one, "name"), state.get("input"), at_ms)
            if status in _ENDED:
                code = part(state, "metadata").get("exit")
                talk.result(call_id, _output(state), is_failed=status == "error" or code not in (None, 0))
        elif kind not in word_set(__package__, "opencode parts"):
            talk.unknown(kind)


def _is_hosts(one: Json) -> bool:
    return one.get("synthetic") is True or one.get("ignored") is True


def _output(state: Json) -> str:
    error = state.get("error")
    told = string(error, "message") if isinstance(error, dict) else error
    content = "\n".join(string(one, "text") for one in parts(state.get("content")))
    return told if isinstance(told, str) and told else string(state, "output") or content
