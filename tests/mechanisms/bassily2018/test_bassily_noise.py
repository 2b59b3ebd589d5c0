"""The constants and what is proved of them, and the accuracy theorems: tables of reference values, plain sums.

Reference values were computed before this package existed, by another implementation, and are kept to its digits.
"""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from scipy import integrate, stats

from audit import AuditError
from audit.laws import FiniteLoss, compose
from benchmarks.stability_learning.privacy import best_attack, needed_margin
from mechanisms.papers.bassily2018.accuracy import (
    printed_failure,
    printed_k,
    sparse_alpha,
    sure_failure,
)
from mechanisms.papers.bassily2018.algorithm4 import printed_teachers
from mechanisms.papers.bassily2018.noise import (
    composed_delta,
    composed_epsilon,
    least,
    optimal,
    printed,
    printed_soft,
    proved_epsilon,
    pure,
    release_probability,
    sparse_noise,
    unstable_delta,
)
from mechanisms.parts.sparse_vector import TOP, Noise, transcript_law

DELTA = 1e-6


@pytest.mark.parametrize(("step", "copies"), [(0.5, 1), (0.5, 4), (0.1, 11), (2.0, 3)])
def test_composition_is_that_of_randomized_response(step, copies):
    p = math.exp(step) / (1 + math.exp(step))
    loss = compose([FiniteLoss([p, 1 - p], [1 - p, p])] * copies)
    for epsilon in (0.0, 0.3 * step * copies, 0.9 * step * copies):
        assert composed_delta(epsilon, step, copies) == pytest.approx(loss.delta(epsilon), rel=1e-6)


@pytest.mark.parametrize(("step", "copies"), [(0.09, 2), (0.03, 11), (0.5, 40)])
def test_epsilon_inverts_delta_on_the_safe_side(step, copies):
    epsilon = composed_epsilon(DELTA, step, copies)
    assert composed_delta(epsilon, step, copies) <= DELTA * (1 + 1e-6)
    assert composed_delta(0.999 * epsilon, step, copies) > DELTA
    assert epsilon <= step * copies == composed_epsilon(0.0, step, copies)


@pytest.mark.parametrize("queries", [1, 2, 3, 6])
def test_unstable_values_leave_by_the_law_of_transcripts(queries):
    """Fewer queries than epochs, as many, and more."""
    noise = Noise(1.0, 2.0, 3)
    law = transcript_law(noise, np.zeros(queries)).pmf
    assert unstable_delta(noise, queries) == pytest.approx(math.fsum(p for each, p in law.items() if TOP in each))


@pytest.mark.parametrize("lam", [0.5, 1.0, 60.0])
def test_release_probability_by_quadrature(lam):
    for threshold in (-3.0 * lam, 0.0, 0.7 * lam, 12.0 * lam):
        by_parts, _ = integrate.quad(
            lambda rho, level=threshold / lam: stats.laplace.pdf(rho) * stats.laplace.sf((level + rho) / 2),
            -60, 60, points=[0, -threshold / lam], epsabs=1e-14,
        )  # fmt: skip
        assert release_probability(threshold, lam) == pytest.approx(by_parts, rel=1e-8)


TABLE_A = {  # cutoff: lam, upper and attack for an admissible distance, the same for the literal gap
    1: (21.55, 0.1856, 0.169, 0.371, 0.347),
    2: (30.47, 0.197, 0.131, 0.394, 0.264),
    5: (48.18, 0.249, 0.110, 0.498, 0.230),
    10: (68.14, 0.321, None, 0.644, None),
    20: (96.36, 0.349, None, 0.726, None),
    50: (152.36, 0.361, None, 0.755, None),
}


@pytest.mark.parametrize("cutoff", TABLE_A)
def test_what_is_proved_and_shown_of_the_printed_noise(cutoff):
    lam, safe, attack, gap, gap_attack = TABLE_A[cutoff]
    run = printed(1.0, DELTA, cutoff, 1000)
    assert run.lam == pytest.approx(lam, abs=6e-3)
    proved = proved_epsilon(run, DELTA, 1000)
    assert proved == pytest.approx(safe, abs=6e-4)
    assert proved_epsilon(run, DELTA, 1000, lipschitz=2, largest=2) == pytest.approx(gap, abs=6e-4)
    if attack is not None:
        assert attack <= best_attack(run, DELTA) <= proved
        assert best_attack(run, DELTA, lipschitz=2.0) >= gap_attack


@pytest.mark.parametrize(
    ("cutoff", "stated"), [(1, 0.263), (2, 0.278), (5, 0.350), (10, 0.368), (20, 0.374), (50, 0.373)]
)
def test_soft_labels(cutoff, stated):
    """The reference rounds the composition of many epochs up: at T = 20 by 2.4 %."""
    found = proved_epsilon(printed_soft(1.0, DELTA, cutoff, 1000), DELTA)
    assert stated * 0.97 <= found <= stated + 5e-4


