"""Intake of events, consolidation of their turns, and summaries of sessions.

Events come from the spool and from transcripts. Rules consolidate in the writer, a few turns at a time.
"""

import logging
import os
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from memlayer.daemon.resources import memory
from memlayer.daemon.resources.jobs import go_second
from memlayer.daemon.resources.state import Progress, State, no_report
from memlayer.daemon.tasks import derived, lessons
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.model import Event, unix_ms
from memlayer.records.sessions import Session
from memlayer.topics import session_summary
from memlayer.transcripts import branches, catch_up

log = logging.getLogger(__name__)
UPKEEP_EVERY = 8  # drains, or batches of turns. The store itself knows whether there is enough to do
# A session that starts may wait for the writer; but each batch costs some writes of LanceDB, however small it is.
TURNS_AT_ONCE = 20
PUBLISH_EVERY_S = 10.0
TURNS_AT_AN_END = 100  # consolidated when a session ends, before its summary is made
LATE_MS = 10_000  # after its end a session's last lines may be stamped. The host takes half a second
MANY = 100  # events taken in at once from which tidying up the memory pays


def drain(state: State, progress: Progress = no_report) -> int:
    """Take in the spool's events; return how many. Their turns are consolidated."""
    with state.waiting.batch() as left_out:
        taken = _take_waiting(state, left_out, progress)
    _follow_answered(state)
    if taken:
        begin_consolidation(state)
    derived.publish_soon(state)
    return taken


def _take_waiting(state: State, left_out: Collection[str], progress: Progress = no_report) -> int:
    """Take in the spool's events; return how many."""
    services = state.services.result()
    go_second()
    spool.sweep(state.home, time.time())  # a forget may have found one too young
    spool.sweep_typed(state.home, time.time())
    taken = services.ingest.drain(lambda done, total: progress("spool", done, total), left_out)
    if taken:
        services.usages.shown()
        submit_summaries(state)  # after a restart the end of a session is known from the spool alone
    state.sessions.save_changed()
    if state.times.is_round("drain", UPKEEP_EVERY):
        services.store.upkeep()  # a session may go on for days: its versions must not pile up until it ends
    if taken >= MANY:
        memory.give_back()
    return taken


def heard(state: State, events: Sequence[Event]) -> None:
    """Take note of new events. The writer's job."""
    state.metrics.redacted(event.text for event in events)
    state.rule_notices.heard(events)
    state.waiting.unfollowed.update(event.session_id for event in events if event.kind == "assistant")


def catch_up_tasks(state: State) -> None:
    """Bring tasks in step with the store, entities in small jobs."""
    tasks = state.services.result().tasks
    tasks.catch_up()
    _index_graph(state, tasks.unindexed())


def _index_graph(state: State, left: Sequence[str]) -> None:
    go_second()
    left = state.services.result().tasks.index_some(left) if left else []
    if left and not state.life.leaving.is_set():
        state.jobs.submit("graph %d" % len(left), lambda: _index_graph(state, left))


def drain_and_publish(state: State) -> None:
    """Take in the spool, consolidate its turns and publish both."""
    with state.waiting.batch() as left_out:
        taken = _take_waiting(state, left_out)
    _follow_answered(state)  # no prompt waits for it
    if taken and reads_later(state):
        begin_consolidation(state)
    elif taken:
        _some(state)
    derived.publish(state)


def catch_up_session(state: State, session: Session, *, is_settling: bool = False) -> int:
    """Take in events that a session's hooks missed.

    They come from its transcript. Returns how many. is_settling: it ends just now. Later, lines after its end are none
    of ours: the person may have gone on with memlayer switched off.
    """
    services = state.services.result()
    until_ms = session.ended_ms + LATE_MS if session.ended and not is_settling else 0
    until_ms = min(filter(None, (until_ms, state.sessions.off_ms(session.id))), default=0)
    try:
        read_bytes = os.stat(session.transcript_path).st_size if session.locate() else 0
        events, offset = catch_up.missed(session, services.store, until_ms=until_ms)
    except FileNotFoundError:  # a session that said nothing has none
        return 0
    except OSError as bad:
        log.warning("transcript not readable: %s", bad.strerror)
        return 0
    if events:
        log.info("caught up %d events of a session", services.ingest.take(events))
        begin_consolidation(state)
    _follow(state, session)
    if (offset, read_bytes) != (session.caught_up_bytes, session.read_bytes):
        session.caught_up_bytes, session.read_bytes = offset, read_bytes
        state.sessions.changed(session)
        state.sessions.save_changed()
    return len(events)


def _follow_answered(state: State) -> None:
    """Look at the sessions that were answered since this was last done."""
    while state.waiting.unfollowed:
        session = state.sessions.get(state.waiting.unfollowed.pop())
        if session is not None:
            _follow(state, session)


def _follow(state: State, session: Session) -> None:
    """Look for turns that a session left or resumed."""
    try:
        left, session.branch_bytes = branches.newly_left(session.locate(), session.branch_bytes)
    except OSError:  # there is none as yet
        return
    if left is not None:
        session.left = sorted(left)
        state.sessions.changed(session)
    # A turn may come to the store behind the record that leaves it.
    ingest = state.services.result().ingest
    if left is not None or (session.left and ingest.leave(session.id, session.left)):
        leave(state, session.id, session.left)


def leave(state: State, session_id: str, left: Collection[str]) -> None:
    """Take just these prompts of a session for left."""
    services = state.services.result()
    services.ingest.leave(session_id, left)
    turns = services.consolidator.follow(session_id)
    services.tasks.leave(session_id, left)
    reading = services.readings.get(session_id)
    gone = {source for turn in turns if turn.prompt_id in left for source in turn.source_ids}
    if reading.summary and not gone.isdisjoint(reading.event_ids):
        reading.summary = ""
        services.readings.put(reading)
    begin_consolidation(state)


