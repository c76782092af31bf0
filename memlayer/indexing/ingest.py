"""Spool to store: captured events, filtered, deduplicated and remembered."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from memlayer.consolidation.consolidator import Consolidator
from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import OWN_COMMAND, spool_event
from memlayer.edge.capture.tool_use import EVERY_TOOL, ToolRules
from memlayer.indexing.retracted import MAX_TURNS, retracted
from memlayer.kinds import Category, Kind
from memlayer.model import GLOBAL, Event, Memory, TurnId, replace, turn_memory_id
from memlayer.ports import MemoryQuery, ScanProgress, Store, memories_by_id
from memlayer.records.projects import Projects
from memlayer.records.sessions import Sessions
from memlayer.turns.remembered import NO_SESSION
from memlayer.turns.turn_memory import carried_over, full_text, turn_memory, without_force

MAX_EVENTS = 100_000  # of a batch's turns
BATCH = 200  # spool files taken in at once: LanceDB wants batches, a person who waits wants progress
# The errors that an event written by none of our hooks can raise. A store or a disk that fails raises others.
FOREIGN = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
FORGET = "memory-forget"
log = logging.getLogger(__name__)


class Ingest:
    """Ingest of events into the store, by one thread. Idempotent."""

    def __init__(
        self,
        *,
        home: str,
        consolidator: Consolidator,
        projects: Projects,
        sessions: Sessions,
        capturing: bool = True,
        tools: ToolRules = EVERY_TOOL,
        on_new: Sequence[Callable[[Sequence[Event]], object]] = (),
        reads_later: Callable[[], bool] = lambda: True,
    ) -> None:
        """on_new: called with events that were not there before.

        reads_later: whether rules read turns later than they are kept.
        """
        self._home = home
        self.consolidator = consolidator
        self.keep = consolidator.keep
        self._store = self.keep.store
        self._projects = projects
        self._sessions = sessions
        self._capturing = capturing
        self._tools = tools
        self._on_new = on_new
        self.reads_later = reads_later
        self._latest_ms = 0

    def drain(self, on_progress: ScanProgress = lambda done, total: None, left_out: Collection[str] = ()) -> int:
        """Take in all waiting spool events; return how many.

        left_out: ids of events that stay.
        Events that come meanwhile have a drain of their own: under a steady load this one would never end. Files that
        are torn or foreign, or cannot be taken in, go to quarantine. Raises StoreError or OSError. The files then stay.
        """
        taken = 0
        waiting = [path for path in spool.waiting(self._home) if spool.id_of(path) not in left_out]
        for start in range(0, len(waiting), BATCH):
            batch, paths = self._loaded(waiting[start : start + BATCH])
            try:
                self.take(batch)
            except FOREIGN:
                self._one_by_one(batch, paths)
            spool.drop(paths)
            taken += len(paths)
            on_progress(taken, len(waiting))
        return taken

    def latest_turns(self, session_ids: Sequence[str]) -> list[Memory]:
        """Return turns of sessions, newest first, from the spool or the store.

        They may not be consolidated yet. Raises StoreError.
        """
        loaded, _ = self._loaded(spool.waiting(self._home))
        events: dict[TurnId, list[Event]] = {}
        for event in self._admitted([row for row in loaded if row["session_id"] in session_ids], is_history=False):
            events.setdefault((event.session_id, event.prompt_id), []).append(event)
        stored = self._store.memories(MemoryQuery(session_id=session_ids, category=Category.CONVERSATION))
        turns = {row.id: row for row in (*stored, *filter(None, map(turn_memory, events.values())))}
        return sorted(turns.values(), key=lambda row: -row.at_ms)

    def _loaded(self, paths: Sequence[str]) -> tuple[list[dict[str, object]], list[str]]:
        """Return spool events and their paths; torn files go to quarantine."""
        events: list[dict[str, object]] = []
        loaded: list[str] = []
        for path in paths:
            try:
                event, reason = spool.load(path)
                if event is None:
                    spool.quarantine(self._home, path, reason)
                else:
                    events.append(event)
                    loaded.append(path)
            except FileNotFoundError:
                continue
            except OSError as bad:  # unreadable now. It stays and is tried again on the next drain
                log.warning("spool file not readable: %s", bad.strerror)
        return events, loaded

    def _one_by_one(self, batch: Sequence[dict[str, Any]], files: Sequence[str]) -> None:
        """Take a failed batch singly; quarantine failures, which hold up no other."""
        for event, path in zip(batch, files, strict=True):
            try:
                self.take([event])
            except FOREIGN as bad:
                log.error("an event cannot be taken in: %s", type(bad).__name__)
                spool.quarantine(self._home, path, "cannot be taken in: %s" % type(bad).__name__)

    def take(self, captured: Iterable[dict[str, Any]], *, is_history: bool = False) -> int:
        """Take captured events into the store; return how many are new.

        Events: payload.SPOOL_FIELDS. They are on disk when it returns. Switched off, it drops them: a hook without a
        daemon spools all the same. is_history: a person asked for them. They change no session's record, and embed_some
        gives them their vectors.
        """
        with self.keep.lock:
            events = self._admitted(list(captured), is_history)
            self.consolidator.tasks.take([event for event in events if event.kind == Kind.TASK])
            events = [event for event in events if event.kind != Kind.TASK]
            events = self._with_distinct_ids(_without_repeats(events, self._store))
            added = frozenset(self._store.add_events(events))
            for listen in self._on_new:
                listen([event for event in events if event.id in added])
            # All turns of the batch, not only those of new events: a crash may have come between events and memories.
            turns = {(event.session_id, event.prompt_id) for event in events if event.prompt_id}
            self.remember(turns, embed=not is_history)
            self.consolidator.remember([event for event in events if event.kind == "remember"])
            return len(added)

    def remember(self, turns: set[tuple[str, str]], *, embed: bool = True) -> None:
        """Make and index the memories of turns (session id, prompt id) anew."""
        with self.keep.lock:
            made = self._made(turns)
            not_held, changed = retracted(self._store, [memory for memory, _ in made.values()])
            made.update(self._made(changed - made.keys()))
            known = memories_by_id(self._store, (memory.id for memory, _ in made.values()))
            memories = [
                carried_over(
                    known.get(memory.id), without_force(memory, Kind.DID_NOT_HOLD) if turn in not_held else memory
                )
                for turn, (memory, _) in made.items()
            ]
            texts = {memory.id: text for memory, text in made.values()}
            if memories and not (embed and self._settled(memories, texts)):
                self.keep.write(memories, texts=texts, embed=embed)
            self._end_as_routine(turns - made.keys(), embed=embed)

    def leave(self, session_id: str, left: Collection[str]) -> bool:
        """Mark just the turns of these prompts as left by their conversation.

        Those that change are read anew. False for none.
        """
        with self.keep.lock:
            query = MemoryQuery(session_id=session_id, category=Category.CONVERSATION, limit=MAX_TURNS)
            turns = self._store.memories(query)
            changed = [turn for turn in turns if (turn.known_kind is Kind.REWOUND) != (turn.prompt_id in left)]
            kinds = {turn.id: Kind.REWOUND if turn.prompt_id in left else Kind.TURN for turn in changed}
            self.keep.write(replace(turn, kind=kinds[turn.id], rules=0) for turn in changed)
            self.remember({(session_id, turn.prompt_id) for turn in changed})
            return bool(changed)

    def _end_as_routine(self, turns: Collection[TurnId], *, embed: bool) -> None:
        """Retire stored turns that turned out to be no memory."""
        known = memories_by_id(self._store, (turn_memory_id(*turn) for turn in turns))
        if known:
            self.keep.write((replace(memory, kind=Kind.ROUTINE) for memory in known.values()), embed=embed)

    def _settled(self, turns: Sequence[Memory], texts: Mapping[str, str]) -> bool:
        """Keep turns with their statements; False where that is not done now."""
        if self.reads_later():
            return False
        try:
            self.consolidator.keep_new(turns, texts)
        except FOREIGN as bad:
            log.error("turns cannot be consolidated: %s", type(bad).__name__)
            return False
        return True

    def _made(self, turns: Collection[TurnId]) -> dict[TurnId, tuple[Memory, str]]:
        """Make the memories and whole texts of turns from their events."""
        prompt_ids = sorted({prompt_id for _, prompt_id in turns})
        rows = self._store.events(prompt_ids=prompt_ids, limit=MAX_EVENTS) if prompt_ids else []
        by_turn: dict[TurnId, list[Event]] = {}
        for event in rows:
            by_turn.setdefault((event.session_id, event.prompt_id), []).append(event)
        made = {}
        for turn in sorted(turns):
            events = by_turn.get(turn, [])
            memory = turn_memory(events)
            if memory is not None:
                events.sort(key=lambda event: (event.kind != "user", event.at_ms))
                made[turn] = memory, full_text(events)
        return made

    def _admitted(self, captured: Sequence[dict[str, Any]], is_history: bool) -> list[Event]:
        """Return events that are captured, wanted by rules, and not forgotten."""
        captured = [self._arrived(fields) for fields in captured]
        standing = self.keep.tombstones.not_forgotten(captured, self._project_of, is_history=is_history)
        not_forgotten = {id(event) for event in standing}
        events = []
        for fields in captured:
            is_typed = (
                fields["kind"] == "remember" or fields["session_id"] == NO_SESSION
            )  # in a terminal, for the memory
            if not (self._capturing or is_history or is_typed):
                continue
            if fields["kind"] == "tool" and not self._tools.keeps(fields["detail"]):
                continue  # a hook without a daemon keeps every tool that might be wanted
            event = self._event(fields)
            # Before the event can be found: whose context it is in must be known by then.
            if not (is_typed or is_history):
                self._sessions.heard(fields, event.project_id)
            if id(fields) in not_forgotten:
                events.append(event)
        return events

    def _arrived(self, captured: dict[str, Any]) -> dict[str, Any]:
        """Return an event, with a time after now as now.

        By order of arrival: nothing said later would come behind a clock that was ahead.
        """
        now_ms = self.consolidator.now_ms()
        if captured["at_ms"] <= now_ms:
            return captured
        self._latest_ms = max(now_ms, self._latest_ms + 1)
        return {**captured, "at_ms": self._latest_ms}

    def _project_of(self, captured: Mapping[str, Any]) -> str:
        return self._projects.resolve(captured["project_dir"])[0]

    def _event(self, captured: dict[str, Any]) -> Event:
        is_global = captured["kind"] == "remember" and captured.get("detail") == GLOBAL
        project_id = GLOBAL if is_global else self._project_of(captured)
        return Event(
            id=captured["id"], kind=captured["kind"], session_id=captured["session_id"], project_id=project_id,
            prompt_id=captured["prompt_id"], text=captured["text"], at_ms=captured["at_ms"], source=captured["source"],
            uuid=str(captured.get("uuid", "")), detail=str(captured.get("detail", "")),
        )  # fmt: skip

    def _with_distinct_ids(self, events: Sequence[Event]) -> list[Event]:
        """Give hook events with one id and different texts distinct ids.

        The later of two gets an id of its own. A transcript that differs from the text a hook saw before is the same
        event seen twice. A hook that comes after the transcript was read in mid-turn has seen more.
        """
        known = {event.id: event for event in self._store.events(ids=[event.id for event in events], limit=100_000)}
        out = []
        for event in events:
            first = known.get(event.id)
            if first is None:
                known[event.id] = event
            elif first.text != event.text and event.source == "hook":
                made = spool_event(
                    kind=event.kind, session_id=event.session_id, prompt_id=event.prompt_id, text=event.text,
                    at_ms=event.at_ms, extra=event.text,
                )  # fmt: skip
                event = replace(event, id=str(made["id"]))
            out.append(event)
        return out


def _without_repeats(events: Sequence[Event], store: Store) -> list[Event]:
    """Return the events without repetitions of memories.

    No text in an answer to an own command, and of a request to forget only its name. Such an answer repeats memories.
    They are never recalled from it, and it would outlive them when they are forgotten.
    """
    details = {_turn(event): event.detail for event in events if event.kind == "user"}
    unknown = [event.prompt_id for event in events if event.kind == "assistant" and _turn(event) not in details]
    if unknown:
        prompts = store.events(prompt_ids=sorted(set(unknown)), kind="user", limit=100_000)
        details.update((_turn(event), event.detail) for event in prompts)
    return [_without(event) if details.get(_turn(event), event.detail) == OWN_COMMAND else event for event in events]


def _without(event: Event) -> Event:
    if event.kind == "assistant":
        return replace(event, text="")
    name = event.text.split(None, 1)[0] if event.text.strip() else ""
    return replace(event, text=name) if event.kind == "user" and FORGET in name else event


def _turn(event: Event) -> tuple[str, str]:
    return event.session_id, event.prompt_id
