"""Arguments and data, wrong in every way, of all classes that people call: an answer, or an error that says so.

What cannot be right has the error.
"""

import contextlib
import math
import signal
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.dummy import DummyClassifier

import mechanisms
from audit import Labeled
from audit.errors import AuditError, InvalidArgument
from mechanisms.exponential import ExponentialMechanism, absent_votes, label_mistakes, rank_error, threshold_mistakes
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noisy_max import ExponentialNoisyMax, GumbelNoisyMax, LaplaceNoisyMax, PermuteAndFlip
from mechanisms.papers.bassily2018.algorithm2 import DistanceToInstability, Majority
from mechanisms.papers.bassily2018.algorithm3 import OnlineQueryRelease
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate
from mechanisms.papers.bassily2018.algorithm5 import KnowledgeTransferLearner
from mechanisms.papers.bassily2018.algorithm6 import SoftLabelService
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import BinaryArray
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.bousquet2022.algorithm3 import CubeDensity
from mechanisms.papers.bousquet2022.algorithm4 import VoronoiClassifier
from mechanisms.papers.bousquet2022.algorithm5 import PairHistogramClassifier, StableVoronoiClassifier
from mechanisms.papers.bousquet2022.theorem4_10 import SemiPrivateLearner
from mechanisms.papers.bousquet2022.theorem4_11 import SemiSupervisedLearner
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a2 import A2
from mechanisms.papers.chaudhuri2011.a3 import A3
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.zhao2024.baselines import LaplaceEncoder, ResponseEncoder
from mechanisms.papers.zhao2024.neighbors import NeighborSum
from mechanisms.papers.zhao2024.network import TargetNetwork
from mechanisms.papers.zhao2024.vector import VectorEncoder
from mechanisms.parts.sparse_vector import Noise, SparseVector
from mechanisms.queries import BoundedMean, BoundedSum, Histogram, column_sums, count_positive
from mechanisms.randomized_response import KeepOrResample, NoisyLabels, RandomizedResponse
from mechanisms.snapping import GridLaplace, SnappedLaplace
from tests.offenders import for_each

NAN, INF = math.nan, math.inf
X = np.random.default_rng(0).random((30, 1))
Y = (X[:, 0] > 0.5).astype(int)
SOME = np.where(np.arange(30) < 10, Y, -1)
NUMBERS = (0, -1, 1.5, 10**12, 10**400, 1e308, 1e-20, 1e-320, NAN, INF, True)
OTHERS = (None, "1", b"1", [1.0], np.array([1.0]), 1j, object(), {1})
SHOWN = [np.full(3, 77.125), np.full(3, "secret"), 77.125, "secret"]  # by no error
RECORDS = [
    np.ones(5),
    *SHOWN,
    [],
    None,
    "a",
    NAN,
    np.array(["a"]),
    [[1], [2, 3]],
    np.ones((2, 2, 2)),
    csr_matrix(np.ones(3)),
    {1},
]
ANY = [*RECORDS, object(), np.array([None]), np.array([0, 7]), np.array([NAN]), [[0, 1]], 0, -1, 10**30]
ROWS = [np.ones((3, 2)), np.full((2, 2), NAN), np.ones((2, 0)), np.full((2, 2), 1.5), *ANY]
VOTES = [np.array([0, 1, 1]), *ANY]
ONE = [0, 1, 2, [0], 1.5, *ANY]
RECORD = [
    ([0.2], 1),
    (77.125, 77.125),
    ("secret", "secret"),
    (0.5, 77.125),
    (0.2, 1),
    (0.2,),
    (0.2, 2),
    ("a", 1),
    (NAN, 1),
    ([0.2, 0.3], 1),
    (0.2, None),
    *ANY,
]
SIGNED = [
    Labeled(X[:, 0], 2 * Y - 1),
    Labeled(X[:, 0], Y),
    Labeled(X[:0, 0], Y[:0]),
    Labeled(X[:, 0], np.where(Y, "a", "b")),
    Labeled(X[:, 0] * NAN, 2 * Y - 1),
    Labeled(X, 2 * Y - 1),
    Labeled(X[:, 0] + 5, 2 * Y - 1),
    *(Labeled(shown, shown) for shown in SHOWN[:2]),
    Labeled(X[:, 0], np.full(30, 77.125)),
    *ANY,
]
TAUGHT = [
    (X, Y), (X[:0], Y[:0]), (X, None), (None, Y), (X, np.where(Y, "a", "b")), (X * NAN, Y), (X, Y + 0.5), (X, -Y),
    (X[:, :, None], Y), (X[:, 0], Y), (csr_matrix(X), Y), (X, Y[:3]), (np.c_[X, X], Y), (X, np.array([0, None] * 15)),
    ("a", Y), (3, Y), (X + 1e300, Y), (X, Y * 1j), ([[1], [1, 2]], [0, 1]), (X.astype(object), Y),
    (X, np.where(Y, NAN, 0.0)), (X, SOME), (object(), Y), (X, object()), (X, {1}), ({1}, Y), (X, [[0]] * 30),
    (X[:1], Y[:1]), *((shown, shown) for shown in SHOWN), (X, np.full(30, 77.125)), (X, np.full(30, "secret")),
    (X + 77.125, Y),
]  # fmt: skip


