"""Theorems 8, 9 and 27, Lemmas 16, 17 and 23, Examples 1 to 3 of Chaudhuri & Hsu (2011): the sample sizes are enough.

A trial draws the data by one multinomial and fails with the learner's exact failure probability. Learners are run at
the size that the theorem asks for, with the cover for the true kappa. Half-spaces are run on circle and sphere; for
larger n the growth of the sizes is checked, with the upper bound (n - 1) log2 5 of the doubling dimension.
"""

import bisect
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.special import betainc, betaincinv, softmax

from audit import GuaranteeCheck, Labeled
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.sample_sizes import (
    agnostic_size,
    label_private_size,
    metric_size,
    realizable_size,
    uniform_deviation,
)
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass, band_mass
from mechanisms.papers.chaudhuri2011.thresholds import (
    THRESHOLDS,
    FloatArray,
    ThresholdProblem,
    guarantee,
    hard_distance,
    unit_features,
)
from mechanisms.papers.rows import CHAUDHURI, Cases
from mechanisms.parts.exponential import choice_probabilities

BETA, _NEAR = 0.1, 0.3
_MOST_EXAMPLES = 1_024  # that a bisection tries; half of the samples succeed at 430 for the largest M
SPHERE = LinearSeparatorClass(3)


def interval_weights(dataset: Labeled, cover_size: int, epsilon: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return probability, first grid index and number of grid points of the intervals between examples."""
    ends = np.r_[0, grid_points_up_to(np.sort(unit_features(dataset.X)), cover_size), cover_size]
    counts = np.diff(ends)
    first, counts = ends[:-1][counts > 0], counts[counts > 0]
    mistakes = THRESHOLDS.mistakes((2 * first + 1) / (2 * cover_size), dataset)
    return np.asarray(softmax(np.log(counts) - epsilon / 2 * mistakes)), first, counts


def grid_points_up_to(x: FloatArray, cover_size: int) -> np.ndarray:
    """Count the grid points <= x, as the comparison in doubles has them."""
    guess = np.floor(cover_size * x + 0.5).astype(np.int64)
    guess -= (2 * guess - 1) / (2 * cover_size) > x
    return np.asarray(guess + ((2 * guess + 1) / (2 * cover_size) <= x))


def draw_successes(failure: Callable[..., float], replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw whether a learner succeeds that fails with a probability which is drawn with the data."""
    return np.asarray(rng.random(replicates) >= [failure(rng=rng) for _ in range(replicates)])


def fail_on_line(problem: ThresholdProblem, epsilon: float, accuracy: float, m: int, rng: np.random.Generator) -> float:
    """Return P(A3 errs by more than the accuracy) on m uniform examples drawn here, the cover made of their points."""
    dataset = problem.draw(m, rng)
    mechanism = A3(epsilon, accuracy).mechanism(dataset.X)
    is_bad = problem.excess(np.array(mechanism.candidates)) > accuracy
    return float(mechanism.probabilities(dataset)[is_bad].sum())


def fail_on_sphere(epsilon: float, accuracy: float, noise: float, m: int, rng: np.random.Generator) -> float:
    """Return P(A1 errs by more than the accuracy) on m examples of the sphere drawn here, labels flipped by noise."""
    net, target = SPHERE.packing_cover(accuracy / 4), np.array([0.0, 0.6, 0.8])
    x = rng.normal(size=(m, 3))
    y = np.where((x @ target >= 0) ^ (rng.random(m) < noise), 1, -1)
    chances = choice_probabilities(SPHERE.mistakes(net, Labeled(x, y)), epsilon / 2)
    excess = (1 - 2 * noise) * SPHERE.reference_disagreement(net, target)
    return float(chances[excess > accuracy].sum())


def shortest(x: np.ndarray, inside: int) -> float:
    """Return the infimum of rho_D over pairs of thresholds with `inside` of the sorted points between, x uniform."""
    return 0.0 if inside < 2 else float(np.min(x[inside - 1 :] - x[: x.size + 1 - inside]))


def longest(x: np.ndarray, inside: int) -> float:
    """Return the supremum of rho_D over pairs of thresholds with `inside` of the sorted points between, x uniform."""
    ends = np.r_[0.0, x, 1.0]
    return float(np.max(ends[inside + 1 :] - ends[: x.size + 1 - inside]))


def draw_on_points(
    holds: Callable[[FloatArray], bool], m: int, replicates: int, rng: np.random.Generator
) -> np.ndarray:
    """Draw whether a statement holds on m uniform points, sorted."""
    return np.array([holds(np.sort(rng.random(m))) for _ in range(replicates)])


def converges_relatively(beta: float, x: FloatArray) -> bool:
    """Return whether both statements of Lemma 17 hold for all pairs of thresholds."""
    seen, width = np.arange(x.size + 1) / x.size, uniform_deviation(x.size, beta)
    least, most = (np.array([of(x, j) for j in range(x.size + 1)]) for of in (shortest, longest))
    above = least - seen + np.minimum(np.sqrt(seen * width), np.sqrt(least * width) + width)
    below = seen - most + np.sqrt(most * width)
    return bool(np.all(above >= -1e-12) and np.all(below >= -1e-12))


def one_set_converges(beta: float, x: FloatArray) -> bool:
    """Return whether both statements of Lemma 16 hold for all sets {x <= t}, of which S(2 m) = 2 m + 1."""
    seen, true = np.arange(x.size + 1) / x.size, np.r_[0.0, x, 1.0]
    width = 4 / x.size * (math.log(2 * x.size + 1) + math.log(4 / beta))

    def reach(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.minimum(np.sqrt(one * width), np.sqrt(other * width) + width)

    return bool(np.all(true[:-1] >= seen - reach(seen, true[:-1])) and np.all(true[1:] <= seen + reach(true[1:], seen)))


def agrees_with_points(r: float, x: FloatArray) -> bool:
    """Return whether both conclusions of Lemma 23 hold for all pairs of thresholds."""
    # 1: rho_X > 2 r implies rho_D > r. 2: rho_D > 6 r implies rho_X > 4 r, and rho_D <= 12 r implies rho_X <= 16 r.
    # `shortest` and `longest` grow with the number of points, so that the extreme numbers decide.
    two, four, sixteen = (math.floor(k * r * x.size * (1 + 1e-12)) for k in (2, 4, 16))
    first = two >= x.size or shortest(x, two + 1) > r
    packing = longest(x, min(four, x.size)) <= 6 * r
    ball = sixteen >= x.size or shortest(x, sixteen + 1) > 12 * r
    return bool(first and packing and ball)


def family_success(problem: ThresholdProblem, m: int, epsilon: float, samples: int) -> float:
    """Return the mean over samples, the same at every call, of P(A1's threshold lies in the window)."""
    size = THRESHOLDS.cover_size(0.2 / (4 * problem.smoothness))
    window, total = grid_points_up_to(problem.window, size), 0.0
    for seed in range(samples):
        chances, first, counts = interval_weights(problem.draw(m, np.random.default_rng([m, seed])), size, epsilon)
        inside = np.minimum(first + counts, window[1]) - np.maximum(first, window[0])
        total += float(np.sum(chances * np.maximum(inside, 0) / counts))
    return total / samples


def half_success(most: int, epsilon: float = 0.5, samples: int = 200) -> int:
    """Return the number of examples from which on A1 comes within 1/5 half of the time, on the hard family for M."""
    # epsilon M may be at most 25.
    problem, sizes = ThresholdProblem.hard(hard_distance(epsilon, most)), range(_MOST_EXAMPLES)
    return bisect.bisect_left(sizes, 0.5, lo=1, key=lambda m: family_success(problem, m, epsilon, samples))


@CHAUDHURI.states("sample size on the hard family", "Example 1", "==", tolerance=0.2)
def family_size_cases() -> Cases:
    """On the hard family A1 needs about 8 examples more for each M; Theorem 8 asks for 8 / accuracy."""
    start = half_success(8)
    return [(f"alpha=0.5 M=8 to {most}", (half_success(most) - start) / (most - 8), 8.0) for most in (24, 36, 48)]


@CHAUDHURI.states("kappa_hat at the sample size of the theorem", "Theorem 8, proof", ">=")
def smoothness_cases() -> Cases:
    """At the sample size of Theorem 8 the algorithm's kappa_hat is at least kappa."""
    for epsilon, accuracy, kappa in ((0.5, 0.1, 1.0), (0.1, 0.2, 1.0), (0.05, 0.2, 75.5), (1.0, 0.3, 1e4)):
        m = agnostic_size(epsilon, accuracy, BETA, math.log(kappa))
        found = A1(epsilon, accuracy, beta=BETA).smoothness_hat(m)
        yield f"alpha={epsilon:g} kappa={kappa:g} m={m}", found, kappa


@CHAUDHURI.states("size of A3's cover", "Theorem 27, proof")
def cover_cases() -> Cases:
    """The cover of A3 is no larger than the covering number at accuracy / 8."""
    for m in (20, 100, 4578):
        for accuracy in (0.1, 0.2):
            size = len(A3(1.0, accuracy).cover((np.arange(m) + 0.5) / m))
            number = math.ceil((m + 1) / (2 * math.floor(m * accuracy / 8) + 1))
            yield f"m={m} accuracy={accuracy:g}", float(size), float(number)


@dataclass(frozen=True)
class RegionTrials:
    """Trials: A1 comes within 0.3 on points of a band |u . x| <= w of the sphere of R^n, or of the caps beyond it."""

    dim: int
    width: float
    inside: bool

    @property
    def smoothness(self) -> float:
        """kappa: one over the mass of the region, exactly; Lemma 20 gives no number at w = 1 / sqrt(n)."""
        mass = band_mass(self.dim, self.width)
        return 1 / (mass if self.inside else 1 - mass)

    @property
    def m(self) -> int:
        """Sample size of Theorem 8."""
        doubling = LinearSeparatorClass(self.dim).doubling_dim
        return agnostic_size(0.5, _NEAR, BETA, math.log(self.smoothness), doubling)

    @property
    def target(self) -> FloatArray:
        """Normal of the target: (0, 1, ..., 1) / sqrt(n - 1); u is the first axis."""
        return np.r_[0.0, np.full(self.dim - 1, 1 / math.sqrt(self.dim - 1))]

    @cached_property
    def cover(self) -> FloatArray:
        """The hypotheses."""
        return LinearSeparatorClass(self.dim).packing_cover(_NEAR / (4 * self.smoothness))

    @cached_property
    def bad(self) -> np.ndarray:
        """Which hypotheses err by more than the accuracy, or might: errors on 20,000 points, off by 0.015 at most."""
        dataset = self.draw(20_000, np.random.default_rng(self.dim))
        return np.asarray(self._mistakes(dataset) / 20_000 > _NEAR - 0.015)

    def _mistakes(self, dataset: Labeled) -> np.ndarray:
        return LinearSeparatorClass(self.dim).mistakes(self.cover, dataset)

    def draw(self, m: int, rng: np.random.Generator) -> Labeled:
        """Draw m examples: u . x from its law within the region, the rest uniform on a sphere of one dimension less."""
        half = (self.dim - 1) / 2
        edge = float(betainc(0.5, half, self.width**2))
        level = rng.uniform(0, edge, m) if self.inside else rng.uniform(edge, 1, m)
        along = np.sqrt(betaincinv(0.5, half, level)) * rng.choice([-1.0, 1.0], m)
        across = rng.normal(size=(m, self.dim - 1))
        across *= (np.sqrt(1 - along**2) / np.linalg.norm(across, axis=1))[:, None]
        x = np.column_stack([along, across])
        return Labeled(x, np.where(x @ self.target >= 0, 1, -1))

    def __call__(self, replicates: int, rng: np.random.Generator) -> np.ndarray:
        draws = (choice_probabilities(self._mistakes(self.draw(self.m, rng)), 0.5 / 2) for _ in range(replicates))
        return np.asarray([rng.random() >= chances[self.bad].sum() for chances in draws])


@CHAUDHURI.states("growth of the sizes in n", "Examples 2 and 3", "==", tolerance=0.02)
def growth_cases() -> Cases:
    """What Theorem 8 asks for grows like n in a band of width 1 / sqrt(n), like n^2 in two caps."""

    def size_at(n: int, log_smoothness: float) -> float:
        return float(agnostic_size(0.1, 0.1, BETA, log_smoothness, (n - 1) * math.log2(5)))

    def band(n: int) -> float:
        return size_at(n, -math.log(band_mass(n, 1 / math.sqrt(n))))

    def caps(n: int) -> float:
        return size_at(n, (n - 1) / 2 * math.log(2 / (1 - 0.2)))

    return [
        (f"{name}, n from {n}", math.log2(size(2 * n) / size(n)), exponent)
        for name, size, exponent in (("band", band, 1.0), ("two caps", caps, 2.0))
        for n in (2**10, 2**12, 2**14)
    ]


UNIFORM, CONCENTRATED = ThresholdProblem(), ThresholdProblem.hard(0.01)


def check_size(name: str, where: str, said: str, m: int, trials: Any, **settings: Any) -> GuaranteeCheck:
    """Return the check that a learner is as accurate as a theorem says, at the size that the theorem asks for."""
    said = f"{said}, with probability 0.9, from m = {m} on."
    return guarantee(f"{name} m={m}", where, said, trials, **settings)


def _on_lines() -> Iterator[GuaranteeCheck]:
    for where, problem, epsilon, accuracy, kappa in (
        ("uniform", UNIFORM, 0.5, 0.1, 1.0),
        ("uniform alpha=0.1", UNIFORM, 0.1, 0.2, 1.0),
        ("concentrated", CONCENTRATED, 0.05, 0.2, 75.5),
    ):
        m, said = agnostic_size(epsilon, accuracy, BETA, math.log(kappa)), f"A1 errs by at most {accuracy:g} more"
        trials = partial(replace(problem, noise=0.2).draw_within, epsilon, accuracy, m, smoothness=kappa)
        yield check_size(f"accuracy of A1, {where}", "Theorem 8", f"{said} than the best", m, trials)
    for epsilon, accuracy in ((0.5, 0.1), (0.02, 0.1), (0.9, 0.05)):
        m, said = realizable_size(epsilon, accuracy, BETA), f"A2 errs by at most {accuracy:g}"
        trials = partial(UNIFORM.draw_within, epsilon, accuracy, m)
        yield check_size(f"accuracy of A2 alpha={epsilon:g}", "Theorem 9", said, m, trials)
    for epsilon, accuracy, noise in ((0.5, 0.1, 0.0), (0.5, 0.1, 0.2), (0.05, 0.2, 0.0)):
        m, said = label_private_size(epsilon, accuracy, BETA, noise), f"A3 errs by at most {noise + accuracy:g}"
        failure = partial(fail_on_line, replace(UNIFORM, noise=noise), epsilon, accuracy, m)
        name = f"accuracy of A3 alpha={epsilon:g} noise={noise:g}"
        yield check_size(name, "Theorem 27", said, m, partial(draw_successes, failure))


def check_region(example: str, where: str, trials: RegionTrials) -> GuaranteeCheck:
    """Return the check that A1 comes within 0.3 on a region of the circle or the sphere."""
    name, said = f"accuracy of A1 in {where}, n={trials.dim}", f"A1 errs by at most 0.3 on points in {where}"
    return check_size(name, example, said, trials.m, trials, slack=0.1, budget=400)


_M = agnostic_size(0.5, 0.2, BETA, 0.0, math.log2(7))
_SPHERE = partial(draw_successes, partial(fail_on_sphere, 0.5, 0.2, 0.1, _M))
_SAID = "A1 on the sphere errs by at most 0.2 more than the best"
_LEMMA_16 = partial(draw_on_points, partial(one_set_converges, 0.1), 300)
_LEMMA_17 = partial(draw_on_points, partial(converges_relatively, 0.1), 300)

CHECKS: list[Any] = [
    *CHAUDHURI.rows(__name__),
    *_on_lines(),
    check_size("accuracy of A1 on the sphere", "Theorem 8", _SAID, _M, _SPHERE, slack=0.1, budget=200),
    guarantee("relative convergence m=300", "", "", _LEMMA_17, beta=2 * BETA, budget=500),
    guarantee("relative convergence of one set m=300", "", "", _LEMMA_16, beta=2 * BETA, budget=500),
    *(
        guarantee(
            f"metrics agree r={r:g} m={m}", "", "", partial(draw_on_points, partial(agrees_with_points, r), m), beta=0.5
        )
        for r in (0.1, 0.01)
        if (m := metric_size(r))
    ),
    *(check_region("Example 2", "a band", RegionTrials(n, 1 / math.sqrt(n), inside=True)) for n in (2, 3)),
    *(check_region("Example 3", "two caps", RegionTrials(n, 0.2, inside=False)) for n in (2, 3)),
]
