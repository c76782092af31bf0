"""A turn's memory, made from its events."""

import re
from collections.abc import Sequence

from memlayer.edge.capture.payload import NOISE, OWN_COMMAND, RUN, clean
from memlayer.kinds import CATEGORIES, KINDS, Author, Category, Kind
from memlayer.kinds import mark_of as words_before
from memlayer.model import Event, Memory, replace, turn_memory_id
from memlayer.text.context_block import cut, flatten
from memlayer.text.sentences import sentences
from memlayer.turns.questions import is_open_question
from memlayer.turns.salience import importance, is_routine, is_routine_text, new_memory
from memlayer.turns.turn import ASSISTANT, MAX_MEMORY_CHARS, USER, readable, turn_text

MAX_HEADLINE_CHARS = 140  # 173 of 308 headlines of models that were asked for 120 had up to 136
MAX_SUBJECT_CHARS = 20
LEAST_CLAUSE_CHARS = 60  # a shorter beginning is a condition ("With `X` set"), or names a matter and states nothing
_CLOSING = " `)'\""  # "`self.__class__(...)` in every branch" goes on
# Between clauses: punctuation, an English conjunction, a Korean connective ending.
_BREAK = re.compile(
    r"[,;:](?=\s)|\s[-\u2013\u2014](?=\s)|\s(?=(?:because|since|so that|but|which|while)\s)"
    r"|(?<=[가-힣][고며서만지])(?=\s(?!(?:않|못|말|마라|마세|있|싶|없)))|(?<=는데)(?=\s)"  # "하지 않는다" is one
)
READ_CHARS = 200_000  # of a turn. What follows is in nobody's notes


def headline_of(memory: Memory) -> str:
    """Return a memory's headline, at most MAX_HEADLINE_CHARS; else its first clause."""
    return flatten(memory.headline) or first_clause(memory.text)


def fitting(headline: str, subject: str) -> tuple[str, str]:
    """Return a headline and subject from anywhere as harmless lines that fit."""
    return cut(flatten(headline), MAX_HEADLINE_CHARS), cut(flatten(subject), MAX_SUBJECT_CHARS)


def first_clause(text: str) -> str:
    """Return a short text, else its first sentence or clauses."""
    text = flatten(text)
    if len(text) <= MAX_HEADLINE_CHARS:
        return text
    ends_at = (span.end for span in sentences(text) if not text[span.end :].lstrip(_CLOSING)[:1].islower())
    first = text[: next(ends_at, len(text))].strip().rstrip(".。")
    if len(first) <= MAX_HEADLINE_CHARS:
        return first
    breaks = (at.start() for at in _BREAK.finditer(first))
    ends = [
        end
        for end in breaks
        if LEAST_CLAUSE_CHARS <= end <= MAX_HEADLINE_CHARS and first.count("(", 0, end) == first.count(")", 0, end)
    ]
    return first[: ends[-1]].rstrip(",;:") if ends else cut(first, MAX_HEADLINE_CHARS)


def prompt_and_answers(events: Sequence[Event]) -> tuple[str, list[str]]:
    """Return a turn's prompt and answers (a continued Stop's), in order."""
    prompt = "\n".join(event.text for event in events if event.kind == "user")
    return prompt, _distinct_answers([event for event in events if event.kind == "assistant"])


def spoken_parts(events: Sequence[Event]) -> tuple[str, str]:
    """Return a turn's prompt and answer as they may be quoted, redacted."""
    spoken = [event for event in events if event.kind in ("user", "assistant")]
    prompt, answers = prompt_and_answers(sorted(spoken, key=lambda event: (event.kind != "user", event.at_ms)))
    prompt, answers = readable(clean(prompt), [clean(answer) for answer in answers], max_chars=READ_CHARS)
    return prompt, "\n".join(answers)


def _distinct_answers(answers: Sequence[Event]) -> list[str]:
    """Deduplicate answers seen by both hook and transcript.

    The transcript also holds the beginning of an answer that then went on. The host joins the parts of an answer in two
    ways, and may give a hook the last part only.
    """
    read = [event for event in answers if event.source == "transcript"]
    if not read or len(answers) == 1:
        return [event.text for event in answers]
    last = _words(read[-1])
    heard = [event for event in answers if event.source != "transcript"]
    if any(last in _words(event) for event in heard):
        return [event.text for event in heard]
    return [
        event.text
        for event in answers
        if event is read[-1] or (event.source != "transcript" and _words(event) not in last)
    ]


