"""Fit logistic regression by Newton's method, with the standard errors of its weights."""

from __future__ import annotations

import numpy as np
from scipy import special

_STEPS, _CONVERGED = 12, 1e-4  # Newton's method squares the error: after a step of 1e-4 about 1e-8 is left
_LONGEST = 2.0  # longest step in one weight


def fit_logistic(
    x: np.ndarray, successes: np.ndarray, trials: np.ndarray | float = 1.0, ridge: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Return weights and their standard errors, each of shape (features,).

    Parameters
    ----------
    x : array, shape (size, features)
    successes : array, shape (size,)
        How many of the `trials` of each row are successes; booleans for single trials.
    trials : array, shape (size,), or number
    ridge : float > 0
        Penalty on half the sum of the squared weights.

    Notes
    -----
    scikit-learn's ``LogisticRegression(C=1 / ridge, fit_intercept=False, solver="newton-cholesky")`` finds the same
    weights. It gives no standard errors, and is slower to import than this is to run.
    """
    weights, curvature = np.zeros(x.shape[1]), np.eye(x.shape[1])
    for _ in range(_STEPS):
        chance = special.expit(x @ weights)
        curvature = (x * (trials * chance * (1 - chance))[:, None]).T @ x + ridge * np.eye(x.shape[1])
        step = np.linalg.solve(curvature, x.T @ (successes - trials * chance) - ridge * weights)
        weights = weights + step * min(1.0, _LONGEST / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < _CONVERGED:
            break
    return weights, np.sqrt(np.diag(np.linalg.inv(curvature)))
