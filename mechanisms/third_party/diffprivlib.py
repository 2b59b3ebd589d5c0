"""diffprivlib's mechanisms: Laplace, geometric, analytic Gaussian and binary randomized response.

Each is an object with a method `randomise`, built once and called once an output (10 to 25 microseconds). The claim
is the epsilon and delta that the constructor was given. The mechanisms draw from the operating system's randomness
unless they are given a random state, which would replace the generator that users run.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from audit import AddRemove, Local, PrivacyCheck, per_call
from audit.errors import MissingExtra
from mechanisms.papers.rows import Paper
from mechanisms.real_data import DATA, RECORDS, column, extreme_swap, without_first

try:
    from diffprivlib import mechanisms as dpl
except ImportError:
    raise MissingExtra.of("diffprivlib") from None

DELTA = 1e-5
_TOLERANCE = 0.5  # of epsilon
MEAN_SENSITIVITY = (42.0 - 17.5) / RECORDS * (1 + 1e-9)  # age lies in [17.5, 42]; rounding of the mean covered


_PAPER = Paper("diffprivlib", "diffprivlib.mechanisms")


@lru_cache
def built(kind: str, **parameters: Any) -> Any:
    """Return one of the library's mechanisms, built once."""
    return getattr(dpl, kind)(**parameters)


def count_laplace_1(dataset: Any) -> float:
    """Number of women with an affair, Laplace(epsilon = 1)."""
    return float(built("Laplace", epsilon=1.0, sensitivity=1.0).randomise(np.count_nonzero(dataset)))


def mean_laplace_2(dataset: Any) -> float:
    """Mean age, Laplace(epsilon = 2)."""
    return float(built("Laplace", epsilon=2.0, sensitivity=MEAN_SENSITIVITY).randomise(float(dataset.mean())))


def count_geometric_2(dataset: Any) -> int:
    """Number of women with an affair, Geometric(epsilon = 2)."""
    return int(built("Geometric", epsilon=2.0).randomise(int(np.count_nonzero(dataset))))


def count_gaussian_1(dataset: Any) -> float:
    """Number of women with an affair, GaussianAnalytic(epsilon = 1, delta = 1e-5)."""
    noise = built("GaussianAnalytic", epsilon=1.0, delta=DELTA, sensitivity=1.0)
    return float(noise.randomise(np.count_nonzero(dataset)))


def answer_binary_1(answer: Any) -> str:
    """Return whether one woman had an affair, Binary(epsilon = 1)."""
    return str(built("Binary", epsilon=1.0, value0="no", value1="yes").randomise("yes" if answer > 0 else "no"))


def _check(name: str, kind: str, function: Any, claimed: Any, pair: Any, relation: Any = None) -> PrivacyCheck:
    """Return a check at twice the usual tolerance: each output costs a call."""
    where = f"diffprivlib.mechanisms.{kind}; {DATA}"
    settings = {"method": "fixed", "tolerance": _TOLERANCE * np.ravel(claimed)[0]}
    return _PAPER.promise(name, where, per_call(function), claimed, [pair], relation, **settings)


_AFFAIRS = column("affairs")
_REMOVED = without_first(_AFFAIRS, _AFFAIRS > 0)
_SWAPPED, _ENDS = extreme_swap(_AFFAIRS), (float(_AFFAIRS.min()), float(_AFFAIRS.max()))
_NAME = f"count, GaussianAnalytic eps=1 delta={DELTA:g}"
CHECKS: list[PrivacyCheck] = [
    _check("count, Laplace eps=1", "Laplace", count_laplace_1, 1.0, _SWAPPED),
    _check("mean age, Laplace eps=2", "Laplace", mean_laplace_2, 2.0, extreme_swap(column("age"))),
    _check("count, Geometric add-remove eps=2", "Geometric", count_geometric_2, 2.0, _REMOVED, AddRemove()),
    _check(_NAME, "GaussianAnalytic", count_gaussian_1, (1.0, DELTA), _SWAPPED),
    _check("one answer, Binary eps=1", "Binary", answer_binary_1, 1.0, _ENDS, Local()),
]
