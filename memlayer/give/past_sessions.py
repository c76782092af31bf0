"""The last sessions at a start, by a summary or a line."""

import os
import re
from collections import Counter
from collections.abc import Container, Sequence

from memlayer.consolidation.conflict.later import Changes
from memlayer.edge.capture.noise import recallable
from memlayer.kinds import Author, Kind
from memlayer.model import Memory
from memlayer.text.context_block import cut, day_of, flatten
from memlayer.text.sentences import is_question, sentence_texts, sentences
from memlayer.topics.session_summary import (
    ERRORS,
    FILES,
    TYPED_CHARS,
    is_farewell,
    items,
    newest_parts,
    parts_of,
    requests,
    stands_alone,
)
from memlayer.turns.outcome import checks
from memlayer.turns.questions import REQUESTS, asks_a_fact, is_open_question
from memlayer.turns.remembered import is_husk
from memlayer.turns.retraction import Order, order_of
from memlayer.turns.turn import TEMPLATE_TURNS, is_plan, opening_term, prompt_and_answer

MAX_SESSIONS = 10
ORDER_CHARS, SUMMARY_CHARS = 70, 280
MAX_PART_CHARS = 1000  # of a reading's summary
OWN_CHARS, BEGINNING_CHARS = 200, 20  # of a long prompt, before the text pasted below; of a sentence
FULL_CHARS = 3000  # of a prompt that leaves its turn's text no room for an answer
MAX_FILES = 2  # by name. More are counted
REVERTED, FAILING, UNCOMMITTED = "reverted", "failing", "uncommitted"
# Another command may have passed since, or the work went out.
_MENDED = re.compile(r"\bpass(?:es|ed|ing)?\b|\bgreen\b|\bcommitted\b|\bpushed\b|통과|커밋했|푸시했", re.IGNORECASE)
_BROKEN = re.compile(r"\bfail|\bred\b|\bbroken?\b|실패|깨[졌지진집]|빨간", re.IGNORECASE)
_UNCOMMITTED = re.compile(
    r"\b(?:not|nothing(?: is| was)?|hasn't been|haven't|isn't|aren't)(?: yet)?(?: been)? committed\b|\buncommitted\b"
    r"|\b(?:don'?t|do not|without) (?:yet )?commit(?:ting)?\b|\bleft (?:it|them|the changes) uncommitted\b"
    r"|커밋(?:은|을|까지)? ?(?:하지 ?(?:않|마|말)|안 ?(?:했|하|함|됐)|아직|전(?:이|에))|아직 커밋|미커밋",
    re.IGNORECASE,
)


def summed_up(
    summaries: Sequence[Memory], reports: Sequence[Memory], gone: Container[tuple[str, str]], rules: Sequence[str]
) -> list[tuple[str, Memory]]:
    """Return (line, memory) of the person's last session and a later script's.

    summaries, reports: newest first. A session that no model has read has its line of `listed`.
    """
    sent = scripts_sessions(reports)
    last = next((row for row in summaries if row.session_id not in sent), None)
    rows: list[tuple[str, Memory]] = []
    if last is not None and last.by is not Author.READER:
        rows = listed([row for row in reports if row.session_id == last.session_id], [last], gone, rules)
    elif last is not None:
        rows = [("(last session, %s) %s" % (day_of(last.at_ms), _in_short(last)), last)]
    newest = summaries[0] if summaries else None
    if newest is not None and newest is not last and newest.by is Author.READER:
        openings = {row.session_id: _opening(row) for row in reports}
        own = openings[newest.session_id]
        often = "; its prompt ran %d times" % list(openings.values()).count(own) if own else ""
        rows.append(("(a script's session, %s%s) %s" % (day_of(newest.at_ms), often, _in_short(newest)), newest))
    return rows


def _in_short(summary: Memory) -> str:
    """Return the whole sentences of a summary's newest parts that fit."""
    text = flatten(newest_parts(summary.text, MAX_PART_CHARS))
    ends = [span.end for span in sentences(text) if BEGINNING_CHARS <= span.end <= SUMMARY_CHARS]
    return text if len(text) <= SUMMARY_CHARS else text[: ends[-1]] if ends else cut(text, SUMMARY_CHARS)


def listed(
    reports: Sequence[Memory],
    summaries: Sequence[Memory],
    gone: Container[tuple[str, str]],
    rules: Sequence[str],
    changes: Changes | None = None,
    said: Sequence[tuple[str, Memory]] = (),
) -> list[tuple[str, Memory]]:
    """Return (line, turn) of the last sessions with a person's order.

    The newest stands there by whatever was said. reports, summaries: newest first. gone: (session, prompt) of turns
    whose statement holds no more. rules: texts that the start tells as rules. said: lines that it tells as statements.
    """
    rules, sessions_told = [*rules, *(line for line, _ in said)], {row.session_id for _, row in said}
    scripts = of_a_script(reports)
    sessions: dict[str, list[Memory]] = {}
    for turn in reports:
        if turn.id not in scripts:
            sessions.setdefault(turn.session_id, []).insert(0, turn)
    by_session = {row.session_id: parts_of(row.text) for row in reversed(summaries)}
    is_newest = True  # of those in which something was said
    lines: list[tuple[str, Memory]] = []
    for session_id, turns in sessions.items():
        parts = by_session.get(session_id, {})
        end = _end(turns, parts)
        held = [row for row in turns if end == REVERTED or row.known_kind is not Kind.DID_NOT_HOLD]
        held = [row for row in held if (session_id, row.prompt_id) not in gone]
        found = next(filter(None, (_order(row, rules, changes) for row in held)), None)
        if found is None and is_newest and session_id not in sessions_told:
            found = next(filter(None, (_words(row, rules) for row in held)), None)
        is_newest = is_newest and found is None and session_id not in sessions_told
        if found is not None and len(lines) < MAX_SESSIONS:
            order, turn = found
            facts = "; ".join([*_files(parts), *filter(None, [end])])
            lines.append(("%s: %s%s" % (day_of(turn.at_ms), order, " (%s)" % facts if facts else ""), turn))
    return lines


