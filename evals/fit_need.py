"""Fit the two regressions of memlayer/give/candidate.py on the rows of real sessions.

`python evals/fit_need.py --set ROWS.jsonl LABELS.json [--set ...] [--silent 0.95]`

ROWS.jsonl: `evals/real.py --rows`. `need` is fitted on all prompts, one that depends on an earlier session counting
twice; `help` on the candidates of the prompts that need something. Prints the weights, the chance above which
that share of the prompts that need nothing stays silent, and the figures with whole sessions left out (8 folds).
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from evals.real_set import Given, Label, Turn, load_labels, score

FOLDS = 8
RIDGE = 2.0  # on standardised inputs
STEPS = 60
Row = dict[str, Any]
Array = NDArray[np.float64]


def logistic(inputs: Array, target: Array, weight: Array) -> Array:
    """Fit a ridge logistic regression by Newton's method.

    Returns its weights, the constant last. inputs: (rows, signals).
    """
    mean, deviation = inputs.mean(axis=0), inputs.std(axis=0) + 1e-9
    scaled = np.column_stack([(inputs - mean) / deviation, np.ones(len(inputs))])
    penalty = np.diag([RIDGE] * inputs.shape[1] + [0.0])
    found: Array = np.zeros(scaled.shape[1])
    for _ in range(STEPS):
        chance = 1 / (1 + np.exp(-scaled @ found))
        slope = scaled.T @ (weight * (target - chance)) - penalty @ found
        curve = (scaled * (weight * chance * (1 - chance))[:, None]).T @ scaled + penalty
        found += np.linalg.solve(curve + 1e-9 * np.eye(len(curve)), slope)
    slopes = found[:-1] / deviation
    return np.append(slopes, found[-1] - slopes @ mean)


def fit(rows: Sequence[tuple[Row, Label]]) -> tuple[Array, Array]:
    """The weights of need and of help."""
    asked = [(row, label) for row, label in rows if row["signals"] and not row["is_too_short"]]
    need = logistic(
        np.array([row["signals"] for row, _ in asked]),
        np.array([float(label.need > 0) for _, label in asked]),
        np.array([2.0 if label.need == 2 else 1.0 for _, label in asked]),
    )
    pairs = [
        (one["signals"], _value(one, label) == 2) for row, label in asked if label.need for one in row["candidates"]
    ]
    inputs, target = np.array([signals for signals, _ in pairs]), np.array([float(hit) for _, hit in pairs])
    return need, logistic(inputs, target, np.ones(len(target)))


def best(row: Row, need: Array, helps: Array) -> tuple[float, Sequence[int]]:
    """(chance, turns) of the best candidate of a prompt."""
    if not row["signals"] or row["is_too_short"] or not row["candidates"]:
        return 0.0, ()
    wanted = _chance(row["signals"], need)
    found = [(wanted * _chance(one["signals"], helps), one["turns"]) for one in row["candidates"]]
    return max(found, key=lambda pair: pair[0])


def _chance(signals: Sequence[float], weights: Array) -> float:
    return float(1 / (1 + np.exp(-(np.dot(signals, weights[:-1]) + weights[-1]))))


def _value(one: Row, label: Label) -> int:
    return max((label.turns.get(turn, 0) for turn in one["turns"]), default=0)


def left_out(rows: Sequence[tuple[Row, Label]]) -> list[tuple[float, Sequence[int]]]:
    """best() of each prompt, by weights fitted without its session."""
    names = list(dict.fromkeys(row["session"] for row, _ in rows))
    fold = {name: place % FOLDS for place, name in enumerate(names)}
    found: dict[int, tuple[float, Sequence[int]]] = {}
    for number in range(FOLDS):
        weights = fit([pair for pair in rows if fold[pair[0]["session"]] != number])
        for place, (row, _) in enumerate(rows):
            if fold[row["session"]] == number:
                found[place] = best(row, *weights)
    return [found[place] for place in range(len(rows))]


def threshold(found: Sequence[tuple[float, Sequence[int]]], rows: Sequence[tuple[Row, Label]], silent: float) -> float:
    """Return the least chance that silences enough prompts without need.

    silent: the share of them that stays silent.
    """
    idle = sorted(one[0] for one, (_, label) in zip(found, rows, strict=True) if label.need == 0)
    return idle[min(len(idle) - 1, int(silent * len(idle)))]


@click.command(help=__doc__)
@click.option("--set", "sets", multiple=True, nargs=2, type=click.Path(exists=True, path_type=Path), required=True)
@click.option("--silent", default=0.95, help="Share of the prompts that need nothing that stay silent.")
def main(sets: Sequence[tuple[Path, Path]], silent: float) -> None:
    rows: list[tuple[Row, Label]] = []
    for rows_file, labels_file in sets:
        labels = load_labels(labels_file)
        read = [json.loads(line) for line in rows_file.read_text("utf-8").splitlines()]
        rows += [(row, labels[row["n"]]) for row in read if row["n"] in labels]
    found = left_out(rows)
    for share in (0.90, 0.92, silent, 0.97):
        floor = threshold(found, rows, share)
        given = [
            Given(Turn(place, row["session"], 0, "", ""), (frozenset(turns),) if chance > floor else (), 0, 0.0)
            for place, ((chance, turns), (row, _)) in enumerate(zip(found, rows, strict=True))
        ]
        figures = score(given, {place: label for place, (_, label) in enumerate(rows)})
        print(f"{share:.2f} {floor:.3f}", {name: round(value, 1) for name, value in figures.items()})
    for name, weights in zip(("NEED", "HELP"), fit(rows), strict=True):
        print(name, "=", tuple(round(float(weight), 3) for weight in weights))


if __name__ == "__main__":
    main()
