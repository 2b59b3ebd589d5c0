"""Every argument off its default: laws against plain re-enactments, and learners without noise against plain learners.

The certificate audits each class at a few settings. Here no sensitivity is 1, no count is 2, no bound is 0 or 1, and
what is compared with was written down from the text of the algorithm, in loops.
"""

import itertools
import math
from collections import Counter
from functools import partial

import numpy as np
import pytest
from scipy import stats

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms import learners
from mechanisms.exponential import ExponentialMechanism, MonotoneExponentialMechanism, rank_error, threshold_mistakes
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.laplace import DifferenceOfExponentials, LaplaceMechanism
from mechanisms.noisy_max import ExponentialNoisyMax, GumbelNoisyMax, LaplaceNoisyMax, PermuteAndFlip
from mechanisms.papers.bassily2018.algorithm2 import DistanceToInstability
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease, Transcripts
from mechanisms.papers.bassily2018.algorithm6 import SoftTranscripts
from mechanisms.papers.bassily2018.algorithm8 import histograms
from mechanisms.papers.berrett2019.classifier import noisy_statistic
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import BinaryArray
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity
from mechanisms.papers.bousquet2022.algorithm4 import VoronoiClassifier
from mechanisms.papers.bousquet2022.algorithm5 import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.papers.bousquet2022.cells import draw_votes
from mechanisms.papers.bousquet2022.grids import CubeTable
from mechanisms.papers.bousquet2022.spaces import Circle, Cube, Lattice
from mechanisms.papers.bousquet2022.theorem4_10 import SemiPrivateLearner
from mechanisms.papers.bousquet2022.theorem4_11 import DrawnParts
from mechanisms.papers.chaudhuri2011.classifier import LabelPrivateCoverClassifier
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.chaudhuri2011.thresholds import ThresholdClass
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, PriorResponseEncoder, ResponseEncoder
from mechanisms.papers.zhao2024.classifier import LabelPrivateNetwork
from mechanisms.papers.zhao2024.vector import VectorEncoder
from mechanisms.parts.exponential import choose as choose_many
from mechanisms.parts.sparse_vector import Noise, Runs, SparseVector
from mechanisms.parts.thresholded_count import released_counts
from mechanisms.parts.vote import VoteTable, count_votes
from mechanisms.queries import BoundedMean, BoundedSum, Histogram, column_sums, count_positive
from mechanisms.randomized_response import KeepOrResample, NoisyLabels, RandomizedResponse
from mechanisms.snapping import GridLaplace, SnappedLaplace

ONES, ROWS = np.array([1.0, 1, 1, 0, 0]), np.array([[0.5, 1, 0], [0.25, 1, 0], [0.5, 0, 1], [0, 1, 0.75]])
FAR = np.array([[1.0, 0, 0.5], *ROWS[1:]])  # sums differ by .5, 1 and .5
FIVE = ("a", "b", "c", "d", "e")


def double(dataset):
    return 2 * count_positive(dataset)


def loop(draw):
    """Return a sampler that makes one draw after the other."""
    return lambda data, size, rng: np.array([draw(data, rng) for _ in range(size)])


def noisy_max(kind, scale):
    return loop(lambda data, rng: int(np.argmax(column_sums(data) + scale * getattr(rng, kind)(size=3))))


def choose(errors, rate):
    weights = np.exp(-rate * np.asarray(errors))
    return loop(lambda data, rng: rng.choice(len(weights), p=weights / weights.sum()))


def respond(options, epsilon, own):
    def draw(data, rng):
        keep = rng.random() < math.exp(epsilon) / (math.exp(epsilon) + len(options) - 1)
        return own if keep else rng.choice([option for option in options if option != own])

    return loop(draw)


def sparse(noise, answers):
    """Return sparse vector in its words; paid below the threshold."""

    def draw(data, rng):
        codes, paid, level = [], 0, noise.threshold + rng.laplace(scale=noise.lam)
        fixed = rng.laplace(scale=noise.query_scale * noise.lam) if noise.query_scale else 0.0
        for answer in answers:
            fresh = rng.laplace(scale=noise.query_scale * noise.lam) if noise.query_scale else 0.0
            if paid == noise.epochs:
                codes.append(-1)
            elif answer + (fresh if noise.is_fresh else fixed) > level:
                codes.append(1)
            else:
                codes.append(0)
                paid += 1
                level = noise.threshold + rng.laplace(scale=noise.lam) if noise.is_renewed else level
        return codes

    return loop(draw)


def online(noise, values, distances):
    run = sparse(noise, distances)

    def draw(data, size, rng):
        codes = run(data, size, rng)
        return np.where(codes == 1, values, codes - 1)

    return draw


