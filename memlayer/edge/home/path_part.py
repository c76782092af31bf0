"""Whether an id may become part of a path."""

from __future__ import annotations


def is_path_part(text: str) -> bool:
    """True for ASCII letters and digits alone, as the ids that we make are; what comes with a file may be anything."""
    return text.isascii() and text.isalnum()
