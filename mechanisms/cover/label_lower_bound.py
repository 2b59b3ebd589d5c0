"""Lemma 24 and Theorem 10, run: label-private learners of words err on few examples, with every constant of the proofs.

From Chaudhuri & Hsu (2011), Appendix D.4. Lemma 24: for r < diameter / 6 and

    (C V / r) ln(C / r) <= m < ln(2^(d-1) - 1) / (32 alpha r),    d = ddim_12r,

some target is missed by more than r with probability 1/8. Its proof takes the (6 r)-packing of a ball of radius 12 r
that Lemma 15 gives, and samples on which Lemma 23 holds, an event of probability 1/2 or more. Theorem 10 has three
cases of m. All conditions are met on words (`mechanisms.cover.words`): d >= log2 b, V = L. The checks draw samples,
of up to 1e10 points, run the learner and count. By symmetry all words are alike, so any target will do.

Departures from the text: C = 43, which `constant_cases` holds against Lemma 17 wherever it is used (the text leaves it
open); d is replaced by its lower bound log2 b, which only narrows the ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from audit import GuaranteeCheck, InequalityCheck
from mechanisms.cover.sample_sizes import uniform_deviation
from mechanisms.cover.words import PAPER, WordClass, WordLearner

CONSTANT = 43.0
LEMMA_24, THEOREM_10 = f"{PAPER}, Lemma 24", f"{PAPER}, Theorem 10"
Cases = list[tuple[str, float, float]]


def size_of_lemma(radius: float, vc_dim: int) -> float:
    """Return (C V / r) ln(C / r)."""
    return CONSTANT * vc_dim / radius * math.log(CONSTANT / radius)


def log_packing(letters: int) -> float:
    """Return ln(2^(d-1) - 1) for d = log2 b."""
    return math.log(letters / 2 - 1)


@dataclass(frozen=True)
class LemmaSetting:
    """Where Lemma 24 speaks: m at the lower end of its range, alpha such that the upper end is a tenth beyond.

    Parameters
    ----------
    words : WordClass
    level : int
        The level at which the packing's words differ; 12 r = 3/2 of its weight.
    """

    words: WordClass
    level: int

    @property
    def radius(self) -> float:
        """r."""
        return float(self.words.weights[self.level] / 8)

    @property
    def records(self) -> int:
        """m."""
        return math.ceil(size_of_lemma(self.radius, self.words.levels))

    @property
    def epsilon(self) -> float:
        """alpha."""
        return log_packing(self.words.letters) / (32 * self.radius * 1.1 * self.records)

    def packing(self) -> NDArray[np.int64]:
        """Return the words that differ from (0, ..., 0) at the level alone, with it, shape (b, L)."""
        found = np.zeros((self.words.letters, self.words.levels), dtype=np.int64)
        found[:, self.level] = np.arange(self.words.letters)
        return found

    def __str__(self) -> str:
        return f"b={self.words.letters} L={self.words.levels} m={self.records:.3g} alpha={self.epsilon:.2g}"


@dataclass(frozen=True)
class TheoremSetting:
    """Where Theorem 10 speaks: the accuracy and alpha are nine tenths of what its proof allows.

    Parameters
    ----------
    words : WordClass
    """

    words: WordClass

    @property
    def accuracy(self) -> float:
        """Nine tenths of diameter / (24 C V ln(6 C / diameter))."""
        wide = self.words.diameter
        return 0.9 * wide / (24 * CONSTANT * self.words.levels * math.log(6 * CONSTANT / wide))

    @property
    def epsilon(self) -> float:
        """Alpha: nine tenths of ln(2^(d'-1) - 1) / (32 C V ln(C / accuracy))."""
        return 0.9 * log_packing(self.words.letters) / (32 * self.accuracy * size_of_lemma(self.accuracy, self.levels))

    @property
    def levels(self) -> int:
        """V."""
        return self.words.levels

    def records(self) -> tuple[int, int, int]:
        """Return the largest m of each of the three cases of the proof."""
        end = log_packing(self.words.letters) / (32 * self.epsilon * self.accuracy)
        ends = 1 / (4 * self.accuracy), size_of_lemma(self.accuracy, self.levels), end
        first, second, third = (math.ceil(m) - 1 for m in ends)
        return first, second, third


@dataclass(frozen=True)
class Misses:
    """Trials of "the learner misses the target by more than the radius", (replicates,)."""

    learner: WordLearner
    records: int
    radius: float

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        words = self.learner.words
        target = np.zeros(words.levels, dtype=np.int64)
        found = self.learner.learn(words.counts(self.records, replicates, rng), target, rng)
        return np.asarray(words.disagreement(found, target) > self.radius)


@dataclass(frozen=True)
class MetricsAgree:
    """Trials of the conclusion of Lemma 23, for all pairs of words and all packings at once, (replicates,).

    Two words differ on a set of levels. Over the pairs that differ on one set, rho_X runs from the sum of the two least
    counts of its levels to that of the two largest, so that all pairs are looked at by looking at all 2^L sets.
    """

    setting: LemmaSetting
    records: int

    def __call__(self, replicates: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        words, r = self.setting.words, self.setting.radius
        counts = np.sort(words.counts(self.records, replicates, rng), axis=2) / self.records
        sets = np.array(list(product((0, 1), repeat=words.levels)))
        apart, least, most = (
            sets @ values for values in (words.weights, counts[:, :, :2].sum(axis=2).T, counts[:, :, -2:].sum(axis=2).T)
        )
        close, far, ball = apart <= r, apart > 6 * r, apart <= 12 * r
        kept = (most[close] <= 2 * r).all(axis=0)
        return np.asarray(kept & (least[far & ball] > 4 * r).all(axis=0) & (most[ball] <= 16 * r).all(axis=0))


LEMMAS = tuple(LemmaSetting(WordClass(letters, levels), levels - 1) for letters, levels in ((16, 4), (64, 6)))
THEOREM = TheoremSetting(WordClass(16, 14))


def packing_cases() -> Cases:
    """Compare the least gap of the packing with 6 r, and its reach with 12 r."""
    cases = []
    for setting in LEMMAS:
        packing, words = setting.packing(), setting.words
        gaps = [words.disagreement(one, other) for one, other in combinations(packing, 2)]
        cases.append((f"gap, {setting}", 6 * setting.radius, float(np.min(gaps))))
        cases.append((f"reach, {setting}", float(words.disagreement(packing, packing[0]).max()), 12 * setting.radius))
    return cases


def constant_cases() -> Cases:
    """Compare the deviation of Lemma 17 at (C V / r) ln(C / r) points with r / 3, all that Lemma 23 needs."""
    places = [(setting.radius, setting.words.levels) for setting in LEMMAS] + [(THEOREM.accuracy, THEOREM.levels)]
    return [(f"r={r:.3g} V={V}", uniform_deviation(size_of_lemma(r, V), 0.25, V), r / 3) for r, V in places]


def doubling_cases(words: WordClass) -> Cases:
    """Compare 2 with log2 of the least number of balls of half the radius, found by integer programming.

    At every scale from the least weight up to twice the diameter at which the balls change, around one word.
    """
    every = np.array(list(product(range(words.letters), repeat=words.levels)))
    gaps = words.disagreement(every[:, None], every[None])
    scales = np.unique(np.r_[gaps[0], 2 * gaps[0]])
    scales = scales[(scales >= words.weights[-1] * (1 - 1e-9)) & (scales < 2 * words.diameter * (1 - 1e-9))]
    return [(f"R={R:.4g}", 2.0, math.log2(least_balls(gaps, R))) for R in scales]


def least_balls(gaps: NDArray[np.float64], radius: float) -> int:
    """Return the least number of balls of half the radius that hold the ball around the first point."""
    inside = gaps[0] <= radius * (1 + 1e-9)
    holds = (gaps <= radius / 2 * (1 + 1e-9))[inside].astype(float)
    size = len(gaps)
    cover = LinearConstraint(holds, 1, np.inf)
    found = milp(np.ones(size), constraints=cover, integrality=np.ones(size), bounds=Bounds(0, 1))
    return round(found.fun)


def shattered_cases(words: WordClass) -> Cases:
    """Compare the patterns of all words on L + 1 atoms, at most, with 2^(L+1), and those on one atom of each level."""
    every = np.array(list(product(range(words.letters), repeat=words.levels)))
    labels = (every[:, :, None] == np.arange(words.letters)).reshape(len(every), -1)

    def patterns(atoms: Any) -> int:
        return len(np.unique(labels[:, list(atoms)], axis=0))

    size = words.levels
    most = max(patterns(atoms) for atoms in combinations(range(labels.shape[1]), size + 1))
    chosen = patterns(range(0, labels.shape[1], words.letters))
    return [("no set of L + 1 atoms", most + 1.0, 2.0 ** (size + 1)), ("one of each level", 2.0**size, float(chosen))]


def range_cases() -> Cases:
    """Compare what Theorem 10 asks for with what words have: scales, and an order of the three cases."""
    first, second, third = THEOREM.records()
    least = float(THEOREM.words.weights[-1])
    return [
        ("scales from 12 a on", least, 12 * THEOREM.accuracy),
        ("1 below 2", first, second),
        ("2 < 3", second, third),
    ]


def misses_check(name: str, source: str, misses: Misses, **settings: Any) -> GuaranteeCheck:
    """Return a check that a learner misses its target with probability 1/8."""
    said = "; false" if settings else ""
    return GuaranteeCheck(
        name=name,
        source=source,
        statement=f"The learner misses its target by more than the radius, with probability at least 1/8{said}.",
        trials=misses,
        beta=7 / 8,
        slack=0.05,
        budget=2_000,
        **settings,
    )


def theorem_misses(case: int, epsilon: float | None = None) -> Misses:
    """Return the trials of one case of Theorem 10, 1 to 3."""
    learner = WordLearner(THEOREM.words, THEOREM.epsilon if epsilon is None else epsilon)
    return Misses(learner, THEOREM.records()[case - 1], THEOREM.accuracy)


def _exactly(name: str, part: str, statement: str, values: Any) -> InequalityCheck:
    return InequalityCheck(name=f"cover/{name}", source=f"{PAPER}, {part}", statement=statement, values=values)


CHECKS: list[Any] = [
    _exactly("words, packing", "Lemma 24, proof", "b words of a ball of radius 12 r lie 6 r apart.", packing_cases),
    _exactly("words, constant", "Lemma 23", "C = 43 serves Lemma 23 at every r and V here.", constant_cases),
    _exactly(
        "words, doubling dimension",
        "Theorem 10, its hypothesis d' > 2",
        "At every scale up to twice the diameter a ball needs more than four balls of half the radius.",
        partial(doubling_cases, WordClass(5, 2)),
    ),
    _exactly(
        "words, VC dimension",
        "Theorem 10, its hypothesis on V",
        "L atoms are shattered, and never L + 1.",
        partial(shattered_cases, WordClass(4, 3)),
    ),
    _exactly("words, ranges", "Theorem 10", "Its conditions on the accuracy, alpha and m are met.", range_cases),
    *(
        GuaranteeCheck(
            name=f"cover/words, metrics agree {setting}",
            source=f"{PAPER}, Lemma 23",
            statement="For all pairs of words far in the sample is far, and the reverse, with probability 1/2.",
            trials=MetricsAgree(setting, setting.records),
            beta=0.5,
            slack=0.1,
            budget=500,
        )
        for setting in LEMMAS
    ),
    *(
        misses_check(
            f"cover/label privacy misses, lemma {setting}",
            LEMMA_24,
            Misses(WordLearner(setting.words, setting.epsilon), setting.records, setting.radius),
        )
        for setting in LEMMAS
    ),
    *(
        misses_check(f"cover/label privacy misses, theorem, case {case}", THEOREM_10, theorem_misses(case))
        for case in (1, 2, 3)
    ),
]
