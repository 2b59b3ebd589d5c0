"""Theorem 4.10, the semi-private learner: labeled records are private, unlabeled points are public.

Bousquet et al. (2022), section 4.2, after Beimel et al. (2016) and Bassily et al. (2019):

    H = one concept for each way in which the class labels the public points
    release h in H with probability ~ exp(-epsilon mistakes(h) / 2)

H depends on public points only; the mechanism is (epsilon, 0) under substitution of a labeled record. The text leaves
constants open: public = 8 V log(1 / (alpha beta)) / alpha and labeled = 16 V log(1 / (alpha beta)) / (epsilon alpha)
here. ALL labelings of V intervals have VC dimension V: the mechanism labels each interval by itself.

Remark 4.12. A class of dimension V labels some V points in all 2^V ways. From m records the mean error is (1/2) (1 -
1/V)^m at least, and P(error > 1/8) >= 1/7 on some concept, for m = floor(V / 2).
"""

import itertools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from scipy.special import expit

from audit import GuaranteeCheck, Labeled, PrivacyCheck, Released, Verdict
from audit.validate import open_probability, positive
from mechanisms.estimators import Classifier, noise_source
from mechanisms.exponential import ExponentialMechanism
from mechanisms.papers.bousquet2022 import tables
from mechanisms.papers.bousquet2022.algorithm3 import require_budget
from mechanisms.papers.bousquet2022.grids import product_grid
from mechanisms.papers.rows import BOUSQUET, Cases
from mechanisms.parts.exponential import choose
from mechanisms.parts.records import require_features, require_labels

FloatArray = np.ndarray
ACCURACY, FAILURE = 0.1, 0.1
Points = Callable[[np.random.Generator], FloatArray]
Error = Callable[[FloatArray, np.random.Generator], float]


@dataclass(frozen=True)
class ConceptClass:
    """A class of boxes 1[low <= x <= high]; a concept is its two corners, shape (2, dim), perhaps infinite."""

    name: str
    candidates: Callable[[FloatArray], FloatArray]  # concepts that label a sample in all ways, perhaps several times
    vc_dim: int = 1
    dim: int = 1

    def labels(self, concepts: FloatArray, points: FloatArray) -> np.ndarray:
        """Return the label of each point under each concept, shape (concepts, points)."""
        low, high = concepts[:, None, 0], concepts[:, None, 1]
        return np.all((points >= low) & (points <= high), axis=2)

    def representatives(self, sample: FloatArray) -> FloatArray:
        """Return one concept for each way to label a sample of shape (n, dim): at most (e n / VC)^VC."""
        concepts = self.candidates(sample)
        _, first = np.unique(self.labels(concepts, sample), axis=0, return_index=True)
        return concepts[np.sort(first)]


def _cut(sample: FloatArray) -> FloatArray:
    """Return 1[x >= t] for t among the values of a sample, and for t = +infinity."""
    low = np.r_[np.unique(sample), np.inf]
    return np.stack([low, np.full(low.size, np.inf)], axis=1)[:, :, None]


def _pick(sample: FloatArray) -> FloatArray:
    """Return 1[x = a] for a among the values of a sample, and +infinity for nothing."""
    return np.repeat(np.r_[np.unique(sample), np.inf][:, None, None], 2, axis=1)


def _enclose(sample: FloatArray) -> FloatArray:
    """Return 1[a <= x <= b] for a and b among the values of a sample, and the empty interval."""
    values = np.unique(sample)
    return np.array([*itertools.combinations_with_replacement(values, 2), (np.inf, -np.inf)])[:, :, None]


def _bound(sample: FloatArray) -> FloatArray:
    """Return 1[x1 <= a and x2 <= b] for a and b among the coordinates of a sample, and the empty quadrant."""
    high = np.vstack([product_grid(*map(np.unique, sample.T)), [[-np.inf, -np.inf]]])
    return np.stack([np.full(high.shape, -np.inf), high], axis=1)


