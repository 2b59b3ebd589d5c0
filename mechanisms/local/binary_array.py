"""The locally private binary array: which cells hold a user's point, or the point of a user labeled 1, plus noise.

Implements the release of section 2 of Berrett & Butucea (2019) and the privacy claim of their Theorem 2.1. A user
with the record (x, y), x in R^d and y in {0, 1}, belongs to half 1 or half 2, which is public. The bit of cell j is
B_j = 1 when x lies in the open cube of side 2 h around the grid point j h. Half 1 releases B + noise, half 2 releases
y B + noise, with independent Laplace noise of scale 2^(d+1) / epsilon on EVERY cell.

Readings and departures:

* the text writes Laplace(epsilon / 2^(d+1)); the density in its proof shows that the argument is a rate, so that the
  scale is 2^(d+1) / epsilon (`mechanisms.faults.local.noise.RateAsScale` is the other reading);
* the infinite array is cut to the cells that a query in the window can ask for: post-processing;
* cells are found by a floor, not by a floating-point comparison (see `mechanisms.local.grid`).

Why it is epsilon-private: at most 2^d cells hold a point, so that two records differ in at most 2^(d+1) bits, each
bit costs epsilon / 2^(d+1). It is tight: the two points of a pair may share no cell. The loss epsilon itself has
probability 2^-(2^(d+1)) only (all noises on the far side): 1/16, 1/256 and 1.5e-5 for d = 1, 2, 3, so that sampling
the joint release shows far less than epsilon from d = 2 on. The claims below therefore rest on the exact law, and
`OneCell` puts the same noise to a statistical test one coordinate at a time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Local, PrivacyCheck, PrivacyClaim, Verdict
from audit.errors import InvalidArgument
from audit.laws import Laplace, Product
from audit.validate import positive
from mechanisms.local.grid import Grid

SOURCE = "Berrett & Butucea 2019, Theorem 2.1"
HALVES = (1, 2)

Record = tuple[Any, Any]


@dataclass(frozen=True)
class LocalBinaryArrayMechanism:
    """Noisy array of cell bits of one user; (epsilon, 0)-DP under the local relation.

    Parameters
    ----------
    dim : int >= 1
        Dimension d of the feature space.
    epsilon : float > 0
        Privacy parameter of one user, tight for half 2 and half 1 alike.
    bandwidth : float > 0
        Grid spacing h; must not depend on data.
    half : {1, 2}
        1 releases the bits, 2 the bits times the label.
    low, high : float
        The window [low, high]^dim of queries; records may lie anywhere.

    Notes
    -----
    A dataset is one record (x, y): x a number or a vector of shape (dim,), y in {0, 1}. The output has shape
    (size, cells), the last axis of the grid running fastest.
    """

    dim: int
    epsilon: float
    bandwidth: float
    half: int = 2
    low: float = 0.0
    high: float = 1.0
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        grid = Grid(self.dim, self.bandwidth, self.low, self.high)
        object.__setattr__(self, "grid", grid)
        object.__setattr__(self, "epsilon", positive(self.epsilon, "epsilon"))
        if self.half not in HALVES:
            raise InvalidArgument.of("half", "be 1 or 2", self.half)

    @property
    def scale(self) -> float:
        """Scale of the noise, 2^(d+1) / epsilon."""
        return noise_scale(self.dim, self.epsilon)

    def bits(self, record: Record) -> NDArray[np.float64]:
        """Return the array before noise, shape (cells,)."""
        point, label = require_record(record, self.grid)
        held = self.grid.hits(point)[0].astype(float)
        return held if self.half == 1 else held * label

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.bits(record) + rng.laplace(scale=self.scale, size=(size, self.grid.cells))

    def law(self, record: Record) -> Product:
        """Law of one output: independent Laplace coordinates."""
        return Product(tuple(Laplace(bit, self.scale) for bit in self.bits(record).tolist()))

    def exact_epsilon(self, left: Record, right: Record) -> float:
        """Return the largest privacy loss between two records: changed bits over the scale."""
        return float(np.abs(self.bits(left) - self.bits(right)).sum()) / self.scale


@dataclass(frozen=True)
class OneCell:
    """One coordinate of the array of another mechanism; (epsilon / 2^(d+1), 0)-DP for the binary array.

    Parameters
    ----------
    array : mechanism
        Gives outputs of shape (size, cells).
    cell : int
        Index of the coordinate.
    """

    array: Any
    cell: int

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(self.array(record, size, rng)[:, self.cell])


def noise_scale(dim: int, epsilon: float) -> float:
    """Return 2^(d+1) / epsilon, the scale of the noise on every cell."""
    return 2.0 ** (dim + 1) / epsilon


def require_record(record: Any, grid: Grid) -> tuple[np.ndarray, int]:
    """Return the point, shape (1, dim), and the label of one record (x, y), or raise."""
    try:
        x, y = record
    except (TypeError, ValueError):
        raise InvalidArgument.of("record", "be a pair (x, y)", record) from None
    return grid.as_points(np.reshape(np.asarray(x, dtype=float), (1, -1)), "x"), int(require_labels([y])[0])


def require_labels(labels: Any) -> NDArray[np.int64]:
    """Return labels as integers in {0, 1}, shape (n,), or raise."""
    array = np.asarray(labels)
    if array.ndim != 1:
        raise InvalidArgument.of("y", "have shape (n,)", array.shape)
    wrong = [label for label in array.tolist() if label not in (0, 1)]
    if wrong:
        raise InvalidArgument.of("y", "hold labels 0 and 1 only", wrong[0])
    return array.astype(np.int64)


def far_pair(dim: int, labels: tuple[int, int] = (1, 1)) -> tuple[Record, Record]:
    """Return two records that share no cell at h = 0.4, each in 2^d of them: the worst pair of the mechanism."""
    near = np.full(dim, 0.2)
    far = near.copy()
    far[0] = 0.9
    return (tuple(near), labels[0]), (tuple(far), labels[1])


def flip_pair(dim: int) -> tuple[Record, Record]:
    """Return two records that differ in the label only."""
    point = tuple(np.full(dim, 0.2))
    return (point, 1), (point, 0)


EPSILONS = (0.5, 1.0)
_BUDGETS = {1: 60_000, 2: 20_000, 3: 8_000}  # outputs have 4, 16 and 64 coordinates; the exact law decides


def _check(name: str, mechanism: Any, epsilon: float, pairs: list[Any], **settings: Any) -> PrivacyCheck:
    claim = PrivacyClaim(epsilon, 0.0, Local(), SOURCE)
    return PrivacyCheck(name=f"local/array {name}", mechanism=mechanism, claim=claim, pairs=pairs, **settings)


def _checks(dim: int, epsilon: float) -> list[PrivacyCheck]:
    first, second = (LocalBinaryArrayMechanism(dim, epsilon, 0.4, half) for half in HALVES)
    pairs = [far_pair(dim), far_pair(dim, (1, 0)), flip_pair(dim)]
    where = f"d={dim} eps={epsilon:g}"
    budget = _BUDGETS[dim]
    return [
        _check(f"{where} half 1", first, epsilon, pairs[:2], budget=budget),
        _check(f"{where} half 2", second, epsilon, pairs, budget=budget),
        _check(f"{where} flip costs half", second, epsilon / 2, [flip_pair(dim), far_pair(dim, (1, 0))], budget=budget),
        _check(
            f"{where} is tight: 1 % less is refuted",
            second,
            0.99 * epsilon,
            [far_pair(dim)],
            budget=budget,
            expected=Verdict.FAIL,
        ),
    ]


def _one_cell_checks() -> list[PrivacyCheck]:
    """The same noise, one coordinate at a time, without its law: sampling sees epsilon / 2^(d+1) at every d.

    The tolerance concerns events of probability 0.01; the leak of a coordinate sits on an event of probability 1/2,
    where far less would be seen.
    """
    mechanisms = [LocalBinaryArrayMechanism(dim, 2.0, 0.4) for dim in (1, 2, 3)]
    return [
        _check(
            f"d={mechanism.dim} eps=2 one cell",
            OneCell(mechanism, 0),
            1 / mechanism.scale,
            [far_pair(mechanism.dim)],
            budget=50_000 if mechanism.dim < 3 else 20_000,
            tolerance=0.7,
        )
        for mechanism in mechanisms
    ]


CHECKS: list[PrivacyCheck] = [
    *(check for dim in (1, 2, 3) for epsilon in EPSILONS for check in _checks(dim, epsilon)),
    _check(
        "half 1 hides the label", LocalBinaryArrayMechanism(1, 1.0, 0.4, half=1), 0.0, [flip_pair(1)], budget=20_000
    ),
    *_one_cell_checks(),
]
