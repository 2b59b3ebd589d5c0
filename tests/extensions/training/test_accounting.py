"""Accountants held to brackets: closed forms, sampled noise from both sides, shuffled epochs, verdicts, refusals."""

import importlib.util
import json
import math
import subprocess
import sys
from pathlib import Path

import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.rdp import RdpAccountant
from scipy import integrate
from scipy.stats import norm

from audit import AccountingCheck, AddRemove, AuditError, Substitution, Verdict, check_accounting, run
from audit.certificate.verify import judge_record
from audit.extensions.training.accountants.bins import BallsInBins, _bounds
from audit.extensions.training.accountants.brackets import (
    ShuffledEpochs,
    epsilon_bracket,
    usual_events,
)
from audit.laws import GaussianLoss
from benchmarks.accountants import ACCOUNTANTS, SAMPLED_DELTA

DELTA = 1e-5


def poisson(noise, rate, steps):
    return dp_event.SelfComposedDpEvent(dp_event.PoissonSampledDpEvent(rate, dp_event.GaussianDpEvent(noise)), steps)


def fixed_size(noise, records, batch, steps):
    drawn = dp_event.SampledWithoutReplacementDpEvent(records, batch, dp_event.GaussianDpEvent(noise))
    return dp_event.SelfComposedDpEvent(drawn, steps)


def pld(event, delta):
    return PLDAccountant().compose(event).get_epsilon(delta)


def rdp(event, delta):
    return RdpAccountant().compose(event).get_epsilon(delta)


def test_closed_forms_leave_no_room():
    event = dp_event.SelfComposedDpEvent(dp_event.GaussianDpEvent(10.0), 100)
    assert epsilon_bracket(event, DELTA) == pytest.approx((4.377178, 4.377178), abs=1e-6)
    doubled = GaussianLoss(2.0).epsilon(DELTA)
    assert epsilon_bracket(event, DELTA, Substitution()) == pytest.approx((doubled, doubled))


def test_one_poisson_sampled_step_by_hand():
    """P = (1 - q) N(0, 1) + q N(1, 1) against N(0, 1): delta at e^epsilon = 1 - q + q e^(x - 1/2)."""
    q, x = 0.3, 3.0
    epsilon = math.log(1 - q + q * math.exp(x - 0.5))
    delta = (1 - q) * norm.sf(x) + q * norm.sf(x - 1) - math.exp(epsilon) * norm.sf(x)
    lower, upper = epsilon_bracket(poisson(1.0, q, 1), delta)
    assert lower <= epsilon <= upper
    assert upper - lower < 1e-3


def test_sampled_noise_is_bracketed():
    lower, upper = epsilon_bracket(poisson(1.0, 0.1, 6), DELTA)
    assert lower < upper < lower * 1.005
    assert lower <= pld(poisson(1.0, 0.1, 6), DELTA) <= upper + 1e-3
    composed = dp_event.ComposedDpEvent([poisson(1.0, 0.1, 3), poisson(1.0, 0.1, 3)])
    assert epsilon_bracket(composed, DELTA) == pytest.approx((lower, upper), rel=0.01)
    substituted = epsilon_bracket(poisson(1.0, 0.1, 6), DELTA, Substitution())
    assert 0 < substituted[0] < substituted[1]
    assert upper < substituted[1]


def test_shuffled_epochs_by_hand():
    # one step is Gaussian noise; of two, the event "the larger is at least C" at C = 2
    assert epsilon_bracket(ShuffledEpochs(1.0, 1), DELTA) == pytest.approx(
        (GaussianLoss(1.0).epsilon(DELTA),) * 2, rel=0.2
    )
    with_it, blanked = (1 - norm.cdf(2 - mean) * norm.cdf(2) for mean in (2, 1))
    lower, upper = epsilon_bracket(ShuffledEpochs(1.0, 2), 0.1)
    assert math.log((with_it - 0.1) / blanked) <= lower <= upper
    assert epsilon_bracket(ShuffledEpochs(0.7, 1_000), DELTA)[0] == pytest.approx(6.53, abs=0.005)


