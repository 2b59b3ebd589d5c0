"""The learners as people call them: on real data, with errors that name what is wrong, and beside their samplers."""

import itertools
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms.distributions import CAUCHY, UNIFORM, cauchy_parity
from mechanisms.learners import CubeMeanRegressor, CubeVoteClassifier
from mechanisms.papers.bousquet2022 import theorem4_10, theorem4_11
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity
from mechanisms.papers.bousquet2022.algorithm4 import VoronoiClassifier
from mechanisms.papers.bousquet2022.algorithm5 import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.papers.bousquet2022.appendix import CAUCHY_CELLS, PAIRED_CELLS, StableRisk
from mechanisms.papers.bousquet2022.cells import Cells, draw_votes, mean_excess
from mechanisms.papers.bousquet2022.grids import CubeTable, hash_rows, keys_of, side_for
from mechanisms.papers.bousquet2022.regression import conditional_mean
from mechanisms.papers.bousquet2022.section3 import CubeProblem, find_law
from mechanisms.papers.bousquet2022.section4 import LAWS, DensityErrors
from mechanisms.papers.bousquet2022.spaces import (
    SQUARE,
    WORDS,
    Circle,
    Cube,
    DenseSequence,
    Lattice,
    PublicPoints,
    radius_for,
)
from mechanisms.papers.bousquet2022.theorem4_10 import (
    INTERVALS,
    THRESHOLDS,
    SemiPrivateLearner,
    interval_error,
    labeling_error,
    threshold_error,
)
from mechanisms.papers.bousquet2022.theorem4_11 import SemiSupervisedLearner, estimate_ranks

LEVEL = 1e-9
PLANE = [
    CubeVoteClassifier(2.0, (0.0, 1.0), None, [0, 1]),
    CubeVoteClassifier(2.0, None, None, [0, 1]),
    VoronoiClassifier(Cube(2), 2.0),
    VoronoiClassifier(SQUARE, 2.0),
    StableVoronoiClassifier(Lattice(2), 2.0, 0.01),
    PairHistogramClassifier(Lattice(2), 2.0, 0.01),
]
OWN = PLANE[2:]
SMALL = np.array([[0.1], [0.4], [0.6], [0.9]]), np.array([0, 1, 0, 1])


@pytest.fixture(scope="module")
def tumors():
    """Two features of 569 tumors in public units, scaled by public bounds; 357 benign, so that 0.627 is the floor."""
    table = load_breast_cancer()
    return np.clip(table.data[:, [7, 20]] / [0.25, 40.0], 0.0, 1.0), table.target


