"""Ids of events, and names that may become part of a path."""

from __future__ import annotations


def is_path_part(text: str) -> bool:
    """True for ASCII letters and digits alone, as the ids that we make are; what comes with a file may be anything."""
    return text.isascii() and text.isalnum()


GLOBAL = "global"  # the project id of what holds in every project: put there by the person, and nothing else


def event_id(session_id: str, prompt_id: str, kind: str, extra: str = "") -> str:
    """32 hex characters from session, prompt id and kind.

    `extra` tells apart what these three cannot: the text of a prompt from a host that sends no prompt id, the answer of
    a continued Stop, the moment of a session event.
    """
    # _sha2/_sha256 would be cheaper than hashlib, but their names changed between the Pythons we support.
    from hashlib import sha256

    return sha256("\0".join((session_id, prompt_id, kind, extra)).encode("utf-8", "surrogatepass")).hexdigest()[:32]
