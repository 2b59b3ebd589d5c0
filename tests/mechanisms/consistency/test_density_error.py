"""L1 errors by the aggregate sampler: against the literal estimator, closed limits and reference values.

Two-sample test: Kolmogorov-Smirnov on 600 draws a side, level 1e-7.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidArgument
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.density_error import DensityErrors, Independent
from mechanisms.consistency.density_theorems import LAWS, inverse_square, lost_mass, mean_privacy_error, printed_limit
from mechanisms.consistency.stable_counts import mean_error, noisy_counts, threshold
from mechanisms.distributions import Uniform


def literal_errors(n, epsilon, delta, draws):
    """Raw L1 errors of the estimator fitted to uniform records, by its heights: f is 1 on each cube of [0, 1)."""
    found = []
    for index in range(draws):
        X = np.random.default_rng((1, index)).random(n)
        model = CubeDensity(1, epsilon, delta, normalize=False, random_state=index).fit(X)
        cubes = math.ceil(1 / model.side_ * (1 - 1e-14))
        lengths = np.minimum(model.side_, 1 - np.arange(cubes) * model.side_)
        heights = np.array([model.counts_.get((j,), 0.0) for j in range(cubes)]) / (n * model.side_)
        inside = np.abs(1 - heights) * lengths
        found.append(float(np.sum(inside) + heights[-1] * (model.side_ - lengths[-1])))
    return np.array(found)


@pytest.mark.parametrize("delta", [0.1, 1e-6])
@pytest.mark.false_alarm(1e-07)
def test_the_aggregate_sampler_has_the_law_of_the_estimator(delta):
    """n = 400 = 20^2, so that cubes fit into [0, 1] and sub-cubes are exact."""
    literal = literal_errors(400, 1.0, delta, 600)
    aggregate = DensityErrors(Independent(Uniform()), 400, 1.0, math.log(delta)).sample(600, np.random.default_rng(2))
    assert stats.ks_2samp(literal, aggregate[:, 0]).pvalue > 1e-7
    wrong = DensityErrors(Independent(Uniform()), 400, 0.5, math.log(delta)).sample(600, np.random.default_rng(2))
    assert stats.ks_2samp(literal, wrong[:, 0]).pvalue < 1e-7


@pytest.mark.parametrize("count", [0, 1, 5, 7, 8, 60])
@pytest.mark.false_alarm(2e-09)
def test_mean_error_of_a_count(count):
    """Null: the closed form. 200,000 draws, six standard errors: 2e-9 each; the threshold is 6.99."""
    log_delta = math.log(0.1)
    drawn = np.abs(noisy_counts(np.full(200_000, count), 1.0, log_delta, np.random.default_rng(count)) - count)
    assert abs(drawn.mean() - mean_error(count, 1.0, log_delta)) <= 6 * drawn.std() / math.sqrt(200_000)


def test_threshold_takes_the_logarithm_of_delta():
    assert threshold(0.5, math.log(0.01)) == pytest.approx(4 * math.log(200) + 1)
    far = 2 * (math.log(2) * (math.sqrt(1e9) + 1) - math.log(1e9)) + 1
    assert threshold(1.0, printed_limit(10**9)) == pytest.approx(far)
    with pytest.raises(InvalidArgument, match="log_delta"):
        threshold(1.0, 0.0)


REFERENCE = [  # raw mean L1 error, epsilon = 1, delta = n^-2, by simulation before this package existed
    ("uniform", 10**5, 0.046),
    ("normal", 10**5, 0.24),
    ("cauchy", 10**6, 0.32),
    ("narrow mixture", 10**6, 0.100),
    ("pareto", 10**5, 0.70),
    ("log tail", 10**6, 0.47),
    ("normal in the plane", 10**6, 0.42),
]


@pytest.mark.parametrize(("law", "n", "value"), REFERENCE)
def test_errors_match_the_reference(law, n, value):
    drawn = DensityErrors(LAWS[law], n, 1.0, inverse_square(n)).sample(6, np.random.default_rng(3))
    assert drawn[:, 0].mean() == pytest.approx(value, rel=0.05)
    assert np.all(drawn[:, 1] <= 2 * drawn[:, 0] + 1e-9)


@pytest.mark.false_alarm(2e-09)
def test_privacy_cost_by_sums_and_by_draws_agree():
    """Null: the exact sum. 400 multinomial samples with the noise averaged; six standard errors."""
    errors = DensityErrors(LAWS["normal"], 10**4, 1.0, inverse_square(10**4))
    drawn = errors.privacy_cost(1.0, 400, np.random.default_rng(4))
    exact = mean_privacy_error("normal", 10**4, 1.0, inverse_square(10**4), 1.0)
    assert abs(drawn.mean() - exact) <= 6 * drawn.std() / 20 + 1e-9


def test_the_printed_condition_loses_mass_for_ever():
    assert lost_mass("uniform", 1.0) == pytest.approx(1)
    assert lost_mass("square root", 1.0) == pytest.approx(1 - 1 / (4 * math.log(2)), abs=1e-4)
    drawn = DensityErrors(LAWS["uniform"], 10**6, 1.0, printed_limit(10**6)).sample(3, np.random.default_rng(5))
    np.testing.assert_allclose(drawn[:, 0], 1.0)


def test_too_many_cubes_are_refused():
    with pytest.raises(InvalidArgument, match="cubes"):
        _ = DensityErrors(LAWS["cauchy"], 10**12, 1.0, inverse_square(10**12)).window
