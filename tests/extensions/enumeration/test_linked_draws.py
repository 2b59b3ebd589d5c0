"""Comparisons of unknown numbers: brackets hold the known probabilities, and all draws that are linked stay linked."""

import math
from fractions import Fraction

import numpy as np
import pytest

import audit
from audit.extensions.enumeration import exponential_sums, linked_draws
from audit.extensions.enumeration.linked_draws import Edge, Group, Region, probability

SCORES = (3.0, 1.0, 4.0, 2.0)


def bracket_of(*parts):
    low, high = (Fraction(end, exponential_sums.ONE) for end in probability(Region(*parts)))
    assert 0 <= high - low < Fraction(1, 10**24)
    return float(low)


def less(low, high, ratio=1, shift=0):
    return Edge(low, high, Fraction(ratio), Fraction(shift))


@pytest.mark.parametrize(
    ("kinds", "edges", "truth"),
    [
        (("laplace",) * 2, (less(0, 1, 1, 3),), math.exp(-3) * 5 / 4),
        (("laplace",) * 2, (less(1, 0, 1, -3),), 1 - math.exp(-3) * 5 / 4),
        (("laplace",) * 3, (less(0, 1), less(1, 2)), 1 / 6),
        (("exponential",) * 2, (less(0, 1, 2),), 1 / 3),
        (("exponential",) * 2, (less(1, 0, 1, Fraction(1, 2)),), math.exp(-0.5) / 2),
        (("-exponential",) * 2, (less(0, 1, 1, Fraction(1, 2)),), math.exp(-0.5) / 2),
        (("exponential", "uniform"), (less(0, 1),), math.exp(-1)),
        (("uniform",) * 2, (less(0, 1, 1, Fraction(1, 4)),), 0.75**2 / 2),
        (("uniform", "-uniform"), (less(0, 1, 1, Fraction(-3, 2)),), 7 / 8),
        (("uniform",) * 4, (less(0, 1), less(1, 2), less(2, 3)), 1 / 24),
        (("uniform",) * 4, (less(0, 3), less(1, 3), less(2, 3)), 1 / 4),
        (("gumbel",) * 3, (less(0, 2, 1, 1), less(1, 2, 1, 2)), 1 / (1 + math.e + math.e**2)),
        (("gumbel",) * 3, (less(0, 1), less(1, 2)), 1 / 6),
        (("gumbel",) * 2, (less(0, 1, 1, 300),), 0.0),
        (("laplace",) * 4, (less(0, 1), less(2, 3)), 1 / 4),
    ],
)
def test_probabilities_by_hand(kinds, edges, truth):
    assert bracket_of(kinds, edges) == pytest.approx(truth, abs=1e-15)


@pytest.mark.parametrize("kind", ["laplace", "exponential", "gumbel", "uniform"])
def test_known_numbers_are_in_their_region(kind):
    region = Region((kind,) * 4, (less(0, 1), less(2, 1, 1, Fraction(-1, 2)), less(1, 3, 1, Fraction(1, 8))))
    group = Group(["a", "b", "c", "d"], region)
    for share in (0, Fraction(1, 3), 1):
        found = [group.value(member, Fraction(share)) for member in group.members]
        assert all(edge.ratio * found[edge.low] + edge.shift < found[edge.high] for edge in region.edges)


def noisy_max(law, scale):
    return lambda data, rng: int(np.argmax(np.array(data) + getattr(rng, law)(0, scale, size=len(data))))


def held_by(law, truth):
    """Test whether the bracket of each output holds its true probability, up to the rounding of the truth."""
    assert law.behind == ()
    assert law.residual < 1e-11
    return all(
        float(low) - 4e-16 <= truth[output] <= float(low + law.residual) + 4e-16
        for output, low in law.probabilities.items()
    )


def test_gumbel_noise_is_the_exponential_mechanism():
    weights = [math.exp(score / 2) for score in SCORES]
    law = audit.enumerate_law(noisy_max("gumbel", 2.0), SCORES)
    assert held_by(law, [weight / math.fsum(weights) for weight in weights])


def test_laplace_noise_of_two_scales():
    """P(a X + s < b Y) = (b^2 e^(-s/b) - a^2 e^(-s/a)) / 2 (b^2 - a^2) for s >= 0."""
    law = audit.enumerate_law(lambda data, rng: bool(1 + rng.laplace(0, 2.0) < rng.laplace(0, 4.0)), 0)
    above = (16 * math.exp(-1 / 4) - 4 * math.exp(-1 / 2)) / (2 * 12)
    assert held_by(law, {True: above, False: 1 - above})


def test_a_noisy_maximum_keeps_its_claim():
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    pairs = [((1.0, 0.0, 1.0), (0.0, 1.0, 0.0))]
    for scale, verdict in ((2.0, "PASS"), (1.0, "FAIL")):
        result = audit.check_privacy(audit.per_call(noisy_max("laplace", scale)), claim, pairs, method="enumerate")
        assert (result.verdict.value, result.basis) == (verdict, "proof")


def without_a_trace(data, rng):
    first, second = rng.laplace(), rng.laplace()
    if first < second:
        pass
    is_tail = rng.random() < 0.5  # a draw at which no frame tells the two ways apart, but by what is known of `first`
    return is_tail, bool(first < rng.laplace())


def test_what_is_known_of_a_draw_is_part_of_the_state():
    law = audit.enumerate_law(without_a_trace, 0)
    assert held_by(law, {(tail, is_less): 1 / 4 for tail in (True, False) for is_less in (True, False)})


def test_equal_sums_are_left_over():
    """With steps of 1 in sums beyond 2^52, the two are equal with some probability, and nothing is said of it."""
    law = audit.enumerate_law(lambda data, rng: bool(rng.laplace() + 2.0**52 < rng.laplace() + 2.0**52), 0)
    assert law.residual > Fraction(1, 4)


def test_a_margin_is_needed_for_rounding(monkeypatch):
    """Without one, the two orders of sums that may be equal are told apart."""
    monkeypatch.setattr(linked_draws, "_UNIT", Fraction(0))
    law = audit.enumerate_law(lambda data, rng: bool(rng.laplace() + 2.0**52 < rng.laplace() + 2.0**52), 0)
    assert law.residual < 1e-10 or law.behind


def test_not_too_many_are_compared(monkeypatch):
    monkeypatch.setattr(linked_draws, "_MOST", 3)
    law = audit.enumerate_law(lambda data, rng: max(rng.random() for _ in range(4)) < 2, 0)
    assert any("more than 3 numbers" in reason for reason in law.not_followed)
