"""Operations of the agent's talk, whose turns go the hooks' way.

The agent has put the events into the spool before it calls. A daemon that never answers loses nothing.
"""

import json
import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress

from memlayer.consolidation.rules.extraction import has
from memlayer.consolidation.rules.own_words import own_words
from memlayer.daemon import at_action
from memlayer.daemon.handlers import HANDLERS
from memlayer.daemon.hook_call import Answer, begin_call, count_kept, serve
from memlayer.daemon.ops.requests import Progress, project_of, services_of, several_sessions
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import batches, derived, flush
from memlayer.edge.capture.payload import Payload, clean, spool_event
from memlayer.edge.capture.spool import event_id
from memlayer.edge.home import project
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.errors import MemlayerError, UserError
from memlayer.give.standing_orders import standing_orders
from memlayer.keep.keep import Keep
from memlayer.kinds import KINDS, Author, Category, Ended, Kind
from memlayer.model import Event, Memory
from memlayer.ports import MemoryQuery, Store
from memlayer.records.sessions import Session
from memlayer.text.context_block import flatten, quoted
from memlayer.text.sentences import USER, candidates
from memlayer.turns.salience import new_memory
from memlayer.wire import tools as ops
from memlayer.wire.tools import TalkStep

SAID = ("user", "assistant", "tool")
MAX_EVENTS = 20_000
MAX_CONSTRAINT_CHARS = 4_000  # of all constraints
MAX_RULE_CHARS = 300  # of a sentence of a prompt
_LOOKED_AT = 300
_PROMPTS = 2000

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


def put_summary(keep: Keep, session_id: str, text: str, *, kept: Collection[str], at_ms: int) -> Memory | None:
    """Store the summary of a session's turns as a daily memory.

    kept: prompt ids of the turns that it does not cover. None without a turn that it covers. Forgetting one of these
    turns forgets the summary. Raises StoreError.
    """
    events = [event for event in _said(keep.store, session_id) if event.prompt_id not in kept]
    if not events or not text.strip():
        return None
    made = event_id(session_id, "", Kind.COMPACTION, str(at_ms))
    memory = new_memory(
        made, Category.DAILY, Kind.COMPACTION, text.strip(), at_ms, project_id=events[-1].project_id,
        session_id=session_id, by=Author.MODEL, source_ids=tuple(event.id for event in events),
    )  # fmt: skip
    keep.write([memory])
    return memory


def undo(keep: Keep, session_id: str, at_ms: int) -> Memory | None:
    """Retire the last summary of a session, None without one.

    Its turns come back with the next restored(). Raises StoreError.
    """
    last = _last(keep.store, session_id)
    if last is not None:
        keep.write([last.ended(Ended.LET_GO, at_ms)])
    return last


def restored(store: Store, session_id: str) -> TalkStep:
    """Return a session's talk from its events. Raises StoreError.

    The summary of the turns that were compacted, "" for none, and the events after them, oldest first.
    """
    last = _last(store, session_id)
    covered = frozenset(last.source_ids) if last is not None else frozenset()
    events = [event for event in _said(store, session_id) if event.id not in covered]
    return TalkStep(session_id=session_id, summary=last.text if last is not None else "", events=events)


def _last(store: Store, session_id: str) -> Memory | None:
    query = MemoryQuery(session_id=session_id, category=Category.DAILY, kind=Kind.COMPACTION, is_current=True, limit=1)
    return next(iter(store.memories(query)), None)


def _said(store: Store, session_id: str) -> list[Event]:
    events = store.events(session_id=session_id, limit=MAX_EVENTS)
    return [event for event in events if event.kind in SAID]


