"""The working set of a session's start."""

from __future__ import annotations

import time
from collections.abc import Collection, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest

from memlayer.briefing import listed_start, noted_start
from memlayer.briefing.session_summary import is_due, is_farewell
from memlayer.briefing.standing_orders import orders_in_force, rule_lines, rules_in_short
from memlayer.briefing.summary_text import SUMMARY_CHARS, summary_in_short
from memlayer.consolidation import lineage
from memlayer.consolidation.rules.extraction import has
from memlayer.edge.capture.noise import recallable
from memlayer.edge.redaction.privacy import without_marks
from memlayer.kinds import KINDS, Category, Kind, Start
from memlayer.model import GLOBAL, Memory, team_session
from memlayer.ports import MemoryQuery, Store
from memlayer.recall import precedence
from memlayer.recall.superseded import Replacement, replacement_of
from memlayer.text import context_block
from memlayer.text.sentences import prose
from memlayer.transcripts import host_memory
from memlayer.turns.plans import is_done, plan_of
from memlayer.turns.questions import asks_a_fact, is_still_open
from memlayer.turns.retraction import Order, order_of
from memlayer.turns.turn import ASSISTANT, USER, prompt_and_answer
from memlayer.turns.turn_memory import marked_text

SHORTEST_CHARS = 25  # "ok", "계속": a turn that says nothing to somebody who was not there
ENTRY_CHARS = 240
MAX_OF_A_KIND = 3
MAX_DUE = 2
MAX_OF_TEAM = 2
UNLISTED_CHARS = 1200  # of a start that chooses by rules: more lines were idle (docs/quality.md)
REST_CHARS = 300  # kept for the last session where rules would take all the room
RULE_SHARE = 0.5  # of a prompt: it does hardly anything but lay down its rules
# Older commitments and open items are history: recall finds them for a prompt about them.
OPEN_MS = 14 * 86_400_000
# An order given earlier ("let's ...") has mostly been carried out; only an explicit decision is still in force.
DECIDED_SESSIONS = 2
_LOOKED_AT = 40
_CORE_LOOKED_AT = 300
_OVER_LOOKED_AT = 1000


@dataclass(frozen=True)
class WorkingSetRules:
    """The user's settings. max_chars counts the whole block."""

    enabled: bool = True
    max_entries: int = 6
    max_chars: int = 3500


@dataclass(frozen=True)
class _Line:
    memory: Memory
    text: str
    max_chars: int = ENTRY_CHARS


