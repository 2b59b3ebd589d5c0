"""The estimators as people use them: scikit-learn's checks, and what a fit leaves."""

import inspect
import pickle
import re
import warnings
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.utils.estimator_checks import check_estimator

from audit.outputs.walk import identify, walk
from mechanisms import learners
from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
    PrivacyLeakWarning,
    PrivacyLedger,
    TeacherVoteClassifier,
)
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.noise import least
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity
from mechanisms.papers.bousquet2022.algorithm4 import VoronoiClassifier
from mechanisms.papers.bousquet2022.algorithm5 import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.papers.bousquet2022.theorem4_10 import SemiPrivateLearner
from mechanisms.papers.bousquet2022.theorem4_11 import SemiSupervisedLearner
from mechanisms.papers.chaudhuri2011.classifier import LabelPrivateCoverClassifier, cover_accuracy
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.zhao2024.classifier import LabelPrivateNetwork, neighbors_for

EVERY = (CubeVoteClassifier, LocalVoteClassifier, CoverClassifier, LabelPrivateNeighbors, TeacherVoteClassifier)
KINDS = pytest.mark.parametrize("kind", EVERY)
PAGE = Path(__file__).parents[2] / "docs" / "learners.md"
RNG = np.random.default_rng(0)
X, MARKS = RNG.normal(size=(60, 4)), RNG.integers(2, size=60)


def test_every_estimator_is_exported_on_the_page_and_unseeded():
    names = {kind.__name__ for kind in (*EVERY, CubeMeanRegressor)}
    assert {kind().random_state for kind in (*EVERY, CubeMeanRegressor)} == {None}
    assert names < set(learners.__all__)
    assert names <= set(re.findall(r"^\| `(\w+)` \|", PAGE.read_text(), flags=re.M))


@pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor])
def test_scikit_learn_has_no_complaint(kind):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = check_estimator(kind(), on_fail=None)
    assert len(done) > 50
    assert [(check["check_name"], check["exception"]) for check in done if check["status"] != "passed"] == []


def test_neighbors_follow_from_public_numbers():
    """2 ln(20 K) / tanh(eps / 4)^2 by hand: 2 ln 200 / tanh(1)^2 = 18.27, and 2 sqrt(1347) = 73.4."""
    assert neighbors_for(1347, 4.0, 10) == 19
    assert neighbors_for(1347, 0.5, 10) == neighbors_for(1347, 1.0, 10) == 73
    assert neighbors_for(2, 1.0, 2) == 2
    learner = LabelPrivateNeighbors(epsilon=4.0, random_state=0).fit(X, MARKS)
    assert learner.learner_.model.n_neighbors == neighbors_for(60, 4.0, 2) == 13


def test_the_cover_follows_from_public_numbers():
    line, plane = LinearSeparatorClass(2), LinearSeparatorClass(3)
    assert cover_accuracy(60, 1.0, plane) == 0.2
    assert cover_accuracy(10**6, 1.0, plane) == 0.1
    between = cover_accuracy(426, 2.0, plane)
    assert 4 / between * (plane.doubling_dim * np.log(16 / between) + np.log(20)) == pytest.approx(426)
    assert cover_accuracy(426, 2.0, line) < between < cover_accuracy(426, 1.8, plane)
    assert CoverClassifier(100.0, projection=1, random_state=0).fit(X, MARKS).learner_.algorithm.accuracy == 0.1
    assert CoverClassifier(accuracy=0.3, random_state=0).fit(X, MARKS).learner_.algorithm.accuracy == 0.3
    every = [
        CoverClassifier(accuracy=0.3, realizable=a)._algorithm(np.zeros((n, 3)))
        for a in (False, True)
        for n in (1, 10**6)
    ]
    assert {len(algorithm.cover(np.zeros(10**6))) for algorithm in every} == {len(plane.packing_cover(0.3 / 4))}


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@KINDS
def test_a_fit_keeps_no_record_no_generator_and_no_seed(kind):
    """Each value of a private record or label is looked for in all that the fitted object holds."""
    learner = kind(random_state=7).fit(X, MARKS)
    again = pickle.loads(pickle.dumps(learner))
    np.testing.assert_array_equal(again.predict(X), learner.predict(X))
    assert [part for part in walk(learner.learner_) if getattr(part, "random_state", None) is not None] == []
    assert not any(isinstance(part, np.random.Generator) for part in walk(learner))
    identify(learner)  # raises where a generator is held
    if learner.relation == "label flip":  # features are public there
        return
    numbers = np.concatenate([np.ravel(part) for part in walk(learner) if isinstance(part, np.ndarray)])
    assert not np.isin(learner._mapped(X).ravel(), numbers).any()


