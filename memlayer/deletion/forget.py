"""Forgetting on request: rows and their tombstones."""

import math
import os
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from memlayer.deletion.erase import Erasure
from memlayer.edge.capture import spool
from memlayer.edge.home import paths
from memlayer.keep import keep
from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import Memory, unix_ms
from memlayer.ports import (
    DeletionPlan,
    MemoryQuery,
    Removed,
    RetentionCutoffs,
    Selection,
    Store,
    events_by_id,
    memories_by_id,
)
from memlayer.records import quarantine
from memlayer.records.projects import Projects
from memlayer.records.sessions import Sessions
from memlayer.records.tombstones import TOOL, Tombstones, session_mark, summary_mark
from memlayer.turns.turn import MAX_MEMORY_CHARS
from memlayer.turns.turn_memory import full_text
from memlayer.wire import memories as ops

DAY_MS = 86_400_000
FAR_MS = 30 * DAY_MS
TRIED_MS = 3_600_000
STAMP = "gc.stamp"
EVENTS_AT_ONCE = 500
EVERYTHING = 10_000_000


@dataclass(frozen=True)
class RetentionRules:
    """Settings in days; 0 keeps. tools_days 0: as long as the conversation."""

    conversation_days: int = 0
    daily_days: int = 0
    core_days: int = 0
    tools_days: int = 0

    @property
    def is_on(self) -> bool:
        """True if anything ever grows too old."""
        return self != RetentionRules()

    def cutoffs(self, now_ms: int) -> RetentionCutoffs:
        """Return the times before which rows are too old."""

        def before(days: int) -> int:
            return max(0, now_ms - days * DAY_MS) if days else 0

        return RetentionCutoffs(
            conversation_ms=before(self.conversation_days),
            tools_ms=before(self.tools_days or self.conversation_days),
            daily_ms=before(self.daily_days),
            core_ms=before(self.core_days),
        )


@dataclass(frozen=True)
class Retention:
    """Deletion of rows that are too old, by the daemon's writer."""

    home: str
    store: Store
    erasure: Erasure
    tombstones: Tombstones

    def plan(self, rules: RetentionRules, now_ms: int) -> DeletionPlan:
        """Return the rows that are too old now."""
        if not rules.is_on:
            return DeletionPlan()
        return self.erasure.tasks.with_events(self.store.plan_retention(rules.cutoffs(now_ms)))

    def delete(self, rules: RetentionRules, now_ms: int) -> tuple[Removed, list[str]]:
        """Delete the rows that are too old. Idempotent. Raises StoreError or OSError.

        Returns the counts removed and the ids of the projects concerned: see Forget.forget.
        """
        plan = self.plan(rules, now_ms)
        cutoffs = rules.cutoffs(now_ms)
        # First: neither a transcript nor an export brings rows back, during the deletion or afterwards.
        self.tombstones.record_retention(Category.CONVERSATION, cutoffs.conversation_ms, now_ms)
        self.tombstones.record_retention(TOOL, cutoffs.tools_ms, now_ms)
        self.tombstones.record_retention(Category.DAILY, cutoffs.daily_ms, now_ms)
        self.tombstones.record_retention(Category.CORE, cutoffs.core_ms, now_ms)
        if cutoffs.conversation_ms:
            quarantine.drop_forgotten(self.home, (), Selection(before_ms=cutoffs.conversation_ms), None)
        if plan == DeletionPlan():
            return Removed(), self.erasure.resume()
        return self.erasure.erase(plan, sorted({count.project_id for count in plan.counts}))

    def is_due(self, rules: RetentionRules, now_s: float) -> bool:
        """True a day after the last run.

        A clock that was set back makes it due. One that seems far ahead does not: rows too old by it would be lost for
        good.
        """
        if not rules.is_on:
            return False
        try:
            age_s = now_s - os.lstat(os.path.join(self.home, STAMP)).st_mtime
        except FileNotFoundError:
            age_s = math.inf
        if 0 <= age_s < DAY_MS / 1000:
            return False
        return 0 <= age_s < FAR_MS / 1000 or self._is_believed(int(now_s * 1000))

    def _is_believed(self, now_ms: int) -> bool:
        """True if the newest memory before the last hour is recent."""
        newest = self.store.memories(MemoryQuery(before_ms=now_ms - TRIED_MS, limit=1))
        return bool(newest) and now_ms - newest[0].at_ms < FAR_MS

    def done(self, now_s: float) -> None:
        """Stamp a run. Raises OSError."""
        stamp = os.path.join(self.home, STAMP)
        paths.write_whole(stamp, b"")
        os.utime(stamp, (now_s, now_s))


