"""OpenDP at any parameters: the library chooses its noise for a claim, and the worst setting is searched."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from audit import AddRemove, Local, PrivacyCheck, Substitution
from wild.searched import ANY_PARAMETERS, Release, claimed

_EPSILONS = st.floats(0.2, 1.5)  # an output takes 200 microseconds: beyond, a PASS would need too many
_BOUNDS = {"lower": st.floats(-10.0, 0.0), "upper": st.floats(0.5, 10.0)}
_SETTINGS = {**ANY_PARAMETERS, "budget": 80_000}


def parameter_checks(release: Release) -> list[PrivacyCheck]:
    """Return the searches of a release."""

    def check(served: str, pairs: Any, source: str, relation: Any = None, **parameters: Any) -> PrivacyCheck:
        claim = claimed(release, f"binary_search_param by the map of {source}", relation or AddRemove())
        searched = {"epsilon": _EPSILONS, **parameters}
        return release.search(f"{served} searched", pairs, claim, parameters=searched, **_SETTINGS)

    deltas = st.sampled_from([1e-3, 1e-2, 1e-1])
    points = [([], [[1, -1, -1]]), ([[0, 0, 1]], [[0, 0, 1], [1, 1, -1]])]
    return [
        check("make_laplace", _added, "make_laplace", sensitivity=st.floats(0.1, 10.0)),
        check("make_laplace of integers", _added, "make_laplace", sensitivity=st.integers(1, 10)),
        check("make_gaussian", _added, "make_zCDP_to_approxDP", sensitivity=st.floats(0.1, 10.0), delta=deltas),
        check("sum", _at_bounds, "make_laplace after make_sum", **_BOUNDS),
        check("mean", _replaced, "make_laplace after make_mean", Substitution(), records=st.integers(1, 12), **_BOUNDS),
        check("make_noisy_max", points, "make_noisy_max"),
        check("make_randomized_response", _ends, "make_randomized_response", Local(), categories=st.integers(2, 30)),
    ]


def _added(sensitivity: float, **_: Any) -> list[Any]:
    return [([], [sensitivity])]


def _at_bounds(lower: float, upper: float, **_: Any) -> list[Any]:
    return [([], [upper]), ([lower] * 3, [lower] * 3 + [upper])]


def _replaced(lower: float, upper: float, records: int, **_: Any) -> list[Any]:
    return [([lower] * records, [lower] * (records - 1) + [upper])]


def _ends(categories: int, **_: Any) -> list[Any]:
    return [("0", str(categories - 1))]


CHECKS = parameter_checks(Release("opendp", "opendp", "OpenDP 0.16.0"))
