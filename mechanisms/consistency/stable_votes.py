"""Private votes on cells of an unbounded space, from two stability histograms.

Implements Bousquet et al. (2022), Algorithm 5 with Theorems A.13 and A.14, and the learner of Remark 1.8. Algorithm 5
releases c_j, a stability histogram of the cells of all records, and y_j, one of the cells of the label-1 records, both
with (epsilon, delta); it votes 1 where min(y_j, c_j) > c_j / 2. Remark 1.8 needs one histogram only, of the pairs
(cube, label), and votes 1 where the label 1 has the larger value.

Exact privacy under substitution, q = delta / 4 the probability that a label that occurs once is released. Both
histograms: (2 epsilon, 1 - (1 - q)^2), where 2 delta is claimed; the 2 epsilon is attained by moving a label-1 record
between large cells (four counts move by 1 with noise of scale 2 / epsilon), the delta by moving a singleton. The votes
alone: 1.5 epsilon and about delta / 4. Remark 1.8: (epsilon, delta / 4), since a record is in one pair only.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from audit import Labeled, PrivacyCheck, PrivacyClaim, Substitution
from audit.errors import InvalidArgument
from audit.laws import Finite, PointMass, PrivacyLoss, Product
from audit.validate import integer, open_probability, positive
from mechanisms.consistency.any_space import Lattice
from mechanisms.consistency.grids import side_for
from mechanisms.consistency.records import labels
from mechanisms.consistency.spaces import MetricSpace
from mechanisms.consistency.stable_counts import threshold
from mechanisms.consistency.voronoi import radius_for
from mechanisms.consistency.votes import vote_probability
from mechanisms.estimator import Classifier, noise_source
from mechanisms.stability_histogram import StabilityHistogram
from mechanisms.thresholded_laplace import ThresholdedLaplace

SOURCE = "Bousquet et al. 2022, Theorem A.14"
LINE = Lattice(1)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


class StableVoronoiClassifier(Classifier):
    """Private classifier on a metric space from two stability histograms; claimed (2 epsilon, 2 delta)-DP.

    Parameters
    ----------
    dim : int >= 1
    epsilon : float > 0
    delta : float in (0, 1)
        Of each histogram; for a total of (epsilon, delta) pass half of both.
    random_state : int, optional
        Repeats the noise exactly; for tests only.
    space : MetricSpace, optional
        R^dim with the l-infinity norm unless given: `Integers()`, a bounded space such as `Sphere()`, or
        `PublicPoints(places, distance)` for any other distance.

    Attributes
    ----------
    votes_ : tuple of integer vectors
        The cells where the released hypothesis is 1, sorted as histograms are released; it is 0 everywhere else. A set
        would do for `predict`, but the order in which it yields its elements may tell in which order it was filled.

    Notes
    -----
    The packing has radius r = n^(-1 / (4 d)), d the doubling dimension of the space; in R^dim it is the lattice
    r Z^dim, and its cells are centered cubes.

    References
    ----------
    Bousquet et al. 2022, Algorithm 5; Theorem A.14 (privacy), Theorem A.15 (universal consistency).
    """

    def __init__(
        self,
        dim: int = 1,
        epsilon: float = 1.0,
        delta: float = 1e-6,
        random_state: int | None = None,
        space: MetricSpace | None = None,
    ) -> None:
        self.dim = integer(dim, "dim", at_least=1)
        self.epsilon = positive(epsilon, "epsilon")
        self.delta = open_probability(delta, "delta")
        self.random_state = random_state
        if space is not None and not isinstance(space, MetricSpace):
            raise InvalidArgument.of("space", "be a MetricSpace such as PublicPoints(places, distance)", space)
        self.space = space

    def fit(self, X: Any, y: Any) -> Self:
        """Release the hypothesis for points X, shape (n, dim) in R^dim, with labels y in {0, 1}."""
        rows = self._space.points(X)
        marks = labels(y, len(rows))
        rng = noise_source(self.random_state)
        self.radius_ = radius_for(len(rows), self._space.doubling_dim)
        keys = self._space.keys_of(rows, self.radius_)
        histogram = StabilityHistogram(self.epsilon, self.delta)
        every = histogram.release(keys, rng)
        ones = histogram.release([key for key, mark in zip(keys, marks, strict=True) if mark], rng)
        self.votes_ = tuple(key for key, count in every.items() if min(ones.get(key, 0.0), count) > count / 2)
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the vote of each row's cell."""
        votes = frozenset(self._fitted("votes_"))
        keys = self._space.keys_of(self._space.points(X), self.radius_)
        return np.array([key in votes for key in keys], dtype=np.int8)

    @property
    def _space(self) -> MetricSpace:
        return Lattice(self.dim) if self.space is None else self.space