def soft(noise, scores, bins):
    """Return Algorithm 6 in its words: two histograms a query, up to 2 T + 2 BOTTOMs."""

    def stable(cells, count, rng, level):
        table = [list(cells).count(k) for k in range(count)]
        gap = sorted(table)[-1] - sorted(table)[-2]
        distance = max(0, math.ceil(gap / 2) - 1)
        return int(np.argmax(table)), distance + rng.laplace(scale=2 * noise.lam) > level

    def draw(data, rng):
        codes, paid, level = [], 0, noise.threshold + rng.laplace(scale=noise.lam)
        for column in scores.T:
            if paid > noise.epochs - 2:
                codes.append(-2)
                continue
            plain = [max(math.ceil(score * bins) - 1, 0) for score in column]
            best, passed = stable(plain, bins, rng, level)
            if passed:
                codes.append(2 * best + 1)
                continue
            paid, level = paid + 1, noise.threshold + rng.laplace(scale=noise.lam)
            shifted = [math.ceil(score * bins - 0.5) - 1 for score in column]
            best, passed = stable([cell for cell in shifted if 0 <= cell < bins - 1], bins - 1, rng, level)
            if passed:
                codes.append(2 * best + 2)
                continue
            codes.append(-1)
            paid, level = paid + 1, noise.threshold + rng.laplace(scale=noise.lam)
        return codes

    return loop(draw)


def laplace(center, scale):
    return lambda data, size, rng: center + rng.laplace(scale=scale, size=(size, *np.shape(center)))


def geometric(center, ratio, low=-math.inf, high=math.inf, step=1.0):
    def draw(data, size, rng):
        shape = (size, *np.shape(center))
        noise = np.floor(rng.exponential(size=shape) / -math.log(ratio)) - np.floor(
            rng.exponential(size=shape) / -math.log(ratio)
        )
        return step * np.clip(center + noise, low, high)

    return draw


def thresholded(counts, epsilon, delta):
    def draw(data, size, rng):
        noisy = counts + rng.laplace(scale=2 / epsilon, size=(size, len(counts)))
        kept = (noisy >= 2 / epsilon * math.log(2 / delta) + 1) & (np.array(counts) > 0)
        return np.where(kept, noisy, 0.0)

    return draw


def bits(own, count, epsilon):
    chance = np.where(np.arange(count) == own, 1 / (1 + math.exp(-epsilon / 2)), 1 / (1 + math.exp(epsilon / 2)))
    return lambda data, size, rng: (rng.random((size, count)) < chance).astype(int)


def cells_of(point, label, half):
    """Return bits of the grid -1, ..., 2 of spacing .7 on each axis, in the window [-.6, 1.2]^2."""
    axis = [j for j in range(-1, 3) if math.floor(-0.6 / 0.7 + 0.5) <= j <= math.floor(1.2 / 0.7 + 0.5)]
    held = [all(abs(x - 0.7 * j) < 0.7 for x, j in zip(point, at, strict=True)) for at in itertools.product(axis, axis)]
    return np.array(held, dtype=float) * (label if half == 2 else 1)


SPOTS = ((0.1, 0.1), 1), ((0.3, 0.8), 1)
APART = np.abs(cells_of(*SPOTS[0], 2) - cells_of(*SPOTS[1], 2)).sum()


def fixed_answers(data):
    return np.array([3, 0, 2, 5]), np.array([4.0, 0.0, 7.0, math.inf])


NOISES = [
    Noise(1.7, 2.5, 3),
    Noise(0.9, -1.5, 2, query_scale=0.5),
    Noise(1.3, 0.7, 2, query_scale=0.0),
    Noise(1.1, 2.0, 3, is_renewed=False),
]
SCORES = np.array([[0.1, 0.3, 0.9], [0.3, 0.3, 0.6], [0.35, 0.55, 0.6], [0.3, 0.9, 0.5], [0.8, 0.3, 0.65]])
ERRORS = [abs(v) for v in (4.0, 1.0, 0.5, 2.0)]
CALIBRATED = OnlineQueryRelease(6.0, 0.2, 2, 9, is_calibrated=True).noise


MAXIMA = ((LaplaceNoisyMax, "laplace"), (ExponentialNoisyMax, "exponential"), (GumbelNoisyMax, "gumbel"))


def four_answers(data):
    return np.array([3.0, 1.0, 4.0, 2.0])


def four_errors(data, candidates):
    return np.array(ERRORS)


