"""The proposal that a prompt accepts: "yes", "3" or "B로 하자" after an answer that gives options."""

from __future__ import annotations

import re

from memlayer.consolidation.rules.signs import has, match
from memlayer.text.prose_sentences import ASSISTANT, candidates, plain_line

MAX_PICK_CHARS = 160  # a longer prompt says itself what it wants
MAX_ASSENT_CHARS = 60
MAX_REMARK_WORDS = 4
_TAIL_CHARS = 400

_SEVERAL = re.compile(
    r"\b(?:\d|[A-D])\b\s*(?:,|and|&|\+|와|과|,? ?그리고)\s*(?:\d|[A-D])\b|\ball\b|\bboth\b|둘 다|전부|모두", re.I
)
_OPTION = re.compile(
    r"^[ \t]*(?:#+ +|[-*] +)?(?:\*\*)?(?:(?:option|approach|방법|옵션|선택지|안) ?)?"
    r"(?P<id>[1-9]|[A-D])(?:[.):]|번|안|(?= ?[:—–-] ))(?:\*\*)?[ \t]*[:—–-]?[ \t]*(?P<text>\S[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_MARKED = re.compile(r"\s*\((?:recommended|추천|권장)[^)]*\)", re.IGNORECASE)
_NAMED_OPTION = re.compile(r"\b(?:option|approach|방법|옵션) ?([1-9]|[A-D])\b|([1-9])번", re.IGNORECASE)


def may_choose(prompt: str) -> bool:
    """True if the prompt may be a choice or an assent, so that the answer before it matters."""
    text = prompt.strip()
    return len(text) <= MAX_PICK_CHARS and (match("picks", text) is not None or has("assents", text))


def chosen(prompt: str, before: str) -> str:
    """The line of the proposal in `before`, the last answer before this prompt, that the prompt accepts; "" for none.

    An assent to a mere question ("Want me to update the docs?") accepts nothing that could be told.
    """
    text = prompt.strip()
    if not may_choose(text):
        return ""
    options = {found.group("id").upper(): found.group("text") for found in _OPTION.finditer(before)}
    picked = match("picks", text)
    if picked is not None:
        line = plain_line(options.get(next(group for group in picked.groups() if group).upper(), ""))
        return "" if _SEVERAL.search(text[:40]) or _says_otherwise(text[picked.end() :], line) else line
    if len(text) > MAX_ASSENT_CHARS or not has("asks_back", before.strip()[-_TAIL_CHARS:]):
        return ""
    return _recommended(before, options)


def _says_otherwise(rest: str, line: str) -> bool:
    """True for `2. Add a test`, the item of another list than the proposal's."""
    words = re.findall(r"\w+", rest.lower())
    is_item = rest.startswith((". ", ") ")) and len(words) > MAX_REMARK_WORDS
    return is_item and 2 * len(set(words) & set(re.findall(r"\w+", line.lower()))) < len(set(words))


def _recommended(before: str, options: dict[str, str]) -> str:
    for line in options.values():
        if _MARKED.search(line):
            return plain_line(_MARKED.sub("", line))
    for one in candidates(before, ASSISTANT):
        if has("recommends", one.text) and not one.asks:
            named = _NAMED_OPTION.search(one.text)
            if named:
                return plain_line(options.get((named.group(1) or named.group(2)).upper(), ""))
    return ""