BUDGET_OF = {
    LabelPrivateNeighbors: lambda learner: learner.encoder,
    CoverClassifier: lambda learner: learner.algorithm,
    TeacherVoteClassifier: lambda learner: learner.service,
}


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor])
def test_the_learner_of_the_paper_gets_the_budget_and_the_seed(kind):
    learner = kind(epsilon=2.0, random_state=3).fit(X, MARKS)
    if kind not in (LocalVoteClassifier, CubeVoteClassifier):  # which are the learners of their papers
        inner = BUDGET_OF.get(kind, lambda learner: learner)(learner.learner_)
        assert inner.epsilon == learner.epsilon == 2.0
    if hasattr(learner, "delta"):
        assert inner.delta == learner.privacy_spent_.delta == learner.delta
    again, other = kind(epsilon=2.0, random_state=3).fit(X, MARKS), kind(epsilon=2.0, random_state=4).fit(X, MARKS)
    np.testing.assert_array_equal(learner.predict(X), again.predict(X))
    if kind not in (TeacherVoteClassifier, CubeMeanRegressor):  # silent
        assert not np.array_equal(learner.predict(X), other.predict(X))


def test_teachers_and_their_queries_follow_from_public_numbers():
    """60 records: 30 queries, and 11 teachers; 6,000: the rule, 3 (w + 4 lam) for the cutoff."""
    few, many = TeacherVoteClassifier(random_state=0), TeacherVoteClassifier(10.0, 1e-3, cutoff=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        service = few.fit(X, MARKS).learner_.service
        assert (service.n_teachers, service.max_queries, service.cutoff, service.calibrated) == (11, 30, 1, True)
        assert (service.epsilon, service.delta) == (1.0, 1e-5)
        rows = np.tile(X, (100, 1))
        service = many.fit(rows, np.tile(MARKS, 100)).learner_.service
        own = TeacherVoteClassifier(n_teachers=5, teacher=LogisticRegression(C=2.0), student=LogisticRegression(C=3.0))
        learner = own.fit(X, MARKS).learner_
    noise = least(10.0, 1e-3, 2)
    assert service.n_teachers == round(3 * (noise.threshold + 4 * noise.lam)) > 11
    assert (learner.service.n_teachers, learner.service.learner.C, learner.student.C) == (5, 2.0, 3.0)


def test_half_planes_of_two_features_and_a_constant():
    """By hand: features of the unit cube are stretched to [-1, 1], and one half stands behind them."""
    learner = CoverClassifier(classes=[0, 1], random_state=0).fit(X, MARKS)
    a, b, c = learner.learner_.hypothesis_
    first, second = learner._mapped(X).T
    np.testing.assert_allclose(learner.decision_function(X), a * (2 * first - 1) + b * (2 * second - 1) + c / 2)


def test_features_are_mapped_by_hand():
    """Clipped, scaled to the unit cube, and projected to directions divided by their largest sum over sqrt(d)."""
    bounds, directions = ([-2.0, -1.0, 0.0, -3.0], [2.0, 3.0, 1.0, 3.0]), RNG.normal(size=(4, 2))
    unit = (np.clip(X, *bounds) - bounds[0]) / (np.array(bounds[1]) - bounds[0])
    np.testing.assert_allclose(CubeVoteClassifier(bounds=bounds, projection=None)._mapped(X), unit)
    wanted = ((2 * unit - 1) @ directions / np.abs(directions).sum(axis=0) * 2 / 2 + 1) / 2
    mapping = CubeVoteClassifier(bounds=bounds, projection=directions)._mapped
    found = mapping(X)
    np.testing.assert_array_equal(found[3:4], mapping(X[3:4]))  # no other record is looked at
    np.testing.assert_allclose(found, np.clip(wanted, 0, 1))
    np.testing.assert_array_equal(CubeVoteClassifier(bounds=None, projection=directions)._mapped(X), X @ directions)
    drawn = np.random.default_rng(0).standard_normal((4, 3))
    np.testing.assert_array_equal(CubeVoteClassifier(projection=3)._directions(4), drawn)
    assert CubeVoteClassifier(projection=9)._directions(4).shape == (4, 4)


def test_probabilities_take_the_flips_off():
    """Bits of a class are kept with probability p and set with q: a mean m estimates (m - q) / (p - q)."""
    learner = LabelPrivateNeighbors(epsilon=1.0, n_neighbors=7, random_state=0).fit(X, MARKS)
    means, encoder = learner.learner_.model.scores(learner._mapped(X)) / 7, learner.learner_.encoder
    shares = np.maximum((means - encoder.q) / (encoder.p - encoder.q), 0)
    total = shares.sum(axis=1)
    seen = total > 0
    np.testing.assert_allclose(learner.predict_proba(X)[seen], shares[seen] / total[seen, None])
    assert (learner.predict_proba(X)[~seen] == 0.5).all()
    np.testing.assert_allclose(learner.predict_proba(X).sum(axis=1), 1.0)
    learner.learner_.model.targets = np.zeros_like(learner.learner_.model.targets)
    assert (learner.predict_proba(X) == 0.5).all()  # no bit is set: both classes are equally likely


def test_what_was_spent_adds_up_over_fits_and_follows_no_parameter():
    learner = CubeVoteClassifier(epsilon=10.0, classes=[0, 1])
    for fits in (1, 2, 3, 4, 5):
        assert learner.fit(X, MARKS).privacy_spent_.epsilon == 10.0 * fits
    assert learner.set_params(epsilon=0.01).privacy_spent_ == (50.0, 0.0, "substitution")
    assert pickle.loads(pickle.dumps(learner)).privacy_spent_ == learner.privacy_spent_
    assert not hasattr(clone(learner), "privacy_spent_")
    with pytest.raises(AttributeError):
        learner.release_.spent = None


def test_a_ledger_adds_up_grids_folds_and_one_versus_rest():
    """By hand: three folds of .5, 1 and 4 are 16.5, and the best one is fitted again."""
    learner = CubeVoteClassifier(classes=[0, 1])
    with PrivacyLedger() as grid:
        best = GridSearchCV(learner, {"epsilon": [0.5, 1.0, 4.0]}, cv=3).fit(X, MARKS).best_params_["epsilon"]
    assert len(grid.releases) == 10
    assert grid.spent == ((16.5 + best, 0.0, "substitution"),)
    with PrivacyLedger() as folds, PrivacyLedger() as outer:
        cross_val_score(learner, X, MARKS, cv=5)
        with PrivacyLedger() as rest:
            many = OneVsRestClassifier(learner).fit(X, np.arange(60) % 3)
    assert set(many.predict(X)) <= {0, 1, 2}
    assert folds.spent == outer.spent == ((8.0, 0.0, "substitution"),)
    assert rest.spent == ((3.0, 0.0, "substitution"),)
    learner.fit(X, MARKS)
    assert len(folds.releases) == 8
    with PrivacyLedger() as both:
        for _ in range(2):
            CubeMeanRegressor().fit(X, X[:, 0])
        LabelPrivateNeighbors(2.0).fit(X, MARKS)
    assert both.spent == ((2.0, 2e-4, "substitution"), (2.0, 0.0, "label flip"))


@KINDS
@pytest.mark.filterwarnings("ignore:the teachers labeled")
def test_a_noisy_score_costs_its_budget_and_is_near_the_score(kind):
    """At epsilon 50 the noise is zero in all but one of e^50 draws; a seed repeats it."""
    learner = kind(classes=[0, 1]).fit(X, MARKS)
    before, exact = learner.privacy_spent_, learner.score(X, MARKS)
    with PrivacyLedger() as ledger:
        assert learner.noisy_score(X, MARKS, 50.0) == pytest.approx(exact)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert learner.noisy_score(X.tolist(), MARKS[:, None], 50.0) == pytest.approx(exact)
    assert learner.privacy_spent_ == (before.epsilon + 100.0, before.delta, before.relation)
    assert ledger.spent == ((50.0, 0.0, before.relation),)
    noisy = {learner.noisy_score(X, MARKS, 0.2, random_state=seed) for seed in range(8)}
    assert len(noisy) > 4
    assert all(0 <= each <= 1 for each in noisy)
    with pytest.raises(ValueError, match="`epsilon` must be"):
        learner.noisy_score(X, MARKS, 0.0)


class Constant(CubeVoteClassifier):
    """Predicts the second class."""

    def predict(self, X):
        return np.ones(len(X), dtype=int)


class ConstantLocal(Constant):
    relation = "local"


@pytest.mark.parametrize(("kind", "variance"), [(Constant, 1.5 / 40**2), (ConstantLocal, 3 / 4 / 40)])
def test_the_noise_of_a_score_has_the_law_that_the_claim_needs(kind, variance):
    """By hand at epsilon ln 3, q = 1/3: 2 q / (1 - q)^2 = 3/2; lies of probability 1/4: (3/16) / (1/2)^2 / 40.

    Fixed seeds, the same outcome on each run.
    """
    X, y = np.zeros((40, 1)), np.repeat([0, 1], 20)
    learner = kind(classes=[0, 1]).fit(X, y)
    scores = np.array([learner.noisy_score(X, y, np.log(3.0), random_state=seed) for seed in range(2_000)])
    assert scores.mean() == pytest.approx(0.5, abs=0.02)
    assert scores.var() == pytest.approx(variance, rel=0.15)


@KINDS
@pytest.mark.filterwarnings("ignore:the teachers labeled")
def test_parameters_from_the_data_warn(kind):
    def warned(learner):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            learner.fit(X, MARKS)
        return [str(each.message) for each in caught if each.category is PrivacyLeakWarning]

    assert warned(kind(classes=[0, 1])) == []
    assert ["`classes` are taken" in said for said in warned(kind())] == [True]
    assert ["recomputes the noise" in said for said in warned(kind(classes=[0, 1], random_state=0))] == [True]
    if kind is TeacherVoteClassifier:
        assert ["above 1/n" in said for said in warned(kind(delta=1.5 / 60, classes=[0, 1]))] == [True]


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor])
def test_a_large_epsilon_works_and_weights_are_not_supported(kind):
    assert kind(epsilon=1e4).fit(X, MARKS).privacy_spent_.epsilon == 1e4
    with pytest.raises(TypeError, match=r"`sample_weight` is not supported by `fit`: a record of weight w"):
        kind().fit(X, MARKS, sample_weight=np.ones(60))


