"""Accuracy of nearest neighbors on the circle of Gaussians, all methods on the same points.

A trial draws 10,000 training and 1,000 test points; every method releases the labels anew. Methods are compared in
pairs, trial by trial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import joblib
import numpy as np
from scipy.spatial import cKDTree

from mechanisms.labels.encoder import LabelEncoder, one_hot
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.mixtures import Circle
from mechanisms.labels.neighbors import NeighborSum, iterated, likeliest, neighbors
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.two_stage import TwoStageLabelTrainer
from mechanisms.labels.unary import OptimizedUnaryLabelEncoder, SymmetricUnaryLabelEncoder

N_SAMPLES, N_TEST = 10_000, 1_000
METHODS = (
    "Bayes",
    "clean labels",
    "RR",
    "LP-2ST",
    "ALIBI uniform",
    "ALIBI 1 round",
    "ALIBI 5 rounds",
    "vector",
    "vector 1 round",
    "vector 5 rounds",
    "optimized unary",
)


@dataclass(frozen=True)
class Cell:
    """One setting of the comparison."""

    n_classes: int
    sigma: float
    epsilon: float
    n_neighbors: int

    def __str__(self) -> str:
        return f"sigma={self.sigma:.3g} eps={self.epsilon:g} k={self.n_neighbors} K={self.n_classes}"


def trial(cell: Cell, rng: np.random.Generator) -> dict[str, float]:
    """Return the accuracy of every method on one draw of the data."""
    circle = Circle(cell.n_classes, cell.sigma)
    (X, y), (queries, truth) = circle.sample(N_SAMPLES, rng), circle.sample(N_TEST, rng)
    tree = cKDTree(X)
    near, asked = (neighbors(tree, points, cell.n_neighbors) for points in (X, queries))
    predicted = {"Bayes": circle.bayes(queries)}
    for name, targets in _targets(cell, y, near, rng):
        predicted[name] = likeliest(asked @ targets, rng)
    predicted["LP-2ST"] = two_stages(cell, X, y, queries, rng)
    return {name: float(np.mean(predicted[name] == truth)) for name in METHODS}


def two_stages(cell: Cell, X: np.ndarray, y: np.ndarray, queries: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Fit `TwoStageLabelTrainer` on the stream of the trial: the class itself takes a seed and no generator."""
    trainer = TwoStageLabelTrainer(cell.n_classes, cell.epsilon, lambda: NeighborSum(cell.n_neighbors))
    order = rng.permutation(len(X))
    released = trainer.release(X[order], y[order], rng)
    model = NeighborSum(cell.n_neighbors).fit(X[order], one_hot(released, cell.n_classes), rng)
    return likeliest(model.scores(queries), np.random.default_rng(int(rng.integers(2**63))))


def _targets(cell: Cell, y: np.ndarray, near: Any, rng: np.random.Generator) -> Iterator[tuple[str, np.ndarray]]:
    K, epsilon = cell.n_classes, cell.epsilon
    yield "clean labels", one_hot(y, K)
    plain: dict[str, LabelEncoder] = {
        "RR": KaryRandomizedResponse(K, epsilon),
        "optimized unary": OptimizedUnaryLabelEncoder(K, epsilon),
    }
    for name, encoder in plain.items():
        yield name, encoder.targets(encoder.release(y, rng))
    yield from _with_rounds("vector", "vector", SymmetricUnaryLabelEncoder(K, epsilon), y, near, rng)
    yield from _with_rounds("ALIBI", "ALIBI uniform", LaplaceOneHotEncoder(K, epsilon), y, near, rng)


def _with_rounds(
    name: str, plain: str, encoder: LabelEncoder, y: np.ndarray, near: Any, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray]]:
    """Return the targets of one release as they are, and after 1 and 5 rounds of the iterated prior."""
    released = encoder.release(y, rng)
    yield plain, encoder.targets(released)

    def refine(rows: Any, prior: np.ndarray) -> np.ndarray:
        return encoder.posterior(released[rows], prior)

    targets = encoder.posterior(released)
    for done, more in ((1, 1), (5, 4)):
        targets = iterated(targets, near, refine, more)
        yield f"{name} {done} round{'s' if done > 1 else ''}", targets


def run(cells: Iterable[Cell], trials: int, workers: int = 2) -> Iterator[tuple[Cell, dict[str, np.ndarray]]]:
    """Return the accuracies of every method, shape (trials,), cell by cell; each cell has a seed of its own."""
    for cell in cells:
        key = (cell.n_classes, cell.n_neighbors, round(1000 * cell.sigma), round(1000 * cell.epsilon))
        sources = np.random.default_rng(key).spawn(trials)
        rows = joblib.Parallel(n_jobs=workers)(joblib.delayed(trial)(cell, rng) for rng in sources)
        yield cell, {name: np.array([row[name] for row in rows]) for name in METHODS}
