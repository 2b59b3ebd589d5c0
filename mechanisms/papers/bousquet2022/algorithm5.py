"""Algorithm 5 (PCL2b), votes of cells of an unbounded space, and the learner of Remark 1.8; Theorem A.14.

Bousquet et al. (2022), appendix A.2:

    r = n^(-1 / (4 d)); V_1, V_2, ... the Voronoi cells of a countable maximal r-packing
    c = Algorithm 1 (epsilon, delta) on the cells of all records
    y = Algorithm 1 (epsilon, delta) on the cells of the records labeled 1
    y_j = min(y_j, c_j); h(x) = 1[y_j > c_j / 2] for x in V_j

Remark 1.8 needs one histogram, of the pairs (cube, label), with cubes of side n^(-1 / (2 d)): the larger value wins.
Exact privacy, q = delta / 4: both histograms (2 epsilon, 1 - (1 - q)^2), where 2 delta is claimed; the votes alone 1.5
epsilon and about delta / 4; Remark 1.8 (epsilon, delta / 4), since a record is in one pair only.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, ClassVar, Self

import numpy as np

from audit import Labeled, PrivacyCheck, Released
from audit.errors import InvalidArgument
from audit.laws import Product
from mechanisms.estimators import Classifier, noise_source
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram, noise_scale, threshold
from mechanisms.papers.bousquet2022.algorithm3 import require_budget
from mechanisms.papers.bousquet2022.cells import bit_law, vote_probability
from mechanisms.papers.bousquet2022.grids import side_for
from mechanisms.papers.bousquet2022.spaces import TWO_ADIC, WORDS, Lattice, MetricSpace, as_objects, radius_for
from mechanisms.papers.bousquet2022.tables import Pair, flip_first, in_orders, promise, promise_fits, replace_first
from mechanisms.parts.records import require_labels

WHERE = "Theorem A.14"
LINE, THREE = Lattice(1), (0, 1, 2)
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(48)


def elect(first: Any, ones: Any) -> Any:
    """Return the vote from the released counts of all records and of label-1 records: min(y, c) > c / 2."""
    return np.minimum(ones, first) > np.asarray(first) / 2


def elect_label(first: Any, ones: Any) -> Any:
    """Return the vote of Remark 1.8 from the released counts of both labels."""
    return np.asarray(ones) > first


def over_released(
    count: int, epsilon: float, delta: float, kinks: tuple[float, ...], chance: Callable[[np.ndarray], np.ndarray]
) -> float:
    """Return E[chance(u) 1{u is released}], u = count + noise: an integral, analytic between the kinks."""
    # The part beyond 40 scales of the noise is below e^-40 of the whole.
    b, level = noise_scale(epsilon), threshold(epsilon, math.log(delta))
    inner = sorted({level, *(x for x in (float(count), *kinks) if x > level)})
    edges = np.r_[inner, inner[-1] + 5 * b * np.arange(1, 9)]
    low, width = edges[:-1, None], np.diff(edges)[:, None]
    u = low + width * (_NODES + 1) / 2
    return float(np.sum(_WEIGHTS * np.exp(-np.abs(u - count) / b) / (2 * b) * chance(u) * width / 2))


@lru_cache(maxsize=4096)
def vote_probability_of_two(epsilon: float, delta: float, count: int, ones: int) -> float:
    """Return P(vote = 1) for a cell with `count` records, `ones` of them labeled 1: y is above t and u / 2."""
    if count == 0 or ones == 0:
        return 0.0
    level = threshold(epsilon, math.log(delta))
    kinks = (2 * level, 2.0 * ones)
    bar = partial(np.maximum, level)
    return over_released(count, epsilon, delta, kinks, lambda u: vote_probability(epsilon / 2, ones - bar(u / 2)))


@lru_cache(maxsize=4096)
def pair_probability(epsilon: float, delta: float, zeros: int, ones: int) -> float:
    """Return P(vote = 1) for a cube of Remark 1.8: the value of label 1 is released and exceeds that of label 0."""
    if ones == 0:
        return 0.0
    return over_released(
        ones, epsilon, delta, (float(zeros),), lambda u: vote_probability(epsilon / 2, u - zeros) if zeros else u**0
    )


@dataclass(eq=False, repr=False)
class StableVoronoiClassifier(Classifier):
    """Private classifier on a metric space from two stability histograms; claimed (2 epsilon, 2 delta)-DP.

    Attributes
    ----------
    n_ : int
        Number of records, public: it fixes the cells.
    votes_ : tuple of cells
        Those that vote 1, sorted; all others vote 0.
    """

    power: ClassVar[float] = 1.0  # of the radius of the cells
    is_paired: ClassVar[bool] = False
    elect = staticmethod(elect)
    vote_probability = staticmethod(vote_probability_of_two)

    space: MetricSpace = LINE  # `Lattice(dim)`, a bounded space, a `DenseSequence`, or `PublicPoints` for any distance
    epsilon: float = 1.0  # >= 2^-52
    delta: float = 1e-6  # in (0, 1), of each histogram; for a total of (epsilon, delta) pass half of both
    random_state: int | None = None  # repeats the noise exactly; for tests only

    def __post_init__(self) -> None:
        if not isinstance(self.space, MetricSpace):
            raise InvalidArgument.of("space", "be a MetricSpace such as Lattice(2)", self.space)
        require_budget(self)

    def fit(self, X: Any, y: Any) -> Self:
        """Release the hypothesis for points X with labels y in {0, 1}, shape (n,)."""
        points = self.space.points(X)
        marks = require_labels(y, len(points)).tolist()
        return self.set_release(self._votes(self.cells_of(points, len(points)), marks), len(points))

    def set_release(self, votes: tuple[Any, ...], n: int) -> Self:
        """Become the classifier that follows from the cells that vote 1 for n records."""
        self.n_, self.votes_ = n, votes
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the vote of each row's cell."""
        votes = frozenset(self._fitted("votes_"))
        return np.array([key in votes for key in self.cells_of(self.space.points(X), self.n_)], dtype=np.int8)

    def cells_of(self, points: np.ndarray, n: int) -> list[tuple[int, ...]]:
        """Return the cell of each point, for n records."""
        return self.space.keys_of(points, radius_for(n, self.space.dim) ** self.power)

    def _votes(self, cells: list[tuple[int, ...]], marks: list[int]) -> tuple[Any, ...]:
        histogram, rng = StabilityHistogram(self.epsilon, self.delta), noise_source(self.random_state)
        every = histogram.release(cells, rng)
        ones = histogram.release([cell for cell, mark in zip(cells, marks, strict=True) if mark], rng)
        return tuple(cell for cell, count in every.items() if self.elect(count, ones.get(cell, 0.0)))


