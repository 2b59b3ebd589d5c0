"""Goodness of fit. Seeds are fixed; each test states its null, or the gap it must see.

Own samplers: under H0 a p-value below 1e-3 has probability at most 1e-3 for each case.
Faults: n = 20,000 gives a DKW width below 0.02 at 1e-6; every fault here moves a tested distribution by 0.05 or more.
"""

from collections.abc import Callable

import numpy as np
import pytest

from audit.laws import Finite, Gaussian, Laplace, Law, PointMass, Product, TwoSidedGeometric
from audit.laws.outputs import dkw_pvalue
from tests.core.laws.thresholded import ThresholdedLaplace

N = 20_000
Sampler = Callable[[np.random.Generator, int], np.ndarray]


def geometric(rng: np.random.Generator, size: int) -> np.ndarray:
    return 3 + rng.geometric(0.6, size) - rng.geometric(0.6, size)


def thresholded(rng: np.random.Generator, size: int) -> np.ndarray:
    z = rng.laplace(3, 2, size)
    return np.where(z >= 4, z, 0.0)


def rows(rng: np.random.Generator, size: int) -> np.ndarray:
    return np.array([[0, 0], [0, 1], [1, 1]])[rng.choice(3, p=[0.2, 0.3, 0.5], size=size)]


OWN: dict[str, tuple[Law, Sampler]] = {
    "laplace": (Laplace(1, 2), lambda rng, size: rng.laplace(1, 2, size)),
    "gaussian": (Gaussian(-1, 3), lambda rng, size: rng.normal(-1, 3, size)),
    "geometric": (TwoSidedGeometric(3, 0.4), geometric),
    "thresholded": (ThresholdedLaplace(3, 2, 4), thresholded),
    "point": (PointMass(0), lambda rng, size: np.zeros(size)),
    "text": (Finite({"a": 0.1, "b": 0.9}), lambda rng, size: rng.choice(["a", "b"], p=[0.1, 0.9], size=size)),
    "rows": (Finite({(0, 0): 0.2, (0, 1): 0.3, (1, 1): 0.5}), rows),
    "many": (Finite(dict.fromkeys(range(50), 0.02)), lambda rng, size: rng.integers(50, size=size)),
    "vector": (Product((Laplace(0, 1),) * 4), lambda rng, size: rng.laplace(size=(size, 4))),
    "mixed": (
        Product((ThresholdedLaplace(3, 2, 4), TwoSidedGeometric(3, 0.4))),
        lambda rng, size: np.column_stack([thresholded(rng, size), geometric(rng, size)]),
    ),
}


@pytest.mark.parametrize("name", OWN)
@pytest.mark.false_alarm(0.001, seeded=True)
def test_a_law_accepts_its_own_sampler(name: str) -> None:
    law, sampler = OWN[name]
    rng = np.random.default_rng(7)
    assert law.fit_pvalue(sampler(rng, N), rng) > 1e-3


@pytest.mark.parametrize("name", OWN)
@pytest.mark.false_alarm(3e-05, seeded=True)
def test_pvalues_are_valid_at_a_small_size(name: str) -> None:
    # H0 true, n = 30, 300 replicates: P(p <= 0.2) <= 0.2, so that 90 or more of 300 has probability < 3e-5.
    law, sampler = OWN[name]
    rng = np.random.default_rng(11)
    pvalues = [law.fit_pvalue(sampler(rng, 30), rng) for _ in range(300)]
    assert sum(p <= 0.2 for p in pvalues) < 90
    assert max(pvalues) > 0.2


@pytest.mark.parametrize("name", OWN)
def test_the_stated_tests_are_those_for_which_the_pvalue_pays(name: str) -> None:
    """Each coordinate of a vector has those of its own law, and each outcome of a finite law has a test."""
    law, sampler = OWN[name]
    rng = np.random.default_rng(0)
    outputs, of_parts = sampler(rng, 30), [part.fit_tests for part in getattr(law, "laws", ())]
    scores = law.normal_scores(outputs, rng)
    assert scores is not None
    tests = len(law._fit_pvalues(outputs, scores, rng)) * max(of_parts, default=1)
    assert law.fit_tests == tests * (len(law.pmf) if isinstance(law, Finite) else 1)


def antithetic(rng: np.random.Generator, size: int) -> np.ndarray:
    noise = rng.laplace(1, 2, size)
    noise[1::2] = 2 - noise[::2]
    return noise


FAULTS: dict[str, tuple[str, Sampler]] = {
    "scale doubled": ("laplace", lambda rng, size: rng.laplace(1, 4, size)),
    "one draw for all outputs": ("laplace", lambda rng, size: np.full(size, rng.laplace(1, 2))),
    "each draw used twice": ("laplace", lambda rng, size: np.repeat(rng.laplace(1, 2, size // 2), 2)),
    "antithetic successors": ("laplace", antithetic),
    "one-sided": ("geometric", lambda rng, size: 3 + rng.geometric(0.6, size)),
    "threshold off by a quarter": (
        "thresholded",
        lambda rng, size: (lambda z: np.where(z >= 4.25, z, 0.0))(rng.laplace(3, 2, size)),
    ),
    "new outcome": ("rows", lambda rng, size: np.vstack([rows(rng, size - 1), [[1, 0]]])),
    "noise shared by all coordinates": ("vector", lambda rng, size: rng.laplace(size=(size, 1)) @ np.ones((1, 4))),
    "noise shared by two coordinates": ("vector", lambda rng, size: rng.laplace(size=(size, 4))[:, [0, 1, 2, 0]]),
    "noise repeated with opposite signs": (
        "vector",
        lambda rng, size: rng.laplace(size=(size, 2)) @ [[1, 0, -1, 0], [0, 1, 0, -1]],
    ),
    "one coordinate without noise": ("vector", lambda rng, size: rng.laplace(size=(size, 4)) * [1, 1, 1, 0]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_law_convicts(fault: str) -> None:
    name, sampler = FAULTS[fault]
    rng = np.random.default_rng(13)
    assert OWN[name][0].fit_pvalue(sampler(rng, N), rng) < 1e-6


@pytest.mark.parametrize("law", [OWN[name][0] for name in ("laplace", "geometric", "thresholded", "text")], ids=repr)
@pytest.mark.parametrize(
    "outputs",
    [
        np.array([1.0, np.nan]),
        np.array([None, 1.0], dtype=object),
        np.array([["a", "b"], ["a", "b"]]),
        np.array(["x", "y"]),
        np.array([1 + 1j, 2.0]),
    ],
    ids=["nan", "None", "text rows", "text", "complex"],
)
def test_what_is_no_output_of_the_law_has_pvalue_zero(law: Law, outputs: np.ndarray) -> None:
    assert law.fit_pvalue(outputs, np.random.default_rng(0)) == 0.0


def test_a_vector_of_the_wrong_width_has_pvalue_zero() -> None:
    law, rng = OWN["vector"][0], np.random.default_rng(0)
    assert law.fit_pvalue(rng.laplace(size=(50, 3)), rng) == law.fit_pvalue(rng.laplace(size=50), rng) == 0.0


def test_the_pvalue_of_the_largest_gap_is_massart_s_by_hand() -> None:
    """Of 40 uniform numbers all lie below 0.8: the gap is 0.2 there, and 2 exp(-2 * 40 * 0.2^2) = 2 e^-3.2."""
    values = 0.8 * np.arange(1, 41) / 40

    def uniform(x: np.ndarray) -> np.ndarray:
        return np.clip(x, 0.0, 1.0)

    assert dkw_pvalue(values, uniform, uniform) == pytest.approx(2 * np.exp(-3.2))
