"""A turn as text: prompt and answer together, cut into pieces that each say what they are about."""

from __future__ import annotations

from memlayer.core.chunking import chunk
from memlayer.core.non_answer import is_non_answer
from memlayer.core.question import is_question

USER = "User: "
ASSISTANT = "Assistant: "
MAX_MEMORY_CHARS = 4000
CONTEXT_CHARS = 240  # how much of the prompt each later piece of a long turn carries along


def turn_text(prompt: str, answers: list[str]) -> str:
    """`User: …\\nAssistant: …`; either part may be missing."""
    parts = [USER + prompt.strip()] if prompt.strip() else []
    parts += [ASSISTANT + answer.strip() for answer in answers if answer.strip()]
    return "\n".join(parts)


def unlabelled(text: str) -> str:
    """The text without the speakers' labels: they say nothing about its content and would weigh in every search."""
    lines = []
    for line in text.split("\n"):
        for label in (USER, ASSISTANT):
            if line.startswith(label):
                line = line[len(label) :]
        lines.append(line)
    return "\n".join(lines)


def pieces(text: str, *, max_tokens: int, overlap_tokens: int) -> list[tuple[int, int, str]]:
    """(start, end, piece) for the index. A turn that fits is one piece; each later piece of a longer one begins with
    the head of the prompt, because an answer without its question often names nothing."""
    spans = chunk(text, max_tokens=max_tokens, overlap_tokens=overlap_tokens)
    head = ""
    if len(spans) > 1 and text.startswith(USER):
        head = text.split("\n", 1)[0][:CONTEXT_CHARS] + "\n"
    out = []
    for i, span in enumerate(spans):
        piece = text[span.start : span.end]
        out.append((span.start, span.end, head + piece if i and head else piece))
    return out


def is_open_question(prompt: str, answers: list[str]) -> bool:
    """True for a question that nobody has answered, or only with "I do not know": nothing in it is worth recalling."""
    if not is_question(prompt):
        return False
    return not any(answer.strip() for answer in answers) or is_non_answer(prompt, answers)
