"""The memories for a start in a project with notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from memlayer.briefing.listed_start import REST_SESSIONS, Known
from memlayer.consolidation.echoes import without_echoes
from memlayer.consolidation.extractor import SESSION_READER, is_rule_made
from memlayer.kinds import Category, Kind
from memlayer.model import CITED, GLOBAL, OPENED, Memory, team_session
from memlayer.ports import MemoryQuery, Store, UsageQuery
from memlayer.text.context_block import day_of
from memlayer.turns.opening import TEMPLATE_TURNS, opening_term
from memlayer.turns.turn import prompt_and_answer

MAX_TASKS = 3
FRESH_SESSIONS = 3  # later ones in which a task may go unmentioned (of 75 such lines 48 were idle, 20 untrue)
LOOKED_AT = 40  # turns and summaries
MAX_NOTES = 1000


def notes_in_force(store: Store, project_id: str, limit: int) -> list[Memory]:
    """Return a model's notes, newest first. Raises StoreError."""
    rows = store.memories(MemoryQuery(project_id=project_id, category=Category.CORE, is_current=True, limit=limit))
    return [row for row in rows if row.settled == SESSION_READER]


def known(
    store: Store,
    project_id: str,
    noted: Sequence[Memory],
    orders: Sequence[Memory],
    excluded_session_id: str,
    excluded_ids: Collection[str],
) -> Known:
    """Collect the memories for a start. Raises StoreError.

    noted: a model's notes in force. excluded_session_id: a session that has its own turns in its context, after a
    compaction. excluded_ids: memories that stand there already.
    """
    reports = store.memories(MemoryQuery(project_id=project_id, category=Category.CONVERSATION, limit=LOOKED_AT))
    asked = MemoryQuery(
        project_id=project_id, category=Category.DAILY, kind=Kind.SESSION_SUMMARY, is_current=True, limit=LOOKED_AT
    )
    summaries = [row for row in store.memories(asked) if row.session_id != excluded_session_id]
    core, everywhere = (
        store.memories(MemoryQuery(project_id=scope, category=Category.CORE, is_current=True, limit=MAX_NOTES))
        for scope in (project_id, GLOBAL)
    )
    told = {order.id for order in orders}.union(excluded_ids)
    ours = [row for row in core if row.settled == SESSION_READER or not is_rule_made(row)]
    notes = [row for row in without_echoes([*orders, *ours, *everywhere]) if row.id not in told]
    notes = [row for row in notes if row.kind != Kind.TASK]
    used: dict[str, int] = {}
    uses: Counter[str] = Counter()
    for use in store.usages(UsageQuery(memory_ids=[row.id for row in notes])) if notes else ():
        if use.how in (CITED, OPENED):
            used[use.memory_id] = max(use.at_ms, used.get(use.memory_id, 0))
            uses[use.memory_id] += 1
    began = [row.at_ms for row in summaries]
    rested = {
        row.id
        for row in notes
        if not row.pinned and sum(at_ms > max(row.at_ms, used.get(row.id, 0)) for at_ms in began) >= REST_SESSIONS
    }
    return Known(
        sessions=last_sessions(summaries, reports),
        tasks=[row for row in live_tasks(core, (*reports, *summaries)) if row.id not in told],
        notes=sorted(notes, key=lambda row: (not row.pinned, -row.at_ms)),
        team=store.memories(MemoryQuery(session_id=team_session(project_id), is_current=True, limit=LOOKED_AT)),
        rules=[order for order in orders if order.id not in excluded_ids],
        rested=rested,
        uses=uses,
    )


def last_sessions(summaries: Sequence[Memory], reports: Sequence[Memory]) -> list[tuple[str, Memory]]:
    """Return (label, summary) of a person's last session and a script's since.

    summaries, reports: newest first.
    """
    scripts = of_a_script(reports)
    typed = {row.session_id for row in reports if row.id not in scripts}
    sent = {row.session_id for row in reports if row.id in scripts} - typed
    last = next((row for row in summaries if row.session_id not in sent), None)
    rows = [] if last is None else [("last session, " + day_of(last.at_ms), last)]
    newest = summaries[0] if summaries else None
    if newest is not None and newest is not last:
        openings = {row.session_id: _opening(row) for row in reports}
        runs = sum(opening == openings[newest.session_id] for opening in openings.values())
        rows.append(("a script's session, %s; its prompt ran %d times" % (day_of(newest.at_ms), runs), newest))
    return rows


def of_a_script(turns: Sequence[Memory]) -> frozenset[str]:
    """Return the ids of turns whose prompts begin like many others."""
    openings = {turn.id: _opening(turn) for turn in turns}
    counted = Counter(openings.values())
    return frozenset(turn for turn, term in openings.items() if term and counted[term] > TEMPLATE_TURNS)


def _opening(turn: Memory) -> str:
    return opening_term(prompt_and_answer(turn.text)[0])


def live_tasks(core: Sequence[Memory], heard: Sequence[Memory]) -> list[Memory]:
    """Return the open tasks that were spoken of lately, newest first.

    core: memories in force. heard: turns and summaries, by which sessions are counted."""
    began: dict[str, int] = {}
    for row in heard:
        began[row.session_id] = min(row.at_ms, began.get(row.session_id, row.at_ms))
    tasks = sorted((row for row in core if row.known_kind is Kind.TASK), key=lambda row: -row.at_ms)
    return [task for task in tasks if sum(at_ms > task.at_ms for at_ms in began.values()) <= FRESH_SESSIONS][:MAX_TASKS]
