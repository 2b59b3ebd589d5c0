"""Theorems 8, 9 and 27, Lemmas 16, 17 and 23, and Example 1 as checks: the sample sizes are enough, and grow as stated.

From Chaudhuri & Hsu (2011), with the constants of the proofs (`mechanisms.cover.sample_sizes`). Given the data the
failure probability of a learner over a finite cover is a sum of softmax weights; a trial draws the data by one
multinomial (`mechanisms.cover.aggregate`) and fails with that probability, which is what a literal run does. Learners
are run at the sample size that the theorem asks for, with the cover for the true kappa: kappa_hat of the algorithm is
that kappa up to the rounding of m.
"""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import softmax

from audit import GuaranteeCheck, InequalityCheck, Labeled
from mechanisms.cover.aggregate import ThresholdProblem, grid_points_up_to, interval_weights
from mechanisms.cover.hard_family import ConcentratedThresholdFamily
from mechanisms.cover.learners import LabelPrivateCoverLearner, ReferenceCoverLearner
from mechanisms.cover.sample_sizes import (
    agnostic_size,
    label_private_size,
    metric_size,
    realizable_size,
    uniform_deviation,
)
from mechanisms.cover.separators import LinearSeparatorClass
from mechanisms.cover.thresholds import ThresholdClass

PAPER = "Chaudhuri & Hsu 2011"
THEOREM_8, THEOREM_9, THEOREM_27, LEMMA_17, LEMMA_23, EXAMPLE_1 = (
    f"{PAPER}, {part}" for part in ("Theorem 8", "Theorem 9", "Theorem 27", "Lemma 17", "Lemma 23", "Example 1")
)
BETA = 0.1
_MOST_EXAMPLES = 1_024  # that a bisection tries; half of the samples succeed at 430 for the largest M
THRESHOLDS = ThresholdClass()
UNIFORM = ThresholdProblem(0.5)
CONCENTRATED = ThresholdProblem.concentrated(ConcentratedThresholdFamily(0.01))
Cases = list[tuple[str, float, float]]


