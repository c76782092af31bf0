"""The person's own words in a prompt, without its quotations.

Others speak behind an order to work on a text, behind the head of a mail or a log, and a blank line behind a question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from memlayer.consolidation.rules.signs import find, has
from memlayer.text.sentences import Span, is_question, prose, sentences
from memlayer.text.terms import index_terms, query_terms

MAX_OWN_PROMPT_CHARS = 1500  # of a longer prompt only the first line and the last paragraph are the person's own
MAX_OWN_PARAGRAPH_CHARS = 400
MIN_CARRIED = 0.6  # of a paraphrase's content words; 3 of 13 noted wishes of real sessions reach it
_HEAD_END = re.compile(r"[:：](?=\s|$|[\"'“”‘’「])|\s(?:[-–—]|->|=>|→)\s")
MAX_HEADS = 8  # looked at in a sentence
_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)  # a document
_NAMES = re.compile(r"`[^`\n]*`|\"[^\"\n]*\"|“[^”\n]*”")
_BINDING = ("rule_always", "rule_surely", "rule_banned", "standing", "decided", "forbids")
_SAME_LINE, _NEXT_LINE, _NEXT_PARAGRAPH = range(3)


def own_words(prompt: str) -> str:
    """The person's own words of a prompt; in doubt it is quoted."""
    text = prompt.strip()
    if len(text) <= MAX_OWN_PROMPT_CHARS:
        return _own_part(text)
    first, _, rest = text.partition("\n")
    last = rest.rpartition("\n\n")[2]
    is_last_own = not _opens(first, _NEXT_PARAGRAPH, last) or has("handles_text", last)
    parts = [first, last if is_last_own else ""]
    return "\n".join(_own_part(part) for part in parts if len(part) <= MAX_OWN_PARAGRAPH_CHARS).strip()


def carries(prompt: str, statement: str) -> bool:
    """True if own words hold most content words of a statement."""
    terms = set(query_terms(statement))
    own = set(index_terms(own_words(prompt)).split())
    return bool(terms) and len(terms & own) >= MIN_CARRIED * len(terms)


def _own_part(text: str) -> str:
    """The text up to where a quotation begins."""
    heading = _HEADING.search(text)
    end = heading.start() if heading else len(text)
    bare = prose(text)
    spans = list(_pieces(bare))
    for span, following in zip(spans, [*spans[1:], None], strict=False):
        quoted_from = _quoted_from(text, bare, span, following)
        if quoted_from is not None:
            end = min(end, quoted_from)
            break
    back = [span.start for span in spans[1:] if _points_back(bare[: span.start], bare[span.start : span.end])]
    return text[max(back, default=0) : end]


def _pieces(text: str) -> Iterator[Span]:
    """The sentences; an order on a text ends without a stop."""
    for start, end in sentences(text):
        order = find("order_end", text[start:end])
        middle = start + order.end() if order else end
        if order and text[middle:end].strip():
            yield Span(start, middle)
            start = middle + len(text[middle:end]) - len(text[middle:end].lstrip())
        yield Span(start, end)


def _quoted_from(text: str, bare: str, span: Span, following: Span | None) -> int | None:
    """Return where a quotation begins that this sentence opens."""
    piece = bare[span.start : span.end]
    if has("log_head", piece) or has("salutation", piece):
        return span.start
    head = _head_end(piece, bare[following.start : following.end] if following else "")
    if head is not None:
        return span.start + head
    if following is None or text[span.end : following.start].strip():  # the text worked on stands in between, masked
        return None
    gap = text[span.end : following.start].count("\n")
    is_opened = _opens(piece, min(gap, _NEXT_PARAGRAPH), bare[following.start : following.end])
    return span.end if is_opened else None


def _head_end(piece: str, following: str) -> int | None:
    """Return the end of a head behind which another speaks."""
    plain = _NAMES.sub(lambda name: "_" * len(name.group()), piece)
    start = 0
    for mark in islice(_HEAD_END.finditer(plain), MAX_HEADS):
        head, is_colon = plain[start : mark.start()].strip(" -*\"'"), mark.group() in ":："
        start = mark.end()
        rest = plain[start:].strip() or following
        if has("speaks", head) or has("heads", head):
            return start
        if _binds(head) or has("announces", head):
            continue
        signs = ("handles_text", "looks_at_text", *(("titles",) if is_colon else ()))
        if any(has(sign, head) for sign in signs) or (is_colon and _binds(rest)):
            return start
    return None


def _binds(text: str) -> bool:
    return any(has(sign, text) for sign in _BINDING)


def _opens(piece: str, gap: int, following: str) -> bool:
    """Return whether a sentence has the words behind it worked on."""
    asks = is_question(piece)
    if has("goes_on", following) or (_binds(piece) and not asks):
        return False
    handles = has("handles_text", piece)
    if gap == _SAME_LINE:
        is_told = has("introduces", piece) or has("judges_text", piece)
        return is_told or (handles and (has("points_at_text", piece) or has("bare_order", piece)))
    signs = ("looks_at_text", "judges_text", "introduces")
    return handles or any(has(sign, piece) for sign in signs) or (asks and gap == _NEXT_PARAGRAPH)


def _points_back(before: str, piece: str) -> bool:
    """Return whether a later sentence has the words before it worked on."""
    if _binds(piece):
        return False
    is_apart = before.rstrip(" ").endswith("\n")
    return has("points_back", piece) or (is_apart and has("handles_text", piece) and has("bare_order", piece))
