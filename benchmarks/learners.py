"""Accuracy of the estimators of `mechanisms.learners` beside diffprivlib's, on data that installed packages ship.

    python -m benchmarks.learners [DATA...]    the tables of docs/learners.md, or those data sets; needs diffprivlib
    python -m benchmarks.learners regression   the last alone: regression on the diabetes data

10 random splits, 20 for regression, three quarters to train; two classes each. Bounds are the smallest and largest
values in the data, for all learners alike; all other parameters are the defaults. The standard error of a mean is in
parentheses, in units of the last digit. The last lines count the cells in which ours are best, or within one standard
error of the best, beside diffprivlib and three logistic regressions of a few lines.
"""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import statsmodels.datasets
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import train_test_split

from mechanisms.gaussian import analytic_deviation
from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
)

_BODY_MASS, _PROGRESSION = (15.0, 45.0), (0.0, 350.0)  # public ranges, from their meaning
EPSILONS, SPLITS, REGRESSION_SPLITS = (0.5, 1.0, 4.0), 10, 20
_STUMPS = partial(CoverClassifier, hypotheses="stumps", projection=None)
RECORDS: dict[str, Callable[..., Any]] = {
    "CubeVoteClassifier": CubeVoteClassifier,
    "CoverClassifier": CoverClassifier,
    "CoverClassifier(stumps)": _STUMPS,
}
ONE = {"CoverClassifier(stumps)": _STUMPS}
PRIVATE = RECORDS | {"LocalVoteClassifier": LocalVoteClassifier, "LabelPrivateNeighbors": LabelPrivateNeighbors}
Table = tuple[np.ndarray, np.ndarray]


def _shipped(load: Callable[..., Any], is_one: Callable[[np.ndarray], np.ndarray]) -> Table:
    X, y = load(return_X_y=True)
    return np.asarray(X, dtype=float), is_one(y).astype(int)


def _frame(name: str, target: str) -> Table:
    table = getattr(statsmodels.datasets, name).load_pandas().data
    return table.drop(columns=target).to_numpy(dtype=float), (table[target] > 0).to_numpy(dtype=int)


DATA: dict[str, Callable[[], Table]] = {
    "breast cancer (569)": lambda: _shipped(load_breast_cancer, lambda y: y == 1),
    "digits below 5 (1,797)": lambda: _shipped(load_digits, lambda y: y < 5),
    "wine, first grower (178)": lambda: _shipped(load_wine, lambda y: y == 0),
    "iris versicolor (150)": lambda: _shipped(load_iris, lambda y: y == 1),
    "vote of 1996 (944)": lambda: _frame("anes96", "vote"),
    "affairs (6,366)": lambda: _frame("fair", "affairs"),
}


class NoisyLogistic(ClassifierMixin, BaseEstimator):
    """Logistic regression on rows of norm 1 at most, with noise on the minimum, in the objective or on gradients.

    Chaudhuri, Monteleoni & Sarwate (2011), Algorithms 1 and 2; and 50 steps with Gaussian noise of (epsilon, 1e-5).
    """

    penalty, steps, rate, delta = 0.01, 50, 4.0, 1e-5

    def __init__(self, epsilon: float = 1.0, noise: str = "output", random_state: int | None = None) -> None:
        self.epsilon, self.noise, self.random_state = epsilon, noise, random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> NoisyLogistic:
        """Fit features of the unit cube, and labels 0 and 1."""
        rng, signed, self.classes_ = np.random.default_rng(self.random_state), self._rows(X), np.array([0, 1])
        signed *= 2 * np.reshape(y, (-1, 1)) - 1
        n, size = signed.shape
        if self.noise == "gradients":
            deviation = analytic_deviation(self.epsilon, self.delta) * 2 / n * self.steps**0.5
            self.weights_ = np.zeros(size)
            for _ in range(self.steps):
                gradient = -expit(-signed @ self.weights_) @ signed / n
                self.weights_ = self.weights_ - self.rate * (gradient + rng.normal(scale=deviation, size=size))
            return self
        direction = np.asarray(rng.normal(size=size))
        direction = direction / np.linalg.norm(direction)
        if self.noise == "output":
            moved = rng.gamma(size, 2 / (n * self.penalty * self.epsilon))
            self.weights_ = self._minimum(signed, np.zeros(size)) + moved * direction
        else:
            share, penalty = self.epsilon - 2 * math.log1p(1 / (4 * n * self.penalty)), self.penalty
            if share <= 0:
                share, penalty = self.epsilon / 2, 1 / (4 * n * math.expm1(self.epsilon / 4))
            self.weights_ = self._minimum(signed, rng.gamma(size, 2 / share) / n * direction, penalty)
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the labels."""
        return (self._rows(X) @ self.weights_ > 0).astype(int)

    def _minimum(self, signed: np.ndarray, tilt: np.ndarray, penalty: float = penalty) -> np.ndarray:
        def objective(w: np.ndarray) -> tuple[float, np.ndarray]:
            value = np.logaddexp(0, -signed @ w).mean() + penalty / 2 * w @ w + tilt @ w
            return value, -expit(-signed @ w) @ signed / len(signed) + penalty * w + tilt

        return minimize(objective, np.zeros_like(tilt), jac=True).x

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return np.column_stack([2 * X - 1, np.ones(len(X))]) / (X.shape[1] + 1) ** 0.5


def learners(features: int) -> Iterator[tuple[str, Any]]:
    """Yield a name and an unfitted learner of the unit cube: ours, diffprivlib's, and two without privacy."""
    from diffprivlib import models

    for epsilon in EPSILONS:
        for name, kind in PRIVATE.items():
            yield f"{name} {epsilon:g}", kind(epsilon=epsilon, bounds=(0.0, 1.0), classes=[0, 1])
        cube: dict[str, Any] = {"epsilon": epsilon, "bounds": (0.0, 1.0)}
        norm = {"epsilon": epsilon, "data_norm": features**0.5}
        yield f"diffprivlib LogisticRegression {epsilon:g}", models.LogisticRegression(**norm)
        yield f"diffprivlib GaussianNB {epsilon:g}", models.GaussianNB(**cube)
        yield f"diffprivlib RandomForestClassifier {epsilon:g}", models.RandomForestClassifier(classes=[0, 1], **cube)
        for noise in ("output", "objective", "gradients"):
            yield f"logistic regression, noise: {noise} {epsilon:g}", NoisyLogistic(epsilon, noise)
    yield "logistic regression", LogisticRegression(max_iter=1000)
    yield "majority", DummyClassifier()


