"""The classes that people call: sessions against laws, services and students, what they refuse and what they keep.

Null of the randomized tests: the sampler has the stated law; exact tests of `audit.laws` at 1e-8 each, fixed seeds.
"""

import copy
import math
import pickle
import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from audit import AuditError
from audit.errors import InvalidArgument
from audit.laws import Finite
from mechanisms.estimators import Classifier
from mechanisms.papers.bassily2018 import as_called
from mechanisms.papers.bassily2018.algorithm2 import DistanceToInstability, Majority, labels
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease, Transcripts
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.algorithm5 import KnowledgeTransferLearner, coins_for_silence
from mechanisms.papers.bassily2018.algorithm6 import SoftLabelService
from mechanisms.papers.bassily2018.algorithm8 import both_tests, classify, histograms
from mechanisms.papers.bassily2018.classifier import IndiscreetTeacher
from mechanisms.papers.bassily2018.faults import OverlappingChunks
from mechanisms.papers.bassily2018.noise import least, printed, printed_soft
from mechanisms.papers.bassily2018.teachers import Constant, chunks_of, hard_answers, soft_answers
from mechanisms.parts.sparse_vector import TOP, Noise
from mechanisms.parts.thresholds import best_thresholds
from tests.offenders import refused

N = 20_000
SHORT = Noise(1.0, 4.0, 2)


class LeastError(Classifier):
    """The threshold of the least empirical error."""

    def fit(self, X, y):
        self.threshold_ = float(best_thresholds(np.reshape(X, (1, -1)), np.reshape(y, (1, -1)))[0])
        return self

    def predict(self, X):
        return (np.ravel(X) >= self.threshold_).astype(np.int64)


def follows(outputs, law, seed=3):
    return law.fit_pvalue(np.asarray(outputs), np.random.default_rng(seed)) > 1e-8


def questions(dataset):
    """Five questions at the distances 3, 5, 0, 6, 4, with values 0 to 4."""
    return np.arange(5), np.array([3.0, 5.0, 0.0, 6.0, 4.0])


@pytest.mark.false_alarm(1e-08)
def test_an_adaptive_session_has_the_law_of_the_transcripts():
    release = OnlineQueryRelease(1.0, 1e-6, 1, 5)
    object.__setattr__(release, "noise", SHORT)
    values, distances = questions(None)

    def play():
        session = release.open(None, rng)
        return [session.ask(lambda _, j=j: (int(values[j]), distances[j])) for j in range(5)]

    rng = np.random.default_rng(2)
    law = Transcripts(questions, SHORT).law(None)
    assert follows([play() for _ in range(4_000)], law)
    assert follows(Transcripts(questions, SHORT)(None, N, rng), law)


@pytest.mark.parametrize("records", range(1, 8))
def test_majority_knows_how_far_it_is_from_change(records):
    for ones in range(records + 1):
        value, distance = Majority()(labels(ones, records))
        steps = [abs(ones - other) for other in range(records + 1) if Majority()(labels(other, records))[0] != value]
        if steps:
            assert distance == min(steps) - 1


@pytest.mark.parametrize(("bins", "scores", "first", "second"), [
    (4, [0.0, 0.25, 0.26, 1.0], [2, 1, 0, 1], [2, 0, 0]),
    (4, [0.125, 0.375, 0.375, 0.875], [1, 2, 0, 1], [2, 0, 1]),
    (2, [0.2, 0.3, 0.7, 0.8], [2, 2], [2]),
    (1, [0.2, 0.9, 0.1, 0.5], [4], []),
])  # fmt: skip
def test_histograms(bins, scores, first, second):
    plain, shifted = histograms(np.array(scores)[:, None], bins)
    assert plain[0].tolist() == first
    assert shifted.shape == (1, bins - 1)
    assert shifted[0].tolist() == second