def test_two_bins_by_quadrature():
    """Given one lognormal number a, E((a + b) / 2 - c)+ is a call price in b; both directions, by one integral each."""
    c, sigma = 6.0, 0.8
    mean = 1 / sigma

    def call(strike):  # E(b - strike)+ for b = exp(z / sigma - 1 / (2 sigma^2))
        if strike <= 0:
            return 1 - strike
        far = (math.log(strike) + mean**2 / 2) / mean
        return norm.sf(far - mean) - strike * norm.sf(far)

    def mixed(z):
        a = math.exp(z * mean - mean**2 / 2)
        return norm.pdf(z) * call(2 * c - a) / 2

    removed = integrate.quad(mixed, -12, 12, limit=200, points=[0, 1, 2, 3, 4])[0]
    lower, upper = epsilon_bracket(BallsInBins(sigma, 2), removed)
    assert lower <= math.log(c) <= upper
    assert upper - lower < 1e-3


def test_bins_that_are_one_step():
    """One bin is Gaussian noise, with the mu of all epochs; at a rate it is a Poisson-sampled step."""
    truth = GaussianLoss(math.sqrt(2)).epsilon(DELTA)
    lower, upper = epsilon_bracket(BallsInBins(1.0, 1, epochs=2), DELTA, AddRemove())
    assert truth - 1e-3 < lower <= truth <= upper < truth + 1e-3
    lower, upper = epsilon_bracket(BallsInBins(1.0, 1, rate=0.1), DELTA)
    sampled = epsilon_bracket(poisson(1.0, 0.1, 1), DELTA)
    assert max(lower, sampled[0]) <= min(upper, sampled[1])
    assert upper - lower < 1e-3
    assert upper < epsilon_bracket(BallsInBins(1.0, 1), DELTA)[0]


@pytest.mark.parametrize("is_added", [False, True])
def test_errors_of_a_transform_leave_a_bracket_around_the_truth(is_added):
    """A delta of 1e-12 is below what Fourier transforms may be wrong by; one bin is Gaussian noise of mu = 1."""
    lower, upper = _bounds(BallsInBins(1.0, 1), 1e-12, 1.0 if is_added else 3_000.0, is_added)
    assert lower <= GaussianLoss(1.0).epsilon(1e-12) <= upper


def replaced(noise, records, batch, steps=1):
    drawn = dp_event.SampledWithReplacementDpEvent(records, batch, dp_event.GaussianDpEvent(noise))
    return dp_event.SelfComposedDpEvent(drawn, steps)


def test_a_record_of_a_fixed_size_moves_the_sum_by_two():
    """It is 1 where all others are -1: a Poisson-sampled step with half the noise, where a record is removed."""
    lower, upper = epsilon_bracket(fixed_size(1.0, 10_000, 100, 1_000), DELTA)
    half = epsilon_bracket(poisson(0.5, 0.01, 1_000), DELTA)
    assert half[0] - 0.1 < lower <= half[1] < upper < 1.15 * lower
    for event in (fixed_size(4.0, 1, 1, 1), replaced(4.0, 1, 1)):  # a record that is always drawn is Gaussian noise
        lower, upper = epsilon_bracket(event, DELTA)
        assert lower <= GaussianLoss(0.5).epsilon(DELTA) <= upper + 1e-6 < lower + 1e-3


def test_a_record_that_is_drawn_again_by_hand():
    """Of two records with two draws: none, one or two with 1/4, 1/2, 1/4, and the sum moves by 0, 2 or 4."""
    lower, upper = epsilon_bracket(replaced(4.0, 2, 2), 0.01)
    tails = [sum(p * norm.sf((x - move) / 4) for p, move in ((0.25, 0), (0.5, 2), (0.25, 4))) for x in (8.0, 10.0)]
    assert max(math.log((tail - 0.01) / norm.sf(x / 4)) for tail, x in zip(tails, (8.0, 10.0), strict=True)) <= lower
    assert lower < upper < GaussianLoss(1.0).epsilon(0.01)  # drawn twice for certain


def test_mixtures_are_bracketed():
    """One step, by hand at the output 3; a mixture of 0 and 1 is Poisson sampling; composed with other noise."""
    event = dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.5, 0.3, 0.2])
    density = [0.5 * norm.pdf(3), 0.3 * norm.pdf(2), 0.2 * norm.pdf(1)]
    epsilon = math.log(sum(density) / norm.pdf(3))
    delta = 0.5 * norm.sf(3) + 0.3 * norm.sf(2) + 0.2 * norm.sf(1) - math.exp(epsilon) * norm.sf(3)
    lower, upper = epsilon_bracket(event, delta)
    assert lower <= epsilon <= upper < lower + 1e-3
    as_poisson = dp_event.SelfComposedDpEvent(dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0], [0.9, 0.1]), 3)
    assert epsilon_bracket(as_poisson, 1e-3) == pytest.approx(epsilon_bracket(poisson(1.0, 0.1, 3), 1e-3), rel=1e-3)
    laplace = dp_event.PoissonSampledDpEvent(0.1, dp_event.LaplaceDpEvent(2.0))
    composed = dp_event.ComposedDpEvent([poisson(1.0, 0.1, 2), dp_event.GaussianDpEvent(3.0), laplace])
    lower, upper = epsilon_bracket(composed, 1e-3)
    assert 0 < lower <= pld(composed, 1e-3) <= upper + 1e-3 < lower * 1.01