def test_the_reconstructed_noise():
    """sqrt(32 * 3 * ln 2e5) / 0.8 = 42.789, and 2 * 42.789 * ln(400 / 1e-5) = 1497.996."""
    found = printed(0.8, 1e-5, 3, 200)
    assert (found.lam, found.threshold, found.epochs, found.query_scale) == (
        pytest.approx(42.789144615, rel=1e-9), pytest.approx(1497.99575, rel=1e-7), 4, 2.0,
    )  # fmt: skip
    doubled, soft = printed(0.8, 1e-5, 6, 400), printed_soft(0.8, 1e-5, 3, 200)
    assert (soft.lam, soft.threshold, soft.epochs) == (doubled.lam, doubled.threshold, 8)
    assert sparse_noise(0.8, 1e-5, 3, 7.0).lam == pytest.approx(math.sqrt(96 * math.log(1e5)) / 0.8)


def test_the_smaller_of_both_calibrations():
    """`pure` has the smaller threshold for one BOTTOM, `optimal` for many; neither is ever exceeded."""
    assert least(1.0, 1e-6, 1) == pure(1.0, 1e-6, 1)
    assert least(1.0, 1e-6, 200) == optimal(1.0, 1e-6, 200)
    for cutoff in (1, 3, 15, 50):
        assert least(1.0, 1e-6, cutoff).threshold == min(kind(1.0, 1e-6, cutoff).threshold for kind in (pure, optimal))
    assert optimal(1.0, 1e-6, 1).threshold / pure(1.0, 1e-6, 1).threshold == pytest.approx(1.078, abs=5e-4)


def test_the_reconstructed_number_of_teachers():
    """136 ln(4 m T / min(delta, beta / 2)) sqrt(T ln(2 / delta)) / eps, the next odd number for two labels."""
    wanted = 136 * math.log(4 * 200 * 3 / 1e-5) * math.sqrt(3 * math.log(2e5)) / 0.8
    assert printed_teachers(0.8, 1e-5, 3, 200, 0.1) in (math.ceil(wanted), math.ceil(wanted) + 1)
    assert printed_teachers(0.8, 1e-5, 3, 200, 0.1) == 19_851
    assert printed_teachers(1.0, 1e-6, 1, 100, 0.05, labels=3) == 10_261
    assert printed_teachers(1.0, 1e-6, 10, 1000, 0.05) == 39_991


def test_failures_of_the_printed_number_of_teachers():
    assert printed_k(100.0) == 34
    assert printed_failure(100.0, "gap") == pytest.approx(0.34, abs=5e-3)
    assert printed_failure(100.0) == pytest.approx(0.95, abs=8e-3)
    assert printed_failure(50.0, "gap") == pytest.approx(0.010, abs=5e-4)
    assert printed_failure(50.0) == pytest.approx(0.17, abs=5e-3)


@pytest.mark.false_alarm(1e-08)
def test_accuracy_of_sparse_vector_by_simulation():
    """Null: ten queries at margin 6 in two epochs fail with the stated probability; 1e-8 by Hoeffding."""
    rng = np.random.default_rng(8)
    falls = [(6 + rng.laplace(scale=2, size=(200_000, 5)) <= rng.laplace(size=(200_000, 1))).any(axis=1) for _ in "ab"]
    assert abs(np.mean(falls[0] | falls[1]) - sure_failure(6.0, 10, 2)) < math.sqrt(math.log(2e8) / 4e5)
    assert sure_failure(needed_margin(0.05, 999, 2), 999, 2) == pytest.approx(0.05, rel=1e-6)
    assert needed_margin(0.05, 999, 2) < 0.46 * sparse_alpha(1000, 1, 0.05)


@pytest.mark.parametrize(
    ("build", "name"),
    [
        (lambda: printed(1.0, 1.0, 1, 10), "delta"),
        (lambda: pure(0.0, 0.1, 1), "epsilon"),
        (lambda: optimal(1.0, 0.1, 0), "cutoff"),
        (lambda: composed_delta(1.0, -1.0, 2), "step"),
    ],
)
def test_parameters_outside_their_sets_are_refused(build, name):
    with pytest.raises(AuditError, match=f"`{name}` must"):
        build()


def test_a_large_epsilon_warns():
    with pytest.warns(UserWarning, match="the proof needs epsilon <= log"):
        printed(20.0, 1e-6, 1, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed(13.0, 1e-6, 1, 10)
        printed(20.0, 1e-6, 1, 10, quiet=True)
