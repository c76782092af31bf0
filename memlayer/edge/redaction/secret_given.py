"""Secrets that a sentence hands over (`here's the token X`), or that stand alone in the line below their name."""

from __future__ import annotations

import re

from memlayer.edge.redaction.secret_hangul import is_hangul_password
from memlayer.edge.redaction.secret_values import (
    has_digit_and_letter,
    is_passwordlike,
    is_placeholder,
    is_reference,
    is_technical,
    is_wordy,
)

_NAMED = (
    r"(?P<name>token|key|secret|pass(?:word|wd|code|phrase)|credential)s?[ ]?[:=]?[ ][\"'`]?"
    r"(?P<secret>[!#-&(-~]{6,200})"
)
_HANDS_OVER = (
    r"(?:^|[^a-z])(?:(?P<sure>here(?:[ ]{0,15}['’]s| is| are|s| you (?:go|are),?)|this is)|us(?:e|ing)|with|try|put|set"
    r"|got|add(?:ed)?)[ ](?:(?:the|this|that|my|your|our|its|a|an|new|old)[ ]){0,2}(?:[a-z-]{1,20}[ ]){0,2}$"
)
_FARTHEST = 100  # characters looked back for what hands it over
_KINDS = {"token": "token", "key": "api-key", "secret": "secret", "credential": "credential"}

_BELOW_NAME = r"(?:pass(?:word|wd|phrase|code)|pw(?<![a-z]pw)|비밀 ?번호|비번|패스워드|패스프레이즈|암호)"
_BELOW = (
    _BELOW_NAME
    + r"[*_`\"']{0,3}(?P<join>[ ]?(?:는|은|가|이)(?:[ ](?:아래|다음)[^\n]{0,12})?|[ ]is(?:[ ](?:below|as[ ]follows))?:?"
    + r"|[ ]?[:：=])?[*_]{0,2}[ \t]{0,8}\r?\n"
    + r"(?:[ \t]{0,8}(?:\d{1,6}\t)?[ \t]{0,8}(?:```[a-z]{0,10})?[ \t]{0,8}\r?\n){0,2}"
    + r"[ \t]{0,8}(?:\d{1,6}\t)?[ \t]{0,16}(?:[>*-][ ])?[\"'`*]{0,2}(?P<secret>[^\s\"'`]{4,80})"
    + r"[ ]{0,8}[\"'`*]{0,2}[.,]?[ \t]{0,8}(?=\r?\n|$|[\"'}\]),])"
)
_LABEL = r"[\w가-힣.-]+[:=：]|[{<#/$-]|.*[({]$"
_TAIL = r"(?:이?야|입니다|이?예요|이에요|임|이다)?[.,!]?$"


def given_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each secret found; low is text in lower case and of the same length."""
    cuts: list[tuple[int, int, str]] = []
    if any(name in low for name in ("token", "key", "secret", "pass", "credential")):
        for match in re.compile(_NAMED).finditer(low):
            start, end = match.span("secret")
            value = text[start:end].rstrip("\"'`.,;:!?)")
            kind = _KINDS.get(match.group("name"), "password")
            if _looks_handed_over(value, kind):
                handed = re.search(_HANDS_OVER, low[max(0, match.start() - _FARTHEST) : match.start()])
                if handed and (handed.group("sure") or _is_plainly_random(value)):
                    cuts.append((start, start + len(value), kind))
    if "\n" in low and ("pass" in low or "pw" in low or not low.isascii()):
        for match in re.compile(_BELOW).finditer(low):
            start, end = match.span("secret")
            value = text[start:end]
            core = value if value.isascii() else re.sub(_TAIL, "", value)
            if _stands_below(core, bool(match.group("join"))):
                cuts.append((start, start + len(core), "password"))
    return cuts


def _looks_handed_over(value: str, kind: str) -> bool:
    if len(value) < (6 if kind == "password" else 8) or not has_digit_and_letter(value) or is_wordy(value):
        return False
    named = re.match(r"[\w.-]+[:=(]", value) is not None
    return not (named or is_placeholder(value) or is_reference(value) or is_technical(value))


def _is_plainly_random(value: str) -> bool:
    return not (value.islower() or value.isupper()) or any(char in "!@#$%^&*" for char in value)


def _stands_below(value: str, joined: bool) -> bool:
    if is_placeholder(value) or is_reference(value) or is_technical(value) or re.match(_LABEL, value):
        return False
    if not value.isascii():
        return is_hangul_password(value)
    if value.isdigit():
        return joined and 4 <= len(value) <= 12
    return len(value) >= 6 and is_passwordlike(value) and not is_wordy(value)
