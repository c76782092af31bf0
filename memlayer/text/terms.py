"""Split text into full-text terms, for the index and for questions.

The index is tokenised on white space alone, so everything a search must know about language is decided here,
in the same way at both ends:

* Hangul runs become syllable bigrams, so particles and spacing do not matter (`korean` does the grammar);
  runs of kanji, kana, Thai, Lao, Khmer and Burmese become character bigrams as well; other scripts go by
  words.
* English words lose their inflection (`stem`), nothing more.
* Identifiers, paths, versions, flags and issue numbers count exactly and by their parts.

No function here raises on any text, and no term contains white space.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache

from memlayer.text import korean
from memlayer.text.stem import stem
from memlayer.text.word_lists import word_set

# A SHA-256 in hex has 64 characters and is worth finding; longer strings are data, no words.
MAX_TERM_CHARS = 64
# Longer unbroken strings are base64, minified code, keys: they cost space and nobody asks for a piece of
# them.
_MAX_COMPOUND_CHARS = 512
_MAX_COMPOUND_ATOMS = 40
_MAX_PATH_SUFFIXES = 4

_HANGUL = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb"
_BIGRAM_SCRIPTS = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003134f"
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1780-\u17d3"
)
# Vowel signs and accents are no `\w` for `re`, yet a word with them is one word.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4"
    "\u0900-\u0903\u093a-\u0963\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a51\u0a81-\u0acd\u0b01-\u0b57\u0b82-\u0bd7"
    "\u0c00-\u0c56\u0c81-\u0cd6\u0d00-\u0d57\u0dca-\u0df3\u0f18-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0"
    "\ufe20-\ufe2f"
)
# The first branch is the second's common case, taken in one step.
_WORD = f"(?:[A-Za-z0-9_]+|[^\\W{_HANGUL}{_BIGRAM_SCRIPTS}]|[{_MARKS}])"
_TOKEN = re.compile(
    # Most words of English text, ahead of the costlier branches.
    "(?P<plain>[A-Za-z]+(?![\\w./\\\\:@+=&%~#\\-\u0300-\u036f]))"
    f"|(?P<hangul>[{_HANGUL}]+)"
    f"|(?P<bigrams>[{_BIGRAM_SCRIPTS}]+)"
    "|(?P<flag>(?<![\\w\\-])(?:--[A-Za-z][\\w-]*|-[A-Za-z]{1,2}(?![\\w\\-])))"
    "|(?P<issue>(?<![\\w&])#\\d+)"
    "|(?P<thousands>(?<![\\w.,])\\d{1,3}(?:,\\d{3})+(?![\\w,]))"
    "|(?P<sharp>(?<![\\w./:])[A-Za-z](?:\\+\\+|#)(?!\\w))"
    "|(?P<dotfile>(?<![\\w./\\\\])\\.[A-Za-z][A-Za-z0-9_.\\-]*[A-Za-z0-9_])"
    f"|(?P<word>{_WORD}+(?:[./\\\\:@+=&%~#\\-]{{1,3}}{_WORD}+)*)"
)
_SEGMENT = re.compile(r"[/\\]+")
_ATOM = re.compile(r"[:@+=&%~#]+")
_PART = re.compile(r"[._\-]+")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")
_NUMERIC = re.compile(r"[vV]?[0-9]+(?:[._\-:][0-9]+)*")
_LETTERS_DIGITS = re.compile(r"([a-z]{2,})([0-9]+)|([0-9]{2,})([a-z]{1,3})")
_LINE_NUMBER = re.compile(r"(?<=[A-Za-z])[:#]L?[0-9]+(?:[-:]L?[0-9]+)*$")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


def index_terms(text: str) -> str:
    """Return the terms of `text` for the index column, joined by spaces.

    Lower case, with repeats.
    """
    terms: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        kind, token = match.lastgroup, match.group()
        if kind in ("plain", "word"):
            terms += _word_terms(token)
        elif kind == "hangul":
            terms += korean.index_terms(token)
        else:
            terms += _other_terms(kind or "", token)
    return " ".join(terms)


def query_terms(text: str) -> list[str]:
    """Return the distinct search terms in order; none for stop words alone."""
    terms: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", text)):
        kind, token = match.lastgroup, match.group()
        if kind in ("plain", "word"):
            if token.casefold() not in _question_words():
                terms += _word_terms(token)
        elif kind == "hangul":
            terms += korean.query_terms(token)
        elif kind == "bigrams":
            found = _bigrams(token)
            # Hiragana alone is grammar far more often than it is a word.
            terms += [term for term in found if not _HIRAGANA.fullmatch(term)] or found
        else:
            terms += _other_terms(kind or "", token)
    return list(dict.fromkeys(terms))


def _other_terms(kind: str, token: str) -> list[str]:
    if kind == "bigrams":
        return _bigrams(token)
    lower = token.casefold()
    if kind == "flag":
        bare = lower.lstrip("-")
        return [lower, *(_word_terms(bare) if len(bare) > 2 else ())] if len(lower) <= MAX_TERM_CHARS else []
    if kind == "issue":
        return [lower, lower[1:]] if len(lower) <= MAX_TERM_CHARS else []
    if kind == "thousands":
        return [lower.replace(",", "")[:MAX_TERM_CHARS]]
    if kind == "dotfile":
        return [*([lower] if len(lower) <= MAX_TERM_CHARS else ()), *_word_terms(token[1:])]
    return [lower]


def _bigrams(run: str) -> list[str]:
    lower = run.casefold()
    return [lower] if len(lower) == 1 else [lower[at : at + 2] for at in range(len(lower) - 1)]


@cache
def _question_words() -> frozenset[str]:
    """Words that a question is not searched for: grammar and question words."""
    return word_set(__package__, "function") | word_set(__package__, "asking")


@lru_cache(maxsize=32768)
def _word_terms(token: str) -> tuple[str, ...]:
    """Terms of one word, identifier, path, version or URL."""
    lower = token.casefold()
    if lower.isalpha() and token[1:].islower():
        return () if lower in word_set(__package__, "function") or len(lower) > MAX_TERM_CHARS else (stem(lower),)
    if len(token) > _MAX_COMPOUND_CHARS:
        return ()
    terms: list[str] = []
    if "/" in token or "." in token:
        # `src/app/x.py:42` is about `src/app/x.py`, too.
        bare = _LINE_NUMBER.sub("", token)
        if bare != token:
            terms += [lower, *_word_terms(bare), *re.findall("[0-9]{2,}", token[len(bare) :])]
            return tuple(term for term in dict.fromkeys(terms) if len(term) <= MAX_TERM_CHARS)
    segments = [segment for segment in _SEGMENT.split(token) if segment]
    # A path is found whole and by any of its last few tails: `src/app/x.py`, `app/x.py`, `x.py`.
    if len(segments) > 1:
        for at in {0, *range(max(0, len(segments) - _MAX_PATH_SUFFIXES), len(segments) - 1)}:
            terms.append("/".join(segments[at:]).casefold())
    atoms = 0
    for segment in segments:
        pieces = [piece for piece in _ATOM.split(segment) if piece]
        if len(pieces) > 1:
            terms.append(segment.casefold())
        for piece in pieces:
            atoms += 1
            if atoms > _MAX_COMPOUND_ATOMS:
                break
            terms += _atom_terms(piece)
    return tuple(term for term in dict.fromkeys(terms) if len(term) <= MAX_TERM_CHARS)


def _atom_terms(atom: str) -> list[str]:
    """Terms of `checkout.py`, `normalize_cart`, `OrderEventStore`, `1.2.3`: the whole, then its parts."""
    lower = atom.casefold()
    if _NUMERIC.fullmatch(atom):
        return [lower, lower[1:]] if lower[0] == "v" else [lower]
    parts = [part for part in _PART.split(atom) if part]
    terms = [lower.strip("_-.") or lower] if len(parts) > 1 else []
    for part in parts:
        terms += _part_terms(part)
    return terms


def _part_terms(part: str) -> list[str]:
    lower = part.casefold()
    if len(part) > MAX_TERM_CHARS or lower in word_set(__package__, "function"):
        return []
    if not lower.isalpha():
        if lower.isdigit():
            return [lower]
        found = _LETTERS_DIGITS.fullmatch(lower)
        halves = [half for half in found.groups() if half and len(half) > 1] if found else []
        return [lower, *halves]
    humps = _CAMEL.findall(part) if not part.isupper() and part[1:] != part[1:].lower() else []
    whole = [lower, stem(lower)] if len(humps) > 1 else [stem(lower)]
    return whole + [stem(hump.casefold()) for hump in humps if len(hump) > 1] if len(humps) > 1 else whole
