"""Document frequencies of terms in a fixed-size sketch, without an index."""

from __future__ import annotations

import threading
import zlib
from array import array
from collections.abc import Iterable
from pathlib import Path

from memlayer.edge.home import paths
from memlayer.ports import Holding, Store
from memlayer.text.terms import inverse_document_frequency

BUCKETS = 1 << 18  # 1 MB; at 200,000 different terms two share a bucket about every second time, and only raise a count
RECENT = 500  # chunks whose terms can still be taken back
PSEUDO_DOCUMENTS = 1000  # that hold none of the terms
_MAGIC = b"memlayer-terms-1\n"


def term_weight(documents: int, holding: int) -> float:
    """Return the inverse document frequency over a corpus enlarged by PSEUDO_DOCUMENTS.

    Without them a store of five memories would take every word it holds for a common one.
    """
    return inverse_document_frequency(documents + PSEUDO_DOCUMENTS, holding)


class TermStats:
    """Document frequencies over all projects; no term can be read back. Thread-safe."""

    def __init__(self) -> None:
        self._counts = array("I", bytes(4 * BUCKETS))
        self._documents = 0
        self._recent: dict[str, frozenset[int]] = {}
        self._lock = threading.Lock()

    @property
    def documents(self) -> int:
        """Chunks counted."""
        return self._documents

    def add(self, chunk_id: str, terms: Iterable[str]) -> None:
        """Count one chunk's terms; a chunk counted anew soon after replaces itself."""
        buckets = frozenset(_bucket(term) for term in terms)
        with self._lock:
            before = self._recent.pop(chunk_id, None)
            if before is None:
                self._documents += 1
            for bucket in buckets - (before or frozenset()):
                self._counts[bucket] += 1
            for bucket in (before or frozenset()) - buckets:
                self._counts[bucket] = max(0, self._counts[bucket] - 1)
            self._recent[chunk_id] = buckets
            if len(self._recent) > RECENT:
                del self._recent[next(iter(self._recent))]

    def weights(self, terms: Iterable[str], project: Holding | None = None) -> dict[str, float]:
        """Return term -> weight; half of it by the project's chunks."""
        weights = {term: term_weight(self._documents, self._counts[_bucket(term)]) for term in terms}
        if project is None:
            return weights
        own = {term: term_weight(project.chunks, project.by_term.get(term, 0)) for term in weights}
        return {term: (weight + own[term]) / 2 for term, weight in weights.items()}

    @classmethod
    def counted(cls, store: Store) -> TermStats:
        """Count anew over all chunks of the store."""
        stats = cls()
        store.scan_terms(lambda chunk_id, terms: stats.add(chunk_id, terms.split()))
        stats._recent.clear()
        return stats

    def save(self, path: Path) -> None:
        """Write the counts to a file. Raises OSError."""
        with self._lock:
            data = _MAGIC + b"%d\n" % self._documents + zlib.compress(self._counts.tobytes(), 1)
        paths.write_whole(str(path), data)

    @classmethod
    def load(cls, path: Path, documents: int) -> TermStats | None:
        """Load saved counts if whole and of about the present size."""
        stats = cls()
        try:
            magic, counted, packed = path.read_bytes().split(b"\n", 2)
            raw = zlib.decompress(packed)
            counted_documents = int(counted)
        except (OSError, ValueError, zlib.error):
            return None
        if magic + b"\n" != _MAGIC or len(raw) != 4 * BUCKETS or abs(counted_documents - documents) > documents * 0.05:
            return None
        stats._counts = array("I", raw)
        stats._documents = counted_documents
        return stats


def _bucket(term: str) -> int:
    return zlib.crc32(term.encode("utf-8", "surrogatepass")) & (BUCKETS - 1)
