"""Single numbers: the best interval of any width, and grids of round width that move with the answer.

The best interval is found, judged with its multiplicity, and certified beside the usual events. Seeds are fixed; where
a leak must be found, the power of the whole audit on it, by `python -m benchmarks.violations`, is stated beside the
test. Every leak of grids tells the sides apart in each output, or nearly so: the bound of 174,000 certain guesses is
10.97. None depends on chance, so that a FAIL is not missed. The honest mechanisms are private as claimed: each of the
checks FAILs with probability at most 0.05, and residues may not win with them.
"""

import itertools
import math

import numpy as np
import pytest

import audit
from audit import Local, PrivacyClaim, Verdict, check_privacy
from audit.events.candidates import TestDesign
from audit.events.violations import scan
from audit.evidence.session import CHANCE_SCAN, SCAN_SHARE
from audit.outputs.encode import Outputs
from audit.scorers import Training
from audit.scorers.counts import Residues, find_residues, find_round_widths, separate
from audit.scorers.intervals import Excess, IntervalScore, RatedInterval, SortedColumn, largest_runs
from tests.core.mechanisms import laplace

DESIGN = TestDesign(1.0, 0.0, 5_000, 80_000, 0.05)
CLAIM = PrivacyClaim(1.0, 0.0, Local())
PAIR = [(0.0, 1.0)]


def outputs(numbers):
    return Outputs(numbers, numbers)


@pytest.mark.parametrize("seed", range(20))
def test_the_largest_run_is_that_of_all_runs(seed):
    weights = np.random.default_rng(seed).integers(-3, 3, 12)
    sums = np.concatenate([[0], np.cumsum(weights)])
    largest = max(sums[b] - sums[a] for a, b in itertools.combinations(range(13), 2))
    runs = list(largest_runs(sums, 1))
    assert [sums[b] - sums[a] for a, b in runs] == ([largest] if largest > 0 else [])


@pytest.mark.parametrize("ties", [False, True], ids=["all differ", "ties"])
@pytest.mark.parametrize("sizes", [(97, 97), (5, 120), (1, 1), (0, 40)], ids=str)
def test_ends_are_counted_as_by_search(ties, sizes):
    """How many numbers of its own side lie up to an end is its rank, unless numbers repeat."""
    rng = np.random.default_rng(0)
    sides = tuple(np.sort(rng.integers(30, size=size) if ties else rng.random(size)).astype(float) for size in sizes)
    found, ends = SortedColumn.space(sides, 16), [part for side in sides for part in (side[15::16], side[-1:])]
    assert found.ends.tolist() == sorted(set(np.concatenate(ends).tolist()))
    for side, below in zip(sides, found.below, strict=True):
        assert below.tolist() == [0, *(int(np.sum(side <= end)) for end in found.ends)]


def test_an_interval_holds_all_of_a_value_or_none():
    """Sorted outputs of one value stand in no order: no interval is a part of them."""
    left, right = np.repeat([0.0, 1.0], [50, 50]), np.repeat([0.0, 1.0], [90, 10])
    best, *others = SortedColumn.of(left, right).intervals(Excess(0.1, 0.0, 100), 3)
    assert (best.low, best.high, best.sign) == (1.0, 1.0, 1)
    assert all({found.low, found.high} <= {0.0, 1.0} for found in others)


def test_numbers_that_are_not_finite_lie_in_no_interval():
    left = np.array([1.0, np.nan, np.inf, 2.0])
    assert [side.tolist() for side in SortedColumn.of(left, -left).sides] == [[1.0, 2.0], [-2.0, -1.0]]
    score = IntervalScore(None, RatedInterval(1.0, -3.0, 3.0, 1))
    assert score(outputs(left)).tolist() == [1, 0, 0, 1]


def test_evidence_is_the_signed_root_of_the_likelihood_ratio_less_its_multiplicity():
    """60 of 60 guesses at theta = e / (1 + e): 2 * 60 * log(1 / theta) = 37.59; log(e * 2000 / 60) = 4.507."""
    assert Excess(1.0, 0.0, 1000).evidence(np.array(60), np.array(0)) == pytest.approx(6.131 - 3.002, abs=1e-3)
    below = Excess(1.0, 0.0, 1000).evidence(np.array(10), np.array(50))
    assert below < -3.0
    allowed = Excess(1.0, 0.06, 1000).evidence(np.array(60), np.array(0))  # delta allows 60 outputs
    assert allowed < 0


