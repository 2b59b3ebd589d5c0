"""The learners as a data scientist uses them: on real data, with errors that name what is wrong."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import stats

from audit.errors import InvalidArgument
from mechanisms.consistency.any_space import Integers, PublicPoints
from mechanisms.consistency.concepts import Intervals, Quadrants, Singletons, Thresholds
from mechanisms.consistency.cube_classifier import CubeClassifier
from mechanisms.consistency.cube_density import CubeDensity
from mechanisms.consistency.cube_regressor import CubeRegressor
from mechanisms.consistency.learner_theorems import mean_error
from mechanisms.consistency.metric_votes import WORDS
from mechanisms.consistency.semi_private import (
    SemiPrivateLearner,
    interval_error,
    labeled_size,
    public_size,
    quadrant_error,
)
from mechanisms.consistency.semi_supervised import SemiSupervisedLearner
from mechanisms.consistency.spaces import Circle, Cube, EuclideanSquare
from mechanisms.consistency.stable_votes import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.consistency.voronoi import VoronoiClassifier

BOUNDED = [CubeClassifier(2, 2.0), VoronoiClassifier(Cube(2), 2.0, dim=1.0), VoronoiClassifier(EuclideanSquare(), 2.0)]
UNBOUNDED = [
    CubeClassifier(2, 2.0, bounded=False),
    StableVoronoiClassifier(2, 2.0, 0.01),
    PairHistogramClassifier(2, 2.0, 0.01),
]
EVERY = pytest.mark.parametrize("learner", [*BOUNDED, *UNBOUNDED], ids=repr)


@pytest.fixture(scope="module")
def tumours():
    """Two features of 569 tumours in public units, scaled by public bounds; 357 benign, so that 0.627 is the floor."""
    datasets = pytest.importorskip("sklearn.datasets")
    table = datasets.load_breast_cancer()
    X = np.clip(table.data[:, [7, 20]] / [0.25, 40.0], 0.0, 1.0)  # mean concave points, worst radius
    return X, table.target


@EVERY
def test_learners_beat_the_majority_on_real_data(tumours, learner):
    """569 records and epsilon = 2 leave a few cells; fixed seeds, the mean of five fits lies above the floor."""
    X, y = tumours
    scores = [learner.set_params(random_state=seed).fit(X, y).score(X, y) for seed in range(5)]
    assert np.mean(scores) > 0.66
    assert set(np.unique(learner.predict(X))) <= {0, 1}


@EVERY
def test_a_seed_repeats_a_fit_and_parameters_survive(tumours, learner):
    X, y = tumours
    again = pickle.loads(pickle.dumps(learner.set_params(random_state=3)))
    np.testing.assert_array_equal(learner.fit(X, y).predict(X), again.fit(X, y).predict(X))
    assert learner.get_params()["random_state"] == 3
    assert repr(learner).startswith(type(learner).__name__)


def test_scikit_learn_can_clone_them():
    base = pytest.importorskip("sklearn.base")
    for learner in [*BOUNDED, *UNBOUNDED]:
        assert repr(base.clone(learner)) == repr(learner)


@pytest.mark.parametrize("learner", BOUNDED, ids=repr)
def test_features_outside_the_cube_are_refused(learner):
    with pytest.raises(InvalidArgument, match=r"`X` must lie in the cube \[0, 1\]\^2; scale it .* got 1\.5"):
        learner.fit([[0.1, 1.5]], [1])


@EVERY
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[0.1, 0.2]], [2], "`y` must hold labels 0 and 1 only, got 2"),
        ([[0.1, 0.2]], [1, 0], "`y` must have shape"),
        ([[0.1]], [1], "`X` must have shape"),
        ([[0.1, np.inf]], [1], "`X` must be finite"),
        ([["a", "b"]], [1], "`X` must hold real numbers"),
    ],
)
def test_broken_records_are_refused_by_name(learner, X, y, message):
    with pytest.raises(InvalidArgument, match=message):
        learner.fit(X, y)


@pytest.mark.parametrize(
    "build",
    [
        lambda: CubeClassifier(epsilon=0),
        lambda: CubeClassifier(dim=0),
        lambda: VoronoiClassifier(space=3),
        lambda: StableVoronoiClassifier(delta=0.0),
        lambda: StableVoronoiClassifier(space="words"),
        lambda: StableVoronoiClassifier(space=Integers()).fit([0.5], [1]),
        lambda: PublicPoints([]),
        lambda: PublicPoints([1, 2], lambda a, b: a - b).doubling_dim,
        lambda: CubeDensity(delta=1.5),
        lambda: CubeClassifier().set_params(scale=1),
        lambda: CubeClassifier().set_params(epsilon=-1.0),
        lambda: CubeClassifier().predict([[0.1]]),
        lambda: SemiSupervisedLearner().fit([[0.1], [0.2]], [0, 1]),
        lambda: SemiSupervisedLearner().fit([[0.1], [0.2]], [[0], [1]]),
    ],
)
def test_wrong_use_is_refused(build):
    with pytest.raises(InvalidArgument):
        build()


@pytest.mark.false_alarm(1e-22)
def test_an_unvisited_cube_keeps_its_coin():
    learner = CubeClassifier(1, 1.0, bounded=False, random_state=1).fit([0.1, 0.2], [0, 1])
    far = np.linspace(100, 10_000, 400)
    first = learner.predict(far)
    np.testing.assert_array_equal(first, learner.predict(far))
    assert 100 < first.sum() < 300  # 400 fair coins: outside with probability below 1e-22


def test_density_of_real_data_is_one_and_is_sampled(tumours):
    X, _ = tumours
    model = CubeDensity(1, 2.0, 0.01, random_state=0).fit(X[:, 0])
    grid = np.linspace(-1, 2, 300_001)
    assert np.mean(model.density(grid)) * 3 == pytest.approx(1, abs=1e-3)
    drawn = model.sample(5000)
    assert drawn.shape == (5000, 1)
    assert np.all(np.isfinite(model.score_samples(drawn)))


def test_density_falls_back_where_nothing_is_retained():
    model = CubeDensity(2, 1.0, 1e-6, random_state=0).fit(np.random.default_rng(0).random((20, 2)))
    assert model.counts_ == {}
    np.testing.assert_array_equal(model.density([[0.5, 0.5], [0.5, 1.5]]), [1.0, 0.0])
    assert model.sample(3).shape == (3, 2)
    raw = CubeDensity(1, 1.0, 1e-6, normalize=False, random_state=0).fit([0.1])
    assert raw.density([0.1])[0] == 0


@pytest.mark.parametrize("concepts", [Thresholds(), Intervals(), Quadrants(), Singletons()], ids=repr)
def test_representatives_are_one_for_each_dichotomy(concepts):
    """Against labelings by many random concepts of the class; Sauer's bound holds."""
    rng = np.random.default_rng(5)
    sample = rng.random((6, concepts.dim))
    chosen = concepts.representatives(sample)
    rows = {tuple(row) for row in concepts.labels(chosen, sample).tolist()}
    assert len(rows) == len(chosen) <= (np.e * 6 / concepts.vc_dim) ** concepts.vc_dim
    pool = concepts.candidates(np.vstack([rng.random((25, concepts.dim)), sample]))
    assert {tuple(row) for row in concepts.labels(pool, sample).tolist()} <= rows


