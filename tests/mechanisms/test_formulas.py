"""The closed forms of the five papers, each once more from its text, no argument at its default."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

from audit import Labeled
from mechanisms.papers.bassily2018 import accuracy, noise
from mechanisms.papers.bassily2018.algorithm4 import printed_teachers
from mechanisms.papers.berrett2019.classifier import LocalVoteClassifier, consistent_bandwidth, rate_bandwidth
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import noise_scale as array_scale
from mechanisms.papers.bousquet2022 import algorithm1, cells, grids, spaces, theorem4_10
from mechanisms.papers.bousquet2022.algorithm5 import pair_probability, vote_probability_of_two
from mechanisms.papers.chaudhuri2011 import sample_sizes, separators
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.chaudhuri2011.thresholds import ThresholdClass
from mechanisms.papers.zhao2024.baselines import ResponseEncoder
from mechanisms.papers.zhao2024.vector import VectorEncoder
from mechanisms.parts import vote
from mechanisms.parts.sparse_vector import Noise

log, e = math.log, math.e
RUN = Noise(1.7, 6.0, 4)
EXAMPLES = np.random.default_rng(3).random(40)
QUARTERS = spaces.PublicPoints(np.arange(5)[:, None] / 4, "cityblock", 1.0)
CUTS = np.array([0.0, 0.21, EXAMPLES[5], 0.8, 1.0])


def integral(function, low, high):
    return integrate.quad(function, low, high)[0]


def composed(epsilon, step, copies):
    """Return delta of `copies` of randomized response with odds e^step, by listing all outcomes."""
    p = 1 / (1 + math.exp(-step))
    chances = [(math.comb(copies, k) * p**k * (1 - p) ** (copies - k), k) for k in range(copies + 1)]
    return sum(max(0.0, c - math.exp(epsilon) * c * math.exp((copies - 2 * k) * step)) for c, k in chances)


def tail_of_two(threshold, lam):
    """Return P(Lap(2 lam) + Lap(lam) > threshold) by quadrature."""
    density = stats.laplace(scale=lam).pdf
    far = 60 * lam
    return integrate.quad(
        lambda t: density(t) * stats.laplace.sf(threshold - t, scale=2 * lam),
        -far,
        far,
        points=[0, threshold],
        limit=400,
    )[0]


def agnostic(epsilon, a, beta, kappa, d):
    cover = d * (log(16 / a) + kappa)
    return [32 / a**2 * (cover + log(4 / beta)), 8 / (epsilon * a) * (cover + log(2 / beta))]


def label_error(m, epsilon, a, beta, noise, V):
    root = math.sqrt((8 * V * log(2 * e * m / V) + 4 * log(16 / beta)) / m)
    tail = 2 * (log(math.ceil(4 / a)) + log(2 / beta)) / (epsilon * m)
    B = noise + root * math.sqrt(noise) + root**2 + a / 4 + tail
    return ((root + math.sqrt(root**2 + 4 * B)) / 2) ** 2


def elected(epsilon, delta, count, ones, pairs):
    """Return P(vote = 1) of Algorithm 5, or of Remark 1.8, by draws."""
    rng, b = np.random.default_rng(8), 2 / epsilon
    level = b * log(2 / delta) + 1
    first, second = ((k + rng.laplace(scale=b, size=10**6)) * (k > 0) for k in (count, ones))
    first, second = (np.where(x >= level, x, 0.0) for x in (first, second))
    return np.mean(second > first if pairs else np.minimum(second, first) > first / 2)


FORMULAS = {
    "side": lambda: (grids.side_for(700, 3), 700 ** (-1 / 6)),
    "radius": lambda: (spaces.radius_for(700, 3), 700 ** (-1 / 12)),
    "noise of a count": lambda: (algorithm1.noise_scale(0.3), 2 / 0.3),
    "threshold": lambda: (algorithm1.threshold(0.3, log(0.02)), 2 / 0.3 * log(2 / 0.02) + 1),
    "new label": lambda: (algorithm1.new_label_probability(0.3, 9.0), math.exp(-8 * 0.3 / 2) / 2),
    "noise of an array": lambda: (array_scale(3, 0.4), 16 / 0.4),
    "bandwidth": lambda: (consistent_bandwidth(5_000, 0.3, 3), (5_000 * 0.09) ** (-1 / 12)),
    "bandwidth of the rate": lambda: (rate_bandwidth(5_000, 0.3, 3, 0.5, 2.0, 0.7), (5_000 * 0.42**2) ** (-1 / 7)),
    "bandwidth of the classifier": lambda: (
        LocalVoteClassifier(1.3)._grid(901, 2).bandwidth,
        (450 * 1.69) ** (-1 / 8),
    ),
    "sparse noise": lambda: (noise.sparse_noise(0.7, 0.01, 3, 5.0).lam, math.sqrt(96 * log(100)) / 0.7),
    "printed lam": lambda: (noise.printed(0.7, 0.01, 3, 50).lam, math.sqrt(96 * log(200)) / 0.7),
    "printed threshold": lambda: (
        noise.printed(0.7, 0.01, 3, 50).threshold,
        2 * math.sqrt(96 * log(200)) / 0.7 * log(100 / 0.01),
    ),
    "printed BOTTOMs": lambda: (noise.printed(0.7, 0.01, 3, 50).epochs, 4),
    "soft lam": lambda: (noise.printed_soft(0.7, 0.01, 3, 50).lam, math.sqrt(192 * log(200)) / 0.7),
    "soft threshold": lambda: (
        noise.printed_soft(0.7, 0.01, 3, 50).threshold,
        2 * math.sqrt(192 * log(200)) / 0.7 * log(200 / 0.01),
    ),
    "soft BOTTOMs": lambda: (noise.printed_soft(0.7, 0.01, 3, 50).epochs, 8),
    "pure lam": lambda: (noise.pure(0.7, 0.01, 3).lam, 8 / 0.7),
    "pure threshold": lambda: (noise.pure(0.7, 0.01, 3).threshold, 16 / 0.7 * log(8 / 0.03)),
    "optimal step": lambda: (composed(0.7, 2 / noise.optimal(0.7, 0.03, 3).lam, 4), 0.02),
    "optimal threshold": lambda: (
        noise.optimal(0.7, 0.03, 3).threshold / noise.optimal(0.7, 0.03, 3).lam,
        2 * log(8 / 0.03),
    ),
    "least": lambda: (noise.least(0.7, 0.03, 30).lam, noise.optimal(0.7, 0.03, 30).lam),
    "least of few": lambda: (noise.least(0.7, 0.03, 1).threshold, noise.pure(0.7, 0.03, 1).threshold),
    "composed delta": lambda: (noise.composed_delta(0.9, 0.4, 7), composed(0.9, 0.4, 7)),
    "composed epsilon": lambda: (composed(noise.composed_epsilon(0.05, 0.4, 7), 0.4, 7), 0.05),
    "release": lambda: (noise.release_probability(5.0, 1.7), tail_of_two(5.0, 1.7)),
    "release below": lambda: (noise.release_probability(-5.0, 1.7), tail_of_two(-5.0, 1.7)),
    "unstable": lambda: (noise.unstable_delta(RUN, 3, 0.5), 1 - (1 - tail_of_two(5.5, 1.7)) ** 3),
    "unstable run": lambda: (noise.unstable_delta(RUN, 9), 1 - (1 - tail_of_two(6.0, 1.7)) ** 4),
    "run": lambda: (
        noise.run_delta(RUN, 2.0, 9, 2.0, 1.0),
        composed(2.0, 4 / 1.7, 4) + 1 - (1 - tail_of_two(5.0, 1.7)) ** 4,
    ),
    "teachers": lambda: (
        printed_teachers(0.7, 0.01, 3, 50, 0.05, 3),
        math.ceil(136 * log(600 / 0.01) * math.sqrt(3 * log(200)) / 0.7),
    ),
    "alpha of sparse vector": lambda: (accuracy.sparse_alpha(50, 3, 0.05), 4 * log(300 / 0.05)),
    "alpha of online queries": lambda: (
        accuracy.online_alpha(0.7, 0.04, 50, 3, 0.05),
        34 * log(600 / 0.025) * math.sqrt(3 * log(50)) / 0.7,
    ),
    "agnostic": lambda: (sample_sizes.agnostic_parts(0.7, 0.2, 0.05, 1.5, 2.5), agnostic(0.7, 0.2, 0.05, 1.5, 2.5)),
    "realizable": lambda: (
        sample_sizes.realizable_size(0.02, 0.2, 0.05, 1.5, 2.5),
        math.ceil(40 / (0.012) * (2.5 * (log(80) + 1.5) + log(40))),
    ),
    "realizable deviation": lambda: (
        sample_sizes.realizable_size(2.0, 0.2, 0.05, 1.5, 2.5),
        math.ceil(2000 * (2.5 * (log(80) + 1.5) + log(80))),
    ),
    "label error": lambda: (
        sample_sizes.label_private_error(3e4, 0.7, 0.2, 0.05, 0.1, 2),
        label_error(3e4, 0.7, 0.2, 0.05, 0.1, 2),
    ),
    "uniform deviation": lambda: (
        sample_sizes.uniform_deviation(3e4, 0.05, 2),
        (16 * log(e * 3e4) + 4 * log(80)) / 3e4,
    ),
    "cover of thresholds": lambda: (ThresholdClass().packing_cover(0.09), (np.arange(6) + 0.5) / 6),
    "cover of a circle": lambda: (separators.LinearSeparatorClass(2).cover_size(0.3), 4),
    "cap": lambda: (
        separators.cap_mass(6, 0.8),
        integral(lambda t: math.sin(t) ** 4, 0, 0.8 * math.pi) / integral(lambda t: math.sin(t) ** 4, 0, math.pi),
    ),
    "band": lambda: (
        separators.band_mass(6, 0.3),
        integral(lambda t: (1 - t * t) ** 1.5, -0.3, 0.3) / integral(lambda t: (1 - t * t) ** 1.5, -1, 1),
    ),
    "disagreement of thresholds": lambda: (
        ThresholdClass().sample_disagreement(CUTS[2], CUTS, EXAMPLES),
        [np.mean((CUTS[2] <= EXAMPLES) != (t <= EXAMPLES)) for t in CUTS],
    ),
    "disagreement on the sphere": lambda: (
        separators.LinearSeparatorClass(3).reference_disagreement([[1.0, 0, 0]], [[0.6, 0.8, 0], [-1, 0, 0]]),
        [[math.acos(0.6) / math.pi, 1]],
    ),
    "labeled records": lambda: (
        theorem4_10.labeled_size(0.2, 0.05, 0.7, 3),
        math.ceil(2 * math.ceil(24 * log(100) / 0.2) / 0.7),
    ),
    "visits": lambda: (
        cells.visits_at_most(2, 9, np.array([0.2, 0.5])),
        0.2 * stats.binom.cdf(2, 9, 0.2) + 0.5 * stats.binom.cdf(2, 9, 0.5),
    ),
    "inverse visits": lambda: (
        cells.mean_inverse_visits(9, np.array([0.2, 0.5])),
        sum(m * sum(stats.binom.pmf(k, 9, m) / k for k in range(1, 10)) for m in (0.2, 0.5)),
    ),
    "binomial": lambda: (cells.log_binomial(9, np.array([0, 4, 9]), 0.3), stats.binom.logpmf([0, 4, 9], 9, 0.3)),
    "likely counts": lambda: (cells.likely_counts(10**6, 0.5)[[0, -1]], [10**6 // 2 - 6012, 10**6 // 2 + 6012]),
    "edges": lambda: (grids.edges_within(1.0, 0.4, 0.1), [-1.3, -0.9, -0.5, -0.1, 0.3, 0.7, 1.1]),
    "grid": lambda: (
        (Grid(2, 0.3, -0.5, 1.1).first, Grid(2, 0.3, -0.5, 1.1).last, Grid(2, 0.3, -0.5, 1.1).cells),
        (-2, 4, 49),
    ),
    "packing of a circle": lambda: (spaces.Circle().packing(0.3).centers.ravel(), [0, 1 / 3, 2 / 3]),
    "arcs": lambda: (spaces.Circle().distances(np.array([[0.9]]), np.array([[0.2], [0.5]])), [[0.3, 0.4]]),
    "packing of a cube": lambda: (spaces.Cube(1).packing(0.4).centers.ravel(), [0, 0.4, 0.8]),
    "centers as far apart as the radius": lambda: (
        [len(space.packing(0.25)) for space in (spaces.Circle(), spaces.Cube(1), QUARTERS)],
        [4, 5, 5],
    ),
    "centers of a sequence as far apart as the radius": lambda: (
        list(spaces.centers_of(spaces.DenseSequence(lambda i: i / 4, lambda a, b: abs(a - b), 1.0, most=5), 0.25)),
        [0, 0.25, 0.5, 0.75, 1],
    ),
    "words": lambda: (spaces.edit_distance("summer", "sunday"), 4 / 9),
    "2-adic": lambda: (spaces.dyadic_distance(Fraction(3, 4), Fraction(7, 2)), 4.0),
    "dyadic": lambda: ([float(spaces.fraction(k)) for k in (0, 1, 4, 5, 20)], [0, 0, 1.5, 0, 3.75]),
    "gap": lambda: (vote.gap(np.array([[9, 4, 2], [3, 3, 1]])), [5, 0]),
    "safe": lambda: (vote.safe_distance(np.array([[9, 4, 2], [9, 3, 2], [3, 3, 1], [4, 3, 0]])), [2, 2, 0, 0]),
    "counted votes": lambda: (vote.count_votes(np.array([[0, 3], [3, 3], [1, 0]]), 4), [[1, 1, 0, 1], [1, 0, 0, 2]]),
    "shares of bits": lambda: (
        VectorEncoder(4, 1.6).shares(np.array([[1 / (1 + e**0.8), 1 / (1 + e**-0.8)]])),
        [[0, 1]],
    ),
    "shares of responses": lambda: (
        ResponseEncoder(4, 1.6).shares(np.array([[1.0, math.exp(1.6)]]) / (math.exp(1.6) + 3)),
        [[0, 1]],
    ),
}


@pytest.mark.parametrize("name", FORMULAS)
def test_a_closed_form_is_that_of_its_text(name):
    found, wanted = FORMULAS[name]()
    np.testing.assert_allclose(np.asarray(found, dtype=float), np.asarray(wanted, dtype=float), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(("count", "ones"), [(5, 3), (9, 9), (4, 0), (12, 5)])
@pytest.mark.false_alarm(1e-6)
def test_elections_by_draws(count, ones):
    """Null: the stated chance; a million draws, five deviations."""
    for function, pairs, other in ((vote_probability_of_two, False, count), (pair_probability, True, count - ones)):
        assert abs(function(1.3, 0.2, other, ones) - elected(1.3, 0.2, other, ones, pairs)) < 0.0027


def test_stumps_and_half_planes_in_loops():
    rng = np.random.default_rng(5)
    X, y = rng.random((30, 3)), rng.choice([-1, 1], 30)
    for hypotheses, sign in (
        (StumpClass(3), lambda h, x: h[2] * (x[int(h[0])] - h[1])),
        (separators.LinearSeparatorClass(3), lambda h, x: float(np.dot(h, x))),
    ):
        cover = hypotheses.packing_cover(0.21)
        labels = [[1 if sign(h, x) >= 0 else -1 for x in X] for h in cover]
        np.testing.assert_array_equal(hypotheses.predict(cover, X), labels)
        np.testing.assert_array_equal(hypotheses.mistakes(cover, Labeled(X, y)), (np.array(labels) != y).sum(1))
        assert hypotheses.cover_size(0.21) == len(cover)


@pytest.mark.parametrize("name", ["THRESHOLDS", "SINGLETONS", "INTERVALS", "QUADRANTS"])
def test_a_class_labels_a_sample_in_all_of_its_ways(name):
    concepts = getattr(theorem4_10, name)
    sample = np.random.default_rng(6).random((5, concepts.dim))
    found = {tuple(row) for row in concepts.labels(concepts.representatives(sample), sample).tolist()}
    assert len(found) == len(concepts.representatives(sample))
    some = itertools.combinations(range(5), concepts.vc_dim)
    assert max(len(concepts.representatives(sample[list(few)])) for few in some) == 2**concepts.vc_dim
    column = sample[:, 0]
    ends = [-1.0, *sorted(column), 2.0]
    if name == "THRESHOLDS":
        wanted = {tuple(bool(x >= t) for x in column) for t in ends}
    elif name == "SINGLETONS":
        wanted = {tuple(bool(x == a) for x in column) for a in ends}
    elif name == "INTERVALS":
        wanted = {tuple(bool(a <= x <= b) for x in column) for a, b in itertools.product(ends, ends)}
    else:
        other = [-1.0, *sorted(sample[:, 1]), 2.0]
        wanted = {tuple(bool(x <= a and z <= b) for x, z in sample) for a, b in itertools.product(ends, other)}
    assert found == wanted
