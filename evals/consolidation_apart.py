"""Count merges and supersessions between statements of different turns.

Such statements have hardly anything to do with each other.

`python evals/consolidation_apart.py [--without-vectors] [--failures]`. Every statement that is labelled in the turns is
compared with its nearest ones from other turns, as the consolidator does. A found pair is not always wrong: two of the
invented turns may speak of the same thing.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from evals.consolidation import MODEL, rows  # noqa: E402
from memlayer.consolidation.conflict.compare import KEEP, judge  # noqa: E402
from memlayer.text.terms import index_terms  # noqa: E402

NEAREST = 12
Said = tuple[int, str]  # (turn, statement)
Pair = tuple[str, str, float | None]  # (older, newer, relevance)


def statements(limit: int = 0) -> list[Said]:
    """Return the labelled statements of the turns.

    limit: of the first so many, 0 for all.
    """
    turns = rows("turns.jsonl", "all")[: limit or None]
    return [(int(row["id"]), label["text"]) for row in turns for label in row["keep"]]


def nearest_by_words(said: Sequence[Said]) -> Iterator[Pair]:
    """Yield each statement with similar ones of later turns.

    These share the largest part of their words.
    """
    terms = [frozenset(index_terms(text).split()) for _, text in said]
    for at, (turn, text) in enumerate(said):
        later = [other for other in range(len(said)) if said[other][0] > turn and terms[at] & terms[other]]
        later.sort(key=lambda other: -len(terms[at] & terms[other]) / len(terms[at] | terms[other]))
        yield from ((text, said[other][1], None) for other in later[:NEAREST])


def nearest_by_meaning(said: Sequence[Said]) -> Iterator[Pair]:
    """Yield each statement with its nearest ones by the vectors.

    Only those of a later turn, with their similarity, by the model that ships.
    """
    import numpy as np

    from memlayer.adapters.embedding.fastembed_embedder import load

    with tempfile.TemporaryDirectory() as cache:
        embedder = load(MODEL, cache)
        vectors = np.array(embedder.embed_passages([text for _, text in said]))
    cosines = vectors @ vectors.T
    for at, (turn, text) in enumerate(said):
        for other in np.argsort(-cosines[at])[: NEAREST + 1]:
            if said[other][0] > turn:
                yield text, said[other][1], embedder.calibration.position(float(cosines[at, other]))


def judged(pairs: Iterator[Pair]) -> tuple[Counter[str], list[str]]:
    """Return (how many of each verdict, pairs not kept apart)."""
    verdicts: Counter[str] = Counter()
    taken = []
    for older, newer, relevance in pairs:
        verdict = judge(older, newer, relevance)
        verdicts[verdict.verdict] += 1
        if verdict.verdict != KEEP:
            taken.append(f"{verdict.verdict} {verdict.reasons} {relevance}\n    {older}\n    {newer}")
    return verdicts, taken


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--without-vectors", action="store_true", help="do not load the embedding model")
    parser.add_argument("--failures", action="store_true", help="list pairs that were not kept apart")
    chosen = parser.parse_args()
    said = statements()
    ways = {"nearest by words": nearest_by_words(said)}
    if not chosen.without_vectors:
        ways["nearest by meaning"] = nearest_by_meaning(said)
    for way, pairs in ways.items():
        verdicts, taken = judged(pairs)
        print(f"{way:20}{len(said):6} statements{sum(verdicts.values()):8} pairs  {dict(verdicts)}")
        if chosen.failures:
            print(*taken, sep="\n")


if __name__ == "__main__":
    main()
