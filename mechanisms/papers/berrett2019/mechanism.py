"""The privacy mechanism of section 2 of Berrett & Butucea (2019), and Theorem 2.1: it is alpha-LDP.

Individual i forms the binary array B_i = (1{|X_i - x_j| < h})_j over the grid points x_j = j h, generates an array of
independent Laplace(alpha / 2^(d+1)) entries, and releases Z_i = B_i + noise in half 1, Z_i = Y_i B_i + noise in half 2.

Readings: Laplace(alpha / 2^(d+1)) gives the rate; the infinite array is cut to the cells of a window; a floor finds the
cell of a point (`grid`). Two records differ in at most 2^(d+1) bits, each of which costs epsilon / 2^(d+1): tight for
two points that share no cell, with probability 2^-(2^(d+1)), so that from d = 2 on the checks rest on the exact law.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import InequalityCheck, Local, PrivacyCheck, Verdict
from audit.errors import InvalidArgument
from audit.laws import Laplace, Product
from audit.validate import positive
from mechanisms.papers.berrett2019.grid import FloatArray, Grid
from mechanisms.papers.rows import BERRETT, Cases
from mechanisms.parts.records import require_features, require_labels

Record = tuple[Any, Any]


@dataclass(frozen=True)
class BinaryArray:
    """Noisy array of cell bits of one user; (epsilon, 0)-DP under the local relation.

    Notes
    -----
    A dataset is one record (x, y): x a number or a vector of shape (dim,), y in {0, 1}. The output has shape
    (size, cells), the last axis of the grid running fastest.
    """

    dim: int  # >= 1
    epsilon: float  # > 0: of one user, tight in either half
    bandwidth: float  # > 0: grid spacing h; must not depend on data
    half: int = 2  # 1 releases the bits, 2 the bits times the label
    low: float = 0.0  # the window [low, high]^dim of queries; records may lie anywhere
    high: float = 1.0
    grid: Grid = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grid", Grid(self.dim, self.bandwidth, self.low, self.high))
        noise_scale(self.dim, self.epsilon)
        if self.half not in (1, 2):
            raise InvalidArgument.of("half", "be 1 or 2", self.half)

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.bits(record) + rng.laplace(scale=self.scale, size=(size, self.grid.cells))

    def bits(self, record: Record) -> FloatArray:
        """Return the array before noise, shape (cells,)."""
        try:
            x, y = record
            row = np.reshape(np.asarray(x, dtype=float), (1, -1))
        except (TypeError, ValueError):
            raise InvalidArgument("`record` must be a pair (x, y) of numbers") from None
        point = require_features(row, self.dim, name="x")
        return self.find_cells(point).astype(float) * self.factor(y)

    def find_cells(self, point: FloatArray) -> NDArray[np.bool_]:
        """Return which cells hold a point of shape (1, dim)."""
        return self.grid.hits(point)[0]

    def factor(self, label: Any) -> float:
        """Return 1 in half 1, and the label in half 2."""
        number = float(require_labels([label], 1)[0])
        return 1.0 if self.half == 1 else number

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return noise_scale(self.dim, self.epsilon)

    def law(self, record: Record) -> Product:
        """Return the law of one output: independent Laplace coordinates."""
        return Product(tuple(Laplace(bit, self.scale) for bit in self.bits(record).tolist()))

    def exact_epsilon(self, left: Record, right: Record) -> float:
        """Return the largest privacy loss between two records: changed bits over the scale."""
        return float(np.abs(self.bits(left) - self.bits(right)).sum()) / self.scale


def noise_scale(dim: int, epsilon: float) -> float:
    """Return 2^(d+1) / epsilon, the scale of the noise on every cell, or raise where a cell has less than 2^-53."""
    scale = 2.0 ** (min(dim, 1_000) + 1) / positive(epsilon, "epsilon")
    if scale > 2.0**53:
        raise InvalidArgument.of("epsilon", f"be at least 2^{dim - 52}, in {dim} dimensions", epsilon)
    return scale


def one_cell(array: Any, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw one coordinate of an array; (epsilon / 2^(d+1), 0)-DP for the binary array."""
    return np.asarray(array(record, size, rng)[:, 0])


def far_pair(dim: int, labels: tuple[int, int] = (1, 1)) -> tuple[Record, Record]:
    """Return two records that share no cell at h = 0.4, each in 2^d of them: the worst pair of the mechanism."""
    near = (0.2,) * dim
    return (near, labels[0]), ((0.9, *near[1:]), labels[1])


def flip_pair(dim: int) -> tuple[Record, Record]:
    """Return two records that differ in the label only."""
    return ((0.2,) * dim, 1), ((0.2,) * dim, 0)


