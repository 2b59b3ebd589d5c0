"""Experts: each gives the probability that an output came from the left law, learned from the outputs before it.

An expert that has no probability for an output is asleep there (NaN): it takes no part and is not scored. It learns
from an output only after the bets on that output were settled.
"""

from abc import ABC, abstractmethod

import numpy as np
from scipy import special

# The sequential game: tuned by `benchmarks.sequential`, `benchmarks.overhead`
EXPERT_WEIGHTS = {
    **{"Laplace": 6.0, "Gaussian": 5.0, "steps": 0.5, "folded steps": 0.3, "cells": 0.8, "cells of |u|": 0.8},
    **{"repeated outputs": 8.0, "kinds of symbols": 0.5, "no opinion": 0.5},  # atoms sleep on outputs not seen before
    **{"a learned direction": 3.0, "stated ratio": 8.0},
}
READ_COORDINATES, MOST_COORDINATES = 4, 128  # coordinates of a vector read alone, and in a direction
MOST_COUNTED_ATOMS = 100_000  # bounds memory
TABLE_GROWTH, DIRECTION_GROWTH = 1.03, 1.05  # growth after which cells are tabulated, and the direction computed, again
LARGEST_RATIO, LARGEST_STATED_RATIO = 8.0, 30.0  # absolute log-likelihood ratios are cut here
LARGEST_OUTPUT, LARGEST_COORDINATE = 1e150, 1e100  # larger numbers are cut; differences of two stay finite
FARTHEST_OUTPUT, FARTHEST_COORDINATE = 1e6, 8.0  # largest standardized value: a wild one must not set the direction
DIRECTION_NEEDS = 40  # outputs by which coordinates are centered and scaled, before the first prediction
RIDGE = 0.1  # added to the variances within the sides


class Expert(ABC):
    """One way to predict from a column of values; it may hold several predictions."""

    names: tuple[str, ...]

    @property
    def weights(self) -> list[float]:
        """Prior weights of the predictions."""
        return [EXPERT_WEIGHTS[name] for name in self.names]

    @abstractmethod
    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return probabilities of "left", shape (len(names), n); NaN where the expert is asleep."""

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:  # noqa: B027
        """Learn from further values; `left` is True where the output came from the left."""


class EvenExpert(Expert):
    """Predict one half for everything: what the others must beat before the bets grow."""

    names = ("no opinion",)

    def predict(self, values: np.ndarray) -> np.ndarray:
        return np.full((1, len(values)), 0.5)


class StatedExpert(Expert):
    """Trust the stated log-likelihood ratio."""

    names = ("stated ratio",)

    def predict(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(special.expit(values))[None]


class AtomExpert(Expert):
    """Count outputs that repeat; asleep on what was not seen before."""

    def __init__(self, name: str) -> None:
        self.names = (name,)
        self._counts: dict[int, list[int]] = {}

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        for key, side in zip(values.tolist(), left.tolist(), strict=True):
            if key in self._counts or len(self._counts) < MOST_COUNTED_ATOMS:
                self._counts.setdefault(key, [0, 0])[0 if side else 1] += 1

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Return the estimates of Krichevsky and Trofimov, from counts with half a pseudo-count for each side."""
        seen = [self._counts.get(key) for key in values.tolist()]
        return np.array([np.nan if c is None else (c[0] + 0.5) / (c[0] + c[1] + 1.0) for c in seen])[None]


class LinearExpert(Expert):
    """Fisher's discriminant: the log-odds of two normal laws with one covariance, shrunk while little was seen."""

    names = ("a learned direction",)

    def __init__(self) -> None:
        self._first: list[tuple[np.ndarray, np.ndarray]] = []
        self._seen, self._directed = 0, 0
        self._center: np.ndarray | None = None

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        rows = ~np.isnan(values).any(axis=1)
        values, left = values[rows, :MOST_COORDINATES], left[rows]
        self._seen += len(values)
        if self._center is None:
            self._first.append((values, left))
            if self._seen < DIRECTION_NEEDS:
                return
            values, left = (np.concatenate(part) for part in zip(*self._first, strict=True))
            self._first.clear()
            self._start(values)
        known = self._standardized(values)
        self._counts += [left.sum(), (~left).sum()]
        self._sums += [known[left].sum(axis=0), known[~left].sum(axis=0)]
        self._squares += known.T @ known
        if self._seen > DIRECTION_GROWTH * self._directed:
            self._direct()

    def predict(self, values: np.ndarray) -> np.ndarray:
        found = np.full(len(values), np.nan)
        if self._center is not None:
            rows = ~np.isnan(values).any(axis=1)
            odds = (self._standardized(values[rows, :MOST_COORDINATES]) - self._middle) @ self._direction
            found[rows] = special.expit(np.clip(odds, -LARGEST_RATIO, LARGEST_RATIO))
        return found[None]

    def _start(self, values: np.ndarray) -> None:
        """Fix the centers and scales of the coordinates by the first outputs."""
        near = np.clip(values, -LARGEST_COORDINATE, LARGEST_COORDINATE)
        self._center = np.median(near, axis=0)
        spread = np.mean(np.abs(near - self._center), axis=0)
        self._spread = np.where(spread > 1 / LARGEST_COORDINATE, spread, 1.0)
        width = len(self._center)
        self._counts = np.zeros(2)
        self._sums, self._squares = np.zeros((2, width)), np.zeros((width, width))

    def _standardized(self, values: np.ndarray) -> np.ndarray:
        near = np.clip(values, -LARGEST_COORDINATE, LARGEST_COORDINATE)
        return np.clip((near - self._center) / self._spread, -FARTHEST_COORDINATE, FARTHEST_COORDINATE)

    def _direct(self) -> None:
        """Compute the direction and the middle from the sums so far."""
        total, width = self._counts.sum(), len(self._squares)
        means = self._sums / np.maximum(self._counts, 1)[:, None]
        within = self._squares / total - means.T @ (means * (self._counts / total)[:, None])
        toward = np.linalg.solve(within + RIDGE * np.eye(width), means[0] - means[1])
        self._direction = toward * total / (total + 8 * width)
        self._middle = means.mean(axis=0)
        self._directed = self._seen