SAMPLED = {  # a mechanism, its data, and the text of its law
    "laplace": (LaplaceMechanism(column_sums, 3.0, 0.7), ROWS, laplace(column_sums(ROWS), 3 / 0.7)),
    "exponentials": (DifferenceOfExponentials(column_sums, 2.0, 0.7), ROWS, laplace(column_sums(ROWS), 2 / 0.7)),
    "geometric": (
        GeometricMechanism(Histogram((0, 1, 2)), 4, 0.9),
        [0, 1, 1],
        geometric(np.array([1, 2, 0]), math.exp(-0.9 / 4)),
    ),
    "truncated": (TruncatedGeometric(count_positive, 2, 0.8, most=4), ONES, geometric(3, math.exp(-0.4), 0, 4)),
    "on a grid": (
        GridLaplace(double, 2.5, 1.4, places=1, steps=20),
        ONES,
        geometric(12, math.exp(-1.4 / 6), -20, 20, 0.5),
    ),
    "snapped": (
        SnappedLaplace(double, 0.7, 9.0),
        ONES,
        lambda data, size, rng: np.clip(2 * np.round((6 + rng.laplace(scale=1 / 0.7, size=size)) / 2), -9, 9),
    ),
    **{
        f"{noise} max{' monotone' * monotone}": (
            kind(column_sums, 0.9, 3.0, monotone),
            ROWS,
            noisy_max(noise, (1 if monotone else 2) * 3 / 0.9),
        )
        for kind, noise in MAXIMA
        for monotone in (False, True)
    },
    "flips": (PermuteAndFlip(column_sums, 0.9, 3.0), ROWS, noisy_max("exponential", 6 / 0.9)),
    "exponential": (ExponentialMechanism(four_errors, (0, 1, 2, 3), 3.0, 1.4), ONES, choose(ERRORS, 1.4 / 6)),
    "monotone": (MonotoneExponentialMechanism(four_errors, (0, 1, 2, 3), 3.0, 1.4), ONES, choose(ERRORS, 1.4 / 3)),
    "response": (RandomizedResponse(FIVE, 0.7), "d", respond(FIVE, 0.7, "d")),
    "resampled": (KeepOrResample(FIVE, 0.7), "e", respond(FIVE, 0.7, "e")),
    "labels": (
        NoisyLabels(FIVE, 0.7),
        Labeled(np.zeros(3), np.array(["e", "a", "c"])),
        lambda data, size, rng: np.stack([respond(FIVE, 0.7, own)(data, size, rng) for own in "eac"], axis=1),
    ),
    "histogram": (
        StabilityHistogram(1.5, 0.3, ("a", "b", "c", "d")),
        ["a"] * 5 + ["c"] + ["d"] * 9,
        thresholded([5, 0, 1, 9], 1.5, 0.3),
    ),
    "heights and a concept": (
        DrawnParts(1.5, 0.3),
        Labeled(np.array([0.1] * 9 + [0.9] * 5), np.array([-1] * 9 + [0, 1, 1, 1, 1])),
        lambda data, size, rng: np.c_[
            thresholded([9, 0, 0], 1.5, 0.3)(data, size, rng), choose([1, 4], 1.5 / 2)(data, size, rng)
        ],
    ),
    **{
        f"sparse vector {at}": (SparseVector(four_answers, noise), ONES, sparse(noise, [3, 1, 4, 2]))
        for at, noise in enumerate(NOISES)
    },
    "stability": (
        DistanceToInstability(lambda data: (4, 3.0), 0.8, 0.2, sensitivity=2.0, scale=1.5),
        ONES,
        lambda data, size, rng: np.where(
            3 + rng.laplace(scale=1.5 * 2 / 0.8, size=size) > 2 * math.log(1 / 0.2) / 0.8, 4, -1
        ),
    ),
    "online": (Transcripts(fixed_answers, CALIBRATED), ONES, online(CALIBRATED, *fixed_answers(None))),
    "soft labels": (SoftTranscripts(4, Noise(0.6, 0.8, 4)), SCORES, soft(Noise(0.6, 0.8, 4), SCORES, 4)),
    "vector": (VectorEncoder(4, 1.6), 2, bits(2, 4, 1.6)),
    "labels of 6": (ResponseEncoder(6, 1.3), 4, respond(range(6), 1.3, 4)),
    "with prior": (PriorResponseEncoder(5, 0.4, prior=(2, 9, 7, 0, 1)), 2, respond((1, 2), 0.4, 2)),
    "one hot": (LaplaceEncoder(4, 0.8), 3, laplace(np.eye(4)[3], 2 / 0.8)),
    **{
        f"array of half {half}": (
            BinaryArray(2, 3.0, 0.7, half, -0.6, 1.2),
            ((0.5, 0.75), label),
            laplace(cells_of((0.5, 0.75), label, half), 8 / 3.0),
        )
        for half, label in ((1, 0), (2, 1))
    },
}  # fmt: skip


def places_of(draws):
    """Return draws as rows of numbers; texts become their places."""
    table = np.asarray(draws)
    if table.dtype.kind == "U":
        table = np.searchsorted(np.array(FIVE), table)
    return table.reshape(len(table), -1).astype(float)


