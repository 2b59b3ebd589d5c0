"""Claims about Renyi divergences, tested by the divergence: the level of the bound, verdicts, and the record."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pytest

import audit
from audit import AddRemove, RenyiClaim, Verdict, ZeroConcentratedClaim
from audit.certificate.verify import list_problems, replay
from audit.checks.judge import PrivacyEvidence, judge
from audit.evidence.base import PrivacyTerms
from audit.extensions.divergence.evidence import DivergenceTest, _divide_runs, _split, renyi_lower_bound
from audit.statistics import bounds
from audit.statistics.independence import CallStatistics, SideCalls

PAIRS = [(np.zeros(1), np.zeros(0))]


def noisy_count(rho):
    """Return a count with the Gaussian noise that has this rho."""
    scale = 1 / math.sqrt(2 * rho)
    return lambda data, size, rng: len(data) + rng.normal(scale=scale, size=size)


def divergence_of(p, q, order):
    return float(np.log(p / q) @ p if order == 1 else np.log(p**order @ q ** (1 - order)) / (order - 1))


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 9.0])
@pytest.mark.false_alarm(1e-9)
def test_bound_of_a_divergence_holds_in_finite_samples_and_is_close_in_large_ones(order):
    """H0: the bound at level .2 is above the truth in a fifth of 300 trials of 400; 110 have probability 1e-10."""
    rng = np.random.default_rng(0)
    p, q = np.array([0.5, 0.3, 0.15, 0.05]), np.array([0.2, 0.3, 0.3, 0.2])
    true = divergence_of(p, q, order)
    many = np.round(2e5 * np.stack([p, q])).astype(int)
    drawn = (np.stack([rng.multinomial(400, law) for law in (p, q)]) for _ in range(300))
    assert sum(renyi_lower_bound(many, counts, order, 0.2) > true for counts in drawn) < 110
    assert 0.9 * true < renyi_lower_bound(many, many, order, 1e-6) < true


@pytest.mark.parametrize("order", [1.0, 2.0])
def test_both_means_of_a_bound_share_its_level(order, monkeypatch):
    levels = []
    mean = SimpleNamespace(upper_bound=lambda level: levels.append(level) or 1.0)
    mean.lower_bound = mean.upper_bound
    monkeypatch.setattr(bounds, "summarize_counts", lambda *given: mean)
    counts = np.array([[30, 10], [10, 30]])
    renyi_lower_bound(counts, counts, order, 0.2)
    assert (len(levels), math.fsum(levels)) == (2, pytest.approx(0.2))


def test_bound_is_nothing_where_the_cells_are_alike_or_one_side_has_no_outputs():
    alike = np.array([[10, 20], [10, 20]])
    assert renyi_lower_bound(alike, alike, 2.0, 0.05) == 0.0
    assert renyi_lower_bound(np.array([[9, 1], [0, 0]]), np.array([[9, 1], [0, 0]]), 2.0, 0.05) == 0.0


def test_cells_lie_between_nested_pairs_of_events_from_low_to_high_scores():
    assert _split([(7, 9, 4), (5, 3, 12), (1, 2, 17)]) == [2, 1, 6, 4, 2, 4, 1]


CLAIMS = [ZeroConcentratedClaim(0.5, relation=AddRemove()), RenyiClaim(2.0, 1.0, relation=AddRemove())]


def test_noise_a_fifth_too_small_is_refuted_by_the_divergence_alone():
    result = audit.check_privacy(noisy_count(0.6), CLAIMS[0], PAIRS, method="fixed", budget=250_000)
    assert result.verdict is Verdict.FAIL, result.reason
    assert "the Kullback-Leibler divergence of the output's law on " in result.reason
    assert "0.5-zCDP allows 0.5" in result.reason
    assert result.witness.event([0.0]).shape == (1,)


def test_direction_that_breaks_a_claim_is_named():
    """KL of a fair coin from one of probability .1 is .511, and .368 the other way round."""

    def coin(data, size, rng):
        return rng.random(size) < (0.5 if len(data) else 0.1)

    claim = RenyiClaim(1.0, 0.45, relation=AddRemove())
    result = audit.check_privacy(coin, claim, [PAIRS[0][::-1]], method="fixed", budget=160_000, workers=0)
    assert result.verdict is Verdict.FAIL, result.reason
    assert "law on right from that on left" in result.reason


@pytest.mark.parametrize("claim", CLAIMS, ids=str)
@pytest.mark.false_alarm(2e-6, seeded=True)
def test_noise_that_keeps_a_claim_exactly_passes_within_two_million_outputs(claim):
    """H0: kept exactly; confirmation 1e-6."""
    result = audit.check_privacy(noisy_count(0.5), claim, PAIRS, method="fixed")
    assert result.verdict is Verdict.PASS, result.reason
    assert result.samples <= 2_000_000


@pytest.mark.parametrize(("drawn", "runs"), [(600, 1_000), (1_000, 1_000), (200, 1_800), (0, 500)])
def test_runs_that_choose_and_those_that_test_are_within_the_budget(drawn, runs):
    session = SimpleNamespace(allowance=SimpleNamespace(budget=1_000), samples=drawn)
    few, rest = _divide_runs(session, runs)
    assert min(few, rest) >= runs // 4
    assert drawn + few + rest <= 2_000


def test_outputs_that_choose_no_test_are_part_of_the_budget():
    """The training outputs exceed the claim, and the fresh ones not at the level that a test asks for."""
    result = audit.check_privacy(noisy_count(0.52), CLAIMS[0], PAIRS, method="fixed", budget=20_000, confirmation=None)
    assert result.evidence.by(DivergenceTest) is None
    assert 30_000 < result.samples <= 40_000


@pytest.fixture(scope="module")
def certificate():
    check = audit.PrivacyCheck(name="count", mechanism=noisy_count(0.7), claim=CLAIMS[0], pairs=PAIRS, method="fixed")
    return json.loads(json.dumps(audit.run([check], budget=60_000, workers=0).certificate))


def test_refutation_is_replayed_and_a_changed_count_or_order_is_refused(certificate):
    (record,) = certificate["checks"]
    assert (record["verdict"], replay(certificate).differences) == ("FAIL", ())
    (way,) = [way for way in record["evidence"]["ways"] if way["way"] == DivergenceTest.way]
    order, way["order"] = way["order"], 7.0
    assert any("is of order 7, which the claim does not bound" in problem for problem in list_problems(certificate))
    assert replay(certificate).differences
    way["order"] = order
    way["counted"][0][3] += 1
    assert list_problems(certificate)


def test_noise_shared_within_calls_is_no_divergence():
    """Outputs of a call that share their noise are not independent: nothing is refuted by them."""

    def shared(data, size, rng):
        return len(data) + rng.normal(scale=0.9) + 0.4 * rng.normal(size=size)

    result = audit.check_privacy(shared, CLAIMS[0], PAIRS, method="fixed", budget=60_000)
    assert result.verdict is Verdict.INCONCLUSIVE, result.reason


CELLS = tuple(range(100, 3_900, 200))


def of_calls(squares):
    """The test of counts from calls whose squares have this sum; without it, of calls of one output."""
    side = SideCalls(40, 800, 800, squares, squares, 0) if squares else SideCalls(0, 0, 0, 0, 0, 0)
    calls = CallStatistics(1_000 if squares else 1, side, side)
    return DivergenceTest(0, 2.0, "left", "upper", "lower", *[(CELLS, CELLS[::-1])] * 2, calls)


@pytest.mark.parametrize(
    ("claimed", "anomalies", "squares", "said"),
    [
        (0.05, {}, 0, "is >= 1.71"),
        (5.0, {}, 0, "not refuted"),
        (0.05, {"state": 1}, 0, "depend on earlier calls"),
        (0.05, {}, 400_000, "more alike than those of different calls"),
    ],
)
def test_a_divergence_refutes_where_it_exceeds_the_claim_of_independent_outputs(claimed, anomalies, squares, said):
    evidence = PrivacyEvidence(10**6, (of_calls(squares),), anomalies)
    found = judge(PrivacyTerms(RenyiClaim(2.0, claimed)), evidence, 0.05)
    assert said in found.reason
    assert found.verdict is (Verdict.FAIL if ">=" in said else Verdict.INCONCLUSIVE)


def test_the_bound_counts_as_many_outputs_as_independent_ones_would_tell():
    alike, others = (of_calls(squares).lower_bound(0.05) for squares in (20_000, 80_000))
    assert alike > others  # calls that are alike, and some that are not