@pytest.mark.parametrize("learner", PLANE, ids=repr)
def test_learners_beat_the_majority_on_real_data_and_a_seed_repeats_them(tumors, learner):
    """569 records and epsilon = 2 leave a few cells; fixed seeds, the mean of five fits lies above the floor."""
    X, y = tumors
    scores = [learner.set_params(random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert np.mean(scores) > 0.66
    assert set(np.unique(learner.predict(X))) <= {0, 1}
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(learner.fit(X, y).predict(X), again.fit(X, y).predict(X))
    assert repr(clone(learner)) == repr(learner)


def test_votes_without_noise_are_the_majorities():
    """At epsilon = 1e308 each cube votes for its majority: exact sums, ties to 0, in a table and beyond 2^16 cubes."""
    X, y = np.random.default_rng(0).random((300, 2)), np.random.default_rng(1).integers(0, 2, 300)
    for columns, bounds in ((2, (0.0, 1.0)), (20, (0.0, 1.0)), (2, None)):
        rows = np.hstack([X] * (columns // 2))
        learner = CubeVoteClassifier(1e308, bounds, None, [0, 1], random_state=0).fit(rows, y)
        table = learner.learner_.table
        assert table.is_hashed == (columns == 20 or bounds is None)
        side = side_for(300, columns)
        cubes = [tuple(row) for row in np.floor(rows / side).clip(max=math.ceil(1 / side) - 1).astype(int).tolist()]
        sums = {cube: sum(y[i] - 0.5 for i in range(300) if cubes[i] == cube) for cube in set(cubes)}
        assert table.grid.side == side
        predicted = learner.predict(rows)
        assert all(predicted[i] == (sums[cubes[i]] > 0) for i in range(300) if sums[cubes[i]])


@pytest.mark.parametrize(
    ("dim", "n", "most", "size"), [(2, 100, 16, 16), (3, 100, 16, 100), (3, 10, 16, 8), (17, 9, 4, 9)]
)
def test_a_table_has_an_entry_for_each_cube_or_as_many_as_records(dim, n, most, size):
    table = CubeTable.for_records(dim, n, most=most)
    X = np.random.default_rng(0).random((5_000, dim))
    entries = table.entry_of(X)
    assert table.size == size
    assert entries.min() >= 0
    assert entries.max() < size
    assert table.sums(X, np.ones(5_000)).sum() == 2_500
    if table.is_hashed:  # spread evenly: 5,000 points in `size` entries
        assert len(np.unique(entries)) > 0.7 * min(size, table.grid.size)
    if table.grid.size > 100 * size:
        assert len(np.unique(entries)) == size  # no entry is left out
    same = table.entry_of(X[:1] + 1e-9)
    assert same[0] == entries[0]


def test_cubes_have_hashes_of_their_own_however_far_they_lie():
    ends = np.array([sign * 2**power + more for power in range(1, 63) for sign in (1, -1) for more in (0, 1)])
    index = np.array(list(itertools.product(np.unique(ends), repeat=2)))
    assert len(np.unique(hash_rows(index))) == len(index) > 50_000
    assert hash_rows(np.array([[1234567]])) == 6457827717110365317  # the first number of SplitMix64 with that seed


def test_a_table_is_not_shared_up_to_2_to_16_cubes():
    X = np.random.default_rng(0).random((70_000, 1))
    released = CubeVoteClassifier(1.0, (0.0, 1.0), None, [0, 1], random_state=0).fit(X, X[:, 0] > 0.5).learner_
    assert not released.table.is_hashed
    assert len(released.votes) == 265  # sqrt(70,000), rounded up


@pytest.mark.parametrize(
    ("learner", "stated"),
    [
        (CubeDensity(), (1.0, 1e-6)),
        (VoronoiClassifier(), (1.0, 0.0)),
        (StableVoronoiClassifier(), (1.0, 1e-6)),
        (PairHistogramClassifier(), (1.0, 1e-6)),
        (SemiPrivateLearner(), (1.0, 0.0)),
        (SemiSupervisedLearner(), (1.0, 1e-6)),
    ],
)
def test_default_budgets(learner, stated):
    assert (learner.epsilon, getattr(learner, "delta", 0.0)) == stated


@pytest.mark.false_alarm(1e-9)
def test_an_unvisited_cube_keeps_its_coin():
    learner = CubeVoteClassifier(1.0, None, None, [0, 1], random_state=1).fit([[0.1], [0.2]], [0, 1])
    far = np.linspace(100, 10_000, 400)[:, None]
    first = learner.predict(far)
    np.testing.assert_array_equal(first, learner.predict(far))
    assert 100 < first.sum() < 300  # 400 fair coins: outside with probability below 1e-22
    learner.predict([[1e300], [-1e300]])


@pytest.mark.parametrize("learner", OWN, ids=repr)
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.1, 0.2]], [2], "`y` must hold labels 0 and 1 only$"),
        ([[0.1, 0.2]], [1, 0], "`[Xy]` must have shape"),
        ([[0.1]], [1], "`X` must have shape"),
        ([[[0.1, 0.2]]], [1], "`X` must have shape"),
        ([[0.1, np.inf]], [1], "`X` must be finite"),
        ([["a", "b"]], [1], "`X` must hold real numbers"),
    ],
)
def test_broken_records_are_refused_by_name(learner, X, y, message):
    before = dict(vars(learner))
    with pytest.raises(InvalidArgument, match=message):
        learner.fit(X, y)
    assert vars(learner) == before  # a fit that raises leaves the release as it was


