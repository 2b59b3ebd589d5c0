"""Bounds from one run: tails against linear programs and enumerated mechanisms, by hand, at the edge, with ties."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special
from scipy.stats import binom, norm

from audit import GaussianClaim, PrivacyClaim, RenyiClaim, ZeroConcentratedClaim
from audit.extensions.training.canaries.guesses import canary_scores, right_guesses
from audit.extensions.training.canaries.one_run import (
    best_rate,
    epsilon_lower_bound,
    fewest_refuting,
    find_smallest_leak,
    least_wrong,
    mu_lower_bound,
    pvalue,
    tail_at_a_point,
    tail_of_independent,
)

SMALL = [(1, 1, 1), (2, 2, 2), (3, 4, 4), (3, 4, 9), (5, 6, 6), (4, 6, 30), (7, 8, 10)]


def largest_tail(right, guesses, canaries, points):
    """The largest P(W >= right) over the laws of W that keep the hockey stick of one canary at each of the points."""
    i, n = np.arange(1, guesses + 1), guesses + 1
    size = n + guesses * len(points)
    limits, ends = np.zeros((0, size)), []
    for index, (epsilon, delta) in enumerate(points):
        rows, spent = np.zeros((guesses, size)), np.zeros((1, size))
        slack = n + guesses * index + i - 1
        rows[i - 1, i], rows[i - 1, i - 1] = i, -math.exp(epsilon) * (guesses - i + 1)
        rows[i - 1, slack], spent[0, slack] = -1, 1
        limits, ends = np.vstack([limits, rows, spent]), [*ends, *np.zeros(guesses), canaries * delta]
    cost, total = np.zeros(size), np.zeros((1, size))
    cost[right:n], total[0, :n] = -1, 1
    return -optimize.linprog(cost, limits, ends, total, [1.0], method="highs").fun


@pytest.mark.parametrize(("right", "guesses", "canaries"), SMALL)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.0, 0.0), (1.0, 0.0), (0.5, 0.01), (2.0, 0.003)])
def test_the_tail_at_a_point_is_the_optimum_of_its_program(right, guesses, canaries, epsilon, delta):
    found = tail_at_a_point(right, guesses, canaries, epsilon, delta)
    assert found == pytest.approx(largest_tail(right, guesses, canaries, [(epsilon, delta)]), abs=1e-6)


def test_one_canary_by_hand():
    # right with probability delta + (1 - delta) theta: theta = 2/3, delta = .1
    assert tail_at_a_point(1, 1, 1, math.log(2), 0.1) == pytest.approx(0.7)
    # the best guess about a mean that is 0 or 1
    assert tail_of_independent(least_wrong(GaussianClaim(1.0)), 1, 1, 1) == pytest.approx(norm.cdf(0.5))
    assert pvalue(GaussianClaim(1.0), 1, 1, 1) == pytest.approx(norm.cdf(0.5), rel=1e-3)


@pytest.mark.parametrize(("right", "guesses", "canaries"), SMALL)
@pytest.mark.parametrize("mu", [0.3, 1.0])
def test_the_recursion_bounds_every_law_that_keeps_the_claim(right, guesses, canaries, mu):
    """The program sees the claim at 41 points only, which admits a little more."""
    claim = GaussianClaim(mu)
    epsilons = np.linspace(-3.0, 5.0, 41) * mu
    deltas = [norm.cdf(mu / 2 - e / mu) - math.exp(e) * norm.cdf(-mu / 2 - e / mu) for e in epsilons]
    tightest = largest_tail(right, guesses, canaries, list(zip(epsilons, deltas, strict=True)))
    assert tightest <= pvalue(claim, right, guesses, canaries) + 1e-3


def test_the_least_wrong_guesses_are_those_of_the_trade_off_function():
    """At delta = 0.1 and e^epsilon = 2, f(1 - y) = max(0, 0.9 - 2 (1 - y), (y - 0.1) / 2), which cross at y = 0.7."""
    found = least_wrong(PrivacyClaim(math.log(2), 0.1))(np.array([0.05, 0.5, 0.7, 0.9, 1.0]))
    assert found == pytest.approx([0.0, 0.2, 0.3, 0.7, 0.9], abs=1e-9)


def test_the_smallest_leak_that_is_detected_refutes_with_power_08():
    """Randomized response at that epsilon has enough right guesses in 0.8 of the runs, by its binomial law."""
    setting = PrivacyClaim(1.0), 200, 200, 1e-3, "any"
    right = fewest_refuting(*setting)
    assert binom.sf(right - 1, 200, special.expit(find_smallest_leak(*setting))) == pytest.approx(0.8, abs=1e-9)
    assert find_smallest_leak(PrivacyClaim(1.0), 2, 2, 1e-3, "any") == math.inf


def test_enumerated_mechanisms_keep_their_bounds():
    """Outputs of four canaries whose noise depends on each other: the exact P(W >= v) of the best guesses."""
    m = 4
    answers = list(product((0, 1), repeat=m))
    theta, slack = special.expit(1.0), 0.127
    for reveal in (0.0, slack):  # all coins at once, else randomized response: (1, slack)-DP
        tail = np.zeros(m + 1)
        for output in answers:  # by symmetry all coins are 0
            chance = (1 - reveal) * math.prod(1 - theta if bit else theta for bit in output)
            chance += reveal * (sum(output) == 0)
            tail[: m - sum(output) + 1] += chance
        for right in range(1, m + 1):
            assert tail[right] <= tail_at_a_point(right, m, m, 1.0, slack) + 1e-9
    # this mechanism breaks the bound for independent canaries, as it may
    assert tail[m] > tail_of_independent(least_wrong(PrivacyClaim(1.0, slack)), m, m, m)


@pytest.mark.parametrize("share", [0.02, 0.2, 1.0])
def test_a_public_coin_keeps_the_bound_and_almost_meets_it(share):
    """On an event of probability `share`, right guesses f-bar(share y) / share beside wrong ones y: 1-Gaussian DP."""
    canaries, y = 400, 0.01
    right = norm.cdf(norm.ppf(share * y) + 1.0) / share
    guesses = 10  # made where more than ten canaries are shown, else by coins
    rate = right / (right + y)
    shown = share * binom.sf(guesses - 1, canaries, right + y)
    for correct in (6, 8, 10):
        tail = shown * binom.sf(correct - 1, guesses, rate) + (1 - shown) * binom.sf(correct - 1, guesses, 0.5)
        assert tail <= pvalue(GaussianClaim(1.0), correct, guesses, canaries)
    assert tail >= 0.4 * share * rate**guesses


def test_independent_canaries_under_randomized_response_are_binomial():
    claim, theta = PrivacyClaim(1.0), special.expit(1.0)
    for right, guesses, canaries in [(5, 6, 6), (8, 10, 40)]:
        exact = binom.sf(right - 1, guesses, theta)
        assert exact <= pvalue(claim, right, guesses, canaries, "independent") <= exact * 1.001


def test_the_clearest_of_three_gaussian_canaries():
    # the posterior of the largest |x| of three, x from the even mixture of N(1/2, 1) and N(-1/2, 1)
    x = np.linspace(0, 12, 200_001)
    density = norm.pdf(x - 0.5) + norm.pdf(x + 0.5)
    below = np.clip(np.cumsum(density) * (x[1] - x[0]), 0, 1)
    exact = float(np.sum(special.expit(x) * 3 * below**2 * density) * (x[1] - x[0]))
    found = tail_of_independent(least_wrong(GaussianClaim(1.0)), 1, 1, 3)
    assert exact <= found + 1e-4
    assert found == pytest.approx(exact, abs=2e-3)


def test_rates_of_the_best_guess():
    shares = np.array([1e-6, 0.01, 0.3, 1.0])
    rates = best_rate(least_wrong(GaussianClaim(2.0)), shares)
    assert np.all(np.diff(rates) < 0)
    assert rates[-1] == pytest.approx(norm.cdf(1.0))
    right = rates * shares
    assert right == pytest.approx(norm.cdf(norm.ppf(shares - right) + 2.0), rel=1e-6)
    with_delta = best_rate(least_wrong(PrivacyClaim(1.0, 0.1)), np.array([0.05, 1.0]))
    assert with_delta == pytest.approx([1.0, 0.1 + 0.9 * special.expit(1.0)])


def test_other_claims_are_read_off_their_curves():
    pure = RenyiClaim(math.inf, 1.0)  # the curve of epsilon 1
    assert pvalue(pure, 20, 20, 50, "independent") == pytest.approx(special.expit(1.0) ** 20, rel=0.1)
    assert pvalue(PrivacyClaim(1.0), 20, 20, 50) == pytest.approx(special.expit(1.0) ** 20, rel=1e-5)
    weak, strong = (pvalue(ZeroConcentratedClaim(rho), 60, 60, 1_000) for rho in (0.5, 0.05))
    assert strong < weak  # 1-zCDP of one Gaussian: rho = mu^2 / 2
    assert weak >= pvalue(GaussianClaim(1.0), 60, 60, 1_000)


@pytest.mark.parametrize("structure", ["any", "independent"])
def test_bounds_are_where_claims_stop_being_refuted(structure):
    bound = mu_lower_bound(85, 90, 1_000, 0.05, structure)
    assert pvalue(GaussianClaim(bound * 0.999), 85, 90, 1_000, structure) <= 0.05
    assert pvalue(GaussianClaim(bound + 0.01), 85, 90, 1_000, structure) > 0.05
    epsilon = epsilon_lower_bound(85, 90, 1_000, 1e-4, 0.05, structure)
    assert pvalue(PrivacyClaim(epsilon + 1e-3, 1e-4), 85, 90, 1_000, structure) > 0.05
    least = fewest_refuting(GaussianClaim(0.5), 90, 1_000, 0.05, structure)
    tails = [pvalue(GaussianClaim(0.5), right, 90, 1_000, structure) for right in (least - 1, least)]
    assert tails[1] * 0.99 <= 0.05
    assert tails[0] > 0.05


def test_edges():
    assert pvalue(PrivacyClaim(1.0), 0, 5, 5) == 1.0
    assert tail_at_a_point(5, 5, 100, 0.0, 0.5) == 1.0  # the bound of a large delta adds up to more
    assert mu_lower_bound(0, 5, 5, 0.05) == 0.0
    assert fewest_refuting(PrivacyClaim(5.0), 3, 10, 0.05, "any") == 4
    assert pvalue(GaussianClaim(0.0), 200, 200, 1_000) < 1e-12


def test_hand_checked_bounds():
    root = 0.05 ** (1 / 100)  # all of 100 right: theta^100 = .05
    assert epsilon_lower_bound(100, 100, 1000, 0.0, 0.05) == pytest.approx(math.log(root / (1 - root)), abs=1e-5)
    assert epsilon_lower_bound(100, 100, 1000, 1e-5, 0.05) < math.log(root / (1 - root))
    assert epsilon_lower_bound(50, 100, 1000, 0.0, 0.05) == 0.0
    assert epsilon_lower_bound(100, 100, 1000, 1.0, 0.05) == 0.0


@pytest.mark.parametrize("delta", [0.0, 1e-3, 0.02])
@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_exact_validity_on_private_mechanisms(delta, epsilon):
    m, level = 60, 0.05
    refuting = np.array([epsilon_lower_bound(v, m, m, delta, level) > epsilon for v in range(m + 1)])
    theta = math.exp(epsilon) / (1 + math.exp(epsilon))
    each = binom.pmf(range(m + 1), m, delta + (1 - delta) * theta)  # each canary revealed with probability delta
    assert each @ refuting <= level
    at_once = (1 - delta) * binom.pmf(range(m + 1), m, theta)  # all of them revealed together
    at_once[m] += delta
    assert at_once @ refuting <= level
    assert np.all(np.diff(refuting.astype(int)) >= 0)


@pytest.mark.parametrize("guesses", [1, 2, 3, 7])
def test_an_odd_guess_goes_to_the_included(guesses):
    included, left_out = np.arange(10.0, 20.0), np.arange(10.0)
    assert right_guesses(included, left_out, guesses) == guesses
    assert right_guesses(left_out, included, guesses) == 0
    assert right_guesses(np.arange(5.0), np.arange(5.0, 20.0), 1) == 0


def test_ties_never_help():
    assert right_guesses(np.zeros(100), np.zeros(100), 100) == 0
    # one clear canary above a tie of 1 + 1: of two guesses "included" one is right, and one of one "left out"
    assert right_guesses(canary_scores([5.0, 1.0], "scores_in"), np.array([1.0, 0.0]), 3) == 2


@given(
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.lists(st.integers(0, 4), min_size=1, max_size=12),
    st.integers(1, 2),
    st.randoms(),
)
def test_no_way_to_break_ties_gives_fewer_right_guesses(included, left_out, each, random):
    order = [(score, random.random(), 1) for score in included] + [(score, random.random(), 0) for score in left_out]
    order.sort()
    if 2 * each > len(order):
        return
    right = sum(member for *_, member in order[-each:]) + sum(1 - member for *_, member in order[:each])
    assert right_guesses(np.array(included), np.array(left_out), 2 * each) <= right
