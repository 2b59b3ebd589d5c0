"""Fit logistic regressions, faster than libraries import."""

from __future__ import annotations

import numpy as np

# Newton's method squares the error, so after a step of 1e-4 about 1e-8 is left: tuned by `benchmarks.overhead`
NEWTON_STEPS, LAST_STEP, LONGEST_STEP = 12, 1e-4, 2.0  # iterations; step in one weight that ends them; longest one


def fit_logistic(
    x: np.ndarray, successes: np.ndarray, trials: np.ndarray | float = 1.0, ridge: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and their standard errors, each of shape (features,), by Newton's method.

    `successes` of the `trials` of each row of `x` succeeded; `ridge` / 2 times the squared weights are the penalty.
    scikit-learn's ``LogisticRegression(solver="newton-cholesky")`` finds the same weights. It gives no standard
    errors, and is slower to import than this is to run.
    """
    weights, curvature = np.zeros(x.shape[1]), np.eye(x.shape[1])
    columns = np.ascontiguousarray(x.T)
    for _ in range(NEWTON_STEPS):
        chance = logistic(weights @ columns)
        curvature = (columns * (trials * chance * (1 - chance))) @ columns.T + ridge * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, columns @ (successes - trials * chance) - ridge * weights)
        weights = weights + step * min(1.0, LONGEST_STEP / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < LAST_STEP:
            break
    return weights, np.sqrt(np.diag(np.linalg.inv(curvature)))


def logistic(odds: np.ndarray) -> np.ndarray:
    """Return the probability of each log-odds, faster than SciPy's `expit`, whose last digits do not matter here."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(-odds)))
