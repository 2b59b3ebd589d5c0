"""Algorithm 3 (PCDE), a private density that is constant on cubes; Theorem 4.2: it is (epsilon, delta)-DP.

Bousquet et al. (2022), section 4:

    r = n^(-1 / (2 d)); partition R^d into cubes of side r
    release Algorithm 1 (epsilon, delta) on the cubes of the records: noisy counts c_j
    f(x) = c_j / (n r^d) for x in cube j

Remark 4.1: divided by its own total it is a density. Departure: where nothing is retained, the uniform density on
[0, 1]^d takes its place. The cubes depend on the public n only, so that the privacy is that of Algorithm 1.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from audit import PrivacyCheck, Released
from audit.validate import open_probability
from mechanisms.estimators import Estimator, noise_source, require_epsilon
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram, noise_scale
from mechanisms.papers.bousquet2022.grids import keys_of, side_for
from mechanisms.papers.bousquet2022.tables import in_orders, promise, promise_fits, replace_first
from mechanisms.parts.records import require_features
from mechanisms.queries import held

WHERE = "Theorem 4.2"
CUBES = ((0,), (1,), (2,))


def require_budget(learner: Any) -> None:
    """Raise unless a learner's epsilon, and its delta if it has one, are admitted."""
    noise_scale(require_epsilon(learner.epsilon))
    open_probability(getattr(learner, "delta", 0.5), "delta")


@dataclass(eq=False, repr=False)
class CubeDensity(Estimator):
    """Private density estimator that is constant on cubes; exactly (epsilon, delta / 4)-DP under substitution.

    Attributes
    ----------
    n_ : int
        Number of records, public.
    counts_ : dict from integer vectors to float
        The released noisy counts, sorted by cube.
    """

    dim: int = 1  # >= 1
    epsilon: float = 1.0  # >= 2^-52
    delta: float = 1e-6  # in (0, 1)
    normalize: bool = True  # divide by the released total, so that the estimate is a density (Remark 4.1)
    random_state: int | None = None  # repeats the noise exactly; for tests only

    def __post_init__(self) -> None:
        self.dim = held(self.dim, "dim")
        require_budget(self)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the noisy counts of records X, shape (n, dim); y is ignored."""
        rows = require_features(X, self.dim)
        cubes, rng = keys_of(rows, side_for(len(rows), self.dim)), noise_source(self.random_state)
        return self.set_release(StabilityHistogram(self.epsilon, self.delta).release(cubes, rng), len(rows))

    def set_release(self, counts: Any, n: int) -> Self:
        """Become the estimate that follows from released counts of the cubes of n records."""
        self.counts_: dict[tuple[int, ...], float] = counts
        self.n_ = n
        return self

    @property
    def side(self) -> float:
        """Side of the cubes."""
        return side_for(self._fitted("n_"), self.dim)

    @property
    def total(self) -> float:
        """Integral of the estimate before it is normalized."""
        return math.fsum(self._fitted("counts_").values()) / self.n_

    def density(self, X: Any) -> np.ndarray:
        """Return the estimate at each row."""
        counts, rows = self._fitted("counts_"), require_features(X, self.dim)
        if self.normalize and not counts:
            return np.where(np.all((rows >= 0) & (rows <= 1), axis=1), 1.0, 0.0)
        heights = np.array([counts.get(key, 0.0) for key in keys_of(rows, self.side)])
        return heights / (self.n_ * self.side**self.dim * (self.total if self.normalize else 1.0))

    def sample(self, n_samples: int = 1, random_state: int | np.random.Generator | None = None) -> np.ndarray:
        """Draw from the normalized estimate, shape (n_samples, dim); any number of draws is free."""
        rng = np.random.default_rng(random_state)
        counts, places = self._fitted("counts_"), rng.random((held(n_samples, "n_samples", at_least=0), self.dim))
        if not counts:
            return places
        weights = np.array(list(counts.values()))
        chosen = rng.choice(weights.size, size=len(places), p=weights / weights.sum())
        return (np.array(list(counts), dtype=float)[chosen] + places) * self.side


def place_in(cubes: tuple[tuple[int, ...], ...], dataset: Any) -> np.ndarray:
    """Return the number of the cube of each record; one elsewhere is refused."""
    rows = require_features(dataset, len(cubes[0]))
    return np.array([cubes.index(key) for key in keys_of(rows, side_for(len(rows), rows.shape[1]))])


def shown_counts(epsilon: float, delta: float, cubes: tuple[tuple[int, ...], ...] = CUBES) -> StabilityHistogram:
    """Return the release of Algorithm 3 on a finite list of cubes as a mechanism: Algorithm 1 on cube indices."""
    return StabilityHistogram(epsilon, delta, tuple(range(len(cubes))), partial(place_in, cubes))


def heights(cubes: tuple[tuple[int, ...], ...], density: CubeDensity) -> np.ndarray:
    """Return the released counts of some cubes."""
    return np.array([density.counts_.get(cube, 0.0) for cube in cubes])


def with_heights(cubes: tuple[tuple[int, ...], ...], density: CubeDensity, released: np.ndarray, n: int) -> CubeDensity:
    """Return the estimate that follows from the released counts of some cubes."""
    return density.set_release({cube: float(c) for cube, c in zip(cubes, released, strict=True) if c}, n)


def points_in_cubes(*counts: int) -> np.ndarray:
    """Return `counts[i]` records in the middle of cube i of the line; the side follows from their total number."""
    return (np.repeat(np.arange(len(counts)), counts) + 0.5) * side_for(sum(counts), 1)


def move_first(points: np.ndarray, cube: int) -> np.ndarray:
    """Return the same records with the first one moved to the middle of another cube."""
    return replace_first(points, (cube + 0.5) * side_for(points.size, 1))


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    pairs = [(data, move_first(data, 1)) for data in (points_in_cubes(1, 0, 24), points_in_cubes(40, 40, 0))]
    shown, sharp = shown_counts(epsilon, delta), f"{WHERE}, constants computed exactly"
    return [
        promise("theorem 4.2", shown, epsilon, pairs, delta),
        promise("theorem 4.2 sharp", shown, epsilon, pairs, delta / 4, where=sharp),
    ]


def _called() -> PrivacyCheck:
    points, full = points_in_cubes(1, 0, 24), points_in_cubes(30, 30, 0)
    fits = Released(partial(CubeDensity, 1, 0.5, 0.1), partial(heights, CUBES), partial(with_heights, CUBES))
    pairs = [*in_orders((full, move_first(full, 1))), *in_orders((points, move_first(points, 1)))]
    return promise_fits("theorem 4.2 as called, CubeDensity", fits, shown_counts(0.5, 0.1).law, 0.5, pairs, 0.025)


CHECKS: list[PrivacyCheck] = [*_checks(0.5, 0.1), *_checks(1.0, 0.1), _called()]
