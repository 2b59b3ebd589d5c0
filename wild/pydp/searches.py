"""PyDP at any parameters: the worst setting is searched, and certified on fresh outputs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from audit import AddRemove, PrivacyCheck
from wild.searched import ANY_PARAMETERS, EPSILONS, Release, claimed

_RELEASE = Release("pydp", "pydp", "PyDP 1.1.5")
_README = 'README: "a set of ε-differentially private algorithms"'
_NOISE = 'docstring of NumericalMechanism: "(ε, δ)-differenially private additive noise numerical mechanisms"'
_PARTITIONS = 'docstring of PartitionSelectionStrategy: "(ε, δ)-differenially private partition selection strategies"'

_DELTAS = st.sampled_from([1e-3, 1e-2, 1e-1])
_BOUNDS = {"lower": st.floats(-10.0, 0.0), "upper": st.floats(0.5, 10.0)}
_USERS = range(8)  # in a partition: the probability of keeping it moves from near 0 to near 1


def _search(served: str, pairs: Any, says: str, **parameters: Any) -> PrivacyCheck:
    claim, searched = claimed(_RELEASE, says, AddRemove()), {"epsilon": EPSILONS, **parameters}
    return _RELEASE.search(f"{served} searched", pairs, claim, parameters=searched, **ANY_PARAMETERS)


def _searches() -> list[PrivacyCheck]:
    algorithms = ("BoundedMean", "BoundedSum", "BoundedVariance", "BoundedStandardDeviation")
    strategies = ("truncated_geometric", "laplace partitions", "gaussian partitions")
    of_noise = [
        _search("LaplaceMechanism", _one_added, _NOISE, sensitivity=st.floats(0.1, 10.0)),
        _search("LaplaceMechanism of integers", _one_added, _NOISE, sensitivity=st.integers(1, 10)),
        _search("GaussianMechanism", _one_added, _NOISE, sensitivity=st.floats(0.1, 10.0), delta=_DELTAS),
        _search("GaussianMechanism of integers", _one_added, _NOISE, sensitivity=st.integers(1, 10), delta=_DELTAS),
    ]
    users = [([1] * count, [1] * (count + 1)) for count in _USERS]
    return [
        *(_search(served, _at_bounds, _README, **_BOUNDS) for served in algorithms),
        _search("Count", [([], [1.0]), ([1.0] * 3, [1.0] * 4)], _README),
        *of_noise,
        *(_search(served, users, _PARTITIONS, delta=_DELTAS, partitions=st.just(1)) for served in strategies),
    ]


def _at_bounds(lower: float, upper: float, **_: Any) -> list[Any]:
    return [([], [upper]), ([lower] * 3, [lower] * 3 + [upper]), ([upper] * 4, [upper] * 4 + [lower])]


def _one_added(sensitivity: float, **_: Any) -> list[Any]:
    return [([], [sensitivity])]


CHECKS = _searches()
