"""Takes out the backslashes that some editors put before what could be Markdown; code keeps its own. Pure."""

from __future__ import annotations

import re

_SIGN = re.compile(r"\\([!-/:-@\[-`{-~])|`+")
_TICKS = re.compile(r"`+")


def unescaped(text: str) -> str:
    """The text as it was before the editor wrote it. Takes time in proportion to its length."""
    last = {len(run[0]): run.start() for run in _TICKS.finditer(text)}
    out: list[str] = []
    at = 0
    while (sign := _SIGN.search(text, at)) is not None:
        out.append(text[at : sign.start()])
        at = sign.end()
        if sign[1]:
            out.append(sign[1])
            continue
        if last.get(len(sign[0]), -1) > sign.start():  # else it is closed nowhere, and no code
            at = next(run.end() for run in _TICKS.finditer(text, at) if len(run[0]) == len(sign[0]))
        out.append(text[sign.start() : at])
    return "".join([*out, text[at:]])
