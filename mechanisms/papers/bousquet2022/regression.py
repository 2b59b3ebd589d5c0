"""The application to regression, as an estimator of scikit-learn: the conditional mean of a private density.

Bousquet et al. (2022), after Theorem 4.3: release a density of (x, y) by Algorithm 3, draw data from it, and run a
learner without privacy on them. Departure: the learner is the mean target of each cube and the number of draws is
infinite, so that nothing is drawn. Any other learner is fitted to `learner_.sample(n)`: `learned_cases` has four.
"""

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import validate_data

from audit import EstimatorCheck, InequalityCheck, Labeled
from audit.laws import Law
from mechanisms.estimators import PrivateEstimator, StatedRelease
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity, heights, with_heights
from mechanisms.papers.bousquet2022.grids import UnitGrid, keys_of, product_grid, side_for
from mechanisms.papers.bousquet2022.tables import state
from mechanisms.papers.rows import BOUSQUET, Cases

WHERE = "Applications of our techniques, after Theorem 4.3"
_FITS = 3


@dataclass(eq=False, repr=False)
class CubeMeanRegressor(RegressorMixin, PrivateEstimator):
    """Mean target of each cube of a private density; (epsilon, delta)-DP under substitution of a record.

    Cubes with few records are not released. Where that is all of them, `fit` warns, and each prediction is the middle
    of `target_bounds`.

    Parameters
    ----------
    epsilon : float >= 2^-52
    delta : float in (0, 1)
    bounds, projection
        See `PrivateEstimator`.
    target_bounds : (float, float)
        Public; targets are clipped to them.
    random_state : int, optional
        For tests only: a known seed gives no privacy.

    Attributes
    ----------
    learner_ : CubeDensity
        The release: the density of features and targets in the unit interval.
    privacy_spent_ : PrivacySpent

    References
    ----------
    Bousquet et al. 2022, Applications of our techniques; Algorithm 3, Theorem 4.2.
    """

    epsilon: float = 1.0
    delta: float = 1e-4
    bounds: Any = (-3.0, 3.0)
    projection: Any = 1
    target_bounds: Any = (-3.0, 3.0)
    random_state: Any = None

    def _fit(self, X: Any, y: Any) -> None:
        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True)
        if y.dtype.kind not in "biuf":
            raise ValueError(f"`y` must hold real numbers, got {y[:1]!r}")
        self._warn_of_leaks(len(X))
        rows = self._pairs(X, y)
        self._keep(CubeDensity(rows.shape[1], self.epsilon, self.delta, random_state=self.random_state).fit(rows))

    def _pairs(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return features and targets in the unit cube."""
        low, high = self._target_ends()
        return np.column_stack([self._mapped(X), (np.clip(y, low, high) - low) / (high - low)])

    def _target_ends(self) -> tuple[float, float]:
        try:
            ends: Any = None if isinstance(self.target_bounds, (set, frozenset)) else self.target_bounds
            low, high = (float(end) for end in ends)
        except (TypeError, ValueError):
            low, high = math.nan, math.nan
        if not (low < high and math.isfinite(low) and math.isfinite(high)):
            raise ValueError(f"`target_bounds` must be finite (low, high) with low < high, got {self.target_bounds!r}")
        return low, high

    def _keep(self, learner: CubeDensity) -> None:
        if not learner.counts_:
            warnings.warn("no cube holds enough records: all predictions are the same", UserWarning, stacklevel=4)
        super()._keep(learner)

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean target of the cube of each row of X."""
        rows = self._checked(X)
        low, high = self._target_ends()
        return np.asarray(low + (high - low) * conditional_mean(self.learner_, rows))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True  # a budget of 1 on a hundred records
        return tags


def conditional_mean(density: CubeDensity, rows: np.ndarray) -> np.ndarray:
    """Return the mean of the last coordinate given the others; that of all cubes elsewhere, 1/2 without any cube."""
    sums: dict[tuple[int, ...], np.ndarray] = {}
    for (*cube, level), count in density.counts_.items():
        parts = np.array([count, count * (level + 0.5) * density.side])
        sums[tuple(cube)] = sums.get(tuple(cube), 0.0) + parts
    overall = sum(sums.values(), np.zeros(2))
    rest = overall[1] / overall[0] if sums else 0.5
    return np.array([sums[key][1] / sums[key][0] if key in sums else rest for key in keys_of(rows, density.side)])


class CubeMeanRelease(StatedRelease):
    """A noisy count for each cube of features and targets, 0 where it is not released."""

    def reveal(self, fitted: CubeMeanRegressor) -> tuple[Any, Any]:
        """Return the counts of all cubes of the unit cube."""
        return heights(self._cubes(fitted.learner_.n_), fitted.learner_), None

    def law(self, dataset: Labeled) -> Law:
        """Return the law of independent counts."""
        rows = self.estimator._pairs(np.asarray(dataset.X, dtype=float), np.asarray(dataset.y, dtype=float))
        grid = self._grid(len(rows))
        histogram = StabilityHistogram(self.estimator.epsilon, self.estimator.delta, tuple(range(grid.size)))
        return histogram.law(grid.cell_of(rows))

    def _learner(self, fresh: Any, revealed: tuple[Any, Any], n: int, rows: Any) -> CubeDensity:
        return with_heights(self._cubes(n), CubeDensity(self._dim + 1, fresh.epsilon, fresh.delta), revealed[0], n)

    def _grid(self, n: int) -> UnitGrid:
        return UnitGrid(self._dim + 1, side_for(n, self._dim + 1))

    def _cubes(self, n: int) -> tuple[tuple[int, ...], ...]:
        grid = self._grid(n)
        return tuple(map(tuple, product_grid(*[np.arange(grid.cuts)] * grid.dim).tolist()))


def regression(x: np.ndarray) -> np.ndarray:
    """Return E(y | x) of the records below."""
    return np.asarray(0.5 + 0.4 * np.sin(3 * x))


def density_of(n: int, seed: int) -> CubeDensity:
    """Return a private density of n records (x, y), epsilon = 1, delta = 1e-6, the same at every call."""
    rng = np.random.default_rng([n, seed])
    x = rng.random(n)
    rows = np.column_stack([x, regression(x) + rng.uniform(-0.1, 0.1, n)])
    return CubeDensity(2, 1.0, 1e-6, random_state=seed).fit(rows)


@BOUSQUET.states("regression error", WHERE)
def error_cases() -> Cases:
    """The mean squared distance from E(y | x) is at most an eighth of the squared side, which tends to 0."""
    # Within a cube E(y | x) rises by at most 1.2 sides, a mean square of 0.12 of it; the rest pays for noise.
    grid = (np.arange(2_000) + 0.5)[:, None] / 2_000
    for n in (1_000, 10_000, 100_000):
        errors = [_error(conditional_mean(density_of(n, k), grid), grid) for k in range(_FITS)]
        yield f"n={n}", float(np.mean(errors)), n**-0.5 / 8


def learned_cases(draws: int | None = None) -> Cases:
    """Compare the error of other learners on draws from the density with an eighth of the squared side."""
    # As many draws as records unless told; kernel ridge on 2,000 at most.
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    grid = (np.arange(500) + 0.5)[:, None] / 500
    for n in (1_000, 10_000, 100_000):
        density, many, rng = density_of(n, 0), round((draws or n) ** 0.6), np.random.default_rng(n)
        learners = {
            "neighbors": KNeighborsRegressor(many),
            "tree": DecisionTreeRegressor(min_samples_leaf=many, random_state=0),
            "forest": RandomForestRegressor(10, min_samples_leaf=many, random_state=0),
            "kernel ridge": KernelRidge(kernel="rbf", gamma=10.0, alpha=1.0),
        }
        for name, learner in learners.items():
            drawn = density.sample(min(draws or n, 2_000 if name == "kernel ridge" else n), rng)
            found = learner.fit(drawn[:, :1], drawn[:, 1]).predict(grid)
            yield f"{name} n={n}", _error(found, grid), n**-0.5 / 8


def _error(found: np.ndarray, grid: np.ndarray) -> float:
    return float(np.mean((found - regression(grid[:, 0])) ** 2))


_ROWS = np.random.default_rng(4).uniform(-3, 3, size=(30, 2)).round(2)
_TARGETS = np.repeat([0.5, -20.0], [18, 12])  # the second is clipped
_SAID = "The mean squared distance from E(y | x) is at most an eighth of the squared side, which tends to 0."


def _called(name: str, learner: Any, stated: CubeMeanRegressor) -> EstimatorCheck:
    name, release = f"theorem 4.2 as called, CubeMeanRegressor {name}", CubeMeanRelease(stated, 2)
    where, claimed = "Theorem 4.2, exact constants", (stated.epsilon, stated.delta / 4)
    return BOUSQUET.check_fits(name, where, learner, Labeled(_ROWS, _TARGETS), claimed, release, budget=2_000)


@BOUSQUET.states("theorem 4.2 CubeMeanRegressor by default", sense="==")
def default_cases() -> Cases:
    """The defaults are those stated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = CubeMeanRegressor().fit(_ROWS, _TARGETS)
    spent, density = fitted.privacy_spent_, fitted.learner_
    return [
        ("epsilon spent", spent.epsilon, 1.0),
        ("delta spent", spent.delta, 1e-4),
        ("epsilon of the density", density.epsilon, 1.0),
        ("delta of the density", density.delta, 1e-4),
    ]


def learned_check(name: str, draws: int | None = None) -> InequalityCheck:
    """Return the check of the error of other learners."""
    return state(name, _SAID, partial(learned_cases, draws), where=WHERE)


CHECKS: list[Any] = [
    *BOUSQUET.rows(__name__),
    learned_check("regression error, other learners"),
    _called("few cubes", CubeMeanRegressor(4.0, 0.1), CubeMeanRegressor(4.0, 0.1, (-3.0, 3.0), 1, (-3.0, 3.0))),
]
