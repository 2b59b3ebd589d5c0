"""Theorem 4.11, the semi-supervised learner: a private density stands in for the public points.

Bousquet et al. (2022), section 4.2:

    release a density of the unlabeled records by Algorithm 3 (epsilon, delta)
    draw as many points from it as the semi-private learner wants public ones
    release a concept for the labeled records by the semi-private learner (epsilon)

Exactly (epsilon, 0) for labeled records and (epsilon, delta / 4) for unlabeled ones. Points drawn from the estimate
never hit an atom, so that a class whose concept of interest is an atom is not learned.
"""

import itertools
import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np

from audit import GuaranteeCheck, Labeled, PrivacyCheck, Released
from audit.errors import InvalidArgument
from audit.laws import Finite, Product
from mechanisms.distributions import DENSITIES
from mechanisms.estimators import Classifier, noise_source
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram, draw_counts
from mechanisms.papers.bousquet2022.algorithm3 import (
    CUBES,
    CubeDensity,
    heights,
    move_first,
    points_in_cubes,
    require_budget,
    shown_counts,
    with_heights,
)
from mechanisms.papers.bousquet2022.section4 import errors_of, inverse_square
from mechanisms.papers.bousquet2022.tables import Pair, flip_first, in_orders, promise, promise_fits
from mechanisms.papers.bousquet2022.theorem4_10 import (
    THRESHOLDS,
    ConceptClass,
    SemiPrivateLearner,
    draw_within,
    guarantee,
    index_of,
    labeling_error,
    threshold_error,
)
from mechanisms.papers.rows import BOUSQUET, Cases
from mechanisms.parts.exponential import choice_probabilities, choose
from mechanisms.parts.records import require_features
from mechanisms.queries import held

UNLABELED, DRAWS = -1, 240


@dataclass(eq=False, repr=False)
class SemiSupervisedLearner(Classifier):
    """Private learner of a concept class from labeled and unlabeled private records.

    Attributes
    ----------
    density_ : CubeDensity
        The released density.
    learner_ : SemiPrivateLearner
        The released concept; its public points were drawn from the density.
    """

    concepts: ConceptClass = THRESHOLDS
    epsilon: float = 1.0  # >= 2^-52
    delta: float = 1e-6  # in (0, 1), of the density estimator
    draws: int = DRAWS  # >= 1 points from the private density, in the place of public ones; free of cost
    random_state: int | None = None  # repeats a fit exactly; for tests only

    def __post_init__(self) -> None:
        require_budget(self)
        held(self.draws, "draws")

    def fit(self, X: Any, y: Any) -> Self:
        """Fit on records X, shape (n, dim); y is 0 or 1 where labeled and -1 where not.

        Raises
        ------
        InvalidArgument
            Also when there are no unlabeled records at all.
        """
        rows, marks = require_features(X, self.concepts.dim), np.asarray(y)
        if marks.shape != (len(rows),):
            raise InvalidArgument.of("y", f"have shape ({len(rows)},)", marks.shape)
        is_labeled = marks != UNLABELED
        if np.all(is_labeled):
            raise InvalidArgument("`y` must mark some records as unlabeled with -1")
        rng = noise_source(self.random_state)
        seeds = rng.integers(2**63, size=2).tolist()
        density = CubeDensity(self.concepts.dim, self.epsilon, self.delta, random_state=seeds[0])
        public = density.fit(rows[~is_labeled]).sample(self.draws, rng)
        learner = SemiPrivateLearner(self.concepts, public, self.epsilon, seeds[1])
        self.learner_ = learner.fit(rows[is_labeled], marks[is_labeled])
        self.density_ = density
        self.density_.random_state = self.learner_.random_state = None  # their seeds would repeat the noise
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the released concept's label of each row."""
        return np.asarray(self._fitted("learner_").predict(X))


