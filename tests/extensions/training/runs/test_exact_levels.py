"""The tests of a training run are exact: by enumeration, by hand, and by their count; and the accountant's bounds."""

import math
import random
import sys
from collections import Counter
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from dp_accounting import dp_event
from scipy import stats

from audit import TrainingClaim, training
from audit.extensions.training.accountants.brackets import ShuffledEpochs, epsilon_bracket
from audit.extensions.training.runs import check
from audit.extensions.training.runs import epsilon as accounting
from audit.extensions.training.runs.batches import (
    BatchEvidence,
    _inclusions,
    _total_pvalue,
    batch_findings,
    central_sizes,
)
from audit.extensions.training.runs.contributions import ROUNDING, Contributions, release_findings
from audit.extensions.training.runs.findings import TESTS, chernoff_pvalue, count_pvalue, distance_pvalue, normal_pvalue
from audit.extensions.training.runs.noise import _closest, _predict, _ties, cosine_tail, normal_score, ties_pvalue
from audit.laws import GaussianLoss
from tests.extensions.training.runs.loops import CLAIM, NOISE, RATE, RECORDS, STEPS, recorded


@pytest.mark.parametrize(("part_of_share", "verdict"), [(1.01, "PASS"), (0.99, "FAIL")])
def test_every_test_has_its_share(monkeypatch, part_of_share, verdict):
    """No run is judged by more tests than share its error probability."""
    evidence, terms = recorded().evidence(), check.TrainingTerms(CLAIM, tolerance=1.0, unchecked=tuple(check.PARTS))
    counted = list(check.findings(CLAIM, evidence))
    assert len(counted) == len({found.part for found in counted}) == TESTS
    only = counted[0]._replace(pvalue=part_of_share * 0.05 / TESTS)
    monkeypatch.setattr(check, "findings", lambda *given: [only])
    assert check.decide(terms, evidence, 0.05).verdict == verdict


@pytest.mark.parametrize("rate", [0.02, 0.3, 0.5])
def test_counts_by_enumeration(rate):
    counts = np.arange(31)
    chances = stats.binom.pmf(counts, 30, rate)
    pvalues = np.array([count_pvalue(int(count), 30, rate) for count in counts])
    bounds = np.array([chernoff_pvalue(int(count), 30, rate) for count in counts])
    for level in (0.5, 0.1, 0.01, 1e-4):
        assert chances[pvalues <= level].sum() <= level * (1 + 1e-9)
        assert chances[bounds <= level].sum() <= level * (1 + 1e-9)


def test_draws_without_replacement_keep_the_bound():
    """The records that two batches of 5 of 12 share are hypergeometric; their sum over three pairs, by convolution."""
    one = stats.hypergeom.pmf(np.arange(6), 12, 5, 5)
    three = np.convolve(np.convolve(one, one), one)
    bounds = np.array([chernoff_pvalue(count, 15, 5 / 12) for count in range(16)])
    for level in (0.5, 0.1, 0.01, 1e-3):
        assert three[bounds <= level].sum() <= level


def test_cosines_of_normal_vectors():
    """In three dimensions a cosine is uniform (Archimedes); a score is its normal quantile."""
    for cosine in (-0.5, 0.0, 0.25, 0.9):
        assert cosine_tail(cosine, 3) == pytest.approx((1 - cosine) / 2)
    assert normal_score(0.5, 3) == pytest.approx(stats.norm.isf(0.25))
    assert normal_score(-0.5, 3) == -normal_score(0.5, 3)
    assert 30 < normal_score(1.0, 300) < math.inf


def test_the_distance_of_massart():
    assert distance_pvalue(0.1, 200) == pytest.approx(2 * math.exp(-4))
    assert distance_pvalue(0.0, 0) == 1.0


def test_a_sum_of_normal_numbers_has_two_tails():
    for total in (-3.0, 3.0):
        assert normal_pvalue(total, 4) == pytest.approx(2 * stats.norm.sf(1.5))


def test_a_contribution_is_shrunk_where_no_coordinate_is_longer_or_turned():
    gradient, due = np.array([2.0, 0.0]), np.array([1.0, 0.0])
    for contribution, is_shrunk in (([0.5, 0.0], True), ([3.0, 0.0], False), ([-0.5, 0.0], False), ([0.5, 0.1], False)):
        found = Contributions()
        found.add_alone(np.array(contribution), due, gradient)
        assert (found.shrunk > 0, found.apart > 0) == (is_shrunk, not is_shrunk)


class Generator:
    def manual_seed(self, seed):
        self.seed = seed
        return self


