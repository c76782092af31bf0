"""The person's answers to questions of the model (AskUserQuestion)."""

from __future__ import annotations

_NOTES_ONLY = "(notes only)"  # the host's mark for a question without a choice


def answers_given(response: object) -> str:
    """Return each question as a quotation, and its answer below it."""
    result = _dict(response)
    answers, annotations = _dict(result.get("answers")), _dict(result.get("annotations"))
    lines = []
    for question in {**answers, **annotations}:
        chosen = answers.get(question)
        choices = chosen if isinstance(chosen, list) else [chosen]
        choice = ", ".join(text for text in choices if isinstance(text, str) and text != _NOTES_ONLY)
        notes = _dict(annotations.get(question)).get("notes")
        said = [text for text in (choice, notes) if isinstance(text, str) and text.strip()]
        if said:
            lines += [quoted(str(question)), *(_hidden(str(question), text) for text in said)]
    free = result.get("response")
    return "\n".join([*lines, free] if isinstance(free, str) and free.strip() else lines)


def _hidden(question: str, answer: str) -> str:
    """The answer, or a mark where it is a secret."""
    from memlayer.edge.redaction.sentence_secrets import answers_name

    return "[redacted:password]" if answers_name(question, answer) else answer


def quoted(text: str) -> str:
    """Return text as a quotation: its words are nobody's here."""
    return "\n".join("> " + line for line in text.strip().splitlines() if line.strip())


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}
