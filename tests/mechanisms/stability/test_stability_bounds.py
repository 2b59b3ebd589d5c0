"""Bounds on whole runs: composition against a plain sum, tables of reference values, brackets, validators.

Reference values were computed before this package existed, by another implementation, and are kept to its digits.
"""

from __future__ import annotations

import math
import warnings

import pytest
from scipy import integrate, stats

from audit import AuditError
from audit.laws import FiniteLoss, compose
from mechanisms.faults.stability.noise import REFERENCE
from mechanisms.stability.bounds import (
    Bracket,
    composed_delta,
    composed_epsilon,
    proved_epsilon,
    release_probability,
    unstable_delta,
)
from mechanisms.stability.calibration import Calibration, optimal, printed, printed_soft, pure
from mechanisms.stability.epochs import best_attack, prefix_attack

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


@pytest.mark.parametrize("lam", [0.5, 1.0, 60.0])
def test_release_probability_by_quadrature(lam):
    for threshold in (-3.0 * lam, 0.0, 0.7 * lam, 12.0 * lam):
        by_parts, _ = integrate.quad(
            lambda rho, level=threshold / lam: stats.laplace.pdf(rho) * stats.laplace.sf((level + rho) / 2),
            -60,
            60,
            points=[0, -threshold / lam],
            epsabs=1e-14,
        )
        assert release_probability(threshold, lam) == pytest.approx(by_parts, rel=1e-8)


TABLE_A = {  # cutoff: lam, upper and attack for an admissible distance, the same for the literal gap
    1: (21.55, 0.1856, 0.169, 0.371, 0.347),
    2: (30.47, 0.197, 0.131, 0.394, 0.264),
    5: (48.18, 0.249, 0.110, 0.498, 0.230),
    10: (68.14, 0.321, 0.099, 0.644, 0.209),
    20: (96.36, 0.349, 0.095, 0.726, 0.199),
    50: (152.36, 0.361, 0.096, 0.755, 0.202),
}


@pytest.mark.parametrize("cutoff", TABLE_A)
def test_what_is_proved_of_the_printed_noise(cutoff):
    lam, safe, _, gap, _ = TABLE_A[cutoff]
    run = printed(1.0, DELTA, cutoff, 1000)
    assert run.lam == pytest.approx(lam, abs=6e-3)
    assert run.epsilon(DELTA, 1000) == pytest.approx(safe, abs=6e-4)
    literal = proved_epsilon(DELTA, run.lam, run.threshold, run.epochs, 1000, lipschitz=2, largest=2)
    assert literal == pytest.approx(gap, abs=6e-4)


@pytest.mark.parametrize("cutoff", [1, 2, 5])
def test_attacks_are_at_least_as_good_as_the_reference_and_below_the_proof(cutoff):
    _, safe, attack, _, gap_attack = TABLE_A[cutoff]
    run = printed(1.0, DELTA, cutoff, 1000)
    shown, _ = best_attack(run, DELTA)
    assert attack <= shown <= run.epsilon(DELTA, 1000) <= safe + 6e-4
    assert best_attack(run, DELTA, lipschitz=2.0)[0] >= gap_attack


CALIBRATED = [(1, 4.00, 5.4), (5, 12.0, 4.0), (10, 21.98, 3.1), (50, 59.8, 2.55)]
SOFT = [(1, 0.263), (2, 0.278), (5, 0.350), (10, 0.368), (20, 0.374), (50, 0.373)]


@pytest.mark.parametrize(("cutoff", "lam", "ratio"), CALIBRATED)
def test_calibrated_noise(cutoff, lam, ratio):
    ours = optimal(1.0, DELTA, cutoff)
    assert ours.lam == pytest.approx(lam, abs=0.05)
    assert printed(1.0, DELTA, cutoff, 1000).lam / ours.lam == pytest.approx(ratio, abs=0.05)
    assert 0.999 < ours.epsilon(DELTA) <= 1.0
    assert pure(1.0, DELTA, cutoff).epsilon(DELTA) <= 1.0 + 1e-9


@pytest.mark.parametrize(("cutoff", "stated"), SOFT)
def test_soft_labels(cutoff, stated):
    """The reference rounds the composition of many epochs up: at T = 20 by 2.4 %."""
    found = printed_soft(1.0, DELTA, cutoff, 1000).epsilon(DELTA)
    assert stated * 0.97 <= found <= stated + 5e-4


def test_unstable_values_cost_a_third_of_delta():
    assert unstable_delta(REFERENCE.threshold, REFERENCE.lam, 11) == pytest.approx(11 / 1000 * DELTA / 3, rel=1e-6)
    assert unstable_delta(0.0, 1.0, 11) == pytest.approx(1 - 2.0**-11)


@pytest.mark.parametrize(("lam", "stated"), [(1.0, 2.0), (21.03, 0.0951)])
def test_one_epoch_is_nearly_tight(lam, stated):
    attack = prefix_attack(Calibration(lam, 0.0, 1))
    left, right = (attack.epoch_law(side) for side in ([0], [1]))
    assert 0.99 * stated < left.loss_against(right).epsilon(0.0) <= 2 / lam


def test_a_bracket_says_what_is_known():
    bracket = Bracket(0.17, 0.19)
    assert bracket.status(1.0) == "proved"
    assert bracket.status(0.1) == "refuted"
    assert bracket.status(0.18) == "open between 0.17 and 0.19"
    with pytest.raises(AuditError, match="`lower` must lie between 0 and upper"):
        Bracket(0.5, 0.4)


def test_parameters_outside_their_sets_are_refused():
    for build, name in [
        (lambda: Calibration(0.0, 1.0, 1), "lam"),
        (lambda: Calibration(1.0, math.inf, 1), "threshold"),
        (lambda: Calibration(1.0, 1.0, 0), "epochs"),
        (lambda: printed(1.0, 1.0, 1, 10), "delta"),
        (lambda: pure(0.0, 0.1, 1), "epsilon"),
        (lambda: optimal(1.0, 0.1, 0), "cutoff"),
        (lambda: composed_delta(1.0, -1.0, 2), "step"),
    ]:
        with pytest.raises(AuditError, match=f"`{name}` must"):
            build()


def test_a_large_epsilon_warns():
    with pytest.warns(UserWarning, match="the proof needs epsilon <= log"):
        printed(20.0, 1e-6, 1, 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        printed(13.0, 1e-6, 1, 10)