def test_noise_of_a_generator_that_is_seeded_by_the_step_is_predicted(monkeypatch):
    def draw(mean, deviation, size, generator):
        return np.random.default_rng((7, generator.seed)).normal(mean, deviation, size)

    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Generator=Generator, normal=draw))
    monkeypatch.delitem(sys.modules, "jax", raising=False)
    gauss, normal = random.Random(3).gauss, random.Random(3).normalvariate
    seeded = [np.random.default_rng(3).normal(size=300), np.random.RandomState(3).normal(size=300)]
    seeded += [np.array([each(0.0, 1.0) for _ in range(300)]) for each in (gauss, normal)]
    seeded += [draw(0.0, 1.0, 300, Generator().manual_seed(4))]  # or by the next step
    assert [_predict({3: noise})["predicted"] for noise in seeded] == pytest.approx([1.0] * 5)
    assert _predict({3: np.random.default_rng(9).normal(size=300)})["predicted"] < 0.9


def test_records_count_as_often_as_they_are_included():
    """One of ten records is in all of ten batches: mean 1, standard deviation 3."""
    said = _inclusions(BatchEvidence(10, ((1, 10),), inclusions=((0, 9), (10, 1))), 0.1, True)[1]
    assert "0 to 10 times, with mean 1 and standard deviation 3;" in said


def test_the_batches_of_a_shuffled_epoch_are_rounded():
    claim = TrainingClaim(sampling="shuffled", batch=15, noise_multiplier=1.0, steps=7, clip=1.0)
    assert accounting.epsilon_of_claim(claim, 100) == epsilon_bracket(ShuffledEpochs(1.0, 7), claim.delta)[0]


def test_central_sizes_hold_half():
    for records, rate in ((400, 0.1), (10, 0.9), (1000, 0.0005)):
        (low, high), chance = central_sizes(records, rate, records)
        law = stats.binom(records, rate)
        assert chance == pytest.approx(law.cdf(high) - law.cdf(low - 1))
        assert chance >= 0.5
        assert law.cdf(high - 1) - law.cdf(low) < 0.5 or high - low <= 1


