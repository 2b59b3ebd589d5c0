"""Vectors, lists and text: joint structure that no marginal shows is seen, with the true epsilon as the ceiling.

Each mechanism is audited end to end at a significance of 1e-3 and a claim far below the truth. Seeds are fixed; with
ten seeds at 6,000 outputs per dataset, every certified bound lay above `least` by 0.08 and more.
"""

import math
from itertools import product
from statistics import mean

import numpy as np
import pytest
from scipy import special, stats

from audit import Local, PrivacyClaim, Verdict, check_privacy
from audit.events.candidates import TestDesign, choose_events
from audit.outputs.encode import encode
from audit.scorers import SCORERS, SLOW_SCORERS, Training
from audit.scorers.base import Layout
from audit.scorers.flags import Flags, _fit_block, count_flags
from audit.scorers.rows import Coordinates, Directions, Nearness, RowScore, all_finite, finite_or_zero, nearness
from audit.scorers.vectors import Feature, _hidden_dependence, pairs_that_differ, separation
from tests.core.scorers.exact_value import value_of

BUDGET = 6_000


@pytest.mark.filterwarnings("error")
def test_numbers_that_are_not_finite_are_zeros_of_a_score():
    for odd in ([np.inf, -np.inf], [np.nan, 1.0], [-np.inf, 2.0]):
        rows = np.array([odd, [3.0, -4.0]])
        assert not all_finite(rows)
        np.testing.assert_array_equal(finite_or_zero(rows), np.where(np.isfinite(rows), rows, 0.0))
    large = np.full((2, 9), 1e308)
    np.testing.assert_array_equal(finite_or_zero(large), large)


def xor_of_bits(data, size, rng):
    """Two uniform bits, equal with probability 3/4 or 1/4, among continuous noise: epsilon = log 3."""
    bits = rng.integers(0, 2, size)
    equal = rng.random(size) < (0.75 if data else 0.25)
    return np.column_stack([bits, np.where(equal, bits, 1 - bits), rng.normal(size=size)])


def correlated(data, size, rng):
    """Standard normals with correlation 0.8 or -0.8: unbounded epsilon."""
    x, y = rng.normal(size=(2, size))
    return np.column_stack([x, (0.8 if data else -0.8) * x + 0.6 * y])


def same_noise(data, size, rng):
    """One draw added to both answers: their difference is shown, infinite epsilon."""
    return np.array([data, 0.0]) + rng.laplace(size=(size, 1))


def one_bad_of_many(data, size, rng):
    """300 coordinates of Laplace noise, of which one moves: epsilon = 2."""
    x = rng.laplace(size=(size, 300))
    x[:, 217] += 2 * data
    return x


def sum_beside_its_mean(data, size, rng):
    """A noisy mean and the sum that it gives: only their ratio is the number of records, unbounded epsilon."""
    mean = rng.laplace(scale=9.0, size=size)
    return np.column_stack([mean, mean * (11 if data else 10)])


def heavy_tails(data, size, rng):
    """Cauchy noise on four coordinates of which one is twice as wide: epsilon = log 2."""
    return rng.standard_cauchy(size=(size, 4)) * np.array([1, 1 + data, 1, 1])


def order(data, size, rng):
    """Two or three numbers, ascending with probability 3/4 or 1/4: epsilon = log 3."""
    up = rng.random(size) < (0.75 if data else 0.25)
    rows = [np.sort(rng.random(n)) for n in rng.integers(2, 4, size)]
    return [list(row if rising else row[::-1]) for row, rising in zip(rows, up, strict=True)]


def text(data, size, rng):
    """Random words that start with "a" with probability 0.8 or 0.2: epsilon = log 4."""
    letters = np.array(list("abcdefgh"))
    words = ["".join(word) for word in letters[rng.integers(1, 8, (size, 6))]]
    marked = rng.random(size) < (0.8 if data else 0.2)
    return ["a" + word if mark else "b" + word for word, mark in zip(words, marked, strict=True)]


