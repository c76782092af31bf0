"""Types and lookups shared by the handlers of operations."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from inspect import isfunction, signature
from types import ModuleType
from typing import Any, TypeVar, get_type_hints

from memlayer import compose
from memlayer.daemon.resources.state import Progress as Progress
from memlayer.daemon.resources.state import State
from memlayer.errors import UserError
from memlayer.give.retriever import Score
from memlayer.give.search import split_about
from memlayer.kinds import Category
from memlayer.model import Memory, Scope
from memlayer.ports import MemoryQuery, Store
from memlayer.records.sessions import Session
from memlayer.text.context_block import bare_id, day_of, flatten, quoted
from memlayer.turns.turn_memory import marked_text
from memlayer.wire import memories as ops
from memlayer.wire.message import Asking, Message

OPEN_WAIT_S = 50.0  # less than the command line waits for an answer
MATCHES_SHOWN, MATCH_CHARS = 8, 40  # of the sessions that a start of an id may mean
ANYWHERE = Scope(None)
NOBODYS = "unknown"  # the id of no project

Fields = dict[str, Any]
MemoryKind = TypeVar("MemoryKind", bound=ops.MemoryRow)
OpHandler = Callable[[State, Any, Progress], Message]
PARAMETERS = ["state", "arguments", "progress"]  # of a handler


def handlers(modules: Iterable[ModuleType]) -> dict[str, tuple[type[Asking[Any]], OpHandler]]:
    """Return name -> (arguments, public function) of the operations in modules."""
    public = [
        function
        for module in modules
        for name, function in vars(module).items()
        if isfunction(function) and function.__module__ == module.__name__ and not name.startswith("_")
    ]
    hints = [(row, get_type_hints(row)) for row in public if list(signature(row).parameters) == PARAMETERS]
    return {named["arguments"]().op: (named["arguments"], function) for function, named in hints}


def services_of(state: State) -> compose.Services:
    """Return the open store's services. Raises StoreError, UserError while opening."""
    services = state.ready(OPEN_WAIT_S)
    if services is None:
        raise UserError("The store is still opening. Try again in a moment")
    return services


def project_of(state: State, folder: str) -> str:
    """Return a folder's project id; "" for none and an unknown one."""
    return state.projects.find(folder)[0] if folder else ""


def limit_of(state: State, folder: str) -> str:
    """Return a folder's project id; "" for none, else NOBODYS."""
    return project_of(state, folder) or (NOBODYS if folder else "")


def scope_of(state: State, folder: str) -> Scope:
    """Return a folder's scope; without a folder, every project's."""
    return state.scope(project_of(state, folder)) if folder else Scope(None)


def session_named(state: State, start: str, scope: Scope = ANYWHERE) -> str:
    """Return a session's id by the id or its start.

    It is "" for "". scope: its projects. Raises UserError for none, and for several, with the matches.
    """
    if not start:
        return ""
    matches = [
        session
        for session in state.sessions.named(start)
        if scope.project_ids is None or session.project_id in scope.project_ids
    ]
    if len(matches) == 1:
        return matches[0].id
    if matches:
        raise several_sessions(state, start, matches)
    is_stored = scope.project_ids is None and services_of(state).store.events(session_id=start, limit=1)
    if is_stored:  # its record is lost
        return start
    where = "" if scope.project_ids is None else " in this project"
    raise UserError(
        "No session is known by %s%s. `memlayer sessions --all-projects` lists them" % (quoted(start), where)
    )


def several_sessions(state: State, start: str, matches: Sequence[Session], noun: str = "session") -> UserError:
    """Return the error about a start of several ids; it shows them."""
    shown = [
        "%s (%s, %s)"
        % (flatten(session.id)[:MATCH_CHARS], state.projects.name(session.project_id), day_of(session.last_ms))
        for session in matches[:MATCHES_SHOWN]
    ]
    rest = "; and %d more" % (len(matches) - MATCHES_SHOWN) if len(matches) > MATCHES_SHOWN else ""
    return UserError(
        "%d %ss begin with %s: %s%s. Give more of the id" % (len(matches), noun, quoted(start), ", ".join(shown), rest)
    )


def named(store: Store, name: str, scope: Scope = ANYWHERE) -> list[Memory]:
    """Return a scope's memories with a citation, a key or an id."""
    queries = MemoryQuery(citations=[name]), MemoryQuery(keys=[name]), MemoryQuery(ids=[name])
    found = next(filter(None, map(store.memories, queries)), [])
    return [row for row in found if scope.project_ids is None or row.project_id in scope.project_ids]


def one_named(store: Store, name: str, scope: Scope = ANYWHERE) -> Memory:
    """Return a scope's only memory of a name. Raises UserError for others."""
    name = bare_id(name)
    memories = named(store, name, scope)
    if not memories:
        where = "" if scope.project_ids is None else " in this project"
        raise UserError(
            "Nothing is known by %s%s. `memlayer list` and `memlayer search` show citations" % (quoted(name), where)
        )
    if len(memories) > 1:
        keys = ", ".join(memory.key for memory in memories)
        raise UserError("%s means several memories. Give a key: %s" % (quoted(name), keys))
    return memories[0]


def category_given(value: str) -> Category | None:
    """Return the category of a request, None for any. Raises UserError."""
    if value not in ("", *Category):
        raise UserError("%.40r is no category. Give one of %s" % (value, ", ".join(Category)))
    return Category(value) if value else None


def about_given(state: State, query: str, scope: Scope) -> tuple[str, frozenset[str] | None, bool]:
    """Return a query's words, and the ids behind its `about:` names.

    None without such a name. Last: whether the names are the whole query.
    """
    words, names = split_about(query)
    if not names:
        return words, None, False
    book = services_of(state).tasks
    rows = [frozenset(book.about(name, scope.project_ids)) for name in names]
    return words, frozenset.intersection(*rows), words == " ".join(names)


def memory_row(state: State, memory: Memory) -> ops.MemoryRow:
    """Return a memory as every answer has it, with its project's name."""
    return row_of(state, memory, ops.MemoryRow)


def row_of(state: State, memory: Memory, kind: type[MemoryKind], **more: Any) -> MemoryKind:
    """Return a memory as a row of a kind with further fields."""
    project = state.projects.name(memory.project_id)
    host = state.sessions.host_of(memory.session_id)
    return memory.as_row(kind, **{"text": marked_text(memory), "project": project, "host": host, **more})


def score_parts(score: Score) -> dict[str, float | None]:
    """Return the parts of a score, rounded. `vector` tells the cosine."""
    parts = {name: value for name, value in asdict(score).items() if name not in ("score", "cosine")}
    return {name: None if value is None else round(value, 4) for name, value in parts.items()}