@pytest.mark.parametrize("kind", [CubeVoteClassifier, LocalVoteClassifier, CoverClassifier, LabelPrivateNeighbors])
def test_fits_of_many_records_without_a_seed_differ(kind):
    """Five half-planes of 575 are alike with probability 1e-11; other releases are continuous, or longer."""
    rows, marks = np.tile(X, (50, 1)), np.tile(MARKS, 50)
    fits = [pickle.dumps(kind(epsilon=1e-4, classes=[0, 1]).fit(rows, marks).learner_) for _ in range(5)]
    assert len(set(fits)) > 1


def test_an_aggregate_is_cloned_at_its_defaults():
    service = SubsampleAggregate(LogisticRegression(), 11, 1.0, 1e-5, 1, calibrated=True)
    assert clone(service).max_queries == service.max_queries > 256


ALL = pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor])


OWN = [  # learners that are called without the interface of scikit-learn, or by label privacy
    CubeDensity, VoronoiClassifier, StableVoronoiClassifier, PairHistogramClassifier, SemiPrivateLearner,
    SemiSupervisedLearner, LabelPrivateCoverClassifier, LabelPrivateNetwork,
]  # fmt: skip
FOUR = np.array([[0.1], [0.4], [0.6], [0.9]])


def fit(kind, epsilon, **more):
    """Fit any learner to four records of one feature."""
    labels = np.array([0, 1, -1, -1] if kind is SemiSupervisedLearner else [0, 1, 0, 1])
    if "classes" in inspect.signature(kind).parameters:
        more = {"classes": [0, 1], **more}
    return clone(kind()).set_params(epsilon=epsilon, random_state=0, **more).fit(FOUR, labels)


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor, *OWN])
@pytest.mark.parametrize("epsilon", [0, 0.0, -1.0, None, "1", np.nan, np.inf, True, [1.0]], ids=repr)
def test_what_is_no_budget_has_one_error(kind, epsilon):
    text = f"`epsilon` must be finite and > 0, such as 1.0, got {epsilon!r} ({type(epsilon).__name__})"
    with pytest.raises(ValueError, match=re.escape(text)):
        fit(kind, epsilon)
    if kind in EVERY:
        with pytest.raises(ValueError, match=re.escape(text)):
            fit(kind, 1.0).noisy_score(FOUR, [0, 1, 0, 1], epsilon)


