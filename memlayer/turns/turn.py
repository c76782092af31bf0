"""A turn as text: prompt and answer, cut into pieces."""

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from itertools import takewhile

from memlayer.edge.redaction.privacy import PRIVATE, without_marks
from memlayer.text.chunking import Span, chunk
from memlayer.text.sentences import width

# Columns, a Hangul syllable counts as two. On the real sessions (848 turns) no opening as long as this stands in more
# than three turns; of 30 columns four do in six ("can you review the changes in").
COLUMNS = 40
TEMPLATE_TURNS = 5  # earlier turns that begin so
_READ_CHARS = 400  # of a prompt: an opening of words as long as paths is none
_MARK, _LATER = "opening:", "+opening:"
USER = "User: "
ASSISTANT = "Assistant: "
MAX_MEMORY_CHARS = 4000
CONTEXT_CHARS = 240  # how much of the prompt each later piece of a long turn carries along
MAX_TURN_CHARS = 4000
MANY_PIECES, END_PIECES = 24, 8  # of a text of many only those at its ends, and with a line that differs, are searched
# Names that a template fills in: numbers, hashes, paths, files, addresses.
VARIES = re.compile(r"\d|[/\\@]|\w\.\w")
_MAX_CLUSTER_CHARS = 32  # a base character with more marks than that is no writing
# start: the span begins a sentence. rest: the sentence goes on behind it.
_PRIVATE_SPAN = re.compile(
    r"(?P<start>(?:^|(?<=\n)|[.!?…。:][)\"'\]]{0,3}[ \t])[ \t]{0,8})?"
    + re.escape(PRIVATE)
    + r"(?=(?P<rest>[가-힣,;.]|[ ]?[,;]|[ ](?:is|are|was|and|or|to|for|on|at|in|as|에|에서|으로|이고)[ ])?)"
)
_MEDIA = re.compile(
    r"!\[[^\]\n]{0,200}\]\([^)\n]{0,2000}\)"  # Markdown images
    r"|(?<!\w)\[\s*(?:image|screenshot|video|audio|file|media|pasted (?:text|image)|이미지|사진|동영상|파일)\b"
    r"[^\]\n]{0,300}\]"
    r"|\bdata:[\w.+-]+/[\w.+-]+;base64,[A-Za-z0-9+/=]+"
    r"|<(image|img|video|audio|media)\b[^<>]{0,2000}(?:/>|>(?:[^<]{0,2000}</\1>)?)",
    re.IGNORECASE,
)
# The host itself writes such a prompt when a plan is accepted: it needs no turns, but notes on its matter.
ACCEPTED_PLAN = re.compile(r"\s*Implement the following plan:", re.IGNORECASE)


def is_plan(prompt: str) -> bool:
    """True for an accepted plan that the host submits as a prompt."""
    return bool(ACCEPTED_PLAN.match(prompt))


def turn_text(prompt: str, answers: list[str]) -> str:
    """`User: …\\nAssistant: …`; either part may be missing."""
    parts = [USER + prompt.strip()] if prompt.strip() else []
    parts += [ASSISTANT + answer.strip() for answer in answers if answer.strip()]
    return "\n".join(parts)


def spoken_text(prompt: str, answer: str) -> str:
    """Return the words that may be quoted: the prompt's, then the answer's."""
    return (USER + prompt + "\n" if prompt else "") + (ASSISTANT + answer if answer else "")


def prompt_and_answer(text: str) -> tuple[str, str]:
    """Return both parts of a turn's text; either may be ""."""
    if text.startswith(ASSISTANT):
        return "", text[len(ASSISTANT) :]
    prompt, _, answer = text.partition("\n" + ASSISTANT)
    return prompt.removeprefix(USER), answer


def unlabelled(text: str) -> str:
    """The text without the speakers' labels and marks of redaction."""
    lines = []
    for line in without_marks(text).split("\n"):
        for label in (USER, ASSISTANT):
            if line.startswith(label):
                line = line[len(label) :]
        lines.append(line)
    return "\n".join(lines)


def pieces(text: str) -> list[tuple[int, int, str]]:
    """(start, end, piece) for the index.

    A turn that fits is one piece.

    Each later piece of a longer turn begins with the head of the prompt, because an answer without its question often
    names nothing. Pieces of a long turn share nothing, since each takes a tenth of a second of the model, and those are
    left out whose every line an earlier one says, names aside.
    """
    spans: Sequence[Span] = chunk(text)
    if len(spans) > MANY_PIECES:
        spans = _telling(text, chunk(text, overlap_tokens=0))
    head = ""
    if len(spans) > 1 and text.startswith(USER):
        head = text.split("\n", 1)[0][:CONTEXT_CHARS] + "\n"
    out = []
    for i, span in enumerate(spans):
        piece = text[span.start : span.end]
        out.append((span.start, span.end, head + piece if i and head else piece))
    return out


