"""Inequalities, computed and sampled. Sampled ones use significance 1e-7: a false alarm has that probability."""

import math

import pytest

import audit
from audit import Verdict
from tests.offenders import refused

LEVEL = 1e-7
PASS, FAIL, OPEN = Verdict.PASS, Verdict.FAIL, Verdict.INCONCLUSIVE


def uniform(replicates, rng):
    return rng.random(replicates)


@pytest.mark.parametrize(
    ("sense", "cases", "verdict", "says"),
    [
        ("<=", [("a", 1.0, 2.0), ("b", 0.5, 0.5)], PASS, "all 2 cases hold; the tightest is b"),
        ("<=", [("a", 1.0, 2.0), ("b", 0.51, 0.5), ("c", 0.6, 0.5)], FAIL, "2 of 3 cases break it; the worst is c"),
        ("<=", [("a", 0.5 * (1 + 1e-12), 0.5)], PASS, "hold"),
        ("<=", [("a", 0.5 * (1 + 1e-6), 0.5)], FAIL, "break"),
        ("<=", [("a", 1e-14, 0.0)], PASS, "hold"),
        ("<=", [("a", 1e-6, 0.0)], FAIL, "break"),
        ("<=", [("a", 2e-9, 1e-9)], FAIL, "break"),
        ("<=", [("a", -2.0, -1.0)], PASS, "hold"),
        ("<=", [("a", 5.0, math.inf)], PASS, "hold"),
        ("<=", [("a", math.inf, 5.0)], FAIL, "break"),
        ("<=", [("a", math.inf, math.inf)], PASS, "hold"),
        (">=", [("a", 2.0, 1.0)], PASS, "hold"),
        (">=", [("a", 0.9, 1.0)], FAIL, "break"),
        ("<=", [("a", 1.0, 2.0), ("b", math.nan, 0.5)], OPEN, "b: quantity nan"),
        ("<=", [("a", 1.0, math.nan)], OPEN, "bound nan"),
        ("<=", [], OPEN, "there is no case"),
        ("<=", [("a", 1.0)], OPEN, "(label, quantity, bound)"),
        ("<=", [("a", "many", 1.0)], OPEN, "(label, quantity, bound)"),
    ],
)
def test_computed(sense, cases, verdict, says):
    result = audit.check_inequality(lambda: cases, sense=sense)
    assert (result.verdict, result.uses) == (verdict, "stated values")
    assert says in result.reason
    assert result.basis == ("none" if verdict is OPEN else "computed")


@pytest.mark.parametrize(("value", "verdict"), [(0.30, PASS), (0.305, PASS), (0.33, FAIL), (0.27, FAIL)])
def test_equalities_hold_within_their_tolerance(value, verdict):
    result = audit.check_inequality(lambda: [("a", value, 0.3)], sense="==", tolerance=0.05)
    assert result.verdict is verdict


def test_values_that_raise_are_inconclusive():
    result = audit.check_inequality(lambda: 1 / 0)
    assert (result.verdict, result.samples) == (OPEN, 0)
    assert "values() raised ZeroDivisionError" in result.reason


@pytest.mark.parametrize(
    ("more", "verdict"),
    [
        ({"bound": 0.55}, PASS),
        ({"bound": 0.45}, FAIL),
        ({"bound": 0.5}, OPEN),
        ({"bound": 0.45, "sense": ">="}, PASS),
        ({"bound": 0.55, "sense": ">="}, FAIL),
        ({"bound": 0.5, "sense": "==", "tolerance": 0.05}, PASS),
        ({"bound": 0.4, "sense": "==", "tolerance": 0.05}, FAIL),
        ({"bound": 0.45, "sense": "==", "tolerance": 0.05}, OPEN),
        ({"bound": 0.45, "support": (0.0, math.inf)}, FAIL),
        ({"bound": 0.55, "support": (0.0, math.inf)}, OPEN),
    ],
)
@pytest.mark.false_alarm(1e-07)
def test_sampled(more, verdict):
    """The mean is 0.5; 20 000 uniform losses know it within 0.012 at this level, so that all others are decided."""
    result = audit.check_inequality(losses=uniform, significance=LEVEL, budget=20_000, seed=1, **more)
    assert (result.verdict, result.uses, result.samples) == (verdict, "simulation", 20_000)


test_what_is_refused = refused([
    ({}, "give either `values` or `losses`"),
    ({"values": list, "losses": uniform}, "either `values` or"),
    ({"values": 3}, "`values` must be callable"),
    ({"values": list, "sense": "<"}, "`sense` must be one of"),
    ({"values": list, "sense": "=="}, "sense='==' needs `tolerance`"),
    ({"values": list, "tolerance": -1.0}, "`tolerance` must"),
    ({"losses": uniform}, "`bound` must be a real number"),
    ({"losses": uniform, "bound": math.inf}, "`bound` must be finite"),
    ({"losses": uniform, "bound": 0.5, "support": (1.0, 0.0)}, "`support` must"),
    ({"losses": uniform, "bound": 0.5, "support": (-math.inf, math.inf)}, "`support` must"),
    ({"losses": uniform, "bound": 0.5, "budget": 0}, "`budget` must"),
    ({"losses": uniform, "bound": 0.5, "significance": 1.0}, "`significance` must"),
], audit.check_inequality)  # fmt: skip


def test_twelve_losses_are_enough_to_be_bounded():
    said = [audit.check_inequality(losses=uniform, bound=0.6, budget=budget).reason for budget in (11, 12)]
    assert "the budget gives 11 losses, fewer than 12" in said[0]
    assert "fewer than" not in said[1]
