"""A session summary as text, one labelled line a part, in the language of the session; and read back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT = "goal", "done", "files", "commands", "decided", "errors", "left"
PARTS = (GOAL, DONE, FILES, COMMANDS, DECIDED, ERRORS, LEFT)
_ENGLISH = dict(zip(PARTS, ("Goal", "Done", "Files", "Commands", "Decided", "Errors", "Left open"), strict=True))
_KOREAN = dict(zip(PARTS, ("목표", "한 일", "파일", "명령", "결정", "오류", "남은 일"), strict=True))
_PART_OF = {label: part for labels in (_ENGLISH, _KOREAN) for part, label in labels.items()}
_SEPARATORS = {FILES: ", ", COMMANDS: " ; ", ERRORS: " ; "}


def summary_text(parts: Mapping[str, Sequence[str]], *, is_korean: bool) -> str:
    """`Goal: …` and so on, one line a part that is not empty. parts: GOAL and the others to what is said of them."""
    labels = _KOREAN if is_korean else _ENGLISH
    lines = []
    for part in PARTS:
        said = [" ".join(one.split()) for one in parts.get(part, ()) if one.strip()]
        if said:
            lines.append("%s: %s" % (labels[part], joined(part, said)))
    return "\n".join(lines)


def joined(part: str, said: Sequence[str]) -> str:
    """The items of one part in one line."""
    return _SEPARATORS.get(part, " / ").join(said)


def items(part: str, said: str) -> list[str]:
    """The items of one part's line."""
    return said.split(_SEPARATORS.get(part, " / "))


def parts_of(text: str) -> dict[str, str]:
    """The lines of a summary by their part, without the labels; other lines are left out."""
    found = {}
    for line in text.split("\n"):
        label, _, said = line.partition(": ")
        if label in _PART_OF and said:
            found[_PART_OF[label]] = said
    return found


def labelled(part: str, said: str, *, is_korean: bool) -> str:
    """One part with its label."""
    return "%s: %s" % ((_KOREAN if is_korean else _ENGLISH)[part], said)


def is_korean(text: str) -> bool:
    """The language that a summary was written in."""
    return text.startswith(tuple(label + ": " for label in _KOREAN.values()))
