"""Operations of the agent's talk, whose turns go the hooks' way.

The agent has put the events into the spool before it calls. A daemon that never answers loses nothing.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import suppress

from memlayer.daemon.handlers import HANDLERS
from memlayer.daemon.hook_call import Answer, begin_call, count_kept, serve
from memlayer.daemon.ops import agent_compaction as compaction
from memlayer.daemon.ops.agent_compaction import OpenTalk
from memlayer.daemon.ops.requests import Progress, project_of, services_of, several_sessions
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, derived, flush
from memlayer.edge.capture.payload import Payload, clean, spool_event
from memlayer.edge.home import project
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.errors import MemlayerError, UserError
from memlayer.give.standing_orders import standing_orders
from memlayer.model import Memory
from memlayer.records.sessions import Session
from memlayer.text.context_block import quoted
from memlayer.wire import tools as ops
from memlayer.wire.tools import TalkStep

log = logging.getLogger(__name__)
START_WAIT_S = 3.0  # for a store that is still opening, once a talk
DUE_S = 2.0  # an answer to a prompt after that has shown nothing
# phase -> (its hook, the kind of its event)
HOOKS = {
    "start": ("hook.session_start", "session_start"),
    "prompt": ("hook.user_prompt_submit", "user"),
    "end": ("hook.stop", "assistant"),
    "finish": ("hook.session_end", "session_end"),
}


def turn(state: State, arguments: ops.Turn, progress: Progress) -> TalkStep:
    """Take a step of a talk; {} where memory is switched off."""
    if not arguments.project_dir or not project.enabled(project.locate(arguments.project_dir).root):
        return TalkStep()
    if arguments.phase in HOOKS:
        return _as_hook(state, arguments)
    if arguments.phase not in PHASES:
        raise UserError("phase: one of %s is expected" % ", ".join([*HOOKS, *PHASES]))
    return PHASES[arguments.phase](state, arguments)


def _as_hook(state: State, arguments: ops.Turn) -> TalkStep:
    """Serve a step as its hook is served."""
    started = time.monotonic()
    hook, kind = HOOKS[arguments.phase]
    if not arguments.session_id or (kind in ("user", "assistant") and not arguments.prompt_id):
        raise UserError("the step of a talk needs its session and its prompt")
    payload = Payload()
    payload.session_id, payload.prompt_id = arguments.session_id, arguments.prompt_id
    payload.model = arguments.model
    if arguments.phase == "start":
        payload.source = arguments.detail
        with suppress(MemlayerError):  # doctor and the next session's start say why it does not open
            state.ready(START_WAIT_S)
        started = time.monotonic()
    elif arguments.phase == "prompt":
        payload.prompt = arguments.text
    event = event_of(arguments, kind)
    folder = arguments.project_dir
    ends_s = started + state.settings.recall.deadline_ms / 1000
    call = begin_call(state, payload, event, project.locate(folder), folder, ends_s)
    if arguments.phase == "start":
        _begin_context(state, call.session, 0)
    call.session.total_tokens = arguments.tokens or call.session.total_tokens
    answers: list[Answer] = []
    serve(state, HANDLERS[hook], call, started + DUE_S, keep=lambda: count_kept(state), reply=answers.append)
    answer = answers[0]
    step = TalkStep(context=answer.context, notice=answer.notice)
    if answer.recalled is not None:
        step.ids = [candidate.citation for candidate in answer.recalled.entries]
    return step


def event_of(arguments: ops.Turn, kind: str) -> dict[str, object]:
    """Return the event of a step, as it stands in the spool."""
    is_said = kind in ("user", "assistant")
    return spool_event(
        kind=kind,
        session_id=arguments.session_id,
        prompt_id=arguments.prompt_id if is_said else "",
        text=arguments.text if is_said else "",
        at_ms=arguments.at_ms,
        detail=arguments.detail,
        extra="" if is_said else "%s %d" % (arguments.detail, arguments.at_ms),
        project_dir=arguments.project_dir,
    )


def _begin_context(state: State, session: Session, since_ms: int) -> None:
    """Note a context that holds none of the notes shown before.

    since_ms: of its first turn, 0 for no change.
    """
    session.shown, session.explained_ms = [], 0
    session.context_since_ms = since_ms or session.context_since_ms
    state.sessions.changed(session)


def _compact(state: State, arguments: ops.Turn) -> TalkStep:
    """Flush a talk, store its summary, and return what must survive."""
    services = services_of(state)
    session = _known(state, arguments)
    cycle = session.compaction_count
    if not (arguments.text and session.is_flushed):  # it was, for the rules that must survive
        state.jobs.submit(
            "flush " + session.id, lambda: flush.flush(state, session, cycle, "the agent leaves out older messages")
        ).result()
    else:
        batches.take_soon(state).result()
    memory = state.jobs.submit("summary of " + session.id, lambda: _put_summary(state, session, arguments)).result()
    if memory is not None:
        event = event_of(arguments, "session_start")
        state.sessions.heard(event, session.project_id, is_live=True)
        services.live.heard(event)
        kept = [event.at_ms for event in compaction.restored(services.store, session.id).events]
        _begin_context(state, session, min(kept, default=0))
        state.sessions.save_changed()
    orders, given = standing_orders(services.store, session.project_id)
    return TalkStep(
        orders=orders,
        constraints=compaction.session_constraints(services.store, session.id, given),
        citation=memory.citation if memory is not None else "",
    )


def _put_summary(state: State, session: Session, arguments: ops.Turn) -> Memory | None:
    services = state.services.result()
    memory = compaction.put_summary(
        services.store, session.id, clean(arguments.text), kept=arguments.kept, at_ms=arguments.at_ms
    )
    if memory is not None:
        services.indexer.index([memory])
        derived.memories_changed(state, {memory.project_id})
    return memory


def _history(state: State, arguments: ops.Turn) -> TalkStep:
    """Return a talk to go on with."""
    services = services_of(state)
    batches.take_soon(state).result()
    session = _known(state, arguments)
    return _talk(session, compaction.restored(services.store, session.id))


def _undo(state: State, arguments: ops.Turn) -> TalkStep:
    """Undo a talk's last compaction, and return the whole of it."""
    services = services_of(state)
    batches.take_soon(state).result()
    session = _known(state, arguments)
    now_ms = time.time_ns() // 1_000_000
    undone = state.jobs.submit(
        "undo " + session.id, lambda: compaction.undo(services.store, session.id, now_ms)
    ).result()
    if undone is not None:
        services.indexer.index([undone])
    else:
        raise UserError("No compaction of this talk is left to undo")
    talk = compaction.restored(services.store, session.id)
    _begin_context(state, session, min((event.at_ms for event in talk.events), default=0))
    return _talk(session, talk)


