"""Answers to hooks: the event is durable first, then comes the reply."""

import logging
import os
import time
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as Late
from typing import Any

from memlayer.config import problem_since
from memlayer.consolidation.rules.standing import let_go, takes_back
from memlayer.daemon import opening
from memlayer.daemon.at_action import asked
from memlayer.daemon.hook_call import Answer, Handler, HookCall, begin_call, count_kept, serve
from memlayer.daemon.resources import notes_offer
from memlayer.daemon.resources.state import Send, State
from memlayer.daemon.tasks import batches, code_check, intake, lessons, reading, task_commits
from memlayer.daemon.tasks import flush as flushing
from memlayer.edge.bootstrap import health
from memlayer.edge.capture import hosts, spool
from memlayer.edge.capture.payload import IN_WORDS, RUN, continuation, read_payload
from memlayer.edge.home import project, registry
from memlayer.edge.home.session_ids import AGENT_SESSION
from memlayer.edge.ipc import protocol
from memlayer.errors import MemlayerError
from memlayer.give import working_set
from memlayer.give.candidate import LeftOut
from memlayer.give.recall import Gate, Recalled
from memlayer.give.standing_orders import orders_in_force, standing_orders
from memlayer.records.sessions import Session
from memlayer.transcripts import catch_up, host_memory

log = logging.getLogger(__name__)
# How long a session start waits for events of earlier sessions to be stored. It goes on without them.
CATCH_UP_WAIT_S = 0.07
INHERITED_WAIT_S = 0.15
JUST_ENDED_MS = 5000  # before a start, whose session's last turns may not be read yet
# Of a prompt's or a start's time, for events of other sessions to be taken in. Recall needs the rest.
TAKING_SHARE = 0.5
# A prompt that comes while the store is still opening waits so long for it and then goes on without memories.
OPEN_WAIT_S = 0.25
# The rest of the client's deadline after recall: for the socket and the client's own exit.
RESERVE_S = 0.08
# A young daemon has not taken in the spool yet.
SETTLING_S = 60.0
AT_ONCE_S = 1.0
SUBAGENT_CHARS = 600
ASKED_SOURCES = ("startup", "clear", "compact")  # a resumed context has the line already


def answer(handler: Handler, request: protocol.Request, send: Send, state: State) -> None:
    """Serve a hook: `durable` once its event is on disk, then `reply`.

    Raises OSError when the disk refuses: the client then sees an error without `durable`, and tries by itself.
    """
    started = time.monotonic()
    deadline_s = request.deadline_ms / 1000
    payload = read_payload(
        request.op[len("hook.") :], request.body, project_dir=os.fsdecode(request.project_dir), at_ms=request.at_ms,
        tools=state.rules.tools,
    )  # fmt: skip
    event, folder = payload.event, payload.folder
    if event is None and not payload.problem:  # a tool call that is not kept
        _send_nothing(send)
        return
    place = project.locate(folder)
    if event is None or not folder or not project.enabled(folder):
        _refuse(state, request.op, payload.problem, send)
        return
    if handler.ignores(state, payload):
        _send_nothing(send)
        return
    ends_s = started + min(deadline_s - RESERVE_S, state.settings.recall.deadline_ms / 1000)
    call = begin_call(state, payload, event, place, folder, ends_s)

    def keep() -> None:
        if state.settings.capture.enabled:
            spool.put(state.home, event)
        count_kept(state)
        send(protocol.DURABLE, b"")

    def reply(answer: Answer) -> None:
        context = "\n\n".join(filter(None, (answer.context, answer.asks)))
        body = payload.host.output(request.op[len("hook.") :], context, answer.notice)
        send(protocol.REPLY, continuation() if answer.is_continued else body)

    serve(state, handler, call, started + deadline_s, keep=keep, reply=reply)


def _send_nothing(send: Send) -> None:
    send(protocol.DURABLE, b"")
    send(protocol.REPLY, b"")


def _refuse(state: State, op: str, problem: str, send: Send) -> None:
    """Answer a hook without an event, or of a disabled project."""
    if problem:
        log.info("%s: nothing kept: %s", op[len("hook.") :], problem)
    state.metrics.refused(problem or "memory is switched off for the project")
    _send_nothing(send)
    if problem == "no answer":
        batches.take_soon(state)  # a rule of its turn is told with the next prompt


def _submit(state: State, name: str, job: Callable[..., Any], *arguments: Session) -> Future[Any]:
    """Have the writer call a job with the state and arguments."""
    return state.jobs.submit(name, lambda: job(state, *arguments))


# -- session_start


