"""Labels that are only observed: the law of a proxy's labels, and a private learner that keeps its bound."""

import numpy as np
import pytest
from scipy import special

from audit.extensions.training.canaries.one_run import tail_at_a_point
from benchmarks.label_privacy.games import CIRCLE, SIGMA, draw, posterior, proxies


@pytest.mark.false_alarm(1e-8)
def test_the_proxy_that_is_the_truth_has_the_posterior():
    rng = np.random.default_rng(0)
    points, labels = CIRCLE.sample(20_000, rng)
    laws = proxies(points, rng)
    assert np.allclose(laws["the truth"].sum(axis=1), 1)
    # 20,000 labels against their own law: the mean of each class within 6 standard deviations, 4 * 2e-9
    shares = np.bincount(labels, minlength=4) / len(labels)
    assert np.abs(laws["the truth"].mean(axis=0) - shares).max() < 6 * np.sqrt(0.19 / len(labels))
    assert np.abs(laws["fitted to public data"] - laws["the truth"]).mean() < 0.01
    assert posterior(np.array([[100.0, 0.0]]), CIRCLE.centers, SIGMA).argmax() == 0


def test_labels_are_drawn_by_their_law():
    laws = np.tile([0.0, 1.0, 0.0, 0.0], (50, 1))
    assert set(draw(laws, np.random.default_rng(0))) == {1}


@pytest.mark.parametrize("proxy", [0.5, 0.45])
def test_two_records_observed_keep_their_bound(proxy):
    """Randomized response on two labels, each shown with a proxy's: the exact chance that both guesses are right."""
    epsilon = 1.0
    theta = special.expit(epsilon)
    # true law one half; output o equals the label with probability theta; the auditor guesses "shown" where z = o
    shown_right = theta  # z = y: o = z
    proxy_right = 0.5  # z by the proxy, o by the mixture: they differ half the time, whatever the proxy
    rate = (shown_right + proxy_right) / 2
    error = abs(proxy - 0.5)
    assert rate**2 <= tail_at_a_point(2, 2, 2, epsilon, error)