@pytest.mark.parametrize("name", SAMPLED)
@pytest.mark.false_alarm(1e-7)
def test_a_mechanism_draws_what_its_text_says_and_states_it(name):
    """Null: the same law. 4,000 draws of either; a test of each coordinate and of each pair of neighbors' product."""
    mechanism, data, text = SAMPLED[name]
    found = mechanism(data, 4_000, np.random.default_rng(11))
    here, there = places_of(found), places_of(text(data, 4_000, np.random.default_rng(12)))
    assert here.shape == there.shape
    moved = [np.roll(table, 1, axis=1) * table for table in (here, there)]
    for one, other in (*zip(here.T, there.T, strict=True), *zip(moved[0].T, moved[1].T, strict=True)):
        values = np.unique(np.r_[one, other])
        if values.size == 1:
            continue
        if values.size <= 60:
            table = np.array([[np.sum(side == value) for value in values] for side in (one, other)])
            table = np.c_[table[:, table.sum(0) >= 20], table[:, table.sum(0) < 20].sum(1)]
            assert (
                stats.chi2_contingency(table[:, table.sum(0) > 0]).pvalue > 1e-9
                if (table.sum(0) > 0).sum() > 1
                else True
            )
        else:
            assert stats.ks_2samp(one, other).pvalue > 1e-9
    if callable(getattr(mechanism, "law", None)):
        stated = np.asarray(text(data, 4_000, np.random.default_rng(13)))
        own = found if stated.dtype.kind == "U" else stated.astype(np.asarray(found).dtype)
        assert mechanism.law(data).fit_pvalue(own, np.random.default_rng(14)) > 1e-9


@pytest.mark.parametrize(
    ("mechanism", "left", "right", "epsilon"),
    [
        (LaplaceMechanism(column_sums, 2.0, 0.7), ROWS, FAR, 0.7),
        (GeometricMechanism(Histogram((0, 1, 2)), 4, 0.9), [0, 0, 1], [1, 2, 1], 0.9),
        (GeometricMechanism(double, 3, 0.9), ONES, ONES[1:], 0.6),
        (TruncatedGeometric(double, 2, 0.8, most=6), ONES, ONES[1:], 0.8),
        (GridLaplace(double, 1.5, 0.8, 1, 20), ONES, ONES[1:], 0.8),
        (RandomizedResponse(FIVE, 0.7), "a", "e", 0.7),
        (VectorEncoder(4, 1.6), 0, 3, 1.6),
        (ResponseEncoder(6, 1.3), 0, 5, 1.3),
        (LaplaceEncoder(4, 0.8), 1, 3, 0.8),
        (PriorResponseEncoder(5, 0.4, prior=(2, 9, 7, 0, 1)), 1, 2, 0.4),
        (BinaryArray(2, 3.0, 0.7, 2, -0.6, 1.2), *SPOTS, 3 / 8 * APART),
        (StabilityHistogram(1.5, 0.3, ("a", "b")), ["a"] * 99 + ["b"] * 99, ["a"] * 98 + ["b"] * 100, 1.5),
    ],
)
def test_the_epsilon_of_a_pair_is_that_of_its_distance(mechanism, left, right, epsilon):
    loss = mechanism.law(left).loss_against(mechanism.law(right))
    assert loss.epsilon(1e-12) == pytest.approx(epsilon, rel=1e-6)


def test_gaussian_noise_by_its_formula():
    exact, textbook = (kind(column_sums, 3.0, 0.8, 0.01) for kind in (GaussianMechanism, ClassicalGaussian))
    assert textbook.deviation == pytest.approx(3 * math.sqrt(2 * math.log(125)) / 0.8, rel=1e-12)
    half = 1.5 / exact.deviation
    tail = 0.8 * exact.deviation / 3
    delta = stats.norm.cdf(half - tail) - math.exp(0.8) * stats.norm.cdf(-half - tail)
    assert delta == pytest.approx(0.01, rel=1e-6)
    for mechanism in (exact, textbook):
        drawn = (mechanism(ROWS, 40_000, np.random.default_rng(1)) - column_sums(ROWS)) / mechanism.deviation
        assert np.abs(np.cov(drawn.T) - np.eye(3)).max() < 0.04
        assert [law.scale for law in mechanism.law(ROWS).laws] == [mechanism.deviation] * 3


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 1.7])
def test_the_gaussian_loss_of_several_sums_is_that_of_their_distance(epsilon):
    """Balle & Wang 2018, equation 6, of sums that move by .5, 1 and .5; by the law of the outputs as well."""
    mechanism = GaussianMechanism(column_sums, 2.0, 0.7, 0.01)
    moved = math.sqrt(1.5) / mechanism.deviation
    tails = [stats.norm.cdf(sign * moved / 2 - epsilon / moved) for sign in (1, -1)]
    for loss in (mechanism.privacy_loss(ROWS, FAR), mechanism.law(ROWS).loss_against(mechanism.law(FAR))):
        assert loss.delta(epsilon) == pytest.approx(tails[0] - math.exp(epsilon) * tails[1], rel=1e-6)


