"""Draws the figures of bench/latency.py as an SVG.

Recall and the prompt hook against the size of the store.

`python bench/plot_latency.py FIGURES.json PLOT.svg` draws figures that were kept.
"""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import click

os.environ.setdefault("MPLCONFIGDIR", tempfile.gettempdir())  # it wants to keep a font list somewhere

import matplotlib
from matplotlib.figure import Figure

GOAL_MS = 60
LEAST = 300  # where an empty store stands on a logarithmic axis
COLOURS = {"idle": "#0072b2", "busy": "#d55e00", "hook": "#009e73", "bare": "#666666"}
# The same figures give the same bytes; text stays text.
STYLE = {"svg.hashsalt": "memlayer", "svg.fonttype": "none", "font.family": "sans-serif", "axes.spines.top": False,
         "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25}  # fmt: skip


def draw(figures: dict[str, Any], path: Path) -> None:
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


@click.command()
@click.argument("figures", type=click.Path(exists=True, path_type=Path))
@click.argument("plot", type=click.Path(path_type=Path))
def main(figures: Path, plot: Path) -> None:
    """Draw kept figures."""
    draw(json.loads(figures.read_text()), plot)


if __name__ == "__main__":
    main()
