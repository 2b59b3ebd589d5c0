"""diffprivlib.mechanisms at any parameters: the worst setting is searched, and certified on fresh outputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from audit import AddRemove, Local, PrivacyCheck, PrivacyClaim, Substitution
from wild.searched import Release, claimed

RELEASE = Release("diffprivlib", "diffprivlib", "diffprivlib 0.6.6", own_randomness=False)
REPLACED, ADDED, ANY_RECORD = Substitution(), AddRemove(), Local()
EPSILON = "Privacy parameter epsilon for the mechanism"

_EPSILON = st.floats(0.2, 3.0)
_DELTA = st.floats(1e-4, 0.5)
SCALE = st.floats(0.1, 2.0)  # noise far beyond the bounds takes the rejection samplers minutes
_WHOLE = st.integers(1, 5)
_BOUNDS = {"lower": st.floats(-5.0, 0.0), "upper": st.floats(1.0, 5.0)}
_WHOLE_BOUNDS = {"lower": st.integers(-10, 0), "upper": st.integers(2, 10)}
_SEARCH: dict[str, Any] = {"method": "auto", "budget": 40_000, "tolerance": 2.5, "named": "searched any parameters"}


def _claim(relation: Any, served: str, says: str) -> Callable[..., PrivacyClaim]:
    return claimed(RELEASE, f'docstring of {served}: "{says}"', relation)


def noise_search(
    served: str, says: str = EPSILON, tolerance: float = 2.5, budget: int = 40_000, **parameters: Any
) -> PrivacyCheck:
    """A search over noise on a number, at both bounds where there are some."""

    def pairs(sensitivity: float = 1, lower: float = 0, upper: float = 0, **_: Any) -> list[Any]:
        if lower == upper:
            return [([], [sensitivity])]
        step = min(sensitivity, upper - lower)
        return [([lower], [lower, step]), ([upper, -step], [upper])]

    claim, settings = _claim(ADDED, served, says), {**_SEARCH, "tolerance": tolerance, "budget": budget}
    return RELEASE.search(served, pairs, claim, parameters=parameters, **settings)


def _label(served: str, pair: tuple[str, str], **parameters: Any) -> PrivacyCheck:
    """A search over a local randomizer of labels."""
    claim = _claim(ANY_RECORD, served, EPSILON)
    return RELEASE.search(served, [pair], claim, parameters=parameters, **_SEARCH)


def _choice(served: str) -> PrivacyCheck:
    """A search over choices by votes, one of which changes."""

    def pairs(candidates: int, **_: Any) -> list[Any]:
        return [([0] * 3, [0, 0, candidates - 1]), ([0], [candidates - 1])]

    parameters = {"epsilon": _EPSILON, "sensitivity": SCALE, "candidates": st.integers(2, 20)}
    claim = _claim(REPLACED, served, EPSILON)
    return RELEASE.search(served, pairs, claim, parameters=parameters, **_SEARCH)


CHECKS = [
    noise_search("Laplace", epsilon=_EPSILON, delta=st.floats(0.0, 0.5), sensitivity=SCALE),
    noise_search("LaplaceTruncated", epsilon=_EPSILON, sensitivity=SCALE, **_BOUNDS),
    noise_search("LaplaceFolded", epsilon=_EPSILON, sensitivity=SCALE, **_BOUNDS),
    noise_search("LaplaceBoundedDomain", epsilon=_EPSILON, sensitivity=SCALE, **_BOUNDS),
    noise_search(
        "LaplaceBoundedNoise",
        epsilon=_EPSILON,
        delta=st.floats(0.01, 0.3),
        sensitivity=SCALE,
        tolerance=6.0,
        budget=170_000,
    ),
    noise_search("Gaussian", epsilon=st.floats(0.2, 1.0), delta=_DELTA, sensitivity=SCALE),
    noise_search("GaussianAnalytic", epsilon=_EPSILON, delta=_DELTA, sensitivity=SCALE),
    noise_search("GaussianDiscrete", epsilon=_EPSILON, delta=_DELTA, sensitivity=st.integers(1, 5)),
    noise_search("Geometric", epsilon=_EPSILON, sensitivity=_WHOLE),
    noise_search("GeometricTruncated", epsilon=_EPSILON, sensitivity=_WHOLE, **_WHOLE_BOUNDS),
    noise_search("Snapping", epsilon=_EPSILON, sensitivity=SCALE, **_BOUNDS),
    noise_search("Staircase", epsilon=_EPSILON, sensitivity=SCALE, gamma=st.floats(0.0, 1.0)),
    _label("Binary", ("no", "yes"), epsilon=_EPSILON),
    _label("ExponentialCategorical", ("a", "c"), epsilon=_EPSILON),
    _label("ExponentialHierarchical", ("a", "c"), epsilon=_EPSILON),
    _choice("Exponential"),
    _choice("PermuteAndFlip"),
]
