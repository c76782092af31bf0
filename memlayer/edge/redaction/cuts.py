"""Takes ranges out of a text."""

from __future__ import annotations

import re


def lowered(text: str) -> str:
    """text in lower case and of the same length (the one character that grows when lowered is replaced first)."""
    return text.lower() if text.isascii() else text.replace("\u0130", "I").lower()


def unquoted(text: str) -> str:
    """text with line breaks and quotes as they are, where JSON or a shell has escaped them; of the same length."""
    if "\\" in text:
        text = re.sub(r"\\{1,15}[\"'nrt]", _unescaped, text)
    return text.replace("'\"'\"'", "    '")


def _unescaped(match: re.Match[str]) -> str:
    sign = match.group()[-1]
    return " " * (len(match.group()) - 1) + {"n": "\n", "r": " ", "t": "\t"}.get(sign, sign)


def cut_out(text: str, cuts: list[tuple[int, int, str]]) -> str:
    """text with each (start, end, kind) replaced by `[redacted:<kind>]`; overlapping cuts become one."""
    out: list[str] = []
    at = 0
    for start, end, kind in sorted(cuts):
        if start >= at:
            out += (text[at:start], "[redacted:%s]" % kind)
        at = max(at, end)
    return "".join(out) + text[at:] if out else text
