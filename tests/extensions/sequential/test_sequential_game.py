"""The sequential game: wrong refutations at the edge of a claim, power, determinism, hostile outputs; and its wealth.

The wealth: the expectation of one step, exactly, over laws at the edge of a claim, and what the experts bet on.
"""

import math
import re

import numpy as np
import pytest
from scipy import special, stats

from audit.extensions.sequential.experts import Learner, LinearExpert, tree_predictions
from audit.extensions.sequential.game import play_sequentially
from audit.extensions.sequential.wealth import SequentialOutcome, Wealth, epsilon_grid, time_uniform_lower_bound
from audit.outputs.encode import encode

E1 = math.exp(1.0)


def source(left, right, seed):
    """A draw function over two samplers (rng, size) -> raw outputs, each side with its own generator."""
    rngs = [np.random.default_rng([seed, side]) for side in (0, 1)]

    def draw(side, size):
        return encode((left, right)[side](rngs[side], size), size)

    return draw


def bit(probability):
    return lambda rng, size: (rng.random(size) < probability).astype(float)


def laplace(mean):
    return lambda rng, size: rng.laplace(mean, 1.0, size)


def geometric(mean):
    tail = 1 - math.exp(-1.0)
    return lambda rng, size: mean + (rng.geometric(tail, size) - rng.geometric(tail, size)).astype(float)


def text(*weighted):
    names, weights = zip(*weighted, strict=True)
    return lambda rng, size: [names[i] for i in rng.choice(len(names), size, p=weights)]


def high(epsilon, delta):
    """Probability of the right bit in randomized response that is tight at (epsilon, delta)."""
    return (math.exp(epsilon) + delta) / (1 + math.exp(epsilon))


ALTERNATING = np.tile([1.0, -1.0], 6)

TIGHT = {  # name: left, right, epsilon, delta; each keeps its claim with equality
    "laplace": (laplace(0), laplace(1), 1.0, 0.0),
    "randomized response": (bit(high(1, 0)), bit(1 - high(1, 0)), 1.0, 0.0),
    "geometric": (geometric(0), geometric(1), 1.0, 0.0),
    "two points, delta 0.1": (bit(high(1, 0.1)), bit(1 - high(1, 0.1)), 1.0, 0.1),
    "two points, delta 0.3": (bit(high(1, 0.3)), bit(1 - high(1, 0.3)), 1.0, 0.3),
    "one side leaks": (bit(0.1 + 0.2 * E1), bit(0.2), 1.0, 0.1),
    "names itself": (text(("left", 0.3), ("x", 0.7)), text(("right", 0.3), ("x", 0.7)), 0.0, 0.3),
    "identical": (laplace(0), laplace(0), 0.0, 0.0),
}


RUNS, STEPS = 15, 50
# Refutations of a true claim are at most Binomial(15, 0.05): more than MOST_WRONG has probability below 1e-5 a law.
MOST_WRONG = int(stats.binom.isf(1e-5, RUNS, 0.05))


@pytest.mark.parametrize("name", TIGHT)
@pytest.mark.false_alarm(1e-05, seeded=True)
def test_a_tight_claim_is_seldom_refuted(name):
    left, right, epsilon, delta = TIGHT[name]
    wrong = sum(
        play_sequentially(source(left, right, seed), epsilon, delta, 0.05, STEPS).stopped == "refuted"
        for seed in range(RUNS)
    )
    assert wrong <= MOST_WRONG


@pytest.mark.false_alarm(1e-05, seeded=True)
def test_the_bound_of_a_true_claim_stays_below_the_truth():
    # above the truth with probability at most 0.05 a run: Binomial(15, 0.05) again
    bounds = [
        time_uniform_lower_bound(play_sequentially(source(laplace(0), laplace(1), s), 0.2, 0.0, 0.05, 100), 0.05)
        for s in range(RUNS)
    ]
    assert sum(bound >= 1.0 for bound in bounds) <= MOST_WRONG
    assert max(bounds) >= 0.2


@pytest.mark.parametrize(
    ("left", "right", "epsilon", "within"),
    [
        (lambda r, n: r.laplace(0, 200, n), lambda r, n: r.laplace(0.5, 100, n), 0.01, 400),
        (laplace(0), laplace(1), 0.5, 900),
        (bit(high(1, 0)), bit(1 - high(1, 0)), 0.5, 700),
        (text(("a", 0.5), ("b", 0.5)), text(("a", 0.95), ("b", 0.05)), 0.5, 300),
        (lambda r, n: [None] * n, lambda r, n: [math.nan] * n, 1.0, 30),
        (lambda r, n: r.normal(size=(n, 3)), lambda r, n: r.normal(size=(n, 3)) + np.array([0, 0, 2.0]), 0.5, 300),
        (lambda r, n: r.normal(size=(n, 12)), lambda r, n: r.normal(size=(n, 12)) + 0.5 * ALTERNATING, 0.5, 600),
    ],
    ids=["leaks n", "laplace", "response", "text", "none and nan", "third coordinate", "a direction"],
)
def test_a_false_claim_is_refuted(left, right, epsilon, within):
    for seed in range(3):
        outcome = play_sequentially(source(left, right, seed), epsilon, 0.0, 0.05, within)
        assert outcome.stopped == "refuted"
        assert outcome.log_wealth >= math.log(20)
        assert time_uniform_lower_bound(outcome, 0.05) >= epsilon


