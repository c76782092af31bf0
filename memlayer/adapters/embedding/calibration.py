"""Calibration of a model: background mean, language axis, cosine range.

Raw e5 cosines lie between 0.75 and 0.95 whatever the texts, and text in another language is always further away
than unrelated text in one's own. So from every vector the mean of background text is subtracted, then half of its
part along the axis on which Korean and English background text differ, and the rest is scaled to length 1.
models/README.md has the figures.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memlayer.adapters.embedding.model_folder import read_json, write_json
from memlayer.errors import EmbedderError
from memlayer.ports import Calibration, Vector

CALIBRATION_FILE = "calibration.json"
BACKGROUND_FILE = "background.jsonl"
PAIRS_FILE = "pairs.jsonl"
FLOOR = 0.4  # the relevance at which a recall lets a hit through by default
FALSE_ALARMS = 0.25  # the share of questions without an answer whose best hit may reach FLOOR: words decide as well
AXIS_REMOVED = 0.5  # all of it finds more across languages (first five .54 -> .67) but less within one (1.0 -> .92)
_CERTAIN = 0.75  # the quantile of true pairs that counts as relevance 1
DIGITS = 6

Matrix = NDArray[np.float32]  # one unit vector a row
Embed = Callable[[Sequence[str]], Matrix]
TextRow = dict[str, str]


@dataclass(frozen=True)
class Centring:
    """The mean background vector, and the language axis (() for none).

    The mean is of raw vectors. A vector loses its dot product with axis times axis: an axis of length 1 takes away its
    whole part in that direction, one of length sqrt(0.5) half of it.
    """

    mean: Vector
    axis: Vector
    calibration: Calibration


def centre(raw: Matrix, mean: Matrix, axis: Matrix) -> Matrix:
    """Center raw vectors (n x d) and scale them to length 1."""
    moved = raw - mean
    moved -= np.outer(moved @ axis, axis)
    centred: Matrix = moved / np.maximum(np.linalg.norm(moved, axis=1, keepdims=True), 1e-12)
    return centred


class CentredEmbedder:
    """Base of embedders whose raw vectors a calibration centres."""

    def __init__(self, fingerprint: str, centring: Centring) -> None:
        self.fingerprint, self.calibration = fingerprint, centring.calibration
        self.dimensions = len(centring.mean)
        self._mean: Matrix = np.asarray(centring.mean, dtype=np.float32)
        self._axis: Matrix = np.asarray(centring.axis or [0.0] * self.dimensions, dtype=np.float32)

    @property
    def place(self) -> str:
        """See Embedder."""
        return ""

    @property
    def problem(self) -> str:
        """See Embedder."""
        return ""

    def _centred(self, raw: Matrix) -> list[Vector]:
        return [tuple(row) for row in centre(raw, self._mean, self._axis).tolist()]


def read(folder: Path) -> Centring | None:
    """Read calibration.json; None without it. Raises EmbedderError when it is unsound."""
    path = folder / CALIBRATION_FILE
    if not path.exists():
        return None
    data = read_json(path)
    mean, axis, low, high = (data.get(key) for key in ("mean", "axis", "low", "high"))
    if not (
        isinstance(mean, list)
        and isinstance(axis, list)
        and len(axis) in (0, len(mean))
        and isinstance(low, float)
        and isinstance(high, float)
        and low < high
    ):
        raise EmbedderError(f"{path} lacks a sound mean, axis, low or high; fetch it again or remove it.")
    return Centring(_vector(mean), _vector(axis), Calibration(low, high, str(data.get("made") or "")))


def write(folder: Path, centring: Centring, made: str) -> None:
    """Write calibration.json, if the folder can be written. made: its origin."""
    known = centring.calibration
    data = {"made": made, "low": known.low, "high": known.high, "mean": centring.mean, "axis": centring.axis}
    write_json(folder / CALIBRATION_FILE, data)


def measure(embed_queries: Embed, embed_passages: Embed, corpus: Path) -> Centring:
    """Calibrate a model on the training half of the corpus folder.

    Given the model's raw vectors. The half has 670 short texts. The threshold is the cosine that the best of all
    background passages exceeds for only FALSE_ALARMS of the questions nobody has an answer to: a gate meets the best
    hit, not an average one. It becomes relevance FLOOR.
    """
    background = read_rows(corpus / BACKGROUND_FILE)
    training = [row for row in read_rows(corpus / PAIRS_FILE) if row["split"] == "train"]
    unanswered = [row["question"] for row in training if row["kind"] == "unanswered"]
    pairs = [row for row in training if row["kind"] == "pair"]
    raw = embed_passages([row["text"] for row in background])
    mean = np.round(raw.mean(axis=0), DIGITS)
    axis = _language_axis(raw, [row["language"] for row in background])

    def queries(rows: Sequence[str]) -> Matrix:
        return centre(embed_queries(rows), mean, axis)

    alarms = (queries(unanswered) @ centre(raw, mean, axis).T).max(axis=1)
    threshold = float(np.quantile(alarms, 1 - FALSE_ALARMS))
    passages = centre(embed_passages([row["passage"] for row in pairs]), mean, axis)
    true = (queries([row["question"] for row in pairs]) * passages).sum(axis=1)
    high = max(float(np.quantile(true, _CERTAIN)), threshold + 0.05)
    low = (threshold - FLOOR * high) / (1 - FLOOR)
    return Centring(_vector(mean.tolist()), _vector(axis.tolist()), Calibration(round(low, 4), round(high, 4)))


def read_rows(path: Path) -> list[TextRow]:
    """Read a JSON-lines file of the corpus. Raises EmbedderError."""
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, ValueError) as error:
        raise EmbedderError(f"The calibration corpus {path} is unreadable ({error}); reinstall it.") from error


def _language_axis(raw: Matrix, languages: Sequence[str]) -> Matrix:
    names = np.array(languages)
    between = raw[names == "ko"].mean(axis=0) - raw[names == "en"].mean(axis=0)
    unit = between / np.maximum(np.linalg.norm(between), 1e-12)
    axis: Matrix = np.round(unit * np.sqrt(np.float32(AXIS_REMOVED)), DIGITS)
    return axis


def _vector(values: Sequence[float]) -> Vector:
    return tuple(round(float(value), DIGITS) for value in values)
