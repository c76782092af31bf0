"""The typist of a verb: a person, or a model."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from memlayer.edge.capture.spool import VERB_OF
from memlayer.errors import UserError
from memlayer.text.word_lists import words

BY_PERSON = object()  # of a slash command, whose words a hook saw the person type
# A model may read, and remember in its own name.
_READS = frozenset(
    words(
        """search recall given blame fix statusline show list timeline citations sessions remember history topics tasks
        files stats flush reindex doctor daemon completion version export setup"""
    )
)
_READING_WORDS: dict[str, tuple[str, ...]] = {
    "review": (), "config": (), "notes": ("status", "refused"), "task": ("show",), "quarantine": ("list",),
    "team": ("status",), "share": ("status",), "import": (), "mode": (), "mcp": (),
}  # fmt: skip
_PERSONS = {"remember": "--global", "files": "--accept"}
_HARMLESS = {"forget": "--dry-run", "gc": "--dry-run", "import": "--dry-run", "view": "--where"}


def is_model() -> bool:
    """True in the host's shell without a terminal: no person types there."""
    return bool(os.environ.get("CLAUDECODE")) and not (sys.stdin is not None and sys.stdin.isatty())


def refuse_model(verb: str, typed: Sequence[str]) -> None:
    """Refuse a model's call of a person's verb. Raises UserError."""
    end = typed.index("--") if "--" in typed else len(typed)
    options, plain = set[str](), list(typed[end:])
    for before, word in zip(["", *typed], typed[:end], strict=False):
        if word[:1] == "-" and word != "-":
            options.add(word)
        elif before != "--project":
            plain.append(word)
    if not is_model() or options & {"-h", "--help", _HARMLESS.get(verb, "--help")}:
        return
    is_reading = "--stdin" not in options and (not plain or plain[0] in _READING_WORDS.get(verb, ()))
    is_told = verb in _READS and _PERSONS.get(verb) not in options
    if is_told or (verb in _READING_WORDS and is_reading):
        return
    slash = next((command for command, name in VERB_OF.items() if name == verb), "")
    how = f"`/memlayer:{slash}` here or " if slash else ""
    raise UserError(
        f"Nothing is changed: only the person may do that, by {how}`memlayer {verb}` in a terminal. Ask them"
    )
