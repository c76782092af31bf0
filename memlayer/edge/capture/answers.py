"""Answers to questions of the model: AskUserQuestion, a password typed alone."""

from __future__ import annotations

import re

from memlayer.edge.redaction.session_values import Heard, note

_MOST_ASKED = 400  # characters of an answer's end
_ASKS = r"[?？]|please|enter|type|paste|provide|send|tell|share|알려|입력|보내|주세요|줘"
_NAMES = ("pass", "pw", "token", "key", "secret", "credential", "비밀", "비번", "패스", "암호", "토큰", "시크릿", "키")
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


def asked(answer: str) -> str:
    """Return an answer's last line if it asks for a secret."""
    line = answer.rstrip()[-_MOST_ASKED:].rpartition("\n")[2].lower()
    return line if any(name in line for name in _NAMES) and re.search(_ASKS, line) else ""


def given(prompt: str, heard: Heard) -> str:
    """Return a prompt, or a mark if it answers with a secret."""
    question, heard.question = heard.question, ""
    said = prompt.strip().strip("`\"'")
    if not question or _hidden(question, said) == said:
        return prompt
    note(said, "password")
    return _hidden(question, said)


def _hidden(question: str, answer: str) -> str:
    """The answer, or a mark where it is a secret."""
    from memlayer.edge.redaction.sentence_secrets import answers_name

    return "[redacted:password]" if answers_name(question, answer) else answer


def quoted(text: str) -> str:
    """Return text as a quotation: its words are nobody's here."""
    return "\n".join("> " + line for line in text.strip().splitlines() if line.strip())


def _dict(value: object) -> dict[object, object]:
    return value if isinstance(value, dict) else {}
