"""Plant shifts of the mean along random directions, and ask the fitted direction for them, from sufficient statistics.

What a fit sees of a plant is the difference of the means, to which chance has added its part, and the spread within the
sides. A shift changes the former only, so that no output is drawn or read again: the direction that the fit would give
and the projections of the outputs on it are sums of a few known vectors. Columns are cut after the shift, as the score
cuts them: beyond the cut nothing is seen. Where each of many coordinates moves by little, the cut does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from audit.game import tuning
from audit.game.plants import PLANTED, SHIFT, SURE_POWER, Claimed, Family
from audit.game.resolution import POWER
from audit.game.scorers.directions import Moments, Standard
from audit.game.scorers.rows import Rows, finite_or_zero

_FEWEST = 20  # outputs beyond a threshold that show how many there are
SIZING, PLANTING = 0, 1  # parts of chance in the difference of the means: one sizes the plants, the other meets them


@dataclass
class Shifts:
    """Hold the outputs on which shifts are planted."""

    rows: Rows
    standard: Standard
    claimed: Claimed
    varied: np.ndarray  # coordinates that vary
    rng: np.random.Generator

    def family(self) -> Family:
        """Plant dense shifts and shifts of single coordinates, each at a size that the fit is sure to find."""
        size, found = 0.0, 0
        along = self.directions()
        fitted = self.moments.directions(along)
        for direction in map(Direction, along, fitted, (self.plain @ fitted.T).T):
            shift = tuning.PLANT_MARGIN * least(partial(self._is_sure, direction))
            size, found = max(size, shift), found + (self.power(direction, shift, PLANTING) >= POWER)
        return Family(SHIFT, f"{size:.2g} standard deviations of the noise", PLANTED, found)

    def _is_sure(self, direction: Direction, shift: float) -> bool:
        return self.power(direction, shift, SIZING) >= SURE_POWER

    @cached_property
    def moments(self) -> Moments:
        """The moments of both sides together, dealt again at random."""
        swap = (self.rng.random(len(self.rows[0])) < 0.5)[:, None]
        left, right = self.rows
        return Moments.of((np.where(swap, right, left), np.where(swap, left, right)), self.standard)

    @cached_property
    def by_chance(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights that chance alone gives, shape (2, d), and the projections on them, shape (size, 2)."""
        gaps = np.stack([self.moments.chance_gap(len(self.rows[0]), self.rng), self.moments.gap])
        weights = self.moments.directions(gaps)
        return weights, self.plain @ weights.T

    @cached_property
    def uncut(self) -> np.ndarray:
        """Some outputs of both sides, centered and scaled."""
        sample = np.concatenate([side[: tuning.PROJECTED_ROWS] for side in self.rows])
        return finite_or_zero((sample - self.standard.center) / self.standard.scale)

    @cached_property
    def plain(self) -> np.ndarray:
        """The same, cut as the score cuts them."""
        return np.clip(self.uncut, -tuning.CLIP, tuning.CLIP)

    def directions(self) -> np.ndarray:
        """Return directions in which a shift of one standard deviation has length 1, shape (PLANTED, d)."""
        dense = np.zeros((PLANTED // 2, len(self.moments.gap)))
        dense[:, self.varied] = self.rng.standard_normal((len(dense), len(self.varied)))
        single = np.zeros((PLANTED - len(dense), dense.shape[1]))
        single[np.arange(len(single)), self.rng.choice(self.varied, len(single))] = 1.0
        along = np.concatenate([dense, single])
        lengths = np.einsum("ij,ij->i", along, self.moments.directions(along))
        return np.asarray(along / np.sqrt(np.maximum(lengths, 1e-12))[:, None])

    def power(self, direction: Direction, shift: float, chance: int) -> float:
        """Return the power of the best threshold on the direction that is fitted to outputs with this shift."""
        along, weights, projected = direction.along, self.by_chance[0][chance], self.by_chance[1][:, chance]
        moved = np.flatnonzero(along)
        if len(moved) > tuning.CUT_COORDINATES:
            ordered = np.sort(projected + shift * direction.projected)
            return best_power(
                self.claimed, ordered + shift * float((weights + shift * direction.fitted) @ along), ordered
            )
        change = np.clip(self.uncut[:, moved] + shift * along[moved], -tuning.CLIP, tuning.CLIP) - self.plain[:, moved]
        gap = np.zeros(len(along))
        gap[moved] = change.mean(axis=0)
        if len(moved) == 1:
            seen = float(gap[moved[0]] / along[moved[0]])
            fitted, added = seen * direction.fitted, seen * direction.projected
        else:
            fitted = self.moments.directions(gap[None, :])[0]
            added = self.plain @ fitted
        usual = projected + added
        return best_power(self.claimed, np.sort(usual + change @ (weights + fitted)[moved]), np.sort(usual))


@dataclass(frozen=True)
class Direction:
    """Hold a direction of a shift, the weights that a fit would give to it, and the projections on these."""

    along: np.ndarray  # shape (d,)
    fitted: np.ndarray  # shape (d,)
    projected: np.ndarray  # shape (size,)


def best_power(claimed: Claimed, leading: np.ndarray, other: np.ndarray) -> float:
    """Return the power of the best threshold between two samples of a score, both sorted."""
    right, wrong = tails(leading, other)
    misses = wrong + claimed.delta * math.exp(-claimed.epsilon)
    theta = 1 / (1 + math.exp(-claimed.epsilon))
    excess = (right - theta * (right + misses)) / np.sqrt(np.maximum(right + misses, 1e-12))
    best = int(np.argmax(excess))
    return claimed.test.power(claimed.runs, float(right[best]) / 2, float(wrong[best]) / 2)


def tails(leading: np.ndarray, other: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the shares of two sorted samples beyond some thresholds, those with few outputs beyond them left out."""
    size = len(leading)
    shares = np.concatenate([1 - np.geomspace(0.5, min(0.5, _FEWEST / size), 24), np.linspace(0.05, 0.45, 9)])
    ranks = (shares * (size - 1)).astype(int)
    thresholds = np.unique(np.concatenate([leading[ranks], other[ranks]]))
    beyond = [1 - np.searchsorted(side, thresholds) / size for side in (leading, other)]
    return beyond[0], beyond[1]


def least(holds: Callable[[float], bool], most: float = 60.0) -> float:
    """Return the least size, up to a few percent, from which it holds; the largest tried where it never does."""
    sizes = np.geomspace(most / 3000, most, 160)
    low, high = -1, len(sizes) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(float(sizes[middle])) else (middle, high)
    return float(sizes[high])
