"""Draws the figures of evals/locomo.py as an SVG.

Each method by its share of found evidence, and by category of question.

`python evals/plot_locomo.py FIGURES.json PLOT.svg` draws figures that were kept.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import click

os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())  # it wants to keep a font list somewhere

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.plot_latency import STYLE

COLOURS = ("#0072b2", "#999999", "#e69f00", "#56b4e9")
MEASURES = ("any@1", "any@5", "any@10", "all@5", "session all@5")
BY_CATEGORY = "any@5"
WHOLE = "all"


def draw(figures: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Write the plot.

    figures: method -> category (or "all") -> measure -> percent.
    """
    categories = [name for name in next(iter(figures.values())) if name != WHOLE]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _bars(left, figures, MEASURES, lambda found, measure: found[WHOLE][measure])
        left.set_title("All questions", loc="left", fontsize=10)
        _bars(right, figures, categories, lambda found, category: found[category][BY_CATEGORY])
        right.set_title(f"{BY_CATEGORY}, by category", loc="left", fontsize=10)
        left.set_ylabel("percent of questions")
        left.legend(fontsize=8, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _bars(axes: Axes, figures: dict[str, Any], groups: Any, value: Any) -> None:
    width = 0.8 / len(figures)
    for place, ((name, found), colour) in enumerate(zip(figures.items(), COLOURS, strict=False)):
        at = [group + place * width for group in range(len(groups))]
        axes.bar(at, [value(found, group) for group in groups], width, label=name, color=colour)
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(groups))], groups, fontsize=8)
    axes.set_ylim(0, 100)


@click.command()
@click.argument("figures", type=click.Path(exists=True, path_type=Path))
@click.argument("plot", type=click.Path(path_type=Path))
def main(figures: Path, plot: Path) -> None:
    """Draw kept figures."""
    draw(json.loads(figures.read_text()), plot)


if __name__ == "__main__":
    main()
