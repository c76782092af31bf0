"""An independent audit of capture: the host's transcripts, counted against the store.

Counters of our own could share our errors. The host records every turn whether or not a hook ran, so a turn that is in
the transcript and neither in the store nor in the spool is lost, even if every other check passes.
"""

import os
from collections.abc import Iterable

from memlayer.edge.capture import spool
from memlayer.edge.counting import counted
from memlayer.edge.home import off_sessions
from memlayer.edge.home.session_ids import short_session
from memlayer.ports import Store
from memlayer.records.sessions import Session
from memlayer.records.tombstones import Tombstones
from memlayer.transcripts import catch_up
from memlayer.wire.upkeep import Witnessed

MAX_SESSIONS = 20
MAX_TRANSCRIPT_BYTES = 50_000_000  # a longer one is left out: a user waits for the result
SETTLING_MS = 60_000  # the host's file lags, and a turn may still go on


def audit_sessions(
    home: str, sessions: Iterable[Session], store: Store, tombstones: Tombstones, now_ms: int
) -> Witnessed:
    """Witnessed the newest MAX_SESSIONS by whole transcripts: too slow for hooks."""
    in_spool = {os.path.basename(path).partition("-")[2].partition(".")[0] for path in spool.waiting(home)}
    off_ms = off_sessions.since(home)
    audit = Witnessed()
    most_lost = 0
    for session in list(sessions)[:MAX_SESSIONS]:
        path = session.locate()
        if not (path and os.path.isfile(path) and os.path.getsize(path) <= MAX_TRANSCRIPT_BYTES):
            # The host writes the first lines of a session late: of one that has just begun they are no loss.
            is_settled = session.said_ms and (session.ended or now_ms - session.said_ms > SETTLING_MS)
            is_unfound = bool(path and is_settled and not session.read_bytes and not os.path.exists(path))
            audit.left_out += 1
            audit.unfound += [session.id] if is_unfound else []
            continue
        events = store.events(session_id=session.id, limit=100_000)
        kept = [event for event in events if event.kind in ("user", "assistant")]
        by_hook = [event for event in kept if event.source != "transcript"]
        # An answer that was read in mid-turn and went on is several events, but one answer.
        by_transcript = len(
            {(event.prompt_id, event.kind) for event in kept} - {(event.prompt_id, event.kind) for event in by_hook}
        )
        lacking, _ = catch_up.missed(session.changed(caught_up_bytes=0), store, until_ms=off_ms.get(session.id, 0))
        # The record may hold an answer twice, whole and in parts. Event ids tell them apart.
        settled = [event for event in lacking if now_ms - int(event["at_ms"]) > SETTLING_MS]
        waiting = sum(event["id"] in in_spool for event in settled)
        project = {"project_id": session.project_id}
        forgotten = len(settled) - len(tombstones.not_forgotten(event | project for event in settled))
        lost = len(settled) - waiting - forgotten
        audit.sessions += 1
        audit.by_hook += len(by_hook)
        audit.by_transcript += by_transcript
        audit.waiting += waiting
        audit.forgotten += forgotten
        audit.lost += lost
        audit.worst_session = session.id if lost > most_lost else audit.worst_session
        most_lost = max(most_lost, lost)
    return audit


def finding(seen: Witnessed, *, is_capturing: bool = True) -> tuple[str, str, str]:
    """Return ("ok" | "warn" | "fail", finding, advice). is_capturing: the setting capture.enabled."""
    total = seen.by_hook + seen.by_transcript + seen.waiting + seen.lost
    summary = (
        f"{seen.by_hook} of {total} prompts and answers of "
        f"the newest {counted(seen.sessions, 'session')} came by hooks, "
        f"{counted(seen.by_transcript, '', 'were')} found in transcripts afterwards"
    )
    if seen.lost and not is_capturing:
        return (
            "warn",
            f"{summary}; {counted(seen.lost, '', 'were')} not kept: capture.enabled is false",
            "set capture.enabled to true",
        )
    if seen.lost:
        return (
            "fail",
            f"{summary}; {counted(seen.lost, '', 'stand')} in transcripts and nowhere else, "
            f"{'most ' if seen.lost > 1 else ''}in session {short_session(seen.worst_session)}",
            "hooks did not run, or failed: see logs/hook.log. `memlayer doctor flush` reads open and just-ended "
            "sessions again; `memlayer doctor repair` reads all",
        )
    if seen.unfound:
        named = ", ".join(short_session(session) for session in seen.unfound)
        return (
            "warn",
            f"{summary}; no transcript was found of {named}: what their hooks missed is not known",
            "where the host keeps them elsewhere: `memlayer import PATH`; it may also have been told to keep none",
        )
    if seen.by_transcript + seen.lost > 0.2 * total and seen.by_transcript >= 5:
        return (
            "warn",
            summary,
            "hooks often do not run: is the plugin enabled in every session, and python3 on the PATH?",
        )
    return "ok", summary, ""
