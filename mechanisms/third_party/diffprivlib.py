"""diffprivlib's mechanisms: Laplace, geometric, analytic Gaussian and binary randomized response.

Each is an object with a method `randomise`, built once and called once an output (10 to 25 microseconds). The claim
is the epsilon and delta that the constructor was given. The mechanisms draw from the operating system's randomness
unless they are given a random state, which would replace the generator that users run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from audit import AddRemove, Local, PrivacyCheck, PrivacyClaim, Substitution, per_call
from audit.errors import MissingExtra
from mechanisms.real_data import DATA, RECORDS, column, extreme_swap, without_first

try:
    from diffprivlib import mechanisms as dpl
except ImportError:
    raise MissingExtra.of("diffprivlib") from None

DELTA = 1e-5
_TOLERANCE = 0.5  # of epsilon
MEAN_SENSITIVITY = (42.0 - 17.5) / RECORDS * (1 + 1e-9)  # age lies in [17.5, 42]; rounding of the mean covered


@lru_cache
def laplace(epsilon: float, sensitivity: float) -> Any:
    """Laplace noise."""
    return dpl.Laplace(epsilon=epsilon, sensitivity=sensitivity)


@lru_cache
def geometric(epsilon: float) -> Any:
    """Two-sided geometric noise, sensitivity 1."""
    return dpl.Geometric(epsilon=epsilon)


@lru_cache
def analytic_gaussian(epsilon: float) -> Any:
    """Gaussian noise with the analytic calibration, sensitivity 1."""
    return dpl.GaussianAnalytic(epsilon=epsilon, delta=DELTA, sensitivity=1.0)


@lru_cache
def binary(epsilon: float) -> Any:
    """Binary randomized response."""
    return dpl.Binary(epsilon=epsilon, value0="no", value1="yes")


def count_laplace_1(dataset: Any) -> float:
    """Number of women with an affair, Laplace(epsilon = 1)."""
    return float(laplace(1.0, 1.0).randomise(np.count_nonzero(dataset)))


def mean_laplace_2(dataset: Any) -> float:
    """Mean age, Laplace(epsilon = 2)."""
    return float(laplace(2.0, MEAN_SENSITIVITY).randomise(float(dataset.mean())))


def count_geometric_2(dataset: Any) -> int:
    """Number of women with an affair, Geometric(epsilon = 2)."""
    return int(geometric(2.0).randomise(int(np.count_nonzero(dataset))))


def count_gaussian_1(dataset: Any) -> float:
    """Number of women with an affair, GaussianAnalytic(epsilon = 1, delta = 1e-5)."""
    return float(analytic_gaussian(1.0).randomise(np.count_nonzero(dataset)))


def answer_binary_1(answer: Any) -> str:
    """Return whether one woman had an affair, Binary(epsilon = 1)."""
    return str(binary(1.0).randomise("yes" if answer > 0 else "no"))


def _check(name: str, function: Any, claim: PrivacyClaim, pair: tuple[Any, Any]) -> PrivacyCheck:
    """Return a check at twice the usual tolerance: each output costs a call."""
    return PrivacyCheck(
        name=f"diffprivlib/{name}",
        mechanism=per_call(function),
        claim=claim,
        pairs=[pair],
        method="fixed",
        tolerance=_TOLERANCE * claim.point.epsilon,
    )


def _claim(epsilon: float, relation: Any, name: str, delta: float = 0.0) -> PrivacyClaim:
    return PrivacyClaim(epsilon, delta, relation, f"diffprivlib.mechanisms.{name}; {DATA}")


def _checks() -> list[PrivacyCheck]:
    affairs, swap = column("affairs"), Substitution()
    ends = (float(affairs.min()), float(affairs.max()))
    counted, removed = extreme_swap(affairs), without_first(affairs, affairs > 0)
    aged = extreme_swap(column("age"))
    return [
        _check("count, Laplace eps=1", count_laplace_1, _claim(1.0, swap, "Laplace"), counted),
        _check("mean age, Laplace eps=2", mean_laplace_2, _claim(2.0, swap, "Laplace"), aged),
        _check(
            "count, Geometric add-remove eps=2",
            count_geometric_2,
            _claim(2.0, AddRemove(), "Geometric"),
            removed,
        ),
        _check(
            f"count, GaussianAnalytic eps=1 delta={DELTA:g}",
            count_gaussian_1,
            _claim(1.0, swap, "GaussianAnalytic", DELTA),
            counted,
        ),
        _check("one answer, Binary eps=1", answer_binary_1, _claim(1.0, Local(), "Binary"), ends),
    ]


CHECKS: list[PrivacyCheck] = _checks()
