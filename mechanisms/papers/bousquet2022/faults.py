"""Broken variants: each changes one field or part, and states its real privacy under substitution.

A truth is an epsilon at the claimed delta, for the pair that shows it; infinite where an event has no probability on
one side. `Concealed` hides the law.
"""

import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

import numpy as np

from audit import FittedObject, Labeled
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram, records
from mechanisms.papers.bousquet2022.algorithm2 import ask_votes, cube_sums, flip_pair, table_of
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity, points_in_cubes
from mechanisms.papers.bousquet2022.algorithm5 import (
    LINE,
    StableVoronoiClassifier,
    drawn_histograms,
    on_line,
    to_cell,
)
from mechanisms.papers.bousquet2022.cells import DrawnVotes, draw_votes
from mechanisms.papers.bousquet2022.grids import keys_of, side_for
from mechanisms.papers.bousquet2022.regression import CubeMeanRegressor, learned_check
from mechanisms.papers.bousquet2022.section3 import CubeProblem
from mechanisms.papers.bousquet2022.spaces import PublicPoints
from mechanisms.papers.bousquet2022.tables import Pair, flip_first, promise, records_of, replace_first, vanish
from mechanisms.papers.bousquet2022.theorem4_10 import SINGLETONS, SemiPrivateLearner, equal_pair, make_choice
from mechanisms.papers.bousquet2022.theorem4_11 import UNLABELED, DrawnParts
from mechanisms.papers.rows import Concealed, Fault
from mechanisms.parts.records import require_features
from mechanisms.parts.thresholded_count import released_counts

QUERIES = np.array([[0.05], [0.24], [0.3], [0.45], [0.55], [0.7]])


def fault(
    name: str, truth: float, mechanism: Any, pair: Pair, claimed: tuple[float, float], where: str, budget: int = 50_000
) -> Fault:
    """Return a fault that sampling convicts."""
    return Fault(truth, promise(f"fault/{name}", mechanism, claimed[0], [pair], claimed[1], where, budget=budget))


# Algorithm 1


@dataclass(frozen=True)
class ChangedHistogram(StabilityHistogram):
    """Algorithm 1 at epsilon = 1 with another scale of the noise or another threshold."""

    epsilon: float = 1.0
    delta: float = 0.1
    scale: float = field(kw_only=True, default=2.0)
    threshold: float = field(kw_only=True, default=2 * math.log(20) + 1)


def compare_early(data: Any, size: int, rng: np.random.Generator) -> np.ndarray:
    """Compare the exact counts with the threshold, in place of the noisy ones."""
    right = StabilityHistogram(1.0, 0.1)
    counts = right.counts(data)
    return released_counts(np.where(counts >= right.threshold, counts, 0), right.scale, -math.inf, size, rng)


_LARGE, _SINGLE, _SEVEN = ((data, replace_first(data, 1)) for data in (records(40, 40), records(1, 0), records(7, 7)))

_HISTOGRAMS = [
    # two losses of epsilon each: delta(e) = 1 - e^(-(2 - e) / 2) (1 + (2 - e) / 4), 0.242 at 1
    fault("histogram scale 1/epsilon", 1.59, Concealed(ChangedHistogram(scale=1.0)), _LARGE, (1, 0.1), "Theorem 2.4"),
    *(
        fault(f"histogram {name}", math.inf, Concealed(changed), _SINGLE, (1, delta), "Theorem 2.4", 200_000)
        for name, delta, changed in (
            ("no logarithm", 0.1, ChangedHistogram(threshold=3.0)),  # a new label passes with e^-1 / 2 = 0.184
            ("decimal logarithm", 0.1, ChangedHistogram(threshold=2 * math.log10(20) + 1)),  # 0.136
            ("half threshold", 0.005, ChangedHistogram(threshold=math.log(400) + 1)),  # 0.025
            ("threshold zero", 0.1, ChangedHistogram(threshold=0.0)),  # 0.697
            ("no threshold", 0.1, ChangedHistogram(threshold=-math.inf)),  # 1
        )
    ),
    fault("histogram threshold before noise", math.inf, compare_early, _SEVEN, (1, 0.1), "Theorem 2.4"),
]