def test_wrong_use_is_refused():
    builds = [
        lambda: VoronoiClassifier(space=3),
        lambda: StableVoronoiClassifier(space="words"),
        lambda: CubeDensity(dim=0),
        lambda: CubeDensity().density([0.1]),
        lambda: PublicPoints([], "euclidean", 1.0),
        lambda: PublicPoints(["a", "bb"], lambda a, b: len(a) - len(b), 1.0).packing(1.0),
        lambda: VoronoiClassifier(Cube(2)).fit([[0.1, 1.5]], [1]),
        lambda: Circle().points([1.0]),
        lambda: SemiSupervisedLearner().fit([[0.1], [0.2]], [0, 1]),
        lambda: SemiSupervisedLearner().fit([[0.1], [0.2]], [[0], [1]]),
        lambda: VoronoiClassifier(random_state=np.random.default_rng(0)).fit([0.1], [1]),
        lambda: StabilityHistogram(1.0, 0.1).release([(0,), (math.nan,)], np.random.default_rng(0)),
    ]
    for build in builds:
        with pytest.raises(InvalidArgument):
            build()
    with pytest.raises(ValueError, match="Invalid parameter 'scale' for estimator CubeDensity"):
        CubeDensity().set_params(scale=1)
    for ends in ((1, 0), (0, np.inf), (0,), None, "ab"):
        with pytest.raises(ValueError, match="`target_bounds` must be finite"):
            CubeMeanRegressor(target_bounds=ends).fit(SMALL[0], SMALL[1])
    with pytest.raises(ValueError, match="`projection` must"):
        CubeVoteClassifier(bounds=None, projection=np.eye(2), classes=[0, 1]).fit(SMALL[0], SMALL[1])


def test_density_of_real_data_is_one_and_is_sampled(tumors):
    model = CubeDensity(1, 2.0, 0.01, random_state=0).fit(tumors[0][:, 0])
    grid = np.linspace(-1, 2, 300_001)
    assert np.mean(model.density(grid)) * 3 == pytest.approx(1, abs=1e-3)
    drawn = model.sample(5_000)
    assert drawn.shape == (5_000, 1)
    assert np.all(model.density(drawn) > 0)
    raw = CubeDensity(1, 2.0, 0.01, normalize=False, random_state=0).fit(tumors[0][:, 0])
    np.testing.assert_allclose(model.density(grid[::999]) * model.total, raw.density(grid[::999]))
    nothing = CubeDensity(2, 1.0, 1e-6, random_state=0).fit(np.random.default_rng(0).random((20, 2)))
    assert nothing.counts_ == {}
    np.testing.assert_array_equal(nothing.density([[0.5, 0.5], [1.0, 0.0], [0.5, 1.5]]), [1.0, 1.0, 0.0])
    assert nothing.sample(3).shape == (3, 2)


@pytest.mark.false_alarm(LEVEL)
def test_a_concept_is_chosen_by_its_mistakes():
    """The law of the class's fits; half of the epsilon, or twice, is refused."""
    rows, marks = np.tile([0.1, 0.4, 0.6, 0.7, 0.9], 2), np.tile([0, 0, 1, 0, 1], 2)
    learners = [SemiPrivateLearner(THRESHOLDS, (0.2, 0.5, 0.8), 1.0, random_state=seed) for seed in range(2_000)]
    chosen = np.array([theorem4_10.index_of(learner.fit(rows, marks)) for learner in learners])
    for epsilon, right in ((1.0, True), (0.5, False), (2.0, False)):
        law = theorem4_10.make_choice(SemiPrivateLearner(THRESHOLDS, (0.2, 0.5, 0.8), epsilon)).law(
            Labeled(rows, marks)
        )
        assert (law.fit_pvalue(chosen, np.random.default_rng(0)) > LEVEL) == right


def test_cubes_beyond_an_index_are_the_outermost_of_their_side():
    assert keys_of(np.array([[1e300, -1e300]]), 0.5) == [(2**62, -(2**62))]


def test_draws_fall_into_cubes_by_their_counts():
    """Fixed seed; three of four draws lie in the first cube of side 1/2, by hand, within six deviations."""
    density = CubeDensity().set_release({(0,): 3.0, (1,): 1.0}, 4)
    assert np.mean(density.sample(4_000, 0) < 0.5) == pytest.approx(0.75, abs=0.041)