def test_queries_and_scores_in_loops():
    data = [-4.0, 1.25, 3.0, 99.0]
    assert BoundedSum(-1.0, 5.0)(data) == -1 + 1.25 + 3 + 5
    assert BoundedMean(-1.0, 5.0)(data) == (-1 + 1.25 + 3 + 5) / 4
    assert BoundedMean(-1.0, 5.0).sensitivity(4) == pytest.approx(1.5, rel=1e-12)
    assert rank_error([1, 1, 2, 5, 9], (0, 1, 2, 7)).tolist() == [2.5, 0.5, -0.5, 1.5]
    thresholds = threshold_mistakes(Labeled(np.array([0.1, 0.5, 0.5, 0.9]), np.array([1, 0, 1, 1])), (0.0, 0.5, 0.7))
    assert thresholds.tolist() == [1, 2, 3 - 1]


N, SURE = 900, 1e7  # records, and an epsilon without noise
POINTS = np.random.default_rng(7).uniform(-1.5, 4.5, size=(N, 2))
NAMES = np.where(np.sin(POINTS[:, 0]) + POINTS[:, 1] / 3 > 0.6, "yes", "no")
THREE = np.digitize(POINTS[:, 0], [0.5, 2.5])
ENDS = (np.array([-1.0, 0.0]), np.array([4.0, 3.0]))
UNIT = (np.clip(POINTS, *ENDS) - ENDS[0]) / (ENDS[1] - ENDS[0])


def majority(keys, labels):
    """Return a label for each key; the first class unless more than half are the second."""
    return {key: int(np.mean([y for k, y in zip(keys, labels, strict=True) if k == key]) > 0.5) for key in set(keys)}


def cube(rows, side):
    last = math.ceil(1 / side - 1e-9) - 1
    return [tuple(min(math.floor(x / side), last) for x in row) for row in rows]


def sure(kind, **more):
    return kind(epsilon=SURE, bounds=ENDS, projection=None, **more)


def test_the_regressor_without_noise_is_the_mean_of_the_middles():
    target = np.clip(2 * POINTS[:, 0] - 1, -2.0, 5.0)
    fitted = sure(learners.CubeMeanRegressor, delta=1e-9, target_bounds=(-2.0, 5.0)).fit(POINTS, 2 * POINTS[:, 0] - 1)
    side = N ** (-1 / 6)
    keys = cube(np.c_[UNIT, (target + 2) / 7], side)
    counts, middles = Counter(keys), {}
    for *key, level in keys:
        if counts[*key, level] > 1:  # a count of 1 stays below every threshold
            middles.setdefault(tuple(key), []).append((level + 0.5) * side)
    wanted = [-2 + 7 * np.mean(middles[tuple(key)]) for *key, _ in keys]
    np.testing.assert_allclose(fitted.predict(POINTS), wanted, rtol=1e-3)


@pytest.mark.parametrize("hypotheses", ["half-planes", "stumps"])
def test_covers_without_noise_have_the_fewest_mistakes(hypotheses):
    fitted = sure(learners.CoverClassifier, hypotheses=hypotheses, accuracy=0.2, classes=["no", "yes"]).fit(
        POINTS, NAMES
    )
    algorithm = fitted.learner_.algorithm
    rows = UNIT if hypotheses == "stumps" else np.c_[2 * UNIT - 1, np.full(N, 0.5)]
    signs = np.where(NAMES == "yes", 1, -1)
    if hypotheses == "stumps":
        steps = max(1, math.ceil(1 / (2 * 0.2 / 4) - 1e-9))
        every = [(j, (i + 0.5) / steps, side) for j in range(2) for i in range(steps) for side in (1, -1)]
        wrong = [np.sum(np.where(s * (rows[:, j] - t) >= 0, 1, -1) != signs) for j, t, s in every]
    else:
        wrong = [np.sum(np.where(rows @ g >= 0, 1, -1) != signs) for g in algorithm.cover(rows)]
    assert np.sum(fitted.predict(POINTS) != NAMES) == min(wrong)
    np.testing.assert_array_equal(fitted.decision_function(POINTS) >= 0, fitted.predict(POINTS) == "yes")


def test_thresholds_without_noise_have_the_fewest_mistakes():
    line, ends = POINTS[:, :1], (-1.0, 4.0)
    labels = np.where(line[:, 0] > 1.1, "b", "a")
    fitted = LabelPrivateCoverClassifier(SURE, 0.04, ends, None, ["a", "b"]).fit(line, labels)
    assert np.mean(fitted.predict(line) != labels) <= 0.01 + 1 / N
    np.testing.assert_array_equal(fitted.decision_function(line) >= 0, fitted.predict(line) == "b")


