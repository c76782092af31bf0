"""Tools for memory and the project's folder, and a person's own.

A package offers tools of its own by the entry point group `memlayer.tools`: each names a tool, or a class or function
that makes it without arguments.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from memlayer.agent.execution import Tool
from memlayer.agent.files import Approve, EditFile, ProjectFolder, ReadFile, WriteFile, schema, text_of
from memlayer.agent.memory import TalkMemory, with_own_tools
from memlayer.agent.shell import OnOutput, Shell
from memlayer.edge.capture import spool
from memlayer.errors import DaemonError, MemlayerError, ToolError, UserError
from memlayer.turns.remembered import is_all_redacted, refuse_too_long, remember_event
from memlayer.wire import tools as ops

if TYPE_CHECKING:
    from memlayer.edge.ipc.client import Asked

GROUP = "memlayer.tools"
MAX_HITS = 10
FROM = "character to go on from, of a single long text"


class MemorySearch:
    """Searches the memories of the project."""

    name = "memory_search"
    description = (
        "Search earlier sessions of this project: decisions, facts, causes, files. Returns notes with citations."
    )
    parameters = schema("query", query="words of the matter, in any language", limit="notes, at most %d" % MAX_HITS)

    def __init__(self, memory: TalkMemory) -> None:
        self._memory = memory

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        limit = arguments.get("limit")
        limit = min(MAX_HITS, max(1, limit)) if isinstance(limit, int) else 5
        return self.search(text_of(arguments, "query"), limit)

    def search(self, query: str, limit: int = 5) -> str:
        """Return lines of the best notes. Raises MemlayerError."""
        folder, session = self._memory.project_dir, self._memory.session_id
        return answer_of(self._memory, ops.MemSearch(query, limit, project_dir=folder, session_id=session))


class MemoryDetails:
    """Opens memories."""

    name = "memory_details"
    description = (
        "Open notes by their citations: the whole text with its versions, sources, files and commands. Only those "
        "that you need."
    )
    parameters = schema("ids", ids="citations, as in [mem:id], with blanks between", **{"from": FROM})

    def __init__(self, memory: TalkMemory) -> None:
        self._memory = memory

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        start = arguments.get("from", 0)
        folder, session = self._memory.project_dir, self._memory.session_id
        step = ops.MemDetails(
            _ids(arguments), start if isinstance(start, int) else 0, project_dir=folder, session_id=session
        )
        return answer_of(self._memory, step)


class MemoryTimeline:
    """Shows the turns around memories."""

    name = "memory_timeline"
    description = "The turns before and after a note in its session, a line each."
    parameters = schema("ids", ids="citations, as in [mem:id], with blanks between", window="turns on either side")

    def __init__(self, memory: TalkMemory) -> None:
        self._memory = memory

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool."""
        window = arguments.get("window")
        folder, session = self._memory.project_dir, self._memory.session_id
        step = ops.MemTimeline(
            _ids(arguments), max(1, window) if isinstance(window, int) else 3, project_dir=folder, session_id=session
        )
        return answer_of(self._memory, step)


def _ids(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return citations, given as text or as a list. Raises ToolError."""
    given = arguments.get("ids")
    text = " ".join(map(str, given)) if isinstance(given, list) else text_of(arguments, "ids")
    return tuple(text.replace(",", " ").split())


class MemoryRemember:
    """Keeps a statement as a memory of the project."""

    name = "memory_remember"
    description = (
        "Keep a fact, decision or preference that later sessions will need: one sentence that can be understood alone,"
        " in the user's language."
    )
    parameters = schema("text", text="a sentence")

    def __init__(self, memory: TalkMemory) -> None:
        self._memory = memory

    def run(self, arguments: Mapping[str, Any]) -> str:
        """See execution.Tool. On disk before the daemon is asked."""
        folder, session = self._memory.project_dir, self._memory.session_id
        text, at_ms = text_of(arguments, "text"), time.time_ns() // 1_000_000
        event = remember_event(text, project_dir=folder, at_ms=at_ms, session_id=session, by_model=True)
        kept = str(event["text"])
        if not kept.strip() or is_all_redacted(kept):
            raise ToolError("Nothing to remember: all of it is private")
        refuse_too_long(kept)
        if self._memory.is_on:
            spool.put(self._memory.home, event)
        try:
            return answer_of(self._memory, ops.MemRemember(kept, at_ms=at_ms, project_dir=folder, session_id=session))
        except DaemonError:
            if not self._memory.is_on:
                raise
            return "Kept on disk; it is remembered as soon as memory answers."


def answer_of(memory: TalkMemory, arguments: Asked[ops.TextForModel]) -> str:
    """Return the daemon's answer in text for a model. Raises MemlayerError."""
    if not memory.is_on:
        raise UserError("Memory is switched off in this talk")
    return with_own_tools(memory.ask(arguments).text)


def tools_of(
    memory: TalkMemory, approve: Approve, on_output: OnOutput = lambda _: None
) -> tuple[list[Tool], list[str]]:
    """Return the tools of a talk, and its problems, a line each.

    approve: asks the person. on_output: shows a command's output.
    Without memory its tools are left out. A tool of a taken name is, too.
    """
    folder = ProjectFolder(memory.project_dir)
    of_memory = (MemorySearch, MemoryDetails, MemoryTimeline, MemoryRemember) if memory.is_on else ()
    tools: list[Tool] = [made(memory) for made in of_memory]
    tools += [ReadFile(folder), WriteFile(folder, approve), EditFile(folder, approve)]
    tools += [Shell(folder, approve, on_output)]
    own, problems = installed_tools(list(entry_points(group=GROUP)))
    taken = {tool.name for tool in tools}
    return tools + [tool for tool in own if tool.name not in taken], problems


def installed_tools(offered: Sequence[EntryPoint]) -> tuple[list[Tool], list[str]]:
    """Return the tools of entry points, and problems, a line each."""
    tools: list[Tool] = []
    problems = []
    for point in sorted(offered, key=lambda point: point.name):
        try:
            loaded = point.load()
            tool = loaded if hasattr(loaded, "name") and not isinstance(loaded, type) else loaded()
            if not (isinstance(tool.name, str) and isinstance(tool.parameters, Mapping) and callable(tool.run)):
                raise TypeError("name, parameters or run is missing")
        except (MemlayerError, ImportError, AttributeError, TypeError, ValueError, OSError) as bad:
            problems.append("the tool %s cannot be loaded: %s: %s" % (point.name, type(bad).__name__, bad))
            continue
        tools.append(tool)
    return tools, problems
