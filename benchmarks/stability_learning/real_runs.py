"""Run a private voting service on real data, and on made-up data that are large enough.

    python -m benchmarks.stability_learning.real_runs            all tables, in a minute
    python -m benchmarks.stability_learning.real_runs bundled    the data sets that come with scikit-learn
    python -m benchmarks.stability_learning.real_runs synthetic  200,000 records
    python -m benchmarks.stability_learning.real_runs seeds      the same task with other seeds

Noise is that of a calibrated release, with the lower threshold; the printed constants would want 10,261
teachers for a hundred queries at eps = 1, delta = 1e-6. Features are scaled by round numbers chosen by hand, never by
the records. Counts are means over runs of the noise, and over random splits for the bundled sets; an answer is right
when it is the label of the held-out record. Needs scikit-learn (`pip install dp-audit[libraries]`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.tables import print_tables, show
from mechanisms.papers.bassily2018.noise import least
from mechanisms.papers.bassily2018.teachers import taught
from mechanisms.parts.sparse_vector import TOP, Noise, Runs

SETTINGS = ((1.0, 1), (1.0, 5), (2.0, 5), (4.0, 5), (4.0, 10))


def bundled(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Return a data set of scikit-learn, scaled to about [0, 1] by bounds that are not taken from it."""
    from sklearn import datasets

    if name == "digits, even or odd":
        X, y = datasets.load_digits(return_X_y=True)
        return X / 16, (y % 2).astype(np.int64)
    X, y = datasets.load_breast_cancer(return_X_y=True)
    sizes = np.array([30, 40, 200, 2500, 0.2, 0.4, 0.5, 0.2, 0.3, 0.1])  # mean, deviation and largest of ten measures
    deviations = np.array([3, 5, 20, 500, 0.03, 0.1, 0.4, 0.05, 0.1, 0.03])
    return X / np.r_[sizes, deviations, 1.5 * sizes], y.astype(np.int64)


def synthetic(records: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return 20 features, 6 of them informative, classes 1.5 apart, 2 % of the labels drawn at random."""
    from sklearn.datasets import make_classification

    X, y = make_classification(records, 20, n_informative=6, class_sep=1.5, flip_y=0.02, random_state=seed)
    return X, y


def logistic() -> Any:
    """Return a logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=200)


def vote(
    learner: Any, X: np.ndarray, y: np.ndarray, points: np.ndarray, k: int, rng: np.random.Generator
) -> np.ndarray:
    """Train a teacher on each of k chunks, every record drawing its chunk; their labels, shape (k, points)."""
    assigned = rng.integers(k, size=len(X))
    chunks = np.split(np.argsort(assigned, kind="stable"), np.cumsum(np.bincount(assigned, minlength=k))[:-1])
    return np.array([taught(learner, X[chunk], y[chunk])(points) for chunk in chunks])


def answered(
    votes: np.ndarray, truth: np.ndarray, noise: Noise, runs: int, rng: np.random.Generator
) -> tuple[float, float]:
    """Return the mean numbers of right and of wrong answers before the run ends."""
    ones, k = votes.sum(axis=0), len(votes)
    right = (2 * ones > k) == truth
    distances = np.maximum(0, np.ceil(np.abs(2 * ones - k) / 2) - 1)
    shown = Runs(noise, runs, rng).ask(distances) == TOP
    return float(np.mean(np.sum(shown & right, axis=1))), float(np.mean(np.sum(shown & ~right, axis=1)))


def bundled_table() -> None:
    """Print answers of 100 queries, k = 101, delta = 1e-3, mean over 20 splits with 10 runs of the noise each."""
    rng = np.random.default_rng(11)
    rows: list[list[str]] = []
    budgets = ((1.0, 1), (4.0, 1), (20.0, 1), (20.0, 5), (50.0, 5))
    for name in ("digits, even or odd", "breast cancer"):
        X, y = bundled(name)
        found, alone = [], []
        for _ in range(20):
            order = rng.permutation(len(X))
            test, train = order[:100], order[100:]
            votes = vote(logistic(), X[train], y[train], X[test], 101, rng)
            alone.append(np.mean((2 * votes.sum(axis=0) > 101) == y[test]))
            found.append(
                [answered(votes, y[test], least(epsilon, 1e-3, cutoff), 10, rng) for epsilon, cutoff in budgets]
            )
        means = np.mean(found, axis=0)
        rows.append([name, str(len(train)), f"{np.mean(alone):.3f}", *(f"{r:.1f}/{w:.1f}" for r, w in means)])
    head = ["right/wrong of 100", "n", "majority", *(f"eps={e:g} T={t}" for e, t in budgets)]
    show("Bundled data, k = 101 logistic teachers, delta = 1e-3", head, rows)


def learners() -> dict[str, Any]:
    """Return the teachers."""
    from sklearn.tree import DecisionTreeClassifier

    return {
        "logistic": logistic(),
        "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
        "depth-3 tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    }


def synthetic_table() -> None:
    """Print answers of 2,000 queries, k = 1001, delta = 1e-6, mean over 200 runs of the noise."""
    rng = np.random.default_rng(3)
    rows: list[list[str]] = []
    X, y = synthetic(202_000)
    train, test = slice(2000, None), slice(0, 2000)
    for name, learner in learners().items():
        started = time.perf_counter()
        votes = vote(learner, X[train], y[train], X[test], 1001, rng)
        seconds = time.perf_counter() - started
        majority = np.mean((2 * votes.sum(axis=0) > 1001) == y[test])
        counts = [answered(votes, y[test], least(epsilon, 1e-6, cutoff), 200, rng) for epsilon, cutoff in SETTINGS]
        cells = [f"{r:.0f}/{w:.1f}" for r, w in counts]
        rows.append([name, f"{np.mean(votes == y[test]):.3f}", f"{majority:.3f}", *cells, f"{seconds:.0f} s"])
    head = ["right/wrong of 2,000", "teacher", "majority", *(f"eps={e:g} T={t}" for e, t in SETTINGS), "fit"]
    show("Synthetic data, 200,000 records, k = 1,001, delta = 1e-6", head, rows)


def seeds_table() -> None:
    """Print how hard the made-up task is with other seeds of its generator, logistic teachers."""
    rng = np.random.default_rng(4)
    rows: list[list[str]] = []
    for seed in range(4):
        X, y = synthetic(202_000, seed)
        votes = vote(logistic(), X[2000:], y[2000:], X[:2000], 1001, rng)
        truth = y[:2000]
        right, wrong = answered(votes, truth, least(4.0, 1e-6, 5), 200, rng)
        majority = np.mean((2 * votes.sum(axis=0) > 1001) == truth)
        rows.append([str(seed), f"{np.mean(votes == truth):.3f}", f"{majority:.3f}", f"{right:.0f}/{wrong:.1f}"])
    show("The synthetic task by seed", ["seed", "teacher", "majority", "eps=4 T=5"], rows)


TABLES: dict[str, Callable[[], None]] = {"bundled": bundled_table, "synthetic": synthetic_table, "seeds": seeds_table}

if __name__ == "__main__":
    print_tables(TABLES)