def test_the_experts_that_weigh_most_are_named():
    outcome = play_sequentially(source(laplace(0), laplace(3), 0), 1.0, 0.0, 1e-9, 200)
    shares = [*map(float, re.findall(r"\((.*?)\)", outcome.experts))]
    assert outcome.experts.startswith("Laplace (")
    assert shares == sorted(shares, reverse=True)


def test_why_it_stopped():
    draw = source(laplace(0), laplace(0), 1)
    assert play_sequentially(draw, 1.0, 0.0, 0.05, 40).stopped == "budget"
    assert play_sequentially(draw, 1.0, 0.0, 0.05, 40, resolution_steps=20).stopped == "resolved"
    assert play_sequentially(draw, 1.0, 0.0, 0.05, 40, resolution_steps=80).stopped == "budget"
    assert play_sequentially(draw, 1.0, 0.0, 0.05, 0).steps == 0


def test_the_budget_is_kept_and_both_sides_are_drawn_alike():
    drawn = [0, 0]
    inner = source(laplace(0), laplace(0.1), 2)

    def draw(side, size):
        drawn[side] += size
        return inner(side, size)

    outcome = play_sequentially(draw, 1.0, 0.0, 0.05, 157)
    assert outcome.steps == 157
    assert drawn == [157, 157]


def test_a_bet_uses_earlier_outputs_only():
    # outcomes of two sources that agree on the first 30 steps agree there, whatever comes later
    def until(seed, steps):
        early, late = source(laplace(0), laplace(2), 1), source(laplace(0), laplace(2), seed)
        count = [0, 0]

        def draw(side, size):
            count[side] += size
            return early(side, size) if count[side] <= 30 else late(side, size)

        return play_sequentially(draw, 5.0, 0.0, 0.05, steps)

    assert until(7, 30) == until(8, 30)


@pytest.mark.parametrize("seed", range(2))
def test_hostile_outputs_are_played_on(seed):
    pool = [math.nan, None, "text", math.inf, -math.inf, 1e308, -1e308, 0.0, 5e-324, 3, True, (1, 2), {"a": 1}, b"x"]

    def any_of(rng, size):
        return [pool[i] for i in rng.integers(len(pool), size=size)]

    with np.errstate(all="raise", under="ignore"):
        outcome = play_sequentially(source(any_of, any_of, seed), 0.5, 0.1, 1e-4, 150)
    assert outcome.stopped == "budget"
    assert all(math.isfinite(value) for value in outcome.grid_log_wealth)


@pytest.mark.parametrize("value", [0.0, math.inf, math.nan, 7.0])
def test_a_constant_output_refutes_nothing(value):
    outcome = play_sequentially(
        source(lambda r, n: np.full(n, value), lambda r, n: np.full(n, value), 0), 0.0, 0.0, 0.05, 60
    )
    assert outcome.stopped == "budget"
    assert outcome.log_wealth < math.log(20)


def test_outputs_that_change_their_shape_are_played_on():
    def vectors_then_scalars(rng, size):
        return rng.normal(size=(size, 2)) if rng.random() < 0.5 else rng.normal(size=size)

    outcome = play_sequentially(source(vectors_then_scalars, vectors_then_scalars, 3), 1.0, 0.0, 1e-3, 60)
    assert outcome.stopped == "budget"


@pytest.mark.parametrize("widths", [((), (3,)), ((3,), ())])
def test_nothing_is_known_of_outputs_that_change_their_shape(widths):
    """Those who read numbers sleep: the posterior is one half, whatever was learned from outputs of the other shape."""
    rng = np.random.default_rng(0)
    known, strange = (lambda mean, width=width: encode(rng.normal(mean, size=(10, *width)), 10) for width in widths)
    learner = Learner(known(0.0), None)
    for _ in range(20):
        learned = learner.predict_and_learn(known(8.0), known(0.0))
    assert [*map(np.mean, learned)] == pytest.approx([1.0, 0.0], abs=0.2)
    assert np.concatenate(learner.predict_and_learn(strange(8.0), strange(0.0))) == pytest.approx(0.5)


