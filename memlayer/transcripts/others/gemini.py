"""Gemini CLI: a document of JSON a session, later JSON Lines.

A line is a message, changes of fields (`$set`), or a step back (`$rewindTo`: that message and all behind it). A message
that comes again replaces itself. The folder is named by a hash of the project's path, or by a short name that
`projects.json` has.
"""

import hashlib
import os
import re
from collections.abc import Callable, Iterator

from memlayer.edge.home import paths, project
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally, open_transcript, parse, string
from memlayer.transcripts.others.talk import Json, Talk, lines_of, part, parts, text_of, time_of

AGENT = "gemini"
SEEN = "0.61, the older form by its sources"
MAX_ROOT_BYTES = 8192
NAME = re.compile(r"(?!logs\.json\Z).+\.jsonl?\Z")
_CHATS = "chats"
_OTHER_TYPES = ("info", "error", "warning")
_EXIT = re.compile(r"(?m)^Exit Code: (-?\d+)")
_ROLES = ("gemini", "model")


def describe(path: str, info: os.stat_result, count: Callable[[str], None]) -> Iterator[Transcript]:
    """Yield the session of a file. Raises OSError."""
    meta = next(_records(path, Tally()), {})
    session_id = string(meta, "sessionId")
    if not session_id:
        if _CHATS in path.split(os.sep):
            count("files without a session")
        return
    folder = os.path.dirname(path)
    is_deeper = os.path.basename(folder) != _CHATS and os.path.basename(os.path.dirname(folder)) == _CHATS
    place = os.path.dirname(os.path.dirname(folder) if is_deeper else folder)
    yield Transcript(
        path, info.st_size, info.st_mtime_ns, agent=AGENT, session_id=session_id,
        cwd=project.here(_folder_of(place, string(meta, "projectHash"))),
        is_agent=is_deeper or string(meta, "kind") == "subagent", first_ms=time_of(meta.get("startTime")),
    )  # fmt: skip


def read(file: Transcript, tally: Tally) -> Talk:
    """Return a session's turns. Raises OSError."""
    talk = Talk(file.session_id, tally, cwd=file.cwd)
    messages = _Messages()
    for record in _records(file.path, tally):
        changes, back = part(record, "$set"), record.get("$rewindTo")
        if isinstance(back, str):
            messages.rewind(back)
        elif "$set" in record or "sessionId" in record:
            for message in parts((changes or record).get("messages")):
                messages.hear(message)
        elif "type" in record:
            messages.hear(record)
        else:
            talk.unknown(next(iter(record), ""))
    for name, message in messages.told.items():
        _hear(talk, name, message)
        if name in messages.left and string(message, "type") == "user":
            talk.take_back(1)
    return talk


class _Messages:
    """The messages of a session in order, and those that it left."""

    def __init__(self) -> None:
        self.told: dict[str, Json] = {}
        self.left: dict[str, int] = {}
        self._standing: dict[str, int] = {}  # name -> place

    def hear(self, message: Json) -> None:
        name = string(message, "id") or "%s %d" % (string(message, "timestamp"), len(self.told))
        if name not in self.told:
            self._standing[name] = len(self.told)
        self.told[name] = message

    def rewind(self, back: str) -> None:
        """Leave this message and all behind it."""
        place = self._standing.get(back, self.left.get(back, len(self.told)))
        while self._standing and next(reversed(self._standing.values())) >= place:
            self.left.update([self._standing.popitem()])


def _hear(talk: Talk, name: str, message: Json) -> None:
    kind, at_ms = string(message, "type"), time_of(message.get("timestamp"))
    text = text_of(message.get("displayContent") or message.get("content"))
    if kind == "user":
        if text.strip():  # else it holds results of calls
            talk.prompt(text, at_ms, name)
    elif kind in _ROLES:
        talk.answer(text, at_ms, name)
        for call in parts(message.get("toolCalls")):
            call_id, status = string(call, "id") or name, string(call, "status")
            talk.call(call_id, string(call, "name"), call.get("args"), time_of(call.get("timestamp")) or at_ms)
            told, code = _output(call)
            if status != "cancelled":
                talk.result(call_id, told, is_failed=status == "error" or code not in ("", "0"))
    elif kind not in _OTHER_TYPES:
        talk.unknown(kind)


def _output(call: Json) -> tuple[str, str]:
    """Return (output, exit code) of a call, "" for none."""
    response = next((part(one, "functionResponse", "response") for one in parts(call.get("result"))), {})
    told = string(response, "error") or string(response, "output")
    code = _EXIT.search(told)
    return string(call, "resultDisplay") or told, code[1] if code else ""


def _records(path: str, tally: Tally) -> Iterator[Json]:
    if path.endswith(".jsonl"):
        yield from lines_of(path, tally)
        return
    with open_transcript(path) as file:
        document = parse(file.read())
    yield from [document] if document is not None else []


def _folder_of(place: str, hashed: str) -> str:
    """Return the project's path of a folder below `tmp`, "" if unknown."""
    root = paths.read_start(os.path.join(place, ".project_root"), MAX_ROOT_BYTES).decode("utf-8", "replace").strip()
    if root:
        return root
    name = os.path.basename(place)
    known = part(paths.read_object(os.path.join(os.path.dirname(os.path.dirname(place)), "projects.json")), "projects")
    for path, short in known.items():
        if short == name or hashlib.sha256(path.encode("utf-8", "replace")).hexdigest() in (name, hashed):
            return path
    return ""
