"""Leaks finer than the cells of the output FAIL, and roughness that is equal on both sides does not.

Every leak tells the sides apart in each output, or nearly so: the bound of 174,000 certain guesses is 10.97. No leak
depends on chance, so that a FAIL is not missed. The honest mechanisms are private as claimed: each of the checks FAILs
with probability at most 0.05, the seeds are fixed, and no fine score may win with them.
"""

import math

import numpy as np
import pytest

from audit import Local, PrivacyClaim, Verdict, check_privacy
from audit.events import tuning
from audit.events.candidates import choose_events
from audit.events.thresholds import TestDesign, critical_value
from audit.outputs.encode import encode
from audit.scorers import Training
from audit.scorers.float_bits import FINE_SCORERS
from audit.scorers.float_bits.combs import Residues, Spacings, frequencies, residues, round_periods
from audit.scorers.float_bits.screened import common_grid, near_decimals, precision, significant_bits

FINE = {"residues", "low bits", "significant bits", "decimals", "floating-point class", "bits of NaN"}
CLAIM, PAIR = PrivacyClaim(1.0, relation=Local()), [(0.0, 1.0)]


def audit(mechanism, budget=100_000, claim=CLAIM, seed=0):
    return check_privacy(mechanism, claim, PAIR, budget=budget, seed=seed, workers=0)


def single_noise(answer, size, rng):
    return (0.1, 0.7)[int(answer)] + rng.laplace(size=size).astype(np.float32).astype(float)


def single_noise_on_integers(answer, size, rng):
    return answer + rng.laplace(size=size).astype(np.float32).astype(float)


def rounded_noise(answer, size, rng):
    return (0.1234567, 0.7654321)[int(answer)] + np.round(rng.laplace(size=size), 6)


def lowest_bit(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return ((words & ~np.uint64(1)) | np.uint64(int(answer))).view(float)


def shifted_odd_grid(answer, size, rng):
    return (0.3 * answer + np.round(1e3 * rng.laplace(size=size))) * (math.pi * 1e-4)


def payload(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return np.where(rng.random(size) < 0.5, np.uint64(0x7FF8000000000000 + int(answer)), words).view(float)


def in_a_vector(answer, size, rng):
    rows = rng.laplace(size=(size, 3))
    rows[:, 1] = single_noise(answer, size, rng)
    return rows


def comb(width, cells=2):
    """Cells of one width; which of them hold outputs is decided by the answer."""

    def mechanism(answer, size, rng):
        cell = np.floor(rng.laplace(size=size) / width)
        cell += (answer - cell) % cells
        return (cell + rng.uniform(0.01, 0.99, size)) * width

    return mechanism


@pytest.mark.parametrize(
    ("mechanism", "least"),
    [
        (single_noise, 10.6),
        (single_noise_on_integers, 8.0),  # the exponents of both sides overlap
        (rounded_noise, 10.6),
        (lowest_bit, 10.6),
        (shifted_odd_grid, 10.0),
        (payload, 10.0),  # half of the outputs
        (in_a_vector, 10.6),
    ],
)
def test_a_leak_in_every_output_fails_near_the_largest_bound(mechanism, least):
    result = audit(mechanism)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


@pytest.mark.parametrize(
    "width", [1e-12, 2.0**-38, 1e-9, 1e-6, 2.0**-15, math.pi * 1e-6, math.pi * 1e-3, 1e-2, 0.03, 1.0]
)
@pytest.mark.parametrize("cells", [2, 3])
def test_combs_of_any_width_fail(width, cells):
    """A quarter of the default budget; an eighth of it trains."""
    assert audit(comb(width, cells), budget=25_000).epsilon_lower_bound > 7.0


@pytest.mark.parametrize("width", [math.pi * 1e-8, math.sqrt(2) * 1e-5, 0.0123])
def test_the_search_for_periods_is_exact(width):
    """Over all outputs the phase is off by less than the last search, which counts residues, makes good."""
    rng = np.random.default_rng(0)
    sides = tuple(np.sort(comb(width)(answer, 6000, rng)) for answer in (0, 1))
    found = [1 / f for f in frequencies(Spacings(sides), tuple(side[::4] for side in sides), 2.0)]
    turns = np.ptp(np.concatenate(sides)) / (2 * width)
    assert min(abs(period / (2 * width) - 1) for period in found) * turns < tuning.UNSURE_PHASE


def textbook(answers, scale, kind=np.float64, draw="laplace"):
    def mechanism(side, size, rng):
        noise = getattr(rng, draw)(scale=scale, size=size).astype(kind)
        return (kind(answers[int(side)]) + noise).astype(kind)

    return mechanism


def snapped(answer, size, rng):
    return np.round((answer + rng.laplace(size=size)) * 1024) / 1024


def shifted_alike(answer, size, rng):
    return 0.3 + snapped(answer, size, rng)


def decimals(answer, size, rng):
    return np.round(answer + rng.laplace(size=size), 3)


def integers(answer, size, rng):
    return 1000 * answer + rng.geometric(1e-3, size) - rng.geometric(1e-3, size)


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (textbook((0, 1), 1.0), 1.0),
        (textbook((0, 1e-3), 5e-3), 0.2),  # the noise itself is rough at its last places
        (textbook((1, 2), 1 / 3, np.float32), 3.0),
        (textbook((57, 58), 20.0), 0.05),
        (textbook((0.1, 0.7), 5.0, draw="normal"), 1.0),
        *((mechanism, 1.0) for mechanism in (snapped, shifted_alike, decimals, integers)),
    ],
)
@pytest.mark.parametrize("budget", [4_000, 100_000])
def test_roughness_that_no_leak_explains_is_left_alone(mechanism, epsilon, budget):
    result = audit(mechanism, budget, PrivacyClaim(epsilon, relation=Local()))
    assert result.verdict is not Verdict.FAIL
    assert result.evidence.game.scorer not in FINE


