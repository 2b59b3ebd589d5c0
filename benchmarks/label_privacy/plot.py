"""Accuracy against the number of classes as SVG; needs matplotlib, of the extra `dev`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from audit.errors import MissingExtra
from benchmarks.label_privacy.synthetic import Cell
from benchmarks.label_privacy.verdicts import interval

LINES = {
    "Bayes": ("0.6", ":"),
    "RR": ("tab:red", "-"),
    "LP-2ST": ("tab:orange", "-"),
    "ALIBI uniform": ("tab:green", "--"),
    "ALIBI 5 rounds": ("tab:green", "-"),
    "vector": ("tab:blue", "-"),
    "vector 5 rounds": ("tab:blue", "--"),
}


def accuracy_plot(found: Mapping[Cell, Mapping[str, np.ndarray]], path: Path) -> None:
    """Draw a panel for every (epsilon, k) and both spreads, sigma = 0.05 above 2 / K; write SVG to `path`.

    Raises
    ------
    MissingExtra
        Without matplotlib.
    """
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra.of("matplotlib", "dev") from None
    columns = sorted({(cell.epsilon, cell.n_neighbors) for cell in found})
    figure = Figure(figsize=(2.6 * len(columns), 5.2), layout="constrained")
    axes = figure.subplots(2, len(columns), sharex=True, sharey=True, squeeze=False)
    for row, column in np.ndindex(axes.shape):
        axis, (epsilon, k) = axes[row, column], columns[column]
        shown = [cell for cell in found if (cell.epsilon, cell.n_neighbors) == (epsilon, k)]
        along = [cell for cell in shown if cell.sigma == (2 / cell.n_classes if row else 0.05)]
        cells = sorted(along, key=lambda cell: cell.n_classes)
        for name, (color, style) in LINES.items():
            points = [interval(found[cell][name]) for cell in cells]
            classes = [cell.n_classes for cell in cells]
            axis.errorbar(classes, *np.array(points).T, color=color, linestyle=style, linewidth=1.2, label=name)
        axis.set_title(f"σ = {'2 / K' if row else '0.05'}, ε = {epsilon:g}, k = {k}", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("classes K", fontsize=8)
    for axis in axes[:, 0]:
        axis.set_ylabel("accuracy", fontsize=8)
    axes[0, 0].legend(fontsize=6)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "label privacy"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
