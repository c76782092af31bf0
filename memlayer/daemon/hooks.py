"""Answers the hooks: first the event is durable, then comes what the host is told."""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late

from memlayer import compose
from memlayer.briefing import working_set
from memlayer.daemon.resources.state import State
from memlayer.daemon.server import Send
from memlayer.daemon.tasks import flush as flushing
from memlayer.daemon.tasks import given_notes, upkeep
from memlayer.edge.bootstrap import health
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import Payload, read_payload
from memlayer.edge.capture.reply import continuation, hook_reply
from memlayer.edge.home import project
from memlayer.edge.home import working_set as on_disk
from memlayer.edge.ipc import protocol
from memlayer.errors import MemlayerError
from memlayer.recall.recall import Gate, Recalled
from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up

log = logging.getLogger(__name__)
# How long a session start waits for what an earlier session left in its transcript; it goes on without it.
CATCH_UP_WAIT_S = 0.3
INHERITED_WAIT_S = 0.15
# A prompt that comes while the store is still opening waits so long for it and then goes on without memories.
OPEN_WAIT_S = 0.25
# What the answer needs of the client's deadline after recall: the socket and the client's own exit.
RESERVE_S = 0.08
# A daemon that has just come has not taken in yet what waits.
SETTLING_S = 60.0