def test_a_narrow_interval_is_found_where_it_is():
    rng = np.random.default_rng(0)
    left, right = rng.laplace(size=5_000), 1 + rng.laplace(size=5_000)
    left[rng.random(5_000) < 0.02] = 0.123
    found = scan(Training(outputs(left), outputs(right)), DESIGN)
    score = found.events.score
    assert score.interval.low <= 0.123 <= score.interval.high
    assert score.interval.high - score.interval.low < 0.01
    assert (score.interval.sign, found.events.delta_share(1e-3)) == (1, 5e-4)
    guesses = found.events.guess(outputs(np.array([0.123, 9.0])))
    assert guesses.tolist() == [1, 0]
    assert "output in [0.12" in found.events.describe()[0]
    assert found.events.describe()[1] == "never"


VECTORS = {
    "a hole in a coordinate": lambda x, hit: x[:, 11].__setitem__(hit, 0.5),
    "two equal coordinates": lambda x, hit: x[:, 3].__setitem__(hit, x[hit, 17]),
    "a far row": lambda x, hit: x.__setitem__(hit, 4 * x[hit]),
}


@pytest.mark.parametrize("kind", VECTORS)
def test_columns_and_derived_numbers_of_vectors_are_scanned(kind):
    rng = np.random.default_rng(1)
    left, right = rng.laplace(size=(2, 5_000, 20))
    VECTORS[kind](left, np.flatnonzero(rng.random(5_000) < 0.03))
    found = scan(Training(outputs(left), outputs(right)), DESIGN)
    assert found.evidence > CHANCE_SCAN
    counts = [int(np.sum(found.events.guess(outputs(side)) == 1)) for side in (left, right)]
    assert counts[0] > 3 * counts[1] + 50


def test_nothing_stands_out_of_equal_laws():
    """Under the claim's own ratio the largest evidence of a pair exceeds 3 in fewer than 1 of 1,000 audits."""
    rng = np.random.default_rng(2)
    sides = rng.laplace(size=(2, 5_000, 20))
    assert scan(Training(*map(outputs, sides)), DESIGN).evidence < 0


def answer_in_a_branch(data, size, rng):
    """The answer shows only where the noise is far out: P(3 < output < 4) is 0.0158 on one side and 0 on the other."""
    noise = rng.laplace(size=size)
    return data * (np.abs(noise) > 3) + noise


@pytest.mark.parametrize("seed", range(4))
def test_an_answer_in_a_branch_fails_at_the_defaults(seed):
    result = audit.check_privacy(answer_in_a_branch, CLAIM, PAIR, seed=seed, workers=0)
    assert result.verdict is Verdict.FAIL
    assert result.evidence.game.share == SCAN_SHARE
    assert result.evidence.confirmation.game.share == 1.0  # one pair of events alone
    assert result.witness.text.startswith("output in [")


def test_both_pairs_of_events_share_the_significance():
    """The usual events decide here, at their share: the bound is that of the counts at this level."""
    result = audit.check_privacy(laplace, PrivacyClaim(0.5, 0.0, Local()), PAIR, budget=20_000, workers=0)
    game, counts = result.evidence.game, result.evidence.game.counts
    assert (game.scorer, game.share) == ("monotone", 1 - SCAN_SHARE)
    level = 0.05 * (1 - SCAN_SHARE)
    alone = audit.statistics.bounds.game_epsilon_lower_bound(counts, 0.0, level)
    assert math.isclose(result.epsilon_lower_bound, alone, rel_tol=0.02)


def audited(mechanism, budget=100_000, claim=CLAIM, **settings):
    return check_privacy(mechanism, claim, PAIR, budget=budget, seed=0, workers=0, **settings)


def single(size, rng):
    return rng.laplace(size=size).astype(np.float32).astype(float)


def single_noise(answer, size, rng):
    return (0.1, 0.7)[int(answer)] + single(size, rng)


