"""Fit what a question by itself tells of whether it was ever discussed, into the calibration of the model that ships.

    PYTHONPATH=. python models/training/answerable.py [--check]

A logistic regression on the vectors of the questions of projects_apart.jsonl, 40 whole projects that the encoder was
not trained on: those that a turn of theirs answers, and those that none does. "Why did we drop X?" takes for granted
that somebody did. Run it after models/calibration/make_calibration.py, which leaves this part out.

With --check nothing is written: the area under the curve alone, cross-validated over whole projects.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.progress import track
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold, cross_val_predict

from memlayer.adapters import calibration as calibrations
from memlayer.adapters.fastembed_embedder import load
from memlayer.adapters.model_folder import SHIPPED_MODEL

PROJECTS = Path(__file__).with_name("projects_apart.jsonl")
MODEL = PROJECTS.parents[1] / SHIPPED_MODEL
STRENGTH = 0.03  # scikit-learn's C: weaker ones are as good on other people's questions, stronger ones learn by heart
SHARE = 0.4  # of the fitted odds: the questions of other projects look like this one's own (docs/benchmarks.md)
FOLDS = 8


def questions() -> tuple[list[str], list[bool], list[str]]:
    """The questions, whether a turn answers them, and their projects."""
    asked, is_answered, projects = [], [], []
    for line in PROJECTS.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        for key, answered in (("q", True), ("absent", False)):
            for question in found.get(key, []):
                asked.append(question)
                is_answered.append(answered)
                projects.append(found["project"])
    return asked, is_answered, projects


def embedded(texts: list[str]) -> NDArray[np.float32]:
    """One centred unit vector a row."""
    with tempfile.TemporaryDirectory() as cache:
        embedder = load(SHIPPED_MODEL, cache)
        return np.asarray([embedder.embed_query(text) for text in track(texts, "questions")], dtype=np.float32)


def main() -> None:
    """Fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="report only")
    is_check = parser.parse_args().check
    asked, is_answered, projects = questions()
    vectors, answered = embedded(asked), np.array(is_answered)
    regression = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=3000)
    apart = cross_val_predict(
        regression, vectors, answered, groups=np.array(projects), cv=GroupKFold(FOLDS), method="decision_function"
    )
    print(f"{len(asked)} questions, {answered.sum()} answered: area {roc_auc_score(answered, apart):.3f}")
    if is_check:
        return
    regression.fit(vectors, answered)
    centring = calibrations.read(MODEL)
    if centring is None:
        raise SystemExit("the model has no calibration yet; run models/calibration/make_calibration.py")
    asks = tuple(float(value) for value in np.round(SHARE * regression.coef_[0], calibrations.DIGITS))
    bias = round(SHARE * float(regression.intercept_[0]), calibrations.DIGITS)
    known = replace(centring.calibration, asks=asks, asks_bias=bias)
    calibrations.write(MODEL, replace(centring, calibration=known), "models/calibration, models/training/answerable.py")
    (MODEL / calibrations.CALIBRATION_FILE).chmod(0o644)  # it ships


if __name__ == "__main__":
    main()