def test_a_regressor_gives_the_mean_of_released_cubes():
    """Counts by hand: cubes of side 1 at levels 0 and 2 above the first feature, and one above the second."""
    density = CubeDensity(2).set_release({(0, 0): 3.0, (0, 2): 1.0, (1, 4): 4.0}, 1)
    assert conditional_mean(density, np.array([[0.5], [1.5], [7.5]])).tolist() == [1.0, 4.5, 2.75]
    assert conditional_mean(density.set_release({}, 1), np.array([[0.5]])).tolist() == [0.5]
    learner = CubeMeanRegressor(1e308, 0.5, (0, 1), None, (2.0, 6.0), random_state=0)
    learner.fit(np.full((64, 1), 0.5), np.full(64, 1e9))  # clipped to 6, in the last cube of side 64^(-1/4)
    assert 6 - 4 * 64**-0.25 <= learner.predict([[0.5]])[0] <= 6 + 4 * 64**-0.25


def test_a_release_has_what_passes_in_the_order_of_the_cells():
    """Without noise one record is dropped, and no order of the records is told."""
    released = StabilityHistogram(1e7, 1e-9).release([(3,)] + [(2, 1)] * 6 + [(0,)] * 50, np.random.default_rng(0))
    assert list(released.items()) == [((0,), pytest.approx(50)), ((2, 1), pytest.approx(6))]
    assert StabilityHistogram(1.0, 0.1).release([], np.random.default_rng(0)) == {}


def test_words_and_circles_are_classified_by_their_distance():
    """The cells of 400 records are those of five words; months are label 1, and each cell has one label here."""
    learner = StableVoronoiClassifier(WORDS, 20.0, 0.01, random_state=0)
    learner.fit(["january"] * 200 + ["tuesday"] * 200, [1] * 200 + [0] * 200)
    assert learner.predict(["january", "january!", "wednesday", "tuesdays"]).tolist() == [1, 1, 0, 0]
    assert learner.predict(["september"]).tolist() == [0]  # a cell without records is not released
    circle = VoronoiClassifier(Circle(), 50.0, random_state=0)
    circle.fit(np.r_[np.full(8, 0.01), np.full(8, 0.99), np.full(16, 0.5)], np.repeat([1, 0], 16))
    np.testing.assert_array_equal(circle.predict([0.01, 0.99, 0.5]), [1, 1, 0])


def test_the_number_of_a_cell_depends_on_no_other_record():
    line = DenseSequence(lambda i: Fraction((-1) ** i * i, 8), lambda a, b: float(abs(a - b)), 1.0, most=200)
    alone = line.keys_of(line.points([Fraction(9, 2)]), 0.5)
    crowd = line.keys_of(line.points([Fraction(k, 3) for k in range(-9, 9)] + [Fraction(9, 2)]), 0.5)
    assert alone[0] == crowd[-1]
    with pytest.raises(InvalidArgument, match=r"hold points within 0\.1 of the first 200 of the sequence"):
        line.keys_of(line.points([Fraction(10**6)]), 0.1)


def test_thresholds_on_real_data(tumors):
    radius, malignant = tumors[0][:, 1], 1 - tumors[1]
    learner = SemiPrivateLearner(THRESHOLDS, np.linspace(0, 1, 41), 1.0, random_state=0).fit(radius, malignant)
    assert learner.score(radius, malignant) > 0.85
    assert len(learner.representatives) == 42
    marks = np.where(np.arange(569) % 2 == 0, malignant, -1)  # half of the records lose their labels
    semi = SemiSupervisedLearner(THRESHOLDS, 1.0, 0.01, draws=100, random_state=0).fit(radius, marks)
    assert semi.score(radius, malignant) > 0.8
    assert semi.density_.total > 0
    assert semi.density_.n_ == np.sum(marks == -1)
    assert len(semi.learner_.public) == 100


# The samplers that reach n = 10^9 have the law of the class at small n: two-sample Kolmogorov-Smirnov tests, 500 draws
# a side, 1e-9 each; a wrong epsilon is rejected at the same level.