OF_COUNTS = (CubeVoteClassifier, CubeMeanRegressor, *OWN[:6])


@pytest.mark.filterwarnings(
    "ignore:the teachers labeled", "ignore:no cube", "ignore:overflow", "ignore::sklearn.exceptions.ConvergenceWarning"
)
@pytest.mark.parametrize("kind", [*EVERY, CubeMeanRegressor, *OWN])
def test_the_edges_of_epsilon(kind):
    """At 1e308 noise is nothing. Where counts are released a double tells noise from nothing down to 2^-52 only."""
    least = 2.0**-52 if kind in OF_COUNTS else 2.0**-51 if kind is LocalVoteClassifier else 1e-9
    for edge in (least, 1e308):
        fitted = fit(kind, edge, **{"bandwidth": 0.5} if kind is LocalVoteClassifier else {})
        assert np.isfinite((fitted.density if kind is CubeDensity else fitted.predict)(FOUR)).all()
    for tiny in (2.0**-53, 1e-310) if kind in OF_COUNTS else ():
        with pytest.raises(ValueError, match=r"`epsilon` must be at least 2\^-52"):
            fit(kind, tiny)


@ALL
@pytest.mark.parametrize(
    ("projection", "got"),
    [
        (np.eye(2), "an array of shape (2, 2)"),
        (np.ones(4), "an array of shape (4,)"),
        (np.ones((4, 1, 1)), "an array of shape (4, 1, 1)"),
        (np.zeros((4, 1)), "an array of shape (4, 1)"),
        (np.full((4, 1), np.nan), "an array of shape (4, 1)"),
        (True, "True (bool)"),
        (0, "0 (int)"),
        (-1, "-1 (int)"),
        (2.0, "2.0 (float)"),
        ("two", "'two' (str)"),
    ],
)
def test_a_projection_of_the_wrong_shape_is_refused(kind, projection, got):
    text = f"without a column of zeros, got {got}"
    with pytest.raises(ValueError, match=re.escape(text)) as raised:
        kind(projection=projection).fit(X, MARKS)
    assert "a number of directions >= 1, or a public matrix of finite numbers of shape (4, k)" in str(raised.value)


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@ALL
def test_a_fit_that_fails_leaves_the_release_as_it_was(kind):
    learner = kind(random_state=1).fit(X, MARKS)
    before, said = dict(vars(learner)), learner.predict(X)
    learner.set_params(bounds=(1, 0))
    with pytest.raises(ValueError, match="`bounds` must be public finite numbers"):
        learner.fit(X[:, :3], np.where(MARKS == 1, "new1", "new0") if kind in EVERY else MARKS)
    learner.set_params(bounds=(-3.0, 3.0))
    assert vars(learner).keys() == before.keys()
    assert learner.release_ is before["release_"]
    np.testing.assert_array_equal(learner.predict(X), said)


