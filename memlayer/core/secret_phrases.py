"""Secrets in sentences of their own: `use X as the password`, `IDENTIFIED BY 'X'`, seed phrases, PINs."""

from __future__ import annotations

import re

from memlayer.core.secret_values import is_placeholder, is_reference, is_technical

_SEED = (
    r"(?:seed|recovery|mnemonic|secret recovery|backup)(?: phrase| words?)?[\"']?(?: is|[ ]?[:=]|는|은)[ ]?[\"'`]?"
    r"(?P<secret>(?:[a-z]{3,8}[ ]){11,23}[a-z]{3,8})(?![a-z])"
)
# Other sentences: trigger, pattern with the group `secret`, kind.
_PHRASES = (
    ("identified by", r"identified by[ ]+(?:password[ ]+)?['\"](?P<secret>[^'\"\n]{4,200})['\"]", "password"),
    ("login ", r"login[ ]+\S{1,80}\s{1,4}password[ ]+(?P<secret>\S{4,200})", "password"),
)
_USED_AS = r" as[ ](?:the |my |your |our |its |a )?(?:[a-z]{2,12} )?(?:password|passwd|passphrase)(?![\w-])"
_PIN = (
    r"(?:pin(?<![a-z]pin)(?:[ ]?(?:code|number|번호))?|핀[ ]?(?:번호|코드))[\"']?"
    r"(?:[ ]is|[ ]?[:=]|[ ]?(?:는|은))[ ]?[\"']?(?P<secret>\d{4,8})(?![\w.,-])"
)


def phrase_cuts(text: str, low: str) -> list[tuple[int, int, str]]:
    """(start, end, kind) of each secret found; low is text in lower case and of the same length."""
    cuts: list[tuple[int, int, str]] = []
    if any(word in low for word in ("seed", "recovery", "mnemonic", "backup")):
        cuts += [(*m.span("secret"), "seed-phrase") for m in re.compile(_SEED).finditer(low)]
    if "pin" in low or "핀" in low:
        cuts += [(*m.span("secret"), "pin") for m in re.compile(_PIN).finditer(low)]
    for trigger, pattern, kind in _PHRASES:
        if trigger in low:
            spans = [m.span("secret") for m in re.compile(pattern).finditer(low)]
            cuts += [(start, end, kind) for start, end in spans if _stands_alone(text[start:end])]
    if " as " in low and "pass" in low:
        cuts += _used_as_password(text, low)
    return cuts


def _used_as_password(text: str, low: str) -> list[tuple[int, int, str]]:
    """`use X as the password`."""
    cuts = []
    for match in re.compile(_USED_AS).finditer(low):
        end = match.start()
        if end and text[end - 1] in "\"'`":
            end -= 1
        start = max(0, end - 200, *(text.rfind(sign, max(0, end - 200), end) + 1 for sign in " \n\t\"'`"))
        if end - start >= 5 and _stands_alone(text[start:end]):
            cuts.append((start, end, "password"))
    return cuts


def _stands_alone(value: str) -> bool:
    """Whether a value that no name introduces looks like a password."""
    varied = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return varied and not (is_placeholder(value) or is_reference(value) or is_technical(value))
