"""An independent audit of capture: the host's transcripts, counted against the store.

Counters of our own could share our errors. The host records every turn whether or not a hook ran, so a turn that is in
the transcript and neither in the store nor in the spool is lost, even if every other check passes.
"""

from __future__ import annotations

import os
from collections.abc import Container, Iterable
from dataclasses import dataclass, replace

from memlayer.edge.capture import spool
from memlayer.edge.ipc.ops import short_session
from memlayer.ports import Store
from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up

MAX_SESSIONS = 20
MAX_TRANSCRIPT_BYTES = 50_000_000  # a longer one is left out: a user waits for the result
SETTLING_MS = 60_000  # the host's file lags, and a turn may still go on


@dataclass(frozen=True)
class Audit:
    """Counts of prompts and answers in the audited sessions.

    by_hook: captured as they happened. by_transcript: missed by the hook and found later. waiting: in the spool.
    forgotten: on request. lost: in the transcript alone. left_out: sessions without a readable transcript, or with a
    very long one. unfound: those of them whose transcript was never found, though the host named one.
    """

    sessions: int = 0
    by_hook: int = 0
    by_transcript: int = 0
    waiting: int = 0
    forgotten: int = 0
    lost: int = 0
    left_out: int = 0
    worst_session: str = ""
    unfound: tuple[str, ...] = ()

    @property
    def missed_share(self) -> float:
        """Return the share of events that hooks missed, in [0, 1]."""
        total = self.by_hook + self.by_transcript + self.waiting + self.lost
        return (self.by_transcript + self.lost) / total if total else 0.0


def audit_sessions(
    home: str, sessions: Iterable[Session], store: Store, tombstones: Container[str], now_ms: int
) -> Audit:
    """Audit the newest MAX_SESSIONS by whole transcripts: too slow for hooks."""
    in_spool = {os.path.basename(path).partition("-")[2].partition(".")[0] for path in spool.waiting(home)}
    audit = Audit()
    most_lost = 0
    for session in list(sessions)[:MAX_SESSIONS]:
        path = session.locate()
        if not (path and os.path.isfile(path) and os.path.getsize(path) <= MAX_TRANSCRIPT_BYTES):
            is_unfound = bool(path and session.said_ms and not session.read_bytes and not os.path.exists(path))
            unfound = (*audit.unfound, session.id) if is_unfound else audit.unfound
            audit = replace(audit, left_out=audit.left_out + 1, unfound=unfound)
            continue
        events = store.events(session_id=session.id, limit=100_000)
        kept = [event for event in events if event.kind in ("user", "assistant")]
        by_hook = [event for event in kept if event.source != "transcript"]
        # An answer that was read in mid-turn and went on is several events, but one answer.
        by_transcript = len(
            {(event.prompt_id, event.kind) for event in kept} - {(event.prompt_id, event.kind) for event in by_hook}
        )
        lacking, _ = catch_up.missed(replace(session, caught_up_bytes=0), store)
        # The record may hold an answer twice, whole and in parts; event ids tell them apart.
        settled = [str(event["id"]) for event in lacking if now_ms - int(event["at_ms"]) > SETTLING_MS]
        waiting = sum(event_id in in_spool for event_id in settled)
        forgotten = sum(event_id in tombstones for event_id in settled)
        lost = len(settled) - waiting - forgotten
        audit = replace(
            audit,
            sessions=audit.sessions + 1,
            by_hook=audit.by_hook + len(by_hook),
            by_transcript=audit.by_transcript + by_transcript,
            waiting=audit.waiting + waiting,
            forgotten=audit.forgotten + forgotten,
            lost=audit.lost + lost,
            worst_session=session.id if lost > most_lost else audit.worst_session,
        )
        most_lost = max(most_lost, lost)
    return audit


def finding(seen: Audit, *, is_capturing: bool = True) -> tuple[str, str, str]:
    """Return ("ok" | "warn" | "fail", finding, advice). is_capturing: the setting capture.enabled."""
    summary = (
        f"{seen.by_hook} of {seen.by_hook + seen.by_transcript + seen.waiting + seen.lost} prompts and answers of "
        f"{seen.sessions} sessions came by hooks, {seen.by_transcript} were found in transcripts afterwards"
    )
    if seen.lost and not is_capturing:
        return "warn", f"{summary}; {seen.lost} were not kept: capture.enabled is false", "set capture.enabled to true"
    if seen.lost:
        return (
            "fail",
            f"{summary}; {seen.lost} stand in a transcript and nowhere else, most in session "
            + short_session(seen.worst_session),
            "hooks did not run, or failed: see logs/hook.log; `memlayer flush --wait` reads open and just-ended "
            "sessions again, `memlayer repair` all, and what was said in them while memlayer was off",
        )
    if seen.unfound:
        named = ", ".join(short_session(session) for session in seen.unfound)
        return (
            "warn",
            f"{summary}; no transcript was found of {named}: what their hooks missed is not known",
            "where the host keeps them elsewhere: `memlayer import PATH`; it may also have been told to keep none",
        )
    if seen.missed_share > 0.2 and seen.by_transcript >= 5:
        return (
            "warn",
            summary,
            "hooks often do not run: is the plugin enabled in every session, and python3 on the PATH?",
        )
    return "ok", summary, ""
