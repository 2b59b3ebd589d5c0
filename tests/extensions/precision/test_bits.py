"""The parts of doubles and the guesses behind the events: hand-computed cases."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from audit.extensions.precision import scorers as float_bits
from audit.extensions.precision.scorers import candidate_scales, guess_answers, reachable, survives_round_trip
from audit.outputs.encode import encode
from audit.scorers import Training
from audit.scorers.base import RatioTable

ULP = 2.0**-52


def training(left, right, pair=(0.0, 1.0), mechanism=None):
    return Training(encode(left, len(left)), encode(right, len(right)), mechanism, pair)


def test_low_byte():
    values = np.array([1.0, 1.0 + 5 * ULP, 0.25, 1 / 3, 5e-324, -0.0])
    assert float_bits.low_bytes(values)[:3].tolist() == [0, 5, 0]


def test_round_trip():
    # near 0.25 doubles are 2^-54 apart; 1 + n is a multiple of 2^-53 there, since n lies in [-1, -0.5)
    assert survives_round_trip(np.array([0.25 + 2.0**-53]), 1.0)[0]
    assert not survives_round_trip(np.array([0.25 + 2.0**-54]), 1.0)[0]


@pytest.mark.parametrize("constant", [0.0, 1.0, 5.3, 1000.0])
@pytest.mark.parametrize("draw", ["normal", "laplace"])
def test_a_sum_survives_its_own_round_trip(constant, draw):
    noise = getattr(np.random.default_rng(1), draw)(scale=10.0, size=20_000)
    assert survives_round_trip(constant + noise, constant).all()


@pytest.mark.parametrize(("constant", "scale"), [(0.0, 10.0), (5.3, 1.0), (1000.0, 10.0), (-2.0, 0.3)])
def test_numpys_laplace_is_reachable_from_its_own_answer(constant, scale):
    drawn = np.random.default_rng(2).laplace(constant, scale, 10_000)
    assert reachable(drawn, constant, scale).all()
    assert reachable(drawn, constant + scale / 7, scale).mean() < 1


def test_the_scale_is_guessed():
    rng = np.random.default_rng(3)
    sides = training(rng.laplace(0, 10, 500), rng.laplace(1, 10, 500))
    answers = guess_answers(sides)[0]
    columns = [side.numbers[:, None] for side in (sides.left, sides.right)]
    assert 10.0 in candidate_scales(columns, answers, 0.1)
    assert candidate_scales([np.zeros((4, 1))] * 2, answers, 0.1) != [10.0]


def test_answers_are_guessed_from_the_data_the_outputs_and_the_query():
    rng = np.random.default_rng(4)
    left, right = np.array([1.0, 0.0, 0.5]), np.array([0.0, 0.0, 0.5])
    asked = SimpleNamespace(query=lambda data: 3 * data[0] + 0.1)
    sides = training(rng.laplace(57, 1, 200), rng.laplace(58, 1, 200), (left, right), asked)
    found = {(float(a.left), float(a.right)) for a in guess_answers(sides)}
    assert {(1.5, 0.5), (0.5, 0.5 / 3), (57.0, 58.0), (0.0, 1.0), (3.1, 0.1)} <= found


def test_a_guess_that_raises_or_fits_no_output_is_left_out():
    asked = SimpleNamespace(query=lambda data: data.nothing)
    sides = training(np.zeros((4, 2)), np.zeros((4, 2)), ("text", None), asked)
    assert all(guess.left.shape in ((), (2,)) for guess in guess_answers(sides))


def test_codes_and_their_ratios():
    table = RatioTable.fit(np.array([1, 1, 1, 2]), np.array([2, 2, 2, 2]))
    ratios = table(np.array([1, 2, 99]))
    assert ratios[0] == pytest.approx(math.log(3.5 / 0.5))
    assert ratios[1] == pytest.approx(math.log(1.5 / 4.5))
    assert ratios[2] == 0
