"""A session's turns: words, changed files, failed calls."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memlayer.edge.capture.noise import recallable
from memlayer.edge.capture.payload import NOISE, OWN_COMMAND, RUN, clean
from memlayer.edge.capture.tool_use import EDITS
from memlayer.model import Event
from memlayer.text.sentences import width
from memlayer.turns.evidence import Evidence, Method, QuotePlace, align, evidence_of
from memlayer.turns.outcome import call_of
from memlayer.turns.salience import is_routine
from memlayer.turns.turn import ASSISTANT, USER, spoken_text
from memlayer.turns.turn_memory import spoken_parts

# A plan that was pasted says less than the words around it, and how an answer ends says more than how it begins:
# with these bounds a session of cli_en takes 1,500 tokens (median).
PROMPT_HEAD, PROMPT_TAIL = 1300, 700
ANSWER_HEAD, ANSWER_TAIL = 400, 1200
MAX_FILES = 12
MAX_FAILURES = 4
COMMAND_CHARS, ERROR_CHARS = 100, 160
CUT = " [... %d characters left out ...] "
LEAST_CHARS = 60  # of a turn that is read by itself: below it the rules see all that there is
SHORT_PROMPT, SHORT_ANSWER = 120, 240  # columns, in which Korean says as much as English: an order, and its "done"


@dataclass(frozen=True)
class FailedCall:
    """A failed call, and its error's first line."""

    call: str
    error: str


@dataclass(frozen=True)
class SessionTurn:
    """One turn of a session.

    number: from 1, within the session. prompt, answer: redacted, in full. files: changed, relative to the project where
    they lie in it. event_ids: of the prompt and its answers, which a note on this turn comes from. at_ms: Unix time.
    """

    number: int
    prompt_id: str
    prompt: str
    answer: str
    files: tuple[str, ...]
    failures: tuple[FailedCall, ...]
    event_ids: tuple[str, ...]
    at_ms: int

    @property
    def spoken(self) -> str:
        """The words that may be quoted: the prompt's, then the answer's."""
        return spoken_text(self.prompt, self.answer)

    @property
    def digest(self) -> str:
        """A hash of the content; a turn that goes on is another."""
        raw = "\0".join((self.prompt_id, self.prompt, self.answer, *self.files))
        return hashlib.sha256(raw.encode("utf-8", "replace")).hexdigest()[:16]


def turns_of(events: Sequence[Event], project_dir: str) -> list[SessionTurn]:
    """Return a session's turns, oldest first.

    Generated prompts and memlayer's own commands are left out, as is a run's prompt in a session that a person types.

    events: of one session, prompts, answers and tool calls. Private spans and media are taken out, and everything is
    redacted once more, because it leaves the machine.
    """
    details = {event.prompt_id: event.detail for event in events if event.kind == "user"}
    without = (NOISE, OWN_COMMAND) if set(details.values()) <= {NOISE, OWN_COMMAND, RUN} else (NOISE, OWN_COMMAND, RUN)
    left_out = {prompt_id for prompt_id, detail in details.items() if detail in without}
    by_prompt: dict[str, list[Event]] = {}
    for event in sorted(events, key=lambda event: event.at_ms):
        if event.prompt_id and event.prompt_id not in left_out:
            by_prompt.setdefault(event.prompt_id, []).append(event)
    turns: list[SessionTurn] = []
    for prompt_id, of_turn in by_prompt.items():
        spoken = [event for event in of_turn if event.kind in ("user", "assistant")]
        prompt, answer = spoken_parts(spoken)
        if not (prompt or answer):
            continue
        calls = [event for event in of_turn if event.kind == "tool"]
        turns.append(
            SessionTurn(
                number=len(turns) + 1,
                prompt_id=prompt_id,
                prompt=prompt,
                answer=answer,
                files=_changed_files(calls, project_dir),
                failures=_failures(calls),
                event_ids=tuple(event.id for event in spoken),
                at_ms=of_turn[0].at_ms,
            )
        )
    return turns


def _changed_files(calls: Iterable[Event], project_dir: str) -> tuple[str, ...]:
    files: dict[str, None] = {}
    root = project_dir.rstrip("/") + "/"
    for event in calls:
        call = call_of(event.text, event.detail)
        if call.tool in EDITS and call.target and not call.is_failed:
            files[clean(call.target.removeprefix(root) if project_dir else call.target)] = None
    return tuple(files)[-MAX_FILES:]


def _failures(calls: Iterable[Event]) -> tuple[FailedCall, ...]:
    failures = {}
    for event in calls:
        call = call_of(event.text, event.detail)
        if call.is_failed:
            target = " ".join(call.target.split())
            failures[target] = FailedCall(clean(target)[:COMMAND_CHARS], clean(call.said)[:ERROR_CHARS])
    return tuple(failures.values())[-MAX_FAILURES:]


def is_telling(turn: SessionTurn) -> bool:
    """Return False for small talk, and an order that went well."""
    return recallable(turn.prompt) and not is_routine(turn.prompt, [turn.answer])


def is_worth_reading(turns: Sequence[SessionTurn]) -> bool:
    """Return False for small talk, or one short order that went well."""
    telling = [turn for turn in turns if turn.answer and is_telling(turn)]
    if len(telling) > 1 or any(turn.failures for turn in turns):
        return bool(telling)
    return any(width(turn.prompt) > SHORT_PROMPT or width(turn.answer) > SHORT_ANSWER for turn in telling)


def shortened(text: str, head: int, tail: int) -> str:
    """Return a text's beginning and end, and a mark between them."""
    gap = len(text) - head - tail
    if gap <= len(CUT) + 20:
        return text
    return text[:head].rstrip() + CUT % gap + text[-tail:].lstrip()


def turn_as_text(turn: SessionTurn, scale: int = 1) -> str:
    """Return a turn for the model: a few labelled lines.

    scale: how many times the usual bounds its texts may have.
    """
    lines = ["## Turn %d" % turn.number]
    if turn.prompt:
        lines.append(USER + shortened(turn.prompt, scale * PROMPT_HEAD, scale * PROMPT_TAIL))
    if turn.answer:
        lines.append(ASSISTANT + shortened(turn.answer, scale * ANSWER_HEAD, scale * ANSWER_TAIL))
    else:
        lines.append("(no answer)")
    if turn.files:
        lines.append("Changed: " + ", ".join(turn.files))
    lines += ["Failed: %s: %s" % (failure.call, failure.error) for failure in turn.failures]
    return "\n".join(lines)


def align_in_turns(quote: str, number: int, turns: Sequence[SessionTurn]) -> tuple[SessionTurn, Evidence] | None:
    """Find a quote in the named turn, else in any.

    number: the turn that the model named. A model counts badly, so it is a hint.
    """
    best: tuple[SessionTurn, QuotePlace] | None = None
    for turn in sorted(turns, key=lambda turn: turn.number != number):
        span = align(quote, turn.spoken)
        if span is not None and (best is None or span.confidence > best[1].confidence):
            best = (turn, span)
        if best is not None and (best[1].method != Method.FUZZY or turn.number == number):
            break
    if best is None:
        return None
    turn, span = best
    return turn, evidence_of(span, turn.prompt_id, turn.prompt, turn.answer)
