"""Citations as people and models write them: `[mem:a7Bc3x]`."""

from __future__ import annotations

import re

_CITATION = re.compile(r"^\s*\[?\s*(?:mem\s*:)?\s*([^\]\s]+?)\s*\]?\s*$", re.IGNORECASE)


def bare_id(text: str) -> str:
    """The id within a citation; a key or an id is given back as it is."""
    found = _CITATION.match(text)
    return found.group(1) if found else text.strip()
