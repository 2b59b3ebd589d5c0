"""The best interval of any width is found, judged with its multiplicity, and certified beside the usual events.

Every audit here has a fixed seed. Where a leak must be found, the power of the whole audit on it, by
`python -m benchmarks.violations`, is stated beside the test.
"""

import itertools
import math

import numpy as np
import pytest

import audit
from audit import Local, PrivacyClaim, Verdict
from audit.events.candidates import TestDesign
from audit.events.violations import scan
from audit.evidence.session import CHANCE_SCAN, SCAN_SHARE
from audit.outputs.encode import Outputs
from audit.scorers import Training
from audit.scorers.intervals import Excess, IntervalScore, RatedInterval, SortedColumn, largest_runs
from tests.core.mechanisms import laplace

DESIGN = TestDesign(0.0, 1.6, 2 * 5_000, 80_000, 1.0)
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