def test_scores_in_single_precision_are_binned_as_the_numbers_that_they_are():
    scores = np.arange(11, dtype=np.float32)[:, None] / 10  # .3 is above .3 there, and .7 below
    for found, wanted in zip(histograms(scores, 10), histograms(scores.astype(float), 10), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_a_single_bin_never_fails():
    (codes, near), _ = both_tests(np.full((5, 1), 0.3), 1)
    assert (codes.tolist(), np.isinf(near).all()) == ([1], True)
    _, (shifted, far) = both_tests(np.full((5, 1), 0.3), 2)
    assert (shifted.tolist(), np.isinf(far).all()) == ([2], True)


class Recorder:
    """One run that passes what it is told to, and writes down what it is asked."""

    def __init__(self, *passes, paid=0):
        self.left, self.calls = list(passes), []
        self.paid, self.noise = np.array([paid]), Noise(1.0, 0.0, 4)

    def ask(self, answers, rows):
        self.calls += np.ravel(answers).tolist()
        return np.array([[TOP if self.left.pop(0) else 0] for _ in rows]).reshape(-1, 1)


def test_the_shifted_partition_is_asked_where_the_first_fails():
    """Codes 3 and 4 at distances 5 and 6; T = 1, so that a counter of 3 ends the run."""
    for passes, paid, answer, calls in (
        ([True], 0, 3, [5]), ([False, True], 2, 4, [5, 6]), ([False, False], 0, -1, [5, 6]), ([], 3, -2, []),
    ):  # fmt: skip
        runs = Recorder(*passes, paid=paid)
        assert classify(runs, (3, 5.0), (4, 6.0)).tolist() == [answer]
        assert runs.calls == calls


@pytest.mark.parametrize("kind", [SubsampleAggregate, SoftLabelService])
def test_nothing_of_a_teacher_is_heard(kind, capsys):
    """One flipped label makes the teacher warn, print and raise, at `fit` or `predict`: outside it cannot be told."""
    for marks in ([0, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            service = kind(IndiscreetTeacher(), 1, 1.0, 0.1, random_state=0).fit(np.zeros((4, 1)), np.array(marks))
            assert len(service.predict(np.zeros((3, 1)))) == 3
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    "answer", [[0.5, 1.0], [2, 0], [-1, 0], [np.nan, 0.0], ["a", "b"], [1], [[0], [1]], None, [10.0**30, 0.0]]
)
def test_answers_that_are_no_labels_are_zeros(answer):
    assert hard_answers([lambda points: answer], np.zeros((2, 1)), 2).tolist() == [[0, 0]]


def test_answers_that_are_labels_are_kept_and_scores_clipped():
    points = np.zeros((3, 1))
    assert hard_answers([lambda p: [0.0, 1.0, 2.0], Constant(1)], points, 3).tolist() == [[0, 1, 2], [1, 1, 1]]
    found = soft_answers([lambda p: [1.0001, -2.0, np.nan], lambda p: "?", Constant(0.25)], points)
    assert found.tolist() == [[1.0, 0.0, 0.5], [0.5] * 3, [0.25] * 3]


SERVICES = pytest.mark.parametrize("build", [as_called.service, as_called.soft_service])
FOUR = np.zeros((4, 1)), np.array([0, 1, 0, 1])


@SERVICES
def test_a_fitted_service_stays_where_it_is(build):
    service = build()
    assert pickle.loads(pickle.dumps(service.unfitted())).n_teachers == service.n_teachers
    service.fit(*FOUR)
    for copied in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(InvalidArgument, match="must not be copied or pickled"):
            copied(service)


@SERVICES
def test_queries_asked_again_count_again(build):
    """Two are admitted: three, and then two, are refused, and count nothing."""
    service = build().fit(*FOUR)
    for queries in (3, 2, 1):
        with pytest.raises(InvalidArgument, match="leave at most max_queries = 2 queries in all"):
            service.predict(np.zeros((queries, 1)))
        if queries > 1:
            service.predict(np.zeros((1, 1)))


def test_overlapping_chunks_move_a_distance_by_their_shares_around_its_center():
    chunks, centers = OverlappingChunks(3), np.array([20, 5])
    sides = np.array([chunks(side) for side in chunks.pair(centers, np.array([True, False]))])
    np.testing.assert_array_equal(sides[0] - sides[1], [3, -3])
    np.testing.assert_allclose(sides.mean(axis=0), centers, atol=0.5)


@pytest.mark.parametrize("records", [3, 101])
def test_every_record_is_in_one_chunk(records):
    """More teachers than records, and fewer: then each has some."""
    chunks = []

    def learner(X, y):
        chunks.append(np.ravel(X).tolist())
        return Constant(0.5)

    SoftLabelService(learner, 7, 1.0, 0.1, random_state=0).fit(np.arange(records), np.zeros(records))
    assert sorted(record for chunk in chunks for record in chunk) == list(range(records))
    assert len(chunks) == 7
    assert records < 7 or all(chunks)


@pytest.mark.false_alarm(1e-9)
def test_every_record_draws_its_chunk_alone():
    """Null: 5,000 assignments of three records to three chunks are uniform over all 27."""
    rng, nothing = np.random.default_rng(4), np.zeros(3)
    chunks = [chunks_of(nothing[:, None], nothing, 3, rng) for _ in range(5_000)]
    drawn = np.array(
        [sum(number * 3.0**record for number, some in enumerate(each) for record in some) for each in chunks]
    )
    assert Finite(dict.fromkeys(map(float, range(27)), 1 / 27)).fit_pvalue(drawn, rng) > 1e-9


def test_a_value_that_no_change_of_records_changes_is_released():
    def question(dataset):
        return 3, math.inf

    once, rng = DistanceToInstability(question, 1.0, 0.1), np.random.default_rng(0)
    assert once([0], 5, rng).tolist() == [3] * 5
    assert dict(once.law([0]).pmf) == {3: 1.0}
    assert OnlineQueryRelease(1.0, 0.1, 1, 2).open([0], rng).ask(question) == 3


def test_private_labels_are_in_no_message():
    for service in (as_called.service(), as_called.soft_service()):
        with pytest.raises(AuditError) as raised:
            service.fit(np.zeros((3, 1)), np.array([0, 1, 7])).predict(np.zeros((9, 1)))
        assert "7" not in str(raised.value)


def test_a_service_answers():
    rng = np.random.default_rng(0)
    X = rng.random((4000, 2))
    y = (X[:, 0] > 0.5).astype(int)
    tree = DecisionTreeClassifier(max_depth=1)
    service = SubsampleAggregate(tree, 401, 4.0, 1e-3, 5, 50, calibrated=True, random_state=1).fit(X, y)
    assert service.predict([[0.05, 0.5], [0.95, 0.5]]).tolist() == [0, 1]
    assert service.get_params()["n_teachers"] == 401
    with pytest.raises(AuditError, match="`X` must leave at most max_queries"):
        service.predict(np.zeros((49, 2)))
    mean = lambda X, y: lambda points: np.full(len(points), 0.3)  # noqa: E731
    soft = SoftLabelService(mean, 4001, 4.0, 1e-3, bins=5, max_queries=50, random_state=1).fit(X[:, 0], y)
    assert soft.predict([0.1, 0.2]).tolist() == [0.3, 0.3]


def test_every_argument_reaches_the_noise():
    """None of them at its default."""
    given = {"epsilon": 0.7, "delta": 1e-3, "cutoff": 3, "max_queries": 25}
    hard, soft = (kind(lambda X, y: Constant(0), 1, **given) for kind in (SubsampleAggregate, SoftLabelService))
    assert OnlineQueryRelease(**given).noise == hard.fit(*FOUR).runs_.noise == printed(**given)
    assert replace(hard, calibrated=True).fit(*FOUR).runs_.noise == least(0.7, 1e-3, 3)
    assert soft.fit(*FOUR).runs_.noise == printed_soft(**given)


def test_a_soft_silence_is_not_a_number():
    """At epsilon 1e-6 the noise hides everything: BOTTOM, and no answer after the end. Fixed seed."""
    silent = SoftLabelService(lambda X, y: Constant(0.3), 1, 1e-6, 0.1, bins=5, max_queries=50, random_state=1)
    assert np.isnan(silent.fit(*FOUR).predict(np.zeros((40, 1)))).all()


def service(**changes):
    settings = {"epsilon": 50.0, "delta": 1e-2, "cutoff": 5, "max_queries": 400, "calibrated": True, "random_state": 1}
    return SubsampleAggregate(LeastError(), 41, **{**settings, **changes})


@pytest.mark.parametrize("label_private", [False, True])
def test_a_student_learns_from_released_labels(label_private):
    rng = np.random.default_rng(6)
    X = rng.random(4000 if not label_private else 800)
    y = (X >= 0.3).astype(int)
    public = None if label_private else rng.random(400)
    learner = KnowledgeTransferLearner(service(), LeastError(), public, random_state=2).fit(X, y)
    assert learner.labels_.shape == (400,)
    assert set(np.unique(learner.labels_)) <= {-2, -1, 0, 1}
    points = rng.random(2000)
    assert learner.score(points, points >= 0.3) > 0.95
    assert "KnowledgeTransferLearner" in repr(learner)


def test_every_fit_throws_coins_of_its_own():
    """At epsilon 1e-6 all teachers are silent, up to 1e-6; two rows of 64 coins agree with probability 2^-64."""
    X, seen = np.linspace(0, 1, 128), []
    student = lambda X, y: seen.append(y.tolist()) or Constant(0)  # noqa: E731
    for _ in range(2):
        KnowledgeTransferLearner(service(epsilon=1e-6, delta=1e-6, random_state=None), student).fit(X, X > 0.5)
    assert len(seen[0]) == len(seen[1]) == 64
    assert seen[0] != seen[1]


def test_the_label_private_student_never_sees_the_labels_of_the_second_half():
    X = np.random.default_rng(7).random(400)
    y = (X >= 0.5).astype(int)
    first, second = (
        KnowledgeTransferLearner(service(), LeastError(), random_state=2).fit(X, labels)
        for labels in (y, np.r_[y[:200], 1 - y[200:]])
    )
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.predict(X), second.predict(X))


@pytest.mark.false_alarm(1e-07)
def test_coins():
    """100,000 coins: 5.4 standard errors, alarm 1e-7."""
    filled = coins_for_silence(np.r_[np.full(50_000, -1), np.full(50_000, -2), 0, 1], 3)
    assert filled[-2:].tolist() == [0, 1]
    assert set(np.unique(filled)) == {0, 1}
    assert abs(filled[:-2].mean() - 0.5) <= 5.4 * 0.5 / math.sqrt(100_000)


test_what_is_refused = refused(
    [
        (lambda: SubsampleAggregate(3, 5, 1.0, 1e-6), "`learner` must"),
        (lambda: SoftLabelService(3, 5, 1.0, 1e-6), "`learner` must"),
        (lambda: histograms([[1.5]], 4), "`scores` must"),
        (lambda: Transcripts(lambda d: (np.array([0]), np.array([-1.0])), SHORT).law(None), "`questions` must"),
        (lambda: SubsampleAggregate(LeastError(), 5, 1.0, 1e-6).fit(np.zeros((3, 1)), [0, 1, 2]), "`y` must"),
        (lambda: SubsampleAggregate(LeastError(), 5, 1.0, 1e-6).fit(np.zeros((3, 1)), [0, 1]), "`y` must"),
        (lambda: KnowledgeTransferLearner(LeastError(), LeastError()), "`service` must"),
        (lambda: KnowledgeTransferLearner(service(), 3), "`student` must"),
        (partial(SubsampleAggregate(LeastError(), 5, 1.0, 1e-6).predict, [[0.0]]), "`fit` must"),
    ],
    error=AuditError,
)