FRONT_DOOR = [
    *(
        ("epsilon", value, "`epsilon` must be finite and > 0, such as 1.0")
        for value in (0, -1, None, "1", np.nan, np.inf)
    ),
    *(
        ("bounds", value, "`bounds` must be public finite numbers")
        for value in (
            (-np.inf, np.inf),
            (1, 0),
            (1,),
            {0, 1},
            "ab",
            (0, 1, 2),
            (np.nan, 1),
            ((0,) * 9, (1,) * 9),
            (0, (1, 1, 0, 1)),
        )
    ),
    *(("projection", value, "`projection` must be None, a") for value in (0, -1, "a", np.eye(2), np.nan, 1.5)),
    *(
        ("random_state", value, "`random_state` must be None or an integer >= 0")
        for value in (-1, 1.5, "a", np.random.RandomState(0))
    ),
    *(("classes", value, "`classes` must be a list of labels of one type") for value in ({0, 1}, [], (0, None))),
    ("classes", [0, 5], "labels of `classes` only"),
    *(("classes", value, "`y` must have two classes at least, got 1 class") for value in ([0], 3, "01", {0: 1})),
    *(("cutoff", value, "`cutoff` must be") for value in (0, 1.5, np.nan, 10**12)),
    *(("n_teachers", value, "`n_teachers` must be") for value in (0, 1.5, "a", 10**12)),
    *(("target_bounds", value, "`target_bounds` must be finite") for value in ({0, 1}, (1, 0), None, 3, (0, np.inf))),
    *(("delta", value, "`delta` must ") for value in (0, 1, -1, np.nan, None, "a")),
]