class PairHistogramClassifier(StableVoronoiClassifier):
    """Private classifier from one stability histogram of (cell, label); exactly (epsilon, delta / 4)-DP.

    Parameters and attributes are those of `StableVoronoiClassifier`; cells have radius n^(-1 / (2 d)), d the dimension.

    References
    ----------
    Bousquet et al. 2022, Remark 1.8.
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Release the hypothesis for points X, shape (n, dim) in R^dim, with labels y in {0, 1}."""
        rows = self._space.points(X)
        marks = labels(y, len(rows)).tolist()
        rng = noise_source(self.random_state)
        self.radius_ = radius_for(len(rows), self._space.doubling_dim / 2)
        keys = self._space.keys_of(rows, self.radius_)
        released = StabilityHistogram(self.epsilon, self.delta).release(list(zip(keys, marks, strict=True)), rng)
        values: defaultdict[Any, float] = defaultdict(float)
        for (key, mark), value in released.items():  # type: ignore[misc]
            values[key] += value if mark else -value  # type: ignore[has-type]
        self.votes_ = tuple(key for key, value in values.items() if value > 0)
        return self


@dataclass(frozen=True)
class StableHistograms:
    """Both histograms as a mechanism: noisy counts of all records, then of label-1 records, by cell.

    Parameters
    ----------
    epsilon : float > 0
    delta : float in (0, 1)
    cells : tuple of int
        Cells shown, one column each in both halves.
    space : MetricSpace
        With cells that have one number.
    """

    epsilon: float
    delta: float
    cells: tuple[int, ...] = (0, 1)
    space: MetricSpace = LINE

    def counts(self, dataset: Labeled) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of all records and of label-1 records in the cells shown."""
        rows = self.space.points(dataset.X)
        marks = labels(dataset.y, len(rows))
        found = [key[0] for key in self.space.keys_of(rows, radius_for(len(rows), self.space.doubling_dim))]
        histogram = StabilityHistogram(self.epsilon, self.delta, self.cells)
        return histogram.counts(found), histogram.counts([c for c, mark in zip(found, marks, strict=True) if mark])

    @property
    def level(self) -> float:
        """Threshold of both histograms."""
        return threshold(self.epsilon, float(np.log(self.delta)))

    def released(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        """Draw both histograms, shape (size, 2, cells)."""
        counts = np.stack(self.counts(dataset))
        noisy = counts + rng.laplace(scale=2 / self.epsilon, size=(size, *counts.shape))
        return np.where((counts > 0) & (noisy >= self.level), noisy, 0.0)

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        return self.released(dataset, size, rng).reshape(size, -1)

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent counts, an atom at 0 each."""
        return Product(tuple(self._count_law(int(c)) for c in np.concatenate(self.counts(dataset))))

    def privacy_loss(self, left: Labeled, right: Labeled) -> PrivacyLoss:
        """Privacy loss of a pair, computed once for all claims about the same two laws."""
        return _privacy_loss(self.law(left), self.law(right))

    def _count_law(self, count: int) -> Any:
        return ThresholdedLaplace(float(count), 2 / self.epsilon, self.level) if count else PointMass(0.0)


@dataclass(frozen=True)
class PairHistogram(StableHistograms):
    """The histogram of Remark 1.8 as a mechanism: noisy counts of (cell, label 0), then of (cell, label 1)."""

    def counts(self, dataset: Labeled) -> tuple[np.ndarray, np.ndarray]:
        """Return the counts of label-0 and of label-1 records in the cells shown, of side n^(-1/2) on the line."""
        rows = self.space.points(dataset.X)
        marks = labels(dataset.y, len(rows)).tolist()
        keys = [key[0] for key in self.space.keys_of(rows, radius_for(len(rows), self.space.doubling_dim / 2))]
        histogram = StabilityHistogram(self.epsilon, self.delta, self.cells)
        zeros, ones = (histogram.counts([k for k, m in zip(keys, marks, strict=True) if m == v]) for v in (0, 1))
        return zeros, ones


@dataclass(frozen=True)
class StableVotes(StableHistograms):
    """The released hypothesis only: one bit a cell, 1 where min(y, c) > c / 2."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        released = self.released(dataset, size, rng)
        every, ones = released[:, 0], released[:, 1]
        return (np.minimum(ones, every) > every / 2).astype(np.int8)

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent bits."""
        pairs = np.stack(self.counts(dataset), axis=1).tolist()
        ones = [stable_vote_probability(self.epsilon, self.delta, count, marked) for count, marked in pairs]
        return Product(tuple(Finite({1: one, 0: 1 - one}) for one in ones))


