"""Constants of the learners, against arithmetic by hand: a bound that is far too large shows nowhere else."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier

from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
    TeacherVoteClassifier,
)
from mechanisms.papers.bassily2018.algorithm4 import SubsampleAggregate, printed_teachers
from mechanisms.papers.bassily2018.algorithm5 import KnowledgeTransferLearner
from mechanisms.papers.bassily2018.noise import least
from mechanisms.papers.berrett2019.grid import Grid
from mechanisms.papers.berrett2019.mechanism import BinaryArray
from mechanisms.papers.berrett2019.theorems import SETTINGS, excess_bound
from mechanisms.papers.bousquet2022.theorem4_11 import SemiSupervisedLearner
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a2 import A2
from mechanisms.papers.chaudhuri2011.classifier import LabelPrivateCoverClassifier, cover_accuracy
from mechanisms.papers.chaudhuri2011.separators import LinearSeparatorClass
from mechanisms.papers.chaudhuri2011.stumps import StumpClass
from mechanisms.papers.zhao2024.classifier import LabelPrivateNetwork
from mechanisms.papers.zhao2024.neighbors import LabelLearner
from mechanisms.papers.zhao2024.network import TargetNetwork
from mechanisms.papers.zhao2024.vector import VectorEncoder


@pytest.mark.parametrize(
    ("kind", "epsilon", "m", "kappa"),
    [
        # ln kappa = min(m a^2 / 32 - ln(4 / beta), epsilon m a / 8 - ln(2 / beta)) - ln(16 / a), a = 0.4, beta = 0.1
        (A1, 0.08, 4_000, math.exp(16) / 20 / 40),
        (A1, 1.0, 2_000, math.exp(10) / 40 / 40),
        # A2: min(m a / 400 - ln(4 / beta), 3 epsilon a m / 40 - ln(2 / beta)) - ln(16 / a)
        (A2, 0.015, 20_000, math.exp(9) / 20 / 40),
        (A2, 1.0, 8_000, math.exp(8) / 40 / 40),
    ],
)
def test_kappa_hat(kind, epsilon, m, kappa):
    assert kind(epsilon, 0.4).smoothness_hat(m) == pytest.approx(kappa, rel=1e-9)
    for hypotheses, d in ((LinearSeparatorClass(3), math.log2(7)), (StumpClass(2), 3)):
        wanted = max(1.0, (40 * kappa) ** (1 / d) / 40)
        assert kind(epsilon, 0.4, hypotheses).smoothness_hat(m) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", ["d=1 s=1", "d=1 s=1/2", "d=2 s=1", "d=3 s=1"])
def test_the_bound_of_theorem_2_4_term_by_term(name):
    """4 C0 2^g M^(1+g) + sum_j 2^(j+2) M min(1, C0 (2^(j+1) M)^g) exp(-rate 4^j), M = L (2 h sqrt d)^b."""
    setting, n, epsilon, h = SETTINGS[name], 3e7, 0.8, 0.05
    d, b, g, L, C0 = (
        setting.dim,
        setting.smoothness,
        setting.margin_exponent,
        setting.lipschitz,
        setting.margin_constant,
    )
    M = L * (2 * h * d**0.5) ** b
    rate = n * epsilon**2 * L**2 * 0.25**d * d**b * h ** (2 * d + 2 * b) * 2.0 ** (2 * b) / (16.0**d * 256)
    terms = [4 * C0 * 2**g * M ** (1 + g)]
    terms += [
        2.0 ** (j + 2) * M * min(1, C0 * (2.0 ** (j + 1) * M) ** g) * math.exp(-rate * 4.0**j) for j in range(1, 60)
    ]
    assert excess_bound(setting, n, epsilon, h) == pytest.approx(sum(terms), rel=1e-12)


WIDE = (-3.0, 3.0)
DEFAULTS = {
    CubeVoteClassifier: {"projection": 2},
    CubeMeanRegressor: {"projection": 1, "delta": 1e-4, "target_bounds": WIDE},
    CoverClassifier: {"projection": 2, "accuracy": None, "hypotheses": "half-planes", "realizable": False},
    LabelPrivateCoverClassifier: {"projection": 1, "accuracy": None},
    LabelPrivateNeighbors: {"projection": None, "n_neighbors": None, "method": "vector", "rounds": 0},
    LabelPrivateNetwork: dict(projection=None, method="vector", iterated=False, hidden=128, epochs=20, decay=1e-3),
    LocalVoteClassifier: {"projection": 2, "bandwidth": None},
    TeacherVoteClassifier: dict(projection=None, delta=1e-5, cutoff=1, n_teachers=None, teacher=None, student=None),
}


@pytest.mark.parametrize("kind", DEFAULTS, ids=lambda kind: kind.__name__)
def test_defaults(kind):
    classes = {} if kind is CubeMeanRegressor else {"classes": None}
    assert kind().get_params() == {"epsilon": 1.0, "bounds": WIDE, "random_state": None, **classes, **DEFAULTS[kind]}


def test_what_a_clamp_a_tie_and_an_edge_do():
    """Places that larger tests pass by: each line fails for another bound, another side, another class."""
    wide = CubeVoteClassifier(projection=1)
    signs = np.sign(wide._directions(9)[:, 0]) * 3.0
    np.testing.assert_array_equal(wide._mapped(np.array([signs, -signs])).ravel(), [1.0, 0.0])
    for beyond in (-1e-9, 1 + 1e-9):
        with pytest.raises(ValueError, match="`X` must lie in"):
            Grid(1, 0.25).nearest([[beyond]])
    flip_cost = BinaryArray(2, 1.0, 0.4).exact_epsilon(((0.2, 0.2), 1), ((0.2, 0.2), 0))
    assert flip_cost == pytest.approx(0.5, rel=1e-12)
    stumps = StumpClass(2)
    assert [cover_accuracy(n, 1.0, stumps) for n in (1, 10**9)] == [0.2, 0.1]


def test_no_class_is_ruled_out_ties_go_to_the_first_and_the_profile_of_a_vector():
    encoder, bits = VectorEncoder(3, 1.0), np.array([[0, 1, 1]])
    np.testing.assert_array_equal(encoder.posterior(bits, np.zeros(3)), encoder.posterior(bits))
    equal = SimpleNamespace(scores=lambda X: np.ones((len(X), 3)))
    np.testing.assert_array_equal(LabelLearner(encoder, equal, 0).predict(np.zeros((2, 1))), [0, 0])
    assert encoder.delta(0.0) == pytest.approx(math.tanh(0.25), rel=1e-12)


def test_a_constant_gradient_moves_a_parameter_by_the_rate_at_each_step():
    network = TargetNetwork("sigmoid", hidden=1, decay=0.0, rate=0.01)
    network._start(np.zeros((1, 1)), 1, np.random.default_rng(0))
    for steps in (1, 2, 3):
        network._step(np.zeros((1, 1)), np.zeros((1, 1)), np.ones((1, 1)))
        assert network._parts[3].item() == pytest.approx(-0.01 * steps, rel=1e-6)


def test_the_rule_for_teachers_and_the_silence_that_is_told():
    few, many = (TeacherVoteClassifier()._service(n).n_teachers for n in (600, 10**6))
    noise = least(1.0, 1e-5, 1)
    assert (few, many) == (100, round(3 * noise.threshold + 12 * noise.lam))
    quiet = SimpleNamespace(labels_=np.repeat([-1, 1], [19, 1]), service=SimpleNamespace())
    with pytest.warns(UserWarning, match="the teachers labeled 5% of the points"):
        TeacherVoteClassifier()._keep(quiet)


def test_all_labeled_records_choose_and_no_seed_stays():
    X, y = np.r_[np.full(400, 0.9), np.full(100, 0.1), np.full(100, 0.9)], np.repeat([0, 1, -1], [100, 300, 200])
    learner = SemiSupervisedLearner(epsilon=1e3, delta=0.1, draws=50, random_state=0).fit(X[:, None], y)
    assert learner.predict([[0.9]]).tolist() == [1]
    assert learner.density_.random_state is learner.learner_.random_state is None


def test_two_labels_have_an_odd_number_of_teachers_who_see_all_records_where_points_are_public(monkeypatch):
    odd, free = ([printed_teachers(1.0, 1e-6, T, 1_000, 0.05, labels) for T in range(1, 12)] for labels in (2, 3))
    assert [k % 2 for k in odd] == [1] * 11
    assert {one - other for one, other in zip(odd, free, strict=True)} == {0, 1}
    seen: list[int] = []
    answers = SimpleNamespace(predict=lambda points: np.zeros(len(points), dtype=int))
    monkeypatch.setattr(SubsampleAggregate, "fit", lambda self, X, y: seen.append(len(X)) or answers)
    X, y, service = np.zeros((10, 1)), np.zeros(10, dtype=int), TeacherVoteClassifier()._service(20)
    for public in (None, np.zeros((3, 1))):
        KnowledgeTransferLearner(service, DummyClassifier(), public).fit(X, y)
    assert seen == [5, 10]