def test_the_bound_needs_all_smaller_epsilons_refuted():
    outcome = SequentialOutcome(9, "budget", 4.0, (0.1, 0.2, 0.3, 0.4), (5.0, 3.5, 1.0, 9.0), "none")
    assert time_uniform_lower_bound(outcome, 0.05) == 0.2
    assert time_uniform_lower_bound(outcome, 0.001) == 0.0


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 6.0, 50.0])
def test_a_grid_holds_the_claim_and_reaches_three_times_as_far(epsilon):
    grid = epsilon_grid(epsilon)
    assert epsilon in grid
    assert (np.diff(grid) > 0).all()
    assert grid[0] == 0.25 * epsilon
    assert grid[-1] == pytest.approx(max(epsilon + 12, 3 * epsilon))


EPSILONS = (0.0, 0.1, 1.0, 3.0)
DELTAS = (0.0, 1e-5, 0.1, 0.3)
POSTERIORS = np.array([1e-9, 0.02, 0.2, 0.4, 0.5, 0.6, 0.8, 0.98, 1 - 1e-9])


def steps_of(left, right, epsilon, delta, one_sided=False):
    """Return the factors of one step for each bettor and each pair of posteriors; shape (bettors, pairs)."""
    wealth = Wealth(np.array([epsilon]), delta, one_sided)
    factors = wealth._step_factors(np.asarray(left), np.asarray(right))
    return np.exp(factors - wealth._penalties[:, :, None])[:, 0, :]


def expected(left, right, posteriors, epsilon, delta, one_sided):
    """Exact expectation of every bettor's factor over all pairs of outcomes of a step."""
    a, b = np.meshgrid(posteriors, posteriors, indexing="ij")
    return steps_of(a.ravel(), b.ravel(), epsilon, delta, one_sided) @ np.outer(left, right).ravel()


def edge_laws(epsilon, delta):
    """Laws that keep the claim with equality somewhere: two-sided, one-sided in either direction, additive only."""
    odds = math.exp(epsilon)
    high, low = (odds + delta) / (1 + odds), (1 - delta) / (1 + odds)
    yield (high, low), (low, high)
    small = (1 - delta) / (2 * odds)
    yield (odds * small + delta, 1 - odds * small - delta), (small, 1 - small)
    yield (small, 1 - small), (odds * small + delta, 1 - odds * small - delta)
    yield (delta, 1 - delta), (0.0, 1.0)
    yield (delta, 0.0, 1 - delta), (0.0, delta, 1 - delta)
    rest = (1 - delta) / (1 + odds)
    yield (delta, 0.0, odds * rest, rest), (0.0, delta, rest, odds * rest)


def keeps(left, right, epsilon, delta):
    gap = np.array(left) - math.exp(epsilon) * np.array(right)
    other = np.array(right) - math.exp(epsilon) * np.array(left)
    return max(gap[gap > 0].sum(), other[other > 0].sum()) <= delta + 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("one_sided", [False, True])
def test_no_bettor_gains_on_laws_at_the_edge(epsilon, delta, one_sided):
    rng = np.random.default_rng(3)
    for left, right in edge_laws(epsilon, delta):
        assert keeps(left, right, epsilon, delta)
        for _ in range(12):
            posteriors = rng.choice(POSTERIORS, len(left))
            assert np.all(expected(left, right, posteriors, epsilon, delta, one_sided) <= 1 + 1e-9)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_bettor_gains_on_random_laws_with_the_least_delta_they_keep(epsilon):
    rng = np.random.default_rng(4)
    for _ in range(60):
        left, right = rng.dirichlet([0.5] * 3, 2)
        gap, other = left - math.exp(epsilon) * right, right - math.exp(epsilon) * left
        delta = max(gap[gap > 0].sum(), other[other > 0].sum())
        assert np.all(expected(left, right, rng.choice(POSTERIORS, 3), epsilon, delta, True) <= 1 + 1e-9)


def test_the_penalty_is_tight():
    # epsilon 0, delta 0.3: P = (0.3, 0, 0.7), Q = (0, 0.3, 0.7). Sure guesses on the first two outputs double the
    # wealth each: E A = 0.3 * 2 + 0.7 = 1.3 = 1 + delta e^-0, so that the graded bettor is exactly fair.
    found = expected((0.3, 0.0, 0.7), (0.0, 0.3, 0.7), [1 - 1e-12, 1e-12, 0.5], 0.0, 0.3, False)
    assert found[0] == pytest.approx(1.0, abs=1e-9)


def test_a_law_beyond_the_claim_pays():
    right = 1 / (1 + math.exp(-1.5))
    found = expected((right, 1 - right), (1 - right, right), [right, 1 - right], 1.0, 0.0, False)
    assert found[0] > 1.02


