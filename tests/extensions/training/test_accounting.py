"""Accountants held to brackets: closed forms, sampled noise from both sides, shuffled epochs, verdicts, refusals.

The epsilon of dp_accounting is an upper bound on a grid of 1e-4, computed by another implementation: it may lie above
the exact one by no more than a few grid steps, and below by the rounding of its convolutions (1e-6).
"""

import json
import math

import numpy as np
import pytest
from dp_accounting import dp_event
from dp_accounting.pld import PLDAccountant
from dp_accounting.privacy_accountant import NeighboringRelation
from dp_accounting.rdp import RdpAccountant
from scipy.stats import norm

from audit import AccountingCheck, AddRemove, AuditError, LabelFlip, Local, Substitution, Verdict, check_accounting, run
from audit.certificate.verify import judge_record
from audit.extensions.training.accountants import brackets
from audit.extensions.training.accountants.brackets import ShuffledEpochs, epsilon_bracket, usual_events
from audit.extensions.training.accountants.discrete_gaussians import DiscreteGaussians
from audit.extensions.training.accountants.dp_events import event_loss
from audit.laws import GaussianLoss
from tests.offenders import refused

DELTA = 1e-5
GAUSSIAN, LAPLACE = dp_event.GaussianDpEvent(2.0), dp_event.LaplaceDpEvent(2.0)
RESPONSE = dp_event.RandomizedResponseDpEvent(0.5, 4)


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


def test_a_record_of_a_fixed_size_moves_the_sum_by_two():
    """It is 1 where all others are -1: a Poisson-sampled step with half the noise, where a record is removed."""
    lower, upper = epsilon_bracket(fixed_size(1.0, 10_000, 100, 1_000), DELTA)
    half = epsilon_bracket(poisson(0.5, 0.01, 1_000), DELTA)
    assert half[0] - 0.1 < lower <= half[1] < upper < 1.15 * lower
    lower, upper = epsilon_bracket(fixed_size(4.0, 1, 1, 1), DELTA)  # always drawn, it is Gaussian noise
    assert lower <= GaussianLoss(0.5).epsilon(DELTA) <= upper + 1e-6 < lower + 1e-3


def test_mixtures_are_bracketed():
    """One step, by hand at the output 3."""
    event = dp_event.MixtureOfGaussiansDpEvent(1.0, [0.0, 1.0, 2.0], [0.5, 0.3, 0.2])
    density = [0.5 * norm.pdf(3), 0.3 * norm.pdf(2), 0.2 * norm.pdf(1)]
    epsilon = math.log(sum(density) / norm.pdf(3))
    delta = 0.5 * norm.sf(3) + 0.3 * norm.sf(2) + 0.2 * norm.sf(1) - math.exp(epsilon) * norm.sf(3)
    lower, upper = epsilon_bracket(event, delta)
    assert lower <= epsilon <= upper < lower + 1e-3


def test_mixtures_are_bracketed_in_compositions():
    """A mixture of 0 and 1 is Poisson sampling; composed with other noise."""
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
    cut = epsilon_bracket(truncated(2, 0.5, 1, 1.0), 0.01)[0]
    assert cut == pytest.approx(epsilon_bracket(poisson(1.0, 0.375, 1), 0.01)[0], rel=1e-12)
    whole = epsilon_bracket(truncated(2, 0.5, 2, 1.0), 0.01)[0]
    assert whole == pytest.approx(epsilon_bracket(poisson(1.0, 0.5, 1), 0.01)[0], rel=1e-12)


def test_an_accountant_of_truncated_batches_is_held():
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


def cells_of(variance):
    """Return the losses of one cell that moves by 1, and their probabilities."""
    weights = {x: math.exp(-(x**2) / (2 * variance)) for x in range(-38, 39)}
    return [((1 - 2 * x) / (2 * variance), weight / sum(weights.values())) for x, weight in weights.items()]


