"""Events of turns with memlayer's own commands, without any memory's words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from memlayer.edge.capture.payload import OWN_COMMAND
from memlayer.model import Event
from memlayer.ports import Store

FORGET = "memory-forget"


def without_repeats(events: Sequence[Event], store: Store) -> list[Event]:
    """Return the events without repetitions of memories.

    No text in an answer to an own command, and of a request to forget only its name. Such an answer repeats memories;
    they are never recalled from it, and it would outlive them when they are forgotten.
    """
    details = {_turn(event): event.detail for event in events if event.kind == "user"}
    unknown = [event.prompt_id for event in events if event.kind == "assistant" and _turn(event) not in details]
    if unknown:
        found = store.events(prompt_ids=sorted(set(unknown)), kind="user", limit=100_000)
        details.update((_turn(event), event.detail) for event in found)
    return [_without(event) if details.get(_turn(event), event.detail) == OWN_COMMAND else event for event in events]


def _without(event: Event) -> Event:
    if event.kind == "assistant":
        return replace(event, text="")
    name = event.text.split(None, 1)[0] if event.text.strip() else ""
    return replace(event, text=name) if event.kind == "user" and FORGET in name else event


def _turn(event: Event) -> tuple[str, str]:
    return event.session_id, event.prompt_id
