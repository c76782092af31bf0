"""Headlines for notes that were written without one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources

from memlayer.model import Memory, replace
from memlayer.notes.answer import parse_headlines
from memlayer.notes.checks import headline_from, subject_from
from memlayer.notes.request import MAX_SUBJECTS
from memlayer.text.context_block import flatten

NOTES_IN_A_CALL = 40


@cache
def headlines_prompt() -> str:
    """Return the instructions, which are the same for every project."""
    return resources.files("memlayer.notes").joinpath("headlines_prompt.md").read_text(encoding="utf-8").strip()


def without_headline(notes: Sequence[Memory]) -> list[Memory]:
    """Return a model's notes that have no headline, oldest first."""
    rows = [note for note in notes if note.is_note and not note.headline]
    return sorted(rows, key=lambda note: (note.at_ms, note.id))


def headlines_request(notes: Sequence[Memory], subjects: Sequence[str]) -> str:
    """Return the request for some notes. subjects: those in use."""
    named = Counter(subject for subject in subjects if subject).most_common(MAX_SUBJECTS)
    lines = ["Subjects in use: " + ", ".join(subject for subject, _ in named)] if named else []
    lines += ["[%s] (%s) %s" % (note.citation, note.kind, flatten(note.text)) for note in notes]
    return "\n".join([*lines, "Answer with the JSON object."])


def with_headlines(notes: Sequence[Memory], answer: str) -> Iterator[Memory]:
    """Return the notes with those headlines of an answer that pass."""
    by_citation = {note.citation: note for note in notes}
    for citation, headline, subject in parse_headlines(answer):
        note = by_citation.pop(citation, None)
        if note is not None and (passed := headline_from(headline, [note.text])):
            yield replace(note, headline=passed, subject=subject_from(subject))
