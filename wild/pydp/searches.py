"""PyDP at any parameters, where its table of answers has no such query: the worst setting is searched."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from audit import AddRemove, PrivacyCheck
from wild.searched import ANY_PARAMETERS, EPSILONS, Release, claimed

_RELEASE = Release("pydp", "pydp", "PyDP 1.1.5")
_NOISE = 'docstring of NumericalMechanism: "(ε, δ)-differenially private additive noise numerical mechanisms"'
_PARTITIONS = 'docstring of PartitionSelectionStrategy: "(ε, δ)-differenially private partition selection strategies"'

_DELTAS = st.sampled_from([1e-3, 1e-2, 1e-1])
_USERS = [([1] * count, [1] * (count + 1)) for count in range(8)]  # kept with a probability from near 0 to near 1


def _search(served: str, pairs: Any, says: str, **parameters: Any) -> PrivacyCheck:
    claim, searched = claimed(_RELEASE, says, AddRemove()), {"epsilon": EPSILONS, **parameters}
    return _RELEASE.search(served, pairs, claim, parameters=searched, **ANY_PARAMETERS)


def _one_added(sensitivity: float, **_: Any) -> list[Any]:
    return [([], [sensitivity])]


CHECKS = [
    _search("LaplaceMechanism of integers", _one_added, _NOISE, sensitivity=st.integers(1, 10)),
    _search("GaussianMechanism of integers", _one_added, _NOISE, sensitivity=st.integers(1, 10), delta=_DELTAS),
    *(
        _search(served, _USERS, _PARTITIONS, delta=_DELTAS, partitions=st.just(1))
        for served in ("truncated_geometric", "laplace partitions", "gaussian partitions")
    ),
]