def test_totals_of_truncated_batches_by_enumeration():
    """Three sizes of at most 4, of 12 records at rate 0.3: their sum by convolution."""
    one = stats.binom.pmf(np.arange(5), 12, 0.3)
    one[-1] = stats.binom.sf(3, 12, 0.3)
    three = np.convolve(np.convolve(one, one), one)
    for total in range(13):
        sizes = tuple(sorted(Counter([total // 3, (total + 1) // 3, (total + 2) // 3]).items()))
        due = min(1.0, 2 * min(three[: total + 1].sum(), three[total:].sum()))
        assert _total_pvalue(BatchEvidence(12, sizes), 0.3, 4) == pytest.approx(due, abs=1e-12)


def test_multiples_as_sizes_and_neighbors_by_hand():
    """Of 3 records at 1/2, an even number is there with probability 1/2; of two pairs, both records with 1/4 each."""
    batches = BatchEvidence(3, sizes=((2, 4),), inclusions=((2, 2), (4, 1)), together=(4, 0))
    told = {found.part: found.pvalue for found in batch_findings(replace(CLAIM, rate=0.5), batches)}
    assert told["multiples as batch sizes"] == min(1.0, 63 * 0.5**4)
    assert told["records that enter together"] == pytest.approx(2 * min(2 * 0.25**4, 2 * 0.75**4))
    divided = replace(batches, sizes=((2, 40),), together=(20, 0))
    told = {found.part: found.pvalue for found in batch_findings(replace(CLAIM, rate=0.5), divided)}
    assert told["multiples as batch sizes"] == pytest.approx(63 * 0.5**40)


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize(
    ("rate", "cut", "part"),
    [
        (RATE, 44, None),
        (RATE, 42, "smallest and largest batch"),
        (RATE, RECORDS, "size of the batches"),
        (1.2 * RATE, 44, "sampling rate"),
        (0.8 * RATE, 44, "sampling rate"),
    ],
)
def test_truncated_batches(rate, cut, part):
    """Null: the claimed batches at the shared level of 1e-9; a fault has a p-value below it."""
    event = dp_event.SelfComposedDpEvent(dp_event.TruncatedSubsampledGaussianDpEvent(RECORDS, RATE, 44, NOISE), STEPS)
    claim = TrainingClaim.of_event(event, clip=1.0)

    def sample(rng, step):
        return rng.permutation(np.flatnonzero(rng.random(RECORDS) < rate))[:cut]

    recorder = recorded(claim=claim, sample=sample, release=lambda noisy, batch: noisy)
    tests = batch_findings(claim, recorder.evidence().batches)
    refuted = [found.part for found in tests if found.pvalue <= 1e-9 / TESTS]
    assert part in refuted if part else not refuted
    assert accounting.epsilon_of_claim(claim, RECORDS) > accounting.epsilon_of_claim(
        replace(claim, truncation=None), RECORDS
    )


@pytest.mark.parametrize(
    ("sampling", "noise", "due"),
    [
        ({"sampling": "shuffled", "batch": 1}, 0.7, 6.53),
        ({"rate": 1e-3}, 0.7, 0.61),
        ({"sampling": "all"}, math.sqrt(1_000), GaussianLoss(1.0).epsilon(1e-5)),
    ],
)
def test_epsilon_of_a_thousand_steps(sampling, noise, due):
    """Chua et al. (2024), section 4, for noise 0.7 and 1,000 batches; in closed form without sampling, mu = 1."""
    claim = TrainingClaim(noise_multiplier=noise, steps=1_000, clip=1.0, **sampling)
    assert accounting.epsilon_of_claim(claim, 1_000) == pytest.approx(due, abs=0.005)


def test_a_fixed_size_is_poisson_sampling_of_half_the_noise():
    told = {"steps": 50, "clip": 1.0}
    fixed = TrainingClaim(sampling="fixed", batch=20, noise_multiplier=2.0, **told)
    poisson = TrainingClaim(rate=0.05, noise_multiplier=1.0, **told)
    assert accounting.epsilon_of_claim(fixed, 400) == accounting.epsilon_of_claim(poisson, 400)


def test_a_pvalue_of_batches_that_return_is_at_most_1():
    """Two records in ten batches: a quarter of the 45 pairs are the same, as the union bound says 11 times over."""
    batches = BatchEvidence(2, sizes=((1, 10),), inclusions=((5, 2),), repeated=8)
    told = {found.part: found.pvalue for found in batch_findings(replace(CLAIM, rate=0.5), batches)}
    assert told["batches that return"] == 1.0
    assert max(told.values()) <= 1


@pytest.mark.parametrize(
    ("sizes", "said"), [(((1, 10),), "every batch has 1 records"), (((0, 5), (1, 5)), "vary with")]
)
def test_the_sizes_of_poisson_batches_are_described(sizes, said):
    batches = BatchEvidence(2, sizes=sizes, inclusions=((5, 2),))
    assert any(said in found.says for found in batch_findings(replace(CLAIM, rate=0.5), batches))


def test_shuffled_epochs_may_end_with_a_smaller_batch_where_sizes_are_all_that_is_known():
    claim = TrainingClaim(noise_multiplier=1.0, steps=6, clip=1.0, sampling="shuffled", batch=4)
    recorder = training.Recorder(claim, 10)
    for size in (4, 4, 2, 4, 4, 2):
        recorder.step(size)
    assert all(found.pvalue > 0 for found in batch_findings(claim, recorder.evidence().batches))


def test_a_norm_may_be_beyond_the_bound_by_rounding_and_no_more():
    seen = Contributions()
    seen.add_norms(np.array([1.0, CLAIM.clip * (1 + ROUNDING), CLAIM.clip * (1 + 2 * ROUNDING)]), CLAIM.clip)
    assert (seen.norms, seen.beyond) == (3, 1)


def test_each_divisor_is_the_public_one():
    due = CLAIM.divisor
    for low, high, found in ((due, due, 0), (due, 2 * due, 1), (due / 2, due, 1)):
        seen = Contributions(released=2, divisors=(low, high), per_record=(1.0, 3.0))
        assert [each.part for each in release_findings(CLAIM, seen)] == ["divisor"] * found


def test_the_cells_of_a_loss():
    """Means 20 deviations apart: the loss has mean 200 and deviation 20, and 20,000 cells reach 300."""
    assert accounting.cell_width(20.0) == pytest.approx(300 / 20_000)
    assert accounting.cell_width(1.0) == 1e-3


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize(("width", "apart"), [(1, 1e-5), (3, 0.02)])
def test_ties_of_normal_numbers_keep_the_bound(width, apart):
    """Null: 1,000 samples of 100 values. A p-value of 0.1 in 160 of them has probability 1e-9 at most."""
    rng = np.random.default_rng(0)
    found = [_ties([rng.normal(size=100)], width, apart) for _ in range(1_000)]
    pvalues = np.array([ties_pvalue(*each.values()) for each in found])
    assert np.sum(pvalues <= 0.1) < 160
    assert ties_pvalue(4, 100_000, 1, 1e-12) < 1e-6
    assert ties_pvalue(100, 60_000, 3, 1e-6) < 1e-20
    assert ties_pvalue(14, 100, 2, 1e-4) == pytest.approx((100**2 / 2 * 1.6e-4**2) ** 2 / 2)  # 2 pairs of blocks apart


def test_noise_with_its_sign_turned_is_not_fresh():
    rows = np.random.default_rng(0).normal(size=(3, 1000))
    found = _closest(np.vstack([rows, -rows[1]]))
    assert found["closest_steps"] == (1, 3)
    assert found["closest"] == pytest.approx(1)
