"""Edges from tasks and memories to the things that they name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memlayer.kinds import KINDS, Category, Kind
from memlayer.model import Memory, turn_memory_id
from memlayer.ports import Store, events_by_id
from memlayer.tasks.keys import Entity, EntityType, artifact, condition, entities_in
from memlayer.tasks.states import Blocker, Op, Status, Step, Task

MEMORY = "memory"
BLOCKERS = (EntityType.WORK, EntityType.CONDITION, EntityType.ARTIFACT)


class Rel(StrEnum):
    """The type of an edge."""

    ABOUT = "about"  # a memory is about an entity
    BLOCKED_BY = "blocked_by"
    RESOLVES = "resolves"  # a turn closed a task
    SUPERSEDES = "supersedes"
    DERIVED_FROM = "derived_from"
    SAID_AGAIN = "said_again"  # a turn spoke of a task, or said a statement, that an earlier session had made


# The only combinations that an edge may have: (source, relation, target).
ALLOWED = frozenset(
    {
        *((MEMORY, Rel.ABOUT, target) for target in EntityType),
        *((EntityType.WORK, Rel.BLOCKED_BY, target) for target in BLOCKERS),
        (MEMORY, Rel.RESOLVES, EntityType.WORK),
        (MEMORY, Rel.SAID_AGAIN, EntityType.WORK),
        (MEMORY, Rel.SAID_AGAIN, MEMORY),
        (MEMORY, Rel.SUPERSEDES, MEMORY),
        (MEMORY, Rel.DERIVED_FROM, MEMORY),
    }
)
_OF_STEP = {Op.CREATED: Rel.ABOUT, Op.STATUS: Rel.SAID_AGAIN, Op.MENTIONED: Rel.SAID_AGAIN, Op.TITLED: Rel.SAID_AGAIN}


@dataclass(frozen=True)
class Edge:
    """A typed edge. Ends are ids of memories and entities.

    title: of a target that is no memory.
    """

    src_type: str
    src_id: str
    rel: Rel
    dst_type: str
    dst_id: str
    project_id: str = ""
    title: str = ""

    def __post_init__(self) -> None:
        if (self.src_type, self.rel, self.dst_type) not in ALLOWED:
            raise TypeError("no edge goes from %s by %s to %s" % (self.src_type, self.rel, self.dst_type))


def edges_of_task(task: Task, steps: Sequence[Step]) -> list[Edge]:
    """Return the edges that a task's steps make."""
    things = [entity_of(task.project_id, blocker) for blocker in task.blockers]
    out = [
        Edge(EntityType.WORK, task.id, Rel.BLOCKED_BY, thing.type, thing.id, task.project_id, thing.title)
        for thing in things
    ]
    turns: dict[str, Rel] = {}
    for step in steps:
        if step.prompt_id and step.session_id and step.op in _OF_STEP:
            turn = turn_memory_id(step.session_id, step.prompt_id)
            closes = step.op is Op.STATUS and step.to == Status.DONE
            turns[turn] = Rel.RESOLVES if closes else turns.get(turn) or _OF_STEP[step.op]
    told = (EntityType.WORK, task.id, task.project_id, task.title)
    out += [Edge(MEMORY, turn, rel, *told) for turn, rel in turns.items()]
    return out


def entity_of(project_id: str, blocker: Blocker) -> Entity:
    """Return the thing that a blocker stands for."""
    if blocker.kind == EntityType.WORK:
        return Entity(EntityType.WORK, blocker.key, blocker.raw)
    named = (artifact(blocker.raw), condition(project_id, blocker.raw), *entities_in(project_id, blocker.raw))
    same = (entity for entity in named if entity is not None and entity.key == blocker.key)
    kind = EntityType.ARTIFACT if blocker.kind == EntityType.ARTIFACT else EntityType.CONDITION
    return next(same, Entity(kind, blocker.key, blocker.key))


def edges_of_memory(memory: Memory, repeats: Iterable[str]) -> list[Edge]:
    """Return the edges that a memory itself makes.

    repeats: the turns of later sessions that said it again.
    """
    if memory.known_kind in (Kind.ENTRY, Kind.TOPIC):
        return []  # their turns say the same
    project_id = memory.project_id
    out = [
        Edge(MEMORY, memory.id, Rel.ABOUT, entity.type, entity.id, project_id, entity.title)
        for entity in entities_in(project_id, memory.text, memory.files)
    ]
    if memory.known_kind is Kind.TASK:
        return out  # a task's steps say which memories it hangs together with
    if memory.superseded_by not in ("", memory.id):
        out.append(Edge(MEMORY, memory.superseded_by, Rel.SUPERSEDES, MEMORY, memory.id, project_id))
    if memory.category is not Category.CONVERSATION and memory.prompt_id and not KINDS[memory.known_kind].of_session:
        turn = turn_memory_id(memory.session_id, memory.prompt_id)
        out.append(Edge(MEMORY, memory.id, Rel.DERIVED_FROM, MEMORY, turn, project_id))
    return out + [Edge(MEMORY, turn, Rel.SAID_AGAIN, MEMORY, memory.id, project_id) for turn in repeats]


def said_again(store: Store, memories: Sequence[Memory]) -> dict[str, list[str]]:
    """Return statement's id -> turns of later sessions that said it.

    One a session. Raises StoreError.
    """
    rows = [row for row in memories if row.category == Category.CORE and row.known_kind is not Kind.TASK]
    rows = [row for row in rows if len(row.source_ids) > 1]
    events = events_by_id(store, (source for row in rows for source in row.source_ids)).values()
    out = {}
    for row in rows:
        turns: dict[str, str] = {}
        for event in events:
            if event.id in row.source_ids and event.session_id and event.prompt_id:
                turns.setdefault(event.session_id, turn_memory_id(event.session_id, event.prompt_id))
        out[row.id] = list(turns.values())[1:]
    return out
