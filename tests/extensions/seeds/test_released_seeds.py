"""A released seed gives the answer away; an integer that is no seed does not.

Runs are seeded. A FAIL here is certain: the rest of a value without the noise of its seed is the answer.
"""

import random

import numpy as np
import pytest

import audit
from audit import PrivacyClaim, Verdict, per_call
from audit.extensions.seeds.scorer import Seeds
from audit.outputs.encode import encode
from audit.scorers import Training

PAIR = (np.array([0.1234567]), np.array([0.7654321]))


def audited(mechanism, budget="auto", tolerance=None):
    """By the game alone: followed noise says nothing of the values that come again."""
    settings = dict(budget=budget, tolerance=tolerance, method="fixed", workers=0)
    return audit.check_privacy(mechanism, PrivacyClaim(1.0), [PAIR], **settings)


def of_numpy(data, rng):
    seed = int(rng.integers(2**31))
    return {"seed": seed, "value": float(data.sum() + np.random.default_rng(seed).laplace())}


def of_numpy_of_old(data, rng):
    seed = int(rng.integers(2**31))
    return float(3 * np.random.RandomState(seed).normal() + data.sum()), seed


def of_python(data, rng):
    seed = int(rng.integers(2**40))
    return {"config": {"random_state": seed}, "value": float(data.sum() + 2 * random.Random(seed).gauss(0, 1))}


@pytest.mark.parametrize("leak", [of_numpy, of_numpy_of_old, of_python])
@pytest.mark.false_alarm(1e-9)
def test_a_released_seed_is_a_leak(leak):
    result = audited(per_call(leak), budget=4_000, tolerance=1.5)
    assert result.verdict is Verdict.FAIL
    assert "seed" in result.witness.text


def test_an_integer_that_is_no_seed_passes():
    def honest(data, rng):
        return {"seed": int(rng.integers(2**31)), "value": float(data.sum() + rng.laplace())}

    assert audited(per_call(honest), budget=20_000, tolerance=1.5).verdict is Verdict.PASS


def test_scores_abstain_on_outputs_of_another_shape():
    rng = np.random.default_rng(0)
    sides = [encode(per_call(of_numpy)(side, 500, rng), 500) for side in PAIR]
    scores = Seeds().propose(Training(*sides, per_call(of_numpy), PAIR))
    assert scores
    for strange in (np.zeros(7), np.zeros((7, 5)), ["a"] * 7):
        assert all(score(encode(strange, 7)).shape == (7,) for score in scores)
