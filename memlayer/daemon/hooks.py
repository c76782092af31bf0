"""Answers the four hooks: first the event is durable, then comes what the host is told."""

from __future__ import annotations

import logging
import os
import time
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as Late

from memlayer import compose
from memlayer.core.model import Scope
from memlayer.core.payload import Payload, read_payload
from memlayer.core.reply import hook_reply
from memlayer.daemon import upkeep
from memlayer.daemon.server import Send
from memlayer.daemon.state import State
from memlayer.errors import MemlayerError
from memlayer.service import catch_up
from memlayer.service.recall import Recalled
from memlayer.service.sessions import Session
from memlayer.wire import project, protocol, spool
from memlayer.wire import working_set as on_disk

log = logging.getLogger(__name__)
# How long a session start waits for what an earlier session left in its transcript; it goes on without it.
CATCH_UP_WAIT_S = 0.3
INHERITED_WAIT_S = 0.15
# A prompt that comes while the store is still opening waits so long for it and then goes on without memories.
OPEN_WAIT_S = 0.25
# What the answer needs of the client's deadline after recall: the socket and the client's own exit.
RESERVE_S = 0.08
NEVER_SHOWN_AGAIN = 500  # memories remembered as shown in one session


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
        payload = read_payload(hook, request.body, project_dir=os.fsdecode(request.project_dir), at_ms=request.at_ms)
        folder = os.fsdecode(request.project_dir) or payload.cwd
        place = project.locate(folder)
        event = payload.event
        if event is None or not folder or not project.enabled(place.root):
            if payload.problem:
                log.info("%s: nothing kept: %s", hook, payload.problem)
            send(protocol.DURABLE, b"")
            send(protocol.REPLY, b"")
            if payload.problem == "no answer":
                state.jobs.submit("drain", lambda: upkeep.drain(state))
            return
        project_id, _ = state.projects.resolve(folder)
        known = state.sessions.get(payload.session_id) is not None
        session = state.sessions.heard(event, project_id)
        recalled: Future[Recalled] | None = None
        if hook == "user_prompt_submit" and not event["detail"]:
            # Recall reads nothing that this prompt writes, so both go at once; the person waits for the longer one.
            recalled = self._recalls.submit(self._recall, payload, place, session, known, ends)
        if state.settings.capture.enabled:
            spool.put(state.home, event)
        send(protocol.DURABLE, b"")
        context = ""
        if hook == "session_start":
            context = self._session_start(payload, session, place, ends)
        elif recalled is not None:
            context = self._recalled(recalled, session, ends)
        send(protocol.REPLY, hook_reply(hook, context))
        if state.services.done() and state.services.exception() is None:
            state.services.result().recent.heard(event)  # not before its own recall has asked what came before it
        if hook == "session_end":
            state.jobs.submit("settle " + session.id, lambda: upkeep.settle(state, session))
        elif hook != "user_prompt_submit":
            # A prompt is taken in together with its answer: nobody can recall it in its own session before that, and
            # the store is spared a write while the person waits.
            state.jobs.submit("drain", lambda: upkeep.drain(state))

    def _session_start(self, payload: Payload, session: Session, place: project.Place, ends: float) -> str:
        state = self._state
        state.loader.submit("warm " + session.project_id, lambda: upkeep.warm(state, session.project_id))
        behind = [
            one
            for one in state.sessions.open_in(session.project_id)
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
        # The writer renews it after each batch, so it is as fresh as the store; what still waits gets a moment.
        own = str(payload.event["id"]) if payload.event else ""
        if any(own not in path for path in spool.waiting(state.home)):
            _wait(state.jobs.submit("drain", lambda: upkeep.drain(state)), wait_until)
        return on_disk.read_working_set(state.home, place)

    def _recall(self, payload: Payload, place: project.Place, session: Session, known: bool, ends: float) -> Recalled:
        state = self._state
        services = state.ready(min(OPEN_WAIT_S, ends - time.monotonic()))
        if services is None:
            return Recalled("", "lexical", gate="the store was still opening")
        if not known and os.path.exists(session.transcript_path):
            # A session that begins with a transcript is a fork: 2.1.197 tells of it only here.
            inherited = state.jobs.submit("inherit " + session.id, lambda: self._inherit(session))
            _wait(inherited, min(ends, time.monotonic() + INHERITED_WAIT_S))
        rules = compose.recall_rules(state.settings_for(place))
        return services.recall.answer(payload.prompt, Scope((session.project_id,)), rules, session)

    def _recalled(self, recalled: Future[Recalled], session: Session, ends: float) -> str:
        state = self._state
        try:
            found = recalled.result(timeout=max(0.01, ends - time.monotonic()))
        except Late:
            log.warning("a recall was late")
            return ""
        except MemlayerError as bad:
            log.error("recall failed: %s", bad)
            return ""
        state.metrics.recalled(len(found.entries), len(found.block))
        if found.entries:
            session.shown = (session.shown + [one.chunk.memory_id for one in found.entries])[-NEVER_SHOWN_AGAIN:]
            state.sessions.changed(session)
        return found.block

    def _inherit(self, session: Session) -> None:
        """Learn which memories a resumed or forked session has in its context."""
        state = self._state
        services = state.services.result()
        inherited = catch_up.inherited(session, services.store)
        if inherited != session.inherited:
            session.inherited = inherited
            state.sessions.changed(session)
            state.sessions.save_changed()


def _deadline_s(state: State) -> float:
    """The user's own limit for an answer."""
    return state.settings.recall.deadline_ms / 1000


def _wait(job: Future[object], until: float) -> None:
    """Wait for a job; its failure is the writer's to log."""
    try:
        job.exception(timeout=max(0.0, until - time.monotonic()))
    except Late:
        return