@dataclass(frozen=True)
class DrawnParts:
    """Both releases of a small learner of thresholds with one draw: heights of three cubes, and the concept's number.

    Labeled records lie to the right of all that may be drawn, so that the two concepts, the threshold at the draw and
    +infinity, label all of them 1, or 0: the choice does not depend on the density.
    """

    epsilon: float
    delta: float

    def __call__(self, dataset: Labeled, size: int, rng: np.random.Generator) -> np.ndarray:
        counts = self._density(dataset.X[dataset.y == UNLABELED], size, rng)
        return np.column_stack([counts, choose(self._mistakes(dataset), self.epsilon / 2, size, rng)])

    def law(self, dataset: Labeled) -> Product:
        """Law of one output: independent heights and concept."""
        chances = choice_probabilities(self._mistakes(dataset), self.epsilon / 2).tolist()
        heights_law = self._density.law(dataset.X[dataset.y == UNLABELED])
        return Product((*heights_law.laws, Finite({0.0: chances[0], 1.0: chances[1]})))

    @property
    def _density(self) -> StabilityHistogram:
        return shown_counts(self.epsilon, self.delta)

    @staticmethod
    def _mistakes(dataset: Labeled) -> list[int]:
        return [int(np.sum(dataset.y == 0)), int(np.sum(dataset.y == 1))]


Parts = tuple[np.ndarray, int, np.ndarray, int]


def parts_of(learner: SemiSupervisedLearner) -> Parts:
    """Return the releases of both parts: heights, number of records, points drawn, and the number of the concept."""
    return heights(CUBES, learner.density_), learner.density_.n_, learner.learner_.public, index_of(learner.learner_)


def with_parts(learner: SemiSupervisedLearner, released: Parts, size: int) -> SemiSupervisedLearner:
    """Return the learner that follows from the releases of both parts."""
    counts, n, public, index = released
    learner.learner_ = SemiPrivateLearner(learner.concepts, public, learner.epsilon).set_release(index)
    learner.density_ = with_heights(CUBES, CubeDensity(1, learner.epsilon, learner.delta), counts, n)
    return learner


def shown_parts(released: Parts) -> np.ndarray:
    """Return the heights and the number of the concept; the points drawn follow from the heights and noise."""
    return np.r_[released[0], float(released[3])]


def semi_records(unlabeled: tuple[int, ...], labels: list[int]) -> Labeled:
    """Return labeled records at 50, then so many unlabeled records in the middle of cubes 0, 1, ..."""
    places = points_in_cubes(*unlabeled)
    return Labeled(np.r_[[50.0] * len(labels), places], np.r_[labels, [UNLABELED] * places.size])


def move_unlabeled(data: Labeled, cube: int) -> Labeled:
    """Return the same records with the first unlabeled one in the middle of another cube."""
    labeled, others = data.X[data.y != UNLABELED], data.X[data.y == UNLABELED]
    return Labeled(np.r_[labeled, move_first(others, cube)], data.y)


_EVEN, _SINGLE = semi_records((24, 24, 0), [1, 0, 0, 0]), semi_records((1, 48, 0), [1, 0, 1])
_FLIPPED: list[Pair] = [(_EVEN, flip_first(_EVEN)), (semi_records((24,), [0] * 9), semi_records((24,), [1] + [0] * 8))]
_MOVED: list[Pair] = [(_EVEN, move_unlabeled(_EVEN, 1)), (_SINGLE, move_unlabeled(_SINGLE, 2))]


def _private(epsilon: float, delta: float) -> list[PrivacyCheck]:
    parts, said = DrawnParts(epsilon, delta), "Theorem 4.11, with the constants of its parts"
    return [
        promise("theorem 4.11 labeled records", parts, epsilon, _FLIPPED, where=said),
        promise("theorem 4.11 unlabeled records", parts, epsilon, _MOVED, delta / 4, where=said),
    ]


def _called() -> PrivacyCheck:
    fits = Released(partial(SemiSupervisedLearner, THRESHOLDS, 0.5, 0.1, 1), parts_of, with_parts, shown_parts)
    name, pairs = "theorem 4.11 as called, SemiSupervisedLearner", in_orders(*_MOVED, *_FLIPPED)
    return promise_fits(name, fits, DrawnParts(0.5, 0.1).law, 0.5, pairs, 0.025)