def test_a_shuffled_epoch_that_is_accounted_as_poisson_fails(tmp_path):
    check = AccountingCheck(
        name="shuffled",
        accountant=lambda event, delta: rdp(poisson(event.noise_multiplier, 1 / event.steps, event.steps), delta),
        events=[ShuffledEpochs(0.7, 1_000)],
        delta=DELTA,
        bracket=epsilon_bracket,
        expected=Verdict.FAIL,
    )
    report = run([check], workers=0)
    assert report.results[0].basis == "computed"
    (record,) = json.loads(report.save(tmp_path).read_text())["checks"]
    judged = judge_record(record)
    assert {key: record[key] for key in judged} == judged


def best_of(noise, runs, shape=1):
    return dp_event.RepeatAndSelectDpEvent(dp_event.GaussianDpEvent(noise), runs, shape)


def test_tuning_by_the_best_of_several_runs():
    """Naive tuning tells one run; the theorem's epsilon is enough."""
    naive = check_accounting(lambda event, delta: GaussianLoss(0.5).epsilon(delta), [best_of(2.0, 40)], DELTA)
    assert naive.verdict is Verdict.FAIL
    for noise, runs in ((0.5, 1), (1.0, 3), (2.0, 40), (5.0, 1_000)):
        for event in (best_of(noise, runs), best_of(noise, runs, math.inf)):
            assert check_accounting(rdp, [event], DELTA).verdict is Verdict.PASS
    # one run is Gaussian noise, whose best events are half-lines
    assert epsilon_bracket(best_of(1.0, 1), DELTA)[0] == pytest.approx(GaussianLoss(1.0).epsilon(DELTA), rel=0.2)


@pytest.mark.parametrize("shape", [1, math.inf])
def test_the_largest_and_the_smallest_of_three_runs_by_hand(shape):
    """The generating functions are p x / (1 - (1 - p) x), p = 1 / 3, and exp(3 (x - 1)), here at Phi."""

    def below(c):
        x = norm.cdf(c)
        return x / (3 - 2 * x) if shape == 1 else math.exp(3 * (x - 1))

    lower = epsilon_bracket(best_of(1.0, 3, shape), 0.01)[0]
    assert lower >= math.log((1 - below(1.5) - 0.01) / (1 - below(2.5))) * (1 - 1e-6)
    assert lower >= math.log((below(-0.5) - 0.01) / below(-1.5)) * (1 - 1e-6)


def truncated(records, rate, most, noise, steps=1):
    return dp_event.SelfComposedDpEvent(dp_event.TruncatedSubsampledGaussianDpEvent(records, rate, most, noise), steps)


def test_truncated_batches_are_bracketed():
    """Of two records at rate 1/2 and one place, a record is in 1/4 + 1/8 of the batches; of many places, in 1/2."""
    assert epsilon_bracket(truncated(2, 0.5, 1, 1.0), 0.01)[0] == epsilon_bracket(poisson(1.0, 0.375, 1), 0.01)[0]
    assert epsilon_bracket(truncated(2, 0.5, 2, 1.0), 0.01)[0] == epsilon_bracket(poisson(1.0, 0.5, 1), 0.01)[0]
    event = truncated(1_797, 0.05, 95, 1.0, 100)
    lower, upper = epsilon_bracket(event, DELTA)
    assert 0 < lower < upper
    assert check_accounting(pld, [event], DELTA).verdict is Verdict.PASS


def test_a_tree_and_zero_concentrated_privacy():
    """A record is in 4 nodes of a tree of 8 leaves, so mu = 2 / 2; Gaussian noise of mu = 1 is 1/2-zCDP."""
    truth = GaussianLoss(1.0).epsilon(DELTA)
    assert epsilon_bracket(dp_event.SingleEpochTreeAggregationDpEvent(2.0, [8, 3]), DELTA) == pytest.approx(
        (truth,) * 2
    )
    lower, upper = epsilon_bracket(dp_event.SelfComposedDpEvent(dp_event.ZCDpEvent(0.1), 5), DELTA)
    assert lower == pytest.approx(truth)
    assert truth < upper < rdp(dp_event.ZCDpEvent(0.5), DELTA) + 1e-3


