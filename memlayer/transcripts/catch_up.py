"""Events of a transcript that its hooks missed."""

import os
from collections.abc import Iterable, Sequence
from typing import Any

from memlayer.edge.capture import hosts
from memlayer.edge.capture.answers import asked, given
from memlayer.edge.capture.payload import DIALOG, clean, prompt_detail, spool_event
from memlayer.edge.capture.spool import event_id
from memlayer.edge.home.project import enabled, here
from memlayer.edge.redaction.session_values import Heard, hide
from memlayer.kinds import Category
from memlayer.model import Event, turn_memory_id
from memlayer.ports import MemoryQuery, Store, events_by_id
from memlayer.records.sessions import Session
from memlayer.transcripts.discovery import Transcript
from memlayer.transcripts.lines import Tally
from memlayer.transcripts.reader import TranscriptRecord
from memlayer.transcripts.sources import SOURCES

TRANSCRIPT = "transcript"  # Event.source
CLOCK_PUT_BACK_MS = 60_000  # records of one turn may be out of order by less
LONG_TURN_MS = 600_000  # an uncaptured answer may be so much younger than the last captured event
SAME_TIME_MS = 60_000  # between a record's stamp and the call of its hook
MAX_COMPARED = 20_000  # events of a project to compare a fork's copies with


def captured(
    record: TranscriptRecord, *, session_id: str, project_dir: str, path: str, source: str, prompt_id: str = ""
) -> dict[str, Any] | None:
    """Return a record's captured event (payload.SPOOL_FIELDS), None if empty.

    record: a prompt, an answer, or a call of another agent. prompt_id: instead of the record's own.
    """
    # An answer names its command: the command itself is no record, and its hook may have missed it.
    prompt = record.text if record.kind == "user" else record.command
    is_call = record.kind == "tool"
    with Heard(session_id) as heard:  # its prompts are read before its answers
        said = given(record.text, heard) if record.kind == "user" else record.text
        text = hide(said) if is_call else clean(said)  # a call is redacted as it is put into words
        heard.question = asked(text) if record.kind == "assistant" else heard.question
    if not text.strip():
        return None
    prompt_id = prompt_id or record.prompt_id
    return spool_event(
        kind=record.kind, session_id=session_id, prompt_id=prompt_id, text=text, at_ms=record.at_ms,
        detail=record.command if is_call else DIALOG if record.call_id
        else prompt_detail(prompt, is_run=record.is_run) if prompt else "",
        extra=record.call_id or (text if record.is_further or not prompt_id else ""), project_dir=project_dir,
        transcript_path=path, source=source, uuid=record.uuid,
    )  # fmt: skip


def id_without_prompt_id(event: dict[str, Any]) -> str:
    """Return the event's id from a host without prompt ids (before 2.1.196)."""
    return event_id(event["session_id"], "", event["kind"], event["text"])


def missed(session: Session, store: Store, *, until_ms: int = 0) -> tuple[list[dict[str, Any]], int]:
    """Return (captured events that the store lacks, offset reached).

    until_ms: later records are left unread; 0: none. Only records of this session's own life count: a fork begins with
    a copy of its parent's records (same uuid and time, another session id, and in newer hosts another prompt id), and
    records from before memlayer knew the session are for an import to fetch.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return [], session.caught_up_bytes
    start = session.caught_up_bytes if session.caught_up_bytes <= os.path.getsize(path) else 0
    records: list[TranscriptRecord] = []
    offset = start
    for record in _records(session, start):
        if until_ms and record.at_ms > until_ms:
            continue
        offset = record.resume_offset  # of the last turn: it may go on, so it is read again next time
        if record.kind in ("user", "assistant", "tool") and record.at_ms >= session.since_ms:
            records.append(record)
    by_id = {}
    for record in records:
        folder = here(session.project_dir) or here(record.cwd)
        if (not folder and (session.project_dir or record.cwd)) or (folder and not enabled(folder)):
            continue  # of another machine, or switched off
        event = captured(record, session_id=session.id, project_dir=folder, path=path, source=TRANSCRIPT)
        if event is not None:
            by_id[str(event["id"])] = event
    also = {made: id_without_prompt_id(event) for made, event in by_id.items()}
    known = events_by_id(store, (*also, *also.values()))
    by_id = {made: event for made, event in by_id.items() if also[made] not in known}
    fresh = [event for made, event in by_id.items() if made not in known]
    if _is_stamped_ahead(records, session):
        fresh = _own(fresh, session, store)
    return fresh + _grown([(by_id[made], known[made]) for made in by_id if made in known], store), offset


def _records(session: Session, start: int) -> Iterable[TranscriptRecord]:
    """Yield the turns of a session's transcript, by its host's reader."""
    agent = hosts.named(session.host).reader
    if not agent:
        return ()
    file = Transcript(
        session.transcript_path, 0, 0, session_id=session.id, cwd=session.project_dir, is_run=session.is_run
    )
    return SOURCES[agent].read(file, start, Tally()).records


def _is_stamped_ahead(records: list[TranscriptRecord], session: Session) -> bool:
    """True for a record younger than its successor or session.

    The clock was put back, and copies may seem to be records since the session began.
    """
    ends_ms = (session.last_ms or records[-1].at_ms) + LONG_TURN_MS if records else 0
    return any(
        record.at_ms > min(ends_ms, later.at_ms + CLOCK_PUT_BACK_MS)
        for record, later in zip(records, records[1:] + records[-1:], strict=True)
    )


def _own(events: Sequence[dict[str, Any]], session: Session, store: Store) -> list[dict[str, Any]]:
    """Return events no other session has, by record or words and time."""
    if not events:
        return []
    others = said_elsewhere(store, session.project_id, session.id)
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


def said_elsewhere(store: Store, project_id: str, session_id: str = "") -> list[Event]:
    """Return a project's last prompts and answers, of other sessions."""
    events = store.events(project_id=project_id, limit=MAX_COMPARED)
    return [event for event in events if event.kind in ("user", "assistant") and event.session_id != session_id]


def _words(text: str) -> str:
    return " ".join(text.split())


def _grown(pairs: Iterable[tuple[dict[str, Any], Event]], store: Store) -> list[dict[str, Any]]:
    """Return answers that went on after a mid-turn reading, as events.

    pairs: (captured event, the stored event of its id). Events are never changed, so each becomes an event of its own.
    A grown answer ends with another record of the transcript. A different text alone may be due to better redaction. A
    hook's event holds all of a turn's answer.
    """
    later = {
        (str(event["session_id"]), str(event["prompt_id"])): event
        for event, first in pairs
        # An answer without text is to a command of ours, and stays empty.
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
    """Return ids of memories in the context by resume or fork.

    These are the turns copied from another session, and the memories drawn from them. Copies in the transcript are
    recognized by their text: their session ids, and in newer hosts their prompt ids too, have been rewritten.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return []
    texts: set[str] = set()
    with Heard(session.id):
        for record in _records(session, 0):
            if record.kind == "compact":
                texts.clear()
            elif record.at_ms < session.since_ms:
                texts.add(clean(record.text).strip())
    if not texts:
        return []
    events = [event for event in said_elsewhere(store, session.project_id) if event.text.strip() in texts]
    drawn = store.memories(
        MemoryQuery(source_ids=[event.id for event in events], category=Category.CORE, limit=MAX_COMPARED)
    )
    turns = {turn_memory_id(event.session_id, event.prompt_id) for event in events}
    return sorted(turns | {memory.id for memory in drawn})