def hit_cases(dim: int) -> Cases:
    """Compare the largest number of cells that hold a point with 2^d, and the smallest with 1, on a wide window."""
    for bandwidth in (0.1, 0.2, 0.25, 0.3, 0.4):
        # grid points, their neighbors in floating point, mid-cells, and decimals that rounding puts beside them
        on = np.arange(0, int(1 / bandwidth) + 1) * bandwidth
        beside = np.r_[np.nextafter(on, 2), np.nextafter(on, -1), on + bandwidth / 2]
        axis = np.unique(np.clip(np.r_[on, beside, np.arange(11) / 10, 0.25, 0.7000000000000001], 0.0, 1.0))
        points = np.array(list(product(axis[:: max(1, len(axis) // 12)] if dim == 3 else axis, repeat=dim)))
        held = Grid(dim, bandwidth, -0.5, 1.5).hits(points).sum(axis=1)
        yield from [(f"h={bandwidth:g} most", held.max(), 2.0**dim), (f"h={bandwidth:g} least", held.min(), 1.0)]


def loss_cases(pairs: Any, share: float, half: int = 2) -> Cases:
    """Compare the largest exact loss over pairs of records with a share of epsilon."""
    arrays = [BinaryArray(dim, epsilon, 0.4, half) for dim in (1, 2, 3) for epsilon in (0.5, 1.0, 4.0)]
    return [
        (f"d={a.dim} eps={a.epsilon:g}", max(a.exact_epsilon(*pair) for pair in pairs(a.dim)), share * a.epsilon)
        for a in arrays
    ]


def pairs_of(labels: tuple[int, ...], dim: int) -> Iterable[tuple[Record, Record]]:
    """Return pairs of records with given labels, on and between grid points of h = 0.4: three against all."""
    spots = [*product((0.0, 0.2, 0.4, 0.9), repeat=dim)]
    return product(product([spots[0], spots[len(spots) // 3], spots[-1]], labels), product(spots, labels))


def flips(dim: int) -> Iterable[tuple[Record, Record]]:
    """Return pairs that differ in the label only, in the same places."""
    return [((spot, 1), (spot, 0)) for spot in product((0.0, 0.2, 0.4, 0.9), repeat=dim)]


def _check(name: str, array: Any, epsilon: float, pairs: list[Any], **settings: Any) -> PrivacyCheck:
    settings = {"method": "exact", "budget": 10_000, **settings}
    return BERRETT.promise(f"array {name}", "Theorem 2.1", array, epsilon, pairs, Local(), **settings)


def _checks(dim: int, epsilon: float) -> list[PrivacyCheck]:
    first, second = (BinaryArray(dim, epsilon, 0.4, half) for half in (1, 2))
    far, flip, both = far_pair(dim), flip_pair(dim), far_pair(dim, (1, 0))
    where = f"d={dim} eps={epsilon:g}"
    return [
        _check(f"{where} half 1", first, epsilon, [far, both]),
        _check(f"{where} half 2", second, epsilon, [far, both, flip]),
        _check(f"{where} flip costs half", second, epsilon / 2, [flip, both]),
        _check(f"{where} is tight: 1 % less is refuted", second, 0.99 * epsilon, [far], expected=Verdict.FAIL),
    ]


def _one_cell(dim: int) -> PrivacyCheck:
    """Check one coordinate without its law: sampling sees epsilon / 2^(d+1) at every d."""
    # The tolerance concerns events of probability 0.01; a coordinate leaks on an event of probability 1/2.
    cell, settings = partial(one_cell, BinaryArray(dim, 2.0, 0.4)), {"method": "auto", "tolerance": 0.7}
    budget = 50_000 if dim < 3 else 20_000
    return _check(f"d={dim} eps=2 one cell", cell, 2.0**-dim, [far_pair(dim)], budget=budget, **settings)


CHECKS: list[PrivacyCheck | InequalityCheck] = [
    *(check for dim, eps in ((1, 0.5), (1, 1.0), (2, 0.5), (2, 1.0), (3, 1.0)) for check in _checks(dim, eps)),
    _check("half 1 hides the label", BinaryArray(1, 1.0, 0.4, half=1), 0.0, [flip_pair(1)]),
    *(_one_cell(dim) for dim in (1, 2, 3)),
    *(
        BERRETT.quote(f"cells that hold a point d={dim}", partial(hit_cases, dim), "==", tolerance=1e-12)
        for dim in (1, 2, 3)
    ),
    BERRETT.quote("exact loss, any two records", partial(loss_cases, partial(pairs_of, (0, 1)), 1.0), "=="),
    BERRETT.quote("exact loss, label flip", partial(loss_cases, flips, 0.5), "=="),
    BERRETT.quote("exact loss, two labels 0", partial(loss_cases, partial(pairs_of, (0,)), 0.0), "=="),
    BERRETT.quote("exact loss, label flip in half 1", partial(loss_cases, flips, 0.0, half=1), "=="),
]
