"""A learned direction: what the coordinates of a vector say together where each of them says little."""

from __future__ import annotations

import numpy as np
from scipy import special

_WIDEST = 128  # coordinates that are read; the others are not
_WARM_UP = 40  # outputs from which the coordinates are centred and scaled, before the first opinion
_FARTHEST = 8.0  # standardised coordinates are cut here: a wild one must not set the direction
_STALE = 1.05  # growth of what was seen after which the direction is made anew
_RIDGE = 0.1
_LARGEST = 1e100  # numbers beyond are as good as infinite


class LinearExpert:
    """The log-odds of two normal laws with one covariance (Fisher's discriminant), shrunk while little was seen."""

    names = ("a learned direction",)

    def __init__(self) -> None:
        self._forget()

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        self._forget()
        self.add(values, left)

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        rows = ~np.isnan(values).any(axis=1)
        values, left = values[rows, :_WIDEST], left[rows]
        self._seen += len(values)
        if self._centre is None:
            self._first.append((values, left))
            if self._seen < _WARM_UP:
                return
            values, left = (np.concatenate(part) for part in zip(*self._first, strict=True))
            self._start(values)
        self._count(self._standardised(values), left)
        if self._seen > _STALE * self._directed:
            self._direct()

    def predict(self, values: np.ndarray) -> np.ndarray:
        found = np.full(len(values), np.nan)
        if self._centre is not None:
            rows = ~np.isnan(values).any(axis=1)
            known = self._standardised(values[rows, :_WIDEST])
            found[rows] = special.expit(np.clip((known - self._middle) @ self._direction, -_FARTHEST, _FARTHEST))
        return found[None]

    def _forget(self) -> None:
        self._first: list[tuple[np.ndarray, np.ndarray]] = []
        self._seen, self._directed = 0, 0
        self._centre: np.ndarray | None = None

    def _start(self, values: np.ndarray) -> None:
        self._first.clear()
        near = np.clip(values, -_LARGEST, _LARGEST)
        self._centre = np.median(near, axis=0)
        spread = np.mean(np.abs(near - self._centre), axis=0)
        self._spread = np.where(spread > 1 / _LARGEST, spread, 1.0)
        width = len(self._centre)
        self._counts = np.zeros(2)
        self._sums, self._squares = np.zeros((2, width)), np.zeros((width, width))

    def _standardised(self, values: np.ndarray) -> np.ndarray:
        near = np.clip(values, -_LARGEST, _LARGEST)
        return np.clip((near - self._centre) / self._spread, -_FARTHEST, _FARTHEST)

    def _count(self, known: np.ndarray, left: np.ndarray) -> None:
        self._counts += [left.sum(), (~left).sum()]
        self._sums += [known[left].sum(axis=0), known[~left].sum(axis=0)]
        self._squares += known.T @ known

    def _direct(self) -> None:
        """Direction and middle from the sums so far."""
        total, width = self._counts.sum(), len(self._squares)
        means = self._sums / np.maximum(self._counts, 1)[:, None]
        within = self._squares / total - means.T @ (means * (self._counts / total)[:, None])
        towards = np.linalg.solve(within + _RIDGE * np.eye(width), means[0] - means[1])
        self._direction = towards * total / (total + 8 * width)
        self._middle = means.mean(axis=0)
        self._directed = self._seen
