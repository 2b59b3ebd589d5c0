"""Draw a result with matplotlib, where it is installed: the pictures of its page, and a histogram of outputs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np

from audit.api import errors, summary, view

_SHOWN, _BINS = 5_000, 60  # outputs on each dataset; bins of a histogram
_WIDTH, _HEIGHT = 4.6, 3.6  # inches of a picture


def draw(result: Any, seed: int = 0) -> Any:
    """Return a matplotlib figure of a result."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise errors.MissingExtra("`plot` needs `matplotlib`: type: python -m pip install matplotlib") from error

    class Picture(Figure):
        """A figure that a notebook shows without pyplot."""

        def _repr_png_(self) -> bytes:
            content = BytesIO()
            self.savefig(content, format="png")
            return content.getvalue()

    drawings = list_drawings(result, seed)
    rows, columns = max(1, -(-len(drawings) // 2)), min(2, max(1, len(drawings)))
    figure = Picture(figsize=(_WIDTH * columns, _HEIGHT * rows), layout="constrained")
    for number, drawing in enumerate(drawings or [hide]):
        drawing(figure.add_subplot(rows, columns, number + 1))
    figure.suptitle(f"{result.name}: {result.verdict}")
    if is_hidden():
        sys.modules["IPython"].display.display(figure)
    return figure


def is_hidden() -> bool:
    """Return whether this is a notebook's cell that ends in a semicolon, which would show no returned figure."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and bool(shell.displayhook.quiet())


def list_drawings(result: Any, seed: int) -> list[Callable[[Any], None]]:
    """Return functions that draw the parts of a result into the axes that they are given."""
    drawings: list[Callable[[Any], None]] = []
    if (outputs := draw_outputs(result, seed)) is not None:
        drawings.append(partial(_draw_histogram, outputs=outputs, witness=result.witness))
    if hasattr(result.check, "scores_in"):
        scores = np.asarray(result.check.scores_in, dtype=float), np.asarray(result.check.scores_out, dtype=float)
        drawings.append(partial(_draw_roc, scores=scores))
    drawings += [partial(_draw_plot, plot=plot) for plot in summary.find_view(result.record()).list_pictures()]
    if (ledger := getattr(result, "ledger", None)) is not None and ledger.draws:
        drawings.append(partial(_draw_ledger, ledger=ledger))
    return drawings


def hide(place: Any) -> None:
    """Say that there is nothing to draw."""
    place.set_axis_off()
    place.text(0.5, 0.5, "This kind of check has no picture.", ha="center")


def draw_outputs(result: Any, seed: int) -> tuple[np.ndarray, np.ndarray] | None:
    """Draw outputs on both datasets of the pair of a result; None where they are not single numbers."""
    mechanism, pairs = getattr(result.check, "mechanism", None), getattr(result.check, "pairs", ())
    if not callable(mechanism) or not pairs:
        return None
    pair = result.witness.pair if getattr(result, "witness", None) is not None else pairs[0]
    rng = np.random.default_rng(seed)
    try:
        left, right = (np.asarray(mechanism(side, _SHOWN, rng), dtype=float) for side in pair)
    except Exception:  # of the code under audit, or of outputs that are not numbers
        return None
    return (left, right) if left.ndim == right.ndim == 1 else None


def _draw_histogram(place: Any, outputs: tuple[np.ndarray, np.ndarray], witness: Any) -> None:
    """Draw the outputs on both datasets, and mark those in the event of a witness."""
    both = np.concatenate(outputs)
    low, high = np.quantile(both[np.isfinite(both)], [0.002, 0.998])
    bins = np.linspace(low, high if high > low else low + 1, _BINS)
    for name, side, color in zip(("left", "right"), outputs, ("C0", "C1"), strict=True):
        place.hist(side, bins, histtype="step", color=color, label=f"outputs on {name}")
        if witness is not None and witness.event is not None:
            place.hist(side[witness.event(side)], bins, color=color, alpha=0.4)
    if witness is not None:
        place.plot([], [], color="gray", linewidth=6, alpha=0.4, label=f"event: {witness.text}"[:60])
    place.set(title="Outputs", xlabel="output", ylabel=f"of {_SHOWN:,}")
    place.legend(fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.18))


def _draw_roc(place: Any, scores: tuple[np.ndarray, np.ndarray]) -> None:
    """Draw the shares of included and of left-out canaries above each threshold."""
    thresholds = np.unique(np.concatenate(scores))
    included, left_out = (1 - np.searchsorted(np.sort(each), thresholds) / len(each) for each in scores)
    place.plot(np.append(left_out, 0), np.append(included, 0), label="scores")
    place.plot([0, 1], [0, 1], color="gray", linestyle="dotted", label="chance")
    place.set(title="ROC of the scores", xlabel="left out, above the threshold", ylabel="included, above it")
    place.legend(fontsize="small", loc="lower right")


def _draw_ledger(place: Any, ledger: Any) -> None:
    """Draw the cost of each line of code that draws noise as a bar."""
    names = [f"{draw.place}: {draw.noise}" for draw in ledger.draws]
    bars = place.barh(range(len(names)), [draw.spends for draw in ledger.draws], height=0.5, alpha=0.6)
    place.bar_label(bars, names, label_type="center", fontsize="small")
    unit = "mu" if all(draw.is_gaussian for draw in ledger.draws) else "epsilon"
    place.set(
        title="Ledger of the code",
        xlabel=f"{unit} that a line spends",
        yticks=[],
        ylim=(max(len(names), 4) - 0.5, -0.5),
    )


def _draw_plot(place: Any, plot: view.Plot) -> None:
    """Draw a picture of the page."""
    named: set[str] = set()
    for mark in plot.marks:
        x, y = zip(*mark.points, strict=True)
        label = mark.text if mark.text not in named else ""
        named.add(mark.text)
        if mark.form == "area":
            place.fill(x, y, alpha=0.2, label=label)
        elif mark.form == "dot":
            place.plot(x, y, "o", label=label)
        else:
            place.plot(x, y, label=label)
    place.set(title=plot.title, xlabel=plot.x.label, ylabel=plot.y.label)
    place.set(xlim=(plot.x.low, plot.x.high), ylim=(plot.y.low, plot.y.high))
    place.set(xscale="log" if plot.x.log else "linear", yscale="log" if plot.y.log else "linear")
    if place.get_legend_handles_labels()[0]:
        place.legend(fontsize="small")
