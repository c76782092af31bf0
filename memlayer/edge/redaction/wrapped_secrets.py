"""Secrets within an encoding: base64, percent signs of a URL."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.value_traits import cut_out

TYPE_CHECKING = False  # for type checkers: importing `typing` costs a hook milliseconds
if TYPE_CHECKING:
    from collections.abc import Callable

_BASE64 = r"[A-Za-z0-9+/_-]{24,}={0,2}"
_KEY_BLOCK = "LS0tLS1CRUdJTi"  # -----BEGIN
_KEY_BLOCK_RUN = _KEY_BLOCK + r"[A-Za-z0-9+/]{40,}(?:(?:\\{1,7}n|\n[ \t]{0,20})[A-Za-z0-9+/]{40,76})*"
_KEY_BLOCK_RUN += r"(?:(?:\\{1,7}n|\n[ \t]{0,20})?[A-Za-z0-9+/]{2,76}={0,2}(?![A-Za-z0-9+/=]))?={0,2}"
_KEY_BLOCK_HEAD = 60  # characters that say of what the block is
_ESCAPED = r"(?:%[0-9A-Fa-f]{2})+"
_WORD = r"[^\s\"'<>`]+"
_LEAST_CHARS = 12  # of a word with an escape and a secret


def hide_wrapped_secrets(text: str, hide: Callable[[str], str]) -> str:
    """Return text with the secrets in encoded words hidden."""
    if _KEY_BLOCK in text:
        text = re.sub(_KEY_BLOCK_RUN, _without_key, text)
    if re.search(_BASE64, text):
        text = _without_base64(text, hide)
    return _without_escaped(text, hide) if "%" in text else text


def _without_key(match: re.Match[str]) -> str:
    says = _decoded(match.group()[:_KEY_BLOCK_HEAD])
    return "[redacted:private-key]" if "PRIVATE KEY" in says else match.group()


def _without_base64(text: str, hide: Callable[[str], str]) -> str:
    found = [(match.span(), _decoded(match.group())) for match in re.compile(_BASE64).finditer(text)]
    found = [(span, plain) for span, plain in found if plain]
    budget.check()
    together = "\n".join(plain for _, plain in found)
    if not found or hide(together) == together:
        return text
    cuts = []
    for (start, end), plain in found:
        hidden = hide(plain)
        if hidden != plain:
            kind = re.search(r"\[redacted:([a-z0-9-]+)\]", hidden)
            cuts.append((start, end, kind.group(1) if kind else "secret"))
    return cut_out(text, cuts)


def _decoded(word: str) -> str:
    """Return the printable ASCII text in a base64 word; "" for none."""
    if "-" in word or "_" in word:
        word = word.replace("-", "+").replace("_", "/")
    word = word.rstrip("=")
    if len(word) % 4 == 1:
        word = word[:-1]
    try:
        plain = a2b_base64(word + "=" * (-len(word) % 4))
    except Error:
        return ""
    text = plain.decode("ascii", "replace")
    return text if text.isascii() and text.replace("\n", "").replace("\r", "").replace("\t", "").isprintable() else ""


def _without_escaped(text: str, hide: Callable[[str], str]) -> str:
    """Hide the words that hold a secret once their escapes are read."""
    words = {word for word in re.findall(_WORD, text) if "%" in word and len(word) >= _LEAST_CHARS}
    meant = {word: plain for word in sorted(words) if (plain := _unescaped(word)) != word}
    budget.check()
    together = "\n".join(meant.values())  # the words alone: a text with one escape would be searched once more
    if not meant or hide(together) == together:
        return text
    hidden = {word: out for word, plain in meant.items() if (out := hide(plain)) != plain}
    return re.sub(_WORD, lambda word: hidden.get(word.group(), word.group()), text)


def _unescaped(text: str) -> str:
    for _ in range(2):  # it may be escaped twice
        text = re.sub(_ESCAPED, _of_bytes, text) if "%" in text else text
    return text


def _of_bytes(match: re.Match[str]) -> str:
    return bytes.fromhex(match.group().replace("%", "")).decode("utf-8", "replace")
