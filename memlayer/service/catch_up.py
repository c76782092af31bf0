"""Takes from the host's transcript what the hooks missed: a turn cut off by Esc, a crash or a kill."""

from __future__ import annotations

import logging
import os
from typing import Any

from memlayer.core import transcript
from memlayer.core.model import turn_memory_id
from memlayer.core.payload import clean, prompt_detail, spool_event
from memlayer.ports import Store
from memlayer.service.sessions import Session

log = logging.getLogger(__name__)
MAX_COMPARED = 20_000  # events of a project that a fork's copies are compared with


def missed(session: Session, store: Store) -> tuple[list[dict[str, Any]], int]:
    """(captured events that the store lacks, the offset up to which the transcript was read).

    Only records of this session's own life count: a fork begins with a copy of its parent's records (same uuid and
    time, another session id, and in newer hosts another prompt id), and what happened before memlayer knew the session
    is for an import to fetch.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return [], session.caught_up_bytes
    start = session.caught_up_bytes if session.caught_up_bytes <= os.path.getsize(path) else 0
    records, offset = [], start
    for record in transcript.read_turns(path, start_offset=start):
        offset = record.resume_offset  # of the last turn: it may go on, so it is read again next time
        if record.kind in ("user", "assistant") and record.at_ms >= session.since_ms:
            records.append(record)
    found = {}
    for record in records:
        # An answer tells which command it answers: the command itself is no record, and its hook may have missed it.
        asked = record.text if record.kind == "user" else record.command
        detail = prompt_detail(asked) if asked else ""
        text = clean(record.text)
        if not text.strip():
            continue
        event = spool_event(
            kind=record.kind, session_id=session.id, prompt_id=record.prompt_id, text=text, at_ms=record.at_ms,
            detail=detail, extra="" if record.prompt_id else text, project_dir=session.project_dir or record.cwd,
            transcript_path=path, source="transcript", uuid=record.uuid,
        )  # fmt: skip
        found[str(event["id"])] = event
    known = {event.id for event in store.events(ids=sorted(found), limit=100_000)} if found else set()
    return [event for made, event in found.items() if made not in known], offset


def inherited(session: Session, store: Store) -> list[str]:
    """Ids of the memories whose turns a resumed or forked session has in its context from another session.

    The copies in its transcript are known by what was said: their session ids, and in newer hosts their prompt ids too,
    have been rewritten.
    """
    path = session.transcript_path
    if not path or not os.path.isfile(path):
        return []
    said: set[str] = set()
    for record in transcript.read_turns(path):
        if record.kind == "compact":
            said.clear()
        elif record.at_ms < session.since_ms:
            said.add(clean(record.text).strip())
    if not said:
        return []
    events = store.events(project_id=session.project_id, limit=MAX_COMPARED)
    return sorted(
        {
            turn_memory_id(event.session_id, event.prompt_id)
            for event in events
            if event.kind in ("user", "assistant") and event.text.strip() in said
        }
    )
