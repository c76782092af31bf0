"""Secrets that only the name beside them gives away.

`password is X`, `비밀번호는 X`, `API_KEY=X`, `"token": "X"`. Only the value is replaced, so the sentence still reads.
The required certainty depends on the join between name and value: a quoted literal after `=` may be any word, a word
in prose must not look ordinary.
"""

from __future__ import annotations

import re

from memlayer.edge.redaction import budget
from memlayer.edge.redaction.named_value_rules import (
    TRIGGERS,
    bare_is_secret,
    is_environment_line,
    is_no_name,
    is_strict,
    is_verb,
    kind_of,
    names_in,
    quoted_is_secret,
    value_behind,
)
from memlayer.edge.redaction.sentence_secrets import end_of_mixed, phrase_cuts
from memlayer.edge.redaction.value_traits import (
    FOUR_GROUPS,
    HANGUL_VALUE,
    are_four_groups,
    cut_out,
    is_ordinary_word,
    lowered,
)

_OPENER = r"(?P<opener>[bru]{0,2}(?:'\"'\"'|(?P<triple>(?:\\{0,7}\"){3}|(?:\\{0,7}'){3})|\\{0,7}[\"'`%s]))"
_GOES_ON_WITH = r"[,;&](?!\s|$|[\w.-]{1,30}[ ]?[=:])"
# For text of any script, and for ASCII.
_VALUES = (
    _OPENER % "‘“" + "|" + HANGUL_VALUE + r"|(?:(?!(?<=[0-9A-Za-z!-&*?@^])[\u3040-\u30ff\u4e00-\u9fff])"
    r"[^\s\"'`<>,;&\uac00-\ud7a3\u3000-\u303f\uff01-\uff60]|" + _GOES_ON_WITH + ")+",
    _OPENER % "" + r"|(?:[^\s\"'`<>,;&]|" + _GOES_ON_WITH + ")+",
)  # fmt: skip
_WORDS_TO_LINE_END = r"[a-z]+(?:[ -][a-z]+){2,11}(?=[.,!]?(?:\s*$|\n|[\"'\\]))"
_MAX_JUDGED = 300  # characters of a value looked at. An accepted value is removed to its end
_MOST_NAMES = 6  # within one value. The others are not judged
_MOST_PARTS = 40  # of a value in pieces
# Between the quotes of a value in pieces: `"a" + "b"`, `"a"` and `"b"` in the next line.
_BREAK = r"(?:\r?\n|\\{1,7}n)(?:[ ]{0,8}\d{1,6}\t)?(?:\s|\\{1,7}t){0,80}"
_NEXT_PART = (
    r"[ \t]{0,8}(?:(?:[+.&]|\.\.|<>|\\{1,7}(?=\r?\n|\\{1,7}n))[ \t]{0,8}(?:"
    + _BREAK
    + ")?|"
    + _BREAK
    + r"(?:[+.&][ \t]{0,8})?)[bruf]{0,2}"
)
_NEXT_LINE = r"(?:\n(?:[ ]{0,8}\d{1,6}\t)?[ \t]{1,80}[^\s\"'`:]{8,}(?=[ \t]*(?:\n|$)))+"  # of a folded value of YAML
_GOES_ON = r"\\\r?\n\s{0,80}[^\s\"'`]{4,}"  # behind a line's backslash
_CLOSERS = {"‘": "’", "“": "”"}


def hide_named_secrets(text: str) -> str:
    """Return text with values beside telling names as `[redacted:<kind>]`."""
    low = lowered(text)
    cuts = phrase_cuts(text, low)
    if any(word in low for word in TRIGGERS):
        past = within = names = 0
        for name in names_in(low):
            names = names + 1 if name.start() < within else 0
            if name.start() < past or names > _MOST_NAMES:
                continue
            budget.check()
            match = value_behind(low, name.start())
            span = _secret_span(text, match) if match else None
            if match is not None and span is not None:
                past = span[1]
                cuts.append((span[0], past, kind_of(match)))
            elif match is not None and name.start() >= within:
                value = _value_at(text, match.end())
                within = value.end() if value else match.end()
        from memlayer.edge.redaction.set_apart_secrets import set_apart_cuts

        cuts += set_apart_cuts(text, is_secret_of)
    if cuts and not text.isascii():
        cuts = [(start, end_of_mixed(text, end) if kind == "password" else end, kind) for start, end, kind in cuts]
    return cut_out(text, cuts)


def is_secret_of(name: str, value: str) -> str:
    """Return the kind of a value of this name; "" if harmless."""
    text = '%s = "%s"' % (name, value)
    low = lowered(text)
    for start in names_in(low, len(name) + 1):
        match = value_behind(low, start.start())
        if match is not None and _secret_span(text, match) == (len(name) + 4, len(text) - 1):
            return kind_of(match)
    return ""


def _value_at(text: str, at: int) -> re.Match[str] | None:
    return re.compile(_VALUES[text.isascii()]).match(text, at, at + _MAX_JUDGED)


def _secret_span(text: str, match: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of the value after a name; None if harmless."""
    value = _value_at(text, match.end())
    if value is None or _is_product(match) or is_no_name(match):
        return None
    if value.group("opener"):
        return _quoted_span(text, match, value)
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
        return start, _end_of_lines(text, start + len(kept), match)
    return _passphrase(text, start, match)


def _quoted_span(text: str, match: re.Match[str], value: re.Match[str]) -> tuple[int, int] | None:
    """Return the span of a quoted value with all its parts."""
    mark = value.group("opener").lstrip("bruBRU")
    mark = mark[:-1] + _CLOSERS.get(mark[-1], mark[-1])
    triple = value.group("triple") is not None
    spread = triple or (mark == "`" and match.group("assign") is not None)  # a template's value may have its own line
    first = at = end = value.end()
    parts: list[str] = []
    for _ in range(_MOST_PARTS):
        end = text.find(mark, at, at + 8 * _MAX_JUDGED)
        line_end = text.find("\n", at, at + 8 * _MAX_JUDGED)
        whole = spread or not 0 <= line_end < end or text[line_end - 1] == "\\"
        if end <= at or not whole:
            return None
        parts.append(re.sub(r"\\\r?\n\s*", "", text[at:end]))
        joint = re.compile(_NEXT_PART + re.escape(mark)).match(text, end + len(mark))
        if triple or joint is None or _is_key(text, joint.end(), mark):
            break
        at = joint.end()
    judged = "".join(parts)
    if (triple or "\n" in judged) and re.search(r"\s", judged.strip()):
        return None
    return (first, end) if quoted_is_secret(judged, text, match) else None


def _is_key(text: str, at: int, mark: str) -> bool:
    """True for a quoted name in the next line: `"port": 80`."""
    end = text.find(mark, at, at + _MAX_JUDGED)
    return end < 0 or re.match(r"\s{0,4}[:=]", text[end + len(mark) : end + len(mark) + 5]) is not None


def _end_of_lines(text: str, end: int, match: re.Match[str]) -> int:
    """Return the end of a bare value, in later lines too."""
    folded = any(sign in (match.group("newline") or "") for sign in "|>")
    more = re.compile(_NEXT_LINE if folded else _GOES_ON).match(text, end)
    return more.end() if more else end


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