@pytest.mark.parametrize("method", ["vector", "response", "two stages", "laplace"])
def test_neighbors_without_noise_count_labels(method):
    """In two stages a label that no record of the first half has nearby is drawn anew: not at this seed."""
    more = {"method": method, "classes": [0, 1, 2], "random_state": 0}
    fitted = sure(learners.LabelPrivateNeighbors, n_neighbors=7, **more).fit(POINTS, THREE)
    asked = POINTS[:200]
    unit = UNIT[:200]
    near = np.argsort(((unit[:, None] - UNIT[None]) ** 2).sum(2), axis=1)[:, :7]
    votes = np.stack([(THREE[near] == c).sum(1) for c in range(3)], axis=1)
    sorted_votes = np.sort(votes, axis=1)
    clear = sorted_votes[:, -1] > sorted_votes[:, -2]
    assert clear.mean() > 0.9
    np.testing.assert_array_equal(fitted.predict(asked)[clear], votes.argmax(1)[clear])
    if method != "laplace":
        np.testing.assert_allclose(fitted.predict_proba(asked), votes / 7, atol=1e-6)


def test_local_votes_without_noise_are_shares_of_the_halves():
    fitted = learners.LocalVoteClassifier(SURE, 0.3, ENDS, None, ["no", "yes"]).fit(POINTS, NAMES)
    grid = fitted.learner_.grid
    held = np.array(
        [[all(abs(x - 0.3 * j) < 0.3 for x, j in zip(row, at, strict=True)) for at in grid.indices] for row in UNIT]
    )
    share, ones = held.mean(0), (held * (NAMES == "yes")[:, None]).mean(0)
    np.testing.assert_allclose(fitted.learner_.values, ones - share / 2, atol=0.12)
    assert np.abs(np.mean(fitted.learner_.values - (ones - share / 2))) < 0.03
    wanted = fitted.decision_function(POINTS)
    place = [
        int(np.argmin([max(abs(x - 0.3 * j) for x, j in zip(row, at, strict=True)) for at in grid.indices]))
        for row in UNIT
    ]
    np.testing.assert_array_equal(wanted, fitted.learner_.values[place])
    np.testing.assert_array_equal(fitted.predict(POINTS) == "yes", wanted >= 0)


@pytest.mark.parametrize(("space", "width"), [(Circle(), 1), (Cube(2), 2)])
def test_voronoi_cells_without_noise_vote_by_majority(space, width):
    rows, labels = UNIT[:, :width] * 0.999, (NAMES == "yes").astype(int)
    fitted = VoronoiClassifier(space, SURE).fit(rows, labels)
    radius = N ** (-1 / (4 * width))
    axis = np.arange(math.floor(1 / radius)) / math.floor(1 / radius) if width == 1 else np.arange(0, 1, radius)
    centers = np.array(list(itertools.product(axis, repeat=width)))
    gaps = np.abs(rows[:, None] - centers[None])
    gaps = np.minimum(gaps, 1 - gaps) if width == 1 else gaps
    cells = gaps.max(2).argmin(1).tolist()
    votes = majority(cells, labels)
    assert fitted.predict(rows).tolist() == [votes[cell] for cell in cells]


def elect_both(records, ones):
    """Return the vote of a cell: a count of 1 stays below every threshold."""
    return int(records > 1 and ones > 1 and ones > records / 2)


def elect_pair(records, ones):
    zeros = records - ones
    return int(ones > 1 and ones > (zeros if zeros > 1 else 0))


@pytest.mark.parametrize(
    ("kind", "power", "elect"),
    [(StableVoronoiClassifier, 1 / 8, elect_both), (PairHistogramClassifier, 1 / 4, elect_pair)],
)
def test_stable_cells_without_noise_vote_by_majority(kind, power, elect):
    labels, radius = (NAMES == "yes").astype(int), N**-power
    fitted = kind(Lattice(2), SURE, 1e-9).fit(POINTS, labels)
    cells = [tuple(math.floor(x / radius + 0.5) for x in row) for row in POINTS]
    records, ones = Counter(cells), Counter(cell for cell, label in zip(cells, labels, strict=True) if label)
    votes = {cell: elect(records[cell], ones[cell]) for cell in records}
    ties = {cell for cell in votes if 2 * ones[cell] == records[cell]}
    sure = [at for at, cell in enumerate(cells) if cell not in ties]
    assert fitted.predict(POINTS)[sure].tolist() == [votes[cells[at]] for at in sure]
    assert fitted.predict(POINTS + 1e3).tolist() == [0] * N
    assert fitted.votes_ == tuple(sorted(fitted.votes_))


