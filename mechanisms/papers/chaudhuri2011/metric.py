"""Lemmas 13 to 15, 18 to 21 and 25 of Chaudhuri & Hsu (2011), and the demands of Theorem 10: covers, packings, weights.

Three are false as printed and stand beside a repaired form: Lemma 14 beyond s = 4 r, Lemma 20 (and Example 2) up to a
width of 1.18 / sqrt(n), Lemma 25 on large balls. The hypothesis d' > 2 of Theorem 10 holds for neither class.
"""

import math
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincc, softmax

from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass, band_mass, cap_mass, covering_radius
from mechanisms.papers.chaudhuri2011.thresholds import THRESHOLDS, ThresholdProblem
from mechanisms.papers.rows import CHAUDHURI, Cases

SCALES = (0.4, 0.25, 0.1, 0.03, 0.01)
NETS = (0.2, 0.1, 0.05)
CIRCLE, SPHERE = LinearSeparatorClass(2), LinearSeparatorClass(3)


@CHAUDHURI.states("covers cover", "Lemma 13")
def cover_cases() -> Cases:
    """Everything lies within s of the canonical set."""
    line = [(f"thresholds s={s:g}", float(THRESHOLDS.packing_cover(s)[0]), s) for s in SCALES]
    round_ = [(f"circle s={s:g}", 1 / CIRCLE.cover_size(s), s) for s in SCALES]
    return [*line, *round_, *((f"sphere s={s:g}", covering_radius(SPHERE.packing_cover(s)), s) for s in NETS)]


@CHAUDHURI.states("packings pack", "Lemma 13", ">=")
def packing_cases() -> Cases:
    """Points of the canonical set are farther apart than s."""
    yield from ((f"thresholds s={s:g}", 1 / THRESHOLDS.cover_size(s), s) for s in SCALES)
    yield from ((f"circle s={s:g}", 2 / CIRCLE.cover_size(s), s) for s in SCALES)
    for s in NETS:
        net = SPHERE.packing_cover(s)
        gaps = SPHERE.reference_disagreement(net, net) + np.eye(len(net))
        yield f"sphere s={s:g}", float(gaps.min()), s - 0.00435


def sample_cases(covering: bool) -> Cases:
    """Compare gaps, or covering radii, with s in the sample metric; points with repetitions among them."""
    for m, s in ((20, 0.075), (12, 0.025), (50, 0.1), (60, 0.2)):
        rng = np.random.default_rng(m)
        for spread in ("distinct", "repeated"):
            X = rng.random(m) if spread == "distinct" else rng.integers(0, 8, m) / 8
            cover = THRESHOLDS.sample_packing_cover(X, s)
            every = np.r_[0.0, (np.unique(X)[1:] + np.unique(X)[:-1]) / 2, 1.0]
            gaps = THRESHOLDS.sample_disagreement(every[:, None], cover[None, :], X)
            among = THRESHOLDS.sample_disagreement(cover[:, None], cover[None, :], X) + np.eye(len(cover))
            found = gaps.min(axis=1).max() if covering else among.min()
            yield f"m={m} s={s:g} {spread}", float(found), s


def weight_cases(tail: bool) -> Cases:
    """Compare probabilities p_i ~ exp(-a_i) with the bounds of Lemma 18, on random and on extreme vectors."""
    rng = np.random.default_rng(18)
    vectors = [rng.gamma(0.5, rng.choice([1.0, 10.0]), size=rng.integers(2, 40)) for _ in range(2000)]
    found = 0.0
    for a in [*vectors, np.r_[0.0, np.full(99, 10.0)]]:
        p, gaps = softmax(-a), a[:, None] - a[None, :]
        if tail:
            over = [float(p[a >= a.min() + t].sum() / (a.size * math.exp(-t))) for t in a - a.min() if t > 0]
        else:
            over = [float(np.max(p[:, None] / np.exp(-gaps)))]
        found = max([found, *over])
    return [("largest ratio of 2001 vectors", found, 1.0)]


@CHAUDHURI.states("covers under smoothness", "Lemma 19")
def smooth_cover_cases() -> Cases:
    """An s-cover under U is a kappa s-cover under D."""
    problem = ThresholdProblem.hard(0.01)
    for s in (0.01, 1e-3, 1e-4):
        grid = THRESHOLDS.packing_cover(s)
        masses = problem.cdf(np.r_[0.0, grid, 1.0])
        ends = max(masses[1] - masses[0], masses[-1] - masses[-2])
        yield f"s={s:g}", float(max(ends, np.diff(masses[1:-1]).max() / 2)), problem.smoothness * s


def printed_band_smoothness(dim: int, width: float) -> float:
    """Return kappa of Lemma 20, 1 / (1 - 2 e^(-n w^2 / 2)); negative for a narrow band."""
    return 1 / (1 - 2 * math.exp(-dim * width**2 / 2))