def answer_start(state: State, call: HookCall) -> Answer:
    context, left_out = _start_context(state, call)
    if call.event["text"]:  # a run's: nobody reads a line
        return Answer(context, left_out=left_out)
    notice = _health_notice(state) or _ready_notice(state)
    state.rule_notices.hand_over(call.session.id, lambda other: _is_over(state, other, call.session.project_id))
    line = "" if notice else _rules_line(state, call)
    is_new = call.payload.source in ASKED_SOURCES and state.settings.capture.enabled
    asks = notes_offer.BY_SESSION_LINE if is_new and reading.is_by_session(state, call.session) else ""
    notice = notice or line or _offer(state, call)
    return Answer(context, notice, tells_rules=bool(line), asks=asks, left_out=left_out)


def _offer(state: State, call: HookCall) -> str:
    """Offer notes at a fresh start, or tell of questions that wait."""
    is_fresh = call.payload.source == "startup" and not call.session.id.startswith(AGENT_SESSION)
    if not is_fresh or not state.is_open:
        return ""
    if line := notes_offer.team_line(state, call.session, call.place.root):
        return line
    if line := notes_offer.questions_line(state, call.session):
        return line
    if state.held.problem or not reading.is_allowed(call.session):
        return ""
    if not any(session.said_ms for session in state.sessions.all() if session.id != call.session.id):
        return ""  # who has seen nothing of memlayer yet cannot tell
    return notes_offer.line(state.home, state.settings)


def _is_over(state: State, session_id: str, project_id: str) -> bool:
    session = state.sessions.get(session_id)
    return session is not None and bool(session.ended) and session.project_id == project_id


def _start_context(state: State, call: HookCall) -> tuple[str, LeftOut]:
    """Return a start's block, and why memories are not in it."""
    payload, session = call.payload, call.session
    checking = state.recalls.submit(code_check.look, state, session.project_id, call.place.root)
    if payload.model and payload.model != session.model:
        session.model = payload.model
        state.sessions.changed(session)
    own = str(call.event["id"])
    others = [path for path in spool.waiting(state.home) if own not in path]
    # Turns without an answer stand in no start; of events that a hook spooled by itself nobody knows.
    may_change = not others or state.waiting.answered(session.project_id) or len(others) > state.waiting.count
    ended = state.sessions.ended_in(session.project_id, call.event["at_ms"] - JUST_ENDED_MS)
    # A batch that has begun holds them all: another one would come behind the settling of the session that ended.
    is_begun = state.waiting.is_begun and len(others) <= state.waiting.count
    taking = batches.take_soon(state) if others and not is_begun else state.waiting.taking
    taking.add_done_callback(lambda _: _prepare(state, session.project_id, call.place.root))
    if state.is_open and may_change:  # while it opens, which takes longer, nothing is waited for
        left_s = (1 if ended else TAKING_SHARE) * (call.ends_s - time.monotonic())
        # A compaction has taken its session in before the summary was written. Its orders must not come late.
        _wait(taking, time.monotonic() + (CATCH_UP_WAIT_S if payload.source == "compact" else left_s))
    wait_until = min(call.ends_s, time.monotonic() + CATCH_UP_WAIT_S) if state.is_open else 0.0
    catching_up = [
        _submit(state, "catch up " + other.id, intake.catch_up_and_publish, other)
        for other in state.sessions.unread_in(session.project_id)
        if other.id != session.id or payload.source == "resume"
    ]
    if payload.source in ("resume", "fork"):  # its context has all of it
        _submit(state, "inherit " + session.id, _inherit, session)
        return "", {}
    for job in catching_up:
        _wait(job, wait_until)
    _wait(checking, min(call.ends_s, time.monotonic() + CATCH_UP_WAIT_S))
    marks, lines = code_check.marks(state, session.project_id, call.place.root), _host_lines(state, session)
    rules = state.rules.working_set
    if payload.source != "compact":
        # The writer renews it after each batch, so it is as fresh as the store.
        block = registry.read_working_set(state.home, call.place)
        if ended and rules.enabled and state.is_open and not taking.done():
            turns = state.services.result().ingest.latest_turns([row.id for row in ended])
            block = working_set.with_turns(block, turns, rules.max_chars)
        block, gone = working_set.checked(block, lines, marks, rules.max_chars)
        return block, gone | (state.derived.left_out.get(session.project_id) or {})
    services = state.ready(call.ends_s - time.monotonic()) if rules.enabled else None
    if services is None:
        return "", {}
    left_out: LeftOut = {}
    orders, given = standing_orders(services.store, session.project_id)
    block = working_set.compose(
        services.store, session.project_id, rules, excluded_session_id=session.id, excluded_ids=given, left_out=left_out
    )
    block, gone = working_set.checked(block, lines, marks, rules.max_chars)
    return "\n\n".join(filter(None, (orders, block))), gone | left_out


