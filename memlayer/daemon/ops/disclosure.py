"""Operations of the MCP tools, each answered as text for a model."""

import time
from collections import Counter

from memlayer import disclosure
from memlayer.compose import Services
from memlayer.daemon.ops import memories as by_hand
from memlayer.daemon.ops import notes as own_notes
from memlayer.daemon.ops.requests import NOBODYS, Progress, about_given, named, services_of, session_named
from memlayer.daemon.ops.requests import scope_of as scope_of_folder
from memlayer.daemon.resources.state import State
from memlayer.daemon.tasks import code_check, derived, reading
from memlayer.disclosure import Detail, IndexEntry, Neighbourhood
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import clean
from memlayer.edge.home import project as places
from memlayer.errors import UserError
from memlayer.give import at_action
from memlayer.give.query import typed_query
from memlayer.give.recall import RecallRules
from memlayer.give.search import Filters, Search
from memlayer.keep import keep
from memlayer.kinds import CATEGORIES, NOTED, Category, Kind, category_named
from memlayer.model import Memory, Scope, replace, turn_memory_id
from memlayer.ports import MemoryQuery, memories_by_id
from memlayer.records.usages import sessions_citing, uses_within
from memlayer.text.context_block import bare_id, day_of, flatten
from memlayer.turns.outcome import call_of, from_calls
from memlayer.turns.remembered import remember_event
from memlayer.turns.turn_memory import mark_of
from memlayer.wire import memories as memory_ops
from memlayer.wire import tools as tool_ops

MAX_HITS, MAX_WINDOW = 20, 10
USED_DAYS = 30
A_MODEL = "model"  # the session of a look-up by a model whose client names none
COUNTED = 100_000
MAX_FILES, MAX_PATH_CHARS = 8, 300  # of a model's memory


def search(state: State, arguments: tool_ops.MemSearch, progress: Progress) -> tool_ops.TextForModel:
    """Return index lines of the best hits, with their citations."""
    if not (arguments.query or arguments.file or arguments.error or arguments.kind == Kind.TASK):
        raise UserError("query is missing")
    scope, limit = scope_of(state, arguments.project_dir), min(MAX_HITS, arguments.limit)
    if arguments.error:
        project_id = "" if scope.project_ids is None else next(iter(scope.project_ids), NOBODYS)
        cures = _cures(services_of(state), arguments.error, project_id, arguments.session_id)
        return tool_ops.TextForModel(
            text=disclosure.index_text(arguments.error, cures[:limit], total=len(cures)),
            ids=[entry.memory.citation for entry in cures[:limit]],
        )
    session_id = session_named(state, arguments.session, scope)
    words, memory_ids, is_named = about_given(state, arguments.query or arguments.file, scope)
    kind = Kind.TASK if arguments.kind == Kind.TASK else ""
    filters = Filters(
        category=category_named(arguments.kind), kind=kind, session_id=session_id, file=arguments.file,
        memory_ids=memory_ids, is_named=is_named,
    )  # fmt: skip
    entries, total = counted_entries(services_of(state), state.rules.recall, words, scope, filters, limit)
    if kind and not entries and not arguments.file:  # "anything open?" shares no word with a task
        entries, total = _open_work(services_of(state), scope, limit)
    if scope.project_ids is None:
        entries = [replace(entry, project=state.projects.name(entry.memory.project_id)) for entry in entries]
    marks = code_check.of_folder(state, arguments.project_dir)
    entries = [replace(entry, mark=marks.get(entry.memory.citation, "")) for entry in entries]
    text = disclosure.index_text(arguments.query, entries, total=total)
    return tool_ops.TextForModel(text=text, ids=[entry.memory.citation for entry in entries])


def _open_work(services: Services, scope: Scope, limit: int) -> tuple[list[IndexEntry], int]:
    """Return a scope's open tasks, newest first, and their number."""
    query = MemoryQuery(category=Category.CORE, kind=Kind.TASK, is_current=True, limit=COUNTED)
    scopes = [""] if scope.project_ids is None else scope.project_ids
    rows = [row for project_id in scopes for row in services.store.memories(replace(query, project_id=project_id))]
    rows.sort(key=lambda row: -row.at_ms)
    return [IndexEntry(row, row.text) for row in rows[:limit]], len(rows)


def _cures(services: Services, error: str, project_id: str, session_id: str) -> list[IndexEntry]:
    """Return the notes on an error, and the turns that cured it."""
    known = at_action.errors_of(services.store, project_id)
    entries = [IndexEntry(row, row.text) for row in known.explanations(known.named_by(error))]
    cures = known.cures(error, session_id)
    ids = {turn_memory_id(cure.failed.session_id, cure.failed.prompt_id): cure for cure in reversed(cures)}
    turns = memories_by_id(services.store, ids).values()
    return entries + [IndexEntry(turn, "this worked: " + ids[turn.id].command) for turn in turns]


