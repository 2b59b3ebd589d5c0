"""One-pass SGD is on-average stable: the deterministic pass, without any shuffling.

Theorem 2 of Bassily, Thakurta & Thakkar (2018, the interlude after Lemma 5.8) with the argument of Hardt, Recht &
Singer (2015). For i.i.d. records S, averaging over the replaced record i makes the order irrelevant: the mean of |A(S)
- A(S(i))| over i is, in expectation, that of A on shuffled data for any fixed i, so at most its uniform stability. One
pass over a convex, smooth loss does not expand, and the replaced record moves the parameters by 2 L eta_t at its own
step t, so that

    (1 / n) sum_i E |A(S) - A(S(i))| <= (2 L / n) sum_t eta_t,

and with a penalty p every later step s contracts by 1 - p eta_s: for eta_t = 10 / (t + 10) and p = 0.1 no record moves
the parameters by more than 20 / (n + 10), whatever its place.

Task: features uniform on the unit sphere of R^d, P(y = 1) = 1 / (1 + exp(-a x_1)); logistic loss, L = 1, smoothness
1/4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck, RateCheck
from audit.errors import InvalidArgument
from audit.validate import integer, nonnegative
from mechanisms.estimator import Estimator
from mechanisms.stability.base_learners import labeled
from mechanisms.stability.privacy_theorems import PAPER

FloatArray = NDArray[np.float64]
Steps = Callable[[NDArray[np.int64], int], FloatArray]  # (t = 1, ..., n; n) -> step sizes

STEPS: dict[str, Steps] = {
    "decreasing": lambda t, n: 10 / (t + 10.0),
    "root": lambda t, n: np.full(len(t), n**-0.5),
    "constant": lambda t, n: np.full(len(t), 0.5),
}


def sigmoid(z: FloatArray) -> FloatArray:
    """Return 1 / (1 + exp(-z)), without overflow."""
    return np.asarray(0.5 * (1 + np.tanh(z / 2)))


def one_pass(
    X: FloatArray, y: NDArray[np.int64], steps: FloatArray, penalty: float = 0.0, start: float = 0.0
) -> FloatArray:
    """Run theta <- theta - eta_t ((h - y_t) x_t + penalty theta) over the records in order, for many data sets at once.

    Parameters
    ----------
    X : array, shape (sets, n, d)
    y : array of 0 and 1, shape (sets, n)
    steps : array, shape (n,)
    penalty : float >= 0
    start : float
        theta at the start, in every coordinate.

    Returns
    -------
    theta : array, shape (sets, d)
    """
    theta = np.full((X.shape[0], X.shape[2]), float(start))
    for t, step in enumerate(steps):
        slope = sigmoid(np.einsum("sd,sd->s", theta, X[:, t])) - y[:, t]
        theta = theta - step * (slope[:, None] * X[:, t] + penalty * theta)
    return theta


class OnePassSGD(Estimator):
    """Logistic regression by one pass of stochastic gradients in data order; predicts P(y = 1).

    Parameters
    ----------
    steps : {"decreasing", "root", "constant"}
        10 / (t + 10), 1 / sqrt(n), 1/2.
    penalty : float >= 0
        Weight of |theta|^2 / 2.
    """

    def __init__(self, steps: str = "decreasing", penalty: float = 0.1) -> None:
        if steps not in STEPS:
            raise InvalidArgument.of("steps", f"be one of {', '.join(STEPS)}", steps)
        self.steps, self.penalty = steps, nonnegative(penalty, "penalty")

    def step_sizes(self, n: int) -> FloatArray:
        """Return eta_1, ..., eta_n."""
        return STEPS[self.steps](np.arange(1, n + 1), n)

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features of shape (n, d), |x| <= 1, and labels 0 or 1."""
        X, y = labeled(X, y)
        if np.any(np.linalg.norm(X, axis=1) > 1 + 1e-9):
            raise InvalidArgument.of("X", "have rows of norm at most 1", float(np.linalg.norm(X, axis=1).max()))
        self.coef_ = one_pass(X[None], y[None], self.step_sizes(len(X)), self.penalty)[0]
        return self

    def predict(self, X: Any) -> FloatArray:
        """Return a score in [0, 1] for each row of X."""
        return sigmoid(np.asarray(X, dtype=float) @ self._fitted("coef_"))


