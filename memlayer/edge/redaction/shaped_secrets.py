"""Secrets known by their shape: issued tokens, password hashes, key blocks.

Sources: the issuers' own documents, and what the rules of gitleaks and betterleaks say of prefix, alphabet and length
(`tests/data/README.md` names their versions; docs/inside/decisions/0016 why the table is kept by hand). A letter or
digit before the prefix rules a match out. Order counts: an earlier shape takes a text before a later one sees it.

Every pattern starts with a literal that is first looked for in the text, so that a text without it costs a substring
search and no compilation. Each start looks at a bounded piece or consumes the text it read, so the whole is linear.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.value_traits import is_placeholder, rows

_HASH_END = r"(?![A-Za-z0-9./+$])"
_LEAST_VARIED = 10  # distinct characters

_END = r"(?![0-9A-Za-z])"
_HEX = "[0-9a-fA-F]"
_UUID = "%s{8}-%s{4}-%s{4}-%s{4}-%s{12}" % ((_HEX,) * 5)

_MACROS = (("{UUID}", _UUID), ("{HEX}", _HEX), ("{END}", _END), ("{HASH_END}", _HASH_END))
_TABLE: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}  # how -> (kind, words, pattern), once it was read

LEAST_TOKEN = 15  # characters of the shortest match of any shape. None holds white space
_MOST_SPLIT = 600_000  # characters. Words of more would take too much memory

_FREE_PREFIXES = ("AccountKey=", "SharedAccessKey=")  # Azure connection strings
_DISCORD = r"[MNO](?<![\w-][MNO])[\w-]{22,28}\.[\w-]{6}\.[\w-]{26,40}(?![\w-])"

_PEM_MARK = r"----[- ](BEGIN|END) [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?[- ]----"
_PEM_LINE = r"[A-Za-z0-9+/=]{16,}"
_MAX_PEM_CHARS = 60_000
_LEAST_PEM_CHARS = 40  # before an END without a BEGIN
_PEM_BETWEEN = r"(?:\t\d{1,6}(?=[ ]{0,8}(?:\n|$))|[rn]\\{1,7}|[\s\"'>|,+])"  # as all of this from the end
_PEM_REVERSED = _PEM_BETWEEN + r"{0,40}[A-Za-z0-9+/=]+(?!\\)(?:" + _PEM_BETWEEN + r"{1,40}[A-Za-z0-9+/=]{16,}(?!\\))*"
_PEM_TRUNCATED = (
    r"(?:(?:\\+[nr]|\n[ ]{0,8}\d{1,6}\t|[\s\"'>|])*(?:"
    r"(?:Proc-Type|DEK-Info|Version|Comment|Hash|Charset): [^\n\\]{0,200}|"
    + _PEM_LINE
    + r"))+(?:(?:\\+n|\n)[ \t>|]{0,20}[A-Za-z0-9+/=]{1,64}(?![^\s\\\"']))?"
)


def hide_password_hashes(text: str) -> str:
    """Return text with password hashes as `[redacted:password-hash]`."""
    for _, (literal,), pattern in shapes_of("hash"):
        if literal in text:
            budget.check()
            text = re.sub(pattern, _hide_hash, text)
    return text


def shapes_of(how: str) -> list[tuple[str, tuple[str, ...], str]]:
    """Return (kind, words, pattern) of each row of a part of shapes.tsv."""
    if not _TABLE:
        read: dict[str, list[tuple[str, tuple[str, ...], str]]] = {}
        for part, kind, words, pattern in rows("shapes.tsv"):
            for macro, meant in _MACROS if "{" in pattern else ():
                pattern = pattern.replace(macro, meant)
            read.setdefault(part, []).append((kind, tuple(words.split(" ")), pattern))
        _TABLE.update(read)  # at once: another thread must not see a part of it
    return _TABLE[how]


def _hide_hash(match: re.Match[str]) -> str:
    return "[redacted:password-hash]" if len(set(match.group())) >= _LEAST_VARIED else match.group()


def hide_shaped_secrets(text: str) -> str:
    """Return text with secrets of known shapes as `[redacted:<kind>]`."""
    if "--- BEGIN " in text or "---BEGIN " in text or "---END " in text:
        text = _hide_key_blocks(text)
    if "[redacted:" not in text and not _long_words(text):
        return text
    text, literals = _hide_tokens(text)
    if literals or "[redacted:" in text:
        from memlayer.edge.redaction.split_secrets import hide_split_secrets

        text = hide_split_secrets(text, literals, _hide_tokens)
    return text


def _hide_tokens(text: str) -> tuple[str, list[str]]:
    """Return text without whole tokens, and the literals in it."""
    searched = _long_words(text)
    literals: list[str] = []
    for kind, prefixes, rest in shapes_of("prefix"):
        for prefix in prefixes:
            if prefix in searched:
                literals.append(prefix)
                start = re.escape(prefix)
                # After `\\n`, a line break as JSON writes it, the n is no letter of a word.
                alone = r"(?:(?<![0-9A-Za-z]%s)|(?<=\\[nrt]%s))" % (start, start)
                text = _hide(text, kind, start + alone + rest)
    for prefix in _FREE_PREFIXES:
        if prefix in searched:
            pattern = "%s(?P<secret>[0-9A-Za-z+/=]{20,})" % prefix
            text = _hide(text, "azure-key", pattern)
    for kind, (literal,), pattern in shapes_of("infix"):
        if literal in searched:
            text = _hide(text, kind, pattern)
    if text.count(".", 0, 1 << 20) >= 2:
        text = _hide(text, "discord-token", _DISCORD)
    return text, literals


def _long_words(text: str) -> str:
    """Return the words that may hold a token."""
    if len(text) > _MOST_SPLIT:
        return text
    return " ".join([word for word in text.split() if len(word) >= LEAST_TOKEN])


def _looks_issued(token: str) -> bool:
    """True for an issued token: no `sk-your-key-here`, xxxx, hyphened words."""
    issued = "-" not in token or any(char.isdigit() for char in token) or _is_drawn(token)
    if len(token) >= 40 and len(set(token)) >= 20:
        # By chance one of three hundred such tokens holds three x in a row.
        token = re.sub("(?i)xxx", "", token, count=1)
    return issued and len(set(token)) >= 10 and not is_placeholder(token)


def _is_drawn(token: str) -> bool:
    """True if letters change their case by chance, unlike words."""
    letters = max(token.split("-"), key=len)
    pairs = [(first.isupper(), second.isupper()) for first, second in zip(letters, letters[1:])]
    either = (False, True)
    return len(letters) >= 18 and min(pairs.count((first, second)) for first in either for second in either) >= 2


def _hide(text: str, kind: str, pattern: str) -> str:
    """Replace the group `secret`, or the whole match, of every issued token."""
    budget.check()

    def replace(match: re.Match[str]) -> str:
        budget.check()
        group: int | str = "secret" if match.re.groupindex else 0
        if not _looks_issued(match.group(group)):
            return match.group()
        start, end = match.span(group)
        before, after = match.string[match.start() : start], match.string[end : match.end()]
        return "%s[redacted:%s]%s" % (before, kind, after)

    return re.sub(pattern, replace, text)


def _hide_key_blocks(text: str) -> str:
    """Redact private key blocks to END, else all key material."""
    marks = list(re.compile(_PEM_MARK).finditer(text))
    out: list[str] = []
    at = 0
    past = 0  # the end of the mark before
    for mark, following in zip(marks, [*marks[1:], None]):
        floor, past = max(at, past, mark.start() - _MAX_PEM_CHARS), mark.end()
        if mark.start() < at:
            continue
        if mark.group(1) == "END":  # its first line was lost
            start = _start_of_body(text, floor, mark.start())
            if start < mark.start():
                out += (text[at:start], "[redacted:private-key]")
                at = mark.end()
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


def _start_of_body(text: str, floor: int, end: int) -> int:
    """Return the start of the key material before an END mark."""
    body = re.match(_PEM_REVERSED, text[floor:end][::-1])
    return end - body.end() if body and len(body.group()) >= _LEAST_PEM_CHARS else end