def test_a_density_without_noise_is_the_share_of_each_cube():
    side = N**-0.25
    cells = [tuple(math.floor(x / side) for x in row) for row in POINTS]
    counts = Counter(cells)
    for normalize in (True, False):
        fitted = CubeDensity(2, SURE, 1e-9, normalize).fit(POINTS)
        kept = {cell: count for cell, count in counts.items() if count > 1}  # 1 stays below every threshold
        wanted = [kept.get(cell, 0) / (sum(kept.values()) if normalize else N) / side**2 for cell in cells]
        np.testing.assert_allclose(fitted.density(POINTS), wanted, rtol=1e-5)
        drawn = [tuple(math.floor(x / side) for x in row) for row in fitted.sample(5_000, np.random.default_rng(3))]
        assert set(drawn) <= set(kept)
        common, times = counts.most_common(1)[0]
        assert abs(drawn.count(common) - 5_000 * times / sum(kept.values())) < 6 * math.sqrt(5_000 * times / N)


def test_a_semi_private_learner_without_noise_has_the_fewest_mistakes():
    public, labels = np.array([[0.2], [0.45], [0.7]]), (UNIT[:, 0] > 0.5).astype(int)
    fitted = SemiPrivateLearner(public=public, epsilon=SURE).fit(UNIT[:, :1], labels)
    wrong = {t: np.sum((UNIT[:, 0] >= t) != labels) for t in (0.2, 0.45, 0.7, math.inf)}
    assert np.sum(fitted.predict(UNIT[:, :1]) != labels) == min(wrong.values())


RELEASED = {
    learners.CubeVoteClassifier: {"dim", "n", "is_bounded", "votes"},
    learners.CubeMeanRegressor: {"dim", "epsilon", "delta", "normalize", "random_state", "counts_", "n_"},
    learners.CoverClassifier: {"algorithm", "hypothesis_"},
    LabelPrivateCoverClassifier: {"algorithm", "hypothesis_"},
    learners.LocalVoteClassifier: {"grid", "values"},
    learners.LabelPrivateNeighbors: {"encoder", "model", "seed", "released"},
    LabelPrivateNetwork: {"encoder", "model", "seed", "released"},
    learners.TeacherVoteClassifier: {"service", "student", "public", "random_state", "labels_", "student_"},
}


@pytest.mark.parametrize("kind", RELEASED, ids=lambda kind: kind.__name__)
@pytest.mark.filterwarnings("ignore")
def test_a_fitted_object_holds_its_release_and_no_more(kind):
    labels = POINTS[:60, 0] if kind is learners.CubeMeanRegressor else NAMES[:60]
    X = POINTS[:60, :1] if kind is LabelPrivateCoverClassifier else POINTS[:60]
    fitted = kind(epsilon=2.0, projection=None).fit(X, labels)
    fixed = (
        set(kind().get_params())
        | {"n_features_in_", "release_"}
        | ({"classes_"} if labels.dtype.kind == "U" else set())
    )
    assert set(vars(fitted)) == fixed
    assert set(vars(fitted.learner_)) == RELEASED[kind]
    assert fitted.privacy_spent_[:2] == (2.0, getattr(fitted, "delta", 0.0))
    assert fitted.fit(X, labels).privacy_spent_[:2] == (4.0, 2 * getattr(fitted, "delta", 0.0))


@pytest.mark.parametrize(
    "kind", [VectorEncoder, ResponseEncoder, LaplaceEncoder, partial(PriorResponseEncoder, prior=(2, 9, 7, 4))]
)
def test_a_posterior_is_bayes_rule(kind):
    encoder, prior = kind(4, 0.7), np.array([0.1, 0.2, 0.3, 0.4])
    released = encoder.release(np.array([0, 1, 2, 3] * 5), np.random.default_rng(2))
    laws = [encoder.law(label) for label in range(4)]
    for row, found, plain in zip(
        released, encoder.posterior(released, prior), encoder.posterior(released), strict=True
    ):
        likely = np.array([chance_of(law, row) for law in laws])
        np.testing.assert_allclose(found, prior * likely / (prior * likely).sum(), rtol=1e-9)
        np.testing.assert_allclose(plain, likely / likely.sum(), rtol=1e-9)


def chance_of(law, row):
    if hasattr(law, "pmf"):
        return law.pmf.get(int(row), 0.0)
    return math.prod(
        part.pmf[int(value)] if hasattr(part, "pmf") else math.exp(-abs(value - part.loc) / part.scale)
        for part, value in zip(law.laws, row, strict=True)
    )


@pytest.mark.parametrize("count", [3, 60, 5_000])
def test_votes_of_any_number_of_cells_have_the_stated_chances(count):
    """Sums of halves on both sides of 0, ties among them; each chance is met within five deviations."""
    sums = np.resize([-1.5, -0.5, 0.0, 0.5, 1.0, 2.5], count)
    draws = 600_000 // count
    shares = np.mean(draw_votes(np.broadcast_to(sums, (draws, count)), 0.7, np.random.default_rng(count)), axis=0)
    for value in np.unique(sums):
        chance, many = float(stats.laplace.sf(-value, scale=1 / 0.7)), draws * np.sum(sums == value)
        assert abs(shares[sums == value].mean() - chance) < 5 * math.sqrt(chance * (1 - chance) / many)


