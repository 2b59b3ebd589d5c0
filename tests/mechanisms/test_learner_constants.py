"""Constants of the learners, against arithmetic by hand: a bound that is far too large shows nowhere else."""

from __future__ import annotations

import math

import pytest

from mechanisms.learners import (
    CoverClassifier,
    CubeMeanRegressor,
    CubeVoteClassifier,
    LabelPrivateNeighbors,
    LocalVoteClassifier,
    TeacherVoteClassifier,
)
from mechanisms.papers.berrett2019.theorems import SETTINGS, excess_bound
from mechanisms.papers.chaudhuri2011.a1 import A1
from mechanisms.papers.chaudhuri2011.a2 import A2
from mechanisms.papers.chaudhuri2011.classifier import LabelPrivateCoverClassifier
from mechanisms.papers.zhao2024.classifier import LabelPrivateNetwork


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
