"""One private vote per cell: its exact distribution, its aggregate sampler, and its exact mean excess risk.

The vote of a cell is 1 where s + W > 0, s = sum of (label - 1/2) over its records and W Laplace noise of scale
1 / epsilon. A rule that is constant on cells depends on a distribution through `Cells` only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from audit.errors import InvalidArgument
from audit.laws import Finite, Product
from audit.validate import integer, positive
from mechanisms.consistency.binomials import by_distinct
from mechanisms.distributions import Distribution

FloatArray = np.ndarray
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)
_FAR = 10.0


@dataclass(frozen=True, eq=False)
class Cells:
    """Facts about a distribution that a rule needs which is constant on cells.

    Parameters
    ----------
    mass, positive : arrays, shape (cells,)
        P(cell), and the integral of eta over it.
    cost_of_one, cost_of_zero : arrays, shape (cells,)
        Excess risk of predicting 1, or 0, on the whole cell.
    """

    mass: FloatArray
    positive: FloatArray
    cost_of_one: FloatArray
    cost_of_zero: FloatArray

    @classmethod
    def of(cls, distribution: Distribution, low: ArrayLike, high: ArrayLike) -> Cells:
        """Integrate a distribution over boxes [low, high)."""
        mass, signed, absolute = distribution.integrals_over(low, high)
        positive = np.clip((mass + signed) / 2, 0.0, mass)
        return cls(mass, positive, np.maximum(absolute - signed, 0.0) / 2, np.maximum(absolute + signed, 0.0) / 2)

    @classmethod
    def of_points(cls, index: np.ndarray, weights: FloatArray, margins: FloatArray, size: int) -> Cells:
        """Sum over weighted points with known margins: exact for the distribution on these points."""

        def total(values: FloatArray) -> FloatArray:
            return np.bincount(index, weights=weights * values, minlength=size)

        ones = np.ones(len(weights))
        return cls(total(ones), total((1 + margins) / 2), total(np.maximum(-margins, 0)), total(np.maximum(margins, 0)))

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def share(self) -> FloatArray:
        """Mean of eta on each cell; 0 where the mass is 0."""
        return np.divide(self.positive, self.mass, out=np.zeros(len(self)), where=self.mass > 0)

    def kept(self, which: np.ndarray) -> Cells:
        """Return some of the cells."""
        return Cells(self.mass[which], self.positive[which], self.cost_of_one[which], self.cost_of_zero[which])

    def counts(self, n: int, size: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the numbers of records, and of label-1 records, of every cell, shape (size, cells).

        Counts are multinomial; mass outside the cells is one more cell that is not shown.
        """
        rest = max(0.0, 1 - math.fsum(self.mass))
        probabilities = np.append(self.mass, rest)
        total = rng.multinomial(integer(n, "n", at_least=1), probabilities / probabilities.sum(), size=size)[:, :-1]
        return total, rng.binomial(total, np.clip(self.share, 0.0, 1.0))

    def excess(self, bits: np.ndarray) -> FloatArray:
        """Return the excess risk of rules given by one bit a cell, shape (size, cells)."""
        return bits @ (self.cost_of_one - self.cost_of_zero) + self.cost_of_zero.sum()


def vote_probability(epsilon: float, s: ArrayLike) -> FloatArray:
    """Return P(s + W > 0) for W ~ Laplace(1 / epsilon), without cancellation on either side."""
    at = np.asarray(s, dtype=float) * positive(epsilon, "epsilon")
    tail = np.exp(-np.abs(at)) / 2
    return np.where(at > 0, 1 - tail, tail)


def vote_law(epsilon: float, sums: FloatArray) -> Product:
    """Return the law of the votes of cells with the given sums: independent bits."""
    ones = vote_probability(epsilon, sums).tolist()
    return Product(tuple(Finite({1: one, 0: 1 - one}) for one in ones))


