"""The place of a statement's words in its turn.

Exact, then normalised, then fuzzy alignment (langextract's order of methods). The fuzzy one is rapidfuzz's
partial_ratio_alignment.
"""

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import NamedTuple

import msgspec

from memlayer.text.sentences import width
from memlayer.turns.turn import USER, spoken_text

MIN_QUOTE_COLUMNS = 12  # a syllable counts as two letters: "이것도 수정부탁해." is an order
MIN_FUZZY_COLUMNS = 16  # a shorter quote resembles too much
MAX_QUOTE_CHARS = 400
MIN_FUZZY = 0.85
_PLAIN = {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2013": "-", "\u2014": "-", "\u00a0": " "}
PERSON, TOOL = "user", "tool"  # speakers of evidence
MAX_JOINED = 8  # the first words, and the newest repetitions
MAX_FUZZY_CHARS = 60_000  # of a turn: rapidfuzz takes time proportional to it


class Method(StrEnum):
    """How a quote was found."""

    EXACT = "exact"
    NORMALISED = "normalised"
    FUZZY = "fuzzy"


class QuotePlace(NamedTuple):
    """A quote's place in a text: characters from start to before end."""

    start: int
    end: int
    confidence: float
    method: Method


@dataclass(frozen=True)
class Evidence:
    """The words that a statement rests on.

    prompt_id: the turn; start, end: characters of the turn's spoken text; digest: SHA-256 of these characters;
    confidence: 1.0 exact, .95 normalised, else the similarity. speaker: PERSON, assistant or TOOL: then start and end
    count in the output of the turn's tools.
    """

    prompt_id: str
    start: int
    end: int
    digest: str
    confidence: float
    method: Method
    speaker: str

    def overlaps(self, other: "Evidence") -> bool:
        """Return whether two pieces of evidence share words of one turn."""
        return self.prompt_id == other.prompt_id and self.start < other.end and other.start < self.end


def is_short(quote: str) -> bool:
    """Return whether a quote proves nothing by itself."""
    return width(quote.strip()) < MIN_QUOTE_COLUMNS


def align(quote: str, text: str, *, min_columns: int = MIN_QUOTE_COLUMNS) -> QuotePlace | None:
    """Find a quote in a text. None without a similar passage.

    min_columns: of the quote, see width(). A model that quotes less proves nothing.
    """
    quote = quote.strip()
    if width(quote) < min_columns or len(quote) > MAX_QUOTE_CHARS:
        return None
    start = text.find(quote)
    if start >= 0:
        return QuotePlace(start, start + len(quote), 1.0, Method.EXACT)
    plain, places = _normalised(text)
    wanted = _normalised(quote)[0].strip()
    if width(wanted) < min_columns:
        return None
    start = plain.find(wanted)
    if start >= 0:
        return QuotePlace(places[start], places[start + len(wanted) - 1] + 1, 0.95, Method.NORMALISED)
    return _fuzzy(wanted, plain[:MAX_FUZZY_CHARS], places) if width(wanted) >= MIN_FUZZY_COLUMNS else None


def _fuzzy(wanted: str, plain: str, places: Sequence[int]) -> QuotePlace | None:
    from rapidfuzz.fuzz import partial_ratio_alignment  # 3 MB: only the daemon reads answers

    if len(plain) < len(wanted):
        return None
    best = partial_ratio_alignment(wanted, plain, score_cutoff=100 * MIN_FUZZY)
    if best is None or best.dest_end <= best.dest_start:
        return None
    # A number that differs is no slip of copying.
    if _digits(wanted) - _digits(plain[max(0, best.dest_start - 8) : best.dest_end + 8]):
        return None
    end = min(best.dest_end, len(places))
    return QuotePlace(places[best.dest_start], places[end - 1] + 1, round(best.score / 100, 3), Method.FUZZY)


def _digits(text: str) -> set[str]:
    return set("".join(char if char.isdigit() else " " for char in text).split())


def _normalised(text: str) -> tuple[str, list[int]]:
    """Return (normalised text, each character's place in the original)."""
    out: list[str] = []
    places: list[int] = []
    at = 0
    while at < len(text):
        end = at + 1
        while end < len(text) and unicodedata.combining(text[end]):
            end += 1
        while end < len(text) and "\u1160" <= text[end] <= "\u11ff":  # vowels and finals of a decomposed syllable
            end += 1
        for char in unicodedata.normalize("NFC", text[at:end]).lower():
            if char.isspace():
                char = " "
                if out and out[-1] == " ":
                    continue
            out.append(_PLAIN.get(char, char))
            places.append(at)
        at = end
    return "".join(out), places


def evidence_of(span: QuotePlace, prompt_id: str, prompt: str, answer: str) -> Evidence:
    """Return the evidence that a span of a turn's spoken text is."""
    words = spoken_text(prompt, answer)[span.start : span.end]
    speaker = PERSON if prompt and span.start < len(USER + prompt) else "assistant"
    digest = hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()
    return Evidence(prompt_id, span.start, span.end, digest, span.confidence, span.method, speaker)


def words_of(evidence: Evidence, prompt: str, answer: str) -> str:
    """Return the words of evidence; "" where the turn has changed."""
    words = spoken_text(prompt, answer)[evidence.start : evidence.end]
    return words if hashlib.sha256(words.encode("utf-8", "replace")).hexdigest() == evidence.digest else ""


def to_json(evidence: Iterable[Evidence]) -> str:
    """Return evidence as a JSON list; "" for none."""
    rows = [asdict(row) for row in evidence]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")) if rows else ""


def from_json(text: str) -> list[Evidence]:
    """Read the column; rows that cannot be read are left out."""
    try:
        return msgspec.json.decode(text, type=list[Evidence]) if text else []
    except ValueError:
        return []


def joined(older: str, newer: str) -> str:
    """Join two evidence columns, each turn's words once, at most MAX_JOINED."""
    rows = {(row.prompt_id, row.start, row.end): row for row in (*from_json(older), *from_json(newer))}
    kept = list(rows.values())
    return to_json(kept[:1] + kept[1:][-(MAX_JOINED - 1) :])
