"""Theorem 10, Lemma 24, section 5.2 and Remark 28 of Chaudhuri & Hsu (2011): every label-private learner errs.

*Words* (docs/cover-learning.md). The atoms (k, j), levels k < L and letters j < b, have mass w_k / 2, w_k = 2^-k / b;
the rest is one atom that all hypotheses label -1. A word (c_0, ..., c_{L-1}) labels the atoms (k, c_k) with +1. VC
dimension L; doubling dimension at least log2 b at every scale in [w_{L-1}, 2 diameter).

*Every learner.* With s_c the probability that a learner comes within the accuracy of c on a sample labeled by c, and
d(c, c') the points that c and c' label differently, s_c + sum over c' != c of e^(-alpha d(c, c')) s_c' <= 1 for every c
of a packing: the largest mean of such s, a linear program, bounds all learners.

*Separators*, uniform on the sphere: a (2 a)-packing of a ball of radius R has at least K = mass(R) / mass(2 a) members,
so that for every t a learner hits with probability e^(alpha t) / K + P(Bin(m, R) > t) at most.

Departures: C = 43, which `constant_cases` holds against Lemma 17; a lower bound stands for d: log2 b, or by volume.
"""

import bisect
import math
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.special import logsumexp
from scipy.stats import binom

from audit import InequalityCheck
from mechanisms.papers.chaudhuri2011.sample_sizes import label_private_size, uniform_deviation
from mechanisms.papers.chaudhuri2011.separators import cap_mass
from mechanisms.papers.chaudhuri2011.thresholds import FloatArray, IntArray, guarantee
from mechanisms.papers.rows import CHAUDHURI, Cases

CONSTANT = 43.0
OFTEN = 7 / 8  # a learner that is right less often has missed, with probability 1/8
EPSILON = ACCURACY = BETA = 0.1  # of Remark 28
_REACHES = (2.5, 3.0, 4.0, 5.436, 7.0, 10.0, 15.0)  # R / a; 2 e is best for large n
_GRID = [(n, alpha, a) for n in (2, 3, 4, 8, 16, 32, 64) for alpha in (0.1, 0.01) for a in (0.01, 0.001)]


@dataclass(frozen=True)
class WordClass:
    """Words of L letters out of b, and the distribution on their atoms."""

    letters: int  # b, at least 3
    levels: int  # L; the VC dimension

    @cached_property
    def weights(self) -> FloatArray:
        """w_k, shape (L,)."""
        return np.asarray(2.0 ** -np.arange(self.levels) / self.letters)

    @property
    def diameter(self) -> float:
        """The sum of all w_k."""
        return float(self.weights.sum())

    def disagreement(self, first: IntArray, second: IntArray) -> FloatArray:
        """Return rho_D of words, shape (..., L) each."""
        return np.asarray((first != second) @ self.weights)

    def counts(self, m: int, size: int, rng: np.random.Generator) -> IntArray:
        """Draw how often each atom occurs in samples of m points, shape (size, L, b)."""
        masses = np.repeat(self.weights / 2, self.letters)
        drawn = rng.multinomial(m, np.r_[masses, 1 - masses.sum()], size=size)
        return np.asarray(drawn[:, :-1].reshape(size, self.levels, self.letters))


def size_of_lemma(radius: float, vc_dim: int) -> float:
    """Return (C V / r) ln(C / r)."""
    return CONSTANT * vc_dim / radius * math.log(CONSTANT / radius)


def log_packing(letters: float) -> float:
    """Return ln(2^(d-1) - 1) for d = log2 b."""
    return math.log(letters / 2 - 1)


class LemmaSetting(NamedTuple):
    """Where Lemma 24 speaks of the last level: 12 r = 3/2 of its weight, m at the lower end of its range."""

    words: WordClass
    radius: float  # r
    records: int  # m
    epsilon: float  # alpha, such that the upper end of the range of m is a tenth beyond

    def packing(self) -> IntArray:
        """Return the words that differ from (0, ..., 0) at the last level alone, with it, shape (b, L)."""
        found = np.zeros((self.words.letters, self.words.levels), dtype=np.int64)
        found[:, -1] = np.arange(self.words.letters)
        return found

    def __str__(self) -> str:
        return f"b={self.words.letters} L={self.words.levels} m={self.records:.3g} alpha={self.epsilon:.2g}"


def lemma_setting(letters: int, levels: int) -> LemmaSetting:
    """Return the setting of Lemma 24 for words."""
    words = WordClass(letters, levels)
    radius = float(words.weights[-1] / 8)
    records = math.ceil(size_of_lemma(radius, levels))
    return LemmaSetting(words, radius, records, log_packing(letters) / (32 * radius * 1.1 * records))