CASES = [
    (xor_of_bits, math.log(3), 0.9),
    (correlated, math.inf, 2.0),
    (sum_beside_its_mean, math.inf, 1.5),
    (same_noise, math.inf, 6.0),
    (one_bad_of_many, 2.0, 1.6),
    (heavy_tails, math.log(2), 0.2),
    (order, math.log(3), 0.9),
    (text, math.log(4), 1.1),
]


@pytest.mark.parametrize(("mechanism", "truth", "least"), CASES, ids=lambda case: getattr(case, "__name__", ""))
@pytest.mark.false_alarm(0.001, seeded=True)
def test_the_leak_is_seen_and_never_overstated(mechanism, truth, least):
    """The bound exceeds the truth with probability 1e-3 a case, and does not at this seed."""
    claim = PrivacyClaim(0.05, 0.0, Local())
    result = check_privacy(mechanism, claim, [(0, 1)], budget=BUDGET, significance=0.001, method="fixed")
    assert least < result.epsilon_lower_bound <= truth, result.witness
    assert all(isinstance(part, str) and part for part in (result.evidence.game.plus, result.evidence.game.minus))


@pytest.mark.parametrize("mechanism", [case[0] for case in CASES])
@pytest.mark.false_alarm(0.001, seeded=True)
def test_identical_sides_certify_nothing(mechanism):
    """Null: both sides have one law; a bound above 0 has probability 1e-3 a case."""

    def blind(data, size, rng):
        return mechanism(1, size, rng)

    claim = PrivacyClaim(0.05, 0.0, Local())
    result = check_privacy(blind, claim, [(0, 1)], budget=4_000, significance=0.001, method="fixed")
    assert result.epsilon_lower_bound == 0.0


def test_coordinates_of_one_block_answer_one_copy_of_the_input():
    assert Layout.of(([1.0, 2.0], [1.0, 3.0]), 4).blocks.tolist() == [0, 0, 1, 1]
    assert Layout.of(([1.0], [2.0]), 4).blocks.tolist() == [0, 0, 0, 0]


def test_the_sum_of_nearness_does_not_show_the_last_bits_of_its_terms():
    """Of a size and its sign the two terms cancel: by their rounding `1 + Laplace` differs from `Laplace`."""
    sizes = np.random.default_rng(0).random((1_000, 1)) * 2.0 ** -np.arange(1, 4)
    for scale in (1.0, 1e-12):
        rows = np.concatenate([sizes, 1.0 - sizes], axis=1) * scale
        assert set(nearness(rows, np.zeros(6), np.full(6, scale))) == {0.0}


def rarely_released(data, size, rng):
    """Almost always zeros; a value in the coordinate of the record, one time in forty."""
    outputs = np.zeros((size, 2))
    outputs[:, data] = np.where(rng.random(size) < 0.025, rng.normal(10.0, 1.0, size), 0.0)
    return outputs


def test_frequent_atoms_do_not_hide_rare_values():
    """Counting the zeros sees 97.5 % of the outputs, and not the 2.5 % that tell all."""
    claim = PrivacyClaim(1.0, 0.005, Local())
    result = check_privacy(rarely_released, claim, [(0, 1)], budget=50_000, significance=1e-6, seed=1)
    assert result.verdict is Verdict.FAIL


def test_the_coordinate_that_stands_alone_is_the_one_that_tells_most():
    left, right = np.random.default_rng(5).normal(np.array([[[0.0, 0.2, 1.0, 0.4]], [[0.0] * 4]]), size=(2, 2000, 4))
    _, alone, _ = Coordinates().propose(Training(encode(left, 2000), encode(right, 2000), None, (0, 1)))
    assert [index for index, _ in alone.parts] == [2]


