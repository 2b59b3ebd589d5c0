"""Rules that are constant on cells: private votes with their exact law, and exact risks at any number of records.

The vote of a cell is 1 where s + W > 0, s = sum of (label - 1/2) over its records, W ~ Laplace(1 / epsilon):
`draw_votes` is the release of Algorithms 2 and 4. Such a rule depends on a distribution through `Cells` only.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from audit import Labeled
from audit.laws import Finite, Law, Product
from audit.validate import integer, positive
from mechanisms.distributions import Distribution
from mechanisms.papers.bousquet2022.grids import boxes_between, edges_within

FloatArray = np.ndarray
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(160)
_FAR, _CHUNK = 10.0, 1 << 13


def draw_votes(sums: FloatArray, epsilon: float, rng: np.random.Generator) -> np.ndarray:
    """Release the votes of cells with the given sums, of any shape; noise for every cell, empty ones included."""
    return (sums + rng.laplace(scale=1 / epsilon, size=np.shape(sums)) > 0).astype(np.int8)


def vote_probability(epsilon: float, s: ArrayLike) -> FloatArray:
    """Return P(s + W > 0) for W ~ Laplace(1 / epsilon), without cancellation on either side."""
    at = np.asarray(s, dtype=float) * positive(epsilon, "epsilon")
    tail = np.exp(-np.abs(at)) / 2
    return np.where(at > 0, 1 - tail, tail)


def bit_law(chances: FloatArray) -> Product:
    """Return the law of independent bits that are 1 with the given probabilities."""
    return Product(tuple(Finite({1: chance, 0: 1 - chance}) for chance in chances.tolist()))


def vote_law(epsilon: float, sums: FloatArray) -> Product:
    """Return the law of the votes of cells with the given sums: independent bits."""
    return bit_law(vote_probability(epsilon, sums))


@dataclass(frozen=True)
class DrawnVotes:
    """The release of Algorithm 2 or 4 as a mechanism, drawn `size` times by the function that `fit` calls."""

    epsilon: float
    sums: Callable[[Labeled], FloatArray]  # dataset -> sum of (label - 1/2) over each cell

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        sums = self.sums(dataset)
        return draw_votes(np.broadcast_to(sums, (size, sums.size)), self.epsilon, rng)

    def law(self, dataset: Labeled) -> Law:
        """Law of one output: independent bits."""
        return vote_law(self.epsilon, self.sums(dataset))


@dataclass(frozen=True, eq=False)
class Cells:
    """Facts about a distribution that a rule needs which is constant on cells; arrays of shape (cells,)."""

    mass: FloatArray  # P(cell)
    positive: FloatArray  # the integral of eta over it
    cost_of_one: FloatArray  # the excess risk of predicting 1 on the whole cell
    cost_of_zero: FloatArray

    @classmethod
    def over_boxes(cls, distribution: Distribution, low: ArrayLike, high: ArrayLike) -> Cells:
        """Integrate a distribution over boxes [low, high)."""
        mass, signed, absolute = distribution.integrals_over(low, high)
        positive = np.clip((mass + signed) / 2, 0.0, mass)
        return cls(mass, positive, np.maximum(absolute - signed, 0.0) / 2, np.maximum(absolute + signed, 0.0) / 2)

    @classmethod
    def over_points(cls, index: np.ndarray, weights: FloatArray, margins: FloatArray) -> Cells:
        """Sum over weighted points with margins 2 eta - 1 in the cells named: exact for the law on these points."""
        parts = (np.ones(len(weights)), (1 + margins) / 2, np.maximum(-margins, 0), np.maximum(margins, 0))
        return cls(*(np.bincount(index, weights=weights * part) for part in parts))

    def merge(self, index: np.ndarray) -> Cells:
        """Return cells made of several of these."""
        return Cells(*(np.bincount(index, weights=getattr(self, part.name)) for part in fields(self)))

    def select(self, which: np.ndarray) -> Cells:
        """Return some of the cells."""
        return Cells(*(getattr(self, part.name)[which] for part in fields(self)))

    def __len__(self) -> int:
        return len(self.mass)

    @property
    def share(self) -> FloatArray:
        """Mean of eta on each cell; 0 where the mass is 0."""
        return np.divide(self.positive, self.mass, out=np.zeros(len(self)), where=self.mass > 0)

    def counts(self, n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw the numbers of records, and of label-1 records, of every cell, from n records; shape (cells,)."""
        # Counts are multinomial; mass outside the cells is one more cell that is not shown.
        total = multinomial(n, self.mass, rng)
        return total, rng.binomial(total, np.clip(self.share, 0.0, 1.0))

    def excess(self, bits: np.ndarray) -> float:
        """Return the excess risk of a rule given by one bit a cell."""
        return float(bits @ (self.cost_of_one - self.cost_of_zero) + self.cost_of_zero.sum())


def multinomial(n: int, mass: FloatArray, rng: np.random.Generator) -> np.ndarray:
    """Draw the counts of n records in cells of the given mass; the others lie outside."""
    chances = np.append(mass, max(0.0, 1 - math.fsum(mass)))
    return rng.multinomial(integer(n, "n", at_least=1), chances / chances.sum())[:-1]