def _telling(text: str, spans: Sequence[Span]) -> Sequence[Span]:
    seen: set[str] = set()
    telling = dict.fromkeys((*spans[:END_PIECES], *spans[-END_PIECES:]))
    start = place = 0
    for line in text.split("\n"):
        end = start + len(line) + 1
        while place < len(spans) - 1 and spans[place].end <= start:
            place += 1
        shape = " ".join("#" if VARIES.search(word) else word for word in line.split())
        if shape not in seen:
            seen.add(shape)
            telling.update(dict.fromkeys(takewhile(lambda span: span.start < end, spans[place:])))  # noqa: B023
        start = end
    return sorted(telling)


def readable(
    prompt: str, answers: Sequence[str], max_chars: int = MAX_TURN_CHARS, *, holes: bool = False
) -> tuple[str, list[str]]:
    """(prompt, answers) within max_chars. The prompt goes first.

    Counted as `User: …\\nAssistant: …`. holes: a sentence that lacks its private part keeps the mark.
    """
    prompt = cut_whole(bare(prompt, holes=holes), max_chars - len(USER))
    room = max_chars - len(USER) - len(prompt) if prompt else max_chars
    kept = []
    for answer in (bare(answer, holes=holes) for answer in answers):
        room -= len(ASSISTANT) + 1
        if room <= 0:
            break
        answer = cut_whole(answer, room)
        if answer:
            kept.append(answer)
        room -= len(answer)
    return prompt, kept


def cut_whole(text: str, max_chars: int) -> str:
    """The longest head of at most max_chars code points, characters whole.

    A letter keeps its accents, a Hangul syllable its parts, an emoji its modifiers.
    """
    if len(text) <= max_chars:
        return text
    end = max(0, max_chars)
    while end and max_chars - end < _MAX_CLUSTER_CHARS and _goes_on(text[end - 1], text[end]):
        end -= 1
    return text[:end].rstrip()


def _goes_on(before: str, after: str) -> bool:
    """True if `after` belongs to the character that `before` is part of."""
    if after.isascii():
        return False
    point = ord(after)
    if unicodedata.category(after) in ("Mn", "Me", "Mc") or point == 0x200D or before == "\u200d":
        return True
    if 0x1160 <= point <= 0x11FF or 0x1F3FB <= point <= 0x1F3FF:  # vowels and finals of a syllable. Skin tones
        return True
    return 0x1F1E6 <= point <= 0x1F1FF and 0x1F1E6 <= ord(before) <= 0x1F1FF  # the two halves of a flag


def bare(text: str, *, holes: bool = False) -> str:
    """Return text without marks of media and private spans (readable)."""
    return _MEDIA.sub(" ", with_holes(text) if holes else text.replace(PRIVATE, " ")).strip()


def with_holes(text: str) -> str:
    """Return text without private spans, marks within sentences aside."""
    return _PRIVATE_SPAN.sub(_hole, text)


def _hole(span: re.Match[str]) -> str:
    """Return the mark of a span in a sentence, else a blank."""
    between = span.group("start") is not None and span.group("rest") is None
    return (span.group("start") or "") + (" " if between else PRIVATE)


def opening_term(prompt: str) -> str:
    """Return the index term of a prompt's opening, "" for none."""
    columns, kept = 0, []
    head = without_marks(unicodedata.normalize("NFC", prompt))[:_READ_CHARS]
    for word in head.casefold().split():
        kept.append("#" if VARIES.search(word) else word)
        columns += width(kept[-1]) + 1
        if columns > COLUMNS:
            return _MARK + hashlib.sha256(" ".join(kept).encode("utf-8", "replace")).hexdigest()[:12]
    return ""


def of_piece(text: str, place: int) -> str:
    """Return a turn's opening term for one piece, "" for none.

    text: of the whole turn (turns.turn.turn_text). place: of the piece, from 0. Only the first piece counts, so that a
    turn is counted once.
    """
    if not text.startswith(USER):
        return ""
    term = opening_term(text.partition("\n" + ASSISTANT)[0][len(USER) :])
    return term.replace(_MARK, _LATER) if place else term


def opening_in(terms: str) -> str:
    """Return the opening term among a chunk's terms, "" for none."""
    opening = next((term for term in reversed(terms.split()) if term.startswith((_MARK, _LATER))), "")
    return opening.removeprefix("+")
