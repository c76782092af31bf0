"""The record of each session: project, transcript, context."""

import os
import threading
from collections.abc import Mapping
from typing import Any

from memlayer.edge.capture.payload import COMMAND, RUN
from memlayer.edge.home import off_sessions, paths
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.records import small_files
from memlayer.wire.sessions import SessionFacts

CLOCK_PUT_BACK_MS = 60_000  # no hook is served as late as that
BEGINNINGS = ("startup", "clear", "fork")  # of a session. What it resumes may be a person's
SAME_COMPACTION_MS = 60_000  # between the two hooks that tell of one compaction: the host runs them one after the other


class Session(SessionFacts):
    """One run of the host, as far as memlayer must remember it.

    since_ms: when we first heard of it. Older transcript records are copies (a fork) or history. context_since_ms:
    start of the model's present context (a compaction moves it). shown: marks of the notes injected since then
    (service.shown). start_chars: of the block that its start was given. explained_ms: when a block since then said how
    its notes are meant. inherited: ids of memories of another session that are in its context (resume, fork).
    caught_up_bytes: the offset up to which its transcript has been read. read_bytes: how long it was then.
    branch_bytes: the offset up to which branches were looked for. left: the prompts that its conversation left.
    ended_ms: when it ended. model: as the host named it at its start, "" where it does not. total_tokens: in its
    context when it was last measured.

    compaction_count: how often it was compacted. compact_start_ms, compact_post_ms: when SessionStart and PostCompact
    last told of one; compact_awaits: which of the two has not told of the last one; pre_compact_ms: when PreCompact
    last announced one. memory_flush_at: Unix ms of the last flush, flush_count: how many there were.
    memory_flush_compaction_count: the compaction_count it was made at. memory_asked_compaction_count: the one at which
    the model was asked to store memories (-1: never). asked_prompt_id: the turn it was asked in. said_ms: when
    something was last said or done in it. summarized_ms: said_ms when its summary was made, or found not to be worth
    it. outcomes_ms: the same of its outcomes (give/outcomes.py). prompted_ms, answered_ms: when the last prompt and
    the last answer were heard of. measured_ms: the answered_ms for which its context was measured, or is about to be.
    noted_ms: said_ms when a language model had read it, or there was nothing to read. team_told_ms: when its start told
    of a team's notes in a clone. questions_told_ms: when it told of questions about tasks. is_run: nobody typed its
    prompts so far. run_by: its beginner, as the host names it.
    """

    shown: list[str] = []
    inherited: list[str] = []
    left: list[str] = []

    @property
    def has_late_lines(self) -> bool:
        """True if an ended session's transcript grew: the host writes late."""
        return bool(self.ended and self.ended_ms) and self.has_unread_lines

    @property
    def has_unread_lines(self) -> bool:
        """True if the transcript has changed since it was read."""
        try:
            return os.stat(self.locate()).st_size != self.read_bytes
        except OSError:
            return False

    def locate(self) -> str:
        """Return the transcript's path, corrected where the host named no file."""
        self.transcript_path = paths.transcript_of(self.id, self.transcript_path)
        return self.transcript_path

    @property
    def is_flushed(self) -> bool:
        """True once memories have been flushed since the last compaction."""
        return self.memory_flush_compaction_count == self.compaction_count


def _compacted(session: Session, kind: str, detail: str, at_ms: int) -> None:
    """Count a compaction once, whichever of its two hooks comes first.

    The hooks: SessionStart (compact) and PostCompact. PreCompact only announces: the host may bail out after it. An
    event older than the record changes nothing.
    """
    if kind == "pre_compact":
        session.pre_compact_ms = max(session.pre_compact_ms, at_ms)
        return
    is_start = kind == "session_start" and detail == "compact"
    if not is_start and kind != "post_compact":
        return
    told_ms = session.compact_start_ms if is_start else session.compact_post_ms
    if at_ms <= told_ms:
        return
    if is_start:
        own, other, other_ms = "start", "post", session.compact_post_ms
        session.compact_start_ms = at_ms
    else:
        own, other, other_ms = "post", "start", session.compact_start_ms
        session.compact_post_ms = at_ms
    first, last = sorted((other_ms, at_ms))
    is_announced_anew = first < session.pre_compact_ms <= last
    if session.compact_awaits == own and last - first < SAME_COMPACTION_MS and not is_announced_anew:
        session.compact_awaits = ""
        return
    if at_ms <= session.context_since_ms:
        return
    session.compact_awaits = other
    session.context_since_ms = at_ms
    session.compaction_count += 1
    session.total_tokens = 0
    session.shown, session.inherited, session.explained_ms, session.start_chars = [], [], 0, 0


def _hear_run(session: Session, event: Mapping[str, Any]) -> None:
    """Note whether anybody types a session, after an event of it."""
    kind, detail = event["kind"], event["detail"]
    if kind == "session_start":
        session.is_run = bool(event["text"] and (session.is_run or detail in BEGINNINGS))
        session.run_by = event["text"] if session.is_run else ""
    elif kind == "user" and detail in ("", COMMAND, RUN):
        session.is_run = detail == RUN and (session.is_run or not session.prompted_ms)


def _lasting(session: Session) -> Session:
    """The fields whose change is worth a write: no times."""
    return session.changed(last_ms=0, said_ms=0, prompted_ms=0, answered_ms=0)


