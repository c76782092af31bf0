"""Cursor: the editor's store, and transcripts of its command line.

The store has a row for each chat (`composerData:<id>`) and for each message (`bubbleId:<chat>:<id>`), often several
hundred megabytes: rows are asked by key. A transcript has no times and no results of calls; an older one is plain text.
"""

import os
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote, urlsplit

from memlayer.edge.home import project
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally, open_transcript, string
from memlayer.transcripts.others.databases import Database, json_of, opened
from memlayer.transcripts.others.talk import Json, Talk, lines_of, part, parts, text_of, time_of

AGENT = "cursor"
SEEN = "0.50 to 3, as others describe them"
NAME = re.compile(r"state\.vscdb\Z|.+\.(?:jsonl|txt)\Z")
STORE, TABLES = "state.vscdb", ("cursorDiskKV", "ItemTable")
_TRANSCRIPTS = "agent-transcripts"
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)
_SPEAKER = re.compile(r"(?m)^(user|assistant):[ \t]*\n?")
_USER, _MODEL = 1, 2
_FAILED = ("error", "failed")
_CHATS = (
    "SELECT key, json_extract(value, '$.createdAt'), json_extract(value, '$.lastUpdatedAt') FROM cursorDiskKV"
    " WHERE key >= 'composerData:' AND key < 'composerData;' AND json_valid(value)"
)
MOST_ASKED = 20  # messages of a chat, for its folder


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the chats of a store or a transcript. Raises OSError."""
    name = os.path.basename(path)
    if name == STORE:
        yield from _chats(path)
    elif _TRANSCRIPTS in path.split(os.sep):
        folders = path.split(os.sep)
        slug = folders[folders.index(_TRANSCRIPTS) - 1]
        yield Transcript(
            path, info.st_size, info.st_mtime_ns, agent=AGENT, session_id=os.path.splitext(name)[0],
            cwd=_folder_of(slug), is_agent="subagents" in folders, first_ms=info.st_mtime_ns // 1_000_000,
        )  # fmt: skip


def _chats(path: str) -> Iterator[Transcript]:
    with opened(path, TABLES) as database:
        if not database.columns("cursorDiskKV"):
            return
        places = _workspaces(os.path.join(os.path.dirname(os.path.dirname(path)), "workspaceStorage"))
        for key, created, updated in list(database.rows(_CHATS)):
            chat = str(key).partition(":")[2]
            bubbles = _between(database, "count(*)", "bubbleId:%s:" % chat)
            at_ms = time_of(updated) or time_of(created)
            yield Transcript(
                path, 1 + sum(int(str(row[0])) for row in bubbles), at_ms * 1_000_000, agent=AGENT, inside=chat,
                session_id=chat, cwd=project.here(_place(database, chat) or places.get(chat, "")),
                first_ms=time_of(created),
            )  # fmt: skip


def read(file: Transcript, tally: Tally) -> Talk:
    """Return a chat's turns. Raises OSError."""
    talk = Talk(file.session_id, tally, cwd=file.cwd, at_ms=file.first_ms)
    if not file.inside:
        _read_transcript(talk, file.path, tally)
        return talk
    with opened(file.path, TABLES) as database:
        chat = json_of(_value(database, "composerData:%s" % file.inside))
        tally.version = "form %s" % chat["_v"] if isinstance(chat.get("_v"), int) else ""
        heads = list(parts(chat.get("fullConversationHeadersOnly")))
        bubbles = [
            json_of(_value(database, "bubbleId:%s:%s" % (file.inside, string(one, "bubbleId")))) for one in heads
        ]
        for bubble in bubbles or parts(chat.get("conversation")):
            _hear(talk, bubble)
    return talk


