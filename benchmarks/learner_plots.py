"""Accuracy of the papers' learners over epsilon, on data that ships with scikit-learn; needs matplotlib.

    python -m benchmarks.learner_plots                 docs/*-epsilon.svg and their table; four minutes of one core
    python -m benchmarks.learner_plots label-privacy   the figure of one page

30 random splits, three quarters to train, the same for all learners of a comparison. A line is the mean over the
splits, and a band holds eight tenths of them. Bounds are public ranges from the meaning of a feature; what is not set
below is the default.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score, root_mean_squared_error
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from audit.errors import MissingExtra
from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
    TeacherVoteClassifier,
)

DOCS = Path(__file__).parents[1] / "docs"
SPLITS = 30
EPSILONS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
MORE = (*EPSILONS, 16.0, 32.0)
RADIUS = (0.0, 40.0)
SHAPE = ([0.0, 0.0], [0.25, 40.0])  # concave points, radius


class Comparison(NamedTuple):
    """One data set, a private learner, the same kind of learner without privacy, and the constant answer."""

    title: str
    data: Callable[[], tuple[np.ndarray, np.ndarray]]
    private: Any
    plain: Any
    constant: Any
    error: Callable[[Any, Any], float]
    epsilons: tuple[float, ...] = EPSILONS


def tumors() -> tuple[np.ndarray, np.ndarray]:
    """Return mean concave points and worst radius of the breast cancer data, and the labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[:, [7, 20]], y


def radii() -> tuple[np.ndarray, np.ndarray]:
    """Return the worst radius of the breast cancer data, and the labels."""
    X, y = tumors()
    return X[:, 1:], y


def body_mass() -> tuple[np.ndarray, np.ndarray]:
    """Return the body mass index and the progression of diabetes."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    return X[:, 2:3], y


def _accuracy(name: str, data: Any, private: Any, plain: Any, epsilons: tuple[float, ...] = EPSILONS) -> Comparison:
    return Comparison(f"{name}: accuracy", data, private, plain, DummyClassifier(), accuracy_score, epsilons)


LOGISTIC = make_pipeline(MinMaxScaler(), LogisticRegression(C=100.0))
FIGURES: dict[str, tuple[Comparison, ...]] = {
    "consistency": (
        _accuracy("breast cancer, two features", tumors, CubeVoteClassifier(bounds=SHAPE, projection=None), LOGISTIC),
        Comparison(
            "diabetes, body mass index: root mean squared error",
            body_mass,
            CubeMeanRegressor(bounds=(15, 45), projection=None, target_bounds=(0, 350)),
            LinearRegression(),
            DummyRegressor(),
            root_mean_squared_error,
        ),
    ),
    "cover-learning": (
        _accuracy("breast cancer, two features", tumors, CoverClassifier(bounds=SHAPE, projection=None), LOGISTIC),
    ),
    "stability-learning": (
        _accuracy(
            "breast cancer, two features",
            tumors,
            TeacherVoteClassifier(delta=1e-3, teacher=LogisticRegression(C=100.0), bounds=SHAPE),
            LOGISTIC,
            MORE,
        ),
    ),
    "local-classification": (
        _accuracy(
            "breast cancer, worst radius", radii, LocalVoteClassifier(bounds=RADIUS, projection=None), LOGISTIC, MORE
        ),
    ),
    "label-privacy": (
        _accuracy(
            "digits, ten classes",
            lambda: load_digits(return_X_y=True),
            LabelPrivateNeighbors(bounds=(0, 16)),
            KNeighborsClassifier(),
        ),
    ),
}


def scores(comparison: Comparison) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the scores of the private learner, shape (epsilons, SPLITS), the plain one and the constant, (SPLITS,)."""
    X, y = comparison.data()
    stratify = None if comparison.error is root_mean_squared_error else y
    private = np.empty((len(comparison.epsilons), SPLITS))
    plain, constant = np.empty(SPLITS), np.empty(SPLITS)
    for seed in range(SPLITS):
        train, test, train_y, test_y = train_test_split(X, y, random_state=seed, stratify=stratify)

        def score(learner: Any, parts: tuple[Any, ...] = (train, test, train_y, test_y)) -> float:
            return float(comparison.error(parts[3], learner.fit(parts[0], parts[2]).predict(parts[1])))

        plain[seed], constant[seed] = score(clone(comparison.plain)), score(clone(comparison.constant))
        for row, epsilon in enumerate(comparison.epsilons):
            private[row, seed] = score(clone(comparison.private).set_params(epsilon=epsilon, random_state=seed))
    return private, plain, constant


def draw(comparisons: tuple[Comparison, ...], found: list[Any], path: Path) -> None:
    """Draw the comparisons side by side, and write SVG to `path`.

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
    figure = Figure(figsize=(4.2 * len(comparisons), 3.0), layout="constrained")
    for axis, comparison, (private, plain, constant) in zip(
        figure.subplots(1, len(comparisons), squeeze=False)[0], comparisons, found, strict=True
    ):
        low, high = np.quantile(private, [0.1, 0.9], axis=1)
        axis.fill_between(comparison.epsilons, low, high, color="tab:blue", alpha=0.2, linewidth=0)
        name = type(comparison.private).__name__
        axis.plot(comparison.epsilons, private.mean(axis=1), color="tab:blue", marker="o", markersize=3, label=name)
        axis.axhline(plain.mean(), color="tab:green", linestyle="--", label="without privacy")
        axis.axhline(constant.mean(), color="0.5", linestyle=":", label="constant answer")
        axis.set_xscale("log", base=2)
        axis.set_xticks(comparison.epsilons, [f"{epsilon:g}" for epsilon in comparison.epsilons])
        axis.set_xlabel("epsilon", fontsize=8)
        axis.set_title(comparison.title, fontsize=8)
        axis.tick_params(labelsize=7)
        axis.legend(fontsize=7)
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": path.stem}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def table(comparison: Comparison, found: tuple[np.ndarray, np.ndarray, np.ndarray]) -> str:
    """Return a line of means, standard errors in parentheses."""
    shown = [f"{row.mean():.4g} ({row.std(ddof=1) / SPLITS**0.5:.2g})" for row in (*found[0], *found[1:])]
    head = [*(f"{epsilon:g}" for epsilon in comparison.epsilons), "without privacy", "constant"]
    cells = [f"{name}: {value}" for name, value in zip(head, shown, strict=True)]
    return f"{type(comparison.private).__name__}, {comparison.title}\n  " + ", ".join(cells)


def main() -> None:
    """Draw the figures of the pages that are named, all unless told, and print their numbers."""
    warnings.simplefilter("ignore")  # silent teachers and empty releases are part of the figures
    chosen = sys.argv[1:] or list(FIGURES)
    for page in chosen:
        if page not in FIGURES:
            raise SystemExit(f"no page {page!r}; there are {', '.join(FIGURES)}")
        found = [scores(comparison) for comparison in FIGURES[page]]
        draw(FIGURES[page], found, DOCS / f"{page}-epsilon.svg")
        for comparison, numbers in zip(FIGURES[page], found, strict=True):
            print(table(comparison, numbers))


if __name__ == "__main__":
    main()
