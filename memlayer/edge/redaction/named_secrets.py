"""Secrets that only the name beside them gives away.

`password is X`, `비밀번호는 X`, `API_KEY=X`, `"token": "X"`. Only the value is replaced, so the sentence still reads.
The required certainty depends on the join between name and value: a quoted literal after `=` may be any word, a word
in prose must not look ordinary.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction.named_value_rules import (
    NAME_START,
    NAMED_VALUE,
    TRIGGERS,
    bare_is_secret,
    is_environment_line,
    is_no_name,
    is_strict,
    is_verb,
    kind_of,
    quoted_is_secret,
)
from memlayer.edge.redaction.sentence_secrets import phrase_cuts
from memlayer.edge.redaction.value_traits import (
    FOUR_GROUPS,
    HANGUL_VALUE,
    are_four_groups,
    cut_out,
    is_ordinary_word,
    lowered,
)

_VALUE = (
    r"(?P<opener>[bru]{0,2}(?:'\"'\"'|\\{0,7}[\"'`‘“]))"
    r"|"
    + HANGUL_VALUE
    + r"|(?:[^\s\"'`<>,;&\uac00-\ud7a3\u3000-\u303f\uff01-\uff60]|[,;&](?!\s|$|[\w.-]{1,30}[ ]?[=:]))+"
)
_WORDS_TO_LINE_END = r"[a-z]+(?:[ -][a-z]+){2,11}(?=[.,!]?(?:\s*$|\n|[\"'\\]))"
_MAX_JUDGED = 300  # characters of a value looked at; an accepted value is removed to its end
_CLOSERS = {"‘": "’", "“": "”"}


def hide_named_secrets(text: str) -> str:
    """Return text with values beside telling names as `[redacted:<kind>]`."""
    low = lowered(text)
    cuts = phrase_cuts(text, low)
    if any(word in low for word in TRIGGERS):
        past = 0
        joined = re.compile(NAMED_VALUE)
        for name in re.compile(NAME_START).finditer(low):
            match = joined.match(low, name.start()) if name.start() >= past else None
            span = _secret_span(text, match) if match else None
            if match is not None and span is not None:
                past = span[1]
                cuts.append((span[0], past, kind_of(match)))
    return cut_out(text, cuts)


def _secret_span(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of the value after a name; None if harmless."""
    value = re.compile(_VALUE).match(text, match.end(), match.end() + _MAX_JUDGED)
    if value is None or _is_product(match) or is_no_name(match):
        return None
    opener = value.group("opener")
    if opener:
        start = value.end()
        mark = opener.lstrip("bruBRU")
        mark = mark[:-1] + _CLOSERS.get(mark[-1], mark[-1])
        end = text.find(mark, start, start + 8 * _MAX_JUDGED)
        line_end = text.find("\n", start, start + 8 * _MAX_JUDGED)
        if end <= start or 0 <= line_end < end:
            return None
        return (start, end) if quoted_is_secret(text[start:end], text, match) else None
    start, end = value.span()
    groups = re.compile(FOUR_GROUPS).match(text, start) if text[start + 4 : start + 5] == " " else None
    if groups is not None and kind_of(match) == "password" and not (is_verb(match) or is_strict(match)):
        sure = is_environment_line(text, match) or match.group("korean") is not None or " app " in _words_before(match)
        if are_four_groups(groups.group(), sure):
            return groups.span()
    whole = value.group()
    if r"\n" in whole and whole.endswith((":", "=")):  # the next line's name, in JSON
        whole = whole[: whole.index(r"\n")]
    if whole.endswith("(") and "가" <= text[end : end + 1] <= "힣":  # X(으)로
        whole = whole[:-1]
    kept = whole.rstrip(".,;:)]}*|\\")
    if kept and bare_is_secret(kept, whole, text, start + len(kept), match):
        if end - start >= _MAX_JUDGED:
            rest = re.compile(r"[^\s\"'`<>]*").match(text, end)
            return start, rest.end() if rest else end
        return start, start + len(kept)
    return _passphrase(text, start, match)


def _passphrase(text: str, start: int, match: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of three or more words to the line's end."""
    if "phrase" not in match.group("name") or not (match.group("assign") or match.group("prose")):
        return None
    phrase = re.compile(_WORDS_TO_LINE_END).match(text, start, start + _MAX_JUDGED)
    if phrase is None:
        return None
    words = phrase.group().split()
    if sum(is_ordinary_word(word) for word in words) > (len(words) >= 4):
        return None
    return phrase.span()


def _words_before(match: re.Match[str]) -> str:
    return " " + match.string[max(0, match.start() - 20) : match.start()]


def _is_product(match: re.Match[str]) -> bool:
    """True for the product in `1Password "platform"`.

    A value that 1Password is said to be, or that stands behind its colon, is judged like the rest.
    """
    before = match.string[max(0, match.start() - 2) : match.start()]
    joined = match.group("quoted") or match.group("bare")
    return bool(joined) and match.group("name") == "password" and re.search(r"(?:^|\W)1$", before) is not None
