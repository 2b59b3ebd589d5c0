"""NVFlare 2.9.0: the sparse-vector filter on model updates, against the epsilon that its accountant records.

A dataset is an update of four numbers, each of which the filter clips to [-1, 1]. Any two updates are neighbors: the
noise of the filter is for queries that may all change by the whole range.
"""

from __future__ import annotations

from audit import Local
from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("nvflare", "nvflare", "NVFlare 2.9.0", budget=80_000, own_randomness=False)
_SAYS = "SVTPrivacy, `epsilon_total` that the filter records as `svt_privacy_budget`: 1 for selection, 1 for values"
_PAIRS = [([0.0] * 4, [1.0, 0.0, 0.0, 0.0]), ([0.0] * 4, [1.0] * 4), ([1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0])]

ENTRIES = [
    RELEASE.entry("SVTPrivacy", _PAIRS, _SAYS, epsilon=2.0, relation=Local(), tolerance=2.0),
    RELEASE.entry("SVTPrivacy high threshold", _PAIRS, _SAYS, epsilon=2.0, relation=Local(), tolerance=2.0),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="NVIDIA/NVFlare",
    not_audited=(
        "`PercentilePrivacy`, which draws no noise and claims no epsilon.",
        "Scalars, which the filter passes on without noise, as its ledger says.",
        "Homomorphic encryption and the statistics filter, which claim no epsilon.",
        "Several rounds, and updates of more than four numbers.",
    ),
)
