"""Take from a transcript what its hooks missed."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterable, Sequence
from typing import Any

from memlayer.edge.capture.payload import clean, prompt_detail, spool_event
from memlayer.edge.capture.spool import event_id
from memlayer.model import Event, turn_memory_id
from memlayer.ports import Store
from memlayer.records.sessions import Session
from memlayer.transcripts import reader
from memlayer.transcripts.reader import TranscriptRecord


def captured(
    record: TranscriptRecord, *, session_id: str, project_dir: str, path: str, source: str, prompt_id: str = ""
) -> dict[str, Any] | None:
    """The captured event (payload.SPOOL_FIELDS) of a prompt or an answer; None when nothing of it may be kept.

    prompt_id: another one than the record's own.
    """
    # An answer tells which command it answers: the command itself is no record, and its hook may have missed it.
    asked = record.text if record.kind == "user" else record.command
    text = clean(record.text)
    if not text.strip():
        return None
    prompt_id = prompt_id or record.prompt_id
    return spool_event(
        kind=record.kind, session_id=session_id, prompt_id=prompt_id, text=text, at_ms=record.at_ms,
        detail=prompt_detail(asked) if asked else "", extra="" if prompt_id else text, project_dir=project_dir,
        transcript_path=path, source=source, uuid=record.uuid,
    )  # fmt: skip


def id_without_prompt_id(event: dict[str, Any]) -> str:
    """The id under which a hook of a host without prompt ids (before 2.1.196) has stored the same words."""
    return event_id(event["session_id"], "", event["kind"], event["text"])


log = logging.getLogger(__name__)
TRANSCRIPT = "transcript"  # Event.source
CLOCK_PUT_BACK_MS = 60_000  # records of one turn may stand in another order than they were said
LONG_TURN_MS = 600_000  # an answer that no hook brought may be so much younger than the last event that one did
SAME_TIME_MS = 60_000  # between a record's stamp and the call of its hook
MAX_COMPARED = 20_000  # events of a project that a fork's copies are compared with


def missed(session: Session, store: Store, *, until_ms: int = 0) -> tuple[list[dict[str, Any]], int]:
    """(captured events that the store lacks, the offset up to which the transcript was read).

    until_ms: what was said after that moment is left unread; 0: nothing is.

    Only records of this session's own life count: a fork begins with a copy of its parent's records (same uuid and
    time, another session id, and in newer hosts another prompt id), and what happened before memlayer knew the session
    is for an import to fetch.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return [], session.caught_up_bytes
    start = session.caught_up_bytes if session.caught_up_bytes <= os.path.getsize(path) else 0
    records: list[TranscriptRecord] = []
    offset = start
    for record in reader.read_turns(path, start_offset=start):
        if until_ms and record.at_ms > until_ms:
            continue
        offset = record.resume_offset  # of the last turn: it may go on, so it is read again next time
        if record.kind in ("user", "assistant") and record.at_ms >= session.since_ms:
            records.append(record)
    found = {}
    for record in records:
        folder = session.project_dir or record.cwd
        event = captured(record, session_id=session.id, project_dir=folder, path=path, source=TRANSCRIPT)
        if event is not None:
            found[str(event["id"])] = event
    also = {made: id_without_prompt_id(event) for made, event in found.items()}
    ids = sorted({*also, *also.values()})
    known = {event.id: event for event in store.events(ids=ids, limit=100_000)} if ids else {}
    found = {made: event for made, event in found.items() if also[made] not in known}
    fresh = [event for made, event in found.items() if made not in known]
    if _is_stamped_ahead(records, session):
        fresh = _own(fresh, session, store)
    return fresh + _grown([(found[made], known[made]) for made in found if made in known], store), offset


def _is_stamped_ahead(records: list[TranscriptRecord], session: Session) -> bool:
    """Whether a record is younger than a later one, or than all that was heard of the session: the clock was put back,
    and copies may look as if they had been said since the session began."""
    ends_ms = (session.last_ms or records[-1].at_ms) + LONG_TURN_MS if records else 0
    return any(
        record.at_ms > min(ends_ms, later.at_ms + CLOCK_PUT_BACK_MS)
        for record, later in zip(records, records[1:] + records[-1:], strict=True)
    )


def _own(events: Sequence[dict[str, Any]], session: Session, store: Store) -> list[dict[str, Any]]:
    """The captured events without those that another session of the project has said: the same record, or the same
    words at the same time."""
    if not events:
        return []
    others = [
        event
        for event in store.events(project_id=session.project_id, limit=MAX_COMPARED)
        if event.kind in ("user", "assistant") and event.session_id != session.id
    ]
    uuids = {event.uuid for event in others if event.uuid}
    times: dict[tuple[str, str], list[int]] = {}
    for event in others:
        times.setdefault((event.kind, _words(event.text)), []).append(event.at_ms)
    return [
        event
        for event in events
        if event["uuid"] not in uuids
        and all(
            abs(at_ms - event["at_ms"]) > SAME_TIME_MS
            for at_ms in times.get((event["kind"], _words(event["text"])), ())
        )
    ]


def _words(text: str) -> str:
    return " ".join(text.split())


def _grown(pairs: Iterable[tuple[dict[str, Any], Event]], store: Store) -> list[dict[str, Any]]:
    """Of answers read again (captured event, what is known under its id), those that went on since they were read in
    mid-turn: each as an event of its own, because events are never changed.

    An answer ends with another record of the transcript when it has grown; its text alone may differ because redaction
    has learned something. What a hook says of a turn is all of its answer.
    """
    later = {
        (str(event["session_id"]), str(event["prompt_id"])): event
        for event, first in pairs
        # One without text answers a command of ours, and stays so.
        if event["kind"] == "assistant" and first.source == TRANSCRIPT and first.text and not _is_same(event, first)
    }
    if not later:
        return []
    prompt_ids = sorted({prompt_id for _, prompt_id in later})
    for answer in store.events(prompt_ids=prompt_ids, kind="assistant", limit=100_000):
        turn = (answer.session_id, answer.prompt_id)
        if turn in later and (answer.source != TRANSCRIPT or _is_same(later[turn], answer)):
            del later[turn]
    return [
        {**event, "id": event_id(session_id, prompt_id, "assistant", event["text"])}
        for (session_id, prompt_id), event in later.items()
    ]


def _is_same(event: dict[str, Any], known: Event) -> bool:
    return bool(event["uuid"] == known.uuid or event["text"] == known.text)


def inherited(session: Session, store: Store) -> list[str]:
    """Ids of the memories that a resumed or forked session has in its context from another session: its turns, and what
    was drawn from them.

    The copies in its transcript are known by what was said: their session ids, and in newer hosts their prompt ids too,
    have been rewritten.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return []
    said: set[str] = set()
    for record in reader.read_turns(path):
        if record.kind == "compact":
            said.clear()
        elif record.at_ms < session.since_ms:
            said.add(clean(record.text).strip())
    if not said:
        return []
    events = [
        event
        for event in store.events(project_id=session.project_id, limit=MAX_COMPARED)
        if event.kind in ("user", "assistant") and event.text.strip() in said
    ]
    drawn = store.memories(source_ids=[event.id for event in events], category="core", limit=MAX_COMPARED)
    turns = {turn_memory_id(event.session_id, event.prompt_id) for event in events}
    return sorted(turns | {memory.id for memory in drawn})
