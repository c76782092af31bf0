"""The time at which a language model was turned on."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass
from typing import Any

from memlayer.edge.home import paths


@dataclass(frozen=True)
class TurnedOn:
    """The time and the reader of a model that was turned on.

    since_ms: Unix time. reader: the first model since then; turns are marked as read by that name, so that another one
    does not read them anew.
    """

    since_ms: int
    reader: str


def turned_on(home: str, place: str, reader: str, now_ms: int) -> TurnedOn:
    """Note that a daemon begins with a model turned on.

    place: where turns are sent: the provider, and its address. Another place is turned on now. So is a place whose
    note is lost or names a time that is yet to come.
    """
    known = _read(home)
    first = known.get("reader")
    since_ms = known.get("since_ms")
    reader = first if isinstance(first, str) and first else reader
    if known.get("place") == place and type(since_ms) is int and 0 < since_ms <= now_ms:
        return TurnedOn(since_ms, reader)
    note = {"place": place, "since_ms": now_ms, "reader": reader}
    with contextlib.suppress(OSError):  # it holds for this daemon, and the next one is later still
        paths.write_whole(paths.model_since(home), json.dumps(note, ensure_ascii=False).encode())
    return TurnedOn(now_ms, reader)


def turned_off(home: str) -> None:
    """A daemon begins with the rules alone."""
    with contextlib.suppress(OSError):
        os.unlink(paths.model_since(home))


def _read(home: str) -> dict[str, Any]:
    try:
        with open(paths.model_since(home), encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}
