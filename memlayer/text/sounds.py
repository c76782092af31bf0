"""Loanwords by their sound: 토크나이저 and tokenizer.

Consonants decide, as in Soundex and its kin (Knuth, The Art of Computer Programming, vol. 3), each with the letters
that may stand for it; between them a vowel must stand where one is written, but for the ㅡ that Hangul adds.
English letters have several readings (`graphemes.tsv`). Hangul has one.
"""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from memlayer.text.word_lists import rows

MIN_CONSONANTS = 2  # 키 and key, 카우 and cow: with one consonant nearly everything is alike
MAX_LETTERS = 24
MAX_READINGS = 12
_CLASS = str.maketrans("kgtdpbszjc", "KKTTPPSSSS")
_VOWELS = frozenset("aeiouy")
_FIRST, _LAST = 0xAC00, 0xD7A3
_MEDIALS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_SOUNDS_OF_INITIAL = ("g", "k", "n", "d", "td", "l", "m", "bv", "pb", "sz", "s", "", "jz", "j", "c", "k", "t", "p", "h")
_SOUNDS_OF_FINAL = {0: "", 1: "kg", 4: "n", 8: "l", 16: "m", 17: "pb", 19: "ts", 21: "x"}
_SILENT = 11
# 와 and its kin behind no consonant begin with a w. The rest is the vowel that is heard.
_GLIDES = {"ㅘ": "ㅏ", "ㅙ": "ㅐ", "ㅝ": "ㅓ", "ㅞ": "ㅔ", "ㅟ": "ㅣ"}
_SPELLED = {
    "a": "ㅏㅐㅔㅓㅗㅑㅣ", "e": "ㅔㅐㅣㅓㅡㅖㅕ", "i": "ㅣㅏㅡ", "o": "ㅗㅓㅏㅡㅜㅛㅕ", "u": "ㅜㅓㅠㅡㅏㅗ",
    "y": "ㅣㅏㅑㅕㅛ", "r": "ㅓㅏㅗ",
}  # fmt: skip
_EPENTHETIC = "ㅡ"


class WordReading(NamedTuple):
    """A word's sounds.

    consonants: for each the sounds it may be. vowels: written before each consonant and after the last.
    """

    consonants: tuple[str, ...]
    vowels: tuple[str, ...]


class _SoundRule(NamedTuple):
    letters: str
    follows: re.Pattern[str]
    sounds: tuple[str, ...]


@cache
def _rules() -> dict[str, tuple[_SoundRule, ...]]:
    """Rules by their first letter, longest first."""
    by_letter: dict[str, list[_SoundRule]] = {}
    for letters, follows, sounds in rows(__package__, "graphemes.tsv"):
        rule = _SoundRule(letters, re.compile(follows), tuple(sounds.replace("-", "").split("|")))
        by_letter.setdefault(letters[0], []).append(rule)
    return {letter: tuple(sorted(own, key=lambda rule: -len(rule.letters))) for letter, own in by_letter.items()}


def key_of(reading: WordReading) -> str:
    """Return the classes of a reading's consonants, the key of a lookup."""
    return "".join(sounds[:1].translate(_CLASS) for sounds in reading.consonants)


@lru_cache(maxsize=8192)
def english_readings(word: str) -> tuple[WordReading, ...]:
    """Return the readings of a lower-case word; none without enough consonants."""
    if not (2 < len(word) <= MAX_LETTERS and word.isascii() and word.isalpha()):
        return ()
    partial: list[tuple[str, tuple[str, ...]]] = [("", ("",))]  # consonants, vowels
    at = 0
    while at < len(word):
        letter = word[at]
        rule = next((candidate for candidate in _rules().get(letter, ()) if _fits(candidate, word, at)), None)
        sounds, step = (rule.sounds, len(rule.letters)) if rule else (("",), 1)
        is_vowel = rule is None and (letter in _VOWELS or letter in "rw")
        after = [
            _heard(consonants, vowels, ("u" if letter == "w" else letter) if is_vowel else sound)
            for consonants, vowels in partial
            for sound in sounds
        ]
        partial, at = after[:MAX_READINGS], at + step
    readings = dict.fromkeys(WordReading(tuple(consonants), vowels) for consonants, vowels in partial)
    return tuple(reading for reading in readings if len(reading.consonants) >= MIN_CONSONANTS)


