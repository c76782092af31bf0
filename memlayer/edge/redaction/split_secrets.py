"""Tokens in pieces: over two lines, in two literals.

No shape fits a piece, so the pieces around a joint are looked at together.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.value_traits import is_issued, is_passwordlike, looks_random

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

_SIGN = "[0-9A-Za-z_.=+/-]"
_INDENT = r"(?:[ ]{0,8}\d{1,6}\t)?(?:[ \t>|]|\\{1,7}t){0,80}"
_TO_NEXT = (
    r"[ \t]{0,8}[+.&,\\]?[ \t]{0,8}(?:(?:\r?\n|\\{1,7}n)" + _INDENT + r")?[+.&]?[ \t]{0,8}\\{0,7}[\"'`]"
)  # from a closing quote on
_JOINT = (  # its first sign is a class by itself: the engine skips all others
    r"[\"'`\\\r\n](?<=[0-9A-Za-z_.=+/-]{3}[0-9A-Za-z_.=+/\]-][\"'`\\\r\n])(?:(?<=[\"'`])" + _TO_NEXT
    + r"|(?<=\\)(?:\\{0,6}[\"'`]" + _TO_NEXT + r"|\\{0,6}n" + _INDENT + r"|\r?\n" + _INDENT + ")"
    + r"|(?<=\n)" + _INDENT + r"|(?<=\r)\n" + _INDENT + ")(?=[A-Za-z_.=+/-]{0,40}[0-9])(?=" + _SIGN + "{6})"
)  # fmt: skip
_MOST_PIECE = 400  # characters
_MOST_PIECES = 8
_HIDDEN = r"\[redacted:([a-z-]+)\]"
_NAMES_VALUE = r"[ ]?[=:({\[]"  # behind a piece that is a name itself
_LEAST_REST = 10


def hide_split_secrets(text: str, literals: list[str], hide: Callable[[str], tuple[str, list[str]]]) -> str:
    """Return text with tokens in pieces as `[redacted:<kind>]`.

    literals: those that tokens of this text may begin with. hide: returns a text without its tokens first.
    """
    out: list[str] = []
    at = 0
    joints = re.compile(_JOINT)
    joint = joints.search(text)
    while joint is not None:
        budget.check()
        start, pieces, end = _around(text, at, joint, joints)
        if text[joint.start() - 1] == "]":
            end = joint.end() + len(pieces[1])
            hidden = re.search(_HIDDEN + "$", text[max(at, joint.start() - 40) : joint.start()])
            if hidden is not None and _goes_on(pieces[1], text[end : end + 2]):
                out.append(text[at : joint.start()])
                at = end
        elif any(literal in pieces[0] for literal in literals):
            whole = hide("".join(pieces))[0]
            hidden = re.search(_HIDDEN, whole)
            if hidden is not None and hidden.start() < len(pieces[0]):
                out += (text[at : start + hidden.start()], hidden.group())
                at = end - (len(whole) - hidden.end())
        joint = joints.search(text, max(at, joint.end()))
    return "".join(out) + text[at:] if out else text


def _around(text: str, floor: int, joint: re.Match[str], joints: re.Pattern[str]) -> tuple[int, list[str], int]:
    """Return start, pieces and end of a joint's token."""
    piece = re.compile("%s{1,%d}" % (_SIGN, _MOST_PIECE))
    before = piece.match(text[max(floor, joint.start() - _MOST_PIECE) : joint.start()][::-1])
    start = joint.start() - (before.end() if before else 0)
    pieces = [text[start : joint.start()]]
    at: re.Match[str] | None = joint
    end = joint.end()
    while at is not None and len(pieces) < _MOST_PIECES:
        right = piece.match(text, at.end())
        end = right.end() if right else at.end()
        pieces.append(text[at.end() : end])
        at = joints.match(text, end)
    return start, pieces, end


def _goes_on(rest: str, after: str) -> bool:
    """True for the rest of a hidden value, alone there."""
    alone = re.match(_NAMES_VALUE, after) is None and len(rest) >= _LEAST_REST
    return alone and (is_issued(rest) or looks_random(rest)) and is_passwordlike(rest)
