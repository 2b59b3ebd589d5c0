"""The zoo of distributions: closed integrals against each other, against quadrature, and against its samplers.

Null of the randomized tests: the samplers draw from the stated integrals. n = 50,000 records, exact binomial tests on
about 40 boxes and labels each, 1e-8 a test: false alarms below 4e-5 if every test were at its level, far below with
fixed seeds; the level per distribution is shared by Bonferroni to 1e-7.
"""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from mechanisms import distributions as zoo
from mechanisms.distributions import CANTOR, DENSITIES, ZOO, Atomic, ZipfByThirds

BAYES_RISKS = {
    "smooth": 0.5 - 0.8 / math.pi,
    "step": 0.1 / math.pi + 0.2 * (1 - 1 / math.pi),
    "atoms": 0.7 / 3,
    "cantor-rank": 0.25,
    "cantor-parity": 0.1,
    "pure-noise": 0.5,
    "fat-cantor": 0.0,
    "flat-margin": 1 / 3,
    "sqrt-density": 0.15,
    "checkerboard": 0.1,
    "sine-product": 0.5 - 0.45 * (2 / math.pi) ** 2,
    "octants": 0.1,
    "cantor-uniform": 0.15,
}
OTHERS = {"cauchy": zoo.cauchy_parity(), "zipf": zoo.ZipfByThirds(), "shifted": zoo.shifted_sine_product()}
EVERY = {**{name: build() for name, build in ZOO.items()}, **OTHERS}


def boxes(distribution, rng, count):
    """Random boxes, with bounds in reach of the distribution."""
    spread = 1.0 if distribution not in (OTHERS["cauchy"], OTHERS["zipf"]) else 12.0
    shape = (count,) if distribution.dim == 1 else (count, distribution.dim)
    ends = np.sort(rng.random((2, *shape)) * spread - (spread - 1) / 2, axis=0)
    return ends[0], ends[1]


@pytest.mark.parametrize("name", list(ZOO))
def test_bayes_risk(name):
    assert EVERY[name].bayes_risk == pytest.approx(BAYES_RISKS[name], abs=1.1e-6)


def test_a_fat_cantor_set_has_its_measure():
    assert EVERY["fat-cantor"].signed_mass(-np.inf, np.inf) == pytest.approx(2.0**-16, rel=1e-6)  # 2 (1/2 + 2^-17) - 1


def test_points_have_their_margins_and_all_others_none():
    points = Atomic([1.0, 0.0], [0.5, 0.5], [0.2, -0.4])
    assert points.margin([-1.0, 0.0, 0.5, 1.0, 2.0]).tolist() == [0.0, -0.4, 0.0, 0.2, 0.0]


def test_bayes_risks_of_the_unbounded_ones():
    assert zoo.cauchy_parity().bayes_risk == pytest.approx(0.15, abs=1e-9)
    assert zoo.ZipfByThirds().bayes_risk == pytest.approx(0.3 - 0.1 * 3**-1.5, abs=1e-9)
    assert ZipfByThirds().mass(-np.inf, np.inf) == pytest.approx(1)


@pytest.mark.parametrize("name", list(EVERY))
def test_integrals_are_additive_bounded_and_total_one(name):
    d = EVERY[name]
    low, high = boxes(d, np.random.default_rng(1), 200)
    middle = (low + high) / 2 if d.dim == 1 else np.concatenate([(low + high)[:, :1] / 2, high[:, 1:]], axis=1)
    second = middle if d.dim == 1 else np.concatenate([middle[:, :1], low[:, 1:]], axis=1)
    for kind in ("mass", "signed_mass", "absolute_mass"):
        whole = getattr(d, kind)(low, high)
        np.testing.assert_allclose(getattr(d, kind)(low, middle) + getattr(d, kind)(second, high), whole, atol=1e-13)
    assert np.all(np.abs(d.signed_mass(low, high)) <= d.absolute_mass(low, high) + 1e-13)
    assert np.all(d.absolute_mass(low, high) <= d.mass(low, high) + 1e-13)
    far = np.full(d.dim, np.inf) if d.dim > 1 else np.inf
    assert d.mass(-far, far) == pytest.approx(1, abs=1e-9)
    assert d.cost_of_one(-far, far) + d.cost_of_zero(-far, far) == pytest.approx(1 - 2 * d.bayes_risk, abs=1e-9)


@pytest.mark.parametrize("name", list(EVERY))
@pytest.mark.false_alarm(1e-07)
def test_samplers_follow_the_integrals(name):
    d, n = EVERY[name], 50_000
    data = d.sample(n, np.random.default_rng(7))
    low, high = boxes(d, np.random.default_rng(8), 20)
    at = data.X.reshape(n, -1)
    for a, b in zip(low, high, strict=True):
        inside = np.all((at >= a) & (at < b), axis=1)
        for count, p in ((inside.sum(), d.mass(a, b)), ((inside & (data.y == 1)).sum(), d.positive_mass(a, b))):
            assert stats.binomtest(int(count), n, min(float(p), 1.0)).pvalue > 1e-7 / 40


@pytest.mark.parametrize("name", [name for name in EVERY if name not in ("atoms", "zipf")])
def test_margin_agrees_with_its_integral(name):
    """The mean of the margins over a stratified sample against the closed integral; no randomness."""
    d = EVERY[name]
    factors = d.factors if d.dim > 1 else (d,)
    u = (np.arange(200_000) + 0.5) / 200_000
    for factor in factors:
        x = factor.feature.quantile(u)
        half = x < 0.37
        margin = factor.margin(x)
        assert np.mean(margin * half) == pytest.approx(float(factor.signed_mass(-np.inf, 0.37)), abs=3e-3)
        assert np.mean(np.abs(margin) * half) == pytest.approx(float(factor.absolute_mass(-np.inf, 0.37)), abs=3e-3)


@pytest.mark.parametrize("law", DENSITIES.values(), ids=DENSITIES)
def test_masses_are_integrals_of_the_density(law):
    for a, b in ((0.1, 0.35), (1.0, 1.2), (1.95, 2.01)):
        assert law.mass(a, b) == pytest.approx(quad(law.density, a, b, points=[(a + b) / 2])[0], abs=1e-7)


@pytest.mark.parametrize("name", ["cantor", *DENSITIES])
def test_quantiles_invert(name):
    law = DENSITIES.get(name, CANTOR)
    u = np.random.default_rng(3).random(1000)
    np.testing.assert_allclose(law.cdf(law.quantile(u)), u, atol=1e-9)


def test_half_open_boxes_put_an_atom_into_one_box_only():
    d = Atomic([0.25, 0.5], [0.4, 0.6], [1.0, -0.5])
    assert d.mass(0.25, 0.5) == pytest.approx(0.4)
    assert d.mass(0.0, 0.25) == 0
    assert d.positive_mass(0.5, np.inf) == pytest.approx(0.15)
