"""Theorems 4.10 and 4.11 as checks: sample sizes, one labeled size for all densities, and what an atom does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import softmax

from audit import GuaranteeCheck, InequalityCheck, Verdict
from mechanisms.consistency.concepts import ConceptClass, Intervals, Quadrants, Singletons
from mechanisms.consistency.density_error import DensityErrors
from mechanisms.consistency.density_theorems import LAWS, inverse_square
from mechanisms.consistency.semi_private import (
    PUBLIC,
    SemiPrivateRelease,
    equal_pair,
    interval_error,
    labeled_size,
    mistakes,
    public_size,
    quadrant_error,
    softmax_choice,
    threshold_errors,
)
from mechanisms.consistency.stable_counts import noisy_counts

PAPER = "Bousquet et al. 2022"
ACCURACY, FAILURE = 0.1, 0.1
Value = tuple[str, float, float]


@dataclass(frozen=True)
class SemiPrivateTrials:
    """Test whether the learned threshold errs by at most `ACCURACY`, for a true threshold at a quantile."""

    labeled: int
    public: int
    target: float = 0.5

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return threshold_errors(self.target, self.labeled, self.public, 1.0, replicates, rng) <= ACCURACY


@dataclass(frozen=True)
class TwoEndedTrials:
    """Test whether the learned interval or quadrant errs by at most `ACCURACY`."""

    error: Callable[[tuple[float, float], int, int, np.random.Generator], float]
    target: tuple[float, float]
    labeled: int
    public: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        found = [self.error(self.target, self.labeled, self.public, rng) for _ in range(replicates)]
        return np.array(found) <= ACCURACY


@dataclass(frozen=True)
class SemiSupervisedTrials:
    """Test whether the semi-supervised learner errs by at most `ACCURACY`; the true threshold is the median.

    Parameters
    ----------
    law : str
        Key of the densities.
    n : int
        Unlabeled records; delta = n^-2.
    labeled, draws : int
    """

    law: str
    n: int
    labeled: int = 200
    draws: int = 240

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self._error(rng) for _ in range(replicates)]) <= ACCURACY

    def _error(self, rng: np.random.Generator) -> float:
        ranks = np.sort(rng.random(self.labeled))
        candidates = np.r_[LAWS[self.law].factor.cdf(sampled_estimate(self.law, self.n, self.draws, rng)), 1.0]
        wrong = np.abs(np.searchsorted(ranks, candidates) - np.searchsorted(ranks, 0.5))
        return float(abs(candidates[softmax_choice(wrong, 1.0, rng)] - 0.5))


@lru_cache(maxsize=8)
def _errors(law: str, n: int) -> DensityErrors:
    return DensityErrors(LAWS[law], n, 1.0, inverse_square(n))


def sampled_estimate(law: str, n: int, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Draw points from a fresh private density estimate of n records, by its aggregate sampler (dim = 1)."""
    errors = _errors(law, n)
    low, high, mass = errors.window
    weights = np.append(mass, errors.outside)
    released = noisy_counts(rng.multinomial(n, weights / weights.sum())[:-1], 1.0, errors.log_delta, rng)
    if not released.any():
        return rng.random(draws)
    chosen = rng.choice(released.size, size=draws, p=released / released.sum())
    return low[chosen] + (high - low)[chosen] * rng.random(draws)


@dataclass(frozen=True)
class AtomTrials:
    """Test whether a singleton at an atom of mass 1/2, the only point of label 1, is learned with error at most 0.1.

    Parameters
    ----------
    public : bool
        Candidates come from public points, which hit the atom, or from a private density estimate, which cannot.
    """

    public: bool
    n: int = 10**4
    labeled: int = 200
    draws: int = 240
    atom: float = 0.3

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self._error(rng) for _ in range(replicates)]) <= ACCURACY

    def _error(self, rng: np.random.Generator) -> float:
        """Singletons elsewhere and the empty concept are wrong on the atom: error 1/2 at least."""
        drawn = self._draw(self.draws, rng) if self.public else self._estimate(rng)
        candidates = np.append(np.unique(drawn), np.inf)
        records = self._draw(self.labeled, rng)
        hits = candidates[:, None] == records[None, :]
        wrong = np.sum(hits != (records == self.atom), axis=1)
        return 0.0 if candidates[softmax_choice(wrong, 1.0, rng)] == self.atom else 0.5

    def _draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        return np.where(rng.random(size) < 0.5, self.atom, rng.random(size))

    def _estimate(self, rng: np.random.Generator) -> np.ndarray:
        side = 1 / math.sqrt(self.n)
        counts = np.bincount((self._draw(self.n, rng) / side).astype(int), minlength=math.ceil(1 / side))
        released = noisy_counts(counts, 1.0, inverse_square(self.n), rng)
        return (rng.choice(released.size, self.draws, p=released / released.sum()) + rng.random(self.draws)) * side


