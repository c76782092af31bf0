"""Split text into full-text terms for index and questions. Weigh them.

The index is tokenised on white space alone, so everything a search must know about language is decided here,
in the same way at both ends:

* Hangul runs become syllable bigrams, so particles and spacing do not matter (`korean` does the grammar);
  runs of kanji, kana, Thai, Lao, Khmer and Burmese become character bigrams as well; other scripts go by
  words.
* English words lose their inflection (`stem`), nothing more.
* Identifiers, paths, versions, flags and issue numbers count exactly and by their parts.

No function here raises on any text, and no term contains white space.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache

from memlayer.edge.redaction.privacy import without_marks
from memlayer.text import korean
from memlayer.text.word_lists import word_set

# Short plurals that a rule could not tell from `aws`, `dns` and `ios`.
_SHORT_PLURALS = {"ids": "id", "dbs": "db", "prs": "pr", "vms": "vm", "ips": "ip", "uis": "ui", "use": "us"}
_VOWELS = frozenset("aeiou")

# A SHA-256 in hex has 64 characters and is worth finding. Longer strings are data, no words.
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

# Okapi BM25, after Robertson and Zaragoza 2009. adapters.search.word_index computes the same over arrays.
K1, B = 1.2, 0.75  # also the constants of the table's own full-text search


def stem(word: str) -> str:
    """Return the form that all inflections of `word` (lower case) share.

    Porter's steps 1 and 5, no derivation: `orders` and `order`, `moved` and `move`, `retries` and `retry` meet.
    `operate` and `operator` stay apart. The result need not be a word (`cach` for `cache`). Other than lower-case
    ASCII letters, and words of up to three letters, are returned as they are.
    """
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return _SHORT_PLURALS.get(word, word)
    word = _without_plural(word)
    word = _without_tense(word)
    if word[-1] == "y" and _has_vowel(word[:-1]) and len(word) > 2:
        word = word[:-1] + "i"
    return _without_final(word)


def _without_plural(word: str) -> str:
    if word[-1] != "s" or word.endswith("ss"):
        return word
    if word.endswith("sses") or word.endswith("ies"):
        return word[:-2]
    return word[:-1]


def _without_tense(word: str) -> str:
    if word.endswith("eed"):
        return word[:-1] if _measure(word[:-3]) > 0 else word
    for suffix in ("ed", "ing"):
        if word.endswith(suffix):
            rest = word[: -len(suffix)]
            if len(rest) < 2 or not _has_vowel(rest):
                return word
            if rest.endswith(("at", "bl", "iz")):
                return rest + "e"
            if rest[-1] == rest[-2] and rest[-1] not in "aeioulsz":
                return rest[:-1]
            return rest + "e" if _measure(rest) == 1 and _ends_short(rest) else rest
    return word


def _without_final(word: str) -> str:
    if word[-1] == "e":
        rest = word[:-1]
        measure = _measure(rest)
        if measure > 1 or (measure == 1 and not _ends_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _is_vowel(word: str, at: int) -> bool:
    letter = word[at]
    return letter in _VOWELS or (letter == "y" and at > 0 and not _is_vowel(word, at - 1))


def _has_vowel(word: str) -> bool:
    return any(letter in _VOWELS for letter in word) or "y" in word[1:]


def _measure(word: str) -> int:
    """Count the vowel-to-consonant changes: Porter's `m`."""
    count, before = 0, False
    for at, letter in enumerate(word):
        vowel = letter in _VOWELS or (letter == "y" and at > 0 and not before)
        if before and not vowel:
            count += 1
        before = vowel
    return count


def _ends_short(word: str) -> bool:
    """True for a final consonant, vowel, consonant but w, x, y."""
    if len(word) < 3 or word[-1] in "wxy":
        return False
    at = len(word) - 1
    return not _is_vowel(word, at) and _is_vowel(word, at - 1) and not _is_vowel(word, at - 2)


def index_terms(text: str) -> str:
    """Return the lower-case terms of `text`, joined by spaces, with repeats."""
    terms: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", without_marks(text))):
        kind, token = match.lastgroup, match.group()
        if kind in ("plain", "word"):
            terms += _word_terms(token)
        elif kind == "hangul":
            terms += korean.index_terms(token)
        else:
            terms += _other_terms(kind or "", token)
    return " ".join(terms)


def term_shares(text: str) -> dict[str, float]:
    """Return term -> its share of a word."""
    shares: dict[str, float] = {}
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", without_marks(text))):
        kind, token = match.lastgroup, match.group()
        terms = index_terms(token).split()
        share = 1 / max(1, len(terms)) if kind in ("hangul", "bigrams") else 1.0
        for term in terms:
            shares[term] = max(share, shares.get(term, 0.0))
    return shares


def query_terms(text: str) -> list[str]:
    """Return the distinct search terms in order; none for stop words alone."""
    terms: list[str] = []
    for match in _TOKEN.finditer(unicodedata.normalize("NFKC", without_marks(text))):
        kind, token = match.lastgroup, match.group()
        if kind in ("plain", "word"):
            if token.casefold() not in _question_words():
                terms += _word_terms(token)
        elif kind == "hangul":
            terms += korean.query_terms(token)
        elif kind == "bigrams":
            bigrams = _bigrams(token)
            # Hiragana alone is grammar far more often than it is a word.
            terms += [term for term in bigrams if not _HIRAGANA.fullmatch(term)] or bigrams
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
        match = _LETTERS_DIGITS.fullmatch(lower)
        halves = [half for half in match.groups() if half and len(half) > 1] if match else []
        return [lower, *halves]
    humps = _CAMEL.findall(part) if not part.isupper() and part[1:] != part[1:].lower() else []
    whole = [lower, stem(lower)] if len(humps) > 1 else [stem(lower)]
    return whole + [stem(hump.casefold()) for hump in humps if len(hump) > 1] if len(humps) > 1 else whole


def inverse_document_frequency(documents: int, holding: int) -> float:
    """Return the weight of a term that `holding` of `documents` documents hold.

    Robertson and Sparck Jones' weight in Lucene's form, which never falls below zero.
    """
    return math.log(1.0 + (documents - holding + 0.5) / (holding + 0.5))


def frequencies(terms: Iterable[str], document: Sequence[str]) -> dict[str, int]:
    """Count each of the terms that occur in a document's."""
    return {term: document.count(term) for term in set(terms).intersection(document)}


def bm25(counts: Mapping[str, int], weight: Mapping[str, float], length: float) -> float:
    """Return the BM25 score of a document.

    counts: the query's terms in the document (frequencies()). weight: inverse document frequency by term. length: the
    document's, over the mean.
    """
    norm = K1 * (1 - B + B * length)
    return sum([weight[term] * often * (K1 + 1) / (often + norm) for term, often in counts.items()])