def counted_entries(
    services: Services, rules: RecallRules, query_text: str, scope: Scope, filters: Filters, limit: int
) -> tuple[list[IndexEntry], int]:
    """Return the best hits and the number of all. Raises StoreError."""
    if scope.project_ids == ():
        return [], 0
    query = typed_query(query_text)
    finder = Search(services.recall.retriever, services.recall.outcomes, rules)
    hits, total = finder.counted(query, scope, filters, limit, 0.0, lambda _: "")
    successors = memories_by_id(services.store, filter(None, (hit.memory.superseded_by for hit in hits)))
    rarity = services.recall.retriever.terms.weights(query.terms)
    entries = [
        IndexEntry(
            hit.memory,
            mark_of(hit.memory) + hit.told(rarity, 2 * disclosure.SUMMARY_CHARS, 1),
            newer=hit.newer or (after.citation if (after := successors.get(hit.memory.superseded_by)) else ""),
        )
        for hit in hits
    ]
    told = once(entries)
    return told, total - len(entries) + len(told)


def once(entries: list[IndexEntry]) -> list[IndexEntry]:
    """Return entries of one text once, the best with their number."""
    same = Counter(flatten(entry.summary).casefold() for entry in entries)
    best = {flatten(entry.summary).casefold(): entry for entry in reversed(entries)}
    return [
        replace(entry, summary="(%d times) %s" % (same[text], entry.summary)) if same[text] > 1 else entry
        for entry in entries
        if best[text := flatten(entry.summary).casefold()] is entry
    ]


def timeline(state: State, arguments: tool_ops.MemTimeline, progress: Progress) -> tool_ops.TextForModel:
    """Return the turns around each memory in its session."""
    store, window = services_of(state).store, min(MAX_WINDOW, arguments.window)
    memories, unknown = _found(state, arguments.ids, arguments.project_dir)
    spans = []
    for memory in memories:
        turn = keep.own_turn(store, memory)
        turns = keep.turns_around(store, turn, window) if turn is not None else []
        spans.append(Neighbourhood(memory, turns, turn.id if turn is not None else ""))
    return tool_ops.TextForModel(
        text=disclosure.timeline_text(spans, unknown), ids=[memory.citation for memory in memories]
    )


def details(state: State, arguments: tool_ops.MemDetails, progress: Progress) -> tool_ops.TextForModel:
    """Return memories whole, with versions, sources, files and commands."""
    memories, unknown = _found(state, arguments.ids, arguments.project_dir)
    text = disclosure.details_text(
        [_detail(state, memory) for memory in memories], unknown, start=max(0, arguments.from_)
    )
    note_opened(state, memories, arguments.session_id or A_MODEL)
    return tool_ops.TextForModel(text=text, ids=[memory.citation for memory in memories])


def note_opened(state: State, memories: list[Memory], session_id: str) -> None:
    """Have the writer record a look-up. session_id: "" for a person's."""
    usages, at_ms = services_of(state).usages, time.time_ns() // 1_000_000
    # A job of its own name: one of a name that waits already would be taken for this one.
    state.jobs.submit("opened %d" % time.monotonic_ns(), lambda: usages.opened(memories, session_id, at_ms))


def stats(state: State, arguments: tool_ops.MemStats, progress: Progress) -> tool_ops.StoredCounts:
    """Return counts of a project's memories, their days and recent uses."""
    store, scope = services_of(state).store, scope_of(state, arguments.project_dir)
    counts: dict[str, int] = {}
    days: list[int] = []
    for project_id in [""] if scope.project_ids is None else scope.project_ids:
        for category, row in CATEGORIES.items():
            query = MemoryQuery(project_id=project_id, category=category, is_current=True, limit=COUNTED)
            memories = store.memories(query)
            counts[row.plural] = counts.get(row.plural, 0) + len(memories)
            days += [memory.at_ms for memory in memories if category is Category.CONVERSATION]
    names = {row.plural: row.noun for row in CATEGORIES.values() if row.plural == "days"}  # entries, not days
    listed = ", ".join("%d %s" % (count, names.get(name, name)) for name, count in counts.items() if count)
    span = " Turns from %s to %s." % (day_of(min(days)), day_of(max(days))) if days else ""
    used = uses_within(store, USED_DAYS)
    uses = " In %d days: %d shown, %d cited, %d opened." % (USED_DAYS, used.shown, used.cited, used.opened)
    return tool_ops.StoredCounts("Remembered of this project: %s.%s%s" % (listed or "nothing yet", span, uses), counts)