def estimate_ranks(law: str, n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw quantiles of points from a fresh private density of n records of a law of `DENSITIES`."""
    # epsilon = 1, delta = n^-2.
    errors = errors_of(law, n, 1.0, inverse_square(n))
    low, high, _ = errors.window
    released, distribution = errors.release(rng), DENSITIES[law]
    if not released.any():
        return np.asarray(distribution.cdf(rng.random(draws)))
    chosen = rng.choice(released.size, size=draws, p=released / released.sum())
    return np.asarray(distribution.cdf(low[chosen] + (high - low)[chosen] * rng.random(draws)))


ATOM, ATOM_RECORDS = 0.3, 10**4


def draw_at_atom(size: int, rng: np.random.Generator) -> np.ndarray:
    """Draw features that have mass 1/2 on the atom, and are uniform elsewhere."""
    return np.where(rng.random(size) < 0.5, ATOM, rng.random(size))


def points_beside_atom(rng: np.random.Generator) -> np.ndarray:
    """Draw points from a private density of 10^4 records with an atom, which they cannot hit."""
    counts = np.bincount((draw_at_atom(ATOM_RECORDS, rng) * math.sqrt(ATOM_RECORDS)).astype(int), minlength=100)
    released = draw_counts(counts, 1.0, inverse_square(ATOM_RECORDS), rng)
    places = rng.choice(released.size, DRAWS, p=released / released.sum()) + rng.random(DRAWS)
    return places / math.sqrt(ATOM_RECORDS)


def atom_error(points: np.ndarray, rng: np.random.Generator) -> float:
    """Draw the error for a singleton at the atom, the only point of label 1; 200 labeled records."""
    # Singletons elsewhere and the empty concept are wrong on the atom: error 1/2 at least.
    candidates, records = np.append(np.unique(points), np.inf), draw_at_atom(200, rng)
    wrong = np.sum((candidates[:, None] == records) != (records == ATOM), axis=1)
    return 0.0 if candidates[choose(wrong, 0.5, 1, rng)[0]] == ATOM else 0.5


@BOUSQUET.states("theorem 4.11 variation of samples")
def variation_cases() -> Cases:
    """k draws differ by k times as much at most."""
    f, g = np.array([0.5, 0.3, 0.2]), np.array([0.45, 0.3, 0.25])
    one = float(np.abs(f - g).sum() / 2)
    for k in (1, 2, 4, 8):
        places = np.array(list(itertools.product(range(3), repeat=k)))
        both = float(np.abs(np.prod(f[places], axis=1) - np.prod(g[places], axis=1)).sum() / 2)
        yield f"k={k}", both, k * one


ENOUGH = {"uniform": 10**3, "square root": 10**3, "normal": 10**4, "cauchy": 10**4, "pareto": 10**6}
_ANY = "200 labeled records and n unlabeled ones of any density"
_ATOM = "200 labeled records and 10^4 unlabeled ones of any distribution"


def median_trials(law: str, n: int) -> Any:
    """Return trials of the semi-supervised learner of thresholds; the true one is the median, 200 labels."""
    return partial(draw_within, partial(threshold_error, 0.5, 200), partial(estimate_ranks, law, n, DRAWS))


def _labelings(v: int) -> GuaranteeCheck:
    points = partial(estimate_ranks, "uniform", 10**4, DRAWS * v)
    trials = partial(draw_within, partial(labeling_error, v, 200 * v), points)
    said = f"{200 * v} labeled records and 10,000 unlabeled ones"
    return guarantee(f"theorem 4.11 labelings of {v} intervals n=10000", trials, said)


_REPAIRED = partial(draw_within, atom_error, partial(draw_at_atom, DRAWS))

CHECKS: list[Any] = [
    *BOUSQUET.rows(__name__),
    *_private(0.5, 0.1),
    *_private(1.0, 0.1),
    _called(),
    *(guarantee(f"theorem 4.11 {law} n={n:g}", median_trials(law, n), _ANY) for law, n in ENOUGH.items()),
    guarantee("theorem 4.11 with one n for all densities is false", median_trials("pareto", 10**3), _ANY),
    *map(_labelings, (4, 16, 64)),
    guarantee("theorem 4.11 for an atom is false", partial(draw_within, atom_error, points_beside_atom), _ATOM),
    guarantee("theorem 4.11 for an atom, repaired by public points", _REPAIRED, f"{_ATOM}, public ones"),
]
