"""A project's words by their sound, to find them across the scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from memlayer.text.korean import without_particles
from memlayer.text.sounds import alike, english_readings, hangul_readings, is_hangul_run, is_sure, key_of

MAX_WORDS = 30_000  # heard, alike or not. Later ones are not: it bounds the time of loading and 6 MB
MAX_ALIKE = 3
_BYTES_PER_WORD = 200


class WordSounds:
    """English words and runs of Hangul by the classes of their consonants."""

    def __init__(self) -> None:
        self._english: dict[str, list[str]] = {}
        self._hangul: dict[str, list[str]] = {}
        self._heard: set[str] = set()

    @property
    def nbytes(self) -> int:
        return len(self._heard) * _BYTES_PER_WORD

    def hear(self, terms: Sequence[str]) -> None:
        """Take in the terms of one chunk, in order."""
        if len(self._heard) >= MAX_WORDS:
            return
        for word in {*terms, *_runs(terms)} - self._heard:
            if not word.isalpha():
                continue  # identifiers, numbers, paths: no loanwords, and most of the words of code
            self._heard.add(word)
            is_hangul = is_hangul_run(word)
            readings = hangul_readings(word) if is_hangul else english_readings(word)
            if readings:
                place = self._hangul if is_hangul else self._english
                for key in {key_of(reading) for reading in readings}:
                    place.setdefault(key, []).append(word)

    def alike(self, word: str) -> list[str]:
        """Return at most MAX_ALIKE words of the other script by sound."""
        is_hangul = is_hangul_run(word)
        place = self._english if is_hangul else self._hangul
        own = hangul_readings(word) if is_hangul else english_readings(word)
        matches: dict[str, None] = {}
        for reading in own:
            for other in place.get(key_of(reading), ()):
                pairs = (
                    ((reading, english) for english in english_readings(other))
                    if is_hangul
                    else ((hangul, reading) for hangul in hangul_readings(other))
                )
                if is_sure(word if is_hangul else other, reading) and any(alike(*pair) for pair in pairs):
                    matches[other] = None
        return list(matches)[:MAX_ALIKE]


def _runs(terms: Iterable[str]) -> list[str]:
    """Join the bigrams of each Hangul run again; ["토크", "크나"] gives "토크나"."""
    runs: list[str] = []
    run = ""
    for term in terms:
        if len(term) == 2 and is_hangul_run(term):
            if run and run[-1] == term[0]:
                run += term[1]
                continue
            runs.append(run)
            run = term
    return [without_particles(word, shortest=2) for word in (*runs, run) if len(word) > 2]
