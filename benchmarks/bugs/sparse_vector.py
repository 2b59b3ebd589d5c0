"""The sparse vector technique: six published variants, the numerical one, and two side by side.

From Lyu, Su & Li (VLDB 2017, Algorithms 1 to 6) with the parameters of DP-Sniper (S&P 2021). One output is a row
with one entry a query. Flags are symbols of their own, not numbers: codes that no released value takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

BELOW, ABOVE, STOPPED = 0, 1, 2  # flags of the variants that release flags only
NO_VALUE, NOT_ASKED = -math.inf, math.inf  # flags of the variants that release values: below, and after the stop


@dataclass(frozen=True)
class SparseVector:
    """Release which queries lie above a noisy threshold, until `cutoff` of them did.

    Parameters
    ----------
    threshold : float
        The public threshold.
    threshold_scale, query_scale : float >= 0
        Scales of the Laplace noise of the threshold and of each query; 0 means none.
    cutoff : int >= 1 or None
        Number of queries above after which the rest is not asked; None never stops.
    redraw : bool
        Whether the threshold's noise is drawn anew after each query above.
    release : {"flag", "compared", "fresh"}
        What a query above releases: a flag, the noisy value that was compared, or its answer with fresh noise.
    fresh_scale : float >= 0
        Scale of the fresh noise.
    """

    threshold: float
    threshold_scale: float
    query_scale: float
    cutoff: int | None = 1
    redraw: bool = False
    release: Literal["flag", "compared", "fresh"] = "flag"
    fresh_scale: float = 0.0

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        answers = np.asarray(dataset, dtype=float)
        noisy: np.ndarray = answers + rng.laplace(scale=self.query_scale, size=(size, len(answers)))
        above, asked = self._compare(noisy, rng)
        if self.release == "flag":
            return np.where(asked, above, STOPPED).astype(np.int8)
        if self.release == "fresh":
            noisy = answers + rng.laplace(scale=self.fresh_scale, size=noisy.shape)
        return np.where(asked, np.where(above, noisy, NO_VALUE), NOT_ASKED)

    def _compare(self, noisy: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Return whether each query is above the threshold, and whether it was asked; each of shape (size, n)."""
        size, queries = noisy.shape
        above, asked = np.zeros((2, size, queries), dtype=bool)
        rho = np.asarray(rng.laplace(scale=self.threshold_scale, size=size))
        found = np.zeros(size, dtype=int)
        for i in range(queries):
            asked[:, i] = True if self.cutoff is None else found < self.cutoff
            above[:, i] = asked[:, i] & (noisy[:, i] >= self.threshold + rho)
            found += above[:, i]
            if self.redraw:
                rho = np.where(above[:, i], rng.laplace(scale=self.threshold_scale, size=size), rho)
        return above, asked


@dataclass(frozen=True)
class SideBySide:
    """Several mechanisms on the same dataset, their rows joined.

    Parameters
    ----------
    parts : tuple of callables
        Mechanisms that release rows.
    """

    parts: tuple[Callable[[Any, int, np.random.Generator], np.ndarray], ...]

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.concatenate([part(dataset, size, rng) for part in self.parts], axis=1)


def svt1(e: float, c: int = 1) -> SparseVector:
    """The correct one, epsilon = e."""
    return SparseVector(0.5, 2 / e, 4 * c / e, c)


def svt2(e: float, c: int = 1) -> SparseVector:
    """Redraws the threshold, and scales its noise to pay for it; epsilon = e."""
    return SparseVector(1.0, 2 * c / e, 4 * c / e, c, redraw=True)


def svt3(e: float, c: int = 1) -> SparseVector:
    """Releases the very value that was compared: infinite epsilon."""
    return SparseVector(1.0, 2 / e, 2 * c / e, c, release="compared")


def svt4(e: float, c: int = 1) -> SparseVector:
    """Too little query noise: epsilon = (1 + 6 c) e / 4."""
    return SparseVector(1.0, 4 / e, 4 / (3 * e), c)


def svt5(e: float) -> SparseVector:
    """No query noise, no stop: infinite epsilon."""
    return SparseVector(1.0, 2 / e, 0.0, cutoff=None)


def svt6(e: float) -> SparseVector:
    """No stop: epsilon grows with the number of queries."""
    return SparseVector(1.0, 2 / e, 2 / e, cutoff=None)


def numerical_svt(e: float, c: int = 2) -> SparseVector:
    """Releases answers with fresh noise; epsilon = e."""
    return SparseVector(1.0, 3 / e, 6 * c / e, c, release="fresh", fresh_scale=3 * c / e)
