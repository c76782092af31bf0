"""A session summary as labelled lines in the language of the session."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memlayer.text.context_block import cut, flatten

GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT = "goal", "done", "files", "commands", "decided", "errors", "left"
PARTS = (GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT)
_ENGLISH = dict(zip(PARTS, ("Goal", "Done", "Files", "Commands", "Decided", "Errors", "Left open"), strict=True))
_KOREAN = dict(zip(PARTS, ("목표", "한 일", "파일", "명령", "결정", "오류", "남은 일"), strict=True))
_PART_OF = {label: part for labels in (_ENGLISH, _KOREAN) for part, label in labels.items()}
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


def is_korean(text: str) -> bool:
    """The language that a summary was written in."""
    return text.startswith(tuple(label + ": " for label in _KOREAN.values()))


def add_part(before: str, text: str) -> str:
    """Return the summary of a session read in parts, a line each."""
    return "\n".join(filter(None, (before.strip(), flatten(text))))


def newest_parts(text: str, max_chars: int) -> str:
    """Return a summary's newest parts: a session's end tells its state."""
    parts = [flatten(part) for part in text.split("\n") if part.strip()]
    kept = parts[-1:]
    for part in reversed(parts[:-1]):
        if len(" ".join([part, *kept])) > max_chars:
            break
        kept.insert(0, part)
    return cut(" ".join(kept), max_chars)
