"""Cut a long text into overlapping pieces that fit the embedding model.

Tokens are estimated, not counted: counting costs more and needs the model. The costs below were fitted to the tokenizer
of the shipped model (see `tests/unit/text/test_chunking.py` for the texts and the bounds).
"""

import re
from bisect import bisect_left, bisect_right

from memlayer.text.sentences import Span, sentences

__all__ = ["Span", "chunk", "estimate_tokens", "sentences"]

# Costs are hundredths of a token, so that sums are exact. A piece is never cut, hence the upper limits: a
# megabyte without a space still has a boundary every few characters. A letter stays with its marks, an
# emoji with its joiners.
_MARK = (
    "[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u200d\u20d0-\u20f0\u3099\u309a"
    "\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)
_PIECE = re.compile(
    "(?P<space>\\s+)"
    f"|(?P<letters>[A-Za-z]{{1,24}}{_MARK}{{0,15}})"
    f"|(?P<hangul>[\uac00-\ud7a3]{{1,12}}{_MARK}{{0,15}})"
    "|(?P<digits>[0-9]{1,12})"
    "|(?P<ascii>([!-/:-@\\[-`{-~])\\6{0,15})"
    f"|(?P<cjk>[\u3041-\u30ff\u3400-\u9fff]{_MARK}{{0,15}})"
    "|(?P<jamo>[\u1100-\u11ff\u3131-\u318e]{1,12})"
    f"|(?P<other>(?:[\ud800-\udbff][\udc00-\udfff]|.)(?:{_MARK}|(?<=\u200d).){{0,15}})",
    re.DOTALL,
)
_CAMEL = re.compile("[A-Z]?[a-z]+(?:[A-Z][a-z]{2,})+")
_PARAGRAPH, _SENTENCE, _WORD = 3, 2, 1
LEAST_COST = 16  # of a character within a word. A text of more characters hardly fits


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens the shipped model's tokenizer makes of `text`."""
    return -(-sum(_cost(match) for match in _PIECE.finditer(text)) // 100)


def chunk(text: str, *, max_tokens: int = 400, overlap_tokens: int = 80) -> list[Span]:
    """Return overlapping spans of at most `max_tokens` that cover `text`.

    They stand in order and share about `overlap_tokens`. Breaks fall after a paragraph, else a sentence, else a word,
    else anywhere. A text that fits is one span, an empty text none. A single piece (one long word) that exceeds a tiny
    `max_tokens` stands alone.
    """
    if not text:
        return []
    budget = max(1, max_tokens) * 100
    shared = max(0, min(overlap_tokens * 100, budget // 2))
    if len(text) * LEAST_COST <= budget and estimate_tokens(text) * 100 <= budget:
        return [Span(0, len(text))]  # most turns: no need to look for their sentences
    starts, sums, levels = _measure(text)
    last = len(starts) - 1  # starts[last] is the end of the text
    spans = []
    begin = end = 0
    while True:
        # `sums` is rounded up once per span by estimate_tokens, so the whole budget may be used.
        limit = max(begin + 1, bisect_right(sums, sums[begin] + budget) - 1)
        if limit <= end:  # white space costs nothing: the overlap alone would fill the span again
            begin = end
            continue
        if limit >= last:
            spans.append(Span(starts[begin], starts[last]))
            return spans
        half = bisect_left(sums, sums[begin] + budget // 2)
        end = _best_break(levels, max(begin + 1, half, end + 1), limit)  # beyond the span before, whatever they share
        spans.append(Span(starts[begin], starts[end]))
        earliest = max(begin + 1, bisect_left(sums, sums[end] - shared))
        begin = _overlap_start(levels, earliest, end)


def _measure(text: str) -> tuple[list[int], list[int], bytearray]:
    """Offset, cost of the text before and quality of each boundary."""
    heads = {span.start for span in sentences(text)}
    starts, sums, levels = [0], [0], bytearray([_PARAGRAPH])
    total = 0
    for match in _PIECE.finditer(text):
        total += _cost(match)
        end = match.end()
        starts.append(end)
        sums.append(total)
        if match.lastgroup == "space":
            space = match.group()
            broken = "\n" in space or end in heads
            level = _PARAGRAPH if space.count("\n") > 1 else _SENTENCE if broken else _WORD
        else:
            level = _SENTENCE if end in heads else 0
        levels.append(level)
    return starts, sums, levels


def _best_break(levels: bytearray, first: int, last: int) -> int:
    """The last boundary of the best kind in [first, last], else `last`."""
    first = min(first, last)
    for level in (_PARAGRAPH, _SENTENCE, _WORD):
        at = levels.rfind(bytes([level]), first, last + 1)
        if at >= 0:
            return at
    return last


def _overlap_start(levels: bytearray, earliest: int, end: int) -> int:
    """The start of the next span, at a sentence or word."""
    if earliest >= end:
        return end
    for wanted in ((_PARAGRAPH, _SENTENCE), (_WORD,)):
        places = [at for at in (levels.find(bytes([level]), earliest, end) for level in wanted) if at >= 0]
        if places:
            return min(places)
    return earliest


def _cost(match: re.Match[str]) -> int:
    kind = match.lastgroup
    if kind == "space":
        return 0
    length = match.end() - match.start()
    if kind == "letters":
        word = match.group()
        if length <= 3 and (length == 1 or word[1:].islower()):
            return 105
        if word[1:].islower() or _CAMEL.fullmatch(word):
            return 55 + 16 * length if length <= 12 else 247 + 45 * (length - 12)
        # Capitals and random letters are spelt out nearly one by one.
        return 60 + 45 * length if word.isupper() else 80 + 62 * length
    if kind == "hangul":
        return 50 + 57 * length
    if kind == "digits":
        return 75 + 33 * length
    if kind == "ascii":
        return 84 + 6 * length
    if kind == "cjk":
        return 90 * length
    if kind == "jamo":
        return 100 + 30 * (length - 1)
    return 130 * length
