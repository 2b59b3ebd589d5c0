"""Accuracy of the estimators of `mechanisms.learners` on data that ships with scikit-learn.

    python -m benchmarks.learners              the tables of docs/learners.md; about two minutes of one core
    python -m benchmarks.learners regression   the second alone: regression on the diabetes data

20 random splits, three quarters to train; two classes each. Bounds are the smallest and largest values in the data.
The standard error of a mean is in parentheses, in units of the last digit.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
    TeacherVoteClassifier,
)

_BODY_MASS, _PROGRESSION = (15.0, 45.0), (0.0, 350.0)  # public ranges, from their meaning
EPSILONS, SPLITS = (0.5, 1.0, 4.0), 20
DATA: dict[str, tuple[Callable[[], Any], Callable[[np.ndarray], np.ndarray]]] = {
    "breast cancer": (load_breast_cancer, lambda y: y),
    "digits, below 5 or not": (load_digits, lambda y: (y < 5).astype(int)),
    "wine, first grower or not": (load_wine, lambda y: (y == 0).astype(int)),
}
PRIVATE = (CubeVoteClassifier, LocalVoteClassifier, CoverClassifier, LabelPrivateNeighbors, TeacherVoteClassifier)


def learners(bounds: Any) -> Iterator[tuple[str, ClassifierMixin]]:
    """Yield a name and an unfitted learner, private ones first."""
    for kind in PRIVATE:
        for epsilon in EPSILONS:
            yield f"{kind.__name__} {epsilon:g}", kind(epsilon=epsilon, bounds=bounds)
    yield "logistic regression", make_pipeline(MinMaxScaler(), LogisticRegression(max_iter=1000))
    yield "majority", DummyClassifier()


def accuracies(name: str) -> dict[str, tuple[float, float]]:
    """Return the mean accuracy of each learner on a dataset, and its standard error."""
    load, relabel = DATA[name]
    table = load()
    X, y = table.data, relabel(table.target)
    bounds = (X.min(axis=0), np.maximum(X.max(axis=0), X.min(axis=0) + 1e-9))
    found = {}
    for label, learner in learners(bounds):
        scores = []
        for seed in range(SPLITS):
            parts = train_test_split(X, y, random_state=seed, stratify=y)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=seed)
            scores.append(learner.fit(parts[0], parts[2]).score(parts[1], parts[3]))
        found[label] = float(np.mean(scores)), float(np.std(scores, ddof=1) / SPLITS**0.5)
    return found


def regressors() -> Iterator[tuple[str, Any]]:
    """Yield a name and an unfitted regressor on the diabetes data, private ones first."""
    for epsilon in EPSILONS:
        yield (
            f"CubeMeanRegressor {epsilon:g}",
            CubeMeanRegressor(epsilon, bounds=_BODY_MASS, projection=None, target_bounds=_PROGRESSION),
        )
    yield "ridge regression", Ridge(alpha=1e-3)
    yield "mean", DummyRegressor()


def errors() -> dict[str, tuple[float, float]]:
    """Return the mean of the root mean squared error of each regressor, and its standard error."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    found = {}
    for label, learner in regressors():
        scores = []
        for seed in range(SPLITS):
            train, test, train_y, test_y = train_test_split(X[:, 2:3], y, random_state=seed)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=seed)
            scores.append(float(np.sqrt(np.mean((learner.fit(train, train_y).predict(test) - test_y) ** 2))))
        found[label] = float(np.mean(scores)), float(np.std(scores, ddof=1) / SPLITS**0.5)
    return found


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")  # silent teachers are part of the table
    if "regression" not in sys.argv[1:]:
        print_accuracies()
    print("| learner | error, diabetes |\n| --- | --- |")
    for label, (mean, error) in errors().items():
        print(f"| {label} | {mean:.1f} ({10 * error:.0f}) |")


def print_accuracies() -> None:
    """Print the table of the classifiers."""
    columns = {name: accuracies(name) for name in DATA}
    print(f"| learner | {' | '.join(columns)} |\n|{' --- |' * (len(columns) + 1)}")
    for label in next(iter(columns.values())):
        cells = [f"{mean:.3f} ({1000 * error:.0f})" for mean, error in (column[label] for column in columns.values())]
        print(f"| {label} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
