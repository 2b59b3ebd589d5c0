"""Consistency, simulated and computed. Significance 1e-7: the probability of each false alarm."""

import pytest

import audit
from audit import Verdict
from tests.offenders import refused

LEVEL = 1e-7
PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE
SIZES = (100, 400, 1600, 6400)


def risk(limit, factor=1.0):
    """Binary losses around a risk of limit + factor / sqrt(n)."""

    def losses(n, replicates, rng):
        return rng.random(replicates) < limit + factor * n**-0.5

    return losses


def consistency(losses=None, **more):
    settings = {"sizes": SIZES, "bayes_risk": 0.2, "tolerance": 0.05, "budget": 80_000, "significance": LEVEL}
    return audit.check_consistency(losses, **(settings | more))


@pytest.mark.parametrize(
    ("losses", "more", "verdict", "says"),
    [
        (risk(0.2), {}, PASS, "within 0.05 of 0.2 (by simulation)"),
        (risk(0.2), {"finite_bounds": lambda n: 0.2 + 1.0 * n**-0.5}, PASS, "within"),
        (risk(0.3), {}, FAIL, "the risk at n = 6400 is at least"),
        (risk(0.2), {"finite_bounds": lambda n: 0.2 + 0.3 * n**-0.5}, FAIL, "n = 100 is at least"),
        (risk(0.2), {"tolerance": 0.012}, OPEN, "raise the budget"),
        (risk(0.2), {"tolerance": 0.05, "budget": 4_000}, OPEN, "raise the budget"),
        (risk(0.1), {}, OPEN, "below the Bayes risk"),
        (risk(0.2), {"support": lambda n: (0, float("inf"))}, OPEN, "may be inf"),
        (risk(0.2), {"finite_bounds": lambda n: float("nan")}, OPEN, "finite_bounds(100) returned nan"),
    ],
)
@pytest.mark.false_alarm(1e-07)
def test_simulated_consistency(losses, more, verdict, says):
    result = consistency(losses, **more)
    assert (result.verdict, result.uses) == (verdict, "simulation")
    assert says in result.reason


@pytest.mark.parametrize(
    ("evaluator", "more", "verdict"),
    [
        (lambda n: 0.2 + n**-0.5, {}, PASS),
        (lambda n: 0.2 + n**-0.5, {"finite_bounds": lambda n: 0.2 + n**-0.5}, PASS),
        (lambda n: 0.2 + n**-0.5, {"finite_bounds": lambda n: 0.2 + 0.99 * n**-0.5}, FAIL),
        (lambda n: 0.3 + n**-0.5, {}, FAIL),
        (lambda n: 0.19, {}, OPEN),
        (lambda n: float("nan"), {}, OPEN),
        (lambda n: None, {}, OPEN),
        (lambda n: 1 / 0, {}, OPEN),
    ],
)
def test_computed_consistency(evaluator, more, verdict):
    result = consistency(evaluator=evaluator, **more)
    assert (result.verdict, result.uses) == (verdict, "evaluator")
    assert result.basis == ("none" if verdict is OPEN else "computed")


test_what_is_refused = refused([
    ({}, "give either `losses` or `evaluator`"),
    ({"losses": risk(0.2), "evaluator": lambda n: 0.2}, "give either `losses` or `evaluator`"),
    ({"losses": 1}, "`losses` must be callable"),
    ({"losses": risk(0.2), "sizes": ()}, "`sizes` must hold at least 1"),
    ({"losses": risk(0.2), "sizes": 100}, "`sizes` must be a sequence"),
    ({"losses": risk(0.2), "sizes": (100, 100)}, "`sizes` must increase"),
    ({"losses": risk(0.2), "sizes": (0, 100)}, "`sizes` must be an integer >= 1"),
    ({"losses": risk(0.2), "support": 3}, "`support` must be"),
    ({"losses": risk(0.2), "tolerance": -1}, "`tolerance` must"),
    ({"losses": risk(0.2), "finite_bounds": 3}, "`finite_bounds` must be callable"),
], audit.check_consistency, sizes=SIZES)  # fmt: skip