def test_large_counts_are_counted():
    many = ["a"] * 70_000 + ["b"] * 300
    assert Histogram(("a", "b"))(many).tolist() == [70_000, 300]
    sure = GeometricMechanism(Histogram(("a", "b")), 2, 1e3)(many, 3, np.random.default_rng(0))
    assert sure.tolist() == [[70_000, 300]] * 3
    assert LaplaceMechanism(Histogram(("a", "b")), 2.0, 1e12)(many, 1, np.random.default_rng(0)).round().tolist() == [
        [70_000, 300]
    ]
    assert column_sums([[0.25, 0, 1], [0.5, 0, 0]]).tolist() == [0.75, 0, 1]
    points, right = np.resize([[0.25, 0.75]], (70_000, 2)), np.array([[70_000], [0]])
    assert count_votes(np.ones((70_000, 1), dtype=np.int8), 2).tolist() == [[0, 70_000]]
    assert [part.tolist() for part in histograms(np.full((70_000, 1), 0.3), 2)] == [[[70_000, 0]], [[70_000]]]
    assert Grid(2, 0.5).count(points).tolist() == [0, 70_000, 70_000, 0, 70_000, 70_000, 0, 0, 0]
    assert CubeTable.for_records(2, 16).sums(points, np.ones(70_000)).tolist() == [0, 35_000, 0, 0]
    for hypotheses, both in (
        (ThresholdClass(), np.array([0.5, 0.1])),
        (LinearSeparatorClass(2), np.array([[-1.0, 0.0], [1.0, 0.0]])),
        (StumpClass(2), np.array([[0, 0.5, 1], [0, 0.5, -1]])),
    ):
        X = points[:, 0] if isinstance(hypotheses, ThresholdClass) else points
        assert hypotheses.mistakes(both, Labeled(X, np.ones(70_000))).tolist() == right.ravel().tolist()
    with pytest.raises(InvalidArgument, match="be labels 0 to 1"):
        VoteTable(2)(np.array([[0], [2]]))


NEVER_TWICE = {
    "votes of cells": lambda rng: draw_votes(np.zeros(300_000), 0.7, rng),
    "votes of many tables": lambda rng: draw_votes(np.zeros((1_000, 300)), 0.7, rng),
    "counts": lambda rng: released_counts(np.ones(300_000), 2.0, -math.inf, 1, rng),
    "tests": lambda rng: Runs(Noise(1.0, 0.0, 10**6), 30_000, rng).ask(np.zeros(10)).T,
    "local arrays": lambda rng: BinaryArray(1, 1.0, 0.4)((0.3, 1), 100_000, rng),
    "statistic": lambda rng: noisy_statistic(np.zeros(300_000), np.zeros(300_000), (7, 8), 1.0, rng),
    "bits": lambda rng: VectorEncoder(3, 0.1).release(np.zeros(100_000, dtype=int), rng),
    "responses": lambda rng: ResponseEncoder(4, 0.1).release(np.zeros(300_000, dtype=int), rng),
    "noisy vectors": lambda rng: LaplaceEncoder(3, 0.1).release(np.zeros(100_000, dtype=int), rng),
    "sums": lambda rng: LaplaceMechanism(column_sums, 3.0, 1.0)(ROWS, 100_000, rng),
    "whole counts": lambda rng: GeometricMechanism(Histogram(FIVE), 2, 0.1)(["a"], 60_000, rng),
    "choices": lambda rng: choose_many(np.zeros(16), 1.0, 300_000, rng),
}


@pytest.mark.parametrize("draw", NEVER_TWICE.values(), ids=NEVER_TWICE)
@pytest.mark.false_alarm(1e-7)
def test_no_stretch_of_noise_comes_twice(draw):
    """Null: independent draws, none with a value likelier than 3/4, and 128 in a row are those of another place.

    That is .625^128 for each of 5e10 pairs, and 2^-64 where only the sums agree.
    """
    drawn = np.ascontiguousarray(np.ravel(draw(np.random.default_rng(5))))
    words = drawn.view(np.uint64) if drawn.dtype == float else drawn.astype(np.uint64)
    weights = np.random.default_rng(6).integers(2**64, size=128, dtype=np.uint64)
    stretches = sum(words[at : at + len(words) - 127] * weight for at, weight in enumerate(weights))
    assert len(np.unique(stretches)) == len(stretches) > 60_000


def test_draws_fill_their_cubes():
    fitted = CubeDensity(1, SURE, 1e-9).fit(UNIT[:, :1])
    inside = (fitted.sample(4_000, np.random.default_rng(2)) / N**-0.5) % 1
    assert stats.kstest(inside.ravel(), "uniform").pvalue > 1e-9