def _words(event: Event) -> str:
    return " ".join(event.text.split())


def full_text(events: Sequence[Event]) -> str:
    """Return the turn's text, uncut, for the index."""
    return turn_text(*prompt_and_answers(events))


def turn_memory(events: Sequence[Event]) -> Memory | None:
    """Make a turn's memory from its events. None without lasting text.

    From all its events so far. Generated prompts and memlayer's own commands make no memory: the answer to the latter
    repeats memories.
    """
    spoken = sorted((event for event in events if event.kind in ("user", "assistant")), key=_order)
    done = sorted((event for event in events if event.kind == "tool"), key=_order)
    if not spoken or any(event.detail in (NOISE, OWN_COMMAND) for event in spoken):
        return None
    prompt, answers = prompt_and_answers(spoken)
    text = turn_text(prompt, answers)
    if not text:
        return None
    first = spoken[0]
    memory_id = turn_memory_id(first.session_id, first.prompt_id)
    is_run = any(event.detail == RUN for event in spoken)
    return new_memory(
        memory_id, Category.CONVERSATION, _kind(prompt, answers, is_run), text[:MAX_MEMORY_CHARS], first.at_ms,
        importance=importance(Category.CONVERSATION, text), project_id=first.project_id,
        session_id=first.session_id, prompt_id=first.prompt_id, by=Author.RUN if is_run else Author.PERSON,
        source_ids=tuple(event.id for event in [*spoken, *done]),  # tool calls are forgotten with the turn
    )  # fmt: skip


def _kind(prompt: str, answers: Sequence[str], is_run: bool) -> Kind:
    if is_routine(prompt, answers):
        return Kind.ROUTINE
    if is_run:
        return Kind.RUN
    return Kind.OPEN_QUESTION if is_open_question(prompt, list(answers)) else Kind.TURN


def prompt_of(memory: Memory) -> str:
    """Return a turn's prompt, as far as its memory holds it."""
    prompt, _, _ = memory.text.partition("\n" + ASSISTANT)
    return prompt.removeprefix(USER) if prompt.startswith(USER) else ""


def without_force(memory: Memory, kind: Kind) -> Memory:
    """Return a turn that was taken back. kind: of NOT_HELD."""
    return replace(memory, kind=kind, importance=CATEGORIES[Category.CONVERSATION].importance)


def mark_of(memory: Memory) -> str:
    """Return the words before the text where it is shown."""
    return words_before(memory.category, memory.kind)


def marked_text(memory: Memory) -> str:
    """Return a memory's text as it is shown."""
    return mark_of(memory) + memory.text


def carried_over(known: Memory | None, made: Memory) -> Memory:
    """Carry pin, end and reading over to a turn's memory made anew.

    Only events that it has not had yet make it unread, and a prompt that takes it back or reinstates it.
    """
    if known is None:
        return made
    if known.known_kind is Kind.REWOUND:  # only the transcript tells that the person went back to it
        made = without_force(made, Kind.REWOUND)
    has_changed_force = (known.known_kind is Kind.DID_NOT_HOLD) != (made.known_kind is Kind.DID_NOT_HOLD)
    rules = known.rules if known.source_ids == made.source_ids and not has_changed_force else 0
    return replace(
        made,
        pinned=known.pinned,
        ended_because=known.ended_because,
        ended_ms=known.ended_ms,
        superseded_by=known.superseded_by,
        rules=rules,
    )


def is_searched(memory: Memory) -> bool:
    """True for the search index: no turn's daily entry, no routine turn.

    Nor words of a prompt that may be somebody else's: its turn has them, with what stands around them.
    """
    if memory.category == Category.CONVERSATION and is_routine_text(memory.text):  # also of an older version's turns
        return False
    is_unclear = memory.category == Category.CORE and memory.by is Author.UNCLEAR
    return KINDS[memory.known_kind].searched and memory.holds and not is_unclear


def _order(event: Event) -> tuple[bool, int]:
    return event.kind != "user", event.at_ms