@pytest.mark.filterwarnings("ignore")
@ALL
def test_one_text_for_all_misuses_of_the_front_door(kind):
    mine = [row for row in FRONT_DOOR if row[0] in kind().get_params()]
    assert len(mine) >= 24
    for name, value, message in mine:
        with pytest.raises(ValueError, match=re.escape(message)):
            kind(**{name: value}).fit(X, MARKS)
    if kind is CubeMeanRegressor:
        with pytest.raises(ValueError, match="`y` must hold real numbers"):
            kind().fit(X, np.where(MARKS, "a", "b"))


@pytest.mark.filterwarnings("ignore")
@KINDS
def test_a_noisy_score_has_the_domain_of_its_noise(kind):
    """Below 2^-52 both geometric variables are the largest integer of 64 bits, and the share would be exact."""
    learner = kind(epsilon=1e4, classes=[0, 1], random_state=0).fit(X, MARKS)
    for epsilon in (0, -1, None, "1", np.nan, np.inf, 2.0**-53, 1e-20, 1e-320):
        with pytest.raises(ValueError, match="`epsilon` must be"):
            learner.noisy_score(X, MARKS, epsilon)
    with pytest.raises(TypeError, match="dense data is required"):
        learner.noisy_score(X, csr_matrix(MARKS), 1.0)
    scores = {learner.noisy_score(X, MARKS, 2.0**-52, random_state=seed) for seed in range(20)}
    assert scores == {0.0, 1.0}


def test_teachers_that_answer_teach():
    many = np.random.default_rng(1).normal(size=(8_000, 2))
    marks = (many[:, 0] > 0).astype(int)
    learner = TeacherVoteClassifier(20.0, 1e-3, cutoff=5, teacher=LogisticRegression(C=100.0), random_state=0)
    with pytest.warns(UserWarning, match="the teachers labeled 4% of the points"):
        learner.fit(many, marks)
    assert learner.score(many, marks) > 0.8


def test_a_regressor_without_a_cube_says_so():
    """Six records in two heaps: the threshold is 21."""
    learner = CubeMeanRegressor(bounds=(0, 1), projection=None, target_bounds=(0, 1))
    with pytest.warns(UserWarning, match="no cube"):
        learner.fit(np.repeat([[0.2], [0.8]], 3, axis=0), np.repeat([0.3, 0.6], 3))


def test_the_teachers_answer_nothing_at_epsilon_1():
    """docs/learners.md says so of 8,000 records: the vote is stopped at the first point."""
    X = np.random.default_rng(0).random((8_000, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", learners.PrivacyLeakWarning)
        fitted = learners.TeacherVoteClassifier(epsilon=1.0, classes=[0, 1], random_state=0).fit(X, X[:, 0] > 0.5)
    labels = np.asarray(fitted.learner_.labels_)
    assert len(labels) == 4_000
    assert (labels < 0).all()


@pytest.mark.filterwarnings("ignore:the teachers labeled")
@pytest.mark.parametrize("kind", [CoverClassifier, LabelPrivateNeighbors, TeacherVoteClassifier, CubeVoteClassifier])
def test_one_of_three_classes(kind):
    """One versus the rest asks for `decision_function` or `predict_proba` after it has spent."""
    assert set(OneVsRestClassifier(kind(classes=[0, 1])).fit(X, np.arange(60) % 3).predict(X)) <= {0, 1, 2}