def draw(mechanism, data):
    mechanism(data, 2, np.random.default_rng(1))
    if hasattr(mechanism, "law"):
        mechanism.law(data)


def fit(learner, data):
    learner.fit(*data).predict(X[:2])


def fit_features(learner, data):
    learner.fit(data[0]).sample(2, np.random.default_rng(0))


def fit_targets(model, data):
    model.fit(data[0], np.c_[data[1], data[1]], np.random.default_rng(0))


def ask(query, data):
    query(data)


def ask_stream(release, data):
    release.open(data, np.random.default_rng(0)).ask(Majority())


def count_points(grid, data):
    grid.count(data[0])
    grid.nearest(data[0])


SERVICE = dict(
    learner=DummyClassifier(), n_teachers=5, epsilon=4.0, delta=0.01, cutoff=1, max_queries=10, random_state=1
)
QUERY = {"query": count_positive, "epsilon": 1.0}
MAXIMUM = {"queries": column_sums, "epsilon": 1.0, "sensitivity": 1.0}
NOISE = {"lam": 1.0, "threshold": 0.0, "epochs": 2, "query_scale": 2.0}


def chosen(score):
    return {"score": score, "candidates": (0, 1), "sensitivity": 1.0, "epsilon": 1.0}


def sparse(**noise):
    return SparseVector(column_sums, Noise(**noise))


def transferred(**service):
    return KnowledgeTransferLearner(SubsampleAggregate(**service), DummyClassifier())


