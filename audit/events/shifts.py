"""Plant shifts of the mean in training outputs, and compute what the fitted direction would see of them.

A shift of the mean changes only the difference of the means, to which chance has added its part, so that no output is
drawn or read again: the direction that the fit would give and the projections of the outputs on it are sums of a few
known vectors. Columns are cut after the shift, as the score cuts them: beyond the cut nothing is seen. Where each of
many coordinates moves by little, the cut does not matter.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from audit.events.planted import PLANTED, SHIFT, SURE_POWER, Claimed, Family, least, tails
from audit.scorers.directions import Moments, Standard
from audit.scorers.rows import CLIP, Rows, finite_or_zero
from audit.statistics.power import POWER

# The best interval of any width: tuned by `python -m benchmarks.violations`
PLANT_MARGIN, PROJECTED_ROWS = 1.15, 4_000  # sizes of planted shifts over the least; rows that show their projections
CUT_COORDINATES = 12  # coordinates of a planted shift up to which each is cut as the score cuts it. TIME

SIZING = range(4)  # parts of chance in the difference of the means that size the plants
PLANTING = len(SIZING)  # the part that meets them


@dataclass
class Shifts:
    """Hold the outputs on which shifts are planted."""

    rows: Rows
    standard: Standard
    claimed: Claimed
    rng: np.random.Generator
    cut: CutChange | None = None  # the last one: all parts of chance meet it

    def family(self) -> Family:
        """Plant dense shifts and shifts of single coordinates, at a size that the fit is sure to find in each case."""
        size, found = 0.0, 0
        along = self.directions()
        fitted = self.moments.directions(along)
        known: dict[tuple[bytes, float], bool] = {}  # a coordinate may be chosen again
        for direction in map(Direction, along, fitted, (self.plain @ fitted.T).T):
            if (direction.along.tobytes(), size) not in known:
                for chance in SIZING:
                    if not self._is_sure(direction, chance, size):  # rarely more than once
                        size = PLANT_MARGIN * least(partial(self._is_sure, direction, chance))
                known[direction.along.tobytes(), size] = self.power(direction, size, PLANTING) >= POWER
            found += known[direction.along.tobytes(), size]
        return Family(SHIFT, f"{size:.2g} standard deviations of the noise", PLANTED, found)

    def _is_sure(self, direction: Direction, chance: int, shift: float) -> bool:
        return shift > 0 and self.power(direction, shift, chance) >= SURE_POWER

    @cached_property
    def moments(self) -> Moments:
        """The moments of both sides together, dealt again at random."""
        swap = (self.rng.random(len(self.rows[0])) < 0.5)[:, None]
        left, right = self.rows
        return Moments.of((np.where(swap, right, left), np.where(swap, left, right)), self.standard)

    @cached_property
    def by_chance(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights that chance alone gives, shape (parts, d), and the projections on them, shape (size, parts)."""
        gaps = [self.moments.chance_gap(len(self.rows[0]), self.rng, SURE_POWER) for _ in SIZING]
        weights = self.moments.directions(np.stack([*gaps, self.moments.gap]))
        return weights, self.plain @ weights.T

    @cached_property
    def uncut(self) -> np.ndarray:
        """Some outputs of both sides, centered and scaled."""
        sample = np.concatenate([side[:PROJECTED_ROWS] for side in self.rows])
        return finite_or_zero((sample - self.standard.center) / self.standard.scale)

    @cached_property
    def plain(self) -> np.ndarray:
        """The same, cut as the score cuts them."""
        return np.clip(self.uncut, -CLIP, CLIP)

    def directions(self) -> np.ndarray:
        """Return directions in which a shift of one standard deviation has length 1, shape (PLANTED, d)."""
        width = len(self.moments.gap)
        dense = self.rng.standard_normal((PLANTED // 2, width))
        single = np.eye(width)[self.rng.choice(width, PLANTED - len(dense))]
        along = np.concatenate([dense, single])
        lengths = np.einsum("ij,ij->i", along, self.moments.directions(along))
        return np.asarray(along / np.sqrt(np.maximum(lengths, 1e-12))[:, None])

    def power(self, direction: Direction, shift: float, chance: int) -> float:
        """Return the power of the best threshold on the direction that is fitted to outputs with this shift."""
        along, weights, projected = direction.along, self.by_chance[0][chance], self.by_chance[1][:, chance]
        if np.count_nonzero(along) > CUT_COORDINATES:
            ordered = np.sort(projected + shift * direction.projected)
            return best_power(
                self.claimed, ordered + shift * float((weights + shift * direction.fitted) @ along), ordered
            )
        if self.cut is None or self.cut.of is not direction or self.cut.shift != shift:
            self.cut = self._cut(direction, shift)
        usual = projected + self.cut.projected
        leading = usual + self.cut.change @ (weights + self.cut.fitted)[self.cut.moved]
        return best_power(self.claimed, np.sort(leading), np.sort(usual))

    def _cut(self, direction: Direction, shift: float) -> CutChange:
        """Return what a shift of few coordinates changes where these are cut."""
        along, moved = direction.along, np.flatnonzero(direction.along)
        change = np.clip(self.uncut[:, moved] + shift * along[moved], -CLIP, CLIP) - self.plain[:, moved]
        gap = np.zeros(len(along))
        gap[moved] = change.mean(axis=0)
        if len(moved) == 1:
            seen = float(gap[moved[0]] / along[moved[0]])
            return CutChange(direction, shift, moved, change, seen * direction.fitted, seen * direction.projected)
        fitted = self.moments.directions(gap[None, :])[0]
        return CutChange(direction, shift, moved, change, fitted, self.plain @ fitted)


@dataclass(frozen=True)
class Direction:
    """Hold a direction of a shift, the weights that a fit would give to it, and the projections on these."""

    along: np.ndarray  # shape (d,)
    fitted: np.ndarray  # shape (d,)
    projected: np.ndarray  # shape (size,)


@dataclass(frozen=True)
class CutChange:
    """Hold a shift of few coordinates, and what the fit would see of it."""

    of: Direction
    shift: float
    moved: np.ndarray  # coordinates
    change: np.ndarray  # of each output, shape (size, moved coordinates)
    fitted: np.ndarray  # weights that it adds, shape (d,)
    projected: np.ndarray  # of the outputs on these, shape (size,)


def best_power(claimed: Claimed, leading: np.ndarray, other: np.ndarray) -> float:
    """Return the power of the best threshold between two samples of a score, both sorted."""
    right, wrong = tails(leading, other)
    misses = wrong + claimed.delta * math.exp(-claimed.epsilon)
    theta = 1 / (1 + math.exp(-claimed.epsilon))
    excess = (right - theta * (right + misses)) / np.sqrt(np.maximum(right + misses, 1e-12))
    best = int(np.argmax(excess))
    return claimed.test.power(claimed.runs, float(right[best]) / 2, float(wrong[best]) / 2)