def session_constraints(store: Store, session_id: str, excluded_ids: Collection[str] = ()) -> list[str]:
    """Return texts with the person's preferences and decisions in a session.

    Oldest first, at most MAX_CONSTRAINT_CHARS of the newest: statements that hold, and sentences of prompts that sound
    like a rule or a decision and became no statement. Too many are no harm in a compacted context, a missing one is.
    excluded_ids: memories that stand there already. Raises StoreError.
    """
    core = store.memories(MemoryQuery(session_id=session_id, category=Category.CORE, limit=_LOOKED_AT))
    over = {source for memory in core if not memory.holds for source in memory.source_ids}
    current = [memory for memory in core if memory.holds]
    stated = [row for row in current if KINDS[row.known_kind].binds and row.by is Author.PERSON]
    dated = [(memory.at_ms, flatten(memory.text)) for memory in stated if memory.id not in excluded_ids]
    known = [flatten(memory.text) for memory in current]
    for event in store.events(session_id=session_id, kind="user", limit=_PROMPTS):
        if event.detail or event.id in over:
            continue
        rules = (
            flatten(sentence.text)
            for sentence in candidates(own_words(event.text), USER)
            if not sentence.asks and _is_rule(sentence.text)
        )
        dated += [(event.at_ms, rule) for rule in rules if not any(rule in text for text in known)]
    left, kept = MAX_CONSTRAINT_CHARS, []
    for _, text in sorted(dict.fromkeys(dated), key=lambda pair: -pair[0]):
        left -= len(text) + 1
        if left < 0:
            break
        kept.append(text)
    return kept[::-1]


def _is_rule(sentence: str) -> bool:
    return len(sentence) <= MAX_RULE_CHARS and (has("standing", sentence) or has("decided", sentence))


def turn(state: State, arguments: ops.Turn, progress: Progress) -> TalkStep:
    """Take a step of a talk; {} where memory is switched off."""
    if not arguments.project_dir or not project.enabled(arguments.project_dir):
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
    text, at_ms = clean(arguments.text), arguments.at_ms
    summarize = lambda: put_summary(services.keep, session.id, text, kept=arguments.kept, at_ms=at_ms)  # noqa: E731
    memory = derived.written(state, "summary", summarize)
    if memory is not None:
        event = event_of(arguments, "session_start")
        state.sessions.heard(event, session.project_id, is_live=True)
        services.recall.live.heard(event)
        kept = [event.at_ms for event in restored(services.store, session.id).events]
        _begin_context(state, session, min(kept, default=0))
        state.sessions.save_changed()
    orders, given = standing_orders(services.store, session.project_id)
    return TalkStep(
        orders=orders,
        constraints=session_constraints(services.store, session.id, given),
        citation=memory.citation if memory is not None else "",
    )


def _history(state: State, arguments: ops.Turn) -> TalkStep:
    """Return a talk to go on with."""
    services = services_of(state)
    batches.take_soon(state).result()
    session = _known(state, arguments)
    return restored(services.store, session.id)


def _undo(state: State, arguments: ops.Turn) -> TalkStep:
    """Undo a talk's last compaction, and return the whole of it."""
    services = services_of(state)
    batches.take_soon(state).result()
    session = _known(state, arguments)
    now_ms = time.time_ns() // 1_000_000
    undone = derived.written(state, "undo", lambda: undo(services.keep, session.id, now_ms))
    if undone is None:
        raise UserError("No compaction of this talk is left to undo")
    talk = restored(services.store, session.id)
    _begin_context(state, session, min((event.at_ms for event in talk.events), default=0))
    return talk


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


def _at_call(state: State, arguments: ops.Turn) -> TalkStep:
    """Return the line on a tool call, as for the host."""
    try:
        sent = json.loads(arguments.text)
    except (ValueError, RecursionError):
        return TalkStep()
    fields = {"tool_name": arguments.detail, "tool_input": sent.get("input"), "session_id": arguments.session_id}
    project_id = project_of(state, arguments.project_dir)
    return TalkStep(context=at_action.before(state, fields, project_id, str(sent.get("error") or "")))


PHASES: dict[str, Callable[[State, ops.Turn], TalkStep]] = {
    "call": _at_call,
    "compact": _compact,
    "history": _history,
    "undo": _undo,
}
