"""Audit private training by many shadow runs: a mechanism is one training run that returns the score of one canary.

`python -m benchmarks.shadow_runs` prints what the game needs and certifies, sequential and with a fixed budget, on a
logistic regression with noisy clipped gradients: black box (the canary's loss under the final model) and white box (the
noisy sums of all steps along the canary's gradient), for the right loop and for one with half its noise.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from scipy import special

from audit import AddRemove, Labeled, PrivacyClaim, check_privacy
from audit.laws import GaussianLoss

RECORDS, DIMENSION, STEPS, RATE, MU = 30, 8, 10, 0.01, 1.0
NOISE = np.sqrt(STEPS) / MU  # in each step, for clipped gradients of norm 1: mu = sqrt(steps) / noise
DELTA, BUDGET = 0.05, 20_000
ROWS = (
    ("white box", 1.0, "right"),
    ("black box", 1.0, "right"),
    ("white box", 0.5, "half the noise"),
    ("black box", 0.5, "half the noise"),
)


def training(box: str, share: float, data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Return the canary's score in `size` runs, shape (size,); the canary is the last record where it is included."""
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y, dtype=float)
    canary = CANARY.X[0], CANARY.y[0]
    weights, along = np.zeros((size, DIMENSION)), np.zeros(size)
    for _ in range(STEPS):
        slopes = special.expit(weights @ X.T) - y  # the gradient of a record is its slope times the record
        clipped = slopes / np.maximum(1.0, np.abs(slopes) * np.linalg.norm(X, axis=1))
        total = clipped @ X + share * NOISE * rng.normal(size=weights.shape)
        others = clipped[:, : len(DATA.X)] @ DATA.X  # known to who sees the run, but for the canary
        along += (total - others)[:, 0] * np.sign(special.expit(weights @ canary[0]) - canary[1])
        weights -= RATE / RECORDS * total
    if box == "white box":
        return along
    margin = weights @ canary[0] * (2 * canary[1] - 1)
    return -np.logaddexp(0.0, -margin)


def _datasets() -> tuple[Labeled, Labeled]:
    """Return records, and a canary so large that its gradient is clipped in every step: the worst one there is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(RECORDS, DIMENSION))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    canary = np.zeros((1, DIMENSION))
    canary[0, 0] = 100.0
    return Labeled(X, (X[:, 1] > 0).astype(int)), Labeled(canary, np.array([1]))


DATA, CANARY = _datasets()


def main() -> None:
    """Print the table."""
    with_canary = Labeled(np.vstack([DATA.X, CANARY.X]), np.r_[DATA.y, CANARY.y])
    claim = PrivacyClaim(GaussianLoss(MU).epsilon(DELTA), DELTA, relation=AddRemove())
    print(f"claim: {claim}, which is tight for the right loop")
    print(f"{'access':10} {'loop':16} {'method':11} {'verdict':13} {'runs':>7} {'certified epsilon':>18}")
    for method in ("sequential", "fixed"):
        for box, share, loop in ROWS:
            mechanism = partial(training, box, share)
            result = check_privacy(mechanism, claim, [(DATA, with_canary)], method=method, budget=BUDGET, seed=1)
            numbers = f"{result.verdict!s:13} {result.samples:7} {result.epsilon_lower_bound:18.3f}"
            print(f"{box:10} {loop:16} {method:11} {numbers}", flush=True)


if __name__ == "__main__":
    main()
