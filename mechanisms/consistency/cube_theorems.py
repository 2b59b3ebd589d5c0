"""Utility theorems of the cube classifier as checks: bounds, consistency, and what fails as printed.

All risks are computed without simulation, from the exact law of the votes, but for the two that say so.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from audit import ConsistencyCheck, InequalityCheck, RateCheck, Verdict
from mechanisms.consistency.cube_bounds import CubeProblem, named
from mechanisms.consistency.grids import SpaceGrid, side_for
from mechanisms.consistency.votes import Cells, mean_excess, vote_probability
from mechanisms.distributions import ZOO
from mechanisms.distributions.zoo import cauchy_parity

PAPER = "Bousquet et al. 2022"
SIZES = (10**3, 10**5, 10**7)
FAR = (10**8, 10**9)
SHORT = (10**3, 10**4, 10**5)
Value = tuple[str, float, float]
Values = Callable[[], list[Value]]
Sense = Literal["<=", "=="]

CAPS = {  # what is left of the excess at n = 10^7 and at n = 10^9, epsilon = 1
    "smooth": (1e-4, 1e-5),
    "step": (1e-4, 1e-5),
    "atoms": (1e-6, 1e-8),
    "cantor-rank": (2e-5, 1e-6),
    "cantor-parity": (1e-6, 1e-6),
    "mixture": (0.03, 0.01),
    "pure-noise": (1e-9, 1e-9),
    "fat-cantor": (0.03, 0.01),
    "sin(1/x)": (0.01, 0.004),
    "flat-margin": (5e-4, 1e-4),
    "sqrt-density": (1e-4, 2e-5),
    "checkerboard": (0.03, 0.02),
    "sine-product": (5e-4, 5e-5),
    "octants": (0.08, 0.04),
    "cantor-uniform": (0.01, 0.01),
}


@dataclass(frozen=True)
class CubeRisk:
    """Exact mean risk of the private cube classifier as a function of n.

    Parameters
    ----------
    name : str
        Distribution of the zoo.
    epsilon : float
    """

    name: str
    epsilon: float = 1.0

    def __call__(self, n: int) -> float:
        return named(self.name).bayes_risk + CubeProblem(self.name, n).excess(self.epsilon)


@dataclass(frozen=True)
class CertifiedRisk:
    """Bayes risk plus the bound on the excess that holds at every n."""

    name: str
    epsilon: float = 1.0

    def __call__(self, n: int) -> float:
        return named(self.name).bayes_risk + CubeProblem(self.name, n).certified_excess(self.epsilon)


def noise_error(name: str, epsilon: float, n: int) -> float:
    """Return E|private estimate - estimate|."""
    return CubeProblem(name, n).noise_error(epsilon)


def regression_losses(name: str, n: int, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw E|estimate - eta| of the estimate without privacy."""
    return CubeProblem(name, n).regression_errors(replicates, rng)


@dataclass(frozen=True)
class SpaceRisk:
    """Mean risk of the cube classifier on all of R, for `cauchy_parity`: an upper bound, tight for a large reach.

    Inside the reach it is exact; beyond, it is that of a fair coin, and a private vote is never worse than a coin.
    """

    epsilon: float
    reach: float

    def __call__(self, n: int) -> float:
        distribution = cauchy_parity()
        low, high = SpaceGrid(1, side_for(n, 1)).window(self.reach)
        beyond = float(distribution.absolute_mass(-np.inf, low[0]) + distribution.absolute_mass(high[-1], np.inf)) / 2
        return distribution.bayes_risk + beyond + mean_excess(Cells.of(distribution, low, high), n, self.epsilon)


def plug_in_values() -> list[Value]:
    """Excess of the rule of the cell means against twice its regression error."""
    return [
        (f"{name} n={n:g}", _excess_of_means(problem), 2 * problem.approximation())
        for name, n in itertools.product(ZOO, SHORT[:2])
        for problem in [CubeProblem(name, n)]
    ]


def _excess_of_means(problem: CubeProblem) -> float:
    cells = problem.cells
    ones = 2 * cells.positive > cells.mass
    return float(np.sum(np.where(ones, cells.cost_of_one, cells.cost_of_zero)))


def plug_in_tight() -> list[Value]:
    """eta = 1/2 + a and the estimate 1/2, which predicts 0: excess and bound are both 2 a."""
    return [(f"a={a:g}", (0.5 + a) - (0.5 - a), 2 * a) for a in (0.01, 0.1, 0.5)]


