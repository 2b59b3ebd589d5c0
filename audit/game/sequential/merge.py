"""Merging experts into one posterior by their log-loss, and correcting it by its own record."""

from __future__ import annotations

import numpy as np
from scipy import special

_LEAST = 1e-9  # a merged posterior stays this far from 0 and 1, so that no single output can ruin
_SWITCH = 0.1  # share of weight that returns to the prior, divided by the number of outputs so far
_EDGES = np.array([0.15, 0.35, 0.6, 0.9, 1.3, 2.0, 3.5])  # bins of |log-odds| for the correction


class Merge:
    """Weights of experts by how probable they made the sides that came; a sleeper keeps its weight.

    Parameters
    ----------
    log_prior : array, shape (K,)
        Weights at the start; a little weight keeps returning to them, so that a slow learner can take over.
    """

    def __init__(self, log_prior: np.ndarray) -> None:
        self._prior = special.softmax(log_prior)
        self.weights = self._prior.copy()
        self._outputs = 0
        self._awake = np.zeros(len(log_prior))

    @property
    def voices(self) -> np.ndarray:
        """Weights, times the share of the outputs on which each was awake, scaled to sum to 1; shape (K,)."""
        spoken = self.weights * self._awake
        return np.asarray(spoken / max(spoken.sum(), 1e-300))

    def predict(self, opinions: np.ndarray) -> np.ndarray:
        """The merged probability of "left", shape (n,); opinions (K, n), NaN for a sleeper."""
        awake = ~np.isnan(opinions)
        weight = self.weights @ awake
        total = self.weights @ np.where(awake, opinions, 0.0)
        merged = np.where(weight > 0, total / np.where(weight > 0, weight, 1.0), 0.5)
        return np.clip(merged, _LEAST, 1 - _LEAST)

    def update(self, opinions: np.ndarray, merged: np.ndarray, left: np.ndarray) -> None:
        """Judge the opinions, once the sides are known."""
        awake = ~np.isnan(opinions)
        own = np.where(left, opinions, 1 - opinions)
        ours = np.where(left, merged, 1 - merged)
        gains = np.log(np.maximum(np.where(awake, own, 1.0), 1e-12)) - np.where(awake, np.log(ours), 0.0)
        total = np.log(self.weights) + gains.sum(axis=1)
        posterior = np.exp(total - total.max())
        posterior /= posterior.sum()
        self._outputs += len(left)
        self._awake += awake.sum(axis=1)
        back = min(0.5, _SWITCH * len(left) / (self._outputs + 10))
        self.weights = (1 - back) * posterior + back * self._prior


class Correction:
    """What a posterior has been worth: its success rate, overall and by how sure it was."""

    names = ("as merged", "success rate", "success rate by sureness")

    def __init__(self) -> None:
        self._right = np.zeros(len(_EDGES) + 1)
        self._all = np.zeros(len(_EDGES) + 1)

    def opinions(self, merged: np.ndarray) -> np.ndarray:
        """The posterior as it is, and with its sureness replaced by past success rates; shape (3, n)."""
        bins = self._bins(merged)
        overall = (self._right.sum() + 1.0) / (self._all.sum() + 2.0)
        by_bin = (self._right + 2 * overall) / (self._all + 2)
        rates = np.stack([np.full(len(merged), overall), by_bin[bins]])
        return np.vstack([merged, np.where(merged > 0.5, rates, 1 - rates)])

    def add(self, merged: np.ndarray, left: np.ndarray) -> None:
        """Count which guesses were right."""
        right = (merged > 0.5) == left
        bins = self._bins(merged)
        self._right += np.bincount(bins, weights=right, minlength=len(self._right))
        self._all += np.bincount(bins, minlength=len(self._all))

    @staticmethod
    def _bins(merged: np.ndarray) -> np.ndarray:
        return np.searchsorted(_EDGES, np.abs(special.logit(merged)))
