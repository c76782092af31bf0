"""What a session starts with: where the project's last session left off, and its most important memories."""

from __future__ import annotations

from dataclasses import dataclass

from memlayer.core import context
from memlayer.core.model import Memory
from memlayer.core.noise import recallable
from memlayer.core.turn import ASSISTANT, USER
from memlayer.ports import Store
from memlayer.service.consolidation import OPEN_QUESTION

LAST_TURNS = 2
SHORTEST_CHARS = 25  # "ok", "계속": a turn that says nothing to somebody who was not there
ENTRY_CHARS = 300


@dataclass(frozen=True)
class WorkingSetRules:
    """What the user may set. max_chars counts the whole block."""

    enabled: bool = True
    max_entries: int = 6
    max_chars: int = 2000


def compose(store: Store, project_id: str, rules: WorkingSetRules) -> str:
    """The working set of a project, "" when it has no memories. Newest things first, then the important ones."""
    if not rules.enabled:
        return ""
    newest = [memory for memory in store.memories(project_id=project_id, limit=40) if _says_something(memory)]
    if not newest:
        return ""
    last_session = newest[0].session_id
    left_off = [memory for memory in newest if memory.session_id == last_session][:LAST_TURNS]
    chosen = list(left_off)
    for memory in store.memories(project_id=project_id, limit=40, order="importance"):
        if len(chosen) >= rules.max_entries:
            break
        above_the_rest = memory.category == "core" or memory.importance > 0.2
        if above_the_rest and _says_something(memory) and memory.id not in {one.id for one in chosen}:
            chosen.append(memory)
    entries = [context.Entry(memory.key, shortened(memory.text), memory.citation, memory.at_ms) for memory in chosen]
    budget = context.Budget(rules.max_entries, ENTRY_CHARS, rules.max_chars)
    return context.block(entries, budget, context.WORKING_SET_EXPLANATION)


def shortened(text: str, max_chars: int = ENTRY_CHARS) -> str:
    """A turn in short: the head of what was said, and the head of the answer."""
    said, _, answered = text.partition("\n" + ASSISTANT)
    if not answered:
        return context.cut(context.flatten(text), max_chars)
    said = context.flatten(said)
    half = max(max_chars // 2, max_chars - len(said) - 20)
    answer = context.cut(context.flatten(answered), half)
    said = context.cut(said, max(40, max_chars - len(answer) - len(ASSISTANT) - 1))
    return "%s %s%s" % (said, ASSISTANT, answer)


def _says_something(memory: Memory) -> bool:
    if memory.kind == OPEN_QUESTION or memory.superseded_by:
        return False
    said, _, _ = memory.text.partition("\n" + ASSISTANT)
    if said.startswith(USER) and not recallable(said[len(USER) :]):
        return False
    return len(memory.text.replace(USER, "").replace(ASSISTANT, "").strip()) >= SHORTEST_CHARS