def _host_lines(state: State, session: Session) -> host_memory.HostLines:
    """Return the lines of the host's own memory in the context."""
    return state.derived.host_memory.lines_of(session.transcript_path) if state.settings.files.host_memory else ()


def _prepare(state: State, project_id: str, root: str) -> None:
    """Have notes, lessons and changes loaded before a first prompt."""
    state.loader.submit("warm " + project_id, lambda: opening.warm(state, project_id))
    if project_id not in state.derived.at_action.lessons:
        state.loader.submit("lessons " + project_id, lambda: lessons.learn(state, project_id))
    state.loader.submit("git " + project_id, lambda: task_commits.look_at_tasks(state, project_id, root))


def after_session_start(state: State, session: Session) -> None:
    state.share.is_due = True
    _submit(state, "find sessions that are over", intake.submit_summaries)


def _health_notice(state: State) -> str:
    """Return a line about failing memory or wrong settings, once a day."""
    store_error = str(state.failure or "")
    # A young daemon is about to take in the spool.
    is_settling = not store_error and time.time() * 1000 - state.life.started_ms < SETTLING_S * 1000
    problem = problem_since(state.held.stamp, state.held.problem, state.home, os.environ)
    try:
        return health.notice(state.home, time.time(), store_error, problem, is_settling=is_settling)
    except OSError as bad:
        log.warning("the health of memory is unknown: %s", bad.strerror)
        return ""


def _ready_notice(state: State) -> str:
    return health.ready(state.home) if state.is_open else ""


# -- user_prompt_submit


def begin_recall(state: State, call: HookCall) -> None:
    """Begin recall beside the event's write, which it does not read."""
    if call.event["detail"] in IN_WORDS and "user_prompt_submit" in call.payload.host.reads:
        # The agent shows no notices within a talk, and has no slash command that undoes.
        if _tells_rules(state, call) and not call.session.id.startswith(AGENT_SESSION):
            state.rule_notices.expect((call.session.id, str(call.event["prompt_id"])))
        call.recall = state.recalls.submit(_recall, state, call)


def _recall(state: State, call: HookCall) -> Recalled:
    session, ends_s = call.session, call.ends_s
    services = state.ready(min(OPEN_WAIT_S, ends_s - time.monotonic()))
    if services is None:
        return Recalled("", "lexical", Gate.OPENING)
    if not call.has_said:
        services.recall.live.begin(session.id)
    is_own_asked = state.rule_notices.has_near(session.id) or not services.recall.live.knows(session.id)
    if state.waiting.answered(session.project_id) - {session.id} or (
        is_own_asked and state.waiting.holds(session.project_id, session.id)
    ):
        batches.readable(state, TAKING_SHARE * (ends_s - time.monotonic()))
    if not call.is_known and os.path.exists(session.transcript_path):
        # A session that begins with a transcript is a fork: 2.1.197 tells of it only here.
        _wait(
            _submit(state, "inherit " + session.id, _inherit, session), min(ends_s, time.monotonic() + INHERITED_WAIT_S)
        )
    rules = state.held.rules_for(call.payload.folder).recall
    scope, host_lines = state.scope(session.project_id), _host_lines(state, session)
    marks = code_check.marks(state, session.project_id, call.place.root)
    return services.recall.answer(call.payload.prompt, scope, rules, session, host_lines, marks)


def answer_prompt(state: State, call: HookCall) -> Answer:
    orders = _late_orders(state, call)
    recalled = _recalled(state, call.recall, call.ends_s) if call.recall is not None else None
    context = "\n\n".join(filter(None, (orders, recalled.block if recalled is not None else "")))
    answer = Answer(context, recalled=recalled, has_orders=orders is not None)
    if call.event["detail"] == RUN:
        return answer
    notice = _ready_notice(state)
    line = "" if notice else _rules_line(state, call)
    if not (notice or line) and recalled is not None and recalled.is_first and _began_before_the_store(state, call):
        notice = notes_offer.team_line(state, call.session, call.place.root)
    return answer._replace(notice=notice or line, tells_rules=bool(line))


def _began_before_the_store(state: State, call: HookCall) -> bool:
    """True if a session's start came while the store was opening."""
    return state.is_open and call.session.since_ms < 1000 * (time.time() - state.times.since("opened") + AT_ONCE_S)


def _late_orders(state: State, call: HookCall) -> str | None:
    """Return the orders that a compaction was told too late, if any."""
    if call.session.id not in state.rule_notices.orders_due or not state.rules.working_set.enabled:
        return None
    try:
        services = state.ready(call.ends_s - time.monotonic())
        return None if services is None else standing_orders(services.store, call.session.project_id)[0]
    except MemlayerError as bad:
        log.error("standing orders could not be read: %s", bad)
        return None


