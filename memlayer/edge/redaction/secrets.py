"""Secrets that show themselves by their shape: tokens as services issue them, and private key blocks.

Every pattern starts with a literal that is first looked for in the text, so that a text without it costs a substring
search and no compilation. Each start looks at a bounded piece or consumes what it read, so the whole is linear.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from memlayer.edge.redaction.secret_shapes import INFIXES, SHAPES
from memlayer.edge.redaction.secret_values import is_placeholder

_FREE_PREFIXES = ("AccountKey=", "SharedAccessKey=")  # Azure connection strings
_DISCORD = r"[MNO](?<![\w-][MNO])[\w-]{22,28}\.[\w-]{6}\.[\w-]{26,40}(?![\w-])"

_PEM_MARK = r"----[- ](BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[- ]----"
_PEM_LINE = r"[A-Za-z0-9+/=]{16,}"
_MAX_PEM_CHARS = 60_000
_PEM_TRUNCATED = (
    r"(?:(?:\\+[nr]|\n[ ]{0,8}\d{1,6}\t|[\s\"'>|])*(?:"
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{0,200}|"
    + _PEM_LINE
    + r"))+(?:(?:\\+n|\n)[ \t>|]{0,20}[A-Za-z0-9+/=]{1,64}(?![^\s\\\"']))?"
)


def hide_shaped_secrets(text: str) -> str:
    """Text with every secret of a known shape replaced by `[redacted:<kind>]`."""
    if "---BEGIN " in text or "--- BEGIN " in text:
        text = _hide_key_blocks(text)
    for kind, prefixes, rest in SHAPES:
        for prefix in prefixes:
            if prefix in text:
                start = re.escape(prefix)
                # After `\\n`, a line break as JSON writes it, the n is no letter of a word.
                alone = r"(?:(?<![0-9A-Za-z]%s)|(?<=\\[nrt]%s))" % (start, start)
                text = _hide(text, kind, start + alone + rest, looks_issued)
    for prefix in _FREE_PREFIXES:
        if prefix in text:
            pattern = "%s(?P<secret>[0-9A-Za-z+/=]{20,})" % prefix
            text = _hide(text, "azure-key", pattern, looks_issued)
    for kind, literal, pattern in INFIXES:
        if literal in text:
            text = _hide(text, kind, pattern, looks_issued)
    if text.count(".", 0, 1 << 20) >= 2:
        text = _hide(text, "discord-token", _DISCORD, looks_issued)
    return text


def looks_issued(token: str) -> bool:
    """Whether a token of the right shape can be real: not `sk-your-key-here`, not xxxx, not words with hyphens."""
    issued = "-" not in token or any(char.isdigit() for char in token)
    if len(token) >= 40 and len(set(token)) >= 20:
        # By chance one of three hundred such tokens holds three x in a row.
        token = re.sub("(?i)xxx", "", token, count=1)
    return issued and len(set(token)) >= 10 and not is_placeholder(token)


def _hide(text: str, kind: str, pattern: str, accept: Callable[[str], bool]) -> str:
    """Replaces the group `secret`, or the whole match, where accept agrees."""

    def replace(match: re.Match[str]) -> str:
        group: int | str = "secret" if match.re.groupindex else 0
        if not accept(match.group(group)):
            return match.group()
        start, end = match.span(group)
        before, after = match.string[match.start() : start], match.string[end : match.end()]
        return "%s[redacted:%s]%s" % (before, kind, after)

    return re.sub(pattern, replace, text)


def _hide_key_blocks(text: str) -> str:
    """Private key blocks from BEGIN to END, or as far as key material goes when END is missing or far away."""
    marks = list(re.compile(_PEM_MARK).finditer(text))
    out: list[str] = []
    at = 0
    for mark, following in zip(marks, [*marks[1:], None]):
        if mark.group(1) != "BEGIN" or mark.start() < at:
            continue
        end = 0
        if following is not None and following.group(1) == "END":
            near = following.start() - mark.end() <= _MAX_PEM_CHARS
            if near and re.compile(_PEM_LINE).search(text, mark.end(), following.start()):
                end = following.end()
        if not end:
            body = re.compile(_PEM_TRUNCATED).match(text, mark.end())
            end = body.end() if body else 0
        if end:
            out += (text[at : mark.start()], "[redacted:private-key]")
            at = end
    return "".join(out) + text[at:] if out else text
