"""Every sampler draws from the law that it states.

Null of each case: the outputs are i.i.d. from the stated law. n = 20,000 outputs a dataset. False-alarm probability:
1e-8 a dataset (Bonferroni over coordinates or cells), below 1e-5 for the whole file; the seed is fixed on top.
Distribution functions come from scipy, not from the package's own tests of fit.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

import mechanisms
from audit import PrivacyCheck
from audit.laws import Finite, Gaussian, Laplace, PointMass, Product, TwoSidedGeometric
from mechanisms.parts.thresholded_count import ThresholdedLaplace

N = 20_000
ALARM = 1e-8


def dkw_width(alarm: float) -> float:
    """Width of the Dvoretzky-Kiefer-Wolfowitz band, with Massart's constant."""
    return math.sqrt(math.log(2 / alarm) / (2 * N))


def largest_gap(values: np.ndarray, below: np.ndarray, at: np.ndarray) -> float:
    """Largest distance of the empirical distribution function from the one with P(X < v) and P(X <= v)."""
    ordered = np.sort(values)
    empirical_at = np.searchsorted(ordered, values, side="right") / values.size
    empirical_below = np.searchsorted(ordered, values, side="left") / values.size
    return max(np.max(np.abs(empirical_at - at)), np.max(np.abs(empirical_below - below)))


def assert_reals(values: np.ndarray, frozen: object, alarm: float) -> None:
    cdf = frozen.cdf(values)
    assert largest_gap(values, cdf, cdf) <= dkw_width(alarm)


def assert_coordinate(values: np.ndarray, law: object, alarm: float) -> None:
    if isinstance(law, PointMass):
        assert np.all(values == law.value)
    elif isinstance(law, Laplace):
        assert_reals(values, stats.laplace(law.loc, law.scale), alarm)
    elif isinstance(law, Gaussian):
        assert_reals(values, stats.norm(law.loc, law.scale), alarm)
    elif isinstance(law, TwoSidedGeometric):
        noise = stats.dlaplace(-math.log(law.ratio), loc=law.loc)
        assert largest_gap(values, noise.cdf(values - 1), noise.cdf(values)) <= dkw_width(alarm)
    elif isinstance(law, ThresholdedLaplace):
        noise = stats.laplace(law.loc, law.scale)
        assert np.all((values == 0) | (values >= law.threshold))
        at = np.where(values == 0, noise.cdf(law.threshold), noise.cdf(values))
        assert largest_gap(values, np.where(values == 0, 0.0, at), at) <= dkw_width(alarm)
    elif isinstance(law, Finite):
        assert_finite(values, law, alarm)
    else:
        pytest.fail(f"no reference for {type(law).__name__}")


def outcome_key(row: object) -> object:
    return tuple(row) if isinstance(row, list) else row


def assert_finite(outputs: np.ndarray, law: Finite, alarm: float) -> None:
    counts = Counter(map(outcome_key, np.asarray(outputs).tolist()))
    table = law.pmf
    assert counts.keys() <= table.keys()
    found = np.array([counts[outcome] for outcome in table])
    probability = np.minimum(list(table.values()), 1.0)
    rarer = np.minimum(stats.binom.cdf(found, N, probability), stats.binom.sf(found - 1, N, probability))
    least = int(np.argmin(rarer))
    assert 2 * rarer[least] >= alarm / len(table), f"{list(table)[least]}: {found[least]} of {N}"


def cases() -> list[object]:
    """One case for each mechanism object and dataset, however many claims are made about it."""
    known: dict[object, object] = {}
    for check in (check for check in mechanisms.BASIC if isinstance(check, PrivacyCheck)):
        key = (type(check.mechanism), repr(check.mechanism), repr(check.pairs[0]))
        known.setdefault(key, pytest.param(check.mechanism, check.pairs[0], id=check.name))
    return list(known.values())


@pytest.mark.parametrize(("mechanism", "pair"), cases())
@pytest.mark.false_alarm(2e-08)
def test_sampler_follows_the_stated_law(mechanism, pair):
    for seed, dataset in enumerate(pair):
        outputs = mechanism(dataset, N, np.random.default_rng((20260101, seed)))
        assert len(outputs) == N
        law = mechanism.law(dataset)
        if isinstance(law, Product):
            for column, part in zip(outputs.T, law.laws, strict=True):
                assert_coordinate(column, part, ALARM / len(law.laws))
        else:
            assert_coordinate(outputs, law, ALARM)


def independent_coordinates(case):
    law = case.values[0].law(case.values[1][0])
    return isinstance(law, Product) and all(isinstance(part, (Laplace, Gaussian)) for part in law.laws)


@pytest.mark.parametrize(("mechanism", "pair"), list(filter(independent_coordinates, cases())))
@pytest.mark.false_alarm(1e-08)
def test_coordinates_share_no_noise(mechanism, pair):
    """Null: independent coordinates, symmetric about their locations. Hoeffding on the products of their signs."""
    law = mechanism.law(pair[0])
    outputs = mechanism(pair[0], N, np.random.default_rng(5))
    signs = np.sign(outputs - [part.loc for part in law.laws])
    means = np.triu(signs.T @ signs / N, k=1)
    assert np.max(np.abs(means)) <= math.sqrt(2 * math.log(2 * means.size / ALARM) / N)
