"""Two label games on the learners of the label paper: planted labels, and labels that are only observed.

Planted: each record has two labels, and a fair coin decides which one the learner is trained with. Observed: the
learner is trained with the labels as they are; for each record a fair coin decides whether the auditor is shown this
label or one that a public proxy model draws, and the auditor guesses which. Nothing is planted and nothing retrained.
`docs/canaries.md` has the bound, which pays for the proxy's error in total variation.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from audit import LabelFlip, PrivacyClaim, check_canaries
from mechanisms.papers.zhao2024.baselines import ResponseEncoder
from mechanisms.papers.zhao2024.comparisons import Circle
from mechanisms.papers.zhao2024.neighbors import LabelLearner, NeighborSum
from mechanisms.papers.zhao2024.vector import VectorEncoder

CLASSES, SIGMA, RECORDS, EPSILON, PUBLIC = 4, 1.0, 10_000, 2.0, 100_000
CIRCLE = Circle(CLASSES, SIGMA)
ENCODERS = {"vector": VectorEncoder, "RR": ResponseEncoder}


def posterior(points: np.ndarray, centers: np.ndarray, sigma: float) -> np.ndarray:
    """Return the probability of each class at points, for Gaussians around centers."""
    distances = ((points[:, None] - centers) ** 2).sum(axis=2)
    return np.asarray(special.softmax(-distances / (2 * sigma**2), axis=1))


def proxies(points: np.ndarray, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the labels' laws by proxies: the truth, Gaussians fitted to public data, and the uniform law."""
    public, labels = CIRCLE.sample(PUBLIC, rng)
    centers = np.array([public[labels == label].mean(axis=0) for label in range(CLASSES)])
    spread = float(np.sqrt(np.mean((public - centers[labels]) ** 2)))
    return {
        "the truth": posterior(points, CIRCLE.centers, SIGMA),
        "fitted to public data": posterior(points, centers, spread),
        "uniform": np.full((len(points), CLASSES), 1 / CLASSES),
    }


def draw(laws: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return one label for each row of probabilities."""
    return np.minimum((rng.random((len(laws), 1)) > np.cumsum(laws, axis=1)).sum(axis=1), CLASSES - 1)


def evidence(name: str, neighbors: int, X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """Return what a learner, trained once, says of each class at its own training points, shape (n, K)."""
    encoder = ENCODERS[name](n_classes=CLASSES, epsilon=EPSILON)
    learner = LabelLearner(encoder, NeighborSum(neighbors), seed).fit(X, y, np.random.default_rng(seed))
    return np.asarray(learner.model.scores(X)) + 0.5


def planted(name: str, neighbors: int, rng: np.random.Generator) -> float:
    """Return the bound of epsilon from planted labels."""
    X, y = CIRCLE.sample(RECORDS, rng)
    others, coins = (y + rng.integers(1, CLASSES, RECORDS)) % CLASSES, rng.integers(0, 2, RECORDS)
    found = evidence(name, neighbors, X, np.where(coins == 1, others, y), int(rng.integers(2**31)))
    rows = np.arange(RECORDS)
    scores = np.log(found[rows, others] / found[rows, y]) + 1e-9 * rng.random(RECORDS)
    claim = PrivacyClaim(EPSILON, relation=LabelFlip())
    return check_canaries(scores[coins == 1], scores[coins == 0], claim).epsilon_lower_bound


def observed(name: str, neighbors: int, proxy: str, rng: np.random.Generator) -> tuple[float, float]:
    """Return the bound of epsilon from labels that are only observed, and the proxy's error that it pays for."""
    X, y = CIRCLE.sample(RECORDS, rng)
    laws = proxies(X, rng)
    error = float(np.abs(laws[proxy] - laws["the truth"]).sum(axis=1).mean() / 2)
    coins = rng.integers(0, 2, RECORDS)
    shown = np.where(coins == 1, y, draw(laws[proxy], rng))
    found = evidence(name, neighbors, X, y, int(rng.integers(2**31)))
    usual = (laws[proxy] * found).sum(axis=1)
    scores = found[np.arange(RECORDS), shown] / usual + 1e-9 * rng.random(RECORDS)
    claim = PrivacyClaim(EPSILON, error, relation=LabelFlip())
    return check_canaries(scores[coins == 1], scores[coins == 0], claim).epsilon_lower_bound, error


def main() -> None:
    """Print the table of both games."""
    print(f"{RECORDS} records, {CLASSES} classes, epsilon {EPSILON:g}; lower bounds of epsilon at 95 %")
    print(f"{'learner':8} {'k':>3} {'game':32} {'error':>8} {'bound':>6}")
    for name in ENCODERS:
        for neighbors in (1, 20):
            bound = planted(name, neighbors, np.random.default_rng(1))
            print(f"{name:8} {neighbors:3} {'planted':32} {'':8} {bound:6.2f}", flush=True)
            for proxy in ("the truth", "fitted to public data", "uniform"):
                bound, error = observed(name, neighbors, proxy, np.random.default_rng(2))
                print(f"{name:8} {neighbors:3} {'observed, ' + proxy:32} {error:8.5f} {bound:6.2f}", flush=True)


if __name__ == "__main__":
    main()
