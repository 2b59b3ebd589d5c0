"""The law of the statistic of local votes: its noise in closed form, its fits, and the loss that it states.

Significance 1e-8, fixed seeds.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from audit.errors import InvalidArgument
from audit.laws import Laplace
from mechanisms.learners.halves import HalvesLaw, noise_table
from mechanisms.local.classifier import LocalHistogramClassifier

POINTS = np.random.default_rng(3).random((9, 2))
LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1, 1])


def test_the_noise_of_one_user_in_each_half_is_known():
    """Laplace of scale s less half of another one: the difference of two Laplace laws of scales s and s / 2."""
    places, logs, below = noise_table(1, 1, 3.0)
    x = np.abs(places)
    exact = (3.0 * np.exp(-x / 3.0) - 1.5 * np.exp(-x / 1.5)) / (2 * (3.0**2 - 1.5**2))
    np.testing.assert_allclose(np.exp(logs), exact, atol=2e-5)
    assert below[len(x) // 2] == pytest.approx(0.5)


@pytest.mark.false_alarm(1e-08)
def test_fits_follow_the_law_and_those_with_half_the_noise_do_not():
    """Null: 1,500 statistics of nine users are i.i.d. from the law."""

    def drawn(epsilon):
        learner = LocalHistogramClassifier(epsilon, 0.5, random_state=None)
        fits = []
        for seed in range(1_500):
            learner.random_state = seed
            fits.append(learner.fit(POINTS, LABELS).statistic_)
        return np.array(fits)

    law, rng = HalvesLaw.of(POINTS, LABELS, 40.0, 0.5), np.random.default_rng(0)
    right = drawn(40.0)
    assert law.fit_pvalue(right, rng) > 1e-8
    assert law.fit_pvalue(drawn(80.0), rng) < 1e-8
    assert HalvesLaw.of(POINTS, 1 - LABELS, 40.0, 0.5).fit_pvalue(right, rng) < 1e-8
    assert np.isfinite(law.log_likelihood(right)).all()
    assert law.normal_scores(right[:, :3], rng) is None


def test_a_user_costs_epsilon_at_most_and_no_bound_is_claimed_from_below():
    found = []
    for point in ((0.1, 0.1), (0.9, 0.9), (0.5, 0.5), (0.2, 0.7)):
        for label in (0, 1):
            other = HalvesLaw.of(np.vstack([[point], POINTS[1:]]), np.r_[label, LABELS[1:]], 2.0, 0.5)
            found.append(HalvesLaw.of(POINTS, LABELS, 2.0, 0.5).loss_against(other))
    assert max(loss.epsilon(0.0) for loss in found) <= 2.0 * (1 + 1e-9)
    assert max(loss.epsilon(0.0) for loss in found) >= 0.5
    assert {loss.epsilon_lower_bound(0.0) for loss in found} == {0.0}
    worst = max(found, key=lambda loss: loss.most)
    e = math.exp(worst.most)
    assert worst.delta(0.0) == pytest.approx((e - 1) / (e + 1))


def test_other_laws_and_crowds_are_refused():
    law = HalvesLaw.of(POINTS, LABELS, 1.0, 0.5)
    with pytest.raises(InvalidArgument, match="`other` must be a law"):
        law.loss_against(Laplace(0.0, 1.0))
    with pytest.raises(InvalidArgument, match="have at most 20000 halves for the law, got 48620"):
        HalvesLaw.of(np.full((18, 1), 0.5), np.ones(18), 1.0, 0.5)
