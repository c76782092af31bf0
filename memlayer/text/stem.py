"""Strip English inflection: Porter's steps 1 and 5, no derivation.

`orders` and `order`, `moved` and `move`, `retries` and `retry`, `cancelled` and `cancel` meet; `operate` and
`operator` stay apart. The result need not be a word (`cach` for `cache`): it only has to be the same for all
forms. Words that are not lower-case ASCII letters, and words of up to three letters, are returned as they
are.
"""

from __future__ import annotations

# Short plurals that a rule could not tell from `aws`, `dns` and `ios`.
_SHORT_PLURALS = {"ids": "id", "dbs": "db", "prs": "pr", "vms": "vm", "ips": "ip", "uis": "ui", "use": "us"}
_VOWELS = frozenset("aeiou")


def stem(word: str) -> str:
    """Return the form that all inflections of `word` (lower case) share."""
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
    """True for a final consonant, vowel, consonant: `mov`, `stor`, `nam`.

    The last consonant is not w, x or y.
    """
    if len(word) < 3 or word[-1] in "wxy":
        return False
    at = len(word) - 1
    return not _is_vowel(word, at) and _is_vowel(word, at - 1) and not _is_vowel(word, at - 2)