CALLED = [
    (LaplaceMechanism, {**QUERY, "l1_sensitivity": 1.0}, draw, RECORDS),
    (GaussianMechanism, {**QUERY, "l2_sensitivity": 1.0, "delta": 0.1}, draw, RECORDS),
    (ClassicalGaussian, {**QUERY, "l2_sensitivity": 1.0, "delta": 0.1}, draw, RECORDS),
    (GeometricMechanism, {**QUERY, "sensitivity": 1}, draw, RECORDS),
    (TruncatedGeometric, {**QUERY, "sensitivity": 1, "most": 50}, draw, RECORDS),
    (SnappedLaplace, {**QUERY, "bound": 40.0}, draw, RECORDS),
    (GridLaplace, {**QUERY, "sensitivity": 1.0, "places": 2, "steps": 40}, draw, RECORDS),
    *((kind, MAXIMUM, draw, ROWS) for kind in (LaplaceNoisyMax, ExponentialNoisyMax, GumbelNoisyMax, PermuteAndFlip)),
    (ExponentialMechanism, chosen(absent_votes), draw, VOTES),
    (ExponentialMechanism, chosen(rank_error), draw, VOTES),
    (ExponentialMechanism, chosen(label_mistakes), draw, SIGNED),
    (ExponentialMechanism, chosen(threshold_mistakes), draw, SIGNED),
    (RandomizedResponse, {"labels": (0, 1), "epsilon": 1.0}, draw, ONE),
    (KeepOrResample, {"labels": (0, 1), "epsilon": 1.0}, draw, ONE),
    (NoisyLabels, {"labels": (0, 1), "epsilon": 1.0}, draw, SIGNED[1:]),
    (Histogram, {"labels": (0, 1)}, ask, VOTES),
    (BoundedSum, {"lower": 0.0, "upper": 1.0}, ask, RECORDS),
    (BoundedMean, {"lower": 0.0, "upper": 1.0}, ask, RECORDS),
    (sparse, NOISE, draw, ROWS),
    (StabilityHistogram, {"epsilon": 1.0, "delta": 0.1, "labels": (0, 1)}, draw, VOTES),
    (CubeDensity, {"dim": 1, "epsilon": 1.0, "delta": 0.01}, fit_features, TAUGHT),
    (VoronoiClassifier, {"epsilon": 1.0}, fit, TAUGHT),
    (StableVoronoiClassifier, {"epsilon": 1.0, "delta": 0.01}, fit, TAUGHT),
    (PairHistogramClassifier, {"epsilon": 1.0, "delta": 0.01}, fit, TAUGHT),
    (SemiPrivateLearner, {"public": np.array([[0.2], [0.5]]), "epsilon": 1.0}, fit, TAUGHT),
    (SemiSupervisedLearner, {"epsilon": 1.0, "delta": 0.01, "draws": 50}, fit, [(X, SOME), *TAUGHT]),
    (DistanceToInstability, dict(question=Majority(), epsilon=1.0, delta=0.1, sensitivity=1.0), draw, VOTES),
    (OnlineQueryRelease, {"epsilon": 1.0, "delta": 0.01, "cutoff": 1, "max_queries": 10}, ask_stream, VOTES),
    (SubsampleAggregate, {**SERVICE, "labels": 2, "calibrated": False}, fit, TAUGHT),
    (transferred, SERVICE, fit, TAUGHT),
    (SoftLabelService, {**SERVICE, "bins": 4}, fit, TAUGHT),
    (A1, {"epsilon": 1.0, "accuracy": 0.2, "beta": 0.1, "smoothness_cap": 64.0}, draw, SIGNED),
    (A2, {"epsilon": 1.0, "accuracy": 0.2, "beta": 0.1, "smoothness_cap": 64.0}, draw, SIGNED),
    (A3, {"epsilon": 1.0, "accuracy": 0.2}, draw, SIGNED),
    (StumpClass, {"dim": 2}, lambda stumps, data: stumps.packing_cover(0.25), [None]),
    (Grid, {"dim": 1, "bandwidth": 0.25, "low": 0.0, "high": 1.0}, count_points, TAUGHT),
    (BinaryArray, {"dim": 1, "epsilon": 1.0, "bandwidth": 0.4}, draw, RECORD),
    *((kind, {"n_classes": 3, "epsilon": 1.0}, draw, ONE) for kind in (VectorEncoder, ResponseEncoder, LaplaceEncoder)),
    (NeighborSum, {"n_neighbors": 3, "rounds": 1}, fit_targets, TAUGHT[:1]),
    (TargetNetwork, dict(head="sigmoid", hidden=3, epochs=1, batch=5, decay=0.0, rate=0.01), fit_targets, TAUGHT[:1]),
]  # fmt: skip
HOME = Path(mechanisms.__file__).parent


def explain(error):
    """Return why an error is no answer to a misuse, or None: a file of ours answers, without a record."""
    last = Path(traceback.extract_tb(error.__traceback__)[-1].filename)
    is_ours = HOME in last.parents or "audit" in last.parts or "sklearn" in last.parts
    if "77.125" in str(error) or "secret" in str(error):
        return f"it shows a record: {error}"
    if isinstance(error, AuditError) or (isinstance(error, (ValueError, TypeError)) and is_ours and "`" in str(error)):
        return None
    if "sklearn" in last.parts and type(error) is ValueError:
        return None
    return f"{type(error).__name__} in {last.name}: {str(error)[:90]}"