def test_hand_computed_step():
    # theta = 1/2 at epsilon 0; sureness 0.8, right on both: (0.8 / 0.5)^2 = 2.56
    assert steps_of([0.8], [0.2], 0.0, 0.0)[0] == pytest.approx(2.56)
    # right, then wrong: 1.6 * 0.4 = 0.64; divided by (1 + 0.1)^2 at delta 0.1
    assert steps_of([0.8], [0.8], 0.0, 0.1)[0] == pytest.approx(0.64 / 1.21)
    # abstaining costs the penalty all the same
    assert steps_of([0.5], [0.5], 0.0, 0.1)[0] == pytest.approx(1 / 1.21)


def test_a_batch_is_the_product_of_its_steps():
    rng = np.random.default_rng(0)
    left, right = rng.random(20), rng.random(20)
    grid = epsilon_grid(0.4)
    together, apart = Wealth(grid, 0.01, True), Wealth(grid, 0.01, True)
    together.bet(left, right)
    for a, b in zip(left, right, strict=True):
        apart.bet(np.array([a]), np.array([b]))
    assert np.allclose(together.highest, apart.highest)
    assert np.allclose(together._log_wealth, apart._log_wealth)


def test_the_wealth_is_the_sum_of_what_the_bettors_have():
    """Each starts with its share, and its factors multiply; the highest wealth over the steps is kept."""
    left, right = np.array([0.9, 0.8, 0.3]), np.array([0.2, 0.4, 0.1])
    wealth = Wealth(np.array([0.1]), 0.0, False)
    wealth.bet(left, right)
    owned = np.exp(wealth._log_shares[:, :1]) * steps_of(left, right, 0.1, 0.0).cumprod(axis=1)
    assert np.exp(wealth._log_shares[:, 0]).sum() <= 1 + 1e-12
    assert wealth.highest[0] == pytest.approx(math.log(owned.sum(axis=0).max())) != 0.0


def probability(counts):
    """Of one sequence of sides with these counts, by the definition of the weighting."""
    left, right = counts.sum(axis=1)
    uncut = 0.75 * 0.5 ** (left + right) + 0.25 * math.exp(special.betaln(left + 0.5, right + 0.5)) / math.pi
    if counts.shape[1] == 1:
        return uncut
    half = counts.shape[1] // 2
    return 0.5 * uncut + 0.5 * probability(counts[:, :half]) * probability(counts[:, half:])


@pytest.mark.parametrize("cells", [1, 2, 8, 16])
def test_predictions_are_ratios_of_the_definition(cells):
    rng = np.random.default_rng(cells)
    counts = rng.integers(0, 6, (2, cells)).astype(float)
    found = tree_predictions(counts)
    for cell in range(cells):
        with_left, with_right = (counts + np.outer(side, np.eye(cells)[cell]) for side in ((1, 0), (0, 1)))
        left, right = probability(with_left), probability(with_right)
        assert found[cell] == pytest.approx(left / (left + right), abs=1e-12)


def test_nothing_seen_is_no_opinion():
    assert np.all(tree_predictions(np.zeros((2, 512))) == 0.5)


def test_a_rare_cell_is_found_and_the_rest_left_alone():
    counts = np.full((2, 512), 20.0)
    counts[:, 77] = 60.0, 2.0
    found = tree_predictions(counts)
    assert found[77] > 0.9
    assert np.all(np.abs(np.delete(found, 77) - 0.5) < 0.1)


def test_a_direction_is_learned_from_coordinates_that_each_say_little():
    # 2,000 outputs per dataset in 20 coordinates, shift 0.25: odds of the best guess e^(0.25^2 * 20) at distance 1.1
    rng = np.random.default_rng(0)
    left = np.repeat([True, False], 2_000)
    values = rng.normal(size=(4_000, 20)) + np.where(left, 0.125, -0.125)[:, None]
    expert = LinearExpert()
    expert.learn(values, left)
    fresh = rng.normal(size=(4_000, 20)) + np.where(left, 0.125, -0.125)[:, None]
    # the best guess is right with probability 0.71; a useless one on more than 0.65 of 4,000 has chance < 1e-70
    assert np.mean((expert.predict(fresh)[0] > 0.5) == left) > 0.65


def test_a_direction_survives_wild_numbers_and_sleeps_on_nan():
    rng = np.random.default_rng(1)
    values = rng.choice([np.nan, np.inf, -np.inf, 1e308, 0.0, 5e-324, 1.0], size=(300, 3), p=[0.02, *[0.98 / 6] * 6])
    expert = LinearExpert()
    expert.learn(values, rng.random(300) < 0.5)
    found = expert.predict(values)[0]
    assert np.array_equal(np.isnan(found), np.isnan(values).any(axis=1))
    assert np.all((found[~np.isnan(found)] > 0) & (found[~np.isnan(found)] < 1))