def lowest_bit(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return ((words & ~np.uint64(1)) | np.uint64(int(answer))).view(float)


def payload(answer, size, rng):
    words = rng.laplace(size=size).view(np.uint64)
    return np.where(rng.random(size) < 0.5, np.uint64(0x7FF8000000000000 + int(answer)), words).view(float)


def in_a_vector(answer, size, rng):
    rows = rng.laplace(size=(size, 3))
    rows[:, 1] = single_noise(answer, size, rng)
    return rows


def rounded_on_one_side(answer, size, rng):
    noise = rng.laplace(size=size)
    return np.round(noise, 9) if answer else noise


GRIDS = {
    "single noise": (single_noise, 10.6),
    "single noise on integers": (lambda x, size, rng: x + single(size, rng), 8.0),  # the exponents of both overlap
    "rounded noise": (lambda x, size, rng: (0.1234567, 0.7654321)[int(x)] + rng.laplace(size=size).round(6), 10.6),
    "shifted odd grid": (lambda x, size, rng: (0.3 * x + np.round(1e3 * rng.laplace(size=size))) * math.pi * 1e-4, 8.0),
    "payload": (payload, 10.0),  # half of the outputs, NaN
    "rounded on one side": (rounded_on_one_side, 9.9),  # one in 64 of the others
    "single on one side": (lambda x, size, rng: single(size, rng) if x else rng.laplace(size=size), 10.6),
    "in a vector": (in_a_vector, 10.6),
}


@pytest.mark.parametrize("name", GRIDS)
def test_a_leak_in_every_output_fails_near_the_largest_bound(name):
    mechanism, least = GRIDS[name]
    result = audited(mechanism)
    assert result.verdict is Verdict.FAIL
    assert result.epsilon_lower_bound > least


def test_low_bits_are_left_to_the_audit_of_floating_point():
    """The lowest bit is no grid: numbers read as real ones do not have it."""
    assert audited(lowest_bit).verdict is Verdict.PASS


def textbook(answers, scale, kind=np.float64, draw="laplace"):
    def mechanism(side, size, rng):
        noise = getattr(rng, draw)(scale=scale, size=size).astype(kind)
        return (kind(answers[int(side)]) + noise).astype(kind)

    return mechanism


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (textbook((0, 1), 1.0), 1.0),
        (textbook((0, 1e-3), 5e-3), 0.2),  # the noise itself is rough at its last places
        (textbook((1, 2), 1 / 3, np.float32), 3.0),
        (textbook((0.1, 0.7), 5.0, draw="normal"), 1.0),
    ],
)
def test_roughness_that_no_leak_explains_is_left_alone(mechanism, epsilon):
    result = audited(mechanism, 100_000, PrivacyClaim(epsilon, relation=Local()))
    assert result.verdict is not Verdict.FAIL
    assert result.evidence.game.scorer != "residues"


def test_a_column_of_few_values_does_not_hide_the_residues_of_another():
    rng = np.random.default_rng(0)
    coins, (rounded, plain) = rng.integers(2, size=(2, 4_000)), rng.laplace(size=(2, 4_000))
    left, right = np.c_[coins[0], np.round(rounded, 3)], np.c_[coins[1], plain]
    (score,) = Residues().propose(Training(outputs(left), outputs(right)))
    assert score.place == 1


def test_residues_by_hand():
    """Multiples of the width are in the middle of cell 0, and rounding errors do not move them."""
    values = np.array([0.0, 3.0, 0.75, -0.75, 1.5, 9.0, np.nan, np.inf])
    assert find_residues(values, 3.0, 4.0).tolist() == [0, 0, 16, 48, 32, 64, 64, 64]
    grid = np.arange(-10_000, 10_000) * 1e-6
    assert np.all(find_residues(grid, 1e-6, 1.0) == 0)
    assert np.all(find_residues(grid + 3e-7, 1e-6, 1.0) == 19)  # 0.3 * 64 = 19.2
    assert find_residues(np.array([0.1, 0.5, np.nan]), 0.0, 1.0).tolist() == [0, 1, 64]  # held by single precision


def test_every_cell_that_holds_a_number_is_compared():
    """Ten against none, none against ten, and one against one: chi-square is 10 + 10 + 0, with 2 degrees of freedom."""
    single = np.r_[np.arange(10) / 16, np.nan]
    assert separate(single, single + 0.1, [0.0], 1.0).tolist() == pytest.approx([(20 - 2) / 2])


def test_round_widths_lie_between_their_limits():
    assert find_round_widths(0.9e-3, 0.3) == [2.0**k for k in range(-10, -1)] + [1e-3, 1e-2, 1e-1]
    assert find_round_widths(1.0, 0.5) == find_round_widths(0.0, 0.5) == []


@pytest.mark.filterwarnings("ignore:overflow")  # of squares, which become infinite and are judged as such
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("exponent", [-1074, 1023])
def test_outputs_of_any_magnitude_are_judged(exponent):
    """Sums, differences and frequencies of numbers near the ends of the range overflow; no audit ends with that."""

    def noisy(data, size, rng):
        return np.ldexp(rng.laplace(size=(size, 2)) / 64 + data / 64, exponent)

    result = check_privacy(noisy, PrivacyClaim(8.0, relation=Local()), PAIR, budget=4_000, seed=3)
    assert result.evidence.failure is None, result.reason
    assert result.evidence.game is not None, result.reason