class PairHistogramClassifier(StableVoronoiClassifier):
    """Private classifier from one stability histogram of (cell, label); exactly (epsilon, delta / 4)-DP.

    Parameters and attributes are those of `StableVoronoiClassifier`; cells have radius n^(-1 / (2 d)), d the dimension.
    """

    power = 2.0
    is_paired = True
    elect = staticmethod(elect_label)
    vote_probability = staticmethod(pair_probability)

    def _votes(self, cells: list[tuple[int, ...]], marks: list[int]) -> tuple[Any, ...]:
        pairs = [(*cell, mark) for cell, mark in zip(cells, marks, strict=True)]
        released = StabilityHistogram(self.epsilon, self.delta).release(pairs, noise_source(self.random_state))
        known = dict.fromkeys(pair[:-1] for pair in released)
        values = ((cell, *(released.get((*cell, label), 0.0) for label in (0, 1))) for cell in known)
        return tuple(cell for cell, zeros, ones in values if self.elect(zeros, ones))


def labels_of(learner: StableVoronoiClassifier, cells: tuple[int, ...], dataset: Labeled) -> np.ndarray:
    """Return what both histograms count, for cells of one number: j for a record in `cells[j]`, or one labeled 0 there.

    A record labeled 1 counts in column j of the second half as well; one in none of the cells is refused.
    """
    points = learner.space.points(dataset.X)
    marks = require_labels(dataset.y, len(points))
    places = np.array([cells.index(cell) for (cell,) in learner.cells_of(points, len(points))])
    first = places[marks == 0] if learner.is_paired else places
    return np.r_[first, places[marks == 1] + len(cells)]


