"""Private regression: the conditional mean of a private density of records and targets.

Implements the application to regression of Bousquet et al. (2022): release a density of (x, y) by Algorithm 3, draw
data from it, and run a learner without privacy on them. All that comes after the density costs nothing.

Departure: the learner of `CubeRegressor` is the mean target of each cube of features, and the number of draws is
infinite, so that `predict` is the conditional mean of the density itself and nothing is drawn. Any other learner is
fitted to `density_.sample(n)`, whose last column is the target: `learned_cases` does so with four of scikit-learn.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np

from audit import InequalityCheck
from audit.errors import InvalidArgument
from audit.validate import integer, open_probability, positive
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.grids import SpaceGrid
from mechanisms.consistency.records import features
from mechanisms.estimator import Estimator

SOURCE = "Bousquet et al. 2022, Applications of our techniques, after Theorem 4.3"
_FITS = 3


class CubeRegressor(Estimator):
    """Private estimator of E(y | x), constant on cubes; exactly (epsilon, delta / 4)-DP under substitution.

    Parameters
    ----------
    dim : int >= 1
        Of the features.
    epsilon : float > 0
    delta : float in (0, 1)
    random_state : int, optional
        Repeats the noise exactly; for tests only.

    Attributes
    ----------
    density_ : CubeDensity
        The released density of (x, y), on dim + 1 coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.random.default_rng(0).random(5_000)
    >>> learner = CubeRegressor(epsilon=1.0, delta=1e-6, random_state=0).fit(x, 0.2 + 0.6 * x)
    >>> learner.predict([0.1, 0.9]).round(1).tolist()
    [0.2, 0.7]
    """

    def __init__(
        self, dim: int = 1, epsilon: float = 1.0, delta: float = 1e-6, random_state: int | None = None
    ) -> None:
        self.dim = integer(dim, "dim", at_least=1)
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = open_probability(delta, "delta")
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Release the density of features X, shape (n, dim), and targets y, shape (n,)."""
        rows, targets = features(X, self.dim), np.asarray(y, dtype=float)
        if targets.shape != (len(rows),) or not np.all(np.isfinite(targets)):
            raise InvalidArgument.of("y", f"be finite numbers of shape ({len(rows)},)", targets)
        density = CubeDensity(self.dim + 1, self.epsilon, self.delta, random_state=self.random_state)
        self.density_ = density.fit(np.column_stack([rows, targets]))
        self.density_.random_state = None  # a seed would repeat the noise
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the mean target in the cube of each row; that of all cubes where none is retained, 1/2 without any."""
        density = self._fitted("density_")
        sums: dict[tuple[int, ...], np.ndarray] = {}
        overall = np.zeros(2)
        for (*cube, level), count in density.counts_.items():
            parts = np.array([count, count * (level + 0.5) * density.side_])
            sums[tuple(cube)] = sums.get(tuple(cube), 0.0) + parts
            overall = overall + parts
        rest = overall[1] / overall[0] if density.counts_ else 0.5
        keys = SpaceGrid(self.dim, density.side_).keys_of(features(X, self.dim))
        return np.array([sums[key][1] / sums[key][0] if key in sums else rest for key in keys])


def regression(x: np.ndarray) -> np.ndarray:
    """Return E(y | x) of the records below."""
    return np.asarray(0.5 + 0.4 * np.sin(3 * x))


def excess(learner: CubeRegressor, n: int) -> float:
    """Return the mean of (prediction - E(y | x))^2 over features and a few fits, the same ones at every call."""
    grid, total = (np.arange(2_000) + 0.5) / 2_000, 0.0
    for seed in range(_FITS):
        rng = np.random.default_rng([n, seed])
        x = rng.random(n)
        y = regression(x) + rng.uniform(-0.1, 0.1, n)
        learner.set_params(random_state=seed)
        total += float(np.mean((learner.fit(x, y).predict(grid) - regression(grid)) ** 2))
    return total / _FITS


def excess_cases(sizes: tuple[int, ...]) -> list[tuple[str, float, float]]:
    """Compare the excess at epsilon = 1, delta = 1e-6 with an eighth of the squared side of the cubes.

    Within a cube E(y | x) rises by at most 1.2 sides, a mean square of 0.12 of it; the rest pays for noise.
    """
    return [(f"n={n}", excess(CubeRegressor(), n), n**-0.5 / 8) for n in sizes]


def others(n: int) -> dict[str, Any]:
    """Return learners without privacy that are consistent here, for n records."""
    from sklearn.ensemble import RandomForestRegressor
    from sklearn.kernel_ridge import KernelRidge
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.tree import DecisionTreeRegressor

    many = round(n**0.6)
    forest = RandomForestRegressor(10, min_samples_leaf=many, random_state=0)
    kernel = KernelRidge(kernel="rbf", gamma=10.0, alpha=1.0)
    tree = DecisionTreeRegressor(min_samples_leaf=many, random_state=0)
    return {"neighbors": KNeighborsRegressor(many), "tree": tree, "forest": forest, "kernel ridge": kernel}


def learned_cases(draws: int | None = None) -> list[tuple[str, float, float]]:
    """Compare the excess of other learners on draws from the released density with an eighth of the squared side.

    As many draws as records unless told; kernel ridge on 2,000 at most.
    """
    grid, cases = (np.arange(500) + 0.5) / 500, []
    for n in (1_000, 10_000, 100_000):
        rng = np.random.default_rng(n)
        x = rng.random(n)
        density = CubeDensity(2, 1.0, 1e-6, random_state=n).fit(
            np.column_stack([x, regression(x) + rng.uniform(-0.1, 0.1, n)])
        )
        for name, learner in others(n).items():
            drawn = density.sample(min(draws or n, 2_000 if name == "kernel ridge" else n), rng)
            if name != "kernel ridge" and draws:
                learner.set_params(**{"n_neighbors" if name == "neighbors" else "min_samples_leaf": round(draws**0.6)})
            found = learner.fit(drawn[:, :1], drawn[:, 1]).predict(grid[:, None])
            cases.append((f"{name} n={n}", float(np.mean((found - regression(grid)) ** 2)), n**-0.5 / 8))
    return cases


def learned_check(name: str, draws: int | None = None, **settings: Any) -> InequalityCheck:
    """Return a check of the excess of other learners."""
    return InequalityCheck(
        name=name,
        source=SOURCE,
        statement="Learners without privacy, on draws from the density, err by an eighth of the squared side at most.",
        values=partial(learned_cases, draws),
        **settings,
    )


CHECKS: list[InequalityCheck] = [
    learned_check("consistency/regression error, other learners"),
    InequalityCheck(
        name="consistency/regression error",
        source=SOURCE,
        statement="The mean squared distance from E(y | x) is at most an eighth of the squared side, which tends to 0.",
        values=partial(excess_cases, (1_000, 10_000, 100_000)),
    ),
]
