"""A record of the host's transcript as the event that a hook would have captured: same text, same id."""

from __future__ import annotations

from typing import Any

from memlayer.edge.capture.payload import clean, prompt_detail, spool_event
from memlayer.edge.home.ids import event_id
from memlayer.transcripts.transcript import TranscriptRecord


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
