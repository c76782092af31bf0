"""Lexical search in memory: postings of recently searched projects, and BM25.

1,000 chunks: under a millisecond on one core, where the table's full-text search takes eight to fifteen on both.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from memlayer.adapters.search.project_rows import ProjectRows
from memlayer.ports import Holding
from memlayer.text.korean import without_particles
from memlayer.text.sounds import alike, english_readings, hangul_readings, is_hangul_run, is_sure, key_of
from memlayer.text.terms import K1, B, inverse_document_frequency

MAX_WORDS = 30_000  # heard, alike or not. Later ones are not: it bounds the time of loading and 6 MB
MAX_ALIKE = 3
_BYTES_PER_SOUND = 200

_MOST_COUNTED = 255  # of one word in one chunk
_COUNT_BITS = 8
_BYTES_PER_POSTING, _BYTES_PER_WORD, _BYTES_PER_ROW = 5, 210, 80
_PACKED_ROWS = 8192  # rows at the end whose postings still grow. More of them are packed
_BYTES_PER_PACKED_POSTING, _BYTES_PER_PACKED_WORD = 4, 12
_BLOCK_ROWS = 256
_NOWHERE = array("I")


Posting = NDArray[np.uint32]  # row and count in one number, rows ascending


class WordSounds:
    """English words and runs of Hangul by the classes of their consonants."""

    def __init__(self) -> None:
        self._english: dict[str, list[str]] = {}
        self._hangul: dict[str, list[str]] = {}
        self._heard: set[str] = set()

    @property
    def nbytes(self) -> int:
        return len(self._heard) * _BYTES_PER_SOUND

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


class _Packed:
    """Postings in arrays: a dictionary takes 210 bytes a word."""

    def __init__(self, postings: "dict[str, array[int]]") -> None:
        keys = np.fromiter(map(hash, postings), np.int64, len(postings))  # 64 bits, of use in this process alone
        order = np.argsort(keys)
        arrays = [np.frombuffer(posting, np.uint32) for posting in postings.values()]
        self._keys = keys[order]
        self._ends = np.cumsum([len(arrays[place]) for place in order], dtype=np.uint32)
        self._flat: Posting = np.concatenate([arrays[place] for place in order])

    @property
    def nbytes(self) -> int:
        return len(self._flat) * _BYTES_PER_PACKED_POSTING + len(self._keys) * _BYTES_PER_PACKED_WORD

    def of(self, keys: NDArray[np.int64]) -> list[Posting]:
        """Return the postings of the words with these hashes."""
        places = np.searchsorted(self._keys, keys)
        places[places == len(self._keys)] = 0
        there = (self._keys[places] == keys).tolist()
        starts, ends = self._ends[places - 1], self._ends[places]
        starts[places == 0] = 0
        bounds = zip(there, starts.tolist(), ends.tolist(), strict=True)
        return [self._flat[start:end] if is_there else self._flat[:0] for is_there, start, end in bounds]


class ProjectWords(ProjectRows):
    """One project's words by chunk."""

    def __init__(self, packed_rows: int = _PACKED_ROWS) -> None:
        """packed_rows: after so many rows their postings are packed."""
        super().__init__()
        self._packed_rows = packed_rows
        self._packed: list[_Packed] = []
        self._postings: dict[str, array[int]] = {}  # of the rows behind the packed ones
        self._first = 0  # of them
        self._lengths = array("I")
        self._alive_words = 0  # the sum of their lengths
        self._known_norms: NDArray[np.float32] | None = None
        self._counted: dict[str, int] = {}  # rows that hold each word of the last search
        self._posted = 0
        self._sounds = WordSounds()

    @property
    def nbytes(self) -> int:
        return (
            sum(packed.nbytes for packed in self._packed)
            + self._posted * _BYTES_PER_POSTING
            + len(self._postings) * _BYTES_PER_WORD
            + len(self._lengths) * _BYTES_PER_ROW
            + self._sounds.nbytes
        )

    def put(self, ids: Sequence[str], session_ids: Sequence[str], terms: Sequence[str]) -> None:
        """Add rows, or replace them by id. terms: split by spaces."""
        self._counted = {}
        self.remove(ids)
        self.extend(ids, session_ids)
        for text in terms:
            row = len(self._lengths)
            words = text.split()
            self._sounds.hear(words)
            for word, count in Counter(words).items():
                posting = self._postings.get(word)
                if posting is None:
                    posting = self._postings[word] = array("I")
                posting.append(row << _COUNT_BITS | min(count, _MOST_COUNTED))
                self._posted += 1
            self._lengths.append(len(words))
            self._alive_words += len(words)
            if len(self._lengths) - self._first >= self._packed_rows:
                self._pack()

    def remove(self, ids: Sequence[str]) -> NDArray[np.intp]:
        gone = super().remove(ids)
        for row in gone.tolist():
            self._alive_words -= self._lengths[row]
            self._counted, self._known_norms = {}, None
        return gone

    def best(self, words: str, limit: int, session_id: str, excluded_session_id: str) -> list[tuple[float, str]]:
        """Return (BM25, id) of the best rows with any word; see text.terms.bm25."""
        wanted = list(dict.fromkeys(words.split()))
        postings = self._postings_of(wanted)
        counted = [self._count(posting) for posting in postings]
        self._counted = dict(zip(wanted, counted, strict=True))
        if not any(counted) or limit < 1:
            return []
        rarity = np.array([inverse_document_frequency(len(self), holding) for holding in counted])
        flat = np.concatenate(postings)  # one pass over all words is four times as quick as one over each
        rows, counts = (flat >> _COUNT_BITS).astype(np.int64), flat & _MOST_COUNTED
        weighted = np.repeat(rarity * (K1 + 1), [len(posting) for posting in postings]) * counts
        scores = np.asarray(
            np.bincount(rows, weighted / (counts + self._norms()[rows]), len(self._lengths)), np.float64
        )
        allowed = self.allowed(session_id, excluded_session_id)
        if allowed is not None:
            scores[~allowed] = 0
        return [(float(scores[row]), self.id_of(row)) for row in _best(scores, limit)]

    def holding(self, terms: Iterable[str]) -> Holding:
        """Count the rows that hold each term."""
        wanted = list(terms)
        counts = {word: self._counted[word] for word in wanted if word in self._counted}
        if len(counts) < len(wanted):
            unknown = [word for word in wanted if word not in counts]
            counts.update(zip(unknown, map(self._count, self._postings_of(unknown)), strict=True))
        return Holding(len(self), counts)

    def sounding_like(self, words: Iterable[str]) -> dict[str, list[str]]:
        """Return words of the other script by sound."""
        return {word: alike for word in words if (alike := self._sounds.alike(word))}

    def _postings_of(self, words: Iterable[str]) -> list[Posting]:
        """Return the postings of each word, in the order of the words."""
        wanted = list(words)
        keys = np.fromiter(map(hash, wanted), np.int64, len(wanted))
        parts = [packed.of(keys) for packed in self._packed]
        parts.append([np.frombuffer(self._postings.get(word, _NOWHERE), np.uint32) for word in wanted])
        return [
            np.concatenate([part for part in postings if len(part)] or postings[:1])
            for postings in zip(*parts, strict=True)
        ]

    def _count(self, posting: Posting) -> int:
        """Count the rows of a posting that are alive."""
        if len(self) == self.rows:
            return len(posting)
        return int(self.are_alive(posting >> _COUNT_BITS).sum())

    def _norms(self) -> NDArray[np.float32]:
        """Return each row's length normalization, which BM25 adds to a count."""
        if self._known_norms is None or len(self._known_norms) != len(self._lengths):
            shortness = K1 * B * len(self) / max(1, self._alive_words)
            lengths = np.frombuffer(self._lengths, np.uint32)
            self._known_norms = (K1 * (1 - B) + shortness * lengths).astype(np.float32)
        return self._known_norms

    def _pack(self) -> None:
        if self._postings:
            self._packed.append(_Packed(self._postings))
        self._postings, self._posted, self._first = {}, 0, len(self._lengths)


def _best(scores: NDArray[np.float64], limit: int) -> list[int]:
    """Return the rows with the best scores above zero, best first."""
    least = 0.0
    blocks = len(scores) // _BLOCK_ROWS
    if blocks > limit:  # so many blocks hold something better than `least`, so that no row below it is among the best
        tops = scores[: blocks * _BLOCK_ROWS].reshape(blocks, _BLOCK_ROWS).max(axis=1)
        least = float(np.partition(tops, blocks - limit)[blocks - limit])
    rows = np.flatnonzero((scores >= least) & (scores > 0))
    if len(rows) > limit:
        rows = rows[np.argpartition(scores[rows], len(rows) - limit)[len(rows) - limit :]]
    best: list[int] = rows[np.argsort(-scores[rows], kind="stable")].tolist()
    return best