def catch_up_and_publish(state: State, session: Session) -> None:
    """Catch up a session for another one that starts; see drain_and_publish."""
    catch_up_session(state, session)
    derived.publish(state)


def take_in(state: State, progress: Progress = no_report) -> int:
    """Take in all events and return how many.

    First the spool, then the transcripts of sessions that have not ended, or have late lines.
    """
    taken = drain(state, progress)  # publishes behind this
    unread = [session for session in state.sessions.all() if not session.ended or session.has_late_lines]
    return taken + sum(catch_up_session(state, session) for session in unread)


def settle_memories(state: State, session: Session) -> None:
    """Take in a session so far, with its transcript, and consolidate it."""
    with state.waiting.batch() as left_out:
        _take_waiting(state, left_out)
        catch_up_session(state, session, is_settling=True)
        consolidate_now(state, most=TURNS_AT_AN_END)
        derived.publish(state)


def settle(state: State, session: Session) -> None:
    """Settle a session at its end: store, summary, files, indexes."""
    settle_memories(state, session)
    _draw_outcomes(state, session)
    _sum_up(state, session)
    if session.project_id:
        derived.renew_levels(state, session.project_id)
        lessons.count_effects(state, session.id)
        lessons.refresh(state, session.project_id)
        derived.sync(state, session.project_id, recent=True)
    save_small(state)
    state.share.is_due = True
    if state.services.result().store.upkeep():
        memory.give_back()
        memory.unmap_code()


def save_small(state: State) -> None:
    """Write the state that is kept in memory between requests."""
    state.sessions.save_changed()
    state.metrics.save()
    if state.is_open:
        services = state.services.result()
        services.recall.retriever.terms.save(Path(paths.cache(state.home)) / "terms.bin")
        derived.publish(state)
        derived.write(state)


def publish_arrived(state: State) -> None:
    """Publish memories that came from elsewhere, and tidy up behind that."""
    services = state.services.result()

    def publish() -> None:
        services.tasks.catch_up()
        derived.publish(state)

    def tidy() -> None:
        services.store.upkeep()
        save_small(state)
        memory.give_back()

    published = state.jobs.submit("publish memories from elsewhere", publish)
    state.jobs.submit("settle memories from elsewhere", tidy)
    published.result()  # whoever asks next sees them


def submit_summaries(state: State) -> None:
    """Have missing summaries of finished sessions made, one a job."""
    if session_summary.pending(state.sessions.all(), unix_ms()):
        state.jobs.submit("summaries", lambda: _sum_up_next(state))


def _sum_up_next(state: State) -> None:
    pending = session_summary.pending(state.sessions.all(), unix_ms())
    if not pending:
        return
    go_second()
    session = pending[0]
    if not session.ended:
        catch_up_session(state, session)
    _draw_outcomes(state, session)
    if session_summary.is_stale(session, unix_ms()) and _sum_up(state, session):
        log.info("summed up a session that ended %s", "without a word" if not session.ended else "earlier")
    if len(pending) > 1:
        submit_summaries(state)


def _draw_outcomes(state: State, session: Session) -> None:
    """Keep the outcomes of a session's matters."""
    said_ms = session.said_ms
    services = state.services.result()
    services.recall.outcomes.renew(services.keep, session.id)
    session.outcomes_ms = said_ms
    state.sessions.changed(session)
    state.sessions.save_changed()
    derived.publish(state)


def _sum_up(state: State, session: Session) -> bool:
    """Make a session's summary, if it deserves one; returns whether it does."""
    services = state.services.result()
    said_ms = session.said_ms
    made = session_summary.sum_up(services.keep, session, with_transcript=state.settings.tools.enabled)
    session.summarized_ms = said_ms
    state.sessions.changed(session)
    state.sessions.save_changed()
    derived.publish(state)
    return made is not None


# -- consolidation


def begin_consolidation(state: State) -> None:
    """Have waiting turns consolidated, once the model is loaded."""
    # An import comes first: a person waits for it, and it asks for this when it is done.
    if not reads_later(state):
        state.jobs.submit("consolidate", lambda: _some(state))


def reads_later(state: State) -> bool:
    """Return whether turns are not consolidated as they are taken in."""
    return state.importing.locked() or not state.embedder.settled.is_set()


def consolidate_now(state: State, progress: Progress = no_report, most: int = 0) -> int:
    """Consolidate every waiting turn, in the writer. Return how many.

    most: of more turns than that (an import brings thousands) the rest follows
    in jobs of its own; 0: no such bound.
    """
    if not state.embedder.settled.is_set():
        begin_consolidation(state)
        return 0
    total = 0
    while done := _batch(state):
        total += done
        progress("consolidate", total, total)
        if most and total >= most:
            begin_consolidation(state)
            break
    return total


def _some(state: State) -> None:
    """Consolidate some turns. Comes again for more."""
    if _batch(state) == TURNS_AT_ONCE:
        begin_consolidation(state)


def _batch(state: State) -> int:
    """Consolidate at most TURNS_AT_ONCE turns, in the writer; return how many."""
    services = state.services.result()
    go_second()
    done = services.consolidator.settle_turns(TURNS_AT_ONCE)
    if state.times.is_round("turns", UPKEEP_EVERY):
        services.store.upkeep()
    # Files and working sets cost far more than eight more turns: while turns wait they are written now and then.
    if state.times.is_due("publish turns", PUBLISH_EVERY_S) or done < TURNS_AT_ONCE:
        derived.publish(state)
    return done
