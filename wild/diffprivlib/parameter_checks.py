"""diffprivlib.mechanisms at any parameters: the worst setting is searched, and certified on fresh outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from audit import PrivacyClaim
from wild.diffprivlib.entry import ADDED, ANY_RECORD, EPSILON, RELEASE, REPLACED, Entry
from wild.searched import claimed

_EPSILON = st.floats(0.2, 3.0)
_DELTA = st.floats(1e-4, 0.5)
_SCALE = st.floats(0.1, 2.0)  # noise far beyond the bounds takes the rejection samplers minutes
_WHOLE = st.integers(1, 5)
_BOUNDS = {"lower": st.floats(-5.0, 0.0), "upper": st.floats(1.0, 5.0)}
_WHOLE_BOUNDS = {"lower": st.integers(-10, 0), "upper": st.integers(2, 10)}
_SEARCH: dict[str, Any] = {"method": "auto", "budget": 40_000, "tolerance": 2.5, "named": "any parameters"}


def _claim(relation: Any, served: str, says: str) -> Callable[..., PrivacyClaim]:
    return claimed(RELEASE, f'docstring of {served}: "{says}"', relation)


def _noise(
    served: str, says: str = EPSILON, refuted: str = "", tolerance: float = 2.5, budget: int = 40_000, **parameters: Any
) -> Entry:
    """A search over noise on a number, at both bounds where there are some."""

    def pairs(sensitivity: float = 1, lower: float = 0, upper: float = 0, **_: Any) -> list[Any]:
        if lower == upper:
            return [([], [sensitivity])]
        step = min(sensitivity, upper - lower)
        return [([lower], [lower, step]), ([upper, -step], [upper])]

    claim, settings = _claim(ADDED, served, says), {**_SEARCH, "tolerance": tolerance, "budget": budget}
    return RELEASE.entry(
        f"{served} searched", pairs, "", claim=claim, parameters=parameters, refuted=refuted, **settings
    )


def _label(served: str, pair: tuple[str, str], **parameters: Any) -> Entry:
    """A search over a local randomizer of labels."""
    pairs = [([pair[0]], [pair[1]])]
    claim = _claim(ANY_RECORD, served, EPSILON)
    return RELEASE.entry(f"{served} searched", pairs, "", claim=claim, parameters=parameters, **_SEARCH)


def _choice(served: str) -> Entry:
    """A search over choices by votes, one of which changes."""

    def pairs(candidates: int, **_: Any) -> list[Any]:
        return [([0] * 3, [0, 0, candidates - 1]), ([0], [candidates - 1])]

    parameters = {"epsilon": _EPSILON, "sensitivity": _SCALE, "candidates": st.integers(2, 20)}
    claim = _claim(REPLACED, served, EPSILON)
    return RELEASE.entry(f"{served} searched", pairs, "", claim=claim, parameters=parameters, **_SEARCH)


ENTRIES = [
    _noise("Laplace", epsilon=_EPSILON, delta=st.floats(0.0, 0.5), sensitivity=_SCALE),
    _noise("LaplaceTruncated", epsilon=_EPSILON, sensitivity=_SCALE, **_BOUNDS),
    _noise("LaplaceFolded", epsilon=_EPSILON, sensitivity=_SCALE, **_BOUNDS),
    _noise("LaplaceBoundedDomain", epsilon=_EPSILON, sensitivity=_SCALE, **_BOUNDS),
    _noise(
        "LaplaceBoundedNoise",
        epsilon=_EPSILON,
        delta=st.floats(0.01, 0.3),
        sensitivity=_SCALE,
        tolerance=6.0,
        budget=170_000,
    ),
    _noise("Gaussian", epsilon=st.floats(0.2, 1.0), delta=_DELTA, sensitivity=_SCALE),
    _noise("GaussianAnalytic", epsilon=_EPSILON, delta=_DELTA, sensitivity=_SCALE),
    _noise("GaussianDiscrete", epsilon=_EPSILON, delta=_DELTA, sensitivity=st.integers(1, 5)),
    _noise("Geometric", epsilon=_EPSILON, sensitivity=_WHOLE),
    _noise("GeometricTruncated", epsilon=_EPSILON, sensitivity=_WHOLE, **_WHOLE_BOUNDS),
    _noise("Snapping", epsilon=_EPSILON, sensitivity=_SCALE, **_BOUNDS),
    _noise("Staircase", epsilon=_EPSILON, sensitivity=_SCALE, gamma=st.floats(0.0, 1.0)),
    _noise(
        "Uniform",
        "Privacy parameter delta for the mechanism",
        delta=st.floats(0.01, 0.5),
        sensitivity=_SCALE,
        refuted="`mechanisms/uniform.py: Uniform.randomise` multiplies `2 * random() - 1`, a multiple of 2^-52, by "
        "`sensitivity / delta / 2`. Where that is a power of two, all noise is on one coarse grid, and a value that is "
        "not on it shows in the low bits of every output. At other parameters the product is rounded to full "
        "precision, and this check sees nothing. The docstring has no caveat.",
    ),
    _label("Binary", ("no", "yes"), epsilon=_EPSILON),
    _label("ExponentialCategorical", ("a", "c"), epsilon=_EPSILON),
    _label("ExponentialHierarchical", ("a", "c"), epsilon=_EPSILON),
    _choice("Exponential"),
    _choice("PermuteAndFlip"),
]
