"""What a session came to, by rules: its goal, work with exact paths and commands, decisions, errors, what is left."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Container, Iterable, Sequence

from memlayer.core import payload
from memlayer.core.context import cut
from memlayer.core.extraction import extract
from memlayer.core.extraction_sentences import USER, candidates, trimmed
from memlayer.core.ids import event_id
from memlayer.core.importance import importance
from memlayer.core.left_open import is_due, is_farewell, left_open
from memlayer.core.model import Event, Memory, citation_of
from memlayer.core.noise import recallable
from memlayer.core.outcome import outcome
from memlayer.core.statements import CAUSE, COMMITMENT, DECISION, PREFERENCE
from memlayer.core.summary_text import COMMANDS, DECIDED, DONE, ERRORS, FILES, GOAL, LEFT, summary_text
from memlayer.core.transcript_tools import read_calls
from memlayer.core.turn import is_open_question
from memlayer.core.work_done import WorkDone, call_of, from_answers, from_calls
from memlayer.ports import Store
from memlayer.service.sessions import Session

log = logging.getLogger(__name__)
SESSION_SUMMARY = "session_summary"
# A session that says nothing for so long, and never ended, has died: a killed terminal, a machine switched off.
DIED_AFTER_MS = 30 * 60_000
RECENT_MS = 30 * 86_400_000  # older sessions are not summed up any more
MAX_PENDING = 50
MAX_EVENTS = 20_000
MAX_OUTCOMES = 4
MAX_DECIDED = 4
MAX_ERRORS = 3
GOAL_CHARS = 200
SHORT_GOAL_CHARS = 60
ASKED_CHARS = 50
SENTENCE_CHARS = 160

_HANGUL = re.compile("[가-힣]")


def pending(sessions: Iterable[Session], now_ms: int) -> list[Session]:
    """Sessions that have ended, or died, and changed since they were last summed up; newest first, as given."""
    found = []
    for one in sessions:
        age_ms = now_ms - one.last_ms
        is_over = bool(one.ended) or age_ms > DIED_AFTER_MS
        if is_over and one.project_id and one.said_ms > one.summarized_ms and age_ms < RECENT_MS:
            found.append(one)
    return found[:MAX_PENDING]


def sum_up(
    store: Store, session: Session, *, with_transcript: bool = True, forgotten: Container[str] = ()
) -> Memory | None:
    """Write the summary of a session to the store; None when it is not worth one, or a person wants none. Doing it
    again replaces it.

    with_transcript: look for tool calls in the host's transcript where none are in the store. forgotten: ids (see
    none_wanted). Raises StoreError.
    """
    if none_wanted(session.id) in forgotten:
        return None
    events = store.events(session_id=session.id, project_id=session.project_id, limit=MAX_EVENTS)
    events = [event for event in events if event.kind in ("user", "assistant", "tool")]
    statements = store.memories(session_id=session.id, category="core")
    holding = sorted((one for one in statements if not one.superseded_by), key=lambda one: one.at_ms)
    known = [(one.kind, one.text) for one in holding] if statements else None
    work = _work(events, session, with_transcript)
    text = text_of(events, known, work, session.project_dir)
    if not text:
        return None
    made = event_id(session.id, "", SESSION_SUMMARY)
    last_ms = max(event.at_ms for event in events)
    memory = Memory(
        id=made,
        key="daily_%s_%s" % (_day(last_ms), made[:4]),
        citation=citation_of(made),
        category="daily",
        kind=SESSION_SUMMARY,
        text=text,
        importance=importance("daily", text),
        project_id=session.project_id,
        session_id=session.id,
        prompt_id="",
        source_ids=tuple(event.id for event in events),
        at_ms=last_ms,
    )
    store.put_memories([memory])
    return memory


def none_wanted(session_id: str) -> str:
    """The id that stands for "the summary of this session was forgotten, and what it was drawn from was not"."""
    return event_id(session_id, "", SESSION_SUMMARY, "forgotten")


def text_of(events: Sequence[Event], known: Sequence[tuple[str, str]] | None, work: WorkDone, project_dir: str) -> str:
    """The summary's text, "" for a session that is not worth one.

    events: the session's, oldest first. known: (kind, text) of the core memories drawn from it that hold; None if none
    were drawn, then they are looked for here. work: what its tool calls did; where they did nothing, what the answers
    name is taken.
    """
    turns = _turns(events)
    real = [(prompt, answers, at_ms) for prompt, answers, at_ms in turns if recallable(prompt)]
    if not real:
        return ""
    if known is None:
        found = [one for prompt, answers, at_ms in real for one in extract(prompt, answers, at_ms).statements]
        known = [(one.kind, one.text) for one in found]
    if not (work.files or work.commands):
        work = from_answers([answer for _, answers, _ in real for answer in answers], project_dir)._replace(
            errors=work.errors
        )
    outcomes = [one for one in (_done(prompt, answers) for prompt, answers, _ in real) if one]
    left = left_open([(prompt, answers) for prompt, answers, _ in turns])
    due = [text for kind, text in known if kind == COMMITMENT and text not in left]
    left += [text for text in due if is_due(text, _day(real[-1][2]))][-2:]
    decided = [text for kind, text in known if kind in (DECISION, PREFERENCE)][-MAX_DECIDED:]
    is_worth_it = bool(work.files or work.commands or decided or left) or len(outcomes) >= 2
    if not is_worth_it:
        return ""
    said = {
        GOAL: [_goal(real)],
        DONE: outcomes[-MAX_OUTCOMES:],
        FILES: work.files,
        COMMANDS: work.commands,
        DECIDED: [cut(one, SENTENCE_CHARS) for one in decided],
        ERRORS: [*work.errors, *_causes([text for kind, text in known if kind == CAUSE])][-MAX_ERRORS:],
        LEFT: left,
    }
    prompts = [prompt for prompt, _, _ in real]
    return summary_text(said, is_korean=2 * sum(bool(_HANGUL.search(one)) for one in prompts) >= len(prompts))


def _turns(events: Sequence[Event]) -> list[tuple[str, list[str], int]]:
    """(prompt, answers, Unix ms) of what was said, oldest first; without what nobody said."""
    turns: dict[str, tuple[list[str], list[str], int]] = {}
    left_out = {event.prompt_id for event in events if event.detail in (payload.NOISE, payload.OWN_COMMAND)}
    for event in events:
        if event.kind == "tool" or event.prompt_id in left_out:
            continue
        prompts, answers, _ = turns.setdefault(event.prompt_id, ([], [], event.at_ms))
        (prompts if event.kind == "user" else answers).append(event.text)
    return [("\n".join(prompts), answers, at_ms) for prompts, answers, at_ms in turns.values()]


def _work(events: Sequence[Event], session: Session, with_transcript: bool) -> WorkDone:
    calls = [call_of(event.text, event.detail) for event in events if event.kind == "tool"]
    if not calls and with_transcript and session.transcript_path:
        try:
            calls = read_calls(session.transcript_path)
        except OSError as bad:
            log.warning("transcript not readable: %s", bad.strerror)
    return from_calls(calls, session.project_dir)


def _goal(real: Sequence[tuple[str, list[str], int]]) -> str:
    """The first thing that the person wanted: the first prompt that says something, in its own words."""
    for prompt, answers, _ in real:
        if is_open_question(prompt, answers):
            continue
        telling = [one.text for one in candidates(prompt, USER) if recallable(one.text)]
        if telling:
            goal = trimmed(telling[0]) or telling[0]
            if len(goal) < SHORT_GOAL_CHARS and len(telling) > 1 and len(prompt) < GOAL_CHARS:
                goal += " " + telling[1]
            return cut(goal, GOAL_CHARS)
    return cut(" ".join(real[0][0].split()), GOAL_CHARS)


def _done(prompt: str, answers: Sequence[str]) -> str:
    """`what was asked → what came of it`: the answer alone often does not name what it is about."""
    came = outcome(prompt, answers)
    if not came or is_farewell(prompt):
        return ""
    asked = next((trimmed(one.text) or one.text for one in candidates(prompt, USER) if recallable(one.text)), "")
    return "%s → %s" % (cut(asked, ASKED_CHARS), cut(came, SENTENCE_CHARS)) if asked else cut(came, SENTENCE_CHARS)


def _day(at_ms: int) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at_ms / 1000))


def _causes(texts: Sequence[str]) -> list[str]:
    """One cause for each thing that went wrong: what follows it in the same answer mostly tells of the repair."""
    found: dict[str, str] = {}
    for text in texts:
        topic = text.partition(": ")[0]
        found.setdefault(topic, cut(text, SENTENCE_CHARS))
    return list(found.values())[-2:]