def answers(scale, left, size=20_000):
    """Ten answers with Laplace noise about a number that differs by 1."""
    return np.random.default_rng(left).laplace(scale=scale, size=(size, 10)) + (1 - left)


@pytest.mark.parametrize("scale", [10.0, 10 / 3])
def test_medians_of_repeated_queries_give_the_log_likelihood_ratio_of_laplace_noise(scale):
    """The correlation with the true one on outputs not seen: medians come from all coordinates, cells do not."""
    training = Training(*(encode(answers(scale, left), 20_000) for left in (1, 0)))
    fresh = answers(scale, 2)
    truth = (np.abs(fresh - 1) - np.abs(fresh)).sum(axis=1)
    scores = Nearness().propose(training)[0], Coordinates().propose(training)[0]
    found = [np.corrcoef(score(encode(fresh, len(fresh))), truth)[0, 1] for score in scores]
    assert found[0] > 0.999
    assert found[1] > 0.9


def test_the_inputs_are_read_where_neither_medians_nor_means_show_them():
    """Nearness of outputs and of their increments to the inputs, and the direction from one input to the other."""
    pair = np.array([5.0, 1.0, 0.0]), np.array([4.0, 3.0, 0.0])
    rows = np.random.default_rng(0).laplace(scale=1e3, size=(4_000, 3))
    training = Training(encode(rows, 4_000), encode(rows[::-1], 4_000), pair=pair)
    inputs, increments = Nearness().propose(training)
    some = encode(np.array([[4.5, 1.5, 7.0]]), 1)
    assert inputs(some)[0] == pytest.approx(0 + 1)
    assert increments(some)[0] == pytest.approx(0 + 2)
    *_, direction = Directions().propose(training)
    np.testing.assert_allclose(direction.weights / direction.standard.scale, [1, -2, 0])


def test_flags_by_themselves_are_counted():
    """Twelve answers of yes or no, each with probability 0.6 and 0.5: their number holds all of the evidence."""
    rng = np.random.default_rng(0)
    sides = [(rng.random((20_000, 12)) < chance).astype(float) for chance in (0.6, 0.5)]
    (score,) = Flags().propose(Training(*(encode(side, 20_000) for side in sides)))
    assert np.corrcoef(score(encode(sides[0], 20_000)), sides[0].sum(axis=1))[0, 1] > 0.99


def test_medians_of_different_queries_are_kept_apart_and_those_that_agree_are_not_read():
    """Three coordinates at scales 1, 5 and 1, of which the first two move by 1."""
    rng, scales = np.random.default_rng(0), np.array([1.0, 5.0, 1.0])
    sides = [np.array([7, 70, 9]) + moved + rng.laplace(scale=scales, size=(8_000, 3)) for moved in ([1, 1, 0], 0)]
    (score,) = Nearness().propose(Training(*(encode(side, 8_000) for side in sides)))
    np.testing.assert_allclose(score.left, [8, 71, 9], atol=0.3)
    np.testing.assert_allclose((score.left - score.right)[:2], 1, atol=0.4)
    assert score.left[2] == score.right[2]
    np.testing.assert_allclose(score.scale, scales, rtol=0.05)
    assert Nearness().propose(Training(*(encode(side, 8_000) for side in (sides[0], sides[0][::-1])))) == []


def test_scores_of_vectors_read_symbols_by_their_frequencies():
    """Three in ten outputs on the left are None and one in ten on the right, whatever the others are: log 3."""
    rng, size = np.random.default_rng(0), 4_000
    vectors = [rng.normal(mean, size=(size, 3)) for mean in (0.3, 0.0)]
    hidden = [np.arange(size) % 10 < few for few in (3, 1)]
    rows = [
        [None if none else row for none, row in zip(*side, strict=True)] for side in zip(hidden, vectors, strict=True)
    ]
    training = Training(*(encode(side, size) for side in rows), None, (0, 1))
    proposed = [
        each for scorer in (*SCORERS, *SLOW_SCORERS) for each in scorer.propose(training) if scorer.reads(training)
    ]
    found = [score(training.left)[hidden[0]] for score in proposed if isinstance(score, RowScore)]
    assert len(found) >= 4
    assert np.stack(found) == pytest.approx(math.log(3), abs=0.01)