def accuracies(name: str) -> dict[str, tuple[float, float]]:
    """Return the mean accuracy of each learner on a dataset, and its standard error."""
    X, y = DATA[name]()
    low, high = X.min(axis=0), X.max(axis=0)
    unit = (X - low) / np.where(high > low, high - low, 1.0)
    found = {}
    for label, learner in learners(X.shape[1]):
        scores, rows = [], 2 * unit - 1 if label.startswith("diffprivlib Log") else unit  # which knows a norm alone
        for seed in range(SPLITS):
            parts = train_test_split(rows, y, random_state=seed, stratify=y)
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
        for seed in range(REGRESSION_SPLITS):
            train, test, train_y, test_y = train_test_split(X[:, 2:3], y, random_state=seed)
            if "random_state" in learner.get_params():
                learner.set_params(random_state=seed)
            scores.append(float(np.sqrt(np.mean((learner.fit(train, train_y).predict(test) - test_y) ** 2))))
        found[label] = float(np.mean(scores)), float(np.std(scores, ddof=1) / REGRESSION_SPLITS**0.5)
    return found


def main() -> None:
    """Print the tables."""
    warnings.simplefilter("ignore")  # seeds, and classes from the labels
    wanted = sys.argv[1:]
    if wanted != ["regression"]:
        print_accuracies([name for name in DATA if not wanted or name.startswith(tuple(wanted))])
    if not wanted or "regression" in wanted:
        print("| learner | error, diabetes |\n| --- | --- |")
        for label, (mean, error) in errors().items():
            print(f"| {label} | {mean:.1f} ({10 * error:.0f}) |")


def print_accuracies(names: list[str]) -> None:
    """Print a table of the classifiers for each epsilon, and how often ours are best."""
    columns = {}
    for name in names:
        columns[name] = accuracies(name)
        print(f"{name}: done", file=sys.stderr, flush=True)
    cells = [(epsilon, name) for epsilon in EPSILONS for name in names]
    for epsilon in EPSILONS:
        print(f"\nepsilon = {epsilon:g}\n\n| learner | {' | '.join(names)} |\n|{' --- |' * (len(names) + 1)}")
        for label in columns[names[0]]:
            own, _, at = label.rpartition(" ")
            if at in (f"{epsilon:g}", "regression") or label == "majority":
                shown = (f"{mean:.3f} ({1000 * error:.0f})" for mean, error in (columns[name][label] for name in names))
                print(f"| {own if at == f'{epsilon:g}' else label} | {' | '.join(shown)} |")
    for title, kinds in (("records, stumps alone", ONE), ("records", RECORDS), ("records or labels", PRIVATE)):
        good = [cell for cell in cells if _is_good(columns[cell[1]], cell[0], list(kinds))]
        print(f"\nours (privacy of {title}) best or within one standard error: {len(good)} of {len(cells)} cells")


def _is_good(column: dict[str, tuple[float, float]], epsilon: float, ours: list[str]) -> bool:
    of_epsilon = {label: found for label, found in column.items() if label.endswith(f" {epsilon:g}")}
    mean, error = max(found for label, found in of_epsilon.items() if label.split()[0] in ours)
    best, its_error = max(found for label, found in of_epsilon.items() if label.split()[0] not in PRIVATE)
    return mean + max(error, its_error) >= best


if __name__ == "__main__":
    main()
