"""Lemma 24, Theorem 10 and section 5.2 for every label-private learner at once: bounds on what any of them can hit.

From Chaudhuri & Hsu (2011). Let S_c be a sample labeled by hypothesis c of a packing, s_c the probability that a
learner comes within the accuracy of c on S_c, and d(c, c') the number of points that c and c' label differently. Balls
around the packing are disjoint, and label privacy moves no probability by more than e^alpha a label, so that

    s_c + sum over c' != c of e^(-alpha d(c, c')) s_c' <= 1        for every c.

The largest mean of such s, a linear program, is a bound for all learners, whatever they do and know of the points. A
random target of the packing is missed with the mean of the rest, over samples, and some target no less often.

Section 5.2: separators of R^n under the uniform distribution on the sphere. A largest (2 a)-packing of a ball of radius
R is a cover, and has at least K = mass(R) / mass(2 a) members. Each differs from the center on Bin(m, R) points or
fewer, so that for every t a learner hits with probability e^(alpha t) / K + P(Bin(m, R) > t) at most. This holds for
every n, and does not need Lemma 25, which is false for large balls.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import lil_matrix
from scipy.stats import binom

from audit import GuaranteeCheck, InequalityCheck, Labeled
from mechanisms.cover.label_lower_bound import LEMMA_24, LEMMAS, THEOREM, THEOREM_10
from mechanisms.cover.learners import CoverLearner, LabelPrivateCoverLearner
from mechanisms.cover.sample_sizes import label_private_size
from mechanisms.cover.separators import LinearSeparatorClass, cap_mass
from mechanisms.cover.words import PAPER, WordClass, WordLearner

FloatArray = NDArray[np.float64]
Cases = list[tuple[str, float, float]]
SECTION_5_2 = f"{PAPER}, section 5.2"
OFTEN = 7 / 8  # a learner that is right less often has missed, with probability 1/8
_REACHES = (2.5, 3.0, 4.0, 5.436, 7.0, 10.0, 15.0)  # R / a; 2 e is best for large n
_GRID = [(n, alpha, accuracy) for n in (2, 3, 4, 8, 16, 32, 64) for alpha in (0.1, 0.01) for accuracy in (0.01, 0.001)]


def most_hits(distances: NDArray[Any], epsilon: float) -> float:
    """Return the largest mean success of all label-private learners on targets, by linear programming.

    Parameters
    ----------
    distances : array, shape (K, K)
        Points that two targets label differently.
    epsilon : float > 0
        alpha.
    """
    size = len(distances)
    found = linprog(np.full(size, -1 / size), np.exp(-epsilon * distances), np.ones(size), bounds=(0, 1))
    return float(-found.fun)


def letter_distances(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many points two words label differently that differ in one letter, from the counts of its atoms."""
    return np.asarray((counts[:, None] + counts[None, :]) * (1 - np.eye(len(counts), dtype=np.int64)))


