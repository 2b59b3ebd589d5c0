"""The sequential game: wrong refutations at the edge of a claim, power, determinism, hostile outputs."""

import math

import numpy as np
import pytest
from scipy import stats

from audit.extensions.sequential.game import play_sequentially
from audit.extensions.sequential.wealth import SequentialOutcome, time_uniform_lower_bound
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


def test_the_bound_needs_all_smaller_epsilons_refuted():
    outcome = SequentialOutcome(9, "budget", 4.0, (0.1, 0.2, 0.3, 0.4), (5.0, 3.5, 1.0, 9.0), "none")
    assert time_uniform_lower_bound(outcome, 0.05) == 0.2
    assert time_uniform_lower_bound(outcome, 0.001) == 0.0