def _heard(consonants: str, vowels: tuple[str, ...], sounds: str) -> tuple[str, tuple[str, ...]]:
    """Return a reading that goes on with these sounds."""
    for sound in sounds:
        if sound in _VOWELS or sound == "r":
            vowels = (*vowels[:-1], vowels[-1] + sound)
        elif vowels[-1] or not consonants.endswith(sound):  # else a doubled letter
            consonants, vowels = consonants + sound, (*vowels, "")
    return consonants, vowels


def _fits(rule: _SoundRule, word: str, at: int) -> bool:
    return word.startswith(rule.letters, at) and bool(rule.follows.match(word, at + len(rule.letters)))


@lru_cache(maxsize=8192)
def hangul_readings(run: str) -> tuple[WordReading, ...]:
    """Return a Hangul run's readings. None if it is no loanword.

    The first is the whole run. English words are compared by their stems: 로깅 is also read as log, 렌더링 as render.
    """
    whole = _syllables(run)
    if whole is None:
        return ()
    consonants, vowels = whole
    readings = [whole]
    if consonants[-1:] == ("x",) and vowels[-2] == "ㅣ" and not vowels[-1]:
        readings.append(WordReading(consonants[:-1], (*vowels[:-2], "")))
        if consonants[-2:-1] == ("l",):
            readings.append(WordReading(consonants[:-2], vowels[:-2]))
    elif consonants[-1:] in (("sz",), ("jz",)) and vowels[-1] == _EPENTHETIC:
        readings.append(WordReading(consonants[:-1], vowels[:-1]))
    return tuple(reading for reading in readings if len(reading.consonants) >= MIN_CONSONANTS)


def _syllables(run: str) -> WordReading | None:
    consonants: list[str] = []
    vowels = [""]

    def take(sounds: str) -> None:
        if sounds:
            if sounds in "nml" and consonants and consonants[-1] == sounds and not vowels[-1]:
                return  # 콜렉션, 컴마
            consonants.append(sounds)
            vowels.append("")

    for syllable in run:
        code = ord(syllable) - _FIRST
        if not 0 <= code <= _LAST - _FIRST or code % 28 not in _SOUNDS_OF_FINAL:
            return None
        initial, medial = code // 588, _MEDIALS[code // 28 % 21]
        take(_SOUNDS_OF_INITIAL[initial])
        if medial in _GLIDES and initial in (_SILENT, 0, 15):
            take("w")
            medial = _GLIDES[medial]
        vowels[-1] += medial
        take(_SOUNDS_OF_FINAL[code % 28])
    return WordReading(tuple(consonants), tuple(vowels))


def is_hangul_run(text: str) -> bool:
    """True for two or more syllables and nothing else."""
    return len(text) > 1 and all(_FIRST <= ord(char) <= _LAST for char in text)


def is_sure(run: str, reading: WordReading) -> bool:
    """True if a Hangul run's consonants are enough to tell it.

    Two are enough where a loanword shows: an aspirate or a final ㅡ ("시드", "캐시"), as native words seldom have.
    """
    return (
        len(reading.consonants) > MIN_CONSONANTS
        or run[-1] in "드트크프그브스"
        or any((ord(syllable) - _FIRST) // 588 in (15, 16, 17) for syllable in run)
    )


def alike(hangul: WordReading, english: WordReading) -> bool:
    """True if both may be one word."""
    if len(hangul.consonants) != len(english.consonants):
        return False
    if any(sound not in may for may, sound in zip(hangul.consonants, english.consonants, strict=True)):
        return False
    last = len(english.vowels) - 1
    before = ("", *english.consonants)
    return all(
        _vowels_alike(heard, written, before[place], place == last)
        for place, (heard, written) in enumerate(zip(hangul.vowels, english.vowels, strict=True))
    )


def _vowels_alike(heard: str, written: str, before: str, is_last: bool) -> bool:
    bare = heard.replace(_EPENTHETIC, "")
    if not written.strip("r"):
        return (
            not bare or (bare == "ㅣ" and before in ("s", "z", "j", "c")) or (bool(written) and bare in _SPELLED["r"])
        )
    if not heard:
        return is_last and written == "e"
    if is_last and written == "e" and not bare:
        return True
    spelled = "".join(_SPELLED[letter] for letter in written)
    if is_last and written == "e" and before in ("s", "z", "j", "c") and bare == "ㅣ":
        return True
    return (bare or heard)[0] in spelled and len(bare) <= len(written) + 1