# Algorithm 2

VOTES = DrawnVotes(1.0, cube_sums)


def vote(sums: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release votes of cells with the given sums, epsilon = 1."""
    return draw_votes(np.broadcast_to(sums, (size, sums.size)), 1.0, rng)


def count_records(data: Labeled) -> np.ndarray:
    """Return the number of records of each cube."""
    return np.bincount(table_of(data).entry_of(data.X[:, None]), minlength=table_of(data).size)


def share_noise(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add one noise to all cubes."""
    return (cube_sums(data) + rng.laplace(size=(size, 1)) > 0).astype(np.int8)


def skip_empty_cubes(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Let cubes without records vote 0, without noise."""
    return VOTES(data, size, rng) * (count_records(data) > 0)


def add_counts(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Release votes, and the exact number of records of each cube."""
    return np.hstack([VOTES(data, size, rng), np.tile(count_records(data), (size, 1))])


def add_noise_to_labels(data: Labeled, size: int, rng: np.random.Generator, is_mean: bool = False) -> np.ndarray:
    """Release noisy numbers of label-1 records, or noisy mean labels, in place of sums centered by 1/2."""
    ones = cube_sums(data) + count_records(data) / 2
    shown = ones / np.maximum(count_records(data), 1) if is_mean else ones
    return shown + rng.laplace(scale=1.0, size=(size, ones.size))


def fit_cubes(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Let cubes span the range of the data; the hypothesis is shown at six points."""
    low, high = float(np.min(data.X)), float(np.max(data.X))
    asked = tuple(np.clip((QUERIES[:, 0] - low) / (high - low), 0.0, 1.0).tolist())
    return ask_votes(Labeled((data.X - low) / (high - low), data.y), size, rng, asked)


_EVEN = records_of([0.1, 0.1, 0.9, 0.9], [1, 0, 1, 0])
_ALONE = records_of(np.r_[0.1, np.full(15, 0.6)], np.r_[1, np.tile([0, 1, 0], 5)])
_RANGE = records_of(np.r_[1.0, np.linspace(0, 0.55, 15)], np.tile([0, 1], 8))
_TWO = Labeled(np.array([0.1, 0.9, 0.9, 0.9]), np.array([2, 0, 0, 0]))
_FLIP, _EVEN_PAIR, _ALONE_PAIR, _TWO_PAIR = (
    flip_pair(),
    *((data, replace_first(data, 0.9)) for data in (_EVEN, _ALONE, _TWO)),
)

_CUBES = [
    fault(f"cubes {name}", truth, mechanism, pair, (epsilon, 0.0), "Theorem 3.1")
    for name, truth, mechanism, pair, epsilon in (
        ("scale inverted", 2.0, Concealed(DrawnVotes(2.0, cube_sums)), _FLIP, 0.5),
        ("noise per query", 2.0, Concealed(DrawnVotes(0.5, lambda data: np.repeat(cube_sums(data)[0], 4))), _FLIP, 0.5),
        ("one noise for all", math.inf, share_noise, _EVEN_PAIR, 1.0),
        ("empty ones vote zero", math.inf, skip_empty_cubes, _ALONE_PAIR, 1.0),
        ("counts released", math.inf, add_counts, _EVEN_PAIR, 1.0),
        ("noisy label counts", 2.0, add_noise_to_labels, _EVEN_PAIR, 1.0),
        ("noise on both sides", 1.0, Concealed(VOTES), _FLIP, 0.5),  # half of the noise for epsilon = 1/2
        ("sign labels", 1.0, Concealed(DrawnVotes(0.5, lambda data: 2 * cube_sums(data))), _FLIP, 0.5),
        ("unchecked label 2", 1.5, DrawnVotes(0.5, cube_sums), _TWO_PAIR, 0.5),
        ("from the data", math.inf, fit_cubes, (_RANGE, replace_first(_RANGE, 0.6)), 1.0),
        ("noise on the means", 2.0, partial(add_noise_to_labels, is_mean=True), _ALONE_PAIR, 1.0),
    )
]


# Algorithms 4 and 5


def fit_centers(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Build a packing of radius 0.3 greedily from the sample; the votes are shown at four points."""
    # Mass 0.624 on votes at 0.32 and 0.6 that differ: the boundary of a cell moves from 0.3 to 0.35.
    space = PublicPoints(data.X[:, None], "cityblock", 1.0)
    packing = space.packing(0.3)
    sums = np.bincount(space.cell_of(data.X[:, None], packing), weights=data.y - 0.5, minlength=len(packing))
    return vote(sums, size, rng)[:, space.cell_of(np.array([0.05, 0.32, 0.6, 0.95])[:, None], packing)]


def share_cell_noise(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Add one noise to the two counts of a cell: their difference is exact."""
    counts = _HALF.counts(data).reshape(2, -1)
    noisy = counts + rng.laplace(scale=_HALF.scale, size=(size, 1, counts.shape[1]))
    return np.where((counts > 0) & (noisy >= _HALF.threshold), noisy, 0.0).reshape(size, -1)


_FIRST = records_of([0.1, 0.5, 0.9, 0.6], [1, 0, 1, 0])
_CROWDED = on_line((60, 60), (60, 60))
_CROWDED_FLIP = _CROWDED, flip_first(_CROWDED)
# epsilon for each of the two, and half of it
_WHOLE, _HALF = (drawn_histograms(StableVoronoiClassifier(LINE, epsilon, 0.01), (0, 1)) for epsilon in (1.0, 0.5))

_SPACES = [
    fault("centers from the data", math.inf, fit_centers, (_FIRST, replace_first(_FIRST, 0.2)), (1, 0), "Theorem A.12"),
    fault("half the budget", 1.86, Concealed(_WHOLE), (_CROWDED, to_cell(_CROWDED, 1)), (1, 0.01), "Theorem A.14"),
    fault("one noise for both histograms", math.inf, share_cell_noise, _CROWDED_FLIP, (1, 0.02), "Theorem A.14"),
]


# Theorems 4.10 and 4.11


def represent_records(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Take thresholds at the private features as representatives; the chosen threshold is released."""
    # Mass 0.274 on a threshold that was no candidate before: weight e^(-1/2) among e^(-1/2), 1, e^(-1/2).
    learner = SemiPrivateLearner(public=data.X)
    return np.minimum(learner.representatives[make_choice(learner)(data, size, rng), 0, 0], 9.0)


def reuse_labeled(data: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
    """Put the features of labeled records into the density as well, epsilon = 2: both are paid for with epsilon."""
    doubled = Labeled(np.r_[data.X, data.X], np.r_[data.y, np.full(len(data), UNLABELED)])
    return DrawnParts(2.0, 0.004)(doubled, size, rng)


_PAIR = records_of([0.2, 0.6], [0, 1])
_PAIRS = _PAIR, replace_first(_PAIR, 0.4)
_TWICE = records_of(points_in_cubes(24, 24), [1, 0] * 24)
_REUSED = _TWICE, replace_first(_TWICE, 1.5 * side_for(48, 1), 0)
_DOUBLED = Concealed(make_choice(SemiPrivateLearner(SINGLETONS, (0.35,), epsilon=1.0)))  # weights without the 1/2

_CONCEPTS = [
    fault("semi-private full epsilon", 0.970, _DOUBLED, equal_pair(0.35, 8), (0.5, 0.0), "Theorem 4.10", 200_000),
    fault("semi-private candidates from the records", math.inf, represent_records, _PAIRS, (1, 0), "Theorem 4.10"),
    fault("semi-supervised labeled records reused", 3.40, reuse_labeled, _REUSED, (2, 0.004), "Theorem 4.11", 200_000),
]


# Fitted objects that tell more than their release


class FirstSeen(CubeDensity):
    """Released counts in the order in which cubes first occur: the order of two keys names the first record's cube."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the counts."""
        super().fit(X)
        seen = dict.fromkeys(keys_of(require_features(X, self.dim), self.side))
        return self.set_release({cube: self.counts_[cube] for cube in seen if cube in self.counts_}, self.n_)


class KeepsSeed(CubeDensity):
    """The seed of the noise beside the counts: who has both recomputes the exact counts."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Release the counts."""
        self.seed_ = int(np.random.default_rng(self.random_state).integers(2**31))
        released = CubeDensity(self.dim, self.epsilon, self.delta, random_state=self.seed_).fit(X)
        return self.set_release(released.counts_, released.n_)


class ExactTargets(CubeMeanRegressor):
    """The density decides which cubes are shown; their mean targets are those of the records."""

    def fit(self, X: Any, y: Any, **unused: Any) -> Self:
        """Release the density, and the exact mean of all records where a cube is shown."""
        super().fit(X, y)
        self.mean_ = float(np.mean(y)) if self.learner_.counts_ else 0.0
        return self


@dataclass(frozen=True, eq=False)
class CountsByReplay(FittedObject):
    """Released counts, less the noise that the kept seed draws again, in either order."""

    def _read_release(self, learner: KeepsSeed) -> Any:
        noise = np.random.default_rng(learner.seed_).laplace(scale=2.0, size=2)
        counts = np.array(list(learner.counts_.values()))
        return np.round([counts - noise, counts - noise[::-1]], 6)


def in_two_cubes(first: int) -> np.ndarray:
    """Return 101 records alternating between cubes 0 and 1 of the line, after a first one in the cube named."""
    return (np.r_[first, np.arange(100) % 2] + 0.5) * side_for(101, 1)


_MOVED = in_two_cubes(0), in_two_cubes(1)
_LEVELS = records_of(np.full((101, 1), 0.1), np.full(101, 0.1))
_LOWER = _LEVELS, Labeled(_LEVELS.X, np.r_[0.2, _LEVELS.y[1:]])
_ORDER, _SEED = FittedObject(partial(FirstSeen, 1, 1.0, 1e-6)), CountsByReplay(partial(KeepsSeed, 1, 1.0, 1e-6))
_TARGETS = FittedObject(partial(ExactTargets, 1.0, 1e-6, (0.0, 1.0), None, (0.0, 1.0)))

_OBJECTS = [
    fault("fitted object, order of a dict", math.inf, _ORDER, _MOVED, (1.0, 1e-6), "Theorem 4.2", 500),
    fault("fitted object, seed, counts by replay", math.inf, _SEED, _MOVED, (1.0, 1e-6), "Theorem 4.2", 500),
    fault("fitted object, exact targets", math.inf, _TARGETS, _LOWER, (1.0, 1e-6), "Theorem 4.2", 500),
]


# Learners that keep their privacy and lose their consistency


def side_risk(factor: float, power: float, n: int) -> float:
    """Return the excess risk on `smooth` with cubes of side factor / n^power."""
    return CubeProblem("smooth", n, side=factor * n**-power).excess(1.0)


# the excess stays at 0.202, and tends to 0.0243
_ONE_EACH: dict[str, Any] = {"evaluator": partial(side_risk, 1.0, 1.0), "sizes": (10**3, 10**4)}
_CONSTANT: dict[str, Any] = {"evaluator": partial(side_risk, 0.3, 0.0), "sizes": (10**3, 10**6)}

UTILITY: list[Any] = [
    vanish("fault/cubes with one record", "Theorem 3.2", 0.05, **_ONE_EACH),
    vanish("fault/cubes of constant side", "Theorem 3.2", 0.01, **_CONSTANT),
    learned_check("fault/regression on 50 draws", 50),
]

FAULTS: list[Fault] = [*_HISTOGRAMS, *_CUBES, *_SPACES, *_CONCEPTS, *_OBJECTS]
CHECKS = [*(each.check for each in FAULTS), *UTILITY]
