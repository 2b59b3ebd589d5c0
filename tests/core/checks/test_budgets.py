"""A budget is computed: suites of any size pass at the defaults, and what cannot pass says what would do."""

import time
from dataclasses import replace

import numpy as np
import pytest

import audit
from audit import GaussianClaim, PrivacyClaim, Verdict, per_call
from audit.evidence.base import PrivacyTerms
from audit.evidence.session import Split, plan_outputs
from audit.statistics.bounds import blind_spot, game_resolution
from audit.validate import EFFORTS
from tests.core.mechanisms import laplace

PAIRS = [(np.zeros(3), np.array([1.0, 0.0, 0.0]))]


@pytest.mark.parametrize("checks", [1, 8, 30, 100, 300])
@pytest.mark.parametrize("claim", [PrivacyClaim(0.1), PrivacyClaim(1.0), PrivacyClaim(4.0), PrivacyClaim(1.0, 1e-5)])
@pytest.mark.parametrize("pairs", [1, 5, 60])
def test_the_computed_budget_resolves_the_claim(checks, claim, pairs):
    """Whatever the number of checks: the runs are there, resolve the claim, and the training shows rare events."""
    terms, significance = PrivacyTerms(claim), 0.05 / checks
    budget, runs = plan_outputs(terms, significance, pairs)
    split = Split.of(budget, pairs, epsilon=claim.epsilon)
    aside = (pairs - 1) * split.early * split.call  # those of the pair that is chosen certify
    drawn = pairs * split.training + aside + sum(split.more) + 3 * split.call
    assert 2 * (budget - drawn) >= runs
    assert game_resolution(*claim.point, runs, significance) <= terms.allowed_epsilon(claim.point)
    assert blind_spot(split.training) <= 0.01


def test_a_tight_mechanism_passes_at_the_defaults_among_300():
    shares = {"significance": 0.05 / 300, "workers": 0, "method": "fixed"}
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), PAIRS, **shares)
    assert result.verdict is Verdict.PASS, result.reason
    assert result.resolution <= 1.25


def test_a_named_budget_is_a_tolerance():
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), PAIRS, budget="quick", workers=0, method="fixed")
    assert result.verdict is Verdict.PASS, result.reason
    assert result.check.tolerance == 0.5
    assert 1.4 < result.resolution <= 1.5


def slow(data, rng):
    time.sleep(0.004)
    return data.sum() + rng.laplace()


def test_what_takes_too_long_says_what_would_do(monkeypatch):
    """The cost of an output is measured before the budget is spent; sleeping makes it at least 4 ms."""
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], seconds=6.0))
    result = audit.check_privacy(per_call(slow), PrivacyClaim(1.0), PAIRS, budget="quick", workers=0, method="fixed")
    assert result.verdict is Verdict.INCONCLUSIVE
    budget, seconds = result.evidence.need
    assert f"use budget={budget:.0f}, which takes about " in result.reason
    assert budget == plan_outputs(PrivacyTerms(PrivacyClaim(1.0), 0.5), 0.05, 1)[0]
    assert seconds >= 0.004 * 2 * budget * 0.9
    assert result.samples < 0.1 * 2 * budget


class SlowAtFirst:
    """Noise whose first call takes long, as on a machine that was busy for a moment."""

    calls = 0

    def __call__(self, data, size, rng):
        self.calls += 1
        time.sleep(0.05 if self.calls == 2 else 0.0)  # the first call finds out how long an output is
        return laplace(data, size, rng)


def test_a_pause_of_the_machine_costs_no_verdict(monkeypatch):
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], seconds=6.0))
    mechanism = SlowAtFirst()
    result = audit.check_privacy(mechanism, PrivacyClaim(1.0), PAIRS, budget="quick", workers=0)
    assert result.verdict is Verdict.PASS, result.reason
    assert mechanism.calls > 2


def test_a_budget_that_is_too_small_says_what_would_do():
    result = audit.check_privacy(laplace, PrivacyClaim(1.0), PAIRS, budget=5_000, seed=1, workers=0, method="fixed")
    assert result.verdict is Verdict.INCONCLUSIVE
    (budget,) = result.evidence.need
    said, tolerance = result.reason.split(" or tolerance=")
    assert said.endswith(f"use budget={budget:.0f}")
    for named, verdict in ((float(tolerance), Verdict.PASS), (float(tolerance) - 0.02, Verdict.INCONCLUSIVE)):
        asked = audit.check_privacy(
            laplace, PrivacyClaim(1.0), PAIRS, budget=5_000, tolerance=named, seed=1, workers=0, method="fixed"
        )
        assert asked.verdict is verdict, asked.reason
    again = audit.check_privacy(laplace, PrivacyClaim(1.0), PAIRS, budget=budget, workers=0, method="fixed")
    assert again.verdict is Verdict.PASS, again.reason


def test_a_curve_is_resolved_at_all_its_points():
    budget, runs = plan_outputs(PrivacyTerms(GaussianClaim(0.5), 0.5), 0.05, 1)
    for point in GaussianClaim(0.5).points:
        assert game_resolution(*point, runs, 0.05) <= point.epsilon + 0.5
    assert budget > runs / 2