def test_semi_private_thresholds_on_real_data(tumours):
    X, y = tumours
    radius, benign = X[:, 1], y
    public = np.linspace(0, 1, 41)
    learner = SemiPrivateLearner(Thresholds(), public, 1.0, random_state=0).fit(radius, 1 - benign)
    assert learner.score(radius, 1 - benign) > 0.85
    assert len(learner.representatives_) == 42


def test_semi_supervised_thresholds_on_real_data(tumours):
    """Half of the records lose their labels; the density of their feature stands in for public points."""
    X, y = tumours
    marks = np.where(np.arange(len(y)) % 2 == 0, 1 - y, -1)
    learner = SemiSupervisedLearner(Thresholds(), 1.0, 0.01, draws=100, random_state=0).fit(X[:, 1], marks)
    assert learner.score(X[:, 1], 1 - y) > 0.8
    assert learner.density_.total_ > 0


def test_sizes_that_are_enough():
    assert (public_size(0.1, 0.1), labeled_size(0.1, 0.1, 1.0)) == (240, 1468)
    assert (public_size(0.1, 0.1, 2), labeled_size(0.1, 0.1, 1.0, 2)) == (591, 2633)


def test_the_circle_joins_its_ends():
    learner = VoronoiClassifier(Circle(), 50.0, random_state=0)
    points = np.r_[np.full(8, 0.01), np.full(8, 0.99), np.full(16, 0.5)]
    learner.fit(points, np.r_[np.ones(16), np.zeros(16)].astype(int))
    np.testing.assert_array_equal(learner.predict([0.01, 0.99, 0.5]), [1, 1, 0])