class TheoremSetting(NamedTuple):
    """Setting of Theorem 10: the accuracy and alpha are nine tenths of the limits of its proof."""

    accuracy: float  # 9/10 of diameter / (24 C V ln(6 C / diameter))
    epsilon: float  # alpha: 9/10 of ln(2^(d'-1) - 1) / (32 C V ln(C / accuracy))
    records: tuple[int, int, int]  # the largest m of each of the three cases of the proof


def theorem_setting(diameter: float, vc_dim: int, balls: float, least: float) -> TheoremSetting:
    """Return the setting of Theorem 10 for a class with 2^d = `balls` and 2^d' = `least`."""
    accuracy = 0.9 * diameter / (24 * CONSTANT * vc_dim * math.log(6 * CONSTANT / diameter))
    size = size_of_lemma(accuracy, vc_dim)
    epsilon = 0.9 * log_packing(least) / (32 * accuracy * size)
    limits = 1 / (4 * accuracy), size, log_packing(balls) / (32 * epsilon * accuracy)
    first, second, third = (math.ceil(m) - 1 for m in limits)
    return TheoremSetting(accuracy, epsilon, (first, second, third))


def draw_agreements(setting: LemmaSetting, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw whether the conclusion of Lemma 23 holds, for all pairs of words and all packings at once, (replicates,)."""
    # Two words differ on a set of levels. Over the pairs that differ on one set, rho_X runs from the sum of the two
    # least counts of its levels to that of the two largest, so that all pairs are looked at by looking at all 2^L sets.
    words, r = setting.words, setting.radius
    counts = np.sort(words.counts(setting.records, replicates, rng), axis=2) / setting.records
    sets = np.array(list(product((0, 1), repeat=words.levels)))
    apart, least, most = (
        sets @ values for values in (words.weights, counts[:, :, :2].sum(axis=2).T, counts[:, :, -2:].sum(axis=2).T)
    )
    close, far, ball = apart <= r, apart > 6 * r, apart <= 12 * r
    kept = (most[close] <= 2 * r).all(axis=0)
    return np.asarray(kept & (least[far & ball] > 4 * r).all(axis=0) & (most[ball] <= 16 * r).all(axis=0))


LEMMAS = lemma_setting(16, 4), lemma_setting(64, 6)
LONG = WordClass(16, 14)
THEOREM = theorem_setting(LONG.diameter, LONG.levels, LONG.letters, LONG.letters)
WORDS = WordClass(4, 1_000)


@CHAUDHURI.states("words, packing", "Lemma 24, proof")
def packing_cases() -> Cases:
    """b words of a ball of radius 12 r lie 6 r apart."""
    for setting in LEMMAS:
        packing, words = setting.packing(), setting.words
        gaps = [words.disagreement(one, other) for one, other in combinations(packing, 2)]
        yield f"gap, {setting}", 6 * setting.radius, float(np.min(gaps))
        yield f"reach, {setting}", float(words.disagreement(packing, packing[0]).max()), 12 * setting.radius


def constant_cases() -> Cases:
    """Compare the deviation of Lemma 17 at (C V / r) ln(C / r) points with r / 3, all that Lemma 23 needs."""
    places = [(setting.radius, setting.words.levels) for setting in LEMMAS] + [(THEOREM.accuracy, LONG.levels)]
    return [(f"r={r:.3g} V={V}", uniform_deviation(size_of_lemma(r, V), 0.25, V), r / 3) for r, V in places]


def doubling_cases(words: WordClass) -> Cases:
    """Compare 2 with log2 of the least number of balls of half the radius, found by integer programming."""
    # At every scale from the least weight up to twice the diameter at which the balls change, around one word.
    every = np.array(list(product(range(words.letters), repeat=words.levels)))
    gaps = words.disagreement(every[:, None], every[None])
    scales = np.unique(np.r_[gaps[0], 2 * gaps[0]])
    scales = scales[(scales >= words.weights[-1] * (1 - 1e-9)) & (scales < 2 * words.diameter * (1 - 1e-9))]
    return [(f"R={R:.4g}", 2.0, math.log2(least_balls(gaps, R))) for R in scales]


def least_balls(gaps: FloatArray, radius: float) -> int:
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


@CHAUDHURI.states("words, ranges", "Theorem 10")
def range_cases() -> Cases:
    """Its conditions on the accuracy, alpha and m are met."""
    first, second, third = THEOREM.records
    least = float(LONG.weights[-1])
    return [
        ("scales from 12 a on", least, 12 * THEOREM.accuracy),
        ("1 below 2", first, second),
        ("2 < 3", second, third),
    ]


def draw_misses(
    words: WordClass, records: int, epsilon: float, replicates: int, rng: np.random.Generator
) -> FloatArray:
    """Draw the least probability, given a sample, with which any learner misses a random word of the last level."""
    # The words of the packing differ in their letter of this level, whose weight exceeds twice the accuracy; two of
    # them label as many points differently as their atoms occur.
    masses, others = np.full(words.letters, words.weights[-1] / 2), 1 - np.eye(words.letters)
    tables = rng.multinomial(records, np.r_[masses, 1 - masses.sum()], size=replicates)[:, :-1]
    # By linear programming, the largest mean success of all label-private learners.
    weights = [np.exp(-epsilon * (counts[:, None] + counts) * others) for counts in tables]
    cost, ones = np.full(words.letters, -1 / words.letters), np.ones(words.letters)
    return np.array([1 + linprog(cost, each, ones, bounds=(0, 1)).fun for each in weights])


def separator_hits(dim: int, epsilon: float, accuracy: float, m: int, share: float = 1.0) -> float:
    """Return an upper bound of P(any label-private learner errs by the accuracy or less) on some separator of R^n."""
    # `share` is the mass of the sphere on which it labels points.
    found = 1.0
    for reach in _REACHES:
        radius = reach * accuracy
        size = max(1, math.ceil(cap_mass(dim, radius / share) / cap_mass(dim, 2 * accuracy / share) - 1e-9))
        spread = math.sqrt(m * radius) + 1
        t = np.floor(m * radius + spread * np.linspace(-1, 6, 29))
        t = t[t >= 0]
        found = min(found, float(np.min(np.exp(np.minimum(epsilon * t, 700)) / size + binom.sf(t, m, radius))))
    return found


def least_examples(dim: int, epsilon: float, accuracy: float) -> int:
    """Return the largest m at which every label-private learner misses some separator with probability 1/8."""
    found = bisect.bisect_right(range(10**9), OFTEN, lo=1, key=partial(separator_hits, dim, epsilon, accuracy))
    return found - 1


@CHAUDHURI.states("every learner, n / (alpha accuracy)", "section 5.2", ">=")
def necessary_cases(constant: float = 1 / 20) -> Cases:
    """Every label-private learner of separators needs n / (20 alpha a) examples, n from 2 to 64."""
    return [
        (f"n={n} alpha={alpha:g} accuracy={a:g}", float(least_examples(n, alpha, a)), constant * n / (alpha * a))
        for n, alpha, a in _GRID
    ]


@CHAUDHURI.states("every learner misses, lemma on separators", "Lemma 24")
def separator_cases() -> Cases:
    """Every label-private learner of separators, n from 4 to 64, errs by r, at both ends of the range of m."""
    for n, r, wide in product((4, 8, 16, 64), (0.01, 0.001), (1.1, 10.0)):
        least, d = math.ceil(size_of_lemma(r, n)), math.log2(cap_mass(n, 12 * r) / cap_mass(n, 6 * r))
        alpha = log_packing(2**d) / (32 * r * wide * least)
        for m in (least, math.floor(wide * least)):
            yield f"n={n} r={r:g} m={m} alpha={alpha:.2g}", separator_hits(n, alpha, r, m), OFTEN


def sphere_setting(dim: int) -> TheoremSetting:
    """Return the setting of Theorem 10 for separators on one of n spheres of R^n: VC dimension n, diameter 1 / n."""
    return theorem_setting(1 / dim, dim, cap_mass(dim, 1e-3) / cap_mass(dim, 5e-4), dim)


@CHAUDHURI.states("spheres, doubling dimension", "Theorem 10")
def sphere_doubling_cases() -> Cases:
    """The doubling dimension of separators on one of n spheres exceeds 2 at every scale from 12 a to 2 diameters."""
    # R is in diameters. From 1 on each sphere needs a ball of its own. From 1/2 on the equator needs n: half the radius
    # is less than a hemisphere, and n - 1 closed sets without antipodes do not cover it (Lusternik & Schnirelmann).
    for n in (8, 16, 32):
        yield f"n={n} R >= 1/2", 2.0, math.log2(n)
        for R in np.geomspace(12 * sphere_setting(n).accuracy * n, 0.5, 8):
            yield f"n={n} R={R:.3g}", 2.0, math.log2(cap_mass(n, R) / cap_mass(n, R / 2))


@CHAUDHURI.states("every learner misses, theorem on spheres", "Theorem 10")
def sphere_cases() -> Cases:
    """Every label-private learner of separators on one of n spheres, n from 8 to 32, errs by the accuracy."""
    for n in (8, 16, 32):
        accuracy, epsilon, sizes = sphere_setting(n)
        for m in sizes:
            yield f"n={n} m={m:.3g}", separator_hits(n, epsilon, accuracy, m, 1 / n), OFTEN


def log_covering_number(words: WordClass, scale: float, m: float) -> float:
    """Return an upper bound of ln E N_1(scale, H, X): b^k, and b^L where later atoms are a larger share."""
    share = words.weights * words.letters / 2
    later = np.r_[np.cumsum(share[::-1])[::-1], 0.0]
    kept = int(np.argmax(later <= scale / 2))
    p = float(later[kept])
    divergence = scale * math.log(scale / p) + (1 - scale) * math.log((1 - scale) / (1 - p))
    one = math.log(words.letters)
    return float(logsumexp([kept * one, words.levels * one - m * divergence]))


def remark_size(words: WordClass, epsilon: float, accuracy: float, beta: float) -> int:
    """Return m of Remark 28 with Pollard's covering numbers, whatever the VC dimension."""
    m = 1e6
    for _ in range(50):
        deviation = 2048 / accuracy**2 * (math.log(16 / beta) + log_covering_number(words, accuracy / 32, m))
        privacy = 8 / (epsilon * accuracy) * (math.log(2 / beta) + log_covering_number(words, accuracy / 4, m))
        m, last = max(deviation, privacy), m
        if m == last:
            return math.ceil(m)
    raise ArithmeticError(f"no fixed point, at {m:g}")


_REMARK = remark_size(WORDS, EPSILON, ACCURACY, BETA)


@CHAUDHURI.states("size by covering numbers", "Remark 28")
def size_cases() -> Cases:
    """It is below that of Theorem 27 for V = 1,000, and does not grow with the VC dimension."""
    size, cover = _REMARK, log_covering_number(WORDS, ACCURACY / 8, 1e7)
    with_vc = label_private_size(EPSILON, ACCURACY, BETA, 0.2, WORDS.levels, cover)
    few = remark_size(WordClass(WORDS.letters, 20), EPSILON, ACCURACY, BETA)
    return [("V = 1000", float(size), float(with_vc)), ("50 times the levels", float(size), 1.001 * few)]


def draw_a3(words: WordClass, m: int, noise: float, replicates: int, rng: np.random.Generator) -> np.ndarray:
    """Draw whether A3 comes within the accuracy of the word (0, ..., 0), on m records with labels flipped by noise."""
    # Its cover are the words that are 0 from the first level on beyond which at most an accuracy / 4 of the records
    # lies. Letters of levels are drawn one by one: mistakes add up over the levels.
    counts = words.counts(m, replicates, rng)
    tails = counts.sum(axis=2)[:, ::-1].cumsum(axis=1)[:, ::-1]
    is_true = np.arange(words.letters) == 0
    ones = rng.binomial(counts, np.where(is_true, 1 - noise, noise))
    chosen = (EPSILON / 2 * (2 * ones - counts) + rng.gumbel(size=counts.shape)).argmax(axis=2)
    excess = (1 - 2 * noise) * ((chosen != 0) & (tails > ACCURACY / 4 * m)) @ words.weights
    return np.asarray(excess <= ACCURACY)


def _misses(name: str, words: WordClass, records: int, epsilon: float) -> InequalityCheck:
    losses = partial(draw_misses, words, records, epsilon)
    return CHAUDHURI.quote(f"every learner misses, {name}", sense=">=", losses=losses, bound=1 / 8, budget=100)


CHECKS: list[Any] = [
    *CHAUDHURI.rows(__name__),
    CHAUDHURI.quote("words, constant", constant_cases),
    guarantee(
        "accuracy of A3 on words", "", "", partial(draw_a3, WORDS, _REMARK, 0.2), beta=BETA, budget=60, slack=0.1
    ),
    CHAUDHURI.quote("words, doubling dimension", partial(doubling_cases, WordClass(5, 2))),
    CHAUDHURI.quote("words, VC dimension", partial(shattered_cases, WordClass(4, 3))),
    *(
        guarantee(f"words, metrics agree {each}", "", "", trials, beta=0.5, slack=0.1, budget=500)
        for each in LEMMAS
        for trials in [partial(draw_agreements, each)]
    ),
    *(_misses(f"lemma {each}", each.words, each.records, each.epsilon) for each in LEMMAS),
    *(
        _misses(f"theorem, case {case}", LONG, records, THEOREM.epsilon)
        for case, records in enumerate(THEOREM.records, start=1)
    ),
]
