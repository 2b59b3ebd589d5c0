"""Logarithms and roots of numbers that are not known yet split at the thresholds that the C library makes."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import sources
from audit.extensions.enumeration.deferred import ROUGH, Deferred, cut
from audit.extensions.enumeration.following import Follower

pytestmark = pytest.mark.filterwarnings("ignore:divide by zero")
UNIT = Fraction(1, 2**53)


def below(function, threshold):
    """Return the probability that the function of a uniform is below a threshold, by bisection on its own values."""
    low, high = 1, 2**53
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if function(middle * 2.0**-53) < threshold else (low, middle)
    return low * UNIT


@pytest.mark.parametrize("threshold", [-30.0, -1.0, -0.1, -1e-9])
@pytest.mark.parametrize("function", [np.log, np.log2, np.log10])
def test_the_threshold_is_the_one_of_the_library(function, threshold):
    law = audit.enumerate_law(lambda data, rng: bool(function(rng.random()) < threshold), None)
    assert law.probabilities[True] == below(function, threshold)
    assert (law.behind, law.residual) == ((), 0)


def test_python_raises_where_there_is_no_logarithm():
    law = audit.enumerate_law(lambda data, rng: math.log(rng.random()) < -1, None)
    assert law.texts["raised ValueError: math domain error"] == UNIT
    assert law.texts["True"] == below(math.log, -1.0) - UNIT


def test_the_sources_own_code_is_followed():
    law = audit.enumerate_law(lambda data, rng: rng.expovariate(2.0) < 0.5, None, rng="random")
    assert float(law.probabilities[True]) == pytest.approx(1 - math.exp(-1), abs=1e-15)


def test_a_geometric_variable_by_inversion():
    law = audit.enumerate_law(lambda data, rng: math.floor(-math.log(1 - rng.random()) / 0.5), None)
    assert [float(law.probabilities[k]) for k in range(5)] == pytest.approx(
        [(1 - math.exp(-0.5)) * math.exp(-0.5 * k) for k in range(5)], abs=1e-15
    )
    assert max(law.probabilities) == math.floor(-math.log(2.0**-53) / 0.5)  # and no larger value has any probability


def test_infinity_is_an_output_of_its_own():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        law = audit.enumerate_law(lambda data, rng: float(np.floor(-np.log(rng.random()) / 8)), None)
    assert law.probabilities[math.inf] == UNIT
    assert law.residual == 0


def test_a_function_that_falls_back_near_the_threshold_leaves_points_over():
    """As a library might round: the value at k and at k + 1 are exchanged for every even k."""

    def uneven(value):
        return math.log(1 + (int(value * 2**53) ^ 1) * 2.0**-53)

    number = Deferred(sources.uniform(Follower())._draw, ((f"{ROUGH}log", uneven, None),))
    sure, possible = cut(number, lambda value: value < math.log(1.25))
    assert sure * UNIT < Fraction(1, 4) < possible * UNIT
    assert possible - sure < 64


FLAT = 2.0**-20


def flat(value, other):
    """Return a power that falls back by an ulp over every other one of 2^36 cells, as a library may round."""
    found = value**other
    return found - 2.0**-52 if int(value * 2**36) % 2 else found


def of_flat(data, rng):
    return bool(rng.random() ** FLAT < 0.5**FLAT)


def test_flat_functions_leave_over_what_the_library_may_have_rounded():
    """Thousands of points next to a threshold look alike, and behind them the power is below it again."""
    number = Deferred(sources.uniform(Follower())._draw, ((f"{ROUGH}pow", flat, FLAT),))
    sure, possible = (at * 2.0**-53 for at in cut(number, lambda value: value < 0.5**FLAT))
    above, below = 0.5 + 2.0**-37, 0.5 + 3 * 2.0**-37
    assert flat(below, FLAT) < 0.5**FLAT <= flat(above, FLAT)
    assert sure < above < below < possible < 0.5 + 1e-7


def test_flat_functions_have_a_bracket():
    law = audit.enumerate_law(of_flat, None)
    assert 0 < law.residual < Fraction(1, 10**7)
    assert law.probabilities[True] < Fraction(1, 2) < law.probabilities[True] + law.residual


@pytest.mark.parametrize("use", [np.sin, np.tanh])
def test_other_functions_are_refused_by_name(use):
    law = audit.enumerate_law(lambda data, rng: bool(use(rng.random()) < 0.5), None)
    (reason,) = law.not_followed
    assert law.residual == 1
    assert reason.startswith(f"np.{use.__name__} of a number that is not known yet (<lambda>, line ")