def sample_votes(cells: Cells, n: int, epsilon: float, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the votes of all cells from n fresh records, shape (size, cells), by their counts: the aggregate sampler."""
    total, ones = cells.counts(n, size, rng)
    return (ones - total / 2 + rng.laplace(scale=1 / epsilon, size=total.shape) > 0).astype(np.int8)


def excess_losses(cells: Cells, n: int, epsilon: float, replicates: int, rng: np.random.Generator) -> FloatArray:
    """Draw the excess risk of `replicates` independent fits, one after the other to bound the memory."""
    return np.array([float(cells.excess(sample_votes(cells, n, epsilon, 1, rng))[0]) for _ in range(replicates)])


def mean_vote(n: int, mass: FloatArray, positive_mass: FloatArray, epsilon: float) -> FloatArray:
    """Return P(vote = 1) over records and noise, exactly, for each cell.

    With D = (label-1 records) - (label-0 records) of the cell, s = D / 2. By Parseval's identity on the integers,

        P(vote = 1) = 1/2 + (1/pi) int_0^pi Im phi(t) K(t) dt,   a = epsilon / 2,
        phi(t) = (1 - p + q e^(it) + (p - q) e^(-it))^n,
        K(t) = cot(t/2)/2 - e^-a sin t / (1 - 2 e^-a cos t + e^-2a),

    p the mass and q the label-1 mass. Where the mean of D is ten deviations away from 0 the probability of the wrong
    vote is a moment-generating function, E e^(-a|D|) / 2, up to e^-30.
    """
    integer(n, "n", at_least=1)
    half = positive(epsilon, "epsilon") / 2
    p, q = (np.asarray(v, dtype=float) for v in (mass, positive_mass))
    if p.shape != q.shape or np.any(q < 0) or np.any(q > p) or np.any(p > 1 + 1e-9):
        raise InvalidArgument("`positive_mass` must lie between 0 and `mass`, and `mass` at most 1")
    return by_distinct(lambda u, v: _mean_vote(n, u, v, half), p, q)


def mean_excess(cells: Cells, n: int, epsilon: float) -> float:
    """Return the exact mean excess risk of the private votes, without sampling."""
    relevant = cells.kept(cells.cost_of_one + cells.cost_of_zero > 0)
    ones = mean_vote(n, relevant.mass, relevant.positive, epsilon)
    return float(np.sum(ones * relevant.cost_of_one + (1 - ones) * relevant.cost_of_zero))


def _mean_vote(n: int, p: FloatArray, q: FloatArray, a: float) -> FloatArray:
    tilt = 2 * q - p
    mean, deviation = n * tilt, np.sqrt(n * np.maximum(p - tilt**2, 0.0))
    far = np.abs(mean) >= _FAR * deviation
    end = np.minimum(math.pi, 14 / np.maximum(deviation, 1e-9))
    values = np.full(p.shape, 0.5)
    for near, start in ((~far, np.zeros(p.shape)), (~far & (p > 0.5), np.maximum(end, math.pi - end))):
        values[near] += _inversion(n, p[near], tilt[near], start[near], np.where(start == 0, end, math.pi)[near], a)
    some = far & (mean != 0)
    values[some] = _by_moments(n, p[some], tilt[some], deviation[some], a)
    return np.clip(values, 0.0, 1.0)


def _inversion(n: int, p: FloatArray, tilt: FloatArray, start: FloatArray, end: FloatArray, a: float) -> FloatArray:
    """Integrate over [start, end]: phi is negligible but near 0 and, for p > 1/2 (D has the parity of n), near pi."""
    half = (end - start) / 2
    t = start[:, None] + half[:, None] * (_NODES + 1)
    real, imaginary = p[:, None] * (np.cos(t) - 1), tilt[:, None] * np.sin(t)
    size = np.exp(n / 2 * np.log1p(np.maximum(2 * real + real**2 + imaginary**2, -1 + 1e-300)))
    wave = size * np.sin(n * np.arctan2(imaginary, 1 + real))
    decay = math.exp(-a)
    kernel = 0.5 / np.tan(t / 2) - decay * np.sin(t) / (1 - 2 * decay * np.cos(t) + decay**2)
    return np.asarray((wave * kernel) @ _WEIGHTS * half / math.pi)


def _by_moments(n: int, p: FloatArray, tilt: FloatArray, deviation: FloatArray, a: float) -> FloatArray:
    """Return P(vote = 1) where D hardly ever has the wrong sign; the exponent is held back where it would overshoot."""
    mean = n * np.abs(tilt)
    s = np.minimum(a, mean / np.maximum(deviation**2, 1e-300))
    less, more = (p + np.abs(tilt)) / 2, (p - np.abs(tilt)) / 2  # masses of the winning and the losing label
    log_moment = n * np.log1p(less * np.expm1(-s) + more * np.expm1(s))
    wrong = np.exp(np.minimum(log_moment, 0.0)) / 2
    return np.where(tilt > 0, 1 - wrong, wrong)
