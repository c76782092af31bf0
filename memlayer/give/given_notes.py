"""Entries of the record of given notes, and their texts on request."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from memlayer.edge.capture import spool
from memlayer.edge.capture.payload import IN_WORDS
from memlayer.give.candidate import Candidate
from memlayer.give.recall import Recalled
from memlayer.kinds import KINDS
from memlayer.model import GLOBAL, Event, Memory, replace
from memlayer.ports import MemoryQuery, Store, events_by_id, memories_by_id
from memlayer.text import context_block
from memlayer.turns.turn_memory import marked_text
from memlayer.wire.sessions import GivenPrompt

PINNED, EVERYWHERE = "pinned", "holds in every project"
MAX_LEFT_OUT = 10  # candidates a prompt, the most relevant
_CITED = re.compile(r"^- (?:.* )?\[mem:([0-9A-Za-z]{1,40})\]", re.MULTILINE)  # a note's own: texts are flattened
Row = dict[str, Any]


def of_prompt(event: Mapping[str, Any], project_id: str, recalled: Recalled, *, is_delivered: bool) -> Row:
    """Return a prompt's entry. is_delivered: the host had the answer in time."""
    left_out = [candidate for candidate in recalled.ranked if not candidate.kept]
    return {
        **_head(event, project_id, recalled.block, is_delivered),
        "gate": recalled.gate.value,
        "place": "first prompt" if recalled.is_first else "",
        "need": round(recalled.need, 3),
        "mode": recalled.mode,
        "took_ms": round(recalled.took_ms, 1),
        "given": [_scored(candidate) for candidate in recalled.entries],
        "left_out": [_scored(candidate) for candidate in left_out[:MAX_LEFT_OUT]],
        "left_out_count": len(left_out),
    }


def of_start(
    event: Mapping[str, Any], project_id: str, block: str, left_out: Mapping[str, str], *, is_delivered: bool
) -> Row:
    """Return the entry of a session start with a working set.

    left_out: citation -> why the start does not tell it.
    """
    cited = cited_in(block)
    others = [{"citation": name, "reason": why} for name, why in left_out.items() if name not in cited]
    return {
        **_head(event, project_id, block, is_delivered),
        "start": str(event["detail"]),
        "given": [{"citation": citation} for citation in cited],
        "left_out": others[:MAX_LEFT_OUT],
        "left_out_count": len(others),
    }


def of_action(event: Mapping[str, Any], project_id: str, line: str, place: str) -> Row:
    """Return the entry of a line before or behind a call."""
    given = [{"citation": citation} for citation in cited_in("- " + line)]
    return {**_head(event, project_id, line, True), "action": place, "given": given, "left_out": []}


def cited_in(block: str) -> list[str]:
    """Return the citations of a block's lines, in order."""
    return _CITED.findall(block)


def told_at_start(block: str) -> dict[str, int]:
    """Return citation -> characters that a start tells of it."""
    lines = context_block.entry_lines(block)
    return {citation: len(context_block.text_of(line)) for line in lines for citation in cited_in(line)}


def is_of_prompt(entry: Mapping[str, Any]) -> bool:
    """True for the entry of a prompt, of no start or call."""
    return "start" not in entry and "action" not in entry


def is_unanswered(event: Event, recorded: Collection[str], since_ms: int) -> bool:
    """True for a prompt since the record's beginning that no daemon answered."""
    is_prompt = event.kind == "user" and event.source == "hook" and event.detail in IN_WORDS
    return is_prompt and event.at_ms >= since_ms and event.id not in recorded


def unanswered(event: Event) -> Row:
    """Return the entry of a prompt that its hook kept by itself."""
    gate = "no daemon answered in time; the prompt was kept"
    return {**_head(event.fields(), event.project_id, "", True), "gate": gate, "given": [], "left_out": []}


def _head(event: Mapping[str, Any], project_id: str, block: str, is_delivered: bool) -> Row:
    return {
        "at_ms": event["at_ms"],
        "session_id": event["session_id"],
        "project_id": project_id,
        "event_id": event["id"],
        "chars": len(block),
        "delivered": is_delivered,
    }


def _scored(candidate: Candidate) -> Row:
    row: Row = {"id": candidate.chunk.memory_id, "chance": round(candidate.chance, 3)}
    row.update(helps=round(candidate.helps, 3), reason=candidate.reason.value)
    row.update({"why": candidate.why} if candidate.why else {})
    row.update({"newer": candidate.newer.citation} if candidate.newer else {})
    scores = {"lexical": candidate.score.lexical, "vector": candidate.score.vector}
    return {**row, **{name: round(value, 3) for name, value in scores.items() if value is not None}}


def with_texts(entries: Sequence[Row], store: Store, home: str) -> list[GivenPrompt]:
    """Join entries with their texts, None if not kept. Raises StoreError."""
    prompts = [GivenPrompt.parse(entry) for entry in entries]
    notes = [(note, prompt) for prompt in prompts for note in (*prompt.given, *prompt.left_out)]
    citations = sorted({note.citation for note, _ in notes if note.citation})
    memories = [
        *memories_by_id(store, (note.id for note, _ in notes if note.id)).values(),
        *(store.memories(MemoryQuery(citations=citations, limit=2 * len(citations))) if citations else ()),
    ]
    known = {memory.id: memory for memory in memories} | {memory.citation: memory for memory in reversed(memories)}
    for note, prompt in notes:
        if memory := known.get(note.id or note.citation):
            note.memory = replace(memory, text=marked_text(memory))
            note.why = why_at_start(memory) if prompt.start and not note.reason else note.why
    texts = _prompts([prompt.event_id for prompt in prompts if prompt.is_prompt], store, home)
    for prompt in prompts:
        prompt.prompt = texts.get(prompt.event_id)
        prompt.left_out = [note for note in prompt.left_out if note.memory]
    return prompts


def _prompts(event_ids: Sequence[str], store: Store, home: str) -> dict[str, str]:
    """Return event id -> text, from the store and the spool."""
    texts = {id_: stored.text for id_, stored in events_by_id(store, event_ids).items()}
    missing = set(event_ids) - texts.keys()
    for path in spool.waiting(home) if missing else ():
        if spool.id_of(path) in missing:
            try:
                event, _ = spool.load(path)
            except OSError:  # taken in meanwhile
                continue
            if event is not None:
                texts[str(event["id"])] = str(event["text"])
    return texts


def why_at_start(memory: Memory) -> str:
    """Return why a memory stands in a session's start."""
    if memory.pinned:
        return PINNED
    return EVERYWHERE if memory.project_id == GLOBAL else KINDS[memory.known_kind].at_start