def visited_window(law: Any, side: float, least: float, shift: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Return the corners of a window of cubes; beyond, none has mass `least` if the law's tails fall from 4 on."""
    reach, others = max(4.0, side), [0.0] * (law.dim - 1)

    def mass_at(place: float) -> float:
        corner = np.array([[place, *others]]) if others else np.array([place])
        return float(law.mass(corner, corner + side)[0])

    while max(mass_at(reach), mass_at(-reach - side)) >= least:
        reach *= 2
    return boxes_between(edges_within(reach, side, shift), law.dim)


def mean_excess(cells: Cells, n: int, epsilon: float) -> float:
    """Return the exact mean excess risk of the private votes, without sampling."""
    relevant = cells.select(cells.cost_of_one + cells.cost_of_zero > 0)
    ones = mean_vote(n, relevant.mass, relevant.positive, epsilon)
    return float(np.sum(ones * relevant.cost_of_one + (1 - ones) * relevant.cost_of_zero))


def apply_once(function: Callable[..., FloatArray], *columns: FloatArray) -> FloatArray:
    """Apply a function of equally long columns once per distinct row, in chunks: many cells are alike."""
    rows = np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)
    distinct, inverse = np.unique(rows, axis=0, return_inverse=True)
    pieces = [function(*distinct[i : i + _CHUNK].T) for i in range(0, len(distinct), _CHUNK)]
    return np.concatenate(pieces)[inverse.ravel()] if pieces else np.empty(0)


def mean_vote(n: int, mass: FloatArray, positive_mass: FloatArray, epsilon: float) -> FloatArray:
    """Return P(vote = 1) over records and noise, exactly, for each cell."""
    # With D = (label-1 records) - (label-0 records) of the cell, s = D / 2. By Parseval's identity on the integers,
    #     P(vote = 1) = 1/2 + (1/pi) int_0^pi Im phi(t) K(t) dt,   a = epsilon / 2,
    #     phi(t) = (1 - p + q e^(it) + (p - q) e^(-it))^n,
    #     K(t) = cot(t/2)/2 - e^-a sin t / (1 - 2 e^-a cos t + e^-2a),
    # p the mass and q the label-1 mass. Where the mean of D is ten deviations away from 0 the probability of the wrong
    # vote is a moment-generating function, E e^(-a|D|) / 2, up to e^-30.
    return apply_once(lambda p, q: _mean_vote(n, p, q, epsilon / 2), mass, positive_mass)


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
    wrong = np.exp(np.minimum(n * np.log1p(less * np.expm1(-s) + more * np.expm1(s)), 0.0)) / 2
    return np.where(tilt > 0, 1 - wrong, wrong)


def probability_at_most(k: int, n: int, p: FloatArray) -> FloatArray:
    """Return P(Bin(n, p) <= k), by the incomplete beta function: `scipy.special.bdtr` overflows beyond n = 2^31."""
    if k < 0 or k >= n:
        return np.full(np.shape(p), 0.0 if k < 0 else 1.0)
    return np.asarray(special.betaincc(k + 1, n - k, np.clip(p, 0.0, 1.0)))


def visits_at_most(k: int, n: int, mass: FloatArray) -> float:
    """Return P(N(X) <= k): a fresh point's cell holds at most k of n records."""
    return float(np.sum(mass * apply_once(lambda p: probability_at_most(k, n, p), mass)))


def mean_inverse_visits(n: int, mass: FloatArray) -> float:
    """Return E[1{N(X) > 0} / N(X)] for a fresh point X."""
    # 1 / N is the integral of e^(-t N) dt. With t = e^x the integrand is analytic and falls off on both sides, so that
    # the trapezoid rule is exact to about 1e-12.
    return float(np.sum(mass * apply_once(lambda p: _mean_inverse(n, p), mass)))


def _mean_inverse(n: int, p: FloatArray) -> FloatArray:
    low = -np.log(max(n * float(np.max(p, initial=0.0)), 1.0)) - 40.0
    t = np.exp(np.arange(low, np.log(60.0), 0.125))
    with np.errstate(divide="ignore"):
        empty = n * np.log1p(-p)[:, None]
        generating = n * np.log1p(p[:, None] * np.expm1(-t))
    gap = np.minimum(np.where(np.isinf(generating), 0.0, empty) - np.maximum(generating, -1e300), 0.0)
    return np.asarray((np.exp(generating) * -np.expm1(gap)) @ t * 0.125)


def log_binomial(n: FloatArray | int, k: FloatArray, p: float) -> FloatArray:
    """Return the logarithm of the binomial probability of k among n; that of scipy overflows at tiny p."""
    choose = special.gammaln(np.asarray(n) + 1.0) - special.gammaln(k + 1.0) - special.gammaln(n - k + 1.0)
    return np.asarray(choose + special.xlogy(k, p) + special.xlog1py(n - k, -p))


def likely_counts(n: int, p: float) -> np.ndarray:
    """Return the positive counts within twelve deviations of the mean of Bin(n, p)."""
    spread = 12 * math.sqrt(n * p * (1 - p)) + 12
    return np.arange(max(1, math.floor(n * p - spread)), min(n, math.ceil(n * p + spread)) + 1)