def remember(state: State, arguments: tool_ops.MemRemember, progress: Progress) -> tool_ops.TextForModel:
    """Keep a statement as a core memory, on disk before its merge."""
    scope_of(state, arguments.project_dir)
    if not arguments.project_dir:
        raise UserError("Nothing is remembered: no project is named. Start the server with --project FOLDER")
    if arguments.session_id and reading.is_by_session(state, session := own_notes.writing(state, arguments)):
        return own_notes.write(state, session, arguments)
    event = remember_event(
        arguments.text,
        project_dir=arguments.project_dir,
        at_ms=arguments.at_ms or time.time_ns() // 1_000_000,
        session_id=arguments.session_id,
        by_model=True,
    )
    spool.put(state.home, event)
    done = by_hand.remember(state, memory_ops.Remember(str(event["id"])), progress)
    citation = done.memory.citation
    replaced, kept = _described(state, arguments, done)
    older = dict.fromkeys([*(row.citation for row in done.older), *(row.citation for row in replaced)])
    lines = ["%s as [mem:%s]." % ("Remembered" if done.is_new else "Known already", citation)]
    lines += ["Replaces [mem:%s]." % other for other in older]
    lines += ["Replaced already by [mem:%s]." % other.citation for other in done.newer]
    lines += ["A pinned memory says otherwise: [mem:%s]." % other.citation for other in done.contradicts]
    stays = "[mem:%s] stays: the user said it, and decides in /memlayer:memory-review."
    lines += [stays % other.citation for other in kept]
    return tool_ops.TextForModel(text=" ".join(lines), ids=[citation])


def _described(
    state: State, arguments: tool_ops.MemRemember, done: memory_ops.Remembered
) -> tuple[list[Memory], list[Memory]]:
    """Return (memories replaced, memories that stay) for a statement.

    It is given its kind and files, also by a call that is asked again. A model replaces the words of models,
    never a person's: of those `review` asks.
    """
    services, memory_id, is_new = services_of(state), done.memory.id, done.is_new
    [memory] = services.store.memories(MemoryQuery(ids=[memory_id]))
    if not memory.holds and not is_new:
        return [], []
    found, _ = _found(state, arguments.replaces, arguments.project_dir)
    named = [row for row in found if row.id != memory_id]
    ours, theirs = [row for row in named if not row.is_persons], [row for row in named if row.is_persons]
    is_models = is_new or not memory.is_persons
    kind = arguments.kind if is_models and arguments.kind in NOTED else memory.kind
    files = memory.files
    if is_models and (is_new or arguments.files):
        files = tuple(clean(path)[:MAX_PATH_CHARS] for path in arguments.files[:MAX_FILES])

    def describe() -> None:
        [now] = services.store.memories(MemoryQuery(ids=[memory_id]))
        services.consolidator.describe(now, kind=kind, files=files, replaced=ours)
        reading = services.readings.get(arguments.session_id)
        asked = [{"memory_id": row.id, "by": memory_id, "wish": "replace"} for row in theirs]
        if new := [question for question in asked if question not in reading.questions]:
            reading.project_id, reading.questions = now.project_id, [*reading.questions, *new]
            services.readings.put(reading)

    if kind != memory.kind or files != memory.files or any(row.holds for row in named):
        derived.written(state, "describe", describe)
    return [row for row in ours if row.holds or row.superseded_by == memory_id], theirs


def scope_of(state: State, folder: str) -> Scope:
    """Return a project's scope, "" for all. Raises UserError if switched off."""
    if folder and not places.enabled(folder):
        raise UserError("Memory is switched off for this project")
    return scope_of_folder(state, folder)


def _found(state: State, ids: tuple[str, ...], folder: str) -> tuple[list[Memory], list[str]]:
    """Return the scope's memories with these ids, and the ids without any."""
    store, scope = services_of(state).store, scope_of(state, folder)
    by_id: dict[str, Memory] = {}
    unknown = []
    for name in dict.fromkeys(map(bare_id, ids)):
        meant = named(store, name, scope)
        by_id.update((memory.id, memory) for memory in meant)
        if not meant:
            unknown.append(name)
    return list(by_id.values()), unknown


def _detail(state: State, memory: Memory) -> Detail:
    services = services_of(state)
    store = services.store
    events = store.events(ids=memory.source_ids)
    turn = keep.own_turn(store, memory)
    calls = [call_of(event.text, event.detail) for event in events if event.kind == "tool"]
    newer = store.memories(MemoryQuery(ids=[memory.superseded_by])) if memory.superseded_by else []
    older = store.memories(MemoryQuery(superseded_by=[memory.id]))
    return Detail(
        memory,
        state.projects.name(memory.project_id),
        from_calls(calls, state.projects.root(memory.project_id)),
        newer,
        older,
        turn.citation if turn is not None else "",
        len(services.forget.missing(memory, [event.id for event in events])),
        [(use.session_id, day_of(use.at_ms)) for use in sessions_citing(store, memory.id)],
        [neighbour.told for neighbour in services.tasks.graph.neighbours(memory.id)],
    )
