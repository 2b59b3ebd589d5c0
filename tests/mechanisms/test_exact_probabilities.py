"""Exact probabilities of mechanisms against independent computations."""

import math
from itertools import combinations

import numpy as np
import pytest

from audit.errors import InvalidArgument
from audit.laws import GaussianLoss
from mechanisms.gaussian import analytic_deviation, gaussian_delta
from mechanisms.noisy_max import ExponentialNoisyMax, LaplaceNoisyMax
from mechanisms.parts.sparse_vector import TOP, Noise, transcript_law
from mechanisms.queries import column_sums
from mechanisms.snapping import SnappedLaplace

GRID = [(e, d) for e in (0.01, 0.25, 1.0, 5.0, 20.0) for d in (1e-12, 1e-6, 0.01, 0.5, 0.9)]


@pytest.mark.parametrize(("epsilon", "delta"), GRID)
def test_analytic_deviation_is_the_smallest_and_on_the_safe_side(epsilon, delta):
    deviation = analytic_deviation(epsilon, delta)
    assert gaussian_delta(epsilon, 1 / deviation) <= delta
    assert GaussianLoss(1 / deviation).delta(epsilon) <= delta
    assert gaussian_delta(epsilon, 1 / (deviation * (1 - 1e-6))) > delta


ANSWERS = [np.array([0.0, 0.0]), np.array([0.0, -1.3, -0.4, -7.0]), np.linspace(-30.0, 0.0, 9)]


@pytest.mark.parametrize("answers", ANSWERS, ids=len)
def test_exponential_noise_is_permute_and_flip(answers):
    """Inclusion-exclusion over the sets of rivals that are visited before and refuse."""
    accept = np.exp(answers - answers.max())
    expected = []
    for i in range(answers.size):
        rivals = np.delete(np.arange(answers.size), i)
        terms = [
            (-1) ** k / (k + 1) * np.prod(accept[list(chosen)])
            for k in range(rivals.size + 1)
            for chosen in combinations(rivals, k)
        ]
        expected.append(accept[i] * math.fsum(terms))
    found = ExponentialNoisyMax(column_sums, 1.0)._probabilities(answers)
    np.testing.assert_allclose(found, expected, rtol=1e-11)


@pytest.mark.parametrize("gap", [0.0, 0.3, 2.0, 40.0])
def test_laplace_noisy_max_of_two_has_a_closed_form(gap):
    """P(the lower of two wins) = P(difference of two Laplace > gap) = e^-gap (2 + gap) / 4."""
    found = LaplaceNoisyMax(column_sums, 1.0)._probabilities(np.array([0.0, -gap]))
    assert found[1] == pytest.approx(math.exp(-gap) * (2 + gap) / 4, rel=1e-12, abs=1e-17)


@pytest.mark.parametrize("gap", [0.0, 0.7, 3.0])
def test_one_query_has_the_closed_form_of_the_text(gap):
    """P[Lap(2) + Lap(1) > t] = (4 e^(-t/2) - e^-t) / 6 for t >= 0."""
    law = transcript_law(Noise(1.0, 0.0, 1), np.array([-gap]))
    assert law.pmf[(TOP,)] == pytest.approx((4 * math.exp(-gap / 2) - math.exp(-gap)) / 6, rel=1e-13)


def test_a_bound_beyond_the_digits_of_the_noise_is_refused():
    assert SnappedLaplace(np.asarray, 1.0, 2.0**45).bound == 2.0**45
    with pytest.raises(InvalidArgument, match="strictly between"):
        SnappedLaplace(np.asarray, 1.0, 2.0**47)
