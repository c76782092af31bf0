"""Takes ranges out of a text."""

from __future__ import annotations


def lowered(text: str) -> str:
    """text in lower case and of the same length (the one character that grows when lowered is replaced first)."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def cut_out(text: str, cuts: list[tuple[int, int, str]]) -> str:
    """text with each (start, end, kind) replaced by `[redacted:<kind>]`; overlapping cuts become one."""
    out: list[str] = []
    at = 0
    for start, end, kind in sorted(cuts):
        if start >= at:
            out += (text[at:start], "[redacted:%s]" % kind)
        at = max(at, end)
    return "".join(out) + text[at:] if out else text
