"""Broken variants: each changes one part of the mechanism or of the classifier, and states its real privacy.

The largest loss of one array needs the noise of all 2^(d+1) changed cells on the far side: faults that it shows too
rarely are convicted by their own law (`... by its law`), or one coordinate at a time (`... one cell`), where the claim
is epsilon / 2^(d+1). The others are black boxes: `Concealed` hides the law.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from audit import Labeled, LabelFlip, Local, Substitution
from audit.laws import Gaussian, Product
from mechanisms.papers.berrett2019.grid import FloatArray, Grid
from mechanisms.papers.berrett2019.lower_bound import check_bound, divergence_cases
from mechanisms.papers.berrett2019.mechanism import BinaryArray, Record, far_pair, flip_pair, noise_scale, one_cell
from mechanisms.papers.berrett2019.theorems import SETTINGS, ExcessOf, constant_of, rate_check
from mechanisms.papers.rows import BERRETT, Concealed, Fault


@dataclass(frozen=True)
class Changed(BinaryArray):
    """The array with some of its parts replaced; those that are None are the paper's."""

    new_scale: Callable[[int, float], float] | None = None
    new_held: Callable[[Grid, FloatArray], NDArray[np.bool_]] | None = None
    new_factor: Callable[[Any], float] | None = None

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return super().scale if self.new_scale is None else self.new_scale(self.dim, self.epsilon)

    def find_cells(self, point: FloatArray) -> NDArray[np.bool_]:
        """Return which cells hold a point."""
        return super().find_cells(point) if self.new_held is None else self.new_held(self.grid, point)

    def factor(self, label: Any) -> float:
        """Return the factor of the bits."""
        return super().factor(label) if self.new_factor is None else self.new_factor(label)


def change(dim: int, epsilon: float = 1.0, bandwidth: float = 0.4, **parts: Any) -> Changed:
    """Return the array with parts replaced: `scale`, `held` or `factor`."""
    replaced: dict[str, Any] = {f"new_{name}": part for name, part in parts.items()}
    return Changed(dim, epsilon, bandwidth, high=1.25 if bandwidth == 0.25 else 1.0, **replaced)


def hold_faces(grid: Grid, point: FloatArray) -> NDArray[np.bool_]:
    """Return the closed cubes, |x - j h| <= h, that hold a point: up to 3^d."""
    ratio = point / grid.bandwidth
    return np.all((grid.indices >= np.ceil(ratio) - 1) & (grid.indices <= np.floor(ratio) + 1), axis=1)


def compare(grid: Grid, point: FloatArray) -> NDArray[np.bool_]:
    """Return the definition as written, |x - j h| < h, in double precision."""
    # Open cubes of one axis hold the grid points 0.4 and 0.8 of h = 0.1 once; in doubles 0.5 - 0.4 and 0.4 - 3 * 0.1
    # fall below 0.1, so that three cells hold 0.4.
    return np.all(np.abs(point - grid.indices * grid.bandwidth) < grid.bandwidth, axis=1)


def grid_pair(dim: int) -> tuple[Record, Record]:
    """Return two grid points of h = 0.25 whose closed cubes are disjoint, and lie in the window [0, 1.25]."""
    near = (0.25,) * dim
    return (near, 1), ((1.0, *near[1:]), 1)


