"""The private cube density estimator: a stability histogram of the cubes that the records fall into.

Implements Bousquet et al. (2022), Algorithm 3 with Remark 4.1 and Theorem 4.2: cubes [j r, (j + 1) r) of the whole
space, r = n^(-1 / (2 dim)); noisy counts c_j of the cubes that occur, kept from a threshold on; the estimate is
c_j / (n r^dim) on cube j. Normalized, it is divided by its own total. The text leaves open what happens when nothing
is retained: a density chosen without the data, uniform on [0, 1]^dim, takes its place.

Proof note. The cubes are anchored at 0 and depend on the public n only, so that the released map is Algorithm 1 on cube
indices; dividing by the released total is post-processing. Its privacy is that of Algorithm 1: exactly
(epsilon, delta / 4) under substitution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from audit import PrivacyCheck, PrivacyClaim, Substitution
from audit.laws import PrivacyLoss, Product
from audit.validate import integer, open_probability, positive
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.records import features
from mechanisms.estimator import Estimator, noise_source
from mechanisms.stability_histogram import StabilityHistogram

SOURCE = "Bousquet et al. 2022, Theorem 4.2"


class CubeDensity(Estimator):
    """Private density estimator that is constant on cubes; exactly (epsilon, delta / 4)-DP under substitution.

    Parameters
    ----------
    dim : int >= 1
    epsilon : float > 0
    delta : float in (0, 1)
    normalize : bool
        Divide by the released total, so that the estimate is a density (Remark 4.1).
    random_state : int, optional
        Repeats the noise exactly; for tests only.

    Attributes
    ----------
    side_ : float
        Side of the cubes.
    counts_ : dict from integer vectors to float
        The released noisy counts, sorted by cube.
    total_ : float
        Sum of the released counts divided by n.

    References
    ----------
    Bousquet et al. 2022, Algorithm 3; Theorem 4.2 (privacy), Theorem 4.3 (convergence in L1), Remark 4.1.
    """

    def __init__(
        self,
        dim: int = 1,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        normalize: bool = True,
        random_state: int | None = None,
    ) -> None:
        self.dim = integer(dim, "dim", at_least=1)
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = open_probability(delta, "delta")
        self.normalize = bool(normalize)
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the noisy counts of records X, shape (n, dim); y is ignored."""
        rows = features(X, self.dim)
        self.side_ = side_for(len(rows), self.dim)
        keys = SpaceGrid(self.dim, self.side_).keys_of(rows)
        histogram = StabilityHistogram(self.epsilon, self.delta)
        self.counts_: dict[tuple[int, ...], float] = histogram.release(  # type: ignore[assignment]
            keys, noise_source(self.random_state)
        )
        self.n_ = len(rows)
        self.total_ = math.fsum(self.counts_.values()) / len(rows)
        return self

    def density(self, X: Any) -> np.ndarray:
        """Return the estimate at each row."""
        counts = self._fitted("counts_")
        rows = features(X, self.dim)
        if self.normalize and not counts:
            return np.where(np.all((rows >= 0) & (rows <= 1), axis=1), 1.0, 0.0)
        heights = np.array([counts.get(key, 0.0) for key in SpaceGrid(self.dim, self.side_).keys_of(rows)])
        return heights / (self.n_ * self.side_**self.dim * (self.total_ if self.normalize else 1.0))

    def score_samples(self, X: Any) -> np.ndarray:
        """Return the logarithm of the estimate at each row, -inf where it is 0."""
        with np.errstate(divide="ignore"):
            return np.log(self.density(X))

    def sample(self, n_samples: int = 1, random_state: int | np.random.Generator | None = None) -> np.ndarray:
        """Draw from the normalized estimate, shape (n_samples, dim); any number of draws is free."""
        rng = np.random.default_rng(random_state)
        size = integer(n_samples, "n_samples", at_least=0)
        counts = self._fitted("counts_")
        places = rng.random((size, self.dim))
        if not counts:
            return places
        weights = np.array(list(counts.values()))
        chosen = rng.choice(weights.size, size=size, p=weights / weights.sum())
        return (np.array(list(counts), dtype=float)[chosen] + places) * self.side_


@dataclass(frozen=True)
class CubeCounts:
    """The released counts as a mechanism, shown on a finite list of cubes.

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    cubes : tuple of int
        Cubes of the line shown, one column each; a record outside them is refused.
    """

    epsilon: float
    delta: float
    cubes: tuple[int, ...] = (0, 1)

    def __call__(self, dataset: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        return self._histogram(self._cubes_of(dataset), size, rng)

    def law(self, dataset: Any) -> Product:
        """Law of one output: independent labels, an atom at 0 each."""
        return self._histogram.law(self._cubes_of(dataset))

    def privacy_loss(self, left: Any, right: Any) -> PrivacyLoss:
        """Privacy loss of a pair."""
        return self._histogram.privacy_loss(self._cubes_of(left), self._cubes_of(right))

    @property
    def _histogram(self) -> StabilityHistogram:
        return StabilityHistogram(self.epsilon, self.delta, self.cubes)

    def _cubes_of(self, dataset: Any) -> np.ndarray:
        rows = features(dataset, 1)
        return np.array([key[0] for key in SpaceGrid(1, side_for(len(rows), 1)).keys_of(rows)])


def points_in_cubes(*counts: int) -> np.ndarray:
    """Return `counts[i]` records in the middle of cube i of the line; the side follows from their total number."""
    index = np.repeat(np.arange(len(counts)), counts)
    return (index + 0.5) * side_for(index.size, 1)


def moved_first(points: np.ndarray, cube: int) -> np.ndarray:
    """The same records with the first one moved to the middle of another cube."""
    return np.r_[(cube + 0.5) * side_for(points.size, 1), points[1:]]


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    mechanism = CubeCounts(epsilon, delta, (0, 1, 2))
    base = [points_in_cubes(1, 0, 24), points_in_cubes(40, 40, 0)]
    pairs = [(data, moved_first(data, 1)) for data in base]
    tag = f"eps={epsilon:g} delta={delta:g}"
    return [
        PrivacyCheck(
            name=f"consistency/cube density/theorem 4.2 {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon, delta, Substitution(), SOURCE),
            pairs=pairs,
        ),
        PrivacyCheck(
            name=f"consistency/cube density/theorem 4.2 sharp {tag}",
            mechanism=mechanism,
            claim=PrivacyClaim(epsilon, delta / 4, Substitution(), f"{SOURCE}, constants computed exactly"),
            pairs=pairs,
        ),
    ]


CHECKS: list[PrivacyCheck] = [check for epsilon in (0.5, 1.0) for check in _checks(epsilon, 0.1)]
