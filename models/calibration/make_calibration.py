"""Make calibration.json of the model that ships.

Reports how well its relevance separates answers from noise.

From the top of a clone:  PYTHONPATH=. python models/calibration/make_calibration.py [--check]
With --check nothing is written: only the report on the test half of the corpus.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from fastembed import TextEmbedding
from fastembed.common.model_description import ModelSource, PoolingType

from memlayer.adapters.embedding import calibration as calibrations
from memlayer.adapters.embedding.calibration import Centring, Matrix, TextRow
from memlayer.adapters.embedding.model_folder import SHIPPED_MODEL, Recipe, read_recipe

CORPUS = Path(__file__).resolve().parent
MODEL = CORPUS.parent / SHIPPED_MODEL
PAIR_LANGUAGES = ("ko->ko", "en->en", "ko->en", "en->ko", "mixed")
UNANSWERED_TOPICS = ("small_talk", "command", "off_topic", "undiscussed")


class RawModel:
    """The shipped model without centring."""

    def __init__(self, recipe: Recipe, cache_dir: str) -> None:
        TextEmbedding.add_custom_model(
            model=recipe.name,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=recipe.name),
            dim=384,
            model_file=recipe.model_file,
        )
        self._recipe = recipe
        self._model = TextEmbedding(recipe.name, specific_model_path=str(MODEL), cache_dir=cache_dir, threads=1)

    def queries(self, texts: Sequence[str]) -> Matrix:
        """One raw unit vector a row."""
        return self._embed(self._recipe.query_prefix, texts)

    def passages(self, texts: Sequence[str]) -> Matrix:
        """One raw unit vector a row."""
        return self._embed(self._recipe.passage_prefix, texts)

    def _embed(self, prefix: str, texts: Sequence[str]) -> Matrix:
        return np.asarray(list(self._model.embed([prefix + text for text in texts], batch_size=1)), dtype=np.float32)


def report(model: RawModel, centring: Centring) -> None:
    """Print, for the test half, the pass rates at the floor.

    By kind of question; the other transforms for comparison.
    """
    background = calibrations.read_rows(CORPUS / calibrations.BACKGROUND_FILE)
    rows = [row for row in calibrations.read_rows(CORPUS / calibrations.PAIRS_FILE) if row["split"] == "test"]
    raw_queries = model.queries([row["question"] for row in rows])
    raw_passages = model.passages([row["passage"] for row in rows])
    raw_pool = model.passages([row["text"] for row in background])
    mean = np.asarray(centring.mean, dtype=np.float32)
    axis = np.asarray(centring.axis, dtype=np.float32)
    nothing = np.zeros_like(mean)
    relevance = centring.calibration.relevance
    threshold = centring.calibration.low + calibrations.FLOOR * (centring.calibration.high - centring.calibration.low)
    print(f"floor {calibrations.FLOOR} = cosine {threshold:.3f}; relevance of cosine 0.5: {relevance(0.5):.2f}")
    for name, steps in (("raw", (nothing, nothing)), ("mean", (mean, nothing)), ("mean and axis", (mean, axis))):
        queries, passages, pool = (calibrations.centre(raw, *steps) for raw in (raw_queries, raw_passages, raw_pool))
        true = (queries * passages).sum(axis=1)
        scores = queries @ pool.T
        _print_table(name, rows, true, scores, threshold if name == "mean and axis" else None)


def _print_table(name: str, rows: Sequence[TextRow], true: Matrix, scores: Matrix, threshold: float | None) -> None:
    kinds = np.array([row["kind"] for row in rows])
    languages = np.array([row["languages"] for row in rows])
    topics = np.array([row["topic"] for row in rows])
    best = scores.max(axis=1)
    rank = (scores > true[:, None]).sum(axis=1)
    if threshold is None:  # the cosine that gives the raw model the false alarms we aim at, on these very questions
        threshold = float(np.quantile(best[kinds == "unanswered"], 1 - calibrations.FALSE_ALARMS))
    print(f"\n{name}: threshold {threshold:.3f}")
    for pair in PAIR_LANGUAGES:
        chosen = (kinds == "pair") & (languages == pair)
        found = float((rank[chosen] < 5).mean())
        passed = float((true[chosen] >= threshold).mean())
        print(f"  {pair:7} n={chosen.sum():3}  in the first five {found:.2f}  answer above the floor {passed:.2f}")
    for topic in UNANSWERED_TOPICS:
        for language in ("ko", "en"):
            chosen = (kinds == "unanswered") & (topics == topic) & (languages == language)
            alarms = float((best[chosen] >= threshold).mean())
            print(f"  {topic:11} {language} n={chosen.sum():3}  best hit above the floor {alarms:.2f}")
    everything = float((best[kinds == "unanswered"] >= threshold).mean())
    print(f"  all questions without an answer: {everything:.2f}")


def main() -> None:
    """Measure, store, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="report only")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as cache_dir:
        model = RawModel(read_recipe(MODEL), cache_dir)
        centring = calibrations.read(MODEL) if arguments.check else None
        if centring is None:
            centring = calibrations.measure(model.queries, model.passages, CORPUS)
            calibrations.write(MODEL, centring, "models/calibration/make_calibration.py")
            (MODEL / calibrations.CALIBRATION_FILE).chmod(0o644)  # it ships
        report(model, centring)


if __name__ == "__main__":
    main()
