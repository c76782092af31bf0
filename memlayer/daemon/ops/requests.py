"""Types and lookups shared by the handlers of operations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from memlayer import compose
from memlayer.daemon.resources.state import Progress as Progress
from memlayer.daemon.resources.state import State
from memlayer.edge.ipc.ops import Arguments
from memlayer.errors import UserError
from memlayer.kinds import Category
from memlayer.model import GLOBAL, Memory, Scope
from memlayer.ports import MemoryQuery, Store
from memlayer.text.context_block import bare_id
from memlayer.turns.turn_memory import marked_text

OPEN_WAIT_S = 50.0  # less than the command line waits for an answer

Fields = dict[str, Any]
Handler = Callable[[State, Any, Progress], Fields]  # of the operation's own arguments
Table = dict[type[Arguments], Handler]


def services_of(state: State) -> compose.Services:
    """Return the open store's services. Raises StoreError, UserError while opening."""
    services = state.ready(OPEN_WAIT_S)
    if services is None:
        raise UserError("The store is still opening. Try again in a moment")
    return services


def project_of(state: State, folder: str, *, is_global: bool = False) -> str:
    """Return a folder's project id; "" for none and an unknown one."""
    return GLOBAL if is_global else state.projects.find(folder)[0] if folder else ""


def scope_of(state: State, folder: str) -> Scope:
    """Return a folder's scope; without a folder, every project's."""
    return state.scope(project_of(state, folder)) if folder else Scope(None)


def named(store: Store, name: str) -> list[Memory]:
    """Return the memories with a citation, a key or an id."""
    return (
        store.memories(MemoryQuery(citations=[name]))
        or store.memories(MemoryQuery(keys=[name]))
        or store.memories(MemoryQuery(ids=[name]))
    )


def one_named(store: Store, name: str) -> Memory:
    """Return the only memory of a name. Raises UserError for others."""
    name = bare_id(name)
    found = named(store, name)
    if not found:
        raise UserError("Nothing is known by %r. `memlayer list` and `memlayer search` show citations" % name)
    if len(found) > 1:
        keys = ", ".join(memory.key for memory in found)
        raise UserError("%r means several memories. Give a key: %s" % (name, keys))
    return found[0]


def category_given(value: str) -> Category | None:
    """Return the category of a request, None for any. Raises UserError."""
    if not value:
        return None
    try:
        return Category(value)
    except ValueError:
        raise UserError("%.40r is no category. Give one of %s" % (value, ", ".join(Category))) from None


def memory_fields(state: State, memory: Memory) -> Fields:
    """Return a memory as every answer has it, with its project's name."""
    return {
        **asdict(memory),
        "text": marked_text(memory),
        "source_ids": list(memory.source_ids),
        "project": state.projects.name(memory.project_id),
    }


def score_parts(score: Fields) -> Fields:
    """Return the parts of a score, rounded to four digits."""
    return {name: None if value is None else round(value, 4) for name, value in score.items() if name != "score"}
