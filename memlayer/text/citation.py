"""Citations as people and models write them: `[mem:a7Bc3x]`."""

from __future__ import annotations

import re

_CITED = re.compile(r"\[\s*mem\s*:\s*([^\]\s]+?)\s*\]", re.IGNORECASE)
_MARK = re.compile(r"^\[?\s*mem\s*:\s*", re.IGNORECASE)
_AROUND = "[](){}<>`'\"*.,;:!?…、。，“”‘’「」"


def bare_id(text: str) -> str:
    """The id within a citation, without the punctuation around it; a key or an id is given back as it is."""
    cited = _CITED.search(text)
    if cited:
        return cited.group(1)
    return _MARK.sub("", text.strip().strip(_AROUND)).strip().strip(_AROUND)


def ids_in(text: str) -> list[str]:
    """The ids in a text, each once: of its citations where it has any, else of its words."""
    found = _CITED.findall(text) or [bare_id(word) for word in re.split(r"[\s,]+", text)]
    return [one for one in dict.fromkeys(found) if one]