@contextlib.contextmanager
def time_limit(seconds):
    def stop(*_):
        raise BaseException(f"{seconds} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize(("kind", "arguments", "use", "data"), CALLED, ids=lambda thing: getattr(thing, "__name__", ""))
def test_a_misuse_is_answered_or_refused_by_name(kind, arguments, use, data):
    cases = [(f"{name}={value!r:.20}", {name: value}, data[0]) for name in arguments for value in (*NUMBERS, *OTHERS)]
    cases += [(f"data {value!r:.50}", {}, value) for value in data]
    offenders = []
    for label, changed, dataset in cases:
        try:
            with time_limit(10), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                use(kind(**{**arguments, **changed}), dataset)
        except BaseException as error:
            if (reason := explain(error)) is not None:
                offenders.append(f"{label}: {reason}")
    assert not offenders, f"{len(offenders)} of {len(cases)}:\n" + "\n".join(offenders)


def test_what_would_never_end_is_refused_at_once():
    refused = {TargetNetwork: {"head": "sigmoid", "epochs": 10**12}, NeighborSum: {"n_neighbors": 3, "rounds": 10**12}}
    for kind, arguments in refused.items():
        with pytest.raises(AuditError, match=f"`{list(arguments)[1]}` must be at most"):
            kind(**arguments)


POSITIVE = (0.0, -1.0, math.inf, math.nan, "1", True, None)
INVALID = {
    **dict.fromkeys(("epsilon", "l1_sensitivity", "l2_sensitivity", "lam"), POSITIVE),
    "delta": (0.0, 1.0, -0.1, math.nan, None),
    "sensitivity": (0, -1, math.nan, None),
    "epochs": (0, 1.5, None),
    "most": (0, 1.5),
    "threshold": (math.inf, math.nan, "0"),
    **dict.fromkeys(("query", "queries", "score"), (3, None)),
    **dict.fromkeys(("labels", "candidates"), ((), (0,), (0, 0), 3, None)),
    "upper": (0.0, -1.0, math.inf),
}
BROKEN = [
    (kind, arguments, name, value)
    for kind, arguments, *_ in CALLED
    for name in arguments
    for value in INVALID.get(name, ())
    if (kind, name, value) != (SubsampleAggregate, "labels", 3)  # a number of labels
]


@for_each(BROKEN)
def test_a_broken_parameter_is_named(kind, arguments, name, value):
    with pytest.raises(InvalidArgument, match=f"`{name}`"):
        kind(**{**arguments, name: value})


def nan_answer(dataset, candidates=None):
    return math.nan


def half_answer(dataset):
    return 0.5


@pytest.mark.parametrize(
    ("mechanism", "dataset"),
    [
        (LaplaceMechanism(nan_answer, 1.0, 1.0), np.ones(3)),
        (LaplaceMechanism(lambda dataset: -math.inf, 1.0, 1.0), np.ones(3)),
        (LaplaceMechanism(lambda dataset: np.zeros((2, 2)), 1.0, 1.0), np.ones(3)),
        (GeometricMechanism(half_answer, 1, 1.0), np.ones(3)),
        (TruncatedGeometric(count_positive, 1, 1.0, most=2), np.ones(3)),
        (RandomizedResponse(("no", "yes"), 1.0), "perhaps"),
        (ExponentialMechanism(nan_answer, (0, 1), 1.0, 1.0), Labeled(np.ones(2), np.ones(2))),
        (GumbelNoisyMax(half_answer, 1.0), np.ones(3)),
        (StabilityHistogram(1.0, 0.1, (0, 1)), np.array([0, 7])),
        (SparseVector(column_sums, Noise(1.0, 0.0, 2)), np.full((2, 2), 1.5)),
        (SparseVector(column_sums, Noise(1.0, 0.0, 2)), np.ones(3)),
        *(
            (LaplaceMechanism(query, 1.0, 1.0), dataset)
            for query in (count_positive, column_sums, BoundedSum(0.0, 1.0))
            for dataset in ("a", None, {1}, object(), ["a"], [[1], [1, 2]], csr_matrix(np.eye(2)))
        ),
        *((A1(1.0, 0.2), dataset) for dataset in (None, np.ones(3))),
    ],
)
def test_data_outside_the_domain_are_refused(mechanism, dataset):
    with pytest.raises(InvalidArgument):
        mechanism(dataset, 3, np.random.default_rng(0))


def test_a_huge_epsilon_and_a_tiny_bandwidth_are_answered():
    assert RandomizedResponse((0, 1, 2), 1e308).law(1).pmf == {1: 1.0}
    assert RandomizedResponse((0, 1, 2), 1e308)(1, 3, np.random.default_rng(0)).tolist() == [1, 1, 1]
    with pytest.raises(InvalidArgument, match="`bandwidth` must cut the window into"):
        BinaryArray(1, 1.0, 1e-320)
    with pytest.raises(InvalidArgument, match="`epsilon` must be at least"):
        BinaryArray(5_000, 1.0, 2.0)


def test_records_are_clamped_and_the_sensitivity_covers_rounding():
    mean = BoundedMean(0.0, 1.0)
    assert mean(np.array([-5.0, 0.25, 9.0, 0.75])) == 0.5
    rng = np.random.default_rng(1)
    bounded = BoundedMean(17.5, 42.0)
    for _ in range(200):
        data = rng.uniform(17.5, 42.0, size=997)
        low, high = data.copy(), data.copy()
        low[0], high[0] = 17.5, 42.0
        assert abs(bounded(high) - bounded(low)) <= bounded.sensitivity(997)
    assert bounded.sensitivity(997) == pytest.approx(24.5 / 997, rel=1e-9)