def test_words_are_classified_by_their_edit_distance():
    """The cells of 400 records are those of five words; months are label 1, and each cell has one label here."""
    learner = StableVoronoiClassifier(epsilon=20.0, delta=0.01, random_state=0, space=WORDS)
    learner.fit(["january"] * 200 + ["tuesday"] * 200, [1] * 200 + [0] * 200)
    assert learner.predict(["january", "january!", "wednesday", "tuesdays"]).tolist() == [1, 1, 0, 0]
    assert learner.predict(["september"]).tolist() == [0]  # a cell without records is not released


def test_a_regressor_gives_the_mean_of_released_cubes():
    """Counts by hand: cubes of side 1 at levels 0 and 2 above the first feature, and one above the second."""
    learner = CubeRegressor().fit(np.zeros(16), np.zeros(16))
    density = learner.density_
    density.side_, density.counts_ = 1.0, {(0, 0): 3.0, (0, 2): 1.0, (1, 4): 4.0}
    assert learner.predict([0.5, 1.5, 7.5]).tolist() == [1.0, 4.5, 2.75]
    density.counts_ = {}
    assert learner.predict([0.5]).tolist() == [0.5]
    with pytest.raises(InvalidArgument, match="`y` must"):
        learner.fit(np.zeros(2), [0.0, np.nan])


def test_mean_error_on_two_shattered_points_by_hand():
    """One label: the unseen point is a coin, and the seen one is wrong with probability 1 / (1 + e^(epsilon / 2))."""
    for epsilon in (0.5, 4.0):
        error = mean_error(Intervals(), np.array([[0.2], [0.7]]), 1, epsilon)
        assert error == pytest.approx(0.25 + 0.5 / (1 + np.exp(epsilon / 2)))


@pytest.mark.parametrize(
    ("kind", "drawn", "target"), [(Intervals, interval_error, (0.3, 0.7)), (Quadrants, quadrant_error, (0.6, 0.7))]
)
@pytest.mark.false_alarm(1e-09)
def test_errors_by_sums_have_the_law_of_the_learner(kind, drawn, target):
    """300 errors each: under the null the Kolmogorov-Smirnov p-value is below 1e-9 with probability 1e-9."""
    rng, concepts = np.random.default_rng(3), kind()
    concept, points = np.array([target]), rng.random((4000, concepts.dim))
    literal = []
    for seed in range(300):
        public, rows = rng.random((8, concepts.dim)), rng.random((10, concepts.dim))
        learner = SemiPrivateLearner(concepts, public, random_state=seed).fit(rows, concepts.labels(concept, rows)[0])
        literal.append(np.mean(learner.predict(points) != concepts.labels(concept, points)[0]))
    summed = [drawn(target, 10, 8, rng) for _ in range(300)]
    assert stats.ks_2samp(literal, summed).pvalue > 1e-9