def compose(
    store: Store,
    project_id: str,
    rules: WorkingSetRules,
    *,
    excluded_session_id: str = "",
    excluded_ids: Collection[str] = (),
) -> str:
    """The working set of a project, "" for none.

    In a project with notes all that is known, by headline (listed_start). Else first the rules that a person laid down,
    all of them: shortened or counted where they are too many. Then the last session's summary, pinned memories, those
    of every project, decisions, preferences and due commitments, by turns.
    excluded_session_id: a session that has its own turns in its context, after a compaction. excluded_ids: memories
    that stand there already. Raises StoreError.
    """
    if not rules.enabled or not rules.max_entries:
        return ""
    orders = orders_in_force(store, project_id)
    notes = noted_start.notes_in_force(store, project_id, _CORE_LOOKED_AT)
    if notes:
        known = noted_start.known(store, project_id, notes, orders, excluded_session_id, excluded_ids)
        return listed_start.compose(known, project_id, rules.max_chars)
    head = context_block.head(context_block.WORKING_SET_EXPLANATION)
    told_ids = frozenset(excluded_ids).union(order.id for order in orders)
    words = {order.text for order in orders}
    rest = [
        entry
        for entry in _chosen(store, project_id, excluded_session_id)
        if entry.memory.id not in told_ids and entry.memory.text not in words
    ]
    rest = precedence.ordered(rest, lambda entry: precedence.Entry(entry.memory.text, entry.memory.at_ms))
    room = min(rules.max_chars, UNLISTED_CHARS) - len(head)
    orders = [order for order in orders if order.id not in excluded_ids]
    lines = rule_lines(orders, project_id, room - (min(REST_CHARS, room // 3) if rest else 0))
    lines += _rest(rest, orders, project_id, rules.max_entries, room - sum(len(line) + 1 for line in lines))
    return "\n".join([head, *lines]) if lines else ""


def _rest(entries: Sequence[_Line], orders: Sequence[Memory], project_id: str, most: int, left: int) -> list[str]:
    """The lines below the rules: at most so many entries and characters."""
    lines: list[str] = []
    counted, everywhere = 0, left // 2  # memories of every project: no entry, at most half of the room
    seen: list[_Line] = []
    sources: set[str] = set()
    for entry in entries:
        if not entry.text or _is_told(entry, seen, sources, orders):
            continue
        seen.append(entry)
        sources.update(entry.memory.source_ids if entry.memory.category == Category.CORE else ())
        day = context_block.day_of(entry.memory.at_ms)
        label = len(context_block.line_of(context_block.Entry(entry.memory.citation, day, ""), 0)) + 1
        max_chars = min(entry.max_chars, left - label) if not lines else entry.max_chars
        line = context_block.line_of(context_block.Entry(entry.memory.citation, day, entry.text), max_chars)
        if len(line) + 1 > left or max_chars < SHORTEST_CHARS:
            continue  # a shorter one may still fit
        if entry.memory.project_id == GLOBAL != project_id:
            if len(line) + 1 > everywhere:
                continue
            everywhere -= len(line) + 1
            counted -= 1
        lines.append(line)
        left -= len(line) + 1
        counted += 1
        if counted >= most:
            break
    return lines


def _is_told(entry: _Line, seen: Sequence[_Line], sources: Container[str], orders: Sequence[Memory]) -> bool:
    """True for an entry said already.

    Alone, in a summary, or by a statement of its turn. A task that another task waits for is not told by it.
    """
    memory = entry.memory
    if memory.category == Category.CONVERSATION:
        if any(source in sources for source in memory.source_ids):
            return True
        drawn = sum(len(order.text) for order in orders if not set(order.source_ids).isdisjoint(memory.source_ids))
        prompt, _, _ = memory.text.removeprefix(USER).partition("\n" + ASSISTANT)
        if drawn and drawn >= RULE_SHARE * len(prompt):
            return True
    is_task = memory.known_kind is Kind.TASK
    others = [other.text for other in seen if not (is_task and other.memory.known_kind is Kind.TASK)]
    return any(entry.text in other or memory.text in other for other in others)


def shortened(text: str, max_chars: int = ENTRY_CHARS) -> str:
    """A turn in short: the heads of prompt and answer."""
    prompt, _, answered = prose(text).partition("\n" + ASSISTANT)
    if not answered:
        return context_block.cut(context_block.flatten(prompt), max_chars)
    prompt = context_block.flatten(prompt)
    half = max(max_chars // 2, max_chars - len(prompt) - 20)
    answer = context_block.cut(context_block.flatten(answered), half)
    prompt = context_block.cut(prompt, max(40, max_chars - len(answer) - len(ASSISTANT) - 1))
    return "%s %s%s" % (prompt, ASSISTANT, answer)


def _chosen(store: Store, project_id: str, excluded_session_id: str) -> Iterator[_Line]:
    """Candidates for the block, best first."""
    reports = store.memories(MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=_LOOKED_AT))
    over = store.memories(
        MemoryQuery(project_id=project_id, category=Category.CORE, is_current=False, limit=_OVER_LOOKED_AT)
    )
    gone = {(entry.session_id, entry.prompt_id) for entry in over if entry.prompt_id}  # turns of superseded statements
    scripts = noted_start.of_a_script(reports)
    turns = [
        entry
        for entry in reports
        if entry.session_id != excluded_session_id
        and entry.id not in scripts
        and (entry.session_id, entry.prompt_id) not in gone
        and _says_something(entry)
    ]
    summaries = store.memories(
        MemoryQuery(
            project_id=project_id, category=Category.DAILY, kind=Kind.SESSION_SUMMARY, is_current=True, limit=_LOOKED_AT
        )
    )
    typed = {entry.session_id for entry in reports if entry.id not in scripts}
    sent = {entry.session_id for entry in reports} - typed
    summaries = [entry for entry in summaries if entry.session_id not in {excluded_session_id, *sent}]
    core = store.memories(
        MemoryQuery(
            project_id=project_id, category=Category.CORE, is_current=True, limit=_CORE_LOOKED_AT, order="importance"
        )
    )
    now_ms = max([entry.at_ms for entry in (*turns[:1], *summaries[:1], *core)], default=0)
    tasks = noted_start.live_tasks(core, (*reports, *summaries))
    core = [entry for entry in core if entry.known_kind is not Kind.TASK]
    newest = summaries[0] if summaries else None
    # The newest turn's session has no summary yet: it still runs, it died a moment ago, or it was too short for one.
    last = [turn for turn in turns if newest is None or turn.at_ms > newest.at_ms]
    last = [turn for turn in last if turn.session_id == last[0].session_id and not _was_carried_out(turn, reports)]
    told = next((turn for turn in last if not _asks_a_fact(turn)), None)
    if told is not None:
        yield _Line(told, shortened(told.text))
    if newest is not None:
        yield _Line(newest, summary_in_short(newest.text, SUMMARY_CHARS, _gone(store, newest, over)), SUMMARY_CHARS)
    yield from map(_open, tasks)
    for entry in [entry for entry in core if entry.pinned]:
        yield _stated(entry)
    if project_id == GLOBAL:  # all of it is there because the person put it there
        yield from map(_stated, core)
    else:
        yield from _everywhere(store, project_id)
    by_time = sorted(core, key=lambda entry: -entry.at_ms)
    today = time.strftime("%Y-%m-%d", time.localtime(now_ms / 1000))
    due = [
        entry
        for entry in by_time
        if _start_of(entry) is Start.DUE
        and now_ms - entry.at_ms < OPEN_MS
        and is_due(entry.text, today)
        and not is_done(entry.text, [turn.text for turn in reports if turn.at_ms >= entry.at_ms])
    ]
    orders = [entry for entry in core if _start_of(entry) is Start.WISH]
    heard = sorted((*turns, *summaries, *core), key=lambda entry: -entry.at_ms)
    recent = list(dict.fromkeys(entry.session_id for entry in heard))[:DECIDED_SESSIONS]
    decided = [
        entry
        for entry in by_time
        if _start_of(entry) is Start.SETTLED and (entry.session_id in recent or has("decided", entry.text))
    ]
    for rest in chain.from_iterable(zip_longest(decided[:MAX_OF_A_KIND], orders[:MAX_OF_A_KIND], due[:MAX_DUE])):
        if rest is not None:
            yield _stated(rest)
    yield from _of_team(store, project_id)
    if told is None and last:  # a question with its answer, below the statements that it may repeat
        yield _Line(last[0], shortened(last[0].text))


def _everywhere(store: Store, project_id: str) -> Iterator[_Line]:
    """Memories for every project, pinned and newest first."""
    if project_id == GLOBAL:
        return
    query = MemoryQuery(project_id=GLOBAL, category=Category.CORE, is_current=True, limit=_CORE_LOOKED_AT)
    for entry in sorted(store.memories(query), key=lambda entry: (not entry.pinned, -entry.at_ms)):
        yield _Line(entry, "(every project) " + entry.text)


def _of_team(store: Store, project_id: str) -> Iterator[_Line]:
    """The newest notes of colleagues, with their authors."""
    query = MemoryQuery(session_id=team_session(project_id), is_current=True, limit=MAX_OF_TEAM)
    yield from (_Line(note, marked_text(note)) for note in store.memories(query))


def _gone(store: Store, summary: Memory, over: Sequence[Memory]) -> list[Replacement]:
    """The statements of the summary's session that hold no more."""
    return [
        replacement_of(entry, lineage.head(store, entry)) for entry in over if entry.session_id == summary.session_id
    ]


def _open(task: Memory) -> _Line:
    return _Line(task, "(open) " + task.text)


def _stated(memory: Memory) -> _Line:
    return _Line(memory, "(%s) %s" % (memory.kind, memory.text) if memory.kind else memory.text)


def _start_of(memory: Memory) -> Start:
    return KINDS[memory.known_kind].start


def _asks_a_fact(turn: Memory) -> bool:
    return asks_a_fact(prompt_and_answer(turn.text)[0])


def _was_carried_out(turn: Memory, reports: Sequence[Memory]) -> bool:
    """True for a turn whose plan a later turn reports as done."""
    plan = plan_of(turn.text)
    return bool(plan) and is_done(plan, [later.text for later in reports if later.at_ms > turn.at_ms])


def _says_something(memory: Memory) -> bool:
    is_open = memory.known_kind is Kind.OPEN_QUESTION and is_still_open(memory.text)
    is_shown = _start_of(memory) is Start.NEWEST_TURN or memory.known_kind is Kind.OPEN_QUESTION
    if is_open or not is_shown or memory.superseded_by:
        return False
    prompt, _, _ = memory.text.partition("\n" + ASSISTANT)
    asked = prompt.removeprefix(USER)
    if asked != prompt and (not recallable(asked) or is_farewell(prompt) or order_of(asked) is Order.TAKES_BACK):
        return False
    return len(prose(without_marks(memory.text)).replace(USER, "").replace(ASSISTANT, "").strip()) >= SHORTEST_CHARS


def without_said(block: str, host_lines: host_memory.Lines) -> str:
    """Return a working set without the lines of the host's own memory."""
    if not host_lines or not block:
        return block
    entries = context_block.entry_lines(block)
    said = {line for line in entries if host_memory.says(host_lines, context_block.text_of(line))}
    lines = [line for line in block.split("\n") if line not in said]
    return listed_start.without_empty_headings(lines) if len(said) < len(entries) else ""


def in_short(block: str, max_chars: int) -> str:
    """Return the head of a working set for a subagent."""
    lines, left = [context_block.HEADER, context_block.SHORT_EXPLANATION], max_chars
    left -= sum(len(line) + 1 for line in lines)
    rules, others = rules_in_short(block.split("\n"), left)
    entries = context_block.entry_lines(block)
    listed = listed_start.rules_in(block)
    lines += rules
    left -= sum(len(line) + 1 for line in rules)
    for line in [*listed, *(line for line in others if line in entries and line not in listed)]:
        if len(line) + 1 <= left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines) if len(lines) > 2 else ""