def _recalled(state: State, recall: Future[Recalled], ends_s: float) -> Recalled:
    try:
        recalled = recall.result(timeout=max(0.01, ends_s - time.monotonic()))
    except Late:
        log.warning("a recall was late")
        return Recalled("", "", Gate.LATE)
    except MemlayerError as bad:
        log.error("recall failed: %s", bad)
        return Recalled("", "", Gate.FAILED)
    return recalled


def after_prompt(state: State, call: HookCall) -> None:
    """Look for rules that an answered prompt lays down or takes back."""
    session, prompt = call.session, call.payload.prompt
    state.rule_notices.look((session.id, str(call.event["prompt_id"])), prompt)
    if state.is_open and _tells_rules(state, call):
        rules = orders_in_force(state.services.result().store, session.project_id) if takes_back(prompt) else []
        state.rule_notices.doubt(session.id, [rules[at] for at in let_go(prompt, [rule.text for rule in rules])])


def _tells_rules(state: State, call: HookCall) -> bool:
    is_on = state.settings.capture.enabled and state.settings.capture.tell_rules and call.event["detail"] != RUN
    return is_on and state.held.rules_for(call.payload.folder).recall.enabled


def _rules_line(state: State, call: HookCall) -> str:
    """Return the line about newly kept rules, "" for none."""
    line = state.rule_notices.line(call.session.id)
    return line if line and _tells_rules(state, call) else ""


def _inherit(state: State, session: Session) -> None:
    """Note memories and words in a resumed or forked session's context."""
    services = state.services.result()
    services.recall.live.of(session.id, session.context_since_ms)  # before the first prompt, which would wait for it
    inherited = catch_up.inherited(session, services.store)
    if inherited != session.inherited:
        session.inherited = inherited
        state.sessions.changed(session)
        state.sessions.save_changed()


# -- stop, session_end, pre_compact


def answer_stop(state: State, call: HookCall) -> Answer:
    """Answer with the line about the turn's rules, if kept in time.

    Only after a prompt with a rule it waits for that. What takes longer is told with the next prompt.
    """
    if flushing.asks(state, call.session, call.payload):
        return Answer(is_continued=True)
    turn = call.session.id, str(call.event["prompt_id"])
    if state.rule_notices.is_near(turn) and state.is_open:
        batches.take_soon(state)
        state.rule_notices.wait(turn, call.ends_s - time.monotonic())
    line = _rules_line(state, call)
    return Answer(notice=line, tells_rules=bool(line))


def after_stop(state: State, session: Session) -> None:
    if state.settings.flush.enabled and hosts.named(session.host).measures:
        flushing.measure(state, session)


def answer_pre_compact(state: State, call: HookCall) -> Answer:
    flush = state.settings.flush
    return Answer(flushing.summarizer_line(flush.summarizer_line) if flush.enabled else "")


def after_pre_compact(state: State, session: Session) -> None:
    batches.take_soon(state)
    if state.settings.flush.enabled:
        flushing.submit(state, session, "it is about to be compacted")


def after_session_end(state: State, session: Session) -> None:
    project_id, root = session.project_id, state.projects.root(session.project_id)
    batches.take_soon(state)  # first: the next session may start at once, and a settling takes longer
    settling = _submit(state, "settle " + session.id, intake.settle, session)

    def look() -> None:
        state.loader.submit("git of tasks " + project_id, lambda: task_commits.look_at_tasks(state, project_id, root))

    settling.add_done_callback(lambda _: look())


# -- hooks that only ask


def answer_subagent_start(request: protocol.Request, send: Send, state: State) -> None:
    """Give a subagent the head of its session's working set."""
    send(protocol.DURABLE, b"")
    fields, host = asked(request)
    folder = project.here(os.fsdecode(request.project_dir)) or project.here(str(fields.get("cwd") or ""))
    context = ""
    if folder and fields.get("agent_type"):  # the host's own compaction runs as an agent without a type
        place = project.locate(folder)
        if project.enabled(folder) and state.settings.working_set.enabled:
            if state.waiting.answered(state.projects.find(folder)[0]):
                batches.taken_in(state, TAKING_SHARE * (request.deadline_ms / 1000 - RESERVE_S))
            block, project_id = registry.read_working_set(state.home, place), state.projects.find(folder)[0]
            block, _ = working_set.checked(block, (), code_check.marks(state, project_id, place.root), len(block))
            context = working_set.in_short(block, SUBAGENT_CHARS)
    send(protocol.REPLY, host.output("subagent_start", context))


def _wait(job: Future[Any], until: float) -> None:
    """Wait for a job; its failure is the writer's to log."""
    try:
        job.exception(timeout=max(0.0, until - time.monotonic()))
    except Late:
        return