@dataclass(frozen=True)
class ReplaceOne:
    """Pairs of fits that differ in one record, on the task of this file.

    Parameters
    ----------
    learner : OnePassSGD
    n : int >= 1
    shuffled : bool
        Replace the first record and shuffle, in place of replacing a random one and keeping the order.
    dim : int >= 1
    slope : float
        a.
    """

    learner: OnePassSGD
    n: int
    shuffled: bool = False
    dim: int = 5
    slope: float = 4.0

    def __post_init__(self) -> None:
        integer(self.n, "n", at_least=1)
        integer(self.dim, "dim", at_least=1)

    def records(self, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[FloatArray, NDArray[np.int64]]:
        """Draw records, features of shape (*shape, d)."""
        X = rng.standard_normal((*shape, self.dim))
        X /= np.linalg.norm(X, axis=-1, keepdims=True)
        return X, (rng.random(shape) < sigmoid(self.slope * X[..., 0])).astype(np.int64)

    def fits(self, replicates: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the parameters on S and on S(i), shape (replicates, d) each."""
        X, y = self.records((replicates, self.n), rng)
        fresh_X, fresh_y = self.records((replicates,), rng)
        rows = np.arange(replicates)
        place = rng.integers(self.n, size=replicates)
        if self.shuffled:  # record 0 of S goes to a uniform place, and the others too
            order = rng.permuted(np.tile(np.arange(self.n), (replicates, 1)), axis=1)
            X, y = X[rows[:, None], order], y[rows[:, None], order]
            place = np.argmin(order, axis=1)
        steps, penalty = self.learner.step_sizes(self.n), self.learner.penalty
        first = one_pass(X, y, steps, penalty)
        X[rows, place], y[rows, place] = fresh_X, fresh_y
        return first, one_pass(X, y, steps, penalty)

    def parameter_moves(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw |A(S) - A(S(i))|."""
        first, second = self.fits(replicates, rng)
        return np.asarray(np.linalg.norm(first - second, axis=1))

    def score_moves(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        """Draw h_S(x) - h_S(i)(x) at the axes x, shape (replicates, d)."""
        first, second = self.fits(replicates, rng)
        return sigmoid(first) - sigmoid(second)

    def largest_moves(self) -> FloatArray:
        """Return 2 L eta_t prod_{s > t} (1 - p eta_s) for each place t of the record, shape (n,): never exceeded."""
        steps = self.learner.step_sizes(self.n)
        later = np.cumprod((1 - self.learner.penalty * steps)[::-1])[::-1]
        return 2 * steps * np.append(later[1:], 1.0)

    def bound(self) -> float:
        """Return the mean of the largest moves: uniform stability of the learner on shuffled data."""
        return float(self.largest_moves().mean())


@dataclass(frozen=True)
class OrderDoesNotMatter:
    """Losses: a move in data order less a move on shuffled data, of independent data."""

    pair: ReplaceOne

    def __call__(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        shuffled = replace(self.pair, shuffled=True)
        return self.pair.parameter_moves(replicates, rng) - shuffled.parameter_moves(replicates, rng)


@dataclass(frozen=True)
class SquaredMoves:
    """Losses |A(S) - A(S(i))|^2 along n."""

    learner: OnePassSGD

    def __call__(self, n: int, replicates: int, rng: np.random.Generator) -> FloatArray:
        return ReplaceOne(self.learner, n).parameter_moves(replicates, rng) ** 2

    def support(self, n: int) -> tuple[float, float]:
        """Return the range, by the largest move."""
        return 0.0, float(ReplaceOne(self.learner, n).largest_moves().max()) ** 2 * (1 + 1e-9)


def _pairs() -> dict[str, ReplaceOne]:
    penalties = {"decreasing": 0.1, "root": 0.0, "constant": 0.0}
    return {steps: ReplaceOne(OnePassSGD(steps, penalty), 50) for steps, penalty in penalties.items()}


def _identity(steps: str, pair: ReplaceOne) -> InequalityCheck:
    most = float(pair.largest_moves().max()) * (1 + 1e-9)
    return InequalityCheck(
        name=f"stability/sgd {steps} steps, order of the records",
        source=f"{PAPER}, Theorem 2",
        statement="In expectation a random record moves one pass as much in data order as on shuffled data.",
        losses=OrderDoesNotMatter(pair),
        support=(-most, most),
        bound=0.0,
        sense="==",
        tolerance=0.02 * most,
        budget=8_000,
    )


def _stability(steps: str, pair: ReplaceOne) -> InequalityCheck:
    return InequalityCheck(
        name=f"stability/sgd {steps} steps, uniform stability of shuffled data",
        source=f"{PAPER}, Theorem 2; Hardt, Recht & Singer 2015, Theorem 3.9",
        statement="One pass in data order is on-average stable with 2 L times the mean (contracted) step.",
        losses=pair.parameter_moves,
        support=(0.0, float(pair.largest_moves().max()) * (1 + 1e-9)),
        bound=pair.bound(),
        budget=2_000,
    )


CHECKS: list[InequalityCheck | RateCheck] = [
    *(make(steps, pair) for steps, pair in _pairs().items() for make in (_identity, _stability)),
    RateCheck(
        name="stability/sgd decreasing steps, rate of the stability",
        source=f"{PAPER}, Definition 5.7 and Theorem 2",
        statement="With a penalty mu^2 ~ n^-2: small against 1 / n, which Lemma 5.8 needs to be useful.",
        losses=SquaredMoves(_pairs()["decreasing"].learner),
        support=SquaredMoves(_pairs()["decreasing"].learner).support,
        sizes=(50, 100, 200, 400),
        exponent=2.0,
        margin=0.25,
        budget=8_000,
    ),
]