def tight_values() -> list[Value]:
    """Exact epsilon of the release on m equal labels, one flipped, against its closed form; it tends to epsilon."""
    found = []
    for m in (1, 2, 5, 10, 20, 60):
        release = SemiPrivateRelease(Singletons(), (0.35,), 1.0)
        left, right = equal_pair(0.35, m)
        exact = release.law(left).loss_against(release.law(right)).epsilon(0.0)
        found.append((f"m={m}", exact, math.log((1 + math.exp(m / 2)) / (1 + math.exp((m - 2) / 2)))))
    return [*found, ("m=60 against epsilon", found[-1][1], 1.0)]


def loss_values() -> list[Value]:
    """Exact epsilon over all single substitutions of small labeled samples: never above epsilon."""
    rng, found = np.random.default_rng(2), []
    for epsilon in (0.5, 1.0):
        release = SemiPrivateRelease(Singletons(), PUBLIC, epsilon)
        worst = 0.0
        for _ in range(200):
            left = equal_pair(0.35, int(rng.integers(2, 40)))[0]
            points = rng.choice([*PUBLIC, 0.5], len(left))
            marks = rng.integers(0, 2, len(left))
            changed, flipped = points.copy(), marks.copy()
            changed[0], flipped[0] = rng.choice([*PUBLIC, 0.5]), 1 - marks[0]
            sides = [release.probabilities(type(left)(x, y)) for x, y in ((points, marks), (changed, flipped))]
            worst = max(worst, float(np.max(np.abs(np.log(sides[0] / sides[1])))))
        found.append((f"eps={epsilon:g}", worst, epsilon))
    return found


def variation_values() -> list[Value]:
    """Total variation of k-fold products of two laws on three points against k times that of the laws."""
    f, g = np.array([0.5, 0.3, 0.2]), np.array([0.45, 0.3, 0.25])
    found, one = [], float(np.abs(f - g).sum() / 2)
    for k in (1, 2, 4, 8):
        places = np.array(list(itertools.product(range(3), repeat=k)))
        both = float(np.abs(np.prod(f[places], axis=1) - np.prod(g[places], axis=1)).sum() / 2)
        found.append((f"k={k}", both, k * one))
    return found


def _guarantee(name: str, trials: object, statement: str, expected: Verdict = Verdict.PASS) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"consistency/{name}",
        source=f"{PAPER}, {' '.join(name.split('/')[1].split()[:2])}",
        statement=statement,
        trials=trials,  # type: ignore[arg-type]
        beta=FAILURE,
        expected=expected,
        budget=1000,
    )


def _semi_private() -> list[GuaranteeCheck]:
    public, labeled = public_size(ACCURACY, FAILURE), labeled_size(ACCURACY, FAILURE, 1.0)
    said = f"error <= 0.1 with probability 0.9 from {{}} labelled records and {public} public points"
    return [
        *(
            _guarantee(
                f"semi-private/theorem 4.10 m={labeled} target={target:g}",
                SemiPrivateTrials(labeled, public, target),
                said.format(labeled),
            )
            for target in (0.0, 0.5)
        ),
        _guarantee(
            "semi-private/theorem 4.10 m=25 is too few",
            SemiPrivateTrials(25, public),
            said.format(25),
            Verdict.FAIL,
        ),
        *_of_two_ends(),
    ]


def _of_two_ends() -> Iterator[GuaranteeCheck]:
    public, labeled = public_size(ACCURACY, FAILURE, 2), labeled_size(ACCURACY, FAILURE, 1.0, 2)
    for kind, error, target in (("intervals", interval_error, (0.3, 0.7)), ("quadrants", quadrant_error, (0.6, 0.7))):
        for records, verdict in ((labeled, Verdict.PASS), (25, Verdict.FAIL)):
            name = f"semi-private/theorem 4.10 m={records} {kind}{' is too few' if verdict is Verdict.FAIL else ''}"
            said = f"error <= 0.1 with probability 0.9 from {records} labelled records and {public} public points"
            yield _guarantee(name, TwoEndedTrials(error, target, records, public), said, verdict)


