"""Experts on one number of each output, which is centered and scaled by past outputs.

A family of log-likelihood ratios, mixed by their likelihood on past outputs, tells a shift from a change of scale after
a few outputs. Cells of the line, of all sizes at once, find any event, but need more of them.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from scipy import special

from audit.evidence.experts import FARTHEST_OUTPUT, LARGEST_OUTPUT, LARGEST_RATIO, TABLE_GROWTH, Expert

# The sequential game: tuned by `benchmarks.sequential`, `benchmarks.overhead`
CHEAP_FAMILIES = ("Laplace", "steps")  # on each column of a vector
REFIT_ALWAYS, REFIT_OFTEN, LAST_REFIT = 40, 400, 5000  # outputs until the scale follows each batch, often, at all
REFIT_GROWTH, LATER_GROWTH = 1.06, 1.35  # growth of the outputs at which it follows often, and later
FINEST_CELLS = 2**9
WINSOR = 8.0  # deviations are cut at this many median deviations: one wild output must not set the scale
SHIFTS = (0.15, 0.3, 0.5, 0.7, 0.9, 1.15, 1.5, 2.0, 2.8, 4.0, 8.0)  # in mean absolute deviations
RATIOS = (0.2, 0.4, 0.65, 0.95, 1.4, 2.0, 3.0)  # logarithms of ratios of scales
FEW_SHIFTS, FEW_RATIOS = (0.3, 0.75, 1.5, 4.0), (0.3, 0.75, 1.5)  # where both differ
KIND_WEIGHTS = (0.05, 0.4, 0.35, 0.2)  # of no difference, a shift, another scale, both
STEP_HEIGHTS = (0.25, 0.5, 0.8, 1.2, 2.0, 4.0)

Line = Callable[[np.ndarray], np.ndarray]


class LineExperts(Expert):
    """The experts on one column, fitted again to all the past whenever its center and scale move.

    `column` is empty if it is the only one; `share` is its weight among the columns. Use `every` family, or those that
    find most at least cost.
    """

    def __init__(self, column: str, share: float, every: bool) -> None:
        self._families = [f for f in families() if every or f.name in CHEAP_FAMILIES]
        self._experts = self._afresh()
        self.names = tuple(f"{n} on {column}" if column else n for expert in self._experts for n in expert.names)
        self._share = share
        self._scale: Line | None = None
        self._values, self._left = np.empty(0), np.empty(0, dtype=bool)
        self._seen, self._refit_at = 0, 0

    @property
    def weights(self) -> list[float]:
        return [self._share * weight for expert in self._experts for weight in expert.weights]

    def predict(self, values: np.ndarray) -> np.ndarray:
        if self._scale is None:
            return np.full((len(self.names), len(values)), np.nan)
        scaled = self._scale(values)
        return np.vstack([expert.predict(scaled) for expert in self._experts])

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        self._seen += len(values)
        if self._seen <= LAST_REFIT:
            self._values, self._left = np.append(self._values, values), np.append(self._left, left)
            if self._seen >= self._refit_at or self._scale is None:
                values, left = self._values, self._left
                self._scale = scale_of(values)
                self._experts = self._afresh()
                growth = REFIT_GROWTH if self._seen < REFIT_OFTEN else LATER_GROWTH
                self._refit_at = 0 if self._seen < REFIT_ALWAYS else int(self._seen * growth)
        if self._scale is not None:
            scaled = self._scale(values)
            for expert in self._experts:
                expert.learn(scaled, left)

    def _afresh(self) -> list[Expert]:
        return [*map(FamilyExpert, self._families), CellExpert()]


def scale_of(values: np.ndarray) -> Line | None:
    """Return x -> (x - median) / mean absolute deviation; None unless `values` hold two different numbers."""
    past = np.clip(values[~np.isnan(values)], -LARGEST_OUTPUT, LARGEST_OUTPUT)
    if len(past) < 2:
        return None
    center = float(np.median(past))
    deviations = np.abs(past - center)
    middle = float(np.median(deviations))
    spread = float(np.mean(np.minimum(deviations, WINSOR * middle) if middle > 0 else deviations))
    if spread == 0:
        return None

    def standardized(x: np.ndarray) -> np.ndarray:
        near = np.clip(x, -LARGEST_OUTPUT, LARGEST_OUTPUT)
        scaled = (near - center) / max(spread, 1 / LARGEST_OUTPUT)
        return np.clip(scaled, -FARTHEST_OUTPUT, FARTHEST_OUTPUT)

    return standardized


@dataclass(frozen=True)
class Family:
    """A finite set of functions u -> log P(u) / Q(u) with prior weights; `ratios` maps shape (n,) to (K, n)."""

    name: str
    log_prior: np.ndarray
    ratios: Line


class FamilyExpert(Expert):
    """The Bayesian posterior mean over a family."""

    def __init__(self, family: Family) -> None:
        self.names = (family.name,)
        self._family = family
        self._log_weights = family.log_prior

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        signs = np.where(left[seen], 1.0, -1.0)
        ratios = self._family.ratios(values[seen])
        self._log_weights = self._log_weights - np.log1p(np.exp(-signs * ratios)).sum(axis=1)

    def predict(self, values: np.ndarray) -> np.ndarray:
        weights = np.exp(self._log_weights - self._log_weights.max())
        return np.asarray(weights / weights.sum() @ (1 / (1 + np.exp(-self._family.ratios(values)))))[None]


@cache
def families() -> tuple[Family, ...]:
    return (
        _location_scale("Laplace", lambda x: -np.abs(x), _laplace_deviation),
        _location_scale("Gaussian", lambda x: -0.5 * np.square(x), _gaussian_deviation),
        _steps("steps", (-2.0, -1.0, -0.4, 0.0, 0.4, 1.0, 2.0), folded=False),
        _steps("folded steps", (0.15, 0.5, 1.0, 2.0, 4.0), folded=True),
    )


def _location_scale(name: str, log_density: Line, deviation: Callable[[float, float], float]) -> Family:
    """Put left at +d/2 with scale e^(r/2), right at -d/2 with e^(-r/2), in units of their mean absolute deviation."""
    shifts, ratios, few_shifts, few_ratios = (
        sorted(sign * size for size in sizes for sign in (1, -1)) for sizes in (SHIFTS, RATIOS, FEW_SHIFTS, FEW_RATIOS)
    )
    either = [(0.0, 0.0), *product(shifts, (0.0,)), *product((0.0,), ratios)]
    grid = np.array([*either, *product(few_shifts, few_ratios)])
    d, r = grid[:, :1], grid[:, 1:]
    wide, narrow = np.exp(r / 2), np.exp(-r / 2)
    scales = zip(d.flat, wide.flat, narrow.flat, strict=True)
    unit = np.array([[(deviation(shift, a) + deviation(shift, b)) / 2] for shift, a, b in scales])

    def log_ratios(u: np.ndarray) -> np.ndarray:
        x = u * unit
        found = log_density((x - d / 2) / wide) - log_density((x + d / 2) / narrow) - r
        return np.clip(found, -LARGEST_RATIO, LARGEST_RATIO)

    kind = (grid[:, 0] != 0) * 1 + (grid[:, 1] != 0) * 2
    usual = np.exp(-0.5 * np.abs(grid[:, 1]))  # smaller changes of scale are likelier
    prior = np.array(KIND_WEIGHTS)[kind] * usual / np.bincount(kind, weights=usual)[kind]
    return Family(name, np.log(prior), log_ratios)


def _laplace_deviation(shift: float, scale: float) -> float:
    """Return E|X| of a Laplace variable at shift/2: |m| + s exp(-|m| / s)."""
    m = abs(shift) / 2
    return m + scale * math.exp(-m / scale)


def _gaussian_deviation(shift: float, scale: float) -> float:
    """Return E|X| of a Gaussian variable at shift/2, the mean of a folded normal."""
    m = abs(shift) / 2
    spread = scale * math.sqrt(2 / math.pi) * math.exp(-((m / scale) ** 2) / 2)
    return spread + m * (1 - 2 * float(special.ndtr(-m / scale)))


def _steps(name: str, centers: tuple[float, ...], folded: bool) -> Family:
    """Return soft steps: the ratio goes from -a to +a at a threshold of u, or of |u| if `folded`."""
    grid = np.array([(c, sign * height) for c in centers for height in STEP_HEIGHTS for sign in (1, -1)])
    center, height = grid[:, :1], grid[:, 1:]
    width = 0.25 * np.maximum(1.0, np.abs(center)) if folded else 0.4

    def log_ratios(u: np.ndarray) -> np.ndarray:
        x = np.abs(u) if folded else u
        return np.asarray(height * np.tanh((x - center) / width))

    return Family(name, np.full(len(grid), -math.log(len(grid))), log_ratios)


class CellExpert(Expert):
    """Count in cells of the line, and of its absolute value; the sizes of the cells are learned."""

    names = ("cells", "cells of |u|")

    def __init__(self) -> None:
        self._counts = np.zeros((2, FINEST_CELLS))
        self._tables = np.full((2, FINEST_CELLS), 0.5)
        self._seen, self._tabled = 0, 0

    def learn(self, values: np.ndarray, left: np.ndarray) -> None:
        seen = ~np.isnan(values)
        side = np.where(left[seen], 0, FINEST_CELLS)
        found = np.bincount(side + self._cell(values[seen]), minlength=self._counts.size)
        self._counts += found.reshape(self._counts.shape)
        self._seen += int(seen.sum())

    def predict(self, values: np.ndarray) -> np.ndarray:
        if self._seen > TABLE_GROWTH * self._tabled:
            half = FINEST_CELLS // 2
            folded = tree_predictions(self._counts[:, half:] + self._counts[:, half - 1 :: -1])
            self._tables = np.vstack([tree_predictions(self._counts), np.hstack([folded[::-1], folded])])
            self._tabled = self._seen
        seen = ~np.isnan(values)
        found = np.full((len(self.names), len(values)), np.nan)
        found[:, seen] = self._tables[:, self._cell(values[seen])]
        return found

    @staticmethod
    def _cell(values: np.ndarray) -> np.ndarray:
        place = (1 + values / (1 + np.abs(values))) / 2
        return np.minimum((place * FINEST_CELLS).astype(np.int64), FINEST_CELLS - 1)


def tree_predictions(counts: np.ndarray) -> np.ndarray:
    """Return the probability of "left" for the next output in each of the finest cells, 2^depth of them.

    A tree cuts the line into cells of different sizes. In each cell outputs come from the left with one unknown
    probability, or with one half. One pass averages over all trees, weighted by how well they predicted past sides: an
    event that fills a few cells costs a few bits to find, whatever happens in the rest of the line. `counts` are past
    outputs from the left and from the right in each of the finest cells. The weighting by a recursion from the leaves
    is that of Willems, Shtarkov & Tjalkens 1995, "The context-tree weighting method: basic properties".
    """
    levels = [counts]
    while levels[-1].shape[1] > 1:
        levels.append(levels[-1][:, ::2] + levels[-1][:, 1::2])
    ends = np.cumsum([level.shape[1] for level in levels])[:-1]
    own, told = (np.split(part, ends) for part in _uncut(np.concatenate(levels, axis=1)))
    weighted, cut = own[0], [np.zeros(counts.shape[1])]  # posterior probability that a cell is cut in two
    for whole in own[1:]:
        apart = weighted[::2] + weighted[1::2]
        weighted = np.logaddexp(whole, apart) + math.log(0.5)
        cut.append(np.exp(apart + math.log(0.5) - weighted))
    reach, found = np.ones(1), np.zeros(1)  # the probability that the path to a cell goes on, and the mean so far
    for prediction, share in zip(told[:0:-1], cut[:0:-1], strict=True):
        found = np.repeat(found + reach * (1 - share) * prediction, 2)
        reach = np.repeat(reach * share, 2)
    return np.asarray(found + reach * told[0])


def _uncut(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-probability of the sides seen in cells that are not cut, and their probability of "left"."""
    left, right = counts
    total = left + right
    even = math.log(0.75) - total * math.log(2)
    uneven = math.log(0.25) + special.betaln(left + 0.5, right + 0.5) - math.log(math.pi)  # B(1/2, 1/2) = pi
    both = np.logaddexp(even, uneven)
    share = np.exp(uneven - both)
    return both, 0.5 + share * ((left + 0.5) / (total + 1.0) - 0.5)
