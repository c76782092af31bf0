"""The typist of a verb: a person, or a model."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence

from memlayer.edge.bootstrap.runtime import plugin_root
from memlayer.edge.capture.spool import VERB_OF
from memlayer.errors import UserError
from memlayer.text.word_lists import words

_SLASHES = {
    **{verb: name for name, verb in VERB_OF.items()},
    "given": "memory-given",
    "stats": "memory-stats",
    "doctor": "memory-doctor",
}
# Slash command's verb -> the first words that it takes, with their options. Others take no option.
SLASH_WORDS = {"notes": ("on", "off", "status", "refused")}
_NAMED = re.compile("`memlayer ([^`]+)`")
BY_PERSON = object()  # of a slash command, whose words a hook saw the person type
# A model may read, and remember in its own name.
_READS = frozenset(
    words(
        """search given statusline show list rules sessions remember stats store project topics flush reindex
        doctor daemon completion export setup"""
    )
)
_READING_WORDS: dict[str, tuple[str, ...]] = {
    "review": (), "config": (), "notes": ("status", "refused"), "task": ("list", "show"), "quarantine": ("list",),
    "team": ("status",), "share": ("status",), "import": (), "mode": (), "mcp": (),
}  # fmt: skip
_PERSONS = {"remember": "--global"}
_HARMLESS = {"forget": "--dry-run", "gc": "--dry-run", "import": "--dry-run", "view": "--where"}
_BY_WORD = ("store", "project")  # their verbs differ: some read, some write


def is_model() -> bool:
    """True in the host's shell without a terminal: no person types there."""
    return bool(os.environ.get("CLAUDECODE")) and not (sys.stdin is not None and sys.stdin.isatty())


def here(message: str) -> str:
    """Return our message with its verbs as typed here.

    In the host they are slash commands, or the plugin's program by its path, unless it is on the PATH.
    """
    return _NAMED.sub(lambda found: f"`{_in_host(found[1])}`", message) if is_model() else message


def _in_host(typed: str) -> str:
    for verb, command in _SLASHES.items():
        rest = typed.removeprefix(verb)
        first, known = rest.split()[:1], SLASH_WORDS.get(verb)
        is_taken = set(first) <= set(known) if known else " -" not in rest
        if is_taken and rest != typed and rest[:1] in ("", " "):
            return f"/memlayer:{command}{rest}"
    program = os.path.join(plugin_root(), "bin", "memlayer")
    return f"{'memlayer' if shutil.which('memlayer') or not os.path.exists(program) else program} {typed}"


def refuse_model(verb: str, typed: Sequence[str]) -> None:
    """Refuse a model's call of a person's verb. Raises UserError."""
    end = typed.index("--") if "--" in typed else len(typed)
    options, plain = set[str](), list(typed[end:])
    for before, word in zip(["", *typed], typed[:end], strict=False):
        if word[:1] == "-" and word != "-":
            options.add(word)
        elif before != "--project":
            plain.append(word)
    shown = f"{verb} {' '.join(plain[:1])}".strip()
    if verb in _BY_WORD and plain:
        verb, *plain = plain
    if not is_model() or options & {"-h", "--help", _HARMLESS.get(verb, "--help")}:
        return
    is_reading = "--stdin" not in options and (not plain or plain[0] in _READING_WORDS.get(verb, ()))
    is_told = verb in _READS and _PERSONS.get(verb) not in options
    if is_told or (verb in _READING_WORDS and is_reading):
        return
    slash = next((command for name, command in _SLASHES.items() if name.split()[0] == verb), "")
    how = f"`/memlayer:{slash}` here or " if slash else ""
    raise UserError(
        f"Nothing is changed: only the person may do that, by {how}`memlayer {shown}` in a terminal. Ask them"
    )
