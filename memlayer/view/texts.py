"""Stored texts as HTML that does nothing: escaped, sanitised, marked, compared.

Everything that was stored is hostile: `plain` takes terminal escapes, bidi marks and invisible characters out, Jinja
escapes, and drawn Markdown passes nh3.
"""

import difflib
import re
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from memlayer.edge.redaction.privacy import plain
from memlayer.kinds import KINDS, Author
from memlayer.text.terms import query_terms

TAGS = {
    "a", "blockquote", "br", "code", "del", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p", "pre", "s", "strong",
    "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
PROMPT, ANSWER = "User: ", " Assistant: "  # of a turn
MAX_DRAWN = 60_000  # characters of a text that are drawn as Markdown
MAX_PIECES, MAX_PAIRS = 4000, 40_000  # of a comparison: under a second in the worst order
LEAST_STAYED = 0.3  # of the newer text's words, from which two texts are compared word by word
AUTHORS: dict[str, str] = {
    Author.PERSON: "you",
    Author.ADOPTED: "a model, kept by you",
    Author.MODEL: "the model",
    Author.READER: "the reading model",
    Author.RUN: "a run that nobody typed",
    Author.COLLEAGUE: "a colleague",
    Author.FILE: "a file",
    Author.UNCLEAR: "somebody in a prompt",
}
_SENTENCES = re.compile(r"[^.!?\n]*[.!?\n]+|[^.!?\n]+")
_WORDS = re.compile(r"\w+|\W", re.UNICODE)
_NAMES = re.compile(r"\w{2,}")
_REDACTED = re.compile(r"\[redacted:[\w -]{1,40}\]|\[private\]")


def harmless(value: object) -> str:
    """Return a stored value without characters that act."""
    return plain(str(value if value is not None else ""))


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable(["strikethrough", "table"]).disable("image")


def markdown(value: object) -> Markup:
    """Return a text drawn as Markdown, sanitised."""
    text = harmless(value)
    if len(text) > MAX_DRAWN:
        return Markup('<pre class="raw">%s</pre>') % text
    drawn = nh3.clean(
        _parser().render(text), tags=TAGS, attributes={"a": {"href"}}, url_schemes={"http", "https", "mailto"},
        link_rel="noopener noreferrer nofollow",
    )  # fmt: skip
    return Markup(_REDACTED.sub(lambda match: '<span class="hidden-secret">%s</span>' % escape(match[0]), drawn))


def marked(value: object, query: str) -> Markup:
    """Return a text with the words of a query marked."""
    text, query = harmless(value), harmless(query)
    words = sorted({word for word in query.split() if len(word) > 1}, key=len, reverse=True)
    words += [term for term in query_terms(query) if len(term) > 2 and term not in words][:48]
    if not words:
        return escape(text)
    parts = re.split("(%s)" % "|".join(map(re.escape, words)), text, flags=re.IGNORECASE)
    return Markup("").join(
        Markup("<mark>%s</mark>") % part if place % 2 else escape(part) for place, part in enumerate(parts)
    )


def with_quote(value: object, quotes: Iterable[str]) -> Markup:
    """Return a text whose quoted words are marked."""
    text = harmless(value)
    for quote in map(harmless, quotes):
        at = text.find(quote) if quote else -1
        if at >= 0:
            end = at + len(quote)
            return escape(text[:at]) + Markup('<mark class="proof">%s</mark>') % quote + escape(text[end:])
    return escape(text)


def compared(older: object, newer: object) -> Markup:
    """Return the newer text with words that went and words that came.

    By sentences where words repeat too much to be matched in time, and as a whole where these do, too, or where hardly
    a word stayed: a translation has only signs in common with its text.
    """
    texts = harmless(older), harmless(newer)
    older_words, newer_words = (set(_NAMES.findall(text)) for text in texts)
    if len(older_words & newer_words) < LEAST_STAYED * len(newer_words):
        return Markup("<del>%s</del>\n<ins>%s</ins>") % texts
    for pattern in (_WORDS, _SENTENCES):
        before, after = (pattern.findall(text) for text in texts)
        if max(len(before), len(after)) <= MAX_PIECES and _pairs(before, after) <= MAX_PAIRS:
            break
    else:
        before, after = ([text] for text in texts)
    out = Markup("")
    for kind, i, j, k, m in difflib.SequenceMatcher(str.isspace, before, after, autojunk=False).get_opcodes():
        if kind == "equal":
            out += escape("".join(before[i:j]))
            continue
        if i < j:
            out += Markup("<del>%s</del>") % "".join(before[i:j])
        if k < m:
            out += Markup("<ins>%s</ins>") % "".join(after[k:m])
    return out


def _pairs(before: Sequence[str], after: Sequence[str]) -> int:
    """Count the pairs of equal pieces: each is looked at."""
    counts = Counter(piece for piece in before if not piece.isspace())
    return sum(counts[piece] for piece in after)


def short(value: object, max_chars: int = 160) -> str:
    """Return a text on one line, cut at its end."""
    line = " ".join(harmless(value).split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rstrip() + "…"


def code(value: object) -> Markup:
    """Return a text whose names in backticks are set as code."""
    parts = harmless(value).split("`")
    return Markup("").join(Markup("<code>%s</code>") % part if at % 2 else part for at, part in enumerate(parts))


def spoken(value: object, max_chars: int = 160) -> str:
    """Return a text on one line, a turn without its speakers' names."""
    line = " ".join(harmless(value).split())
    mark, prompt, rest = line.partition(PROMPT)
    if prompt and mark in {row.mark for row in KINDS.values()}:
        line = mark + rest.replace(ANSWER, " → ", 1)
    return short(line, max_chars)


def moment(at_ms: object, form: str = "%Y-%m-%d %H:%M") -> str:
    """Return a moment of the machine's own clock, "" for none."""
    if not isinstance(at_ms, (int, float)) or not 0 < at_ms < 253_402_300_000_000:
        return ""
    return time.strftime(form, time.localtime(at_ms / 1000))


def first_line(value: object) -> str:
    """Return a text's first line, without a summary's head."""
    return harmless(value).strip().partition("\n")[0].removeprefix("Goal: ").removeprefix("목표: ")


def author(by: object) -> str:
    """Return an author for the person who reads."""
    return AUTHORS.get(str(by), str(by))


def paged(rows: Sequence[object], page: int, size_: int) -> tuple[Sequence[object], int]:
    """Return the rows of a page, and how many pages there are."""
    pages = max(1, -(-len(rows) // size_))
    start = (min(max(1, page), pages) - 1) * size_
    return rows[start : start + size_], pages