@dataclass(frozen=True)
class Trials:
    """Test whether the exponential mechanism on the cover for a known kappa comes within `accuracy`, on fresh data.

    Parameters
    ----------
    problem : ThresholdProblem
    epsilon, accuracy : float
    m : int
    smoothness : float >= 1
        kappa; the cover has scale accuracy / (4 kappa).
    exponent : callable, optional
        Penalty in place of epsilon k / 2.
    """

    problem: ThresholdProblem
    epsilon: float
    accuracy: float
    m: int
    smoothness: float = 1.0
    exponent: Any = None

    @property
    def grid(self) -> np.ndarray:
        """The cover."""
        return THRESHOLDS.packing_cover(self.accuracy / (4 * self.smoothness))

    def failures(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the failure probability given the data, shape (replicates,)."""
        settings = (self.grid, self.m, self.epsilon, self.accuracy, replicates, rng, self.exponent)
        return self.problem.failures(*settings)

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.random(replicates) >= self.failures(replicates, rng))


@dataclass(frozen=True)
class LiteralTrials:
    """The same, run as a user would: `fit` on m examples one by one."""

    problem: ThresholdProblem
    learner: ReferenceCoverLearner | LabelPrivateCoverLearner
    m: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        chosen = [self.learner(self.problem.draw(self.m, rng), 1, rng)[0] for _ in range(replicates)]
        return np.asarray(self.problem.excess(np.array(chosen)) <= self.learner.accuracy)


@dataclass(frozen=True)
class LabelPrivateTrials:
    """Test whether A3 comes within `accuracy` on m uniform examples, the cover made of their points."""

    problem: ThresholdProblem
    epsilon: float
    accuracy: float
    m: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.random(replicates) >= [self.failure(rng) for _ in range(replicates)])

    def failure(self, rng: np.random.Generator) -> float:
        """Draw data and give the failure probability on them."""
        dataset = self.problem.draw(self.m, rng)
        cover = THRESHOLDS.sample_packing_cover(dataset.X, self.accuracy / 4)
        chances = softmax(-self.epsilon / 2 * THRESHOLDS.mistakes(cover, dataset))
        return float(chances[self.problem.excess(cover) > self.accuracy].sum())


@dataclass(frozen=True)
class SphereTrials:
    """Test whether A1 comes within `accuracy` on the sphere in R^n, labels flipped with a probability; n = 3."""

    epsilon: float
    accuracy: float
    noise: float
    m: int
    hypotheses: LinearSeparatorClass = field(default_factory=partial(LinearSeparatorClass, 3))

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.asarray(rng.random(replicates) >= [self.failure(rng) for _ in range(replicates)])

    def failure(self, rng: np.random.Generator) -> float:
        """Draw data and give the failure probability on them."""
        dim = self.hypotheses.dim
        net, target = self.hypotheses.packing_cover(self.accuracy / 4), np.r_[np.zeros(dim - 2), 0.6, 0.8]
        x = rng.normal(size=(self.m, dim))
        y = np.where((x @ target >= 0) ^ (rng.random(self.m) < self.noise), 1, -1)
        chances = softmax(-self.epsilon / 2 * self.hypotheses.mistakes(net, Labeled(x, y)))
        excess = (1 - 2 * self.noise) * self.hypotheses.reference_disagreement(net, target)
        return float(chances[excess > self.accuracy].sum())


def shortest(x: np.ndarray, inside: int) -> float:
    """Return the infimum of rho_D over pairs of thresholds with `inside` of the sorted points between, x uniform."""
    return 0.0 if inside < 2 else float(np.min(x[inside - 1 :] - x[: x.size + 1 - inside]))


def longest(x: np.ndarray, inside: int) -> float:
    """Return the supremum of rho_D over pairs of thresholds with `inside` of the sorted points between, x uniform."""
    ends = np.r_[0.0, x, 1.0]
    return float(np.max(ends[inside + 1 :] - ends[: x.size + 1 - inside]))


@dataclass(frozen=True)
class RelativeConvergence:
    """Test whether both statements of Lemma 17 hold for all pairs of thresholds on m uniform points."""

    m: int
    beta: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self._holds(np.sort(rng.random(self.m))) for _ in range(replicates)])

    def _holds(self, x: np.ndarray) -> bool:
        seen, width = np.arange(self.m + 1) / self.m, uniform_deviation(self.m, self.beta)
        least, most = (np.array([of(x, j) for j in range(self.m + 1)]) for of in (shortest, longest))
        above = least - seen + np.minimum(np.sqrt(seen * width), np.sqrt(least * width) + width)
        below = seen - most + np.sqrt(most * width)
        return bool(np.all(above >= -1e-12) and np.all(below >= -1e-12))


@dataclass(frozen=True)
class MetricConvergence:
    """Test whether both conclusions of Lemma 23 hold on m uniform points, for all pairs of thresholds.

    1: rho_X > 2 r implies rho_D > r. 2: rho_D > 6 r implies rho_X > 4 r, and rho_D <= 12 r implies rho_X <= 16 r.
    `shortest` and `longest` grow with the number of points, so that the extreme numbers decide.
    """

    m: int
    radius: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        return np.array([self._holds(np.sort(rng.random(self.m))) for _ in range(replicates)])

    def _holds(self, x: np.ndarray) -> bool:
        r = self.radius
        two, four, sixteen = (math.floor(k * r * self.m * (1 + 1e-12)) for k in (2, 4, 16))
        first = two >= self.m or shortest(x, two + 1) > r
        packing = longest(x, min(four, self.m)) <= 6 * r
        ball = sixteen >= self.m or shortest(x, sixteen + 1) > 12 * r
        return bool(first and packing and ball)


@dataclass(frozen=True)
class HalfSuccess:
    """The number of examples from which on A1 comes within 1/5 half of the time, on the hard family for M.

    Parameters
    ----------
    epsilon : float > 0
        alpha; alpha M may be at most 25.
    samples : int >= 1
        Samples, drawn from the middle distribution, over which the success is averaged; the same ones at every call.
    """

    epsilon: float
    samples: int = 200

    def success(self, family: ConcentratedThresholdFamily, m: int) -> float:
        """Return the mean of P(the released threshold lies in the window | sample)."""
        middle, size = family.size // 2, THRESHOLDS.cover_size(0.2 / (4 * family.smoothness))
        window = grid_points_up_to(family.center(middle) + np.array([-1, 1]) * family.eta / 3, size)
        total = 0.0
        for seed in range(self.samples):
            dataset = family.draw(middle, m, np.random.default_rng([m, seed]))
            chances, first, counts = interval_weights(dataset, size, self.epsilon)
            inside = np.minimum(first + counts, window[1]) - np.maximum(first, window[0])
            total += float(np.sum(chances * np.maximum(inside, 0) / counts))
        return total / self.samples

    def __call__(self, most: int) -> int:
        family = ConcentratedThresholdFamily.for_samples(self.epsilon, most)
        return bisect.bisect_left(range(_MOST_EXAMPLES), 0.5, lo=1, key=lambda m: self.success(family, m))


def family_size_cases() -> Cases:
    """Compare the examples that A1 needs for each further M with 8: a miss costs alpha / 8 per example."""
    needed = HalfSuccess(0.5)
    start = needed(8)
    return [(f"alpha=0.5 M=8 to {most}", (needed(most) - start) / (most - 8), 8.0) for most in (24, 36, 48)]


def smoothness_cases() -> Cases:
    """Compare kappa_hat at the sample size of Theorem 8 with kappa: the algorithm's cover is fine enough there."""
    cases = []
    for epsilon, accuracy, kappa in ((0.5, 0.1, 1.0), (0.1, 0.2, 1.0), (0.05, 0.2, 75.5), (1.0, 0.3, 1e4)):
        m = agnostic_size(epsilon, accuracy, BETA, math.log(kappa))
        learner = ReferenceCoverLearner(epsilon, accuracy, BETA)
        cases.append((f"alpha={epsilon:g} kappa={kappa:g} m={m}", learner.smoothness_hat(m), kappa))
    return cases


def cover_cases() -> Cases:
    """Compare the size of A3's cover with the covering number at accuracy / 8 of m + 1 classes of labels."""
    cases = []
    for m in (20, 100, 4578):
        for accuracy in (0.1, 0.2):
            size = len(THRESHOLDS.sample_packing_cover((np.arange(m) + 0.5) / m, accuracy / 4))
            number = math.ceil((m + 1) / (2 * math.floor(m * accuracy / 8) + 1))
            cases.append((f"m={m} accuracy={accuracy:g}", float(size), float(number)))
    return cases


def _guarantee(
    name: str, source: str, statement: str, trials: Any, beta: float = BETA, **settings: Any
) -> GuaranteeCheck:
    return GuaranteeCheck(
        name=f"cover/{name}",
        source=source,
        statement=statement,
        trials=trials,
        beta=beta,
        **{"budget": 4_000, **settings},
    )


def _size_checks() -> list[GuaranteeCheck]:
    """Theorems 8, 9 and 27 at their own sample sizes."""
    checks = []
    for where, problem, epsilon, accuracy, kappa in (
        ("uniform", UNIFORM.with_noise(0.2), 0.5, 0.1, 1.0),
        ("uniform alpha=0.1", UNIFORM.with_noise(0.2), 0.1, 0.2, 1.0),
        ("concentrated", CONCENTRATED.with_noise(0.2), 0.05, 0.2, 75.5),
    ):
        m = agnostic_size(epsilon, accuracy, BETA, math.log(kappa))
        said = f"A1 errs by at most {accuracy:g} more than the best, with probability 0.9, from m = {m} on."
        trials = Trials(problem, epsilon, accuracy, m, kappa)
        checks.append(_guarantee(f"accuracy of A1, {where} m={m}", THEOREM_8, said, trials))
    for epsilon, accuracy in ((0.5, 0.1), (0.02, 0.1), (0.9, 0.05)):
        m = realizable_size(epsilon, accuracy, BETA)
        said = f"A2 errs by at most {accuracy:g} with probability 0.9 from m = {m} on."
        trials = Trials(UNIFORM, epsilon, accuracy, m)
        checks.append(_guarantee(f"accuracy of A2 alpha={epsilon:g} m={m}", THEOREM_9, said, trials))
    for epsilon, accuracy, noise in ((0.5, 0.1, 0.0), (0.5, 0.1, 0.2), (0.05, 0.2, 0.0)):
        m = label_private_size(epsilon, accuracy, BETA, noise)
        said = f"A3 errs by at most {noise + accuracy:g} with probability 0.9 from m = {m} on."
        trials_3 = LabelPrivateTrials(UNIFORM.with_noise(noise), epsilon, accuracy, m)
        checks.append(_guarantee(f"accuracy of A3 alpha={epsilon:g} noise={noise:g} m={m}", THEOREM_27, said, trials_3))
    return checks


_SPHERE = agnostic_size(0.5, 0.2, BETA, 0.0, math.log2(7))

CHECKS: list[GuaranteeCheck | InequalityCheck] = [
    *_size_checks(),
    _guarantee(
        f"accuracy of A1 on the sphere m={_SPHERE}",
        THEOREM_8,
        f"A1 on the sphere errs by at most 0.2 more than the best, with probability 0.9, from m = {_SPHERE} on.",
        SphereTrials(0.5, 0.2, 0.1, _SPHERE),
        slack=0.1,
        budget=200,
    ),
    _guarantee(
        "accuracy of A1, run literally m=6457",
        THEOREM_8,
        "Fitted to examples one by one, A1 comes within 0.2 with probability 0.9 from m = 6457 on.",
        LiteralTrials(UNIFORM.with_noise(0.2), ReferenceCoverLearner(0.1, 0.2), 6457),
    ),
    InequalityCheck(
        name="cover/kappa_hat at the sample size of the theorem",
        source=THEOREM_8 + ", proof",
        statement="At the sample size of Theorem 8 the algorithm's kappa_hat is at least kappa.",
        values=smoothness_cases,
        sense=">=",
    ),
    InequalityCheck(
        name="cover/size of A3's cover",
        source=THEOREM_27 + ", proof",
        statement="The cover of A3 is no larger than the covering number at accuracy / 8.",
        values=cover_cases,
    ),
    InequalityCheck(
        name="cover/sample size on the hard family",
        source=EXAMPLE_1,
        statement="On the hard family A1 needs about 8 examples more for each M; Theorem 8 asks for 8 / accuracy.",
        values=family_size_cases,
        sense="==",
        tolerance=0.2,
    ),
    _guarantee(
        "relative convergence m=300",
        LEMMA_17,
        "Sample and true disagreement are as close as stated for all pairs, with probability 0.8.",
        RelativeConvergence(300, 0.1),
        2 * BETA,
        budget=500,
    ),
    *(
        _guarantee(
            f"metrics agree r={r:g} m={metric_size(r)}",
            LEMMA_23,
            "Far in the sample is far, and a packing of a ball is one in the sample, with probability 1/2.",
            MetricConvergence(metric_size(r), r),
            0.5,
        )
        for r in (0.1, 0.01)
    ),
]
