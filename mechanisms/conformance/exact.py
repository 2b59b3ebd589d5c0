"""Records within their bounds as fractions, and noise that is added exactly: parts of the reference library."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from audit.extensions.conformance import Parameters

Release = Callable[..., Any]
_WIDE = 2.0**40  # above, NumPy's geometric numbers are cut at 64 bits, and their last digits are those of a float


_REMEMBERED = 8  # datasets: both sides of a few pairs


def once(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that computes the value of a dataset once, for the last few datasets: outputs share it."""
    values: dict[bytes, Any] = {}

    def remembered(data: Any) -> Any:
        key = pickle.dumps(data)  # a text may leave out the middle of a long dataset
        if key not in values:
            if len(values) >= _REMEMBERED:
                del values[next(iter(values))]
            values[key] = function(data)
        return values[key]

    return remembered


def number(value: Any, p: Parameters) -> Fraction:
    """Return a record within the bounds; anything but a number counts as the lower one."""
    if not isinstance(value, (int, float)) or value != value:
        return Fraction(p.lower)
    if math.isinf(value):
        return Fraction(p.upper if value > 0 else p.lower)
    return min(max(Fraction(value), Fraction(p.lower)), Fraction(p.upper))


def numbers(data: Any, p: Parameters) -> list[Fraction]:
    """Return the records within the bounds."""
    return [number(value, p) for value in data]


def row(values: Any, p: Parameters) -> np.ndarray:
    """Return a row of two numbers of norm at most the radius; zeros where it holds anything else."""
    if not all(isinstance(value, (int, float)) and math.isfinite(value) for value in values):
        return np.zeros(2)
    found = np.array(values, dtype=float)
    return found / max(1.0, float(np.linalg.norm(found)) / p.radius)


def rounded(value: Fraction) -> float:
    """Return the nearest floating-point number, infinite where it is too large."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def noisy(value: Fraction | int, scale: Fraction, rng: np.random.Generator) -> float:
    """Add Laplace noise exactly, and round once."""
    return rounded(value + scale * Fraction(float(rng.laplace())))


def geometric(scale: float, rng: np.random.Generator) -> int:
    """Draw a two-sided geometric number: P(k) is proportional to exp(-|k| / scale)."""
    return _one_sided(scale, rng) - _one_sided(scale, rng)


def _one_sided(scale: float, rng: np.random.Generator) -> int:
    """Draw a number >= 0 whose probabilities fall by exp(-1 / scale): high and low digits are independent."""
    if scale < _WIDE:
        return int(rng.geometric(-math.expm1(-1 / scale))) - 1
    base = 2 ** math.floor(math.log2(scale))
    while True:
        low = int.from_bytes(rng.bytes(16), "little") % base
        if rng.random() < math.exp(-low / scale):
            return (int(rng.geometric(-math.expm1(-base / scale))) - 1) * base + low


def discrete_gaussian(deviation: float, rng: np.random.Generator) -> int:
    """Draw a discrete Gaussian number by rejection from a geometric one: Canonne et al. 2020, algorithm 3."""
    scale = math.floor(deviation) + 1
    while True:
        drawn = geometric(scale, rng)
        if rng.random() < math.exp(-((abs(drawn) - deviation**2 / scale) ** 2) / (2 * deviation**2)):
            return drawn


def chosen(utilities: Any, epsilon: float, rng: np.random.Generator) -> int:
    """Draw an index by the exponential mechanism, for utilities that a record changes by at most 1."""
    logs = np.array([epsilon * float(value) / 2 for value in utilities])
    return int(np.argmax(logs + rng.gumbel(size=len(logs))))


def counted(data: Any, keys: Any) -> list[int]:
    """Return how often each key occurs, by its text: records may be of any type."""
    counts = Counter(map(repr, data))
    return [counts[repr(key)] for key in keys]


def spread(p: Parameters) -> Fraction:
    """Return the distance of the bounds."""
    return Fraction(p.upper) - Fraction(p.lower)


def sum_sensitivity(p: Parameters, moved: int) -> Fraction:
    """Return how far one record moves a sum: `moved` is 2 where it is replaced and 1 where it comes or goes."""
    return spread(p) if moved == 2 else max(abs(Fraction(p.lower)), abs(Fraction(p.upper)))