def test_a_pass_says_what_was_looked_for():
    result = audit(textbook((0, 1), 1.0))
    looked_for = result.evidence.game.looked_for
    assert looked_for[:2] == ("thresholds", "repeated values")
    assert {"single bits of the significand", "decimals"} <= set(looked_for)
    assert not any(part.startswith("low bits") for part in looked_for)  # unless floats are audited
    assert any(
        part.startswith("grids and combs of round width down to 1e-13 and of any down to") for part in looked_for
    )
    assert ", ".join(looked_for) in "; ".join(result.scope)
    assert result.evidence.game.plants.kind == "number"


def test_where_values_are_counted_no_fine_structure_is_sought():
    game = audit(lambda answer, size, rng: (rng.random(size) < 0.5 + 0.2 * answer).astype(float)).evidence.game
    assert game.plants.kind == "counted"
    assert not any("combs" in part for part in game.looked_for)


def test_few_outputs_are_enough_to_drop_fine_scorers():
    """A score that was not seen to differ is not fitted: no candidate of it is there to win."""

    def training(mechanism):
        rng = np.random.default_rng(0)
        return Training(*(encode(mechanism(side, 2000, rng), 2000) for side in (0, 1)), None, (0, 1))

    design = TestDesign(0.0, critical_value(0.05), 4000, 16_000)
    leak = training(lowest_bit)
    assert [scorer.screen(leak).differs for scorer in FINE_SCORERS][1]
    assert choose_events(leak, design).score.name in {"low bits", "single bits of the significand"}
    assert choose_events(leak, design, fine_scorers=()).score.name not in FINE
    assert not any(scorer.screen(training(textbook((0, 1), 1.0))).differs for scorer in FINE_SCORERS)


def test_residues_by_hand():
    """Multiples of the period are in the middle of cell 0, and rounding errors do not move them."""
    assert residues(np.array([0.0, 3.0, 0.75, -0.75, 1.5]), 3.0, 4).tolist() == [0, 0, 1, 3, 2]
    grid = np.arange(-10_000, 10_000) * 1e-6
    assert np.all(residues(grid, 1e-6) == 0)
    assert np.all(residues(grid + 3e-7, 1e-6) == 19)  # 0.3 * 64 = 19.2
    assert Residues(3.0, largest=2.0)(np.array([1.5, 3.0, np.nan, np.inf])).tolist() == [32, 64, 64, 64]


def test_round_periods_lie_between_their_limits():
    found = round_periods(0.9e-3, 0.3)
    assert min(found) >= 0.9e-3
    assert max(found) <= 0.3
    assert {1e-3, 2e-3, 0.1, 0.2, 2.0**-10, 0.25} <= set(found)


def test_formats_grids_and_decimals_by_hand():
    assert significant_bits(np.array([1.0, 1.5, 0.1, 0.0])).tolist() == [1, 2, 52, 0]
    singles = np.random.default_rng(1).normal(size=100).astype(np.float32).astype(float)
    assert (precision(singles), precision(singles + 0.1)) == (24, 53)
    assert precision(np.arange(100.0)) == 53  # integers lie on a grid: nothing was rounded
    assert (common_grid(np.arange(100) / 8), common_grid(singles)) == (0.125, None)
    sums = np.array([0.1 + 0.2, 1 / 3, 12.5, math.nan])  # 0.30000000000000004 is a decimal up to its last place
    assert near_decimals(sums).tolist()[:3] == [1, 9, 1]


@pytest.mark.filterwarnings("ignore:overflow")  # of squares, which become infinite and are judged as such
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("exponent", [-1074, -1060, -1000, -901, -899, -500, 500, 999, 1001, 1023])
@pytest.mark.parametrize("shape", [(), (2,)])
def test_outputs_of_any_magnitude_are_judged(exponent, shape):
    """Sums, differences and frequencies of numbers near the ends of the range overflow; no audit ends with that."""

    def noisy(data, size, rng):
        return np.ldexp(rng.laplace(size=(size, *shape)) / 64 + data / 64, exponent)

    for floats in ("real", "audit"):
        result = check_privacy(noisy, PrivacyClaim(8.0, relation=Local()), PAIR, budget=4_000, floats=floats, seed=3)
        assert result.evidence.failure is None, (floats, result.reason)
        assert result.evidence.game is not None, (floats, result.reason)