def agree(literal, drawn, wrong=None):
    assert stats.ks_2samp(literal, drawn).pvalue > LEVEL
    assert wrong is None or stats.ks_2samp(literal, wrong).pvalue < LEVEL


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize("name", ["smooth", "octants"])
def test_excess_of_cubes(name):
    n, epsilon, law, cells = 200, 0.5, find_law(name), CubeProblem(name, 200).cells
    literal = []
    for index in range(500):
        data = law.sample(n, np.random.default_rng((3, index)))
        learner = CubeVoteClassifier(epsilon, (0.0, 1.0), None, [0, 1], random_state=index)
        fitted = learner.fit(np.reshape(data.X, (n, -1)), data.y).learner_
        literal.append(cells.excess(fitted.votes.astype(float)))

    def draw(wanted, rng):
        counts = [cells.counts(n, rng) for _ in range(500)]
        return [cells.excess(draw_votes(ones - total / 2, wanted, rng)) for total, ones in counts]

    drawn, wrong = (draw(e, np.random.default_rng(4)) for e in (epsilon, epsilon / 3))
    agree(literal, drawn, wrong if name == "smooth" else None)
    assert abs(np.mean(literal) - mean_excess(cells, n, epsilon)) < 6 * np.std(literal) / math.sqrt(500)


def weak(n):
    """A delta at which small samples retain something."""
    return math.log(0.2)


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize(
    ("kind", "epsilon", "cells", "side"),
    [
        (StableVoronoiClassifier, 1.0, CAUCHY_CELLS, radius_for(400, 1.0)),
        (PairHistogramClassifier, 2.0, PAIRED_CELLS, side_for(400, 1)),
    ],
)
def test_risk_of_votes_from_histograms(kind, epsilon, cells, side):
    law, literal = cauchy_parity(), []
    for index in range(500):
        data = law.sample(400, np.random.default_rng((1, index)))
        votes = kind(Lattice(1), epsilon, 0.2, random_state=index).fit(data.X, data.y).votes_
        keys = np.array([key[0] for key in votes], dtype=float)
        ones = Cells.over_boxes(law, (keys - 0.5) * side, (keys + 0.5) * side)
        zero = law.bayes_risk + float(law.cost_of_zero(-np.inf, np.inf))
        literal.append(zero + float(np.sum(ones.cost_of_one - ones.cost_of_zero)))
    is_paired = kind is PairHistogramClassifier
    drawn, wrong = (
        StableRisk(cells, weak, is_paired=is_paired, epsilon=e)(400, 500, np.random.default_rng(2))
        for e in (epsilon, epsilon / 3)
    )
    agree(literal, drawn, wrong)


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize("delta", [0.1, 1e-6])
def test_errors_of_the_density(delta):
    """Uniform records, n = 400 = 20^2, so that cubes fit into [0, 1] and sub-cubes are exact."""
    literal = []
    for index in range(400):
        model = CubeDensity(1, 1.0, delta, False, index).fit(np.random.default_rng((1, index)).random(400))
        heights = np.array([model.counts_.get((j,), 0.0) for j in range(20)]) / 20
        literal.append(float(np.mean(np.abs(1 - heights))))
    drawn, wrong = (
        DensityErrors(LAWS["uniform"], 400, e, math.log(delta)).sample(400, np.random.default_rng(2))[:, 0]
        for e in (1.0, 0.5)
    )
    agree(literal, drawn, wrong)


@pytest.mark.false_alarm(1e-9)
@pytest.mark.parametrize("feature", [UNIFORM, CAUCHY], ids=["uniform", "cauchy"])
def test_errors_of_thresholds_do_not_depend_on_the_feature(feature):
    literal, middle = [], float(feature.quantile(np.array([0.5]))[0])
    for index in range(500):
        rng = np.random.default_rng((4, index))
        X = feature.quantile(rng.random(40))
        learner = SemiPrivateLearner(THRESHOLDS, feature.quantile(rng.random(15)), 1.0, random_state=index)
        chosen = float(learner.fit(X, (middle <= X).astype(int)).concept_[0, 0])
        literal.append(abs((1.0 if np.isinf(chosen) else float(feature.cdf(chosen))) - 0.5))
    rng = np.random.default_rng(5)
    drawn = [threshold_error(0.5, 40, rng.random(15), rng) for _ in range(500)]
    agree(literal, drawn, [threshold_error(0.5, 400, rng.random(150), rng) for _ in range(500)])