def _hear(talk: Talk, bubble: Json) -> None:
    kind, bubble_id = bubble.get("type"), string(bubble, "bubbleId")
    at_ms = time_of(bubble.get("createdAt")) or time_of(bubble.get("timestamp"))
    if kind == _USER:
        talk.prompt(string(bubble, "text") or string(bubble, "rawText"), at_ms, bubble_id)
    elif kind == _MODEL:
        talk.answer(string(bubble, "text"), at_ms, bubble_id)
        call = part(bubble, "toolFormerData")
        if string(call, "name"):
            call_id = string(call, "toolCallId") or bubble_id
            talk.call(call_id, string(call, "name"), json_of(call.get("rawArgs")) or json_of(call.get("params")), at_ms)
            is_failed = string(call, "status") in _FAILED
            result = string(call, "error") or string(call, "result")
            if is_failed or string(call, "status") == "completed":
                talk.result(call_id, string(json_of(result), "output") or result, is_failed=is_failed)
    elif bubble:
        talk.unknown("type %s" % kind if isinstance(kind, int) else "")


def _read_transcript(talk: Talk, path: str, tally: Tally) -> None:
    if path.endswith(".txt"):
        with open_transcript(path) as file:
            pieces = _SPEAKER.split(file.read().decode("utf-8", "replace"))
        for speaker, text in zip(pieces[1::2], pieces[2::2], strict=True):
            _say(talk, speaker, text.strip())
        return
    for number, record in enumerate(lines_of(path, tally)):
        role, content = string(record, "role"), part(record, "message").get("content")
        if role in ("user", "assistant"):
            _say(talk, role, text_of(content, "text"))
            for place, block in enumerate(parts(content)):
                if block.get("type") == "tool_use":
                    call_id = string(block, "id") or "%s %d %d" % (path, number, place)
                    talk.call(call_id, string(block, "name"), block.get("input"), 0, is_done=True)
        elif string(record, "type") != "turn_ended":
            talk.unknown(string(record, "type") or role)


def _say(talk: Talk, speaker: str, text: str) -> None:
    if speaker == "user":
        typed = _QUERY.findall(text)
        talk.prompt("\n".join(typed) if typed else text, 0)
    else:
        talk.answer(text, 0)


def _between(database: Database, columns: str, prefix: str) -> Iterator[tuple[object, ...]]:
    query = f"SELECT {columns} FROM cursorDiskKV WHERE key >= ? AND key < ?"
    return database.rows(query, (prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)))


def _value(database: Database, key: str) -> object:
    return next((row[0] for row in database.rows("SELECT value FROM cursorDiskKV WHERE key = ?", (key,))), None)


def _place(database: Database, chat: str) -> str:
    """Return the folder that a chat's messages name, "" for none."""
    for number, (value,) in enumerate(_between(database, "value", "bubbleId:%s:" % chat)):
        bubble = json_of(value)
        uris = bubble.get("workspaceUris")
        found = string(bubble, "workspaceProjectDir") or (_path_of(uris[0]) if isinstance(uris, list) and uris else "")
        if found or number == MOST_ASKED:
            return found
    return ""


def _workspaces(folder: str) -> dict[str, str]:
    """Return chat -> folder, as the stores of the workspaces know it."""
    places: dict[str, str] = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():
        try:
            with open_transcript(os.path.join(folder, name, "workspace.json")) as file:
                place = _path_of(string(json_of(file.read()), "folder"))
            with opened(os.path.join(folder, name, STORE), TABLES) as database:
                rows = database.rows("SELECT value FROM ItemTable WHERE key = 'composer.composerData'")
                for (value,) in rows if database.columns("ItemTable") else ():
                    places |= {string(one, "composerId"): place for one in parts(json_of(value).get("allComposers"))}
        except OSError:
            continue
    return places


def _path_of(uri: object) -> str:
    parsed = urlsplit(uri) if isinstance(uri, str) else urlsplit("")
    return unquote(parsed.path) if parsed.scheme == "file" else ""


def _folder_of(slug: str) -> str:
    """Return the folder that a transcript's folder is named after.

    `-` stands for every other character, so each part of the path is looked for in its folder. "" if it is gone.
    """
    ways = [("/", slug)]
    while ways:
        folder, rest = ways.pop()
        if not rest:
            return folder
        try:
            names = [entry.name for entry in os.scandir(folder) if entry.is_dir()]
        except OSError:
            continue
        for name in sorted(names, key=len):
            told = re.sub(r"[^A-Za-z0-9]", "-", name).strip("-")
            if told and (rest + "-").startswith(told + "-"):
                ways.append((os.path.join(folder, name), rest[len(told) + 1 :]))
    return ""
