"""The paper's figures in its own settings: its four methods, 10,000 training points, 1,000 trials a point.

The settings are those of Zhao et al. (2024, section 5.1 and Appendix A). The figures are pictures, so that there are no
printed numbers to put beside these; what the text says of them is judged by the sign test. ALIBI has the uniform
prior: what it does with nearest neighbors is not said. The numbers of classes are ours.
"""

from __future__ import annotations

from collections.abc import Iterator

import joblib
import numpy as np
from scipy.spatial import cKDTree

from benchmarks.label_privacy.synthetic import N_SAMPLES, N_TEST, Cell, two_stages
from mechanisms.labels.laplace import LaplaceOneHotEncoder
from mechanisms.labels.mixtures import Circle
from mechanisms.labels.neighbors import likeliest, neighbors
from mechanisms.labels.response import KaryRandomizedResponse
from mechanisms.labels.unary import SymmetricUnaryLabelEncoder

TRIALS = 1_000
CLASSES = (5, 10, 40, 100)
SETTINGS = {"figure-2": (1.0, 200), "figure-3": (2.0, 100), "figure-4": (1.0, 100)}
"""Figure -> (epsilon, k); each has sigma = 0.05 in one panel and 2 / K in the other."""
ENCODERS = {
    "RR": KaryRandomizedResponse,
    "ALIBI uniform": LaplaceOneHotEncoder,
    "vector": SymmetricUnaryLabelEncoder,
}
METHODS = ("Bayes", "RR", "LP-2ST", "ALIBI uniform", "vector")


def cells(figure: str) -> list[Cell]:
    """Return the points of a figure."""
    epsilon, k = SETTINGS[figure]
    return [Cell(K, sigma, epsilon, k) for K in CLASSES for sigma in sorted({0.05, 2 / K})]


def trial(cell: Cell, rng: np.random.Generator) -> dict[str, float]:
    """Return the accuracy of every method on one draw of the data."""
    circle = Circle(cell.n_classes, cell.sigma)
    (X, y), (queries, truth) = circle.sample(N_SAMPLES, rng), circle.sample(N_TEST, rng)
    near = neighbors(cKDTree(X), queries, cell.n_neighbors)
    predicted = {"Bayes": circle.bayes(queries), "LP-2ST": two_stages(cell, X, y, queries, rng)}
    for name, kind in ENCODERS.items():
        encoder = kind(cell.n_classes, cell.epsilon)
        predicted[name] = likeliest(np.asarray(near @ encoder.targets(encoder.release(y, rng))), rng)
    return {name: float(np.mean(predicted[name] == truth)) for name in METHODS}


def several(cell: Cell, sources: list[np.random.Generator]) -> list[dict[str, float]]:
    """Return the accuracies of some trials."""
    return [trial(cell, rng) for rng in sources]


def run(figure: str, trials: int = TRIALS, workers: int = 2) -> Iterator[tuple[Cell, dict[str, np.ndarray]]]:
    """Return the accuracies of every method, shape (trials,), point by point; each point has a seed of its own."""
    for cell in cells(figure):
        key = (3, cell.n_classes, cell.n_neighbors, round(1000 * cell.sigma), round(1000 * cell.epsilon))
        sources = np.random.default_rng(key).spawn(trials)
        blocks = [sources[start : start + 25] for start in range(0, trials, 25)]
        found = joblib.Parallel(n_jobs=workers)(joblib.delayed(several)(cell, block) for block in blocks)
        rows = [row for block in found for row in block]
        yield cell, {name: np.array([row[name] for row in rows]) for name in METHODS}
