"""Continuous draws: what is known of a comparison, and what is left over, hold the exact probability between them."""

import math

import pytest

import audit


def cdf_gumbel(x):
    return math.exp(-math.exp(-x))


@pytest.mark.parametrize(
    ("function", "truth"),
    [
        (lambda data, rng: rng.laplace() < 1, 1 - math.exp(-1) / 2),
        (lambda data, rng: rng.laplace(1, 2) <= -3, math.exp(-2) / 2),
        (lambda data, rng: -rng.laplace() > 1, math.exp(-1) / 2),
        (lambda data, rng: abs(rng.laplace()) < 1, 1 - math.exp(-1)),
        (lambda data, rng: rng.laplace() < -30, math.exp(-30) / 2),
        (lambda data, rng: rng.laplace() < 2.0**-40, (1 + 2.0**-40) / 2),
        (lambda data, rng: rng.exponential(2.0) < 1, 1 - math.exp(-0.5)),
        (lambda data, rng: rng.standard_exponential() > 20, math.exp(-20)),
        (lambda data, rng: math.exp(-rng.exponential()) < 0.25, 0.25),
        (lambda data, rng: rng.logistic(1, 2) < 0, 1 / (1 + math.exp(0.5))),
        (lambda data, rng: rng.gumbel() < 0.5, cdf_gumbel(0.5)),
        (lambda data, rng: rng.gumbel() < -3, cdf_gumbel(-3)),
        (lambda data, rng: round(rng.laplace()) == 0, 1 - math.exp(-0.5)),
        (lambda data, rng: math.floor(rng.exponential()) == 3, math.exp(-3) - math.exp(-4)),
    ],
)
def test_comparisons_bracket_the_law(function, truth):
    law = audit.enumerate_law(lambda data, rng: bool(function(data, rng)), None)
    found, rounding = float(law.probabilities[True]), 4 * math.ulp(truth)
    assert law.behind == ()
    assert found - rounding <= truth <= found + float(law.residual) + rounding
    assert law.residual < 1e-13


def test_two_comparisons_of_one_draw_agree():
    law = audit.enumerate_law(lambda data, rng: (lambda x: (x < 0, x < 1))(rng.laplace()), None)
    assert set(law.probabilities) == {(True, True), (False, True), (False, False)}


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda data, rng: rng.laplace(), "for the output"),
        (lambda data, rng: rng.normal() < rng.normal(), "for comparison with another draw"),
        (lambda data, rng: f"{rng.laplace():.1f}", "for format"),
        (lambda data, rng: rng.standard_t(3) < 0, "Generator.standard_t"),
    ],
)
def test_what_needs_the_number_is_refused(function, said):
    law = audit.enumerate_law(function, None)
    assert law.residual == 1
    assert any(said in reason for reason in law.not_followed)


def test_rounded_laplace_noise_has_a_law():
    """Its law at d is that of round(d + L), which keeps epsilon = 1; what is left over is stated."""
    claim = audit.PrivacyClaim(1.0, relation=audit.Local())
    rounded = audit.per_call(lambda data, rng: round(data + rng.laplace()))
    result = audit.check_privacy(rounded, claim, [(0, 1)], method="enumerate", workers=0)
    assert (result.verdict.value, result.basis) == ("PASS", "proof")
    assert "proved up to delta" in result.reason


def test_rejection_on_a_stream_of_bytes_leaves_nothing():
    def die(sides, stream):
        while (byte := stream.read(1)[0]) >= 256 - 256 % sides:
            pass
        return byte % sides

    law = audit.enumerate_law(die, 6, rng="bytes")
    assert (law.residual, law.states) == (0, 2)
    assert {str(probability) for probability in law.probabilities.values()} == {"1/6"}
    assert audit.enumerate_law(lambda data, stream: stream.read(), 0, rng="bytes").residual == 1