@dataclass(frozen=True)
class StableVotesWithoutMin(StableVotes):
    """Decoy: y is not cut at c; where c is retained, min(y, c) > c / 2 and y > c / 2 are one condition."""

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        released = self.released(dataset, size, rng)
        every, ones = released[:, 0], released[:, 1]
        return ((every > 0) & (ones > every / 2)).astype(np.int8)


@dataclass(frozen=True)
class StableVotesOneNoise(StableVotes):
    """Decoy: one noise W for both counts of a cell, and ONLY the votes released; (epsilon, delta / 4)-DP.

    The vote is 1[W >= max(t - y, c - 2 y)], a threshold that moves by 2 at a flip and by 1 in each cell of a move,
    against noise of scale 2 / epsilon. With the histograms released, the same noise is a fault.
    """

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        every, ones = self.counts(dataset)
        noise = rng.laplace(scale=2 / self.epsilon, size=(size, every.size))
        bar = np.maximum(self.level - ones, every - 2 * ones)
        return ((ones > 0) & (noise >= bar)).astype(np.int8)

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent bits."""
        every, ones = self.counts(dataset)
        bar = np.maximum(self.level - ones, every - 2 * ones)
        chances = np.where(ones > 0, vote_probability(self.epsilon / 2, -bar), 0.0).tolist()
        return Product(tuple(Finite({1: chance, 0: 1 - chance}) for chance in chances))


@lru_cache(maxsize=16)
def _privacy_loss(left: Product, right: Product) -> PrivacyLoss:
    return left.loss_against(right)


@lru_cache(maxsize=4096)
def stable_vote_probability(epsilon: float, delta: float, count: int, ones: int) -> float:
    """Return P(vote = 1) for a cell with `count` records, `ones` of them labeled 1.

    The integral over u >= t of f_b(u - count) P(ones + Laplace(b) > max(t, u / 2)), t the threshold, b = 2 / epsilon;
    the integrand is analytic between the points t, count, 2 t, 2 ones.
    """
    if count == 0 or ones == 0:
        return 0.0
    b, t = 2 / epsilon, threshold(epsilon, float(np.log(delta)))
    cuts = sorted({t, *(x for x in (float(count), 2 * t, 2.0 * ones) if x > t)})
    pieces = [*itertools.pairwise(cuts), *_tail(cuts[-1], b)]
    return float(sum(_piece(low, high, count, ones, b, t) for low, high in pieces))


def _tail(start: float, b: float) -> list[tuple[float, float]]:
    """Cut [start, inf) at 40 scales of the noise: what lies beyond is below e^-40 of the whole."""
    ends = start + 5 * b * np.arange(9)
    return list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))


def _piece(low: float, high: float, count: int, ones: int, b: float, t: float) -> float:
    u = low + (high - low) * (_NODES + 1) / 2
    density = np.exp(-np.abs(u - count) / b) / (2 * b)
    gap = np.maximum(t, u / 2) - ones
    tail = np.exp(-np.abs(gap) / b) / 2
    return float(np.sum(_WEIGHTS * density * np.where(gap >= 0, tail, 1 - tail)) * (high - low) / 2)


@lru_cache(maxsize=4096)
def pair_vote_probability(epsilon: float, delta: float, zeros: int, ones: int) -> float:
    """Return P(vote = 1) for a cube of Remark 1.8: the value of label 1 is released and exceeds that of label 0.

    The integral over u >= t of f_b(u - ones) P(zeros + Laplace(b) < u), t the threshold, b = 2 / epsilon.
    """
    if ones == 0:
        return 0.0
    b, t = 2 / epsilon, threshold(epsilon, float(np.log(delta)))
    cuts = sorted({t, *(x for x in (float(zeros), float(ones)) if x > t)})
    total = 0.0
    for low, high in [*itertools.pairwise(cuts), *_tail(cuts[-1], b)]:
        u = low + (high - low) * (_NODES + 1) / 2
        below = 1 - np.exp(-np.abs(u - zeros) / b) / 2
        less = np.where(u >= zeros, below, 1 - below) if zeros else 1.0
        total += float(np.sum(_WEIGHTS * np.exp(-np.abs(u - ones) / b) / (2 * b) * less) * (high - low) / 2)
    return total


def pair_vote_law(epsilon: float, delta: float, dataset: Labeled, cells: tuple[int, ...]) -> Product:
    """Return the law of the votes of Remark 1.8 in cubes of the line: independent bits."""
    zeros, ones = PairHistogram(epsilon, delta, cells).counts(dataset)
    counts = zip(zeros.tolist(), ones.tolist(), strict=True)
    chances = [pair_vote_probability(epsilon, delta, int(z), int(o)) for z, o in counts]
    return Product(tuple(Finite({1: chance, 0: 1 - chance}) for chance in chances))


def records_in_cells(*cells: tuple[int, int]) -> Labeled:
    """Records at the centers of cells 0, 1, ...: (records, of which labeled 1) for each."""
    counts = [count for count, _ in cells]
    places = np.repeat(np.arange(len(cells)), counts) * radius_for(sum(counts), 1)
    return Labeled(places, np.concatenate([np.r_[np.ones(y), np.zeros(c - y)] for c, y in cells]).astype(int))


def first_moved(data: Labeled, cell: int) -> Labeled:
    """The same records with the first one moved to the center of another cell."""
    return Labeled(np.r_[cell * radius_for(len(data), 1), data.X[1:]], data.y)


def first_flipped(data: Labeled) -> Labeled:
    """The same records with the first label flipped."""
    return Labeled(data.X, np.r_[1 - data.y[0], data.y[1:]])


def _pairs(mechanism: StableHistograms) -> list[tuple[Labeled, Labeled]]:
    """A singleton moved to an empty cell, and a label-1 record moved between large cells."""
    large = int(np.ceil(2 * mechanism.level))
    singleton = records_in_cells((1, 1), (0, 0), (24, 8))
    crowded = records_in_cells((large, large), (large, large))
    return [(data, first_moved(data, 1)) for data in (singleton, crowded)]


def _checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    histograms = StableHistograms(epsilon, delta, (0, 1, 2))
    votes = StableVotes(epsilon, delta, (0, 1, 2))
    pairs = _pairs(histograms)
    near = records_in_cells((26, 13), (26, 26), (9, 0))
    q = delta / 4
    stated = [
        ("histograms", histograms, 2 * epsilon, 2 * delta, SOURCE, pairs),
        ("histograms sharp", histograms, 2 * epsilon, q * (2 - q), f"{SOURCE}, constants computed exactly", pairs),
        (
            "votes sharp",
            votes,
            1.5 * epsilon,
            q,
            f"{SOURCE}, constants computed exactly for the votes alone",
            [*pairs, (near, first_moved(near, 1)), (near, first_flipped(near))],
        ),
    ]
    return [
        PrivacyCheck(
            name=f"consistency/stable votes/theorem A.14 {name} eps={epsilon:g} delta={delta:g}",
            mechanism=mechanism,
            claim=PrivacyClaim(claimed, leak, Substitution(), source),
            pairs=listed,
        )
        for name, mechanism, claimed, leak, source, listed in stated
    ]


def _pair_check(epsilon: float, delta: float) -> PrivacyCheck:
    side = side_for(161, 1)
    crowded = Labeled(np.repeat([0.0, side], [80, 81]), np.r_[np.ones(80), np.zeros(80), 1].astype(int))
    moved = Labeled(np.r_[side, crowded.X[1:]], np.r_[0, crowded.y[1:]])
    gone = Labeled(np.r_[crowded.X[:-1], 2 * side], crowded.y)
    return PrivacyCheck(
        name=f"consistency/stable votes/remark 1.8 privacy eps={epsilon:g} delta={delta / 4:g}",
        mechanism=PairHistogram(epsilon, delta, (0, 1, 2)),
        claim=PrivacyClaim(epsilon, delta / 4, Substitution(), "Bousquet et al. 2022, Remark 1.8, constants exact"),
        pairs=[(crowded, moved), (crowded, gone)],
    )


def _decoy_checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    cells, near = (0, 1, 2), records_in_cells((26, 13), (26, 26), (9, 0))
    decoys = {
        "without the minimum": (StableVotesWithoutMin(epsilon, delta, cells), 1.5 * epsilon),
        "one noise, votes only": (StableVotesOneNoise(epsilon, delta, cells), epsilon),
    }
    return [
        PrivacyCheck(
            name=f"decoy/consistency/stable votes {name} eps={epsilon:g} delta={delta:g}",
            mechanism=mechanism,
            claim=PrivacyClaim(claimed, delta / 4, Substitution(), SOURCE),
            pairs=[*_pairs(mechanism), (near, first_moved(near, 1)), (near, first_flipped(near))],
        )
        for name, (mechanism, claimed) in decoys.items()
    ]


CHECKS: list[PrivacyCheck] = [*_checks(0.5, 0.1), _pair_check(0.5, 0.1), *_decoy_checks(0.5, 0.1)]
