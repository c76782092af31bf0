"""The prompts that a conversation left behind.

Each record names the one that it follows, and a file only grows. After a rewind, or an edit of a prompt, the next
record follows an earlier one (2.1.197 and 2.1.332 alike). So the conversation is the way from the newest prompt or
answer back to the first, and a turn beside it was left. Beside it lie, and were not left:

* Results of parallel calls. Each follows its own call, and the answer only one of them.
* A prompt that waited while its turn was interrupted. The results that come behind it carry its id.
* Records that a compaction kept. Its boundary follows nothing, and names the records that it stands behind.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import msgspec

from memlayer.transcripts.lines import Tally, open_transcript, parse, whole_lines

_MARK = b'"parentUuid"'


class _Kept(msgspec.Struct, rename="camel"):
    tail_uuid: str = ""


class _Compaction(msgspec.Struct, rename="camel"):
    preserved_segment: _Kept = msgspec.field(default_factory=_Kept)


class _Attachment(msgspec.Struct):
    type: str = ""


class _Line(msgspec.Struct, rename="camel"):
    """The fields of a record that tell its place."""

    uuid: str
    type: str
    parent_uuid: str | None = None
    logical_parent_uuid: str | None = None
    prompt_id: str | None = None
    subtype: str = ""
    is_sidechain: bool = False
    is_compact_summary: bool = False
    tool_use_result: msgspec.Raw | None = None
    caller: str | None = msgspec.field(default=None, name="sourceToolAssistantUUID")
    compact_metadata: _Compaction = msgspec.field(default_factory=_Compaction)
    attachment: _Attachment = msgspec.field(default_factory=_Attachment)


@dataclass(frozen=True, slots=True)
class _Record:
    """A record.

    follows: the uuid of the one before it, "" for none. names: of the turn that it may belong to.
    is_said: by a person or model, or a compaction. begins: a turn, and goes on with none.
    """

    uuid: str
    follows: str
    names: tuple[str, ...]
    is_said: bool
    begins: bool


def newly_left(path: str, offset: int) -> tuple[frozenset[str] | None, int]:
    """Return (names of all prompts left, offset for the next look).

    None: the conversation only went on since that offset, 0 at first. Raises OSError.
    """
    is_branched, last = False, ""
    for at, record in _records(path, offset):
        is_branched |= bool(last) and record.begins and record.follows != last
        last, offset = record.uuid, at
    return left_prompts(path) if is_branched else None, offset


def left_prompts(path: str) -> frozenset[str]:
    """Return prompt ids and uuids of the turns left. Raises OSError."""
    every = [record for _, record in _records(path, 0)]
    known = {record.uuid for record in every}
    is_linked = any(record.follows in known for record in every)
    records: dict[str, _Record] = {}
    last = newest = ""
    for record in every:
        is_first = is_linked and record.begins and bool(record.names) and not record.follows
        if record.follows not in records and not is_first:  # its parent is not here
            record = _Record(record.uuid, last, record.names, record.is_said, record.begins)
        records.setdefault(record.uuid, record)
        last, newest = record.uuid, record.uuid if record.is_said else newest
    way = _way(records, newest)
    fork = {uuid: uuid for uuid in way}
    left: set[str] = set()
    for record in records.values():
        place = fork.setdefault(record.uuid, fork[record.follows])
        if place != record.uuid and way[place]:
            left.update(record.names)
    return frozenset(left.difference(*(records[uuid].names for uuid in way if uuid)))


def _way(records: Mapping[str, _Record], newest: str) -> dict[str, bool]:
    """Return the conversation's uuids, "" for its beginning.

    True: there it goes on with another turn, False: in the same turn.
    """
    way: dict[str, bool] = {}
    begins, uuid = False, newest
    while uuid:
        way[uuid] = begins
        record = records[uuid]
        begins, uuid = record.begins if record.is_said else begins, record.follows
    return {**way, "": begins}


def _records(path: str, offset: int) -> Iterator[tuple[int, _Record]]:
    """Yield (offset of its line, record), a sub-agent's left out."""
    with open_transcript(path) as file:
        for at, text in whole_lines(file, offset, Tally()):
            line = _line(text) if _MARK in text else None
            if line is None or line.is_sidechain:
                continue
            is_boundary, is_user = line.subtype == "compact_boundary", line.type == "user"
            is_result = line.tool_use_result is not None or line.caller is not None
            before = line.compact_metadata.preserved_segment.tail_uuid or line.logical_parent_uuid
            names: tuple[str, ...] = ()
            if is_user and not line.is_compact_summary:  # which bears the id of a turn that it may have left
                names = (line.prompt_id or line.uuid, *([] if is_result else [line.uuid]))
            elif line.attachment.type == "queued_command":
                names = (line.uuid,)
            yield (
                at,
                _Record(
                    line.uuid,
                    (before if is_boundary else line.parent_uuid) or "",
                    names,
                    is_said=is_user or is_boundary or line.type == "assistant",
                    begins=line.type == "system" or (is_user and not is_result),
                ),
            )


def _line(text: bytes) -> _Line | None:
    try:
        return msgspec.json.decode(text, type=_Line)
    except msgspec.DecodeError:  # also of half a character
        try:
            return msgspec.convert(parse(text), _Line)
        except msgspec.ValidationError:
            return None
