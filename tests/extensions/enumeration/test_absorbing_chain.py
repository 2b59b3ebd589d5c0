"""Expected visits of chains, against chains that are solved by hand."""

import math
from fractions import Fraction

import pytest

from audit.extensions.enumeration.absorbing_chain import EXACT, expected_visits, rounded_down
from audit.extensions.enumeration.enumerated_law import EnumeratedLaw, bracket_exponential, delta_bracket

# 0 -> 1 -> 2 -> 0 with probability 1/2 each, and 1 -> 1 with 1/4. Visits: v0 = 1 + v2/2, v1 = v0/2 + v1/4, v2 = v1/2,
# so v1 = 2/3 v0, v2 = 1/3 v0, v0 = 1 + v0/6 = 6/5.
LOOPS = [[(1, 1, 2)], [(2, 1, 2), (1, 1, 4)], [(0, 1, 2)]]
SOLVED = [Fraction(6, 5), Fraction(4, 5), Fraction(2, 5)]


def test_nested_loops_are_solved_exactly():
    assert expected_visits(LOOPS, EXACT) == SOLVED


@pytest.mark.parametrize("bits", [8, 64, 256])
def test_rounding_gives_lower_bounds(bits):
    numbers = rounded_down(bits)
    for exact, rounded in zip(SOLVED, expected_visits(LOOPS, numbers), strict=True):
        assert 0 <= exact - numbers.back(rounded) <= Fraction(20, 2**bits)


def test_what_is_never_left_has_no_visits_that_matter():
    assert expected_visits([[(1, 1, 1)], [(1, 1, 1)]], EXACT)[0] == 1


def test_a_grid_without_returns_is_solved_from_its_end():
    """Of n + 1 states a step, each is met with its binomial probability; no elimination adds an edge."""
    number = {at: place for place, at in enumerate((step, up) for step in range(30) for up in range(step + 1))}
    edges = [[(number[step + 1, up + more], 1, 2) for more in (0, 1) if step < 29] for step, up in number]
    visits = expected_visits(edges, EXACT)
    assert [visits[number[29, up]] for up in range(30)] == [Fraction(math.comb(29, up), 2**29) for up in range(30)]


@pytest.mark.parametrize("epsilon", [1e-300, 1e-9, 0.1, 1.0, 3.7, 40.0])
def test_the_exponential_is_bracketed(epsilon):
    low, high = bracket_exponential(epsilon)
    assert low < high <= low * (1 + Fraction(1, 2**190))
    terms, term, number = Fraction(1), Fraction(1), 0
    while term > Fraction(1, 2**260):  # partial sums of the series, far beyond the precision of the bracket
        number += 1
        term *= Fraction(epsilon) / number
        terms += term
    assert low <= terms + 2 * term
    assert terms <= high


def law(table, residual=0):
    return EnumeratedLaw(dict(table), Fraction(residual), dict(table), 1, 1)


def test_delta_is_bracketed_by_hand():
    """P = (3/4, 1/4) and Q = (1/4, 3/4): at e^0 the excess is 1/2; with residuals 1/8 it is between."""
    above = law({"a": Fraction(3, 4), "b": Fraction(1, 4)})
    below = law({"a": Fraction(1, 4), "b": Fraction(3, 4)})
    assert delta_bracket(above, below, 0.0) == (Fraction(1, 2), Fraction(1, 2))
    less = law({"a": Fraction(5, 8), "b": Fraction(1, 4)}, Fraction(1, 8))
    assert delta_bracket(less, below, 0.0) == (Fraction(3, 8), Fraction(1, 2))
    fewer = law({"a": Fraction(1, 8), "b": Fraction(3, 4)}, Fraction(1, 8))
    assert delta_bracket(above, fewer, 0.0) == (Fraction(1, 2), Fraction(5, 8))
    unknown = law({}, Fraction(1, 2))  # half of P may lie there
    assert float(delta_bracket(above, unknown, 0.5)[0]) == pytest.approx(1 - math.exp(0.5) / 2)


@pytest.mark.parametrize("numbers", [EXACT, rounded_down(64)])
def test_a_state_that_returns_to_itself_alone_is_visited_more_than_once(numbers):
    """By hand: 1 / (1 - 1/2), by two edges of a quarter each, and half of that leaves for the next state."""
    visits = expected_visits([[(0, 1, 4), (0, 1, 4), (1, 1, 4)], []], numbers)
    assert [numbers.back(number) for number in visits] == [2, Fraction(1, 2)]