def band_cases(factors: tuple[float, ...]) -> Cases:
    """Compare the exact kappa of a band of width factor / sqrt(n) with that of Lemma 20."""
    return [
        (f"n={n} w={f:g}/sqrt(n)", 1 / band_mass(n, f / math.sqrt(n)), printed_band_smoothness(n, f / math.sqrt(n)))
        for n in (3, 10, 50, 200)
        for f in factors
        if f / math.sqrt(n) < 1
    ]


@CHAUDHURI.states("smoothness of a narrow band", "Example 2")
def band_at_scale_cases() -> Cases:
    """kappa <= 2 at w = 1 / sqrt(n)."""
    return [(f"n={n}", 1 / band_mass(n, 1 / math.sqrt(n)), 2.0) for n in (2, 3, 10, 100, 10_000)]


@CHAUDHURI.states("smoothness of caps", "Lemma 21")
def cap_cases() -> Cases:
    """kappa <= (2 / (1 - w))^((n - 1) / 2)."""
    return [
        (f"n={n} w={w:g}", 1 / float(betaincc(0.5, (n - 1) / 2, w**2)), (2 / (1 - w)) ** ((n - 1) / 2))
        for n in (2, 3, 5, 10, 50)
        for w in (0.1, 0.5, 0.9)
    ]


def close_pair_mass(dim: int, radius: float) -> float:
    """Upper bound of the proof of Lemma 25 on P(two hypotheses of B(h, r) lie within r / 2): a ratio of caps."""
    return cap_mass(dim, radius / 2) / cap_mass(dim, radius)


def packing_by_deletion(dim: int, radius: float) -> int:
    """Size of the (r/2)-packing of B(h, r) that deleting close pairs leaves: max over N of N - N (N - 1) p / 2."""
    p = close_pair_mass(dim, radius)
    best = max(1, round(1 / p + 0.5))
    return max(math.ceil(n - n * (n - 1) * p / 2 - 1e-9) for n in range(max(1, best - 2), best + 3))


@CHAUDHURI.states("packings of large balls as printed", "Lemma 25", ">=")
def large_ball_cases() -> Cases:
    """B(h, 1) has a 1/2-packing of 2^(n-2) points; false: at most n + 1 vectors have obtuse angles."""
    return [(f"n={n} r=1", n + 1.0, 2.0 ** (n - 2)) for n in (3, 4, 5, 10)]


@CHAUDHURI.states("packings of small balls", "Lemma 25", ">=")
def small_ball_cases() -> Cases:
    """On small balls random points without their close pairs give 2^(n-2)."""
    radii = {3: 1.0, 4: 0.49, 5: 0.27, 6: 0.16, 8: 0.06, 10: 0.025}
    return [(f"n={n} r={r:g}", float(packing_by_deletion(n, r)), 2.0 ** (n - 2)) for n, r in radii.items()]


@CHAUDHURI.states("size of packings", "Lemma 14")
def size_cases() -> Cases:
    """An s-packing of a ball has at most (4 r / s)^d points."""
    line = [(f"thresholds s={s:g}", float(THRESHOLDS.cover_size(s)), 4 * 0.5 / s) for s in SCALES]
    return [*line, *((f"sphere s={s:g}", float(len(SPHERE.packing_cover(s))), (4 / s) ** math.log2(7)) for s in NETS)]


@CHAUDHURI.states("size of packings as printed", "Lemma 14")
def single_point_cases() -> Cases:
    """At most (4 r / s)^d points for every s; false: for s > 4 r a single point is more."""
    return [("thresholds r=0.1 s=0.5", 1.0, 4 * 0.1 / 0.5)]


@CHAUDHURI.states("doubling dimension gives packings", "Lemma 15", ">=")
def doubling_cases() -> Cases:
    """B(z, r) holds two points r/2 apart."""
    line = [(f"thresholds r={r:g}", 2 * min(r, 0.5), r / 2) for r in (0.1, 0.5, 0.9)]
    return [*line, *((f"circle r={r:g}", min(2 * r, 1.0), r / 2) for r in (0.1, 0.5, 1.0, 1.9))]


@CHAUDHURI.states("hypothesis of the lower bound, as printed", "Theorem 10", ">=")
def hypothesis_cases() -> Cases:
    """d' > 2 for separators or thresholds; false: its infimum runs up to the diameter."""
    # At r >= 1 two balls of radius 1/2 around antipodes cover all separators; thresholds have 1 at every scale.
    return [("separators, any n", 1.0, 2.0), ("thresholds", THRESHOLDS.doubling_dim, 2.0)]


CHECKS: list[Any] = [
    *CHAUDHURI.rows(__name__),
    CHAUDHURI.quote("covers cover, sample metric", partial(sample_cases, True)),
    CHAUDHURI.quote("packings pack, sample metric", partial(sample_cases, False), ">="),
    CHAUDHURI.quote("one weight", partial(weight_cases, False)),
    CHAUDHURI.quote("tail of the weights", partial(weight_cases, True)),
    CHAUDHURI.quote("smoothness of a band as printed", partial(band_cases, (1.0,))),
    CHAUDHURI.quote("smoothness of a wide band", partial(band_cases, (1.2, 1.5, 2.0, 4.0))),
]