def test_two_batches_of_a_fixed_size_by_hand():
    """The sum of two steps of noise 1/2 that draw +1, or -1, with probability 1/2 each is above 0.55 or is not."""
    tails = [[norm.sf((0.55 - sign * drawn) / math.sqrt(0.5)) for drawn in range(3)] for sign in (1, -1)]
    large, small = (first / 4 + second / 2 + third / 4 for first, second, third in tails)
    assert epsilon_bracket(fixed_size(0.5, 2, 1, 2), 0.5)[0] >= math.log((large - 0.5) / small) - 1e-3 > 1.0


def test_the_most_wasteful_of_several_events_is_named():
    def wasteful(event, delta):
        return (3 if event.noise_multiplier == 1.0 else 5) * pld(event, delta)

    result = check_accounting(wasteful, [dp_event.GaussianDpEvent(noise) for noise in (1.0, 2.0)])
    assert result.verdict is Verdict.PASS
    assert "warning: of GaussianDpEvent(noise_multiplier=2.0)" in result.reason
    assert "5 times what suffices" in result.reason


def test_brackets_are_kept():
    first = epsilon_bracket(ShuffledEpochs(0.9, 50), DELTA)
    assert epsilon_bracket(ShuffledEpochs(0.9, 50), DELTA) is first
    assert epsilon_bracket(ShuffledEpochs(0.9, 50), 2 * DELTA) != first


def test_an_accountant_is_asked_about_the_usual_events():
    low = check_accounting(lambda event, delta: 1.0)
    assert low.verdict is Verdict.FAIL
    assert low.samples == len(usual_events()) == 6


def test_there_are_as_many_accountants_as_the_page_says():
    assert len(ACCOUNTANTS) >= 14
    assert sum(delta == SAMPLED_DELTA for *_, delta in ACCOUNTANTS.values()) >= 2


def test_an_accountant_that_samples_is_held():
    """Its seeds are fixed. In an interpreter of its own: what imports jax must not be forked."""
    if importlib.util.find_spec("jax_privacy") is None:
        pytest.skip("the extra `jax` is not installed")
    command = [sys.executable, "-m", "benchmarks.accountants", "jax-privacy, sampled waits"]
    told = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[2]).stdout
    assert [line.split()[-1] for line in told.splitlines()[1:]] == ["PASS", "PASS"]


def test_what_cannot_be_said_is_open():
    def broken(event, delta):
        raise KeyError("steps")

    events = [dp_event.GaussianDpEvent(1.0)]
    assert "KeyError" in check_accounting(broken, events, DELTA, epsilon_bracket).reason
    infinite = check_accounting(lambda event, delta: math.inf, events, DELTA, epsilon_bracket)
    assert infinite.verdict is Verdict.INCONCLUSIVE
    nothing = check_accounting(pld, [dp_event.NoOpDpEvent()], DELTA, epsilon_bracket)
    assert nothing.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: check_accounting(pld, [], DELTA, epsilon_bracket), "events"),
        (lambda: check_accounting(pld, [1], 0.0, epsilon_bracket), "delta"),
        (lambda: check_accounting(3, [1], DELTA, epsilon_bracket), "accountant"),
        (lambda: epsilon_bracket(ShuffledEpochs(1.0, 10), DELTA, AddRemove()), "ZeroOut"),
        (lambda: ShuffledEpochs(0.0, 10), "noise_multiplier"),
        (lambda: epsilon_bracket(fixed_size(1.0, 20, 2, 10), DELTA, AddRemove()), "Substitution"),
        (lambda: epsilon_bracket(truncated(10, 0.5, 3, 1.0), DELTA, Substitution()), "AddRemove"),
        (lambda: BallsInBins(1.0, 10, rate=0.2), "`rate` must be above 0 and at most 1 / 10"),
        (lambda: epsilon_bracket(BallsInBins(1.0, 10), DELTA, Substitution()), "AddRemove\\(\\) or ZeroOut"),
        (lambda: epsilon_bracket(best_of(1.0, 2, 0.5), DELTA), "shape 1 .geometric. or inf"),
        (lambda: epsilon_bracket(dp_event.ZCDpEvent(0.5, 0.1), DELTA), "xi = 0"),
        (lambda: epsilon_bracket(replaced(1.0, 20, 2), DELTA, AddRemove()), "Substitution"),
    ],
)
def test_refusals(call, said):
    with pytest.raises(AuditError, match=said):
        call()