THRESHOLDS, SINGLETONS = ConceptClass("thresholds", _cut), ConceptClass("singletons", _pick)
INTERVALS, QUADRANTS = ConceptClass("intervals", _enclose, 2), ConceptClass("quadrants", _bound, 2, 2)


@dataclass(eq=False, repr=False)
class SemiPrivateLearner(Classifier):
    """Private learner of a concept class from labeled records and public points; (epsilon, 0)-DP in the former.

    Attributes
    ----------
    concept_ : array, shape (2, dim)
        The released concept.
    """

    concepts: ConceptClass = THRESHOLDS
    public: Any = (0.0,)  # points of shape (k, dim), or (k,) for dim = 1, that may be published as they are
    epsilon: float = 1.0  # >= 2^-52
    random_state: int | None = None  # repeats the choice exactly; for tests only

    def __post_init__(self) -> None:
        require_budget(self)

    def fit(self, X: Any, y: Any) -> Self:
        """Release a concept for records X, shape (n, dim), with labels y in {0, 1}."""
        wrong = self.mistakes(X, y)
        return self.set_release(int(choose(wrong, self.epsilon / 2, 1, noise_source(self.random_state))[0]))

    def set_release(self, index: int, n: int = 0) -> Self:
        """Become the learner that released the representative of that number."""
        self.concept_ = self.representatives[index]
        return self

    @property
    def representatives(self) -> FloatArray:
        """One concept for each way to label the public points, shape (h, 2, dim)."""
        return self.concepts.representatives(require_features(self.public, self.concepts.dim))

    def mistakes(self, X: Any, y: Any) -> np.ndarray:
        """Count the mistakes of each representative; sensitivity 1 under substitution."""
        rows = require_features(X, self.concepts.dim)
        marks = require_labels(y, len(rows))
        return np.sum(self.concepts.labels(self.representatives, rows) != (marks == 1), axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """Return the released concept's label of each row."""
        concept = self._fitted("concept_")
        return self.concepts.labels(concept[None], require_features(X, self.concepts.dim))[0].astype(np.int8)


def make_choice(learner: SemiPrivateLearner) -> ExponentialMechanism:
    """Return the choice of a representative, by its number, as a mechanism; `fit` calls the same function."""

    def count_mistakes(dataset: Labeled, numbers: tuple[int, ...]) -> np.ndarray:
        return learner.mistakes(dataset.X, dataset.y)

    return ExponentialMechanism(count_mistakes, tuple(range(len(learner.representatives))), 1.0, learner.epsilon)


def public_size(accuracy: float, failure: float, vc_dim: int = 1) -> int:
    """Return 8 V log(1 / (alpha beta)) / alpha, a number of public points that is enough."""
    share = open_probability(accuracy, "accuracy") * open_probability(failure, "failure")
    return math.ceil(8 * vc_dim * -math.log(share) / accuracy)


def labeled_size(accuracy: float, failure: float, epsilon: float, vc_dim: int = 1) -> int:
    """Return 16 V log(1 / (alpha beta)) / (epsilon alpha), a number of labeled records that is enough."""
    return math.ceil(2 * public_size(accuracy, failure, vc_dim) / positive(epsilon, "epsilon"))


def threshold_error(target: float, labeled: int, points: FloatArray, rng: np.random.Generator) -> float:
    """Draw the error of the learned threshold, by ranks in place of features; +infinity is a candidate as well."""
    # Thresholds commute with increasing maps: the error depends on the quantile `target` of the true one alone.
    candidates, ranks = np.append(points, 1.0), np.sort(rng.random(labeled))
    wrong = np.abs(np.searchsorted(ranks, candidates) - np.searchsorted(ranks, target))
    return float(abs(candidates[choose(wrong, 1 / 2, 1, rng)[0]] - target))


def interval_error(target: tuple[float, float], labeled: int, points: FloatArray, rng: np.random.Generator) -> float:
    """Draw the error of the learned interval, uniform features, by sums over the sorted records."""
    (low, high), ends, ranks = target, np.sort(points), np.sort(rng.random(labeled))
    sums = np.r_[0, np.cumsum(np.where((ranks >= low) & (ranks <= high), 1, -1))]
    first, last = np.triu_indices(ends.size)
    gain = np.r_[sums[np.searchsorted(ranks, ends, "right")][last] - sums[np.searchsorted(ranks, ends)][first], 0]
    chosen = choose(-gain, 1 / 2, 1, rng)[0]
    a, b = (ends[first[chosen]], ends[last[chosen]]) if chosen < first.size else (low, low)
    return float(b - a + high - low - 2 * max(0.0, min(b, high) - max(a, low)))


def labeling_error(vc_dim: int, labeled: int, points: FloatArray, rng: np.random.Generator) -> float:
    """Draw the error of the learner of all labelings of V intervals of mass 1 / V, for a random one."""
    # Its weights are products over the intervals, so that the exponential mechanism labels each by itself: right with
    # probability 1 / (1 + e^(-c / 2)) given c labeled records there. One without public points keeps the label 0.
    target, is_seen = rng.integers(2, size=vc_dim), np.zeros(vc_dim, dtype=bool)
    is_seen[np.clip((vc_dim * points).astype(int), 0, vc_dim - 1)] = True
    counts = np.bincount(rng.integers(vc_dim, size=labeled), minlength=vc_dim)
    is_right = np.where(is_seen, rng.random(vc_dim) < expit(counts / 2), target == 0)
    return float(1 - np.mean(is_right))


def uniform_points(size: int, rng: np.random.Generator) -> FloatArray:
    """Draw public points."""
    return rng.random(size)


def draw_within(error: Error, points: Points, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw whether the error of a learner, epsilon = 1, is at most `ACCURACY` on fresh points and records."""
    return np.array([error(points(rng), rng) for _ in range(replicates)]) <= ACCURACY


def unseen_error(vc_dim: int, records: int) -> float:
    """Return (1/2) (1 - 1/V)^m."""
    return 0.5 * (1 - 1 / vc_dim) ** records


def least_mean_error(vc_dim: int, records: int) -> float:
    """Return the least mean error of all learners, over all 2^V concepts and V^m samples, by listing them."""
    # After a labeled sample the best answer at each point is the label of most of the concepts that agree with it.
    concepts, total = np.array(list(itertools.product((0, 1), repeat=vc_dim))), 0.0
    for sample in itertools.product(range(vc_dim), repeat=records):
        for shown in np.unique(concepts[:, sample], axis=0):
            left = concepts[np.all(concepts[:, sample] == shown, axis=1)]
            ones = left.mean(axis=0)
            total += len(left) * float(np.minimum(ones, 1 - ones).mean())
    return total / (len(concepts) * vc_dim**records)


@BOUSQUET.states("remark 4.12 every learner", sense="==")
def listed_cases() -> Cases:
    """The least mean error of all learners of V shattered points from m records is (1/2) (1 - 1/V)^m."""
    sizes = ((1, 1), (2, 0), (2, 1), (2, 3), (3, 2), (3, 4), (4, 2), (4, 4), (5, 2), (6, 3))
    return [(f"V={v} m={m}", least_mean_error(v, m), unseen_error(v, m)) for v, m in sizes]


@BOUSQUET.states("remark 4.12 every class", sense=">=")
def necessary_cases() -> Cases:
    """From floor(V / 2) records every learner errs by over 1/8 with probability 1/7, on some concept."""
    sizes = (*range(2, 40), 100, 1_000, 10**6)
    return [(f"V={v}", (unseen_error(v, v // 2) - 1 / 8) / (7 / 8), 1 / 7) for v in sizes]


PUBLIC, PLANE = (0.1, 0.35, 0.6, 0.85), ((0.2, 0.6), (0.5, 0.3), (0.8, 0.9))


def equal_pair(point: Any, size: int = 20) -> tables.Pair:
    """Return equal records of label 0 at one public point, and one label flipped: concepts split in right and wrong."""
    points = np.tile(np.asarray(point, dtype=float), (size, 1))
    data = tables.records_of(points[:, 0] if np.ndim(point) == 0 else points, np.zeros(size, int))
    return data, tables.flip_first(data)


def move_pair(dim: int = 1) -> tables.Pair:
    """Return records of which one, of label 1, moves across all public points."""
    column = np.r_[0.05, np.linspace(0.05, 0.95, 19)]
    marks = np.r_[1, (column > 0.4)[1:]].astype(int)
    data = tables.records_of(column if dim == 1 else np.stack([column, column[::-1]], axis=1), marks)
    return data, tables.replace_first(data, 0.95)


def _private(epsilon: float) -> list[PrivacyCheck]:
    settings: list[tuple[ConceptClass, Any, list[Any]]] = [
        (THRESHOLDS, PUBLIC, [equal_pair(PUBLIC[1]), move_pair()]),
        (INTERVALS, PUBLIC, [equal_pair(PUBLIC[1]), move_pair()]),
        (SINGLETONS, PUBLIC, [equal_pair(PUBLIC[1])]),
        (QUADRANTS, PLANE, [equal_pair(PLANE[1]), move_pair(2)]),
    ]
    return [
        tables.promise(
            f"theorem 4.10 {concepts.name}", make_choice(SemiPrivateLearner(concepts, public, epsilon)), epsilon, pairs
        )
        for concepts, public, pairs in settings
    ]


def index_of(learner: SemiPrivateLearner) -> int:
    """Return the number of the released representative."""
    return int(np.flatnonzero(np.all(learner.representatives == learner.concept_, axis=(1, 2)))[0])


def _called() -> PrivacyCheck:
    fits = Released(partial(SemiPrivateLearner, QUADRANTS, PLANE, 0.5), index_of, SemiPrivateLearner.set_release)
    law = make_choice(SemiPrivateLearner(QUADRANTS, PLANE, 0.5)).law
    pairs = tables.in_orders(equal_pair(PLANE[1], 4), equal_pair(PLANE[0]), equal_pair(PLANE[2], 6), move_pair(2))
    return tables.promise_fits("theorem 4.10 as called, SemiPrivateLearner", fits, law, 0.5, pairs, 0.0)


def guarantee(name: str, trials: Any, said: str, where: str = "") -> GuaranteeCheck:
    """Return the check that an error is at most 0.1 with probability 0.9."""
    said = f"The error is at most 0.1 with probability 0.9 from {said}."
    expected = Verdict.FAIL if re.search("fault/|is false|too few", name) else Verdict.PASS
    return BOUSQUET.guarantee(name, where, said, trials, FAILURE, budget=1_000, expected=expected)


def _sizes() -> Iterator[GuaranteeCheck]:
    learners: list[tuple[str, int, Any, int]] = [  # with a number of labels that is too few, 0 for none
        ("thresholds at the median", 1, partial(threshold_error, 0.5), 12),
        ("thresholds at 0", 1, partial(threshold_error, 0.0), 0),
        ("intervals", 2, partial(interval_error, (0.3, 0.7)), 14),
        *((f"labelings of {v} intervals", v, partial(labeling_error, v), 3 * v) for v in (4, 16, 64)),
    ]
    for name, v, error, few in learners:
        public, enough = public_size(ACCURACY, FAILURE, v), labeled_size(ACCURACY, FAILURE, 1.0, v)
        for m in (enough, few) if few else (enough,):
            where = f"theorem 4.10 m={m} {name}{' is too few' if m == few else ''}"
            trials = partial(draw_within, partial(error, m), partial(uniform_points, public))
            yield guarantee(where, trials, f"{m} labeled records and {public} public points")


CHECKS: list[Any] = [*BOUSQUET.rows(__name__), *_private(0.5), *_private(2.0), _called(), *_sizes()]
