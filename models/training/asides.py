"""Fit what a prompt by itself tells of whether it asks a memory anything, into the calibration of the model that ships.

    PYTHONPATH=. python models/training/asides.py [--check]

A logistic regression on the vectors of prompts. On one side small talk and what is about no more than both have before
their eyes ("talk" and "here" in asides.jsonl), on the other what does ask a memory, though it is chatty, a word or two,
or about the past and no more ("work" there), and the prompts and questions of projects_apart.jsonl, which the encoder
was not trained on. Run it after answerable.py.

With --check nothing is written: the area under the curve alone, cross-validated.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace

import numpy as np
from answerable import FOLDS, MODEL, PROJECTS, embedded, questions
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from memlayer.adapters import calibration as calibrations

ASIDES = PROJECTS.with_name("asides.jsonl")
STRENGTH = 1.0  # scikit-learn's C: from 0.3 to 3 at most three in a hundred of other people's prompts change sides
CLOSE = 10.0  # what a prompt that only looks like an aside weighs: there are few of them beside those of the projects


def prompts() -> tuple[list[str], list[bool], list[float]]:
    """The prompts, whether each is an aside, and what it weighs."""
    texts, asides, weights = [], [], []
    for line in ASIDES.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        texts.append(found["prompt"])
        asides.append(found["kind"] != "work")
        weights.append(CLOSE if found["kind"] == "work" else 1.0)
    work, _, _ = questions()
    for line in PROJECTS.read_text(encoding="utf-8").splitlines():
        found = json.loads(line)
        if found.get("q"):  # thanks and orders have none
            work.append(found["passage"].removeprefix("User: ").partition("\nAssistant: ")[0])
    return [*texts, *work], [*asides, *(False for _ in work)], [*weights, *(1.0 for _ in work)]


def main() -> None:
    """Fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="report only")
    is_check = parser.parse_args().check
    texts, is_aside, weights = prompts()
    vectors, asides = embedded(texts), np.array(is_aside)
    regression = LogisticRegression(C=STRENGTH, class_weight="balanced", max_iter=5000)
    apart = cross_val_predict(
        regression, vectors, asides, params={"sample_weight": np.array(weights)},
        cv=StratifiedKFold(FOLDS, shuffle=True, random_state=0), method="decision_function",
    )  # fmt: skip
    caught, taken = (apart[asides] > 0).mean(), (apart[~asides] > 0).mean()
    area = roc_auc_score(asides, apart)
    print(f"{asides.sum()} asides, {(~asides).sum()} others: area {area:.4f}, {caught:.3f} caught, {taken:.4f} taken")
    if is_check:
        return
    regression.fit(vectors, asides, sample_weight=weights)
    centring = calibrations.read(MODEL)
    if centring is None or not centring.calibration.asks:
        raise SystemExit("the model's calibration is not whole yet; run models/training/answerable.py")
    head = tuple(float(value) for value in np.round(regression.coef_[0], calibrations.DIGITS))
    bias = round(float(regression.intercept_[0]), calibrations.DIGITS)
    known = replace(centring.calibration, asides=head, asides_bias=bias)
    calibrations.write(MODEL, replace(centring, calibration=known), "models/calibration, models/training")
    (MODEL / calibrations.CALIBRATION_FILE).chmod(0o644)  # it ships


if __name__ == "__main__":
    main()