@dataclass(frozen=True)
class ForgetPlan:
    """The rows that a forget deletes, and their memories, newest first.

    in_transcript: the host's own record of their sessions is there.
    """

    selection: Selection
    rows: DeletionPlan = field(default_factory=DeletionPlan)
    memories: tuple[Memory, ...] = ()
    named_ids: frozenset[str] = frozenset()
    in_transcript: bool = False


@dataclass(frozen=True)
class Forget:
    """Removal of memories with their sources, by the daemon's writer."""

    home: str
    store: Store
    erasure: Erasure
    tombstones: Tombstones
    sessions: Sessions
    projects: Projects | None = None
    now_ms: Callable[[], int] = unix_ms

    def select(self, selection: Selection) -> list[Memory]:
        """Return the memories that a selection names."""
        return self.store.memories(MemoryQuery(
            ids=list(selection.memory_ids) or None, session_id=selection.session_id, project_id=selection.project_id,
            before_ms=selection.before_ms, limit=EVERYTHING,
        ))  # fmt: skip

    def texts(self, memories: Sequence[Memory]) -> dict[str, str]:
        """Return id -> whole text, of memories that words may name.

        A turn's memory holds only the head of what was said. Other daily memories say what their turns say.
        """
        turns = [memory for memory in memories if len(memory.text) >= MAX_MEMORY_CHARS]
        said = events_by_id(self.store, (source for turn in turns for source in turn.source_ids))
        long = {turn.id: full_text([said[id_] for id_ in turn.source_ids if id_ in said]) for turn in turns}
        return {
            memory.id: "\n".join((long.get(memory.id, ""), memory.text, memory.headline, memory.error, *memory.files))
            for memory in memories
            if memory.category != Category.DAILY or KINDS[memory.known_kind].of_session
        }

    def plan(self, selection: Selection, *, keep_sources: bool = False) -> ForgetPlan:
        """Return the plan to forget a selection. An empty one selects nothing.

        Named by its id, a memory takes the turns along that it comes from, and whatever else was drawn from them. With
        keep_sources it goes alone, with its earlier wordings, and with the request to remember it, since no turn stands
        behind that. So does a summary in any case, which would take its session along. A turn always
        goes with its words.
        """
        if selection == Selection():
            return ForgetPlan(selection)
        named = self.select(selection)
        rows = self._rows_of(named, keep_sources) if selection.memory_ids else self.store.plan_deletion(selection)
        rows = self.erasure.tasks.with_events(rows)
        memories = memories_by_id(self.store, rows.memory_ids).values()
        sessions = filter(None, map(self.sessions.get, _said_in(selection, memories)))
        in_transcript = any(os.path.isfile(session.transcript_path) for session in sessions)
        return ForgetPlan(selection, rows, tuple(memories), frozenset(row.id for row in named), in_transcript)

    def _rows_of(self, named: Sequence[Memory], keep_sources: bool) -> DeletionPlan:
        alone = [
            memory
            for memory in named
            if memory.category != Category.CONVERSATION and (keep_sources or KINDS[memory.known_kind].of_session)
        ]
        plan = DeletionPlan()
        if with_sources := [memory.id for memory in named if memory not in alone]:
            plan = self.store.plan_deletion(Selection(memory_ids=tuple(with_sources)))
        ids = dict.fromkeys(plan.memory_ids)
        for memory in named:
            ids[memory.id] = None
            ids.update((older.id, None) for older in keep.before(self.store, memory) if _is_earlier(older, memory))
        event_ids = dict.fromkeys((*plan.event_ids, *self._orphaned_requests(alone, ids)))
        return DeletionPlan(tuple(event_ids), tuple(ids))

    def forget_ids(self, ids: Sequence[str]) -> tuple[Removed, list[str]]:
        """Forget by their ids what another machine has forgotten. Return as forget.

        Rows that are here go with all that was drawn from the events. Ids that are not here can never come.
        """
        self.tombstones.add(ids)
        events = {event.id for batch in batched(ids) for event in self.store.events(ids=batch, limit=len(batch))}
        wanted = {row.id for batch in batched(ids) for row in self.store.memories(MemoryQuery(ids=batch))}
        for batch in batched(sorted(events)):
            wanted |= {row.id for row in self.store.memories(MemoryQuery(source_ids=batch, limit=EVERYTHING))}
        if not (events or wanted):
            return Removed(), []
        plan = self.erasure.tasks.with_events(DeletionPlan(tuple(sorted(events)), tuple(sorted(wanted))))
        memories = [row for batch in batched(plan.memory_ids) for row in self.store.memories(MemoryQuery(ids=batch))]
        return self.forget(ForgetPlan(Selection(memory_ids=plan.memory_ids or tuple(ids)), plan, tuple(memories)))

    def missing(self, memory: Memory, event_ids: Sequence[str]) -> list[ops.MissingSource]:
        """Return sources that these events lack: [{id, why, at_ms (0: unknown)}]."""
        out: list[ops.MissingSource] = []
        for source in memory.source_ids:
            deleted_ms = self.tombstones.deleted_by_age_ms(memory.at_ms)
            if source not in event_ids:
                is_forgotten = source in self.tombstones
                why = "forgotten" if is_forgotten else "removed by retention" if deleted_ms else "not in the store"
                out.append(ops.MissingSource(source, why, 0 if is_forgotten else deleted_ms))
        return out

    def forget(self, plan: ForgetPlan) -> tuple[Removed, list[str]]:
        """Forget the rows of a plan. Return counts and project ids.

        The counts removed and the ids of the projects concerned. The caller makes anew all that derives from memories
        in these projects, then calls erasure.finished(). Call it in the job of the writer that made the plan, so that
        nothing is drawn from the sources meanwhile. Events in no table yet stay forgotten only if the spool was taken
        in before. Raises StoreError or OSError.
        """
        selection, rows, memories = plan.selection, plan.rows, plan.memories
        if selection == Selection():
            return Removed(), self.erasure.resume()
        project_ids = {memory.project_id for memory in memories} | ({selection.project_id} - {""})
        # Tombstones first: from here on nothing brings these rows back, whatever happens.
        now_ms = self.now_ms()
        statements = [  # later statements count as new
            (memory.project_id, memory.text, max(now_ms, memory.at_ms))
            for memory in memories
            if memory.category != Category.CONVERSATION
        ]
        sessions, named = _said_in(selection, memories), set(selection.memory_ids)
        emptied = self._emptied(sessions, memories)
        if named:  # other selections have them already
            left = (event.id for id_ in emptied for event in self.store.events(session_id=id_, limit=EVERYTHING))
            rows = DeletionPlan(tuple(dict.fromkeys((*rows.event_ids, *left))), rows.memory_ids)
        summed_up = [
            memory.session_id for memory in memories if memory.id in named and memory.kind == Kind.SESSION_SUMMARY
        ]
        ids = [*rows.event_ids, *rows.memory_ids, *map(session_mark, sessions), *map(summary_mark, summed_up)]
        self.tombstones.add(ids, self._said(rows.event_ids), statements)
        for session in filter(None, map(self.sessions.get, sessions)):
            session.outcomes_ms = 0  # of the turns that stay, they are drawn anew
            self.sessions.changed(session)
        self._drop_spooled(selection)
        forgotten = self._quarantined(memories, rows.event_ids) if named else None
        quarantine.drop_forgotten(self.home, set(rows.event_ids), selection, self.projects, forgotten)
        removed, concerned = self.erasure.erase(rows, sorted(project_ids))
        for session_id in emptied | ({selection.session_id} - {""} if not named else set()):
            self.sessions.forget(session_id)
        return removed, concerned

    def _emptied(self, session_ids: Collection[str], memories: Iterable[Memory]) -> set[str]:
        """Return the ended sessions whose last turns these memories are."""
        going = Counter(memory.session_id for memory in memories if memory.category == Category.CONVERSATION)
        standing = self.store.turn_counts(sorted(session_ids)) if session_ids else {}
        sessions = [self.sessions.get(id_) for id_ in going if going[id_] >= standing.get(id_, 0)]
        return {session.id for session in sessions if session is not None and session.ended}

    def _quarantined(self, memories: Sequence[Memory], event_ids: Sequence[str]) -> quarantine.ForgottenTexts:
        """Return the texts of named memories, and the turns deleted whole."""
        texts = {text for text, *_ in self._said(event_ids)} | {memory.text for memory in memories}
        turns = {
            (memory.session_id, memory.prompt_id)
            for memory in memories
            if memory.category == Category.CONVERSATION and memory.prompt_id
        }
        return quarantine.ForgottenTexts(tuple(texts), turns)

    def _orphaned_requests(self, alone: Sequence[Memory], deleted: Container[str]) -> list[str]:
        """Return requests to remember whose memories are all deleted."""
        sources = sorted({source for memory in alone for source in memory.source_ids})
        events = self.store.events(ids=sources, kind="remember", limit=len(sources)) if sources else []
        requests = [event.id for event in events]
        drawn = self.store.memories(MemoryQuery(source_ids=requests, limit=EVERYTHING)) if requests else []
        kept = {source for memory in drawn if memory.id not in deleted for source in memory.source_ids}
        return [request for request in requests if request not in kept]

    def _said(self, event_ids: Sequence[str]) -> Iterator[tuple[str, int, str]]:
        for start in range(0, len(event_ids), EVENTS_AT_ONCE):
            batch = event_ids[start : start + EVENTS_AT_ONCE]
            for event in self.store.events(ids=batch, limit=len(batch)):
                yield event.text, event.at_ms, event.project_id

    def _drop_spooled(self, selection: Selection) -> None:
        for path in spool.waiting(self.home):
            event, _ = spool.load(path)
            if event is not None and selection.session_id and event["session_id"] == selection.session_id:
                project_id = self.projects.find(str(event["project_dir"]))[0] if self.projects is not None else ""
                self.tombstones.add([str(event["id"])], [(str(event["text"]), spool.at_ms_of(path), project_id)])
                os.unlink(path)


def batched(ids: Sequence[str]) -> Iterator[list[str]]:
    """Split ids into batches that one query holds."""
    for start in range(0, len(ids), EVENTS_AT_ONCE):
        yield list(ids[start : start + EVENTS_AT_ONCE])


def _said_in(selection: Selection, memories: Iterable[Memory]) -> set[str]:
    """Return the ids of the sessions of a selection."""
    return ({memory.session_id for memory in memories} | {selection.session_id}) - {""}


def _is_earlier(older: Memory, newer: Memory) -> bool:
    """True for an earlier wording or a predecessor of the same sources."""
    return keep.is_wording_of(older, newer) or bool(older.source_ids and set(older.source_ids) <= set(newer.source_ids))