@pytest.mark.parametrize(("variances", "delta"), [((1.0,), 1e-9), ((1.0,), 1e-35), ((1.0, 2.5), 1e-35), ((9.0,), 0.05)])
def test_discrete_gaussian_counts_by_hand(variances, delta):
    """All products of cells; replacing a record moves two cells of each, as if each histogram were there twice."""
    losses = [(0.0, 1.0)]
    for variance in variances:
        losses = [(one + loss, p * q) for one, p in losses for loss, q in cells_of(variance)]
    lower, upper = epsilon_bracket(DiscreteGaussians(variances), delta)
    for epsilon, is_above in ((lower, True), (upper, False)):
        at_it = math.fsum(p * -math.expm1(epsilon - loss) for loss, p in losses if loss > epsilon)
        assert (at_it >= delta * (1 - 1e-9)) is is_above
    assert 0 < lower < upper < lower + 1e-3
    replaced = epsilon_bracket(DiscreteGaussians(variances), delta, Substitution())
    assert replaced == pytest.approx(epsilon_bracket(DiscreteGaussians(2 * variances), delta))


def test_brackets_are_kept_between_processes(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(brackets, "_SLOW", -1.0)
    brackets._locate_cache.cache_clear()
    first = epsilon_bracket(ShuffledEpochs(0.9, 50), DELTA)
    assert epsilon_bracket(ShuffledEpochs(0.9, 50), DELTA) is first
    assert epsilon_bracket(ShuffledEpochs(0.9, 50), 2 * DELTA) != first
    brackets._locate_cache().open("a").write('["cut sho')
    monkeypatch.setattr(brackets, "_bracket", None)  # nothing is computed again
    monkeypatch.setattr(brackets, "_KNOWN", {})
    assert epsilon_bracket(ShuffledEpochs(0.9, 50), DELTA) == first
    brackets._locate_cache.cache_clear()


def test_an_accountant_is_asked_about_the_usual_events():
    low = check_accounting(lambda event, delta: 1.0)
    assert low.verdict is Verdict.FAIL
    assert low.samples == len(usual_events()) == 6


@pytest.mark.parametrize(("factor", "verdict"), [(0.99, Verdict.FAIL), (1.01, Verdict.PASS)])
def test_an_accountant_is_held_to_a_hundredth(factor, verdict):
    events = [dp_event.GaussianDpEvent(1.0)]
    assert check_accounting(lambda event, delta: factor * pld(event, delta), events).verdict is verdict


def test_the_loosest_epsilon_is_stated():
    """An accountant that returns the epsilon of less noise: 1.5 times as much at one event, a little more else."""
    events = [dp_event.GaussianDpEvent(noise) for noise in (2.0, 1.0, 4.0)]
    loose = check_accounting(lambda event, delta: pld(event, delta) * (1.5 if event is events[1] else 1.001), events)
    assert "an upper bound for all 3 events, at most 1.5 times a lower bound" in loose.reason


def test_what_cannot_be_said_is_open():
    def broken(event, delta):
        raise KeyError("steps")

    events = [dp_event.GaussianDpEvent(1.0)]
    assert "KeyError" in check_accounting(broken, events, DELTA, epsilon_bracket).reason
    infinite = check_accounting(lambda event, delta: math.inf, events, DELTA, epsilon_bracket)
    assert infinite.verdict is Verdict.INCONCLUSIVE
    nothing = check_accounting(pld, [dp_event.NoOpDpEvent()], DELTA, epsilon_bracket)
    assert nothing.verdict is Verdict.INCONCLUSIVE


test_refusals = refused([
    (lambda: check_accounting(pld, [], DELTA, epsilon_bracket), "events"),
    (lambda: check_accounting(pld, [1], 0.0, epsilon_bracket), "delta"),
    (lambda: check_accounting(3, [1], DELTA, epsilon_bracket), "accountant"),
    (lambda: epsilon_bracket(ShuffledEpochs(1.0, 10), DELTA, AddRemove()), "be left out"),
    (lambda: ShuffledEpochs(0.0, 10), "noise_multiplier"),
    (lambda: DiscreteGaussians((1.0, 0.0)), "variances"),
    (lambda: epsilon_bracket(fixed_size(1.0, 20, 2, 10), DELTA, AddRemove()), "Substitution"),
    (lambda: epsilon_bracket(truncated(10, 0.5, 3, 1.0), DELTA, Substitution()), "AddRemove"),
    (lambda: epsilon_bracket(best_of(1.0, 2, 0.5), DELTA), "shape 1 .geometric. or inf"),
    (lambda: epsilon_bracket(dp_event.ZCDpEvent(0.5, 0.1), DELTA), "xi = 0"),
    (lambda: event_loss(poisson(2.0, 0.1, 1).event, AddRemove()), "exact loss, got PoissonSampledDpEvent"),
    (lambda: event_loss(dp_event.ZCDpEvent(0.1), AddRemove()), "ZCDpEvent: it states no law"),
    (lambda: event_loss(dp_event.UnsupportedDpEvent(), AddRemove()), "UnsupportedDpEvent"),
    (lambda: event_loss(GAUSSIAN, LabelFlip()), "`relation` must be AddRemove"),
    (lambda: event_loss(RESPONSE, AddRemove()), "`relation` must be Substitution"),
], error=AuditError)  # fmt: skip


ADD, REPLACE = NeighboringRelation.ADD_OR_REMOVE_ONE, NeighboringRelation.REPLACE_ONE
CASES = [
    (GAUSSIAN, AddRemove(), ADD),
    (GAUSSIAN, Substitution(), REPLACE),
    (dp_event.SelfComposedDpEvent(GAUSSIAN, 5), AddRemove(), ADD),
    (LAPLACE, AddRemove(), ADD),
    (dp_event.SelfComposedDpEvent(LAPLACE, 3), AddRemove(), ADD),
    (dp_event.DiscreteLaplaceDpEvent(0.5, 2), AddRemove(), ADD),
    (dp_event.ComposedDpEvent([GAUSSIAN, LAPLACE, dp_event.NoOpDpEvent()]), AddRemove(), ADD),
    (dp_event.RandomizedResponseDpEvent(0.5, 4), Substitution(), REPLACE),
    (dp_event.RandomizedResponseDpEvent(0.5, 2), Local(), REPLACE),
]


@pytest.mark.parametrize(("event", "relation", "theirs"), CASES, ids=lambda case: type(case).__name__)
def test_exact_epsilon_agrees_with_the_accountant(event, relation, theirs):
    for delta in (1e-5, 0.01):
        accounted = PLDAccountant(theirs).compose(event).get_epsilon(delta)
        assert accounted - 5e-4 <= event_loss(event, relation).epsilon(delta) <= accounted + 1e-6


def test_randomized_response_in_closed_form():
    """p = 1/2 among k: the truth with 1/2 + 1/2k, each other value with 1/2k; log(k + 1), without a grid."""
    for buckets in (2, 3, 4, 10):
        loss = event_loss(dp_event.RandomizedResponseDpEvent(0.5, buckets), Local())
        assert loss.epsilon(0.0) == pytest.approx(np.log(buckets + 1), rel=1e-12)
    assert event_loss(dp_event.RandomizedResponseDpEvent(0.5, 1), Local()).epsilon(0.0) == 0
    assert event_loss(dp_event.RandomizedResponseDpEvent(0.0, 2), Local()).epsilon(0.5) == np.inf


def test_without_noise_no_epsilon_suffices():
    for event in (dp_event.NonPrivateDpEvent(), dp_event.GaussianDpEvent(0.0), dp_event.DiscreteLaplaceDpEvent(0.0, 1)):
        assert event_loss(event, AddRemove()).epsilon(1e-5) == np.inf