def loss_values() -> list[Value]:
    """Largest privacy loss of the votes over all sums in {-12, -11.5 ... 12}: a flip, and a move between cubes."""
    found = []
    for epsilon in (0.25, 0.5, 1.0, 2.0):
        s = np.arange(-12, 12.5, 0.5)
        flip, half = (np.abs(_largest_loss(epsilon, s, s + step)).max() for step in (1.0, 0.5))
        found += [(f"flip eps={epsilon:g}", flip, epsilon), (f"move eps={epsilon:g}", 2 * half, epsilon)]
    return found


def _largest_loss(epsilon: float, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Largest log-ratio of the two values of a bit: P(vote = 0) is P(vote = 1) of the opposite sum."""
    p, q = (vote_probability(epsilon, np.stack([s, -s])) for s in (left, right))
    return np.max(np.abs(np.log(p / q)), axis=0)


def profile_values() -> list[Value]:
    """Exact delta(epsilon') of the votes at epsilon = 1, the worst flip: sums -1 and 0, or -1/2 and 1/2."""
    stated = {0.0: 0.3935, 0.25: 0.3073, 0.5: 0.1967, 0.75: 0.1106, 0.9: 0.0476}
    s = np.arange(-12, 12.5, 0.5)
    p, q = (vote_probability(1.0, np.stack([sums, -sums])) for sums in (s, s + 1))
    return [
        (f"eps'={level:g}", float(max(np.max(p - math.exp(level) * q), np.max(q - math.exp(level) * p))), value)
        for level, value in stated.items()
    ]


def sensitivity_values() -> list[Value]:
    """Largest l1 change under one substitution, over all datasets of 3 records in 3 cells."""
    records = list(itertools.product(range(3), (0, 1)))
    largest = {"centered sums": 0.0, "label-1 counts": 0.0, "histogram counts": 0.0}
    for rest in itertools.product(records, repeat=2):
        for old, new in itertools.combinations(records, 2):
            left, right = (_vectors([*rest, record]) for record in (old, new))
            for what, a, b in zip(largest, left, right, strict=True):
                largest[what] = max(largest[what], float(np.abs(a - b).sum()))
    stated = {"centered sums": 1.0, "label-1 counts": 2.0, "histogram counts": 2.0}
    return [(what, value, stated[what]) for what, value in largest.items()]


def _vectors(data: list[tuple[int, int]]) -> list[np.ndarray]:
    cells, marks = np.array(data).T
    return [np.bincount(cells, weights=w, minlength=3) for w in (marks - 0.5, marks, np.ones(len(data)))]


def printed_sensitivity() -> list[Value]:
    """The sensitivity of histogram counts in the proof of Theorem 3.1, under the paper's own relation."""
    return [(what, value, 1.0) for what, value, _ in sensitivity_values() if what == "histogram counts"]


def visit_values() -> list[Value]:
    """P(N(X) <= k) against (2 k + 4) ceil(1 / r)^dim / n."""
    return [
        (f"{name} n={n:g} k={k}", problem.visits_at_most(k), (2 * k + 4) * problem.grid.size / n)
        for name, n in itertools.product(ZOO, SIZES)
        for problem in [CubeProblem(name, n)]
        for k in (0, 5)
    ]


def noise_values(epsilon: float) -> list[Value]:
    """E[1 / (epsilon N); N > 0] + P(N = 0) against the best right side of equation (1)."""
    return [
        (f"{name} n={n:g}", problem.noise_error(epsilon) + problem.visits_at_most(0), problem.noise_bound(epsilon))
        for name, n in itertools.product(ZOO, SHORT)
        for problem in [CubeProblem(name, n)]
    ]


def noise_beyond_one() -> list[Value]:
    """A thousand equal cells, one record, epsilon = 2: N = 0 nearly always, which epsilon > 1 discounts."""
    p = 1e-3
    left = p / 2 + (1 - p)
    right = min((1 - p if level == 1 else 1.0) + 1 / level for level in (1, 2, 10, 1000, 10**6)) / 2
    return [("1000 cells, n=1, eps=2", left, right)]


def sampling_values() -> list[Value]:
    """E|mean - estimate| against the right side of equation (15)."""
    return [
        (f"{name} n={n:g}", problem.sampling_error(), problem.sampling_bound())
        for name, n in itertools.product(("smooth", "atoms", "cantor-rank", "sqrt-density", "octants"), SHORT)
        for problem in [CubeProblem(name, n)]
    ]


def middle_line() -> list[Value]:
    """The middle line of equation (15) against its last: N = 1 with probability p, and without bound else."""
    return [(f"p={p:g}", math.sqrt(p) / 2, p / 2) for p in (0.25, 0.01)]


def _inequalities() -> list[InequalityCheck]:
    stated: list[tuple[str, str, Values, Sense, float | None]] = [
        ("theorem 2.7 plug-in", "excess <= 2 E|eta - estimate|", plug_in_values, "<=", 2e-2),
        ("theorem 2.7 constant 2 is attained", "excess = 2 E|eta - estimate|", plug_in_tight, "==", 1e-12),
        ("theorem 3.1 largest loss of the votes", "largest loss = epsilon", loss_values, "==", 1e-9),
        ("theorem 3.1 profile of a flip", "delta(eps') as computed by hand", profile_values, "==", 2e-3),
        ("theorem 3.1 sensitivities under substitution", "1, 2 and 2", sensitivity_values, "==", 0.0),
        ("lemma 3.3 visits", "P(N <= k) <= (2 k + 4) ceil(1/r)^d / n", visit_values, "<=", None),
        ("equation 1 eps=1", "noise error + P(N = 0) <= P(N < M) + 1/M", partial(noise_values, 1.0), "<=", None),
        ("equation 1 eps=0.25", "the same over epsilon", partial(noise_values, 0.25), "<=", None),
        ("equation 15", "E|mean - estimate| <= P(N<=k)/2 + 1/(2 sqrt k) + P(N=0)", sampling_values, "<=", None),
    ]
    false: list[tuple[str, str, Values]] = [
        ("theorem 3.1 proof: histogram counts have sensitivity 1", "l1 sensitivity <= 1", printed_sensitivity),
        ("equation 1 for epsilon above 1", "the same for epsilon = 2", noise_beyond_one),
        ("equation 15 middle line", "the middle line is at most the last", middle_line),
    ]
    return [
        *(
            InequalityCheck(
                name=f"consistency/cube classifier/{name}",
                source=f"{PAPER}, {name.split(':')[0]}",
                statement=statement,
                values=values,
                sense=sense,
                tolerance=tolerance,
            )
            for name, statement, values, sense, tolerance in stated
        ),
        *(
            InequalityCheck(
                name=f"consistency/cube classifier/{name} is false",
                source=f"{PAPER}, {name.split(':')[0]}",
                statement=statement,
                values=values,
                expected=Verdict.FAIL,
            )
            for name, statement, values in false
        ),
    ]


def _consistency(name: str, epsilon: float, cap: float, sizes: tuple[int, ...] = SIZES) -> ConsistencyCheck:
    return ConsistencyCheck(
        name=f"consistency/cube classifier/theorem 3.2 {name} eps={epsilon:g} n={sizes[-1]:g}",
        source=f"{PAPER}, Theorems 1.5 and 3.2; bound from Theorem 2.7 and equations (1) and (15)",
        statement="the excess risk tends to 0, and stays below the bound that holds at every n",
        evaluator=CubeRisk(name, epsilon),
        sizes=sizes,
        bayes_risk=named(name).bayes_risk,
        tolerance=cap,
        finite_bounds=CertifiedRisk(name, epsilon),
    )


def _limits() -> list[ConsistencyCheck | RateCheck]:
    return [
        RateCheck(
            name="consistency/cube classifier/equation 2 noise vanishes",
            source=f"{PAPER}, equation (2), with the rate that n^(-1/2) cells of equal mass have",
            statement="E|private estimate - estimate| ~ n^(-1/2) / epsilon",
            evaluator=partial(noise_error, "smooth", 1.0),
            sizes=tuple(10**k for k in range(4, 10)),
            exponent=0.5,
            margin=0.02,
        ),
        *(
            ConsistencyCheck(
                name=f"consistency/cube classifier/theorem 3.4 regression {name}",
                source=f"{PAPER}, Theorem 3.4",
                statement="E|estimate - eta| of the estimate without privacy tends to 0",
                losses=partial(regression_losses, name),
                sizes=(10**3, 10**6),
                support=(0.0, 1.0),
                tolerance=tolerance,
                budget=600,
            )
            for name, tolerance in (("smooth", 0.08), ("fat-cantor", 0.12))
        ),
        ConsistencyCheck(
            name="consistency/cube classifier/open question 3 pure privacy on the line eps=1",
            source=f"{PAPER}, open question (3)",
            statement="cubes of all of R with noise drawn on demand: (epsilon, 0)-private and consistent",
            evaluator=SpaceRisk(1.0, 50.0),
            sizes=SHORT,
            bayes_risk=0.15,
            tolerance=0.05,
        ),
    ]


CHECKS: list[InequalityCheck | ConsistencyCheck | RateCheck] = [
    *_inequalities(),
    *(_consistency(name, 1.0, cap) for name, (cap, _) in CAPS.items()),
    _consistency("smooth", 0.1, 1e-4),
    *_limits(),
]

LONG_CHECKS: list[ConsistencyCheck] = [
    *(_consistency(name, 1.0, cap, FAR) for name, (_, cap) in CAPS.items()),
    _consistency("smooth", 0.1, 1e-5, FAR),
]
