"""Draw the figures of bench/latency.py or evals/locomo.py as an SVG.

`python bench/plot.py FIGURES.json PLOT.svg`: of latency, recall and the prompt hook against the size of the store; of
LoCoMo, each method by its share of found evidence, and by category of question.
"""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click

os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())  # it wants to keep a font list somewhere

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

METHOD_COLOURS = ("#0072b2", "#999999", "#e69f00", "#56b4e9")
MEASURES = ("any@1", "any@5", "any@10", "all@5", "session all@5")
BY_CATEGORY = "any@5"
WHOLE = "all"
GOAL_MS = 60
LEAST = 300  # where an empty store stands on a logarithmic axis
COLOURS = {"idle": "#0072b2", "busy": "#d55e00", "hook": "#009e73", "bare": "#666666"}
# The same figures give the same bytes; text stays text.
STYLE = {"svg.hashsalt": "memlayer", "svg.fonttype": "none", "font.family": "sans-serif", "axes.spines.top": False,
         "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}  # fmt: skip


def latency(figures: dict[str, Any], path: Path) -> None:
    """Write the plot of the figures of bench/latency.py."""
    sizes = list(figures["sizes"].values())
    counts = [max(LEAST, int(size)) for size in figures["sizes"]]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        for kind, label in (("idle", "idle"), ("busy", "while turns are taken in")):
            for key, line in (("p50_ms", "-"), ("p95_ms", "--")):
                values = [one[kind][key] for one in sizes]
                name = f"{label}, {key.removesuffix('_ms')}"
                left.plot(counts, values, line, marker="o", color=COLOURS[kind], label=name)
        left.axhline(GOAL_MS, color="black", linewidth=0.8, linestyle=":")
        left.annotate(f"goal for p95: {GOAL_MS} ms", (counts[0], GOAL_MS), xytext=(0, 3), textcoords="offset points",
                      fontsize=8)  # fmt: skip
        left.set_title("Recall in the daemon", loc="left", fontsize=10)
        for kind, label in (("hook", "prompt hook, whole process"), ("bare", "bare interpreter start")):
            values = [one["hook"][kind]["p50_ms"] for one in sizes]
            right.plot(counts, values, "-", marker="o", color=COLOURS[kind], label=f"{label}, p50")
        allowed = [3 * one["hook"]["bare"]["p50_ms"] for one in sizes]
        right.plot(counts, allowed, color="black", linewidth=0.8, linestyle=":", label="goal: three bare starts")
        right.set_title("Wait of a prompt", loc="left", fontsize=10)
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_xticks(counts, [f"{int(size):,}" for size in figures["sizes"]])
            axes.minorticks_off()
            axes.set_xlabel("chunks in the store")
            axes.set_ylabel("milliseconds")
            axes.set_ylim(bottom=0)
            axes.legend(fontsize=8, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def locomo(figures: dict[str, dict[str, dict[str, float]]], path: Path) -> None:
    """Write the plot of the figures of evals/locomo.py.

    figures: method -> category (or "all") -> measure -> percent.
    """
    categories = [name for name in next(iter(figures.values())) if name != WHOLE]
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        left, right = figure.subplots(1, 2)
        _bars(left, figures, MEASURES, lambda by_category, measure: by_category[WHOLE][measure])
        left.set_title("All questions", loc="left", fontsize=10)
        _bars(right, figures, categories, lambda by_category, category: by_category[category][BY_CATEGORY])
        right.set_title(f"{BY_CATEGORY}, by category", loc="left", fontsize=10)
        left.set_ylabel("percent of questions")
        left.legend(fontsize=8, frameon=False)
        figure.savefig(path, format="svg", metadata={"Date": None})


def _bars(axes: Axes, figures: dict[str, Any], groups: Any, value: Any) -> None:
    width = 0.8 / len(figures)
    for place, ((name, by_category), colour) in enumerate(zip(figures.items(), METHOD_COLOURS, strict=False)):
        at = [group + place * width for group in range(len(groups))]
        axes.bar(at, [value(by_category, group) for group in groups], width, label=name, color=colour)
    axes.set_xticks([group + 0.4 - width / 2 for group in range(len(groups))], groups, fontsize=8)
    axes.set_ylim(0, 100)


@click.command()
@click.argument("figures", type=click.Path(exists=True, path_type=Path))
@click.argument("plot", type=click.Path(path_type=Path))
def main(figures: Path, plot: Path) -> None:
    """Draw kept figures."""
    kept = json.loads(figures.read_text())
    (latency if "sizes" in kept else locomo)(kept, plot)


if __name__ == "__main__":
    main()
