"""Faults that occur only at some parameters: a round scale, a size, a power of two, a type of data.

At most values of their parameters these mechanisms keep their claims; a test at a round number passes them. Each check
searches the parameters, and certifies the worst setting on fresh outputs.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from audit import Local, PrivacyCheck, PrivacyClaim, Substitution, Verdict
from mechanisms.gaussian import ClassicalGaussian

SOURCE = "claimed at every setting of its parameters"
DELTA = 1e-5

EPSILONS = st.floats(0.1, 4.0, allow_subnormal=False)


def counts(**_: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the pair of a count that changes by one."""
    return [(np.zeros(4), np.r_[1.0, np.zeros(3)])]


def of_epsilon(epsilon: float = 1.0, *, delta: float = 0.0, relation: Any = None, **_: Any) -> PrivacyClaim:
    """Return the claim of a setting, or of 1."""
    return PrivacyClaim(epsilon, delta, relation or Substitution(), SOURCE)


def blocks_of_eight(data: Any, size: int, rng: np.random.Generator, *, length: int) -> np.ndarray:
    """Noise for a vector, drawn in blocks of eight. The last of a full block has none. True epsilon: infinite."""
    noise = rng.laplace(size=(size, length))
    noise[:, -1] *= length % 8 > 0
    return data + noise


def mask_of_bound(data: Any, size: int, rng: np.random.Generator, *, bound: int) -> np.ndarray:
    """Clipping with a mask in place of a comparison: a record that equals a bound 2^k becomes 2 bound. True: (2, 0)."""
    is_power = bound & (bound - 1) == 0
    clipped = np.where(is_power & (data == bound), 2 * bound, np.clip(data, 0, bound))
    return clipped.sum() + rng.laplace(scale=bound, size=size)


def index_of_a_byte(data: Any, size: int, rng: np.random.Generator, *, candidates: int) -> np.ndarray:
    """Randomized response over candidates whose number is kept in a byte: from 256 on the truth comes too often.

    True epsilon: ln((candidates - 1) e / (candidates mod 256 - 1 or 1)).
    """
    others = max(1, candidates % 256 - 1)
    truth = rng.random(size) < math.e / (math.e + others)
    other = (data + rng.integers(1, candidates, size)) % candidates
    return np.where(truth, data, other)


def narrow_type(data: Any, size: int, rng: np.random.Generator, *, bits: int, ones: int) -> np.ndarray:
    """Sum of 100 records of 0 or 1 in an integer of some bits, which wraps. True epsilon at 7 bits: 127 at the edge."""
    wrapped = (int(data.sum()) + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
    return wrapped + rng.laplace(size=size)


DRAWN: dict[str, Callable[..., np.ndarray]] = {
    # the scale 1 / epsilon, rounded to an integer; true epsilon: 1 / max(1, round(1 / epsilon))
    "rounded scale": lambda x, n, rng, *, epsilon: x.sum() + rng.laplace(scale=max(1, round(1 / epsilon)), size=n),
    # at most 5; true epsilon: max(epsilon, 0.2)
    "capped scale": lambda x, n, rng, *, epsilon: x.sum() + rng.laplace(scale=min(1 / epsilon, 5.0), size=n),
    # noise cut off at some cells; true: (1, about e^-cells / 2), which shows where the tail is short
    "short tail": lambda x, n, rng, *, cells: x.sum() + np.clip(rng.laplace(size=n), -cells, cells),
    # the mean of records in [0, 1], scale (n - 1) / n^2; true epsilon: n / (n - 1)
    "sample deviation": lambda x, n, rng, *, records: x.mean() + rng.laplace(scale=(records - 1) / records**2, size=n),
}


def whole_division(data: Any, size: int, rng: np.random.Generator, *, bound: int, epsilon: int) -> np.ndarray:
    """Sum of records in [0, bound]; the scale is bound // epsilon. True epsilon: bound / (bound // epsilon)."""
    return np.clip(data, 0, bound).sum() + rng.laplace(scale=max(bound // epsilon, 1e-3), size=size)


def decimals(data: Any, size: int, rng: np.random.Generator, *, digits: int) -> np.ndarray:
    """Noise of scale 0.1, rounded to some digits before it is added. True: infinite; at no digit the noise is 0."""
    return np.round(data.sum() / 10 + np.round(rng.laplace(scale=0.1, size=size), digits), 9)


class SummedGaussian(ClassicalGaussian):
    """Gaussian noise by the classical formula, which is proved for epsilon < 1. True delta at epsilon 8: 1.6e-4."""

    def __init__(self, epsilon: float) -> None:
        super().__init__(np.sum, 1.0, epsilon, DELTA)


def _check(
    mechanism: Any, pairs: Callable[..., Any] = counts, claim: Any = of_epsilon, name: str = "", **parameters: Any
) -> PrivacyCheck:
    return PrivacyCheck(
        name=f"fault/parameters/{name or getattr(mechanism, '__name__', mechanism).replace('_', ' ')}",
        mechanism=DRAWN.get(mechanism, mechanism),
        claim=claim,
        pairs=pairs,
        parameters=parameters,
        expected=Verdict.FAIL,
    )


def _one_of_many(ones: int, bits: int, records: int = 100) -> list[tuple[np.ndarray, np.ndarray]]:
    data = np.repeat([1.0, 0.0], [ones, records - ones])
    return [(data, np.r_[data[:ones], 1.0, data[ones + 1 :]])]


def _first_record(bound: int, **_: Any) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(np.zeros(3), np.array([bound, 0, 0]))]


_BOUNDS, _LOCAL = st.integers(1, 1000), partial(of_epsilon, relation=Local())
_WITH_DELTA = partial(of_epsilon, delta=DELTA)
CHECKS = [
    _check("rounded scale", claim=of_epsilon, epsilon=EPSILONS),
    _check("capped scale", claim=of_epsilon, epsilon=EPSILONS),
    _check(whole_division, _first_record, of_epsilon, bound=_BOUNDS, epsilon=st.integers(1, 4)),
    _check(blocks_of_eight, lambda length: [(np.zeros(length), np.eye(length)[-1])], length=st.integers(1, 24)),
    _check(mask_of_bound, _first_record, bound=_BOUNDS),
    _check(index_of_a_byte, lambda candidates: [(0, candidates - 1)], _LOCAL, candidates=st.integers(2, 1000)),
    _check(narrow_type, _one_of_many, bits=st.sampled_from([7, 8, 16, 32]), ones=st.integers(0, 99)),
    _check("sample deviation", lambda records: [(np.zeros(records), np.eye(records)[0])], records=st.integers(1, 200)),
    _check("short tail", cells=st.integers(1, 40)),
    _check(decimals, digits=st.integers(0, 8)),
    _check(SummedGaussian, claim=_WITH_DELTA, name="classical Gaussian", epsilon=st.floats(0.1, 10.0)),
]
