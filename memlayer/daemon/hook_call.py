"""A hook's or the agent's call: event, answer, steps between."""

import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches
from memlayer.edge.capture.hosts import named
from memlayer.edge.capture.payload import COMMAND, IN_WORDS, Payload
from memlayer.edge.home import given_notes as record
from memlayer.edge.home import project
from memlayer.give import given_notes
from memlayer.give.candidate import with_shown, with_start
from memlayer.give.recall import Gate, Recalled
from memlayer.records.sessions import Session

log = logging.getLogger(__name__)
_record_lock = threading.Lock()
NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass
class HookCall:
    """A call of a hook whose event is kept."""

    payload: Payload
    event: Mapping[str, Any]
    place: project.Place
    session: Session
    is_known: bool  # the session was heard of before
    has_said: bool  # something was said or done in it before
    ends_s: float  # monotonic, when the answer has to be there
    recall: Future[Recalled] | None = None


class Answer(NamedTuple):
    """Answer to a hook.

    is_continued: the model goes on, storing memories. tells_rules: the notice is the line about the session's rules.
    has_orders: the context begins with the standing orders that a compaction was told too late. asks: a line that asks
    the model for notes, and tells none. left_out: citation -> why a start does not tell it.
    """

    context: str = ""
    notice: str = ""
    recalled: Recalled | None = None
    is_continued: bool = False
    tells_rules: bool = False
    has_orders: bool = False
    asks: str = ""
    left_out: Mapping[str, str] = NOTHING


class Handler(NamedTuple):
    """Steps of a hook.

    ignores: the call has nothing to do with the person, and leaves no event. begin: before its event is on disk.
    after_reply: of the same thread. background: jobs for the writer.
    """

    ignores: Callable[[State, Payload], bool] = lambda state, payload: False
    begin: Callable[[State, HookCall], None] = lambda state, call: None
    answer: Callable[[State, HookCall], Answer] = lambda state, call: Answer()
    after_reply: Callable[[State, HookCall], object] = lambda state, call: None
    background: Callable[[State, Session], object] = lambda state, session: None


def begin_call(
    state: State, payload: Payload, event: Mapping[str, Any], place: project.Place, folder: str, ends_s: float
) -> HookCall:
    """Return the call of an event, noted in its session."""
    project_id, _ = state.projects.resolve(folder)
    known = state.sessions.get(payload.session_id)
    has_said = known is not None and known.said_ms > 0
    session = state.sessions.heard(event, project_id, is_live=True)
    return HookCall(payload, event, place, session, known is not None, has_said, ends_s)


def count_kept(state: State) -> None:
    """Count an event that arrived, or that the settings keep out."""
    if state.settings.capture.enabled:
        state.metrics.arrived()
    else:
        state.metrics.refused("capture.enabled is false")


def serve(
    state: State,
    handler: Handler,
    call: HookCall,
    due_s: float,
    *,
    keep: Callable[[], None],
    reply: Callable[[Answer], None],
) -> None:
    """Serve a call: keep its event, answer it, record its notes.

    due_s: monotonic. An answer after it has shown nothing. keep: makes the event durable. reply: hands the answer over.
    """
    is_prompt = call.event["kind"] == "user"
    with state.waiting.answering(str(call.event["id"])) if is_prompt else nullcontext():
        handler.begin(state, call)
        keep()
        answer = handler.answer(state, call)
        with noted(state, call.session, call.event, answer, due_s):
            reply(answer)
    batches.heard(state, call.session, str(call.event["kind"]))
    if answer.tells_rules and time.monotonic() < due_s:
        state.rule_notices.told(call.session.id, answer.notice)
    if state.is_open:
        state.services.result().recall.live.heard(call.event)  # after its own recall has compared it with the session
    handler.after_reply(state, call)
    handler.background(state, call.session)


@contextmanager
def noted(state: State, session: Session, event: Mapping[str, Any], answer: Answer, due_s: float) -> Iterator[None]:
    """Note the answer sent within: memories shown, entry in the record.

    due_s: monotonic. An answer after it, or that nobody takes, has shown nothing.
    """
    before = session.shown, session.explained_ms, session.start_chars
    if answer.context and event["kind"] in ("user", "session_start"):
        if answer.recalled is not None:
            session.shown = with_shown(session.shown, answer.recalled.entries)
        else:
            session.shown = with_start(session.shown, given_notes.told_at_start(answer.context))
            session.start_chars = len(answer.context)
        session.explained_ms = session.explained_ms or time.time_ns() // 1_000_000
        state.sessions.changed(session)
    is_delivered = False
    try:
        yield
        is_delivered = time.monotonic() < due_s
    finally:
        if not is_delivered:
            session.shown, session.explained_ms, session.start_chars = before
        if event["kind"] == "session_start" and event["detail"] == "compact" and not (is_delivered and answer.context):
            state.rule_notices.orders_due.add(session.id)  # the rest of the session would go without them
        elif is_delivered and (answer.has_orders or event["kind"] == "session_start"):
            state.rule_notices.orders_due.discard(session.id)
        _record(state, session, event, answer, is_delivered)


def _record(state: State, session: Session, event: Mapping[str, Any], answer: Answer, is_delivered: bool) -> None:
    """Append the entry of a prompt or a working set."""
    recalled, is_prompt = answer.recalled, event["kind"] == "user"
    if is_prompt and event["detail"] == COMMAND:
        recalled = Recalled("", "", Gate.COMMAND)
    elif is_prompt and event["detail"] in IN_WORDS and "user_prompt_submit" not in named(session.host).reads:
        recalled = Recalled("", "", Gate.HOST)
    if recalled is not None:
        entry = given_notes.of_prompt(event, session.project_id, recalled, is_delivered=is_delivered)
        state.metrics.recalled(len(recalled.entries) * is_delivered, len(recalled.block) * is_delivered)
    elif event["kind"] == "session_start" and answer.context:
        left_out, context = answer.left_out, answer.context
        entry = given_notes.of_start(event, session.project_id, context, left_out, is_delivered=is_delivered)
    else:
        return
    record_entry(state, entry)


def record_entry(state: State, entry: dict[str, Any]) -> None:
    """Append an entry to the record. A full disk is logged."""
    try:
        with _record_lock:
            record.put(state.home, entry)
    except OSError as bad:
        log.warning("the record of given notes is not written: %s", bad.strerror)