def drawn_histograms(learner: StableVoronoiClassifier, cells: tuple[int, ...] = THREE) -> StabilityHistogram:
    """Return both histograms as one mechanism: noisy counts of all (label-0) records of some cells, then of label 1."""
    columns = tuple(range(2 * len(cells)))
    return StabilityHistogram(learner.epsilon, learner.delta, columns, partial(labels_of, learner, cells))


@dataclass(frozen=True)
class DrawnElections:
    """The released hypothesis as a mechanism: one bit for each of some cells."""

    learner: StableVoronoiClassifier
    cells: tuple[int, ...] = THREE

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        first, ones = np.split(self.histograms(dataset, size, rng), 2, axis=1)
        return np.asarray(self.learner.elect(first, ones)).astype(np.int8)

    @property
    def histograms(self) -> StabilityHistogram:
        """What the hypothesis is computed from."""
        return drawn_histograms(self.learner, self.cells)

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent bits."""
        chance, (epsilon, delta) = self.learner.vote_probability, (self.learner.epsilon, self.learner.delta)
        counts = self.histograms.counts(dataset).reshape(2, -1)
        return bit_law(np.array([chance(epsilon, delta, *pair) for pair in counts.T.tolist()]))


def in_cells(counts: Sequence[tuple[int, int]], places: Any) -> Labeled:
    """Return records at some places: (records, of which labeled 1) for each, ones first."""
    X = [place for (count, _), place in zip(counts, places, strict=True) for _ in range(count)]
    y = np.concatenate([np.arange(count) < ones for count, ones in counts]).astype(int)
    return Labeled(np.array(X, dtype=float) if isinstance(X[0], float) else as_objects(X), y)


def on_line(*counts: tuple[int, int], side: Callable[..., float] = radius_for) -> Labeled:
    """Return records at the centers of cells 0, 1, ... of the line."""
    width = side(sum(count for count, _ in counts), 1)
    return in_cells(counts, [cell * width for cell in range(len(counts))])


def to_cell(data: Labeled, cell: int) -> Labeled:
    """Return the same records with the first one at the center of another cell of the line."""
    return replace_first(data, cell * radius_for(len(data), 1))


def space_pairs(places: tuple[Any, ...]) -> list[Pair]:
    """Return the same at three places in cells of their own, a record moved to label 0, and close votes."""
    single, crowded = in_cells([(23, 1), (0, 0), (18, 0)], places), in_cells([(26, 26), (26, 26), (26, 0)], places)
    close = in_cells([(26, 13), (26, 26), (9, 0)], places)
    moved = [(data, replace_first(data, places[at])) for data, at in ((single, 2), (crowded, 1), (crowded, 2))]
    return [*moved, (close, replace_first(close, places[1])), (close, flip_first(close))]


def _line_checks(epsilon: float, delta: float) -> list[PrivacyCheck]:
    learner, q = StableVoronoiClassifier(LINE, epsilon, delta), delta / 4
    histograms, votes = drawn_histograms(learner), DrawnElections(learner)
    # a singleton moved to an empty cell, a label-1 record between large cells, and close votes near the threshold
    large, near = math.ceil(2 * histograms.threshold), on_line((26, 13), (26, 26), (9, 0))
    moved = on_line((1, 1), (0, 0), (24, 8)), on_line((large, large), (large, large), (0, 0))
    pairs, sharp = [(data, to_cell(data, 1)) for data in moved], f"{WHERE}, constants computed exactly"
    alone = f"{sharp} for the votes alone"
    every = [*pairs, (near, to_cell(near, 1)), (near, flip_first(near))]
    return [
        promise("theorem A.14 histograms", histograms, 2 * epsilon, pairs, 2 * delta),
        promise("theorem A.14 histograms sharp", histograms, 2 * epsilon, pairs, q * (2 - q), where=sharp),
        promise("theorem A.14 votes sharp", votes, 1.5 * epsilon, every, q, where=alone),
    ]


def cube_pairs(*counts: tuple[int, int]) -> list[Pair]:
    """Return records in cubes of Remark 1.8: the first changes cube and label, cube (twice), or label."""
    data = on_line(*counts, side=side_for)
    side = side_for(len(data), 1)
    changes = [replace_first(data, side, 0), replace_first(data, 2 * side), replace_first(data, side), flip_first(data)]
    return [(data, changed) for changed in changes]


def shown_votes(cells: tuple[int, ...], learner: StableVoronoiClassifier) -> np.ndarray:
    """Return the votes of some cells."""
    return np.array([(cell,) in learner.votes_ for cell in cells], dtype=np.int8)


def with_shown(cells: tuple[int, ...], learner: Any, bits: np.ndarray, n: int) -> Any:
    """Return the classifier that follows from the votes of some cells."""
    return learner.set_release(tuple(sorted((cells[at],) for at in np.flatnonzero(bits))), n)


def _called(
    where: str, kind: type[StableVoronoiClassifier], factor: float, pairs: list[Pair], on: str = "", cells: Any = THREE
) -> PrivacyCheck:
    space: Any = WORDS if on else LINE
    fits = Released(partial(kind, space, 0.5, 0.1), partial(shown_votes, cells), partial(with_shown, cells))
    name, law = f"{where} as called, {kind.__name__}{on}", DrawnElections(kind(space, 0.5, 0.1), cells).law
    return promise_fits(name, fits, law, factor * 0.5, in_orders(*pairs), 0.025)


def _space_check(name: str, space: MetricSpace, places: tuple[Any, ...]) -> PrivacyCheck:
    learner = StableVoronoiClassifier(space, 0.5, 0.1)
    cells = tuple(cell for (cell,) in learner.cells_of(space.points(places), 41))
    return promise(f"theorem A.14 {name}", DrawnElections(learner, cells), 0.75, space_pairs(places), 0.025)


_THIRDS = (Fraction(0), Fraction(1), Fraction(2))  # in cells of their own from 41 records on
_NAMES = ("january", "september", "tuesday")
_WORD_CELLS = (0, 3, 4)  # of these, for 41 to 78 records
_CROWDED = on_line((26, 26), (26, 13), (0, 0))
_CROWDED_PAIRS = [(_CROWDED, other) for other in (to_cell(_CROWDED, 1), flip_first(_CROWDED), to_cell(_CROWDED, 2))]
_PAIRED = drawn_histograms(PairHistogramClassifier(LINE, 0.5, 0.1))

CHECKS: list[PrivacyCheck] = [
    *_line_checks(0.5, 0.1),
    _space_check("words", WORDS, _NAMES),
    _space_check("2-adic numbers", TWO_ADIC, _THIRDS),
    promise("remark 1.8 privacy", _PAIRED, 0.5, cube_pairs((80, 80), (81, 1), (0, 0))[:2], 0.025),
    _called("theorem A.14", StableVoronoiClassifier, 1.5, _CROWDED_PAIRS),
    _called("theorem A.14", StableVoronoiClassifier, 1.5, space_pairs(_NAMES), " on words", _WORD_CELLS),
    _called("remark 1.8", PairHistogramClassifier, 1.0, cube_pairs((30, 16), (14, 14), (8, 0))),
]
