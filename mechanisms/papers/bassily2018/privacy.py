"""The privacy theorems about whole runs, proved or refuted on computed numbers (docs/stability-learning.md).

From above: `noise.run_delta`, a proof for these parameters, with any data and any analyst. From below: a refuted
statement names its witness. Between the two a statement is open, and no check is made of it.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import numpy as np

from audit import InequalityCheck
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease, Transcripts, majorities
from mechanisms.papers.bassily2018.noise import (
    composed_delta,
    optimal,
    printed,
    printed_soft,
    pure,
    release_probability,
    run_delta,
    sparse_noise,
    unstable_delta,
)
from mechanisms.papers.rows import BASSILY, Cases
from mechanisms.parts.sparse_vector import Noise

CUTOFFS = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 1000, 3000, 10_000, 30_000, 100_000)
DELTA, QUERIES = 1e-6, 1000

# the largest epsilon for which a theorem is proved at each cutoff of CUTOFFS, by delta
SPARSE_VECTOR = {0.1: 27.0, 1e-2: 46.0, 1e-4: 85.0, 1e-6: 119.0}
ONLINE = {0.1: 34.0, 1e-2: 53.0, 1e-4: 91.0, 1e-6: 119.0}
LITERAL_GAP = {1e-2: 7.0, 1e-4: 8.2, 1e-6: 8.9, 1e-8: 9.5}
LITERAL_GAP_BREAKS = {0.1: 11.1, 1e-2: 14.4, 1e-4: 19.6, 1e-6: 23.7, 1e-8: 27.2}


def _settings(largest: dict[float, float]) -> Iterator[tuple[str, float, float, int]]:
    for delta, most in largest.items():
        for epsilon, cutoff in product((0.1, 1.0, most), CUTOFFS):
            yield f"eps={epsilon:g} delta={delta:g} T={cutoff}", epsilon, delta, cutoff


@BASSILY.states("proof of Theorem 2.7", "Theorem 2.7")
def sparse_vector_cases() -> Cases:
    """Sparse vector with T + 1 BOTTOMs is (eps, delta)-DP, for eps up to 27, 46, 85, 119 by delta."""
    return [
        (label, composed_delta(epsilon, 2 / sparse_noise(epsilon, delta, cutoff, 0.0).lam, cutoff + 1), delta)
        for label, epsilon, delta, cutoff in _settings(SPARSE_VECTOR)
    ]


def online_cases(largest: dict[float, float], *rule: float) -> Cases:
    """Compare delta of a run at its worst m with the claimed one; `rule` is how a distance moves, and its largest."""
    for label, epsilon, delta, cutoff in _settings(largest):
        runs = ((m, printed(epsilon, delta, cutoff, m, quiet=True)) for m in {1, 2, cutoff, cutoff + 1, 1000 * cutoff})
        yield label, max(run_delta(noise, epsilon, m, *rule) for m, noise in runs), delta


@BASSILY.states("Corollary 3.10 with the literal gap, large eps", "Corollary 3.10")
def literal_gap_breaks() -> Cases:
    """With the gap as the distance (eps, delta) holds for every eps. This is false: an unstable value at gap 2."""
    runs = [(e, d, printed(1.01 * e, d, 1, 1, quiet=True)) for d, e in LITERAL_GAP_BREAKS.items()]
    return [(f"eps={e:g} delta={d:g}", release_probability(run.threshold - 2, run.lam), d) for e, d, run in runs]


@BASSILY.states("proof of Theorem 5.4", "Theorem 5.4")
def soft_cases() -> Cases:
    """The soft-label service is (eps, delta)-DP."""
    return [
        (f"eps={e:g} delta={d:g} T={cutoff}", run_delta(printed_soft(e, d, cutoff, QUERIES), e, QUERIES), d)
        for d, e, cutoff in product((1e-2, 1e-6), (0.1, 1.0), CUTOFFS)
    ]


@BASSILY.states("Lemma 3.8, exact delta", "Lemma 3.8", tolerance=1e-6)
def lemma_cases() -> Cases:
    """Unstable values get out with probability at most min(m, T + 1) / m * delta / 3."""
    for d, (cutoff, m) in product((1e-2, 1e-6), ((1, 1), (1, 1000), (10, 5), (10, 1000))):
        bound = min(m, cutoff + 1) / m * d / 3 * (1 - d / (8 * m))
        yield f"delta={d:g} T={cutoff} m={m}", unstable_delta(printed(1.0, d, cutoff, m), m), bound


@BASSILY.states("proof of the calibrated release", "Theorem 3.6, with the noise that its proof needs")
def calibrated_cases() -> Cases:
    """Both calibrations are (eps, delta)-DP, whatever the number of queries."""
    kinds: dict[str, Callable[..., Noise]] = {"pure": pure, "optimal": optimal}
    return [
        (f"{name} eps={e:g} delta={d:g} T={cutoff}", run_delta(kind(e, d, cutoff), e, np.inf), d)
        for d, e, cutoff, (name, kind) in product((1e-2, 1e-6), (0.1, 1.0, 4.0), (1, 2, 5, 10, 50, 100), kinds.items())
    ]


@BASSILY.states("post-processing", "Lemma 2.4")
def post_processing_cases() -> Cases:
    """No function of a transcript has a larger delta at any eps."""
    # All 256 functions of the four transcripts of two questions; randomized ones are mixtures of these.
    release = Transcripts(majorities, OnlineQueryRelease(0.6, 0.5, 1, 2).noise)
    laws = [dict(release.law(marks).pmf) for marks in ((1, 1, 1, 1, 0, 1), (1, 1, 1, 0, 0, 1))]
    outcomes = sorted({*laws[0], *laws[1]}, key=repr)
    p, q = (np.array([law.get(each, 0.0) for each in outcomes]) for law in laws)
    maps = np.array(list(product(range(len(outcomes)), repeat=len(outcomes))))
    images = (maps[..., None] == np.arange(len(outcomes))).astype(float)
    losses = {e: p - np.exp(e) * q for e in (0.0, 0.1, 0.3)}
    return [
        (f"eps={e:g}", float(np.maximum(each @ images, 0).sum(axis=-1).max()), float(np.maximum(each, 0).sum()))
        for e, each in losses.items()
    ]


@BASSILY.states(
    "noise wasted by the printed constants", "Theorem 3.6, against the calibrated release", "==", tolerance=1e-3
)
def noise_wasted() -> Cases:
    """The printed noise is 5.39, 4.02, 3.10, 2.55 times what is needed, T = 1, 5, 10, 50."""
    known = {1: 5.387, 5: 4.015, 10: 3.100, 50: 2.546}
    return [(f"T={t}", printed(1.0, DELTA, t, QUERIES).lam / optimal(1.0, DELTA, t).lam, r) for t, r in known.items()]


CHECKS: list[InequalityCheck] = [
    *BASSILY.rows(__name__),
    BASSILY.quote("proof of Theorem 3.6", partial(online_cases, ONLINE)),
    BASSILY.quote(
        "proof of Corollary 3.10 with the literal gap, moderate eps", partial(online_cases, LITERAL_GAP, 2, 2)
    ),
]