def _talk(session: Session, talk: OpenTalk) -> TalkStep:
    return TalkStep(session_id=session.id, summary=talk.summary, events=list(talk.events))


def _known(state: State, arguments: ops.Turn) -> Session:
    """Return the talk with this id, or this start of one.

    Raises UserError for none, for several, for a session of the host and for another project's.
    """
    start, project_id = arguments.session_id, project_of(state, arguments.project_dir)
    talks = [session for session in state.sessions.all() if session.id.startswith(AGENT_SESSION)]
    own = [talk for talk in talks if talk.project_id == project_id]
    if not start:
        matches = own[:1]
    else:
        matches = [talk for talk in own if talk.id == start]
        matches = matches or [talk for talk in own if talk.id.removeprefix(AGENT_SESSION).startswith(start)]
        matches = matches or [talk for talk in own if talk.id.startswith(start)]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise several_sessions(state, start, matches, "talk")
    if any(talk.id.startswith(start) for talk in talks) and start:
        raise UserError("%s is a talk of another project: go to its folder, or give --project" % quoted(start))
    named = " by %s" % quoted(start) if start else " in this project"
    raise UserError("No talk is known%s. `memlayer sessions` lists them" % named)


PHASES: dict[str, Callable[[State, ops.Turn], TalkStep]] = {"compact": _compact, "history": _history, "undo": _undo}