@dataclass(frozen=True)
class GaussianArray(BinaryArray):
    """Gaussian noise of the variance of the Laplace noise, 2 b^2.

    mu-Gaussian with mu = sqrt(2^(d+1) / 2) epsilon / 2^(d+1): 0.354, 0.250, 0.177 for d = 1, 2, 3 at epsilon = 1, so
    that delta(1) is 4.0e-4, 2.9e-6, 3.7e-10. Sampling has nothing to see: it takes the law.
    """

    def __call__(self, record: Record, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.bits(record) + rng.normal(scale=math.sqrt(2) * self.scale, size=(size, self.grid.cells))

    def law(self, record: Record) -> Product:
        """Return the law of one output: independent Gaussian coordinates."""
        return Product(tuple(Gaussian(bit, math.sqrt(2) * self.scale) for bit in self.bits(record).tolist()))


PLAIN, OTHER = (BinaryArray(1, 1.0, 0.4, half) for half in (2, 1))
SAMPLERS: dict[str, Callable[..., np.ndarray]] = {
    "noise on hit cells only": lambda record, n, rng: np.where(PLAIN.bits(record) == 0, 0.0, PLAIN(record, n, rng)),
    "one noise per user": lambda record, n, rng: PLAIN.bits(record) + rng.laplace(scale=PLAIN.scale, size=(n, 1)),
    "noise per query, four queries": lambda record, n, rng: np.hstack([PLAIN(record, n, rng) for _ in range(4)]),
    "both arrays per user": lambda record, n, rng: np.hstack([OTHER(record, n, rng), PLAIN(record, n, rng)]),
    # the half, first in the output, is public
    "half by label": lambda record, n, rng: np.hstack([np.full((n, 1), 1.0 + record[1]), PLAIN(record, n, rng)]),
}


def share_halves(users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release the arrays of two users, one in each half, with the same noise: B_1 - y B_2 is exact."""
    held = PLAIN.grid.hits(users.X).astype(float)
    noise = rng.laplace(scale=PLAIN.scale, size=(size, PLAIN.grid.cells))
    return np.hstack([held[0] + noise, held[1] * users.y[1] + noise])


def add_exact_counts(users: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release noisy sums of labels, and the exact numbers of users in the cells: a regressogram's denominators."""
    held = PLAIN.grid.hits(users.X).astype(float)
    noise = rng.laplace(scale=PLAIN.scale, size=(size, *held.shape)).sum(axis=1)
    return np.hstack([users.y @ held + noise, np.broadcast_to(held.sum(axis=0), noise.shape)])


def by_sampling(name: str, truth: float, sampler: Any, pair: Any, claimed: float = 1, **settings: Any) -> Fault:
    """Return a fault that sampling convicts."""
    settings = {"relation": Local(), "budget": 20_000, **settings}
    return BERRETT.fault(name, truth, "Theorem 2.1", sampler, claimed, [pair], **settings)


def of_user(name: str, truth: float, pair: Any = None, **settings: Any) -> Fault:
    """Return a fault of `SAMPLERS`."""
    return by_sampling(name, truth, SAMPLERS[name], pair or far_pair(1), **settings)


def concealed(name: str, true_epsilon: float, array: Any, pair: Any = None, budget: int = 20_000) -> Fault:
    """Return a fault of an array, without its law."""
    sampler, pair = Concealed(array), pair or far_pair(array.dim)
    return by_sampling(f"{name} d={array.dim}", true_epsilon, sampler, pair, array.epsilon, budget=budget)


def by_law(name: str, true_epsilon: float, array: Any, pair: Any = None) -> Fault:
    """Return a fault that its law convicts."""
    name, pair = f"{name} d={array.dim} by its law", pair or far_pair(array.dim)
    return by_sampling(name, true_epsilon, array, pair, budget=5_000, method="exact")


def by_cell(name: str, array: Any) -> Fault:
    """Return a fault that one cell shows, with twice its claim."""
    claimed = array.epsilon / 2.0 ** (array.dim + 1)
    sampler, pair = partial(one_cell, array), far_pair(array.dim)
    return by_sampling(f"{name} d={array.dim} one cell", 2 * claimed, sampler, pair, claimed, budget=50_000)


RATE_AS_SCALE = partial(change, scale=lambda d, epsilon: epsilon / 2.0 ** (d + 1))
HALF = partial(change, scale=lambda d, epsilon: 2.0**d / epsilon)  # a flip would look right: it costs epsilon
NINE_TENTHS = partial(change, scale=lambda d, epsilon: 0.9 * noise_scale(d, epsilon))
ONE_HOT = partial(change, scale=lambda d, epsilon: 2 / epsilon)  # right for disjoint cells; at d = 1 a flip hides it
CLOSED = partial(change, bandwidth=0.25, held=hold_faces)  # points off the grid never show it
_TWO = tuple(Labeled(np.array([0.2, 0.6]), np.array([1, label])) for label in (1, 0))
_MOVE = tuple(Labeled(np.array([0.2, 0.3, last]), np.array([1, 0, 1])) for last in (0.4, 0.9))
_MOVED: dict[str, Any] = {"pair": _MOVE, "relation": Substitution(), "budget": 2_000}

FAULTS: list[Fault] = [
    *(concealed("rate as scale", 2.0 ** (2 * d + 2), RATE_AS_SCALE(d), budget=4_000) for d in (1, 2, 3)),
    concealed("rate as scale eps=0.5", 32.0, RATE_AS_SCALE(1, 0.5), budget=4_000),
    concealed("half sensitivity", 2.0, HALF(1)),
    *(by_law("half sensitivity", 2.0, HALF(d)) for d in (2, 3)),
    *(by_cell("half sensitivity", array) for array in (HALF(2), HALF(3, 2.0))),
    *(by_law("nine tenths of the noise", 1 / 0.9, NINE_TENTHS(d)) for d in (1, 2, 3)),
    *(concealed("one-hot scale", 2.0**d, ONE_HOT(d)) for d in (1, 2)),
    by_law("one-hot scale", 8.0, ONE_HOT(3)),
    *(by_law("gaussian of the same variance", math.inf, GaussianArray(d, 1.0, 0.4)) for d in (1, 2, 3)),
    concealed("closed cubes", 1.5, change(1, 1.0, 0.2, held=hold_faces), ((0.2, 1), (0.8, 1)), 200_000),
    *(by_law("closed cubes", 1.5**d, CLOSED(d), grid_pair(d)) for d in (2, 3)),
    by_law("closed cubes, flip,", 9 / 8, CLOSED(2), (((0.25, 0.25), 1), ((0.25, 0.25), 0))),
    concealed("comparison in floating point", 1.5, change(1, 1.0, 0.1, held=compare), ((0.4, 1), (0.8, 1)), 200_000),
    concealed("unclipped label 3", 3.0, change(1, factor=float), ((0.2, 3), (0.9, 3))),
    of_user("noise on hit cells only", math.inf, budget=2_000),
    of_user("one noise per user", math.inf, budget=4_000),
    of_user("noise per query, four queries", 4.0),
    of_user("both arrays per user", 2.0, budget=200_000),
    of_user("half by label", math.inf, pair=flip_pair(1), budget=2_000),
    by_sampling("noise shared between halves", math.inf, share_halves, _TWO, relation=LabelFlip(), budget=4_000),
    by_sampling("exact cell counts", math.inf, add_exact_counts, **_MOVED),
]


def excess_at_power(setting: Any, exponent: float, n: int) -> float:
    """Return the excess with h = n^-exponent, rounded to 1 / (2 K), in place of the paper's bandwidth."""
    return float(setting.excess(n, 1.0, max(1, round(0.5 * n**exponent))))


def _false_rate(name: str, where: str, sides: tuple[int, ...], evaluator: Any, exponent: float = 0.0) -> Any:
    """Check a rule that keeps epsilon and loses the rate; sizes from its own bandwidth n^-exponent, or the paper's."""
    setting = SETTINGS[where]
    sizes = [round((2.0 * side) ** (1 / exponent)) if exponent else round(setting.users(side)) for side in sides]
    return rate_check(f"fault/{name} {where}", setting, sizes, evaluator=evaluator, **constant_of(setting))


def _bandwidth(name: str, where: str, exponent: float, sides: tuple[int, ...]) -> Any:
    """Check a bandwidth with the wrong power."""
    # That of the classifier without privacy, 1 / (2 beta + d), gives the exponent 1/3 in place of 1/2 for d = 1, and
    # the excess stands still near a coin flip's for d = 2 and 3. With half the right exponent cells are too wide.
    return _false_rate(name, where, sides, partial(excess_at_power, SETTINGS[where], exponent), exponent)


_POWERS, _LATE, _WIDE = ((first, *(first * 2**k for k in range(1, 5))) for first in (16, 64, 128))

CHECKS = [
    *(fault.check for fault in FAULTS),
    _bandwidth("bandwidth without privacy", "d=1 s=1", 1 / 3, _LATE),
    _bandwidth("bandwidth without privacy", "d=2 s=1", 1 / 4, _POWERS),
    _bandwidth("bandwidth without privacy", "d=3 s=1", 1 / 5, _POWERS),
    _bandwidth("bandwidth too wide", "d=1 s=1", 1 / 8, _POWERS),
    _bandwidth("bandwidth too wide", "d=2 s=1", 1 / 12, _POWERS),
    *(
        _false_rate("noise 4^d", f"d={d} s=1", _WIDE, ExcessOf(SETTINGS[f"d={d} s=1"], factor=2.0**d))
        for d in (1, 2, 3)
    ),
    check_bound(
        "fault/a hundredth of the noise, by its accuracy", "d=1 gamma=0", (10**6, 10**8, 10**10), "private_excess", 0.01
    ),
    BERRETT.quote("fault/every rule, a hundredth of the divergence", partial(divergence_cases, 1 / 25), budget=2),
]
