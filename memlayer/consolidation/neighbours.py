"""The core memories nearest to a statement: by meaning when there is an embedder, by words in any case."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from memlayer.consolidation.draft import Draft
from memlayer.errors import EmbedderError
from memlayer.model import Hit, Memory, Scope
from memlayer.ports import Embedder, Store, Vector
from memlayer.text.terms import index_terms

NEAREST = 12  # by each of the two ways
Neighbour = tuple[Memory, float | None]  # relevance on the calibrated scale, not cut off at 1; None: not known


@dataclass(frozen=True)
class Neighbours:
    """Finds what a new statement may repeat or change."""

    store: Store
    embedder: Callable[[], Embedder | None]
    vectors_of: Callable[[list[str]], list[Vector]]  # of passages; [] without an embedder

    def near(self, new: Memory, draft: Draft) -> list[Neighbour]:
        """Current core memories of the same project, nearest first; `draft` holds what is not in the store yet."""
        embedder = self.embedder()
        vector = self._vector(embedder, new, draft)
        scope = Scope((new.project_id,), extra={"category": "core"})
        relevance: dict[str, float | None] = {}
        farthest: float | None = None
        if embedder is not None and vector is not None:
            hits = self.store.search_vector(vector, embedder.fingerprint, scope, NEAREST)
            for hit in hits:
                found = embedder.calibration.position(hit.cosine or 0.0)
                known = relevance.get(hit.chunk.memory_id)
                relevance[hit.chunk.memory_id] = found if known is None else max(found, known)
            if len(hits) == NEAREST:  # what is not among them is at most as near as the last
                farthest = min(value for value in relevance.values() if value is not None)
        for hit in self.store.search_text(sorted(set(index_terms(new.text).split())), scope, NEAREST):
            relevance.setdefault(hit.chunk.memory_id, self._bound(hit, embedder, farthest))
        for pending in draft.memories.values():
            if pending.category == "core" and pending.project_id == new.project_id:
                other = draft.vectors.get(pending.id)
                near = None
                if embedder is not None and vector is not None and other is not None:
                    cosine = sum(a * b for a, b in zip(vector, other, strict=True))
                    near = embedder.calibration.position(cosine)
                relevance[pending.id] = near if near is not None else relevance.get(pending.id)
        relevance.pop(new.id, None)
        current = [one for one in draft.get(relevance) if not one.superseded_by and one.project_id == new.project_id]
        return sorted(
            ((one, relevance[one.id]) for one in current), key=lambda pair: (-(pair[1] or 0.0), -pair[0].at_ms)
        )

    def _vector(self, embedder: Embedder | None, new: Memory, draft: Draft) -> Vector | None:
        if embedder is None:
            return None
        try:
            made = self.vectors_of([new.text])
        except EmbedderError:
            return None
        if not made:
            return None
        draft.vectors[new.id] = made[0]
        return made[0]

    def _bound(self, hit: Hit, embedder: Embedder | None, farthest: float | None) -> float | None:
        return farthest if embedder is not None and hit.chunk.model == embedder.fingerprint else None
