"""Reading of sessions by a language model, beside the writer.

A thread of its own asks the model, the writer keeps what holds. No hook and no prompt waits for either.
"""

import contextlib
import logging
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from memlayer.config import load_project_settings, plugin_option
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived
from memlayer.edge.home import paths
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.keep.keep import Change
from memlayer.kinds import Author
from memlayer.model import Memory
from memlayer.notes.reader import Part, SessionReader
from memlayer.records.sessions import Session
from memlayer.wire.notes import ReadingState

log = logging.getLogger(__name__)
IMPORTED = "imported"  # how such a session ended


def reader_of(state: State) -> SessionReader | None:
    """Return the reader, if turned on and the store is open.

    A yes of the plugin's own setting counts only as long as it stands there.
    """
    if not state.is_open or (reader := state.services.result().reader) is None:
        return None
    is_option = state.settings.origin("consolidation.provider") == plugin_option.settings_file(state.home)
    return reader if not is_option or plugin_option.notes_answer(state.home) else None


def look(state: State) -> None:
    """Have sessions read that are due."""
    reader = reader_of(state)
    if reader is not None and not reader.is_paused and due(state, reader):
        submit(state)


def due(state: State, reader: SessionReader) -> list[Session]:
    """Return the sessions to read of projects that allow it, oldest first."""
    return [session for session in reader.due(state.sessions.all()) if is_allowed(session)]


def is_allowed(session: Session) -> bool:
    """Return whether a session's project lets a model read it.

    Its .memlayer.yaml may say no by `notes.enabled` or `enabled`.
    """
    if not session.project_dir:
        return True
    said = load_project_settings(session.project_dir)
    return said.enabled and said.asks.get("notes.enabled", True)


def is_by_session(state: State, session: Session) -> bool:
    """Return whether a session's own model may write notes on it."""
    chosen = state.settings
    is_on = chosen.consolidation.by_session and chosen.notes.enabled
    return is_on and not session.id.startswith(AGENT_SESSION) and is_allowed(session)


def begin_so_far(state: State, session: Session) -> None:
    """Have a session read up to now, before its compaction."""
    reader = reader_of(state)
    if reader is not None:
        reader.read_so_far(session.id)
        submit(state)


def begin_turns(state: State, change: Change) -> None:
    """Have stored turns read, if each turn is to be read."""
    reader = reader_of(state)
    if reader is None or not reader.each_turn:
        return
    recent = [turn for turn in change.turns if turn.at_ms >= reader.oldest_ms]
    if recent:
        for session in imported(state, recent):
            state.sessions.restore(session)
        reader.read_so_far(*(turn.session_id for turn in recent))
        submit(state)


def begin_unread(state: State) -> None:
    """Have each turn read that the last daemon left unread."""
    reader = reader_of(state)
    if reader is not None and reader.each_turn:
        sessions = state.sessions.all()
        reader.read_so_far(*(row.id for row in sessions if row.said_ms > max(row.noted_ms, reader.oldest_ms)))
        submit(state)


def imported(state: State, turns: Iterable[Memory]) -> list[Session]:
    """Return the sessions of turns that have no record: they were imported."""
    rows: dict[str, Session] = {}
    for turn in turns:
        if not turn.session_id or state.sessions.get(turn.session_id) is not None:
            continue
        at_ms, root = turn.at_ms, state.projects.root(turn.project_id)
        session = rows.setdefault(
            turn.session_id,
            Session(turn.session_id, turn.project_id, root, since_ms=at_ms, ended=IMPORTED, ended_ms=at_ms),
        )
        session.is_run = turn.by is Author.RUN and (session.is_run or not session.said_ms)
        session.since_ms = min(session.since_ms, at_ms)
        session.said_ms = session.last_ms = session.summarized_ms = max(session.said_ms, at_ms)
    return list(rows.values())


def submit(state: State) -> None:
    """Have due sessions read, one after the other."""
    state.reader.submit("read sessions", lambda: _read_due(state))


def _read_due(state: State) -> None:
    reader = reader_of(state)
    go_second()
    while reader is not None and not reader.is_paused and not state.life.leaving.is_set():
        sessions = due(state, reader)
        if not sessions or not _read(state, reader, sessions[0]):
            return


@contextmanager
def _shown(state: State) -> Iterator[None]:
    """Tell the status line, which reads files alone, that a model reads."""
    path = paths.reading_now(state.home)
    with contextlib.suppress(OSError):
        paths.write_whole(path, b"%d" % os.getpid())
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _read(state: State, reader: SessionReader, session: Session) -> bool:
    """Read a session's next part; False where the model cannot be asked."""
    said_ms = session.said_ms
    part = reader.next_part(session)
    if part is None:
        state.jobs.submit("note reading " + session.id, lambda: _finish(state, reader, session, said_ms)).result()
        return True
    with _shown(state):
        is_answered = reader.ask(part)
    if not is_answered:
        return False
    kept: bool = state.jobs.submit("keep notes " + session.id, lambda: _keep(state, reader, part)).result()
    return kept


def _keep(state: State, reader: SessionReader, part: Part) -> bool:
    """Write an answer's notes and publish them; the writer's job."""
    kept = reader.apply(part)
    if kept is None:
        return not reader.is_paused
    if part.is_last:
        _finish(state, reader, part.session, part.said_ms)
    derived.publish(state)
    log.info("read a session: %d notes, %d tasks, %d refused", len(kept.notes), len(kept.tasks), len(kept.refused))
    return True


def _finish(state: State, reader: SessionReader, session: Session, said_ms: int) -> None:
    reader.finished(session, said_ms)
    state.sessions.changed(session)
    state.sessions.save_changed()


def status(state: State) -> ReadingState:
    """Return counts and states for people."""
    reader = reader_of(state)
    rows = state.services.result().readings.all() if state.is_open else []
    return ReadingState(
        is_on=reader is not None,
        reading=reader.reading if reader is not None else "",
        waiting=len(due(state, reader)) if reader is not None else 0,
        read=sum(bool(row.read_ms) for row in rows),
        bare=sum(
            bool(row.noted_ms) for row in state.sessions.all() if row.id not in {read.session_id for read in rows}
        ),
        gave_up=sum(row.gave_up for row in rows),
        notes=sum(row.notes for row in rows),
        refused_notes=sum(row.refused_notes for row in rows),
        retired_notes=sum(row.retired_notes for row in rows),
        calls=sum(row.calls for row in rows),
        tokens=sum(row.tokens for row in rows),
        why=reader.waits_why if reader is not None else "",
    )