ENOUGH = {"uniform": 10**3, "square root": 10**3, "normal": 10**4, "cauchy": 10**4, "log tail": 10**5, "pareto": 10**6}


def _semi_supervised() -> list[GuaranteeCheck]:
    said = "error <= 0.1 with probability 0.9 from 200 labelled records and n unlabelled ones of any density"
    return [
        *(
            _guarantee(f"semi-supervised/theorem 4.11 {law} n={n:g}", SemiSupervisedTrials(law, n), said)
            for law, n in ENOUGH.items()
        ),
        _guarantee(
            "semi-supervised/theorem 4.11 with one n for all densities is false",
            SemiSupervisedTrials("pareto", 10**3),
            said,
            Verdict.FAIL,
        ),
        _guarantee(
            "semi-supervised/theorem 4.11 for an atom is false",
            AtomTrials(public=False),
            "the same for every distribution, atoms included",
            Verdict.FAIL,
        ),
        _guarantee(
            "semi-supervised/theorem 4.11 for an atom, repaired by public points",
            AtomTrials(public=True),
            "the same with public points in the place of the private density",
        ),
    ]


def labels_needed_values() -> list[Value]:
    """Compare half the chance that a point goes unseen with the mean error of the learner, on shattered points.

    Exact: all targets, all samples of m labels, and the exponential mechanism's probabilities; epsilon = 1 and 8.
    """
    cases: tuple[tuple[ConceptClass, list[list[float]]], ...] = (
        (Intervals(), [[0.2], [0.7]]),
        (Quadrants(), [[0.2, 0.7], [0.7, 0.2]]),
    )
    found = []
    for concepts, shattered in cases:
        points = np.array(shattered)
        for epsilon, labeled in itertools.product((1.0, 8.0), (1, 2, 4)):
            error = mean_error(concepts, points, labeled, epsilon)
            least = (1 - 1 / len(points)) ** labeled / 2
            found.append((f"{type(concepts).__name__} m={labeled} eps={epsilon:g}", least, error))
    return found


def mean_error(concepts: ConceptClass, points: np.ndarray, labeled: int, epsilon: float) -> float:
    """Return the error of the semi-private learner over all targets and all samples of shattered public points."""
    chosen = concepts.representatives(points)
    table = concepts.labels(chosen, points).astype(int)
    errors = []
    for target in itertools.product((0, 1), repeat=len(points)):
        wrong = np.mean(table != np.array(target), axis=1)
        for sample in itertools.product(range(len(points)), repeat=labeled):
            rows, marks = points[list(sample)], np.array(target)[list(sample)]
            errors.append(float(softmax(-epsilon / 2 * mistakes(concepts, chosen, rows, marks)) @ wrong))
    return float(np.mean(errors))


CHECKS: list[GuaranteeCheck | InequalityCheck] = [
    InequalityCheck(
        name="consistency/semi-private/remark 4.12 labels are needed",
        source=f"{PAPER}, Remark 4.12",
        statement="on VC shattered points the mean error over all targets is at least (1 - 1 / VC)^m / 2",
        values=labels_needed_values,
    ),
    InequalityCheck(
        name="consistency/semi-private/theorem 4.10 epsilon is approached",
        source=f"{PAPER}, Theorem 4.10",
        statement="two complementary concepts and m equal labels: log((1 + e^(m/2)) / (1 + e^((m-2)/2))) -> 1",
        values=tight_values,
        sense="==",
        tolerance=1e-9,
    ),
    InequalityCheck(
        name="consistency/semi-private/theorem 4.10 largest loss of random pairs",
        source=f"{PAPER}, Theorem 4.10",
        statement="the privacy loss is at most epsilon",
        values=loss_values,
    ),
    InequalityCheck(
        name="consistency/semi-supervised/theorem 4.11 variation of samples",
        source=f"{PAPER}, proof of Theorem 4.11",
        statement="k draws from two laws differ by at most k times their total variation",
        values=variation_values,
    ),
    *_semi_private(),
    *_semi_supervised(),
]
