"""The classifier C_n of section 2 of Berrett & Butucea (2019), as an estimator of scikit-learn.

With Z_ij the arrays of the mechanism, n users in each half,

    T_n(x) = (1/n) sum_{half 2} Z_ij*(x) - (1/(2n)) sum_{half 1} Z_ij*(x),    C_n(x) = 1{T_n(x) >= 0},

j*(x) the grid point nearest to x. Departures: the halves are drawn at random, and each mean is over its own half; the
noises of a half are drawn together, as a difference of two gamma variables of shape n; features are mapped to the unit
cube (`mechanisms.estimators`).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from audit import EstimatorCheck, InequalityCheck, Labeled
from mechanisms.estimators import PrivateClassifier, noise_source
from mechanisms.papers.berrett2019.grid import FloatArray, Grid
from mechanisms.papers.berrett2019.law import CellStatistic, LocalVoteRelease
from mechanisms.papers.berrett2019.mechanism import noise_scale
from mechanisms.papers.rows import BERRETT, Cases

MOST_CELLS = 2**20


@dataclass(eq=False, repr=False)
class LocalVoteClassifier(PrivateClassifier):
    """Votes from arrays that users make noisy themselves; epsilon-private for every user. Two classes.

    Parameters
    ----------
    epsilon : float > 0
        Local privacy parameter of each user.
    bandwidth : float in (0, 1], optional
        Spacing of the grid on the unit cube; `consistent_bandwidth`, at most 1/2, unless given.
    bounds, projection, classes
        See `PrivateClassifier`.
    random_state : int, optional
        For tests only: a known seed gives no privacy.

    Attributes
    ----------
    learner_ : CellStatistic

    References
    ----------
    Berrett & Butucea 2019, Theorems 2.1 and 2.2.
    """

    relation = "local"

    epsilon: float = 1.0
    bandwidth: float | None = None
    bounds: Any = (-3.0, 3.0)
    projection: Any = 2
    classes: Any = None
    random_state: Any = None

    def _fitted_learner(self, X: np.ndarray, y: np.ndarray) -> CellStatistic:
        grid, rng = self._grid(len(X), X.shape[1]), noise_source(self.random_state)
        if len(X) < 2:
            raise ValueError(f"`X` must hold 2 users at least, one for each half, got n_samples={len(X)}")
        order = rng.permutation(len(X))
        first, second = order[: len(X) // 2], order[len(X) // 2 :]
        bits, ones = grid.count(X[first]), grid.count(X[second][y[second] == 1])
        scale = noise_scale(grid.dim, self.epsilon)
        return CellStatistic(grid, noisy_statistic(bits, ones, (len(first), len(second)), scale, rng))

    def _grid(self, n: int, dim: int) -> Grid:
        rule = min(0.5, consistent_bandwidth(max(1, n // 2), self.epsilon, dim))
        spacing = rule if self.bandwidth is None else self.bandwidth
        grid = Grid(dim, spacing)
        if (1 / spacing + 2) ** dim > MOST_CELLS:
            raise ValueError(
                f"the grid must have at most {MOST_CELLS} cells: {dim} features at bandwidth {spacing:.3g}; "
                "project to fewer features, or widen `bandwidth`"
            )
        return grid

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the released statistic of the cell of each row of X: at least 0 for the second class, shape (n,)."""
        rows = self._checked(X)
        return np.asarray(self.learner_.at(rows))


def noisy_statistic(
    bits: np.ndarray, ones: np.ndarray, users: tuple[int, int], scale: float, rng: np.random.Generator
) -> FloatArray:
    """Return T_n from how many users of half 1, and how many users of half 2 labeled 1, each cell holds."""
    # Both have shape (..., cells); valid up to 1e15 users, where doubles stop telling counts apart.
    noise = [scale * (rng.gamma(n, size=np.shape(bits)) - rng.gamma(n, size=np.shape(bits))) for n in users]
    return np.asarray((ones + noise[1]) / users[1] - (bits + noise[0]) / (2 * users[0]))


def consistent_bandwidth(n: float, epsilon: float, dim: int) -> float:
    """Return h = (n epsilon^2)^(-1/(4d)): h -> 0 and n epsilon^2 h^(2d) -> inf, as Theorem 2.2 asks."""
    # `n` is the number of users in each half.
    return math.exp(-(math.log(n) / 2 + math.log(epsilon)) / (2 * dim))


def rate_bandwidth(
    n: float, epsilon: float, dim: int, smoothness: float, lipschitz: float, density: float = 1.0
) -> float:
    """Return h = (n epsilon^2 L^2 mu^2)^(-1/(2d + 2 beta)), the bandwidth of Theorem 2.4; `n` users in each half."""
    return float((n * (epsilon * lipschitz * density) ** 2) ** (-1 / (2 * dim + 2 * smoothness)))


_EIGHT = Labeled(np.random.default_rng(2019).uniform(-3, 3, size=(8, 4)).round(2), np.array([0, 1, 1, 0, 1, 0, 0, 1]))
_FIVE = Labeled(np.array([[1.0], [2.0], [3.5], [4.0], [6.0]]), np.array(["no", "yes", "yes", "no", "yes"]))


@BERRETT.states("fits without a seed differ", "section 2", "==", tolerance=0.0)
def seed_cases() -> Cases:
    """No noise is drawn twice."""
    X, y = np.zeros((4, 2)), np.array([0, 1, 0, 1])
    fits = np.array([LocalVoteClassifier(classes=[0, 1]).fit(X, y).learner_.values for _ in range(20)])
    return [("fits", len(np.unique(fits, axis=0)), 20.0), ("numbers", len(np.unique(fits)), fits.size)]


@BERRETT.states("fits by default", "section 2", "==", tolerance=1e-6)
def default_cases() -> Cases:
    """The defaults are those stated."""
    # All users have one record with label 1, so that T does not depend on the halves.
    fitted = LocalVoteClassifier(classes=[0, 1]).fit(_EIGHT.X, _EIGHT.y)
    yield "epsilon", fitted.privacy_spent_.epsilon, 1.0
    yield "bandwidth", fitted.learner_.grid.bandwidth, 0.5
    stated = LocalVoteClassifier(1e9, 0.1, (-3.0, 3.0), 2, [0, 1])
    for row in _EIGHT.X:
        found = LocalVoteClassifier(1e9, 0.1, classes=[0, 1]).fit(np.tile(row, (4, 1)), np.ones(4, dtype=int)).learner_
        wanted = found.grid.hits(stated._mapped(row[None]))[0] / 2
        yield f"statistic of {row.tolist()}", 1.0, 1.0 + float(np.abs(found.values - wanted).max())


def _called(name: str, learner: LocalVoteClassifier, users: Labeled, stated: Any = None) -> EstimatorCheck:
    release, settings = LocalVoteRelease(stated or learner, users.X.shape[1]), {"public": ("classes",), "budget": 1_600}
    name = f"LocalVoteClassifier {name}"
    return BERRETT.check_fits(name, "Theorem 2.1", learner, users, learner.epsilon, release, **settings)


_STATED = LocalVoteClassifier(1.0, None, (-3.0, 3.0), 2, [0, 1])
CHECKS: list[EstimatorCheck | InequalityCheck] = [
    *BERRETT.rows(__name__),
    _called("defaults", LocalVoteClassifier(classes=[0, 1]), _EIGHT, _STATED),
    _called("given parameters", LocalVoteClassifier(40.0, 0.3, (1.0, 6.0), None, ["no", "yes"]), _FIVE),
]
