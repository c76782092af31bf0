"""A turn as text: prompt and answer together, cut into pieces that each say what they are about."""

from __future__ import annotations

from memlayer.text.chunking import chunk
from memlayer.text.question import is_question
from memlayer.text.sentences import sentences
from memlayer.turns.non_answer import is_non_answer

USER = "User: "
ASSISTANT = "Assistant: "
MAX_MEMORY_CHARS = 4000
AFTERTHOUGHT_CHARS = 20
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
    if not any(answer.strip() for answer in answers):
        return is_question(prompt)
    asks = is_question(prompt) or is_question(_without_afterthought(prompt))
    return asks and is_non_answer(prompt, answers)


def _without_afterthought(prompt: str) -> str:
    """The prompt without a last sentence of a few words: "for the third time", "또 까먹음"."""
    spans = sentences(prompt)
    if len(spans) < 2 or spans[-1].end - spans[-1].start > AFTERTHOUGHT_CHARS:
        return prompt
    return prompt[: spans[-1].start]
