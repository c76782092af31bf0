"""A session summary as text: one labelled line a part.

The labels are in the language of the session.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memlayer.recall.superseded import Replacement
from memlayer.text.context_block import cut, flatten

GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT = "goal", "done", "files", "commands", "decided", "errors", "left"
PARTS = (GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT)
_ENGLISH = dict(zip(PARTS, ("Goal", "Done", "Files", "Commands", "Decided", "Errors", "Left open"), strict=True))
_KOREAN = dict(zip(PARTS, ("목표", "한 일", "파일", "명령", "결정", "오류", "남은 일"), strict=True))
_PART_OF = {label: part for labels in (_ENGLISH, _KOREAN) for part, label in labels.items()}
SUMMARY_CHARS = 480  # of a summary at the start of the next session
_SHARES = {GOAL: 22, LEFT: 30, DONE: 28, FILES: 14}  # of a summary's room, in percent; the rest is labels
_SEPARATORS = {FILES: ", ", COMMANDS: " ; ", ERRORS: " ; "}


def summary_text(parts: Mapping[str, Sequence[str]], *, is_korean: bool) -> str:
    """`Goal: …` and so on, one line a part with items."""
    labels = _KOREAN if is_korean else _ENGLISH
    lines = []
    for part in PARTS:
        texts = [" ".join(item.split()) for item in parts.get(part, ()) if item.strip()]
        if texts:
            lines.append("%s: %s" % (labels[part], joined(part, texts)))
    return "\n".join(lines)


def joined(part: str, texts: Sequence[str]) -> str:
    """The items of one part in one line."""
    return _SEPARATORS.get(part, " / ").join(texts)


def items(part: str, line: str) -> list[str]:
    """The items of one part's line."""
    return line.split(_SEPARATORS.get(part, " / "))


def parts_of(text: str) -> dict[str, str]:
    """The lines of a summary by their part, without the labels."""
    by_part = {}
    for line in text.split("\n"):
        label, _, content = line.partition(": ")
        if label in _PART_OF and content:
            by_part[_PART_OF[label]] = content
    return by_part


def labelled(part: str, content: str, *, is_korean: bool) -> str:
    """One part with its label."""
    return "%s: %s" % ((_KOREAN if is_korean else _ENGLISH)[part], content)


def is_korean(text: str) -> bool:
    """The language that a summary was written in."""
    return text.startswith(tuple(label + ": " for label in _KOREAN.values()))


def add_part(before: str, text: str) -> str:
    """Return the summary of a session read in parts, a line each."""
    return "\n".join(filter(None, (before.strip(), flatten(text))))


def newest_parts(text: str, max_chars: int) -> str:
    """Return the newest parts of a summary that fit.

    A session's end tells the state that it left; its beginning may be untrue by then.
    """
    parts = [flatten(part) for part in text.split("\n") if part.strip()]
    kept = parts[-1:]
    for part in reversed(parts[:-1]):
        if len(" ".join([part, *kept])) > max_chars:
            break
        kept.insert(0, part)
    return cut(" ".join(kept), max_chars)


def summary_in_short(text: str, max_chars: int = SUMMARY_CHARS, gone: Sequence[Replacement] = ()) -> str:
    """A summary in short: goal, open items, last results, files.

    gone: statements of that session that are superseded; items that repeat them are left out, "" if nothing remains.
    """
    parts = parts_of(text)
    if parts and gone:
        kept = (
            (part, [item for item in items(part, content) if not any(old.is_stale(item) for old in gone)])
            for part, content in parts.items()
        )
        parts = {part: joined(part, texts) for part, texts in kept if texts}
        if parts.keys().isdisjoint(_SHARES):
            return ""
    if not parts:
        return newest_parts(text, max_chars)
    room = {part: max_chars * share // 100 for part, share in _SHARES.items()}
    spare = sum(room[part] - min(room[part], len(parts.get(part, ""))) for part in room if part != DONE)
    pieces = []
    for part in _SHARES:
        if part in parts:
            short = _last(parts[part], room[part] + spare) if part == DONE else cut(parts[part], room[part])
            pieces.append(labelled(part, short, is_korean=is_korean(text)))
    return cut(" | ".join(pieces), max_chars)


def _last(content: str, max_chars: int) -> str:
    """The last results that fit, at least one."""
    things = items(DONE, content)
    kept = [things.pop()]
    while things and len(" / ".join([things[-1], *kept])) <= max_chars:
        kept.insert(0, things.pop())
    return cut(" / ".join(kept), max_chars)
