"""Build the text that a session starts with.

It is written after each batch, for a session of the project that starts. A subagent gets its head.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from memlayer.consolidation.statement import unclear_wishes, without_echoes
from memlayer.give import listed_start, own_statements, past_sessions
from memlayer.give.candidate import LeftOut, Reason
from memlayer.give.listed_start import REST_SESSIONS, StartMemories
from memlayer.give.standing_orders import orders_in_force
from memlayer.kinds import Author, Category, Kind
from memlayer.model import CITED, GLOBAL, OPENED, Memory, team_session
from memlayer.ports import MemoryQuery, Store, UsageQuery, notes_in_force
from memlayer.text import context_block
from memlayer.text.context_block import flatten
from memlayer.topics.profile import Profile
from memlayer.transcripts import host_memory
from memlayer.turns.remembered import is_husk

MAX_TASKS = 3
MAX_LINES = 3  # of past sessions, behind statements
FRESH_SESSIONS = 3  # later ones in which a task may go unmentioned (of 75 such lines 48 were idle, 20 untrue)
TURNS_LOOKED_AT, SUMMARIES_LOOKED_AT = 300, 40
MAX_NOTES, MAX_OF_TEAM, MAX_ENDED = 1000, 2, 5
MAX_OF_DAY, MAX_FILES, DAY_CHARS = 5, 5, 240  # of a line on one of the last day's sessions
WISH_SHARE = 0.5  # of a prompt that is sent again, for an order to be its sender's


@dataclass(frozen=True)
class WorkingSetRules:
    """The user's settings. max_chars counts the whole block."""

    enabled: bool = True
    max_chars: int = 3500


def compose(
    store: Store,
    project_id: str,
    rules: WorkingSetRules,
    *,
    excluded_session_id: str = "",
    excluded_ids: Collection[str] = (),
    last_day: Sequence[Profile] = (),
    left_out: LeftOut | None = None,
) -> str:
    """The working set of a project, "" for none.

    excluded_session_id: a session that has its own turns in its context, after a compaction. excluded_ids: memories
    that stand there already. last_day: sessions to tell of in endless mode, oldest first. left_out: takes the memories
    that it does not tell, with the reason. Raises StoreError.
    """
    if not rules.enabled:
        return ""
    orders = orders_in_force(store, project_id)
    left_out = {} if left_out is None else left_out
    memories = _memories(store, project_id, orders, excluded_session_id, excluded_ids, last_day, left_out)
    return listed_start.compose(memories, project_id, rules.max_chars, left_out)