class Hooks:
    """The handlers of `hook.<event>`."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._recalls = ThreadPoolExecutor(8, thread_name_prefix="recall")

    def answer(self, request: protocol.Request, send: Send) -> None:
        """Serve one hook. `durable` goes out as soon as the event is on disk. Raises OSError when the disk refuses:
        the client then sees an error without `durable`, and tries by itself."""
        started = time.monotonic()
        ends = started + min(request.deadline_ms / 1000 - RESERVE_S, _deadline_s(self._state))
        hook = request.op[len("hook.") :]
        state = self._state
        payload = read_payload(
            hook, request.body, project_dir=os.fsdecode(request.project_dir), at_ms=request.at_ms,
            tools=compose.tool_rules(state.settings),
        )  # fmt: skip
        if payload.event is None and not payload.problem:  # a tool call that is not kept
            send(protocol.DURABLE, b"")
            send(protocol.REPLY, b"")
            return
        folder = os.fsdecode(request.project_dir) or payload.cwd
        place = project.locate(folder)
        event = payload.event
        is_off = not folder or not project.enabled(place.root)
        if event is None or is_off:
            if payload.problem:
                log.info("%s: nothing kept: %s", hook, payload.problem)
            state.metrics.refused(payload.problem or "memory is switched off for the project")
            send(protocol.DURABLE, b"")
            send(protocol.REPLY, b"")
            if payload.problem == "no answer":
                state.jobs.submit("drain", lambda: upkeep.drain(state))
            return
        if hook == "stop" and flushing.is_answer_to_us(state, payload):
            send(protocol.DURABLE, b"")
            send(protocol.REPLY, b"")
            return
        project_id, _ = state.projects.resolve(folder)
        known = state.sessions.get(payload.session_id) is not None
        session = state.sessions.heard(event, project_id, is_live=True)
        recalled: Future[Recalled] | None = None
        if hook == "user_prompt_submit" and not event["detail"]:
            # Recall reads nothing that this prompt writes, so both go at once; the person waits for the longer one.
            recalled = self._recalls.submit(self._recall, payload, place, session, known, ends)
        if state.settings.capture.enabled:
            spool.put(state.home, event)
            state.metrics.arrived()
        else:
            state.metrics.refused("capture.enabled is false")
        send(protocol.DURABLE, b"")
        context = ""
        found = self._recalled(recalled, ends) if recalled is not None else None
        flush = state.settings.flush
        if hook == "session_start":
            context = self._session_start(payload, session, place, ends)
        elif hook == "pre_compact":
            context = flush.summarizer_line if flush.enabled else ""
        elif found is not None:
            context = found.block
        notice = _notice(state) if hook == "session_start" else ""
        if hook in ("session_start", "user_prompt_submit") and state.is_open:
            notice = notice or health.ready(state.home)
        with given_notes.noted(state, session, event, context, found, started + request.deadline_ms / 1000):
            if hook == "stop" and flushing.asks(state, session, payload, flush):
                send(protocol.REPLY, continuation())
            else:
                send(protocol.REPLY, hook_reply(hook, context, notice))
        if state.is_open:
            state.services.result().live.heard(event)  # after its own recall has compared it with the session
        if hook == "session_end":
            state.jobs.submit("settle " + session.id, lambda: upkeep.settle(state, session))
        elif event["kind"] not in ("user", "tool"):
            # A prompt is taken in together with its answer, and so is what was done for it: nobody can recall it in its
            # own session before that, and the store is spared a write while the person waits.
            state.jobs.submit("drain", lambda: upkeep.drain(state))
        if hook == "session_start":
            state.jobs.submit("find sessions that are over", lambda: upkeep.sum_up_what_is_over(state))
        elif hook == "stop" and flush.enabled:
            flushing.measure(state, session, flush)
        elif hook == "pre_compact" and flush.enabled:
            flushing.submit(state, session, "it is about to be compacted")

    def _session_start(self, payload: Payload, session: Session, place: project.Place, ends: float) -> str:
        state = self._state
        if payload.model and payload.model != session.model:
            session.model = payload.model
            state.sessions.changed(session)
        state.loader.submit("warm " + session.project_id, lambda: upkeep.warm(state, session.project_id))
        behind = [
            one
            for one in state.sessions.unread_in(session.project_id)
            if one.id != session.id or payload.source == "resume"
        ]
        catching_up = [
            state.jobs.submit("catch up " + one.id, lambda one=one: upkeep.catch_up_session(state, one))  # type: ignore[misc]
            for one in behind
        ]
        wait_until = min(ends, time.monotonic() + CATCH_UP_WAIT_S)
        for job in catching_up:
            _wait(job, wait_until)
        if payload.source in ("resume", "fork"):
            state.jobs.submit("inherit " + session.id, lambda: self._inherit(session))
            return ""
        if payload.source == "compact":
            return self._after_compaction(session, ends)
        # The writer renews it after each batch, so it is as fresh as the store; what still waits gets a moment.
        own = str(payload.event["id"]) if payload.event else ""
        if any(own not in path for path in spool.waiting(state.home)):
            _wait(state.jobs.submit("drain", lambda: upkeep.drain(state)), wait_until)
        return on_disk.read_working_set(state.home, place)

    def _after_compaction(self, session: Session, ends: float) -> str:
        """The working set without this session's own turns: the host has kept their last ones, and a summary."""
        state = self._state
        services = state.ready(ends - time.monotonic())
        if services is None:
            return ""
        rules = compose.working_set_rules(state.settings)
        return working_set.compose(services.store, session.project_id, rules, excluded_session_id=session.id)

    def _recall(self, payload: Payload, place: project.Place, session: Session, known: bool, ends: float) -> Recalled:
        state = self._state
        services = state.ready(min(OPEN_WAIT_S, ends - time.monotonic()))
        if services is None:
            return Recalled("", "lexical", Gate.OPENING)
        if not known and os.path.exists(session.transcript_path):
            # A session that begins with a transcript is a fork: 2.1.197 tells of it only here.
            inherited = state.jobs.submit("inherit " + session.id, lambda: self._inherit(session))
            _wait(inherited, min(ends, time.monotonic() + INHERITED_WAIT_S))
        rules = compose.recall_rules(state.settings_for(place))
        return services.recall.answer(payload.prompt, state.scope(session.project_id), rules, session)

    def _recalled(self, recalled: Future[Recalled], ends: float) -> Recalled:
        try:
            found = recalled.result(timeout=max(0.01, ends - time.monotonic()))
        except Late:
            log.warning("a recall was late")
            return Recalled("", "", Gate.LATE)
        except MemlayerError as bad:
            log.error("recall failed: %s", bad)
            return Recalled("", "", Gate.FAILED)
        self._state.metrics.recalled(len(found.entries), len(found.block))
        return found

    def _inherit(self, session: Session) -> None:
        """Learn which memories a resumed or forked session has in its context."""
        state = self._state
        services = state.services.result()
        inherited = catch_up.inherited(session, services.store)
        if inherited != session.inherited:
            session.inherited = inherited
            state.sessions.changed(session)
            state.sessions.save_changed()


def _notice(state: State) -> str:
    """One line for the person when memory has been failing, or the settings are wrong, once a day."""
    opened = state.services.exception() if state.services.done() else None
    # What waits for a daemon that has just come is about to be taken in.
    is_settling = opened is None and time.time() * 1000 - state.started_ms < SETTLING_S * 1000
    store_error = str(opened) if opened is not None else ""
    try:
        return health.notice(state.home, time.time(), store_error, state.settings_problem, is_settling=is_settling)
    except OSError as bad:
        log.warning("the health of memory is unknown: %s", bad.strerror)
        return ""


def _deadline_s(state: State) -> float:
    """The user's own limit for an answer."""
    return state.settings.recall.deadline_ms / 1000


def _wait(job: Future[object], until: float) -> None:
    """Wait for a job; its failure is the writer's to log."""
    try:
        job.exception(timeout=max(0.0, until - time.monotonic()))
    except Late:
        return