class Sessions:
    """The session records of one home, one file each. Thread-safe."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._files = small_files.Folder(paths.sessions(home), Session)
        self._known: dict[str, Session] = {}
        self._changed: set[str] = set()
        self._all_read = False
        self._lock = threading.Lock()

    def get(self, session_id: str) -> Session | None:
        """The record of a session, or None."""
        with self._lock:
            return self._get(session_id)

    def off_ms(self, session_id: str) -> int:
        """Return when memlayer was switched off in a session, 0 for never."""
        return off_sessions.since(self._home).get(session_id, 0)

    def host_of(self, session_id: str) -> str:
        """The name of a session's host (edge.capture.hosts), "" for Claude Code."""
        session = self.get(session_id) if session_id else None
        return session.host if session is not None else ""

    def named(self, start: str) -> list[Session]:
        """Return the session of an id, else those that begin so."""
        session = self.get(start)
        if session is not None:
            return [session]
        known = self.all()
        matches = [session for session in known if session.id.startswith(start)]
        return matches or [session for session in known if session.id.removeprefix(AGENT_SESSION).startswith(start)]

    def heard(self, event: Mapping[str, Any], project_id: str, *, is_live: bool = False) -> Session:
        """Return the session of a captured event, made if new.

        The event: payload.SPOOL_FIELDS. The same event may come twice, from its hook and from the spool, and late: only
        an event newer than the record changes it. is_live: it happens now. A live event that is much older shows a
        clock that was put back. Costs no disk write: see save_changed().
        """
        session_id, at_ms, kind = event["session_id"], event["at_ms"], event["kind"]
        with self._lock:
            session = self._get(session_id)
            if session is None:
                session = Session(id=session_id, since_ms=at_ms, context_since_ms=at_ms)
                self._known[session_id] = session
                self._changed.add(session_id)
            before, was_summed_up = _lasting(session), session.said_ms <= session.summarized_ms
            session.project_id = project_id or session.project_id
            session.project_dir = event["project_dir"] or session.project_dir
            session.transcript_path = event["transcript_path"] or session.transcript_path
            session.host = event.get("host") or session.host
            session.since_ms = min(session.since_ms, at_ms)
            if not session.compaction_count:
                session.context_since_ms = session.since_ms
            _compacted(session, kind, event["detail"], at_ms)
            _hear_run(session, event)
            if kind in ("user", "assistant", "tool"):
                session.said_ms = max(session.said_ms, at_ms)
            if kind == "user":
                session.prompted_ms = max(session.prompted_ms, at_ms)
            elif kind == "assistant":
                session.answered_ms = max(session.answered_ms, at_ms)
            if at_ms >= session.last_ms or (is_live and session.last_ms - at_ms > CLOCK_PUT_BACK_MS):
                if kind == "session_end":
                    session.ended, session.ended_ms = event["detail"] or "other", at_ms
                elif kind in ("user", "assistant") and event["source"] == "hook":
                    # A session start is no sign of life: host 2.1.197 sends a fork's under its parent's id. Nor is
                    # a transcript: its last lines may be read long after the end.
                    session.ended = ""
                session.last_ms = max(session.last_ms, at_ms)
            is_open_again = was_summed_up and session.said_ms > session.summarized_ms
            if is_open_again or before != _lasting(session):
                self._changed.add(session_id)
            return session

    def restore(self, session: Session) -> None:
        """Take in the record of a session that is not known here."""
        with self._lock:
            if self._get(session.id) is None:
                self._known[session.id] = session
                self._changed.add(session.id)

    def changed(self, session: Session) -> None:
        """Mark a record for save_changed()."""
        with self._lock:
            self._changed.add(session.id)

    def save_changed(self) -> None:
        """Write the records that changed. Raises OSError; the rest stays marked."""
        with self._lock:
            while self._changed:
                session_id = next(iter(self._changed))
                self._files.put(session_id, self._known[session_id])
                self._changed.discard(session_id)

    def open_in(self, project_id: str) -> list[Session]:
        """The project's sessions without a known end: newest first, at most 20."""
        return [session for session in self.all() if session.project_id == project_id and not session.ended][:20]

    def ended_in(self, project_id: str, since_ms: int) -> list[Session]:
        """Return the project's sessions that ended since then."""
        return [row for row in self.all() if row.project_id == project_id and row.ended and row.ended_ms >= since_ms]

    def unread_in(self, project_id: str) -> list[Session]:
        """Open sessions, and the 20 newest, with lines that were not read."""
        newest = [session for session in self.all() if session.project_id == project_id][:20]
        is_open = [session for session in self.open_in(project_id) if session.has_unread_lines]
        return is_open + [session for session in newest if session.has_late_lines]

    def all(self) -> list[Session]:
        """Every readable record, newest first; the first call reads files."""
        with self._lock:
            if not self._all_read:
                for session in self._files.all():
                    if session.id:
                        self._known.setdefault(session.id, session)
                self._all_read = True
            return sorted(self._known.values(), key=lambda session: -session.last_ms)

    def forget(self, session_id: str) -> None:
        """Remove a record."""
        with self._lock:
            self._known.pop(session_id, None)
            self._changed.discard(session_id)
            self._files.drop(session_id)

    def _get(self, session_id: str) -> Session | None:
        if session_id not in self._known:
            session = self._files.get(session_id)
            if session is None or session.id != session_id:
                return None
            self._known[session_id] = session
        return self._known[session_id]
