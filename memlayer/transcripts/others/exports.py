"""Exports of claude.ai and ChatGPT: `conversations.json`, also in a zip.

A conversation is a tree. The branch that ends at the newest message is read, other branches are counted.
"""

import errno
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec

from memlayer.edge.home import paths
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally, string
from memlayer.transcripts.others.databases import json_of
from memlayer.transcripts.others.talk import LEFT_OUT, Json, Talk, part, parts, text_of, time_of

CLAUDE_AI, CHATGPT = "claude-ai", "chatgpt"
SEEN = "exports of 2025 and 2026, as others describe them"
MAX_BYTES = 1 << 30
NAME = re.compile(r"conversations(?:-\d+)?\.json\Z")
_ROLES = {"human": "user"}
_KNOWN = ("user", "system", "tool", "")
_SAID = ("text", "multimodal_text")  # `content_type` of a message


class _Message(NamedTuple):
    parent: str
    role: str
    text: str
    at_ms: int


def describe_of(agent: str) -> Callable[[str, os.stat_result, Callable[[str], None]], Iterator[Transcript]]:
    """Return the finder of conversations in an export."""

    def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
        for document in _documents(path):
            try:
                rows = msgspec.json.decode(document, type=list[msgspec.Raw])
            except msgspec.DecodeError:
                count("files that hold no list of conversations")
                continue
            for raw in map(bytes, rows):
                chat = json_of(raw)
                at_ms = time_of(chat.get("updated_at") or chat.get("update_time")) or _made_ms(chat)
                name = string(chat, "uuid") or string(chat, "conversation_id") or string(chat, "id")
                if name:
                    yield Transcript(
                        path, len(raw), at_ms * 1_000_000, agent=agent, inside=name, raw=raw, session_id=name
                    )
                else:
                    count("conversations without an id")

    return describe


def _documents(path: str) -> Iterator[bytes]:
    """Yield the lists in a file or a zip. Raises OSError."""
    with paths.open_regular(path, max_bytes=MAX_BYTES) as file:
        document = file.read()
    if not document.startswith(b"PK"):
        yield document
        return
    try:
        with zipfile.ZipFile(io.BytesIO(document)) as archive:
            for inside in archive.infolist():
                if NAME.match(os.path.basename(inside.filename)) and inside.file_size <= MAX_BYTES:
                    yield archive.read(inside)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError) as bad:
        raise OSError(errno.EINVAL, "the zip cannot be read", path) from bad


def read_claude_ai(file: Transcript, tally: Tally) -> Talk:
    """Return the turns of a chat of claude.ai."""
    messages, chat = dict[str, _Message](), json_of(file.raw)
    told = list(parts(chat.get("chat_messages")))
    is_tree, last = any(one.get("parent_message_uuid") for one in told), ""
    for one in told:
        text = text_of(one.get("content"), "text") or string(one, "text")
        pasted = "\n".join(string(attached, "extracted_content") for attached in parts(one.get("attachments")))
        sender, parent = string(one, "sender"), string(one, "parent_message_uuid") if is_tree else last
        last = string(one, "uuid")
        messages[last] = _Message(parent, _ROLES.get(sender, sender), text.strip() or pasted, _made_ms(one))
    return _talk(file, tally, messages, "" if "chat_messages" in chat else next(iter(chat), "?"))


def read_chatgpt(file: Transcript, tally: Tally) -> Talk:
    """Return the turns of a chat of ChatGPT."""
    messages, chat = dict[str, _Message](), json_of(file.raw)
    for name, node in part(chat, "mapping").items():
        one = part(node, "message") if isinstance(node, dict) else {}
        content, hidden = part(one, "content"), part(one, "metadata").get("is_visually_hidden_from_conversation")
        is_said = string(content, "content_type") in _SAID and string(one, "recipient") in ("", "all")
        said = content.get("parts") if is_said and hidden is not True else ()
        text = "\n".join(one for one in (said if isinstance(said, list) else ()) if isinstance(one, str))
        parent = string(node, "parent") if isinstance(node, dict) else ""
        messages[name] = _Message(parent, string(part(one, "author"), "role"), text, _made_ms(one))
    unknown = "" if "mapping" in chat else next(iter(chat), "?")
    return _talk(file, tally, messages, unknown, string(chat, "current_node"))


def _talk(file: Transcript, tally: Tally, messages: dict[str, _Message], unknown: str, newest: str = "") -> Talk:
    """Return the turns of the branch that ends at the newest message."""
    talk = Talk(file.session_id, tally, cwd=file.cwd)
    if newest not in messages:
        newest = max(messages, key=lambda name: messages[name].at_ms, default="")
    way: dict[str, None] = {}
    while newest in messages and newest not in way:
        way[newest] = None
        newest = messages[newest].parent
    for name in reversed(way):
        one = messages[name]
        if one.role == "user" and one.text.strip():
            talk.prompt(one.text, one.at_ms, name)
        elif one.role == "assistant":
            talk.answer(one.text, one.at_ms, name)
        elif one.role not in _KNOWN:
            talk.unknown(one.role)
    left = [name for name, one in messages.items() if one.role == "user" and one.text.strip() and name not in way]
    for _ in left:
        tally.passes(LEFT_OUT)
    if unknown:
        talk.unknown(unknown)
    return talk


def _made_ms(chat: Json) -> int:
    return time_of(chat.get("created_at") or chat.get("create_time"))