def _order(turn: Memory, rules: Sequence[str], changes: Changes | None) -> tuple[str, Memory] | None:
    """Return the first sentence of an answered order, no rule."""
    prompt, answer = prompt_and_answer(turn.text)
    is_answered = bool(answer.strip()) or len(prompt) > FULL_CHARS
    if turn.known_kind is Kind.ROUTINE or not is_answered or not recallable(prompt) or is_farewell(prompt):
        return None
    if asks_a_fact(prompt) or is_open_question(prompt, [answer]) or order_of(prompt) is not Order.NONE:
        return None
    if changes is not None and any(changes.ended(text, turn.text, turn.at_ms) for text in sentence_texts(prompt)):
        return None  # an order hangs on the words beside it
    told = next((text for text in _sentences(prompt) if not any(text in rule for rule in rules)), "")
    return (cut(flatten(told), ORDER_CHARS), turn) if told else None


def _words(turn: Memory, rules: Sequence[str]) -> tuple[str, Memory] | None:
    """Return the first sentence of a prompt that is no greeting."""
    prompt = prompt_and_answer(turn.text)[0]
    said = sentence_texts(prompt) if recallable(prompt) and not is_farewell(prompt) else []
    told = next((text for text in said if not (is_husk(text) or any(text in rule for rule in rules))), "")
    return (cut(flatten(told), ORDER_CHARS), turn) if told else None


def _sentences(prompt: str) -> list[str]:
    """Return a plan's title, or the sentences that ask for work."""
    asked = requests(prompt)
    if is_plan(prompt):
        return asked
    own = prompt if len(prompt) <= TYPED_CHARS else prompt[:OWN_CHARS]
    asked = [text for text in asked if stands_alone(text) and not is_husk(text) and text[:BEGINNING_CHARS] in own]
    return [text for text in asked if REQUESTS.search(text) or not is_question(text)]


def _files(parts: dict[str, str]) -> list[str]:
    names = list(dict.fromkeys(os.path.basename(path) for path in items(FILES, parts.get(FILES, "")) if path))
    more = " +%d" % (len(names) - MAX_FILES) if len(names) > MAX_FILES else ""
    return [", ".join(names[:MAX_FILES]) + more] if names else []


def _end(turns: Sequence[Memory], parts: dict[str, str]) -> str:
    """Return how a session ended, "" unless it is sure."""
    prompt, answer = prompt_and_answer(turns[-1].text)
    if order_of(prompt) is Order.TAKES_BACK:
        return REVERTED
    if any(map(checks, items(ERRORS, parts.get(ERRORS, "")))) and not _is_mended(turns):
        return FAILING
    return UNCOMMITTED if FILES in parts and _UNCOMMITTED.search(prompt + "\n" + answer) else ""


def _is_mended(turns: Sequence[Memory]) -> bool:
    """True if the last answer that tells of checks says they pass."""
    answers = (prompt_and_answer(turn.text)[1] for turn in reversed(turns))
    telling = (bool(_MENDED.search(text)) for text in answers if _MENDED.search(text) or _BROKEN.search(text))
    return next(telling, False)


def of_a_script(turns: Sequence[Memory]) -> frozenset[str]:
    """Return the ids of turns that a run, or a template, sent."""
    openings = {turn.id: _opening(turn) for turn in turns}
    counted = Counter(filter(None, openings.values()))
    runs = {turn.id for turn in turns if turn.by is Author.RUN}
    return frozenset(turn for turn, term in openings.items() if turn in runs or counted[term] > TEMPLATE_TURNS)


def scripts_sessions(turns: Sequence[Memory]) -> set[str]:
    """Return the ids of sessions of which nobody typed a turn."""
    scripts = of_a_script(turns)
    return {turn.session_id for turn in turns} - {turn.session_id for turn in turns if turn.id not in scripts}


def sent_again(turns: Sequence[Memory]) -> dict[tuple[str, str], int]:
    """Return (session, prompt) -> characters, of prompts sent in several sessions."""
    sessions: dict[str, set[str]] = {}
    openings = {turn.id: _opening(turn) for turn in turns}
    for turn in turns:
        sessions.setdefault(openings[turn.id], set()).add(turn.session_id)
    return {
        (turn.session_id, turn.prompt_id): len(prompt_and_answer(turn.text)[0])
        for turn in turns
        if openings[turn.id] and len(sessions[openings[turn.id]]) > 1
    }


def _opening(turn: Memory) -> str:
    return opening_term(prompt_and_answer(turn.text)[0])
