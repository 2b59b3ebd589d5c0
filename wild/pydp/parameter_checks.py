"""PyDP at any parameters: the worst setting is searched, and certified on fresh outputs."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from audit import AddRemove
from wild.entry import Entry, Release
from wild.searched import ANY_PARAMETERS, EPSILONS, claimed

_DELTAS = st.sampled_from([1e-3, 1e-2, 1e-1])
_BOUNDS = {"lower": st.floats(-10.0, 0.0), "upper": st.floats(0.5, 10.0)}
_USERS = range(8)  # in a partition: the probability of keeping it moves from near 0 to near 1


def parameter_entries(release: Release, readme: str, noise: str, partitions: str) -> list[Entry]:
    """Return the searches, given where the claims of algorithms, of noise and of partition selection stand."""

    def entry(served: str, pairs: Any, says: str, **parameters: Any) -> Entry:
        claim = claimed(release, says, AddRemove())
        searched = {"epsilon": EPSILONS, **parameters}
        return release.entry(f"{served} searched", pairs, "", claim=claim, parameters=searched, **ANY_PARAMETERS)

    algorithms = ("BoundedMean", "BoundedSum", "BoundedVariance", "BoundedStandardDeviation")
    strategies = ("truncated_geometric", "laplace partitions", "gaussian partitions")
    of_noise = [
        entry("LaplaceMechanism", _one_added, noise, sensitivity=st.floats(0.1, 10.0)),
        entry("LaplaceMechanism of integers", _one_added, noise, sensitivity=st.integers(1, 10)),
        entry("GaussianMechanism", _one_added, noise, sensitivity=st.floats(0.1, 10.0), delta=_DELTAS),
        entry("GaussianMechanism of integers", _one_added, noise, sensitivity=st.integers(1, 10), delta=_DELTAS),
    ]
    users = [([1] * count, [1] * (count + 1)) for count in _USERS]
    return [
        *(entry(served, _at_bounds, readme, **_BOUNDS) for served in algorithms),
        entry("Count", [([], [1.0]), ([1.0] * 3, [1.0] * 4)], readme),
        *of_noise,
        *(entry(served, users, partitions, delta=_DELTAS, partitions=st.just(1)) for served in strategies),
    ]


def _at_bounds(lower: float, upper: float, **_: Any) -> list[Any]:
    return [([], [upper]), ([lower] * 3, [lower] * 3 + [upper]), ([upper] * 4, [upper] * 4 + [lower])]


def _one_added(sensitivity: float, **_: Any) -> list[Any]:
    return [([], [sensitivity])]