@dataclass(frozen=True)
class LeastMisses:
    """Losses: the least probability, given the sample, with which any learner misses a random word of one level.

    Parameters
    ----------
    words : WordClass
    level : int
        Where the words of the packing differ; its weight exceeds twice the accuracy.
    records : int
        m.
    epsilon : float
        alpha.
    steps : float
        Labels that a point counts for: 1; 0 makes privacy of a label privacy of all of them.
    """

    words: WordClass
    level: int
    records: int
    epsilon: float
    steps: float = 1.0

    def tables(self, replicates: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Draw the counts of the level's atoms, shape (replicates, b)."""
        masses = np.full(self.words.letters, self.words.weights[self.level] / 2)
        return np.asarray(rng.multinomial(self.records, np.r_[masses, 1 - masses.sum()], size=replicates)[:, :-1])

    def __call__(self, replicates: int, rng: np.random.Generator) -> FloatArray:
        tables = self.tables(replicates, rng)
        return np.array([1 - most_hits(self.steps * letter_distances(counts), self.epsilon) for counts in tables])


def exponential_hits(counts: NDArray[np.int64], epsilon: float) -> float:
    """Return the mean success of `WordLearner` on the words that differ at one level."""
    letters = len(counts)
    leads = np.where(np.eye(letters, dtype=bool), counts, -counts)
    return float(np.mean(np.diag(WordLearner(WordClass(letters, 1), epsilon).chances(leads))))


def every_labeling(atoms: tuple[int, ...], letters: int, epsilon: float) -> float:
    """Return the largest mean success over all mechanisms that are label private on all 2^m labels of the points.

    A linear program with one variable for each list of labels and each word of one letter.
    """
    m = len(atoms)
    lists = list(product((-1, 1), repeat=m))
    place = {labels: row for row, labels in enumerate(lists)}
    pairs = [(place[one], place[(*one[:i], -one[i], *one[i + 1 :])]) for one in lists for i in range(m)]
    rows, sums = (
        lil_matrix((len(pairs) * letters, len(lists) * letters)),
        lil_matrix((len(lists), len(lists) * letters)),
    )
    for row, ((left, right), letter) in enumerate(product(pairs, range(letters))):
        rows[row, left * letters + letter], rows[row, right * letters + letter] = 1.0, -math.exp(epsilon)
    for row in range(len(lists)):
        sums[row, row * letters : (row + 1) * letters] = 1.0
    gain = np.zeros(len(lists) * letters)
    for letter in range(letters):
        gain[place[tuple(1 if atom == letter else -1 for atom in atoms)] * letters + letter] = -1 / letters
    found = linprog(gain, rows.tocsr(), np.zeros(rows.shape[0]), sums.tocsr(), np.ones(len(lists)), bounds=(0, 1))
    return float(-found.fun)


def hit_cases(steps: float = 1.0) -> Cases:
    """Compare what the exponential mechanism and the best mechanism on all labels reach with the bound."""
    cases = []
    for setting, factor in ((LEMMAS[0], 1), (LEMMAS[0], 100), (LEMMAS[1], 30)):
        alpha = factor * setting.epsilon
        misses = LeastMisses(setting.words, setting.level, setting.records, alpha)
        counts = misses.tables(1, np.random.default_rng(factor))[0]
        bound = most_hits(steps * letter_distances(counts), alpha)
        cases.append((f"exponential mechanism, {factor} alpha, {setting}", exponential_hits(counts, alpha), bound))
    for atoms in ((0, 0, 1, 1, 2), (0, 1, 2, 2, 2, 0)):
        counts = np.bincount(atoms, minlength=3)
        for alpha in (0.2, 1.0):
            bound = most_hits(steps * letter_distances(counts), alpha)
            cases.append(
                (f"all labels of {len(atoms)} points, alpha={alpha:g}", every_labeling(atoms, 3, alpha), bound)
            )
    return cases


def separator_hits(dim: int, epsilon: float, accuracy: float, m: int) -> float:
    """Return an upper bound of P(any label-private learner errs by the accuracy or less) on some separator of R^n."""
    found = 1.0
    for reach in _REACHES:
        radius = reach * accuracy
        size = max(1, math.ceil(cap_mass(dim, radius) / cap_mass(dim, 2 * accuracy) - 1e-9))
        spread = math.sqrt(m * radius) + 1
        t = np.floor(m * radius + spread * np.linspace(-1, 6, 29))
        t = t[t >= 0]
        found = min(found, float(np.min(np.exp(np.minimum(epsilon * t, 700)) / size + binom.sf(t, m, radius))))
    return found


def least_examples(dim: int, epsilon: float, accuracy: float) -> int:
    """Return the largest m at which every label-private learner misses some separator with probability 1/8."""
    low, high = 0, 1
    while separator_hits(dim, epsilon, accuracy, high) <= OFTEN:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if separator_hits(dim, epsilon, accuracy, middle) <= OFTEN else (low, middle)
    return low


def necessary_cases(constant: float = 1 / 20) -> Cases:
    """Compare the examples that every learner needs with n / (20 alpha a)."""
    return [
        (f"n={n} alpha={alpha:g} accuracy={a:g}", float(least_examples(n, alpha, a)), constant * n / (alpha * a))
        for n, alpha, a in _GRID
    ]


def log_separator_packing(dim: int, scale: float) -> float:
    """Return an upper bound of ln of the size of a packing in any sample metric, by Haussler (1995), VC dimension n."""
    return 1 + math.log(dim + 1) + dim * math.log(2 * math.e / scale)


def sufficient_cases() -> Cases:
    """Compare the size that Theorem 27 asks for with what is necessary, times 120 ln(1 / a): alpha small."""
    cases = []
    for n, alpha, a in _GRID:
        if alpha < 0.1:
            asked = label_private_size(alpha, a, 0.1, vc_dim=n, log_cover=log_separator_packing(n, a / 8))
            most = 120 * math.log(1 / a) * least_examples(n, alpha, a)
            cases.append((f"n={n} alpha={alpha:g} accuracy={a:g}", float(asked), most))
    return cases


@dataclass(frozen=True)
class CircleMisses:
    """Trials: a learner errs by more than the accuracy on separators of the plane, at the size that is too small.

    Parameters
    ----------
    learner : CoverLearner
    epsilon, accuracy : float
        For `least_examples`.
    """

    learner: CoverLearner
    epsilon: float
    accuracy: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        plane, m = LinearSeparatorClass(2), least_examples(2, self.epsilon, self.accuracy)
        found = []
        for _ in range(replicates):
            points, target = (rng.normal(size=(rows, 2)) for rows in (m, 1))
            target /= np.linalg.norm(target)
            dataset = Labeled(points, np.where(points @ target[0] >= 0, 1, -1))
            found.append(float(plane.reference_disagreement(self.learner(dataset, 1, rng)[0], target[0])))
        return np.asarray(found) > self.accuracy


def circle_check(name: str, learner: CoverLearner, **settings: Any) -> GuaranteeCheck:
    """Return a check that a learner of separators of the plane misses, with alpha = accuracy = 0.05."""
    said = "; false" if settings else ""
    return GuaranteeCheck(
        name=name,
        source=SECTION_5_2,
        statement=f"From too few examples the learner misses by more than the accuracy, with probability 1/8{said}.",
        trials=CircleMisses(learner, 0.05, 0.05),
        beta=OFTEN,
        slack=0.05,
        budget=400,
        **settings,
    )


def _misses(name: str, source: str, losses: LeastMisses) -> InequalityCheck:
    return InequalityCheck(
        name=f"cover/every learner misses, {name}",
        source=source,
        statement="Every label-private learner misses some target by more than the radius, with probability 1/8.",
        losses=losses,
        bound=1 / 8,
        sense=">=",
        budget=100,
    )


def _exactly(name: str, source: str, statement: str, values: Any, **settings: Any) -> InequalityCheck:
    return InequalityCheck(
        name=f"cover/every learner, {name}", source=source, statement=statement, values=values, **settings
    )


_LAST = THEOREM.levels - 1

CHECKS: list[Any] = [
    *(
        _misses(f"lemma {each}", LEMMA_24, LeastMisses(each.words, each.level, each.records, each.epsilon))
        for each in LEMMAS
    ),
    *(
        _misses(f"theorem, case {case}", THEOREM_10, LeastMisses(THEOREM.words, _LAST, records, THEOREM.epsilon))
        for case, records in enumerate(THEOREM.records(), start=1)
    ),
    _exactly(
        "the bound",
        f"{LEMMA_24}, proof",
        "Neither the exponential mechanism nor the best mechanism on all lists of labels beats the bound for all.",
        hit_cases,
    ),
    _exactly(
        "n / (alpha accuracy)",
        SECTION_5_2,
        "Every label-private learner of separators needs n / (20 alpha a) examples, n from 2 to 64.",
        necessary_cases,
        sense=">=",
    ),
    _exactly(
        "tight",
        SECTION_5_2,
        "A3 needs no more than that, times 120 ln(1 / a), by the size of Theorem 27.",
        sufficient_cases,
    ),
    circle_check(
        "cover/every learner, A3 on the circle misses", LabelPrivateCoverLearner(0.05, 0.05, LinearSeparatorClass(2))
    ),
]
