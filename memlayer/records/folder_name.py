"""A folder's name out of a name that came from outside."""

from __future__ import annotations

import re
import unicodedata

MAX_CHARS = 40
_OUT = re.compile(r"[^\w.+-]+")
_EDGES = " .-_+"


def folder_name(name: str, unique: str) -> str:
    """`<readable part>-<unique>`: one path component without anything that a shell or a file system would trip over.

    unique: letters and digits, which tell two projects of one name apart.
    """
    kept = _OUT.sub("-", unicodedata.normalize("NFC", name).encode("utf-8", "replace").decode("utf-8"))
    kept = re.sub("-{2,}", "-", kept).strip(_EDGES)[:MAX_CHARS].strip(_EDGES)
    return "%s-%s" % (kept or "project", unique)
