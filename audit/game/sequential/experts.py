"""Experts: each gives the probability that an output came from the left, from the outputs before it.

An expert may sleep on an output (NaN): it then neither speaks nor is judged. What an expert has seen enters only
through `fit` (all the past, after the scale has moved) and `add` (the outputs since); both come after the bets on
those outputs were settled.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy import special

from audit.game.sequential.shapes import Family
from audit.game.sequential.tree import tree_predictions

_HALF = 0.5  # pseudo-counts of Krichevsky and Trofimov
_STALE = 1.03  # growth of what was seen after which the tables of cells are made anew
_MOST_ATOMS = 100_000


class Expert(Protocol):
    """One way to read a column of features; it may hold several opinions."""

    @property
    def names(self) -> tuple[str, ...]:
        """What the opinions are called."""

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        """Forget, and learn from all past values; `left` is True where the output came from the left."""

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        """Learn from further values."""

    def predict(self, values: np.ndarray) -> np.ndarray:
        """Probabilities of "left"; NaN where the expert sleeps. Shape (len(names), n)."""


class FamilyExpert:
    """The posterior mean over a family of log-likelihood ratios."""

    def __init__(self, family: Family) -> None:
        self.names = (family.name,)
        self._family = family
        self._log_weights = family.log_prior

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        self._log_weights = self._family.log_prior
        self.add(values, left)

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        signs = np.where(left[seen], 1.0, -1.0)
        ratios = self._family.ratios(values[seen])
        self._log_weights = self._log_weights - np.log1p(np.exp(-signs * ratios)).sum(axis=1)

    def predict(self, values: np.ndarray) -> np.ndarray:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(weights / weights.sum() @ (1 / (1 + np.exp(-self._family.ratios(values)))))[None]


class CellExpert:
    """Counts in cells of the line, and of its absolute value; the sizes of the cells are learned."""

    names = ("cells", "cells of |u|")
    _DEPTH = 9

    def __init__(self) -> None:
        self._cells = 2**self._DEPTH
        self._counts = np.zeros((2, self._cells))
        self._tables = np.full((2, self._cells), 0.5)
        self._seen, self._tabled = 0, 0

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        self._counts[:] = 0
        self._seen = self._tabled = 0
        self.add(values, left)

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        side = np.where(left[seen], 0, self._cells)
        found = np.bincount(side + self._cell(values[seen]), minlength=2 * self._cells)
        self._counts += found.reshape(2, self._cells)
        self._seen += int(seen.sum())

    def predict(self, values: np.ndarray) -> np.ndarray:
        if self._seen > _STALE * self._tabled:
            self._tables, self._tabled = self._tabulated(), self._seen
        seen = ~np.isnan(values)
        found = np.full((len(self.names), len(values)), np.nan)
        found[:, seen] = self._tables[:, self._cell(values[seen])]
        return found

    def _tabulated(self) -> np.ndarray:
        """Either opinion in each of the finest cells; shape (2, cells)."""
        half = self._cells // 2
        folded = tree_predictions(self._counts[:, half:] + self._counts[:, half - 1 :: -1])
        return np.vstack([tree_predictions(self._counts), np.hstack([folded[::-1], folded])])

    def _cell(self, values: np.ndarray) -> np.ndarray:
        place = (1 + values / (1 + np.abs(values))) / 2
        return np.minimum((place * self._cells).astype(np.int64), self._cells - 1)


class AtomExpert:
    """Counts of outputs that repeat; sleeps on what it has not seen."""

    def __init__(self, name: str) -> None:
        self.names = (name,)
        self._counts: dict[int, list[int]] = {}

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        self._counts.clear()
        self.add(values, left)

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        for key, side in zip(values.tolist(), left.tolist(), strict=True):
            if key in self._counts or len(self._counts) < _MOST_ATOMS:
                self._counts.setdefault(key, [0, 0])[0 if side else 1] += 1

    def predict(self, values: np.ndarray) -> np.ndarray:
        seen = [self._counts.get(key) for key in values.tolist()]
        found = [np.nan if c is None else (c[0] + _HALF) / (c[0] + c[1] + 2 * _HALF) for c in seen]
        return np.array(found)[None]


class StatedExpert:
    """Takes the stated log-likelihood ratio at its word."""

    names = ("stated ratio",)

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        """Nothing to learn."""

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        """Nothing to learn."""

    def predict(self, values: np.ndarray) -> np.ndarray:
        return np.asarray(special.expit(values))[None]


class NoOpinion:
    """Says one half to everything: what the others must beat before much is staked on them."""

    names = ("no opinion",)

    def fit(self, values: np.ndarray, left: np.ndarray) -> None:
        """Nothing to learn."""

    def add(self, values: np.ndarray, left: np.ndarray) -> None:
        """Nothing to learn."""

    def predict(self, values: np.ndarray) -> np.ndarray:
        return np.full((1, len(values)), 0.5)
