"""Constructor parameters and data: each rule seen holding and broken."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from audit import Labeled
from audit.errors import InvalidArgument
from mechanisms.exponential import ExponentialMechanism, label_mistakes
from mechanisms.gaussian import ClassicalGaussian, GaussianMechanism
from mechanisms.geometric import GeometricMechanism, TruncatedGeometric
from mechanisms.laplace import LaplaceMechanism
from mechanisms.noisy_max import GumbelNoisyMax, LaplaceNoisyMax
from mechanisms.papers.berrett2019.mechanism import BinaryArray
from mechanisms.papers.bousquet2022.algorithm1 import StabilityHistogram
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.parts.sparse_vector import Noise, SparseVector
from mechanisms.queries import BoundedMean, BoundedSum, Histogram, column_sums, count_positive
from mechanisms.randomized_response import RandomizedResponse
from tests.offenders import for_each

VALID = [
    (LaplaceMechanism, {"query": count_positive, "l1_sensitivity": 1.0, "epsilon": 1.0}),
    (GaussianMechanism, {"query": count_positive, "l2_sensitivity": 1.0, "epsilon": 1.0, "delta": 0.1}),
    (GeometricMechanism, {"query": count_positive, "sensitivity": 1, "epsilon": 1.0}),
    (TruncatedGeometric, {"query": count_positive, "sensitivity": 1, "epsilon": 1.0, "most": 3}),
    (RandomizedResponse, {"labels": (0, 1), "epsilon": 1.0}),
    (ExponentialMechanism, {"score": label_mistakes, "candidates": (0, 1), "sensitivity": 1.0, "epsilon": 1.0}),
    (LaplaceNoisyMax, {"queries": column_sums, "epsilon": 1.0, "sensitivity": 1.0}),
    (StabilityHistogram, {"epsilon": 1.0, "delta": 0.1, "labels": (0, 1)}),
    (SparseVector, {"queries": column_sums, "noise": Noise(1.0, 0.0, 2)}),
    (Noise, {"lam": 1.0, "threshold": 0.0, "epochs": 2}),
    (BoundedSum, {"lower": 0.0, "upper": 1.0}),
    (Histogram, {"labels": ("a", "b")}),
]

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
    (kind, arguments, name, value) for kind, arguments in VALID for name in arguments for value in INVALID.get(name, ())
]


@pytest.mark.parametrize(("kind", "arguments"), VALID, ids=[kind.__name__ for kind, _ in VALID])
def test_valid_parameters_are_admitted(kind, arguments):
    assert kind(**arguments) == kind(**arguments)


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


def test_every_deviation_grows_with_the_sensitivity():
    for kind in (GaussianMechanism, ClassicalGaussian):
        one, three = (kind(count_positive, size, 0.9, 1e-4).deviation for size in (1.0, 3.0))
        assert three == pytest.approx(3 * one, rel=1e-12)


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