def _memories(
    store: Store,
    project_id: str,
    orders: Sequence[Memory],
    excluded_session_id: str,
    excluded_ids: Collection[str],
    last_day: Sequence[Profile],
    left_out: LeftOut,
) -> StartMemories:
    """Collect the memories for a start."""
    turns = MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=TURNS_LOOKED_AT)
    reports = [
        row
        for row in store.memories(turns)
        if row.session_id != excluded_session_id and row.known_kind is not Kind.REWOUND
    ]
    asked = MemoryQuery(
        project_id=project_id, category=Category.DAILY, kind=Kind.SESSION_SUMMARY, is_current=True,
        limit=SUMMARIES_LOOKED_AT,
    )  # fmt: skip
    summaries = [row for row in store.memories(asked) if row.session_id != excluded_session_id]
    core, everywhere = (
        [row for row in notes_in_force(store, scope, MAX_NOTES) if not is_husk(row.text)]
        for scope in (project_id, GLOBAL)
    )
    again = past_sessions.sent_again(reports)
    orders = [order for order in orders if not (is_husk(order.text) or _is_of_a_template(order, again))]
    told = {order.id for order in orders}.union(excluded_ids)
    ours = [row for row in core if not row.rules]
    every = {row.id: row for row in (*orders, *ours, *everywhere)}
    notes = [row for row in without_echoes(list(every.values())) if row.id not in told and row.kind != Kind.TASK]
    used: dict[str, int] = {}
    uses: Counter[str] = Counter()
    for use in store.usages(UsageQuery(memory_ids=[row.id for row in notes])) if notes else ():
        if use.how in (CITED, OPENED):
            used[use.memory_id] = max(use.at_ms, used.get(use.memory_id, 0))
            uses[use.memory_id] += 1
    sent = past_sessions.scripts_sessions(reports)
    typed = [row for row in (*reports, *summaries) if row.session_id not in sent]
    began = [row.at_ms for row in typed if row.known_kind is Kind.SESSION_SUMMARY]
    rested = {
        row.id
        for row in notes
        if not row.pinned and sum(at_ms > max(row.at_ms, used.get(row.id, 0)) for at_ms in began) >= REST_SESSIONS
    }
    ways = [row for row in notes if row.kind == Kind.PREFERENCE and row.by is Author.READER]
    unproven = {row.id for row in notes if row.by is Author.MODEL}
    over = store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, is_current=False, limit=MAX_NOTES))
    attempts = MemoryQuery(
        project_id=project_id, category=Category.DAILY, kind=Kind.OUTCOME, is_current=True, limit=TURNS_LOOKED_AT
    )
    outcomes = store.memories(attempts)
    told_rules = [order.text for order in orders]
    listed = [row for row in core if row.known_kind is Kind.TASK]
    untold = [*over, *listed, *unclear_wishes(store, project_id, MAX_NOTES)]
    sessions = _sessions(untold, outcomes, reports, summaries, told_rules, left_out, has_notes=bool(unproven))
    tasks = live_tasks(core, typed)
    left_out |= {row.citation: Reason.OLD.value for row in core if row.kind == Kind.TASK and row not in tasks}
    left_out |= {row.citation: Reason.ENDED.value for row in over[:MAX_ENDED]}
    changes = own_statements.changes_in([row for row in reports if row.session_id not in sent]) if orders else None
    loosened = {row.id: changes.loosened(row.text, row.at_ms) for row in orders} if changes else {}
    told_of = {row.session_id for row in (*notes, *(row for _, row in sessions))}.union(sent)
    return StartMemories(
        sessions=[*sessions, *_of_day([row for row in last_day if row.session_id not in told_of], reports)],
        tasks=[row for row in tasks if row.id not in told],
        notes=sorted((row for row in notes if row not in ways), key=lambda row: (not row.pinned, -row.at_ms)),
        ways=sorted(ways, key=lambda row: -row.at_ms),
        team=store.memories(MemoryQuery(session_id=team_session(project_id), is_current=True, limit=MAX_OF_TEAM)),
        rules=[order for order in orders if order.id not in excluded_ids],
        rested=rested,
        unproven=unproven,
        uses=uses,
        loosened={order_id: at_ms for order_id, at_ms in loosened.items() if at_ms},
    )


def _of_day(last_day: Sequence[Profile], reports: Sequence[Memory]) -> list[tuple[str, Memory]]:
    """Return lines on the last day's sessions, newest first. reports: newest first."""
    last_turns = {row.session_id: row for row in reversed(reports)}
    lines: list[tuple[str, Memory]] = []
    for row in [row for row in reversed(last_day) if row.session_id in last_turns and not is_husk(row.best)][
        :MAX_OF_DAY
    ]:
        files = ", ".join(sorted(row.files)[:MAX_FILES])
        text = "(last day) %s%s" % (flatten(row.best), "; files: " + files if files else "")
        lines.append((context_block.cut(text, DAY_CHARS), last_turns[row.session_id]))
    return lines


def _is_of_a_template(order: Memory, again: Mapping[tuple[str, str], int]) -> bool:
    """Return whether an order is a small part of a repeated prompt.

    A person who says a wish again says it alone.
    """
    return not order.pinned and len(order.text) < WISH_SHARE * again.get((order.session_id, order.prompt_id), 0)


