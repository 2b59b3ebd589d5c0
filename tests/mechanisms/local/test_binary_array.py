"""The binary array: its law, its exact privacy, and the numbers that faults and decoys state.

Null of the sampler tests: the outputs come from the stated law. 20,000 outputs, DKW band at 1e-8 a coordinate.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from audit import AuditError
from audit.laws import LaplaceLoss
from mechanisms.faults.local import arrays, bits
from mechanisms.local import decoys
from mechanisms.local.binary_array import LocalBinaryArrayMechanism, OneCell, far_pair, flip_pair

N, ALARM = 20_000, 1e-8
WIDTH = math.sqrt(math.log(2 / ALARM) / (2 * N))

SAMPLERS = [
    LocalBinaryArrayMechanism(1, 1.0, 0.4, half=1),
    LocalBinaryArrayMechanism(1, 0.5, 0.25),
    LocalBinaryArrayMechanism(2, 1.0, 0.4),
    decoys.HalfOpenCubes(1, 1.0, 0.4),
    decoys.ClosedCubesMoreNoise(1, 1.0, 0.25),
    decoys.DisjointCubes(2, 1.0, 0.4),
    decoys.SignedLabels(1, 2.0, 0.4),
]


@pytest.mark.parametrize("mechanism", SAMPLERS, ids=lambda each: f"{type(each).__name__} d={each.dim}")
@pytest.mark.false_alarm(1e-07)
def test_sampler_follows_its_law(mechanism):
    record = far_pair(mechanism.dim)[0]
    outputs = mechanism(record, N, np.random.default_rng(11))
    law = mechanism.law(record)
    assert outputs.shape == (N, len(law.laws))
    for column, part in zip(outputs.T, law.laws, strict=True):
        assert stats.kstest(column, stats.laplace(part.loc, part.scale).cdf).statistic <= WIDTH
    # independent signs: Hoeffding on the products, at 1e-8 over all pairs
    signs = np.sign(outputs - [part.loc for part in law.laws])
    products = np.triu(signs.T @ signs / N, k=1)
    assert np.max(np.abs(products)) <= math.sqrt(2 * math.log(2 * products.size / ALARM) / N)


def profile_by_convolution(k: int, a: float, epsilons: list[float], cells: int = 4000) -> list[float]:
    """delta(eps) of k coordinates of loss a, on a lattice of losses by the definition; error below a k / cells."""
    step = a / cells
    edges = np.arange(-cells, cells + 1)
    inner = np.exp(-(a - edges * step) / 2) / 4 * step
    inner[[0, -1]] /= 2
    one = inner.copy()
    one[-1] += 0.5
    one[0] += math.exp(-a) / 2
    total = np.ones(1)
    for _ in range(k):
        total = np.convolve(total, one)
    losses = np.arange(-k * cells, k * cells + 1) * step
    return [float(np.sum(total * np.maximum(0, -np.expm1(eps - losses)))) for eps in epsilons]


# measured with an independent implementation, epsilon = 1; digits as printed
PROFILES = {
    1: [0.1842, 0.1547, 0.1107, 0.0384, 0.0175, 0.00656, 6.28e-4, 0],
    2: [0.1355, 0.1009, 0.0511, 0.0122, 1.36e-3, 4.50e-4, 3.96e-5, 0],
    3: [0.0977, 0.0598, 0.0219, 2.05e-3, 4.84e-5, 2.11e-6, 1.58e-7, 0],
}
EPSILONS = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1]


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_privacy_profile_of_the_worst_pair(dim):
    mechanism = LocalBinaryArrayMechanism(dim, 1.0, 0.4)
    left, right = far_pair(dim)
    loss = mechanism.law(left).loss_against(mechanism.law(right))
    assert loss.epsilon(0) == pytest.approx(1.0, rel=1e-12)
    for epsilon, stated in zip(EPSILONS, PROFILES[dim], strict=True):
        assert loss.delta_lower_bound(epsilon) <= loss.delta(epsilon)
        assert loss.delta(epsilon) == pytest.approx(stated, rel=4e-3, abs=1e-9)


def test_privacy_profile_against_a_plain_convolution():
    mechanism = LocalBinaryArrayMechanism(1, 1.0, 0.4)
    loss = mechanism.law(far_pair(1)[0]).loss_against(mechanism.law(far_pair(1)[1]))
    for epsilon, computed in zip(EPSILONS, profile_by_convolution(4, 0.25, EPSILONS), strict=True):
        assert loss.delta(epsilon) == pytest.approx(computed, abs=3e-4)


@pytest.mark.parametrize(
    ("dim", "stated"), [(1, [0.851, 0.984, 0.9998]), (2, [0.543, 0.804, 0.9975]), (3, [0.352, 0.573, 0.849])]
)
def test_epsilon_at_small_delta(dim, stated):
    mechanism = LocalBinaryArrayMechanism(dim, 1.0, 0.4)
    loss = mechanism.law(far_pair(dim)[0]).loss_against(mechanism.law(far_pair(dim)[1]))
    assert [loss.epsilon(delta) for delta in (1e-2, 1e-3, 1e-5)] == pytest.approx(stated, abs=6e-4)


@pytest.mark.parametrize("dim", [1, 2, 3])
def test_the_largest_loss_is_as_rare_as_stated(dim):
    scale = LocalBinaryArrayMechanism(dim, 1.0, 0.4).scale
    p, _ = LaplaceLoss(1 / scale).tails(math.nextafter(1 / scale, 0), "left")
    assert p == pytest.approx(0.5)
    assert 0.5 ** (2 ** (dim + 1)) == pytest.approx({1: 1 / 16, 2: 1 / 256, 3: 1.5e-5}[dim], rel=0.02)


# exact epsilon of faults and decoys at epsilon = 1, on the pair that shows it
GRID = decoys.grid_pair
EXACT = [
    (arrays.RateAsScale, 1, {}, far_pair(1), 16),
    (arrays.RateAsScale, 2, {}, far_pair(2), 64),
    (arrays.RateAsScale, 3, {}, far_pair(3), 256),
    (arrays.HalfSensitivity, 2, {}, far_pair(2), 2),
    (arrays.HalfSensitivity, 2, {}, flip_pair(2), 1),
    (arrays.NineTenths, 3, {}, far_pair(3), 1 / 0.9),
    (arrays.OneHotScale, 1, {}, far_pair(1), 2),
    (arrays.OneHotScale, 3, {}, far_pair(3), 8),
    (arrays.OneHotScale, 1, {}, flip_pair(1), 1),
    (bits.ClosedCubes, 1, {"bandwidth": 0.25, "high": 1.25}, GRID(1), 1.5),
    (bits.ClosedCubes, 2, {"bandwidth": 0.25, "high": 1.25}, GRID(2), 2.25),
    (bits.ClosedCubes, 3, {"bandwidth": 0.25, "high": 1.25}, GRID(3), 3.375),
    (bits.ClosedCubes, 2, {"bandwidth": 0.25}, (((0.25, 0.25), 1), ((0.25, 0.25), 0)), 1.125),
    (bits.ClosedCubes, 2, {}, far_pair(2), 1),
    (bits.ComparesInFloatingPoint, 1, {"bandwidth": 0.1}, ((0.4, 1), (0.8, 1)), 1.5),
    (bits.ComparesInFloatingPoint, 1, {"bandwidth": 0.25}, ((0.25, 1), (0.75, 1)), 0.5),
    (bits.UnclippedLabel, 1, {}, ((0.2, 3), (0.9, 3)), 3),
    (decoys.HalfOpenCubes, 2, {}, far_pair(2), 1),
    (decoys.ClosedCubesMoreNoise, 2, {"bandwidth": 0.25, "high": 1.25}, GRID(2), 1),
    (decoys.DisjointCubes, 2, {}, far_pair(2), 0.25),
    (decoys.SignedLabels, 2, {}, far_pair(2), 1),
    (decoys.SignedLabels, 2, {}, flip_pair(2), 1),
]


@pytest.mark.parametrize(
    ("kind", "dim", "changes", "pair", "epsilon"),
    EXACT,
    ids=[f"{row[0].__name__} d={row[1]}-{i}" for i, row in enumerate(EXACT)],
)
def test_exact_epsilon_of_faults_and_decoys(kind, dim, changes, pair, epsilon):
    mechanism = kind(**{"dim": dim, "epsilon": 1.0, "bandwidth": 0.4, **changes})
    assert mechanism.exact_epsilon(*pair) == pytest.approx(epsilon, rel=1e-12)
    loss = mechanism.law(pair[0]).loss_against(mechanism.law(pair[1]))
    assert loss.epsilon(0) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize(("dim", "mu", "delta"), [(1, 0.354, 4.0e-4), (2, 0.250, 2.9e-6), (3, 0.177, 3.7e-10)])
def test_gaussian_noise_of_the_same_variance(dim, mu, delta):
    mechanism = arrays.GaussianSameVariance(dim, 1.0, 0.4)
    left, right = far_pair(dim)
    shift = np.linalg.norm(mechanism.bits(left) - mechanism.bits(right)) / mechanism.deviation
    assert shift == pytest.approx(mu, abs=6e-4)
    loss = mechanism.law(left).loss_against(mechanism.law(right))
    assert loss.delta(1.0) == pytest.approx(delta, rel=0.02)


def test_one_cell_is_a_column():
    mechanism = LocalBinaryArrayMechanism(2, 1.0, 0.4)
    record = far_pair(2)[0]
    one, whole = (
        OneCell(mechanism, 5)(record, 9, np.random.default_rng(1)),
        mechanism(record, 9, np.random.default_rng(1)),
    )
    np.testing.assert_array_equal(one, whole[:, 5])


@pytest.mark.parametrize(
    ("record", "rule"),
    [
        (0.5, "`record` must be a pair"),
        ((0.5, 2), "`y` must hold labels 0 and 1 only"),
        ((0.5, 0.5), "`y` must hold labels 0 and 1 only"),
        (((0.5, 0.5), 1), r"`x` must have shape \(n, 1\)"),
        ((np.nan, 1), "`x` must be finite"),
    ],
)
def test_bad_records_are_refused(record, rule):
    with pytest.raises(AuditError, match=rule):
        LocalBinaryArrayMechanism(1, 1.0, 0.4)(record, 1, np.random.default_rng(0))


def test_bad_parameters_are_refused():
    for arguments, name in [((1, 0.0, 0.4), "epsilon"), ((1, 1.0, 0.4, 3), "half"), ((1, 1.0, -1.0), "bandwidth")]:
        with pytest.raises(AuditError, match=f"`{name}` must"):
            LocalBinaryArrayMechanism(*arguments)


def test_records_outside_the_window_hit_no_cell_or_the_last():
    mechanism = LocalBinaryArrayMechanism(1, 1.0, 0.4)
    assert mechanism.bits((7.0, 1)).tolist() == [0, 0, 0, 0]
    assert mechanism.bits((1.3, 1)).tolist() == [0, 0, 0, 1]
