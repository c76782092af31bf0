"""The time at which a language model was turned on."""

from __future__ import annotations

import contextlib
import json
import os

from memlayer.edge.home import paths


def turned_on(home: str, place: str, now_ms: int) -> int:
    """Note that a daemon begins with a model turned on.

    Returns since when it is, in Unix ms. place: where sessions are sent: the provider, and its address. Another place
    is turned on now. So is a place whose note is lost or names a time that is yet to come.
    """
    known = paths.read_object(paths.model_since(home))
    since_ms = known.get("since_ms")
    if known.get("place") == place and type(since_ms) is int and 0 < since_ms <= now_ms:
        return since_ms
    note = {"place": place, "since_ms": now_ms}
    with contextlib.suppress(OSError):  # it holds for this daemon, and the next one is later still
        paths.write_whole(paths.model_since(home), json.dumps(note, ensure_ascii=False).encode())
    return now_ms


def turned_off(home: str) -> None:
    """A daemon begins with the rules alone."""
    with contextlib.suppress(OSError):
        os.unlink(paths.model_since(home))