@pytest.mark.false_alarm(1e-9)
def test_errors_of_intervals_and_of_semi_supervised_thresholds():
    rng, concept, points = np.random.default_rng(3), np.array([[[0.3], [0.7]]]), np.linspace(0, 1, 4_001)[:, None]
    literal = []
    for seed in range(300):
        rows = rng.random((10, 1))
        learner = SemiPrivateLearner(INTERVALS, rng.random(8), random_state=seed)
        learner.fit(rows, INTERVALS.labels(concept, rows)[0])
        literal.append(np.mean(learner.predict(points) != INTERVALS.labels(concept, points)[0]))
    agree(literal, [interval_error((0.3, 0.7), 10, rng.random(8), rng) for _ in range(300)])
    literal = []
    for seed in range(300):
        X = np.random.default_rng((6, seed)).random(430)
        y = np.r_[(X[:30] >= 0.5).astype(int), np.full(400, -1)]
        learner = SemiSupervisedLearner(THRESHOLDS, 1.0, 400**-2.0, random_state=seed).fit(X, y)
        literal.append(abs(min(float(learner.learner_.concept_[0, 0]), 1.0) - 0.5))
    ranks = (estimate_ranks("uniform", 400, 240, rng) for _ in range(300))
    agree(literal, [threshold_error(0.5, 30, points, rng) for points in ranks])


@pytest.mark.false_alarm(1.2e-6, seeded=True)
def test_errors_of_two_candidates_are_those_of_the_exponential_mechanism():
    """Null: the chance of .2 beside infinity, 8 records, target .5, over all samples; 4,000 draws, five deviations.

    Half of the records lie on the atom, whose cube of 1 / 100 has half of the points; 240 of them, five deviations.
    """
    between, above = np.mgrid[:9, :9]
    chances = stats.multinomial.pmf(np.dstack([between, above, 8 - between - above]), 8, [0.3, 0.5, 0.2])
    wanted = np.sum(chances / (1 + np.exp((between - above) / 2)))
    rng = np.random.default_rng(4)
    found = np.mean([threshold_error(0.5, 8, np.array([0.2]), rng) < 0.4 for _ in range(4_000)])
    assert abs(found - wanted) < 5 * math.sqrt(0.25 / 4_000)
    beside = theorem4_11.points_beside_atom(rng)
    at_atom = (beside * 100).astype(int) == int(theorem4_11.ATOM * 100)
    assert abs(at_atom.mean() - 0.505) < 5 * math.sqrt(0.25 / len(beside))
    assert theorem4_11.ATOM not in beside


def test_a_density_reads_the_unlabeled_records_alone_and_shares_no_seed_with_the_concept(monkeypatch):
    seen = []
    for kind in (CubeDensity, SemiPrivateLearner):

        def fit(self, *given, own=kind.fit):
            seen.append((self.random_state, len(given[0]), self.epsilon))
            return own(self, *given)

        monkeypatch.setattr(kind, "fit", fit)
    y = np.r_[0, 1, 1, np.full(40, -1)]
    SemiSupervisedLearner(THRESHOLDS, 1.3, 0.1, 30, random_state=5).fit(np.linspace(0, 1, 43)[:, None], y)
    assert [part[1:] for part in seen] == [(40, 1.3), (3, 1.3)]
    assert seen[0][0] != seen[1][0]


class Labelings:
    """All labelings of three intervals, as a class that the learner enumerates."""

    dim, vc_dim = 1, 3

    def labels(self, concepts, points):
        return concepts[:, np.clip((3 * points[:, 0]).astype(int), 0, 2)] == 1

    def representatives(self, sample):
        seen = np.unique(np.clip((3 * sample[:, 0]).astype(int), 0, 2))
        rows = np.zeros((2 ** len(seen), 3), dtype=int)
        rows[:, seen] = np.array(list(np.ndindex(*[2] * len(seen)))).reshape(-1, len(seen))
        return rows


@pytest.mark.false_alarm(1e-9)
def test_errors_of_labelings_are_those_of_the_learner_that_enumerates_them():
    rng, literal = np.random.default_rng(8), []
    for seed in range(500):
        public, rows, target = rng.random(3), rng.random(12), rng.integers(2, size=3)
        learner = SemiPrivateLearner(Labelings(), public, random_state=seed).fit(rows, target[(3 * rows).astype(int)])
        literal.append(round(float(np.mean(learner.concept_ != target)), 6))
    drawn = [round(labeling_error(3, 12, rng.random(3), rng), 6) for _ in range(500)]
    agree(literal, drawn, [labeling_error(3, 1, rng.random(3), rng) for _ in range(500)])
