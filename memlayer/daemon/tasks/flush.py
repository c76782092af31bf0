"""Flush of a session before the host compacts its measured context."""

import logging
import time

from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import derived, intake, reading
from memlayer.edge.capture.payload import Payload
from memlayer.records.sessions import Session
from memlayer.transcripts.token_usage import ContextTokens, read_token_use, window_tokens

log = logging.getLogger(__name__)
# The host writes its last answer to the transcript a moment after Stop: within 0.1 s on a quiet machine, after more
# than half a second on a busy one. Nobody waits for this.
BEHIND_WAIT_S = 3.0
# The same where the person waits for it: only with flush.ask_model.
ASKING_WAIT_S = 0.12
LOOK_AGAIN_S = 0.03
RESERVE_TOKENS = 20_000  # of the context, which the host keeps free for its summary
SOFT_THRESHOLD = 4_000  # tokens before that, where a flush is due
# Names that `flush.summarizer_line` may have in place of a text. One line each: the host's summarizer gets it after the
# person's own instructions.
SUMMARIZER_PRESETS = {
    "structured": (
        "Structure the summary in four sections. "
        "Task Overview: the request, its goals and constraints. "
        "Work Completed: files read, created or changed, with exact paths; commands; findings. "
        "Important Context: decisions with their reasons, names of functions and variables that matter, errors and "
        "their resolution, preferences of the user. "
        "Current State: next steps, blockers, open questions. "
        "Under 1,000 words, facts instead of process, in the user's language; keep every [mem:id] citation as it is."
    )
}


def summarizer_line(setting: str) -> str:
    """Return the summarizer's line: a preset, or the setting itself."""
    return SUMMARIZER_PRESETS.get(setting.strip().lower(), setting)


def limit_tokens(session: Session, model: str) -> int:
    """Return the tokens that call for a flush. model: the transcript's."""
    base_model = session.model.partition("[")[0]
    if base_model and (not model or model.startswith(base_model)):
        model = session.model  # only the host says that a window is the long one: `[1m]`
    return window_tokens(model) - RESERVE_TOKENS - SOFT_THRESHOLD


def is_full(state: State, session: Session, wait_s: float) -> bool:
    """Measure a session, within wait_s of its last answer; True: flush."""
    ends = time.monotonic() + wait_s
    while True:
        try:
            token_use = read_token_use(session.transcript_path) if session.transcript_path else None
        except OSError as bad:
            log.warning("transcript not readable: %s", bad.strerror)
            return False
        if (token_use is not None and not _is_behind(token_use, session)) or time.monotonic() >= ends:
            break
        time.sleep(LOOK_AGAIN_S)
    if token_use is None:
        return False
    if token_use.total_tokens != session.total_tokens:
        session.total_tokens = token_use.total_tokens
        state.sessions.changed(session)
    return token_use.total_tokens >= limit_tokens(session, token_use.model)


def _is_behind(token_use: ContextTokens, session: Session) -> bool:
    """Return whether the last answer is not in the transcript yet.

    A busy host may not even have written its prompt: then the newest answer there is older than the prompt.
    """
    return token_use.is_behind or 0 <= token_use.at_ms < session.prompted_ms


def asks(state: State, session: Session, payload: Payload) -> bool:
    """Return whether to ask the model now, at Stop, to store memories.

    Once a compaction, never while it already goes on because of a Stop hook, and only if the user wants it.
    """
    settings = state.settings.flush
    if not (settings.enabled and settings.ask_model and state.settings.capture.enabled):
        return False
    if payload.is_continued or not payload.prompt_id or not payload.transcript_path:
        return False
    if session.memory_asked_compaction_count == session.compaction_count:
        return False
    if not is_full(state, session, ASKING_WAIT_S):
        return False
    session.memory_asked_compaction_count = session.compaction_count
    session.asked_prompt_id = payload.prompt_id
    state.sessions.changed(session)
    state.sessions.save_changed()  # a daemon that comes after this one must not ask again
    log.info("asking the model to store memories")
    return True


def is_answer_to_us(state: State, payload: Payload) -> bool:
    """True for a Stop that ends our own request's turn."""
    session = state.sessions.get(payload.session_id)
    if session is None or not payload.is_continued or not payload.prompt_id:
        return False
    if session.asked_prompt_id != payload.prompt_id:
        return False
    session.asked_prompt_id = ""
    state.sessions.changed(session)
    return True


def measure(state: State, session: Session) -> None:
    """Have a session measured after an answer, and flushed if full."""
    session.measured_ms = session.answered_ms
    state.loader.submit("measure " + session.id, lambda: after_stop(state, session))


def look(state: State) -> None:
    """Measure sessions whose last answer came by the spool."""
    if state.settings.flush.enabled:
        for session in state.sessions.all():
            if session.answered_ms > session.measured_ms and not session.ended:
                measure(state, session)


def after_stop(state: State, session: Session) -> None:
    """Have a nearly full session flushed once a compaction; loader's job."""
    is_due = is_full(state, session, BEHIND_WAIT_S) and not session.is_flushed
    state.sessions.save_changed()
    if is_due:
        submit(state, session, "its context is nearly full")


def submit(state: State, session: Session, why: str) -> None:
    """Have the writer flush a session for its next compaction."""
    cycle = session.compaction_count
    state.jobs.submit("flush " + session.id, lambda: flush(state, session, cycle, why))


def flush(state: State, session: Session, cycle: int, why: str) -> None:
    """Settle a session so far, on disk too. The writer's job.

    cycle: how often the session had been compacted when the flush was found due; by now it may be once more.
    """
    intake.settle_memories(state, session)
    reading.begin_so_far(state, session)
    if session.project_id:
        derived.sync(state, session.project_id, recent=True)
    session.memory_flush_at = time.time_ns() // 1_000_000
    session.memory_flush_compaction_count = cycle
    session.flush_count += 1
    state.sessions.changed(session)
    state.sessions.save_changed()
    log.info("flushed a session of %d tokens: %s", session.total_tokens, why)