def test_a_sum_is_read_beside_the_sum_that_it_goes_on_from():
    """The second of three sums adds noise to the first, which alone differs: the rest has no ratio, whole or not."""
    rng = np.random.default_rng(8)
    noise = rng.geometric(0.2, (2, 20_000, 3)) - rng.geometric(0.2, (2, 20_000, 3))
    noise[0, :, 0] += 1
    sums = np.cumsum(noise * np.array([2.0, 1.0, 1.0]), axis=2)
    *_, found = Coordinates().propose(Training(encode(sums[0], 20_000), encode(sums[1], 20_000)))
    assert found.earlier == {1: 0, 2: 1}
    spread = [float(np.ptp(part.ratios)) for _, part in found.parts]
    assert spread[0] > 0.3
    assert max(spread[1:]) < 0.1
    assert "1 less 0" in found.meaning()


def test_sums_of_coordinates_are_never_empty():
    """Where all that is left of coordinates repeats, they are read themselves; a side of NaN has no divergence."""
    rows = np.stack(
        [np.repeat(np.arange(100.0), 20) * 1000, np.arange(2000) // 20 * 1000.0 + np.arange(2000) % 20], axis=1
    )
    numbers = np.random.default_rng(0).normal(size=(2000, 2))
    for left, right in ((rows, rows), (np.full((2000, 2), np.nan), numbers)):
        sides = encode(left, 2000), encode(right, 2000)
        proposed = Coordinates().propose(Training(*sides))
        assert len(proposed) == 3
        assert all(len(score(side)) == 2000 for score in proposed for side in sides)


FEATURES = {  # of 3, -4 and 5, by hand
    "coordinate": 3, "indicator": 1, "sum": 4, "difference": 7, "product": 0, "largest": 5, "smallest": -4,
    "place of the largest": 2, "smallest gap": 2, "number finite": 3, "first finite": 3, "sum of squares": 50,
}  # fmt: skip


@pytest.mark.parametrize("kind", FEATURES)
def test_features_of_a_row_by_hand(kind):
    layout = Layout.of(([0.0], [1.0]), 3)
    assert Feature(kind, (0, 1, 2), layout, 3.0)(np.array([[3.0, -4.0, 5.0]])) == FEATURES[kind]


def test_counts_of_flags_in_groups_have_keys_of_their_own_while_64_bits_hold_them():
    rows = np.array(list(product((0.0, 1.0), repeat=4)))
    keys = count_flags(rows, np.array([1.0]), [np.array([0, 1]), np.array([2, 3])])
    assert len(set(zip(keys, rows[:, :2].sum(axis=1), rows[:, 2:].sum(axis=1), strict=True))) == len(set(keys)) == 9
    wide = np.random.default_rng(0).integers(0, 2, (4, 61)).astype(float).repeat(100, axis=0)
    blocks = tuple(np.array([at]) for at in range(61))
    assert _fit_block((wide, wide), np.array([1.0]), blocks) is None


@pytest.mark.parametrize("ends", [(4, 4), (4, 3)])
def test_separation_is_the_chi_square_statistic_of_a_table(ends):
    rng = np.random.default_rng(1)
    left, right = (rng.integers(0, end, size).astype(float) for end, size in zip(ends, (900, 600), strict=True))
    table = [[np.sum(side == value) for value in range(max(ends))] for side in (left, right)]
    freedom = max(ends) - 1
    exact = (stats.chi2_contingency(table, correction=False)[0] - freedom) / math.sqrt(2 * freedom)
    assert separation(left, right) == pytest.approx(exact)


JUDGING = 50_000  # outputs per dataset: their ratios are exact, so that even rare events are judged closely
PAIR = np.ones(10), np.repeat([2.0, 0.0], 5)


def draw(answers, size, rng):
    """Return -inf at the queries below the noisy threshold, the value at the first one above, and inf behind it."""
    noisy = answers + rng.laplace(scale=2, size=(size, 10))
    above = noisy >= 1 + rng.laplace(scale=2, size=(size, 1))
    first = np.where(above.any(axis=1), above.argmax(axis=1), 10)[:, None]
    place = np.arange(10)
    return np.where(place < first, -np.inf, np.where(place == first, noisy, np.inf))


def log_density(rows, answers):
    """Return the density of outputs, up to what both sides share."""
    grid = 1 + np.linspace(-60, 60, 120_001)
    still = stats.laplace(1, 2).pdf(grid)
    density = np.empty(len(rows))
    for place, answer in enumerate(answers):
        noise = stats.laplace(answer, 2)
        here = np.flatnonzero(np.isfinite(rows[:, place]))
        values = rows[here, place]
        density[here] = np.log(np.interp(values, grid, np.cumsum(still))) + noise.logpdf(values)
        still = still * noise.cdf(grid)
    density[~np.isfinite(rows).any(axis=1)] = np.log(still.sum())
    return density


def test_a_released_value_and_the_flags_before_it_are_read_together():
    """The bound that events chosen on 32,500 outputs per dataset give at the expected counts of 135,000 runs."""
    rng = np.random.default_rng(1_000_000)
    rows = np.concatenate([draw(answers, JUDGING, rng) for answers in PAIR])
    ratios = log_density(rows, PAIR[0]) - log_density(rows, PAIR[1])
    laws = [special.expit(sign * ratios) / JUDGING for sign in (1, -1)]
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        sides = [encode(draw(answers, 32_500, rng), 32_500) for answers in PAIR]
        design = TestDesign(math.inf, 0.0, 32_500, 135_000, 0.05)
        events = choose_events(Training(*sides, None, PAIR), [design], slow_scorers=())[0]
        found.append(value_of(events, encode(rows, len(rows)), laws, 135_000))
    assert mean(found) >= 2.08


# Tables of 40 columns of normal noise, of which two depend on each other on the left, and are alike but independent on
# the right: sizes and parities show what correlation does not.
ROWS, WIDTH, DEPENDING = 4_000, 40, (13, 38)


def circle(rng, other):
    angle, second = rng.random((2, ROWS)) * 2 * np.pi
    return np.cos(angle), np.sin(second if other else angle)


def common_scale(rng, other):
    one, second, first, third = rng.normal(size=(4, ROWS))
    return one * np.exp(first), second * np.exp(third if other else first)


def parity(rng, other):
    one, second = rng.integers(0, 10, (2, ROWS))
    return one, 2 * rng.integers(0, 5, ROWS) + (second if other else one) % 2


def table(draw, other, seed):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(ROWS, WIDTH))
    rows[:, DEPENDING[0]], rows[:, DEPENDING[1]] = draw(rng, other)
    return rows


@pytest.mark.parametrize("draw", [circle, common_scale, parity])
def test_a_pair_that_depends_without_correlation_comes_first(draw):
    assert pairs_that_differ((table(draw, False, 1), table(draw, True, 2)))[0] == DEPENDING


@pytest.mark.false_alarm(6e-8)
@pytest.mark.parametrize("draw", [circle, common_scale, parity])
def test_equal_tables_of_independent_columns_have_no_such_pair(draw):
    """Of 6,400 comparisons of 4,000 rows each, none is 7.2 standard errors off but with probability 1e-8."""
    rows = table(draw, True, 3), table(draw, True, 4)
    assert not _hidden_dependence(tuple(np.clip(side, -4, 4) for side in rows), rows, rows[0].shape[1]).any()