def _sessions(
    over: Sequence[Memory],
    outcomes: Sequence[Memory],
    reports: Sequence[Memory],
    summaries: Sequence[Memory],
    rules: Sequence[str],
    left_out: LeftOut,
    *,
    has_notes: bool,
) -> list[tuple[str, Memory]]:
    """Return the last sessions, by a summary or a line each.

    over: memories that hold no more, wait for the person, or are listed as tasks. outcomes: of matters. has_notes: of
    sessions' own models, which say more than the openings of requests.
    """
    past = [row for row in over if not (row.holds and row.known_kind is Kind.TASK)]  # beside a task more may be said
    gone = {(row.session_id, row.prompt_id) for row in past if row.prompt_id}
    if any(row.by is Author.READER for row in summaries):
        return past_sessions.summed_up(summaries, reports, gone, rules)
    scripts = past_sessions.of_a_script(reports)
    typed = [row for row in reports if row.id not in scripts]
    changes = own_statements.changes_in(typed)
    said = own_statements.stated(typed, over, rules, changes, outcomes, left_out)
    most = 1 if has_notes else MAX_LINES if said else None
    current = [row for row in reports if left_out.get(row.citation) != Reason.OLDER.value]
    return [*said, *past_sessions.listed(current, summaries, gone, rules, changes, said)[:most]]


def live_tasks(core: Sequence[Memory], heard: Sequence[Memory]) -> list[Memory]:
    """Return the open tasks that were spoken of lately, newest first.

    core: memories in force. heard: turns and summaries, by which sessions are counted."""
    began: dict[str, int] = {}
    for row in heard:
        began[row.session_id] = min(row.at_ms, began.get(row.session_id, row.at_ms))
    tasks = sorted((row for row in core if row.known_kind is Kind.TASK), key=lambda row: -row.at_ms)
    return [task for task in tasks if sum(at_ms > task.at_ms for at_ms in began.values()) <= FRESH_SESSIONS][:MAX_TASKS]


def checked(
    block: str, host_lines: host_memory.HostLines, marks: Mapping[str, str], max_chars: int
) -> tuple[str, LeftOut]:
    """Return (block, dropped) of a working set for one session.

    Lines that the host's own memory says are dropped. marks: citation -> words before a line, which is dropped where
    they have no room.
    """
    lines: list[str] = []
    gone: LeftOut = {}
    room = max(max_chars, len(block)) - len(block)
    for line in block.split("\n"):
        citation = line.rpartition("[mem:")[2].removesuffix("]") if line.startswith("- ") else ""
        mark = marks.get(citation, "") if citation else ""
        is_said = bool(citation and host_lines) and host_memory.says(host_lines, context_block.text_of(line))
        if is_said or len(mark) > room:
            gone[citation] = (Reason.HOST_SAYS if is_said else Reason.CROWDED).value
            room += len(line) + 1
            continue
        lines.append("- " + mark + line[2:] if mark else line)
        room -= len(mark)
    is_empty = not context_block.entry_lines("\n".join(lines))
    return "" if is_empty else listed_start.without_empty_headings(lines), gone


def with_turns(block: str, turns: Sequence[Memory], max_chars: int) -> str:
    """Add lines of turns that a working set does not tell.

    turns: of sessions that ended just now, newest first.
    """
    head = context_block.head(listed_start.EXPLANATION)
    told = _sessions((), (), turns, (), (), {}, has_notes=False)
    new = [listed_start.line_of(text, row) for text, row in told if "[mem:%s]" % row.citation not in block]
    while new and len("\n".join(new)) + 1 > max_chars - len(block or head):
        new.pop()
    return "\n".join([head, *new]) + block.removeprefix(head) if new else block


def in_short(block: str, max_chars: int) -> str:
    """Return the head of a working set for a subagent."""
    lines, left = [context_block.HEADER, context_block.SHORT_EXPLANATION], max_chars
    left -= sum(len(line) + 1 for line in lines)
    rules = listed_start.rules_in(block)
    for line in [*rules, *(line for line in context_block.entry_lines(block) if line not in rules)]:
        if len(line) + 1 <= left:
            lines.append(line)
            left -= len(line) + 1
    return "\n".join(lines) if len(lines) > 2 else ""
