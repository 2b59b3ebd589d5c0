"""dp-group-stats 0.1.2: the Laplace mechanism of a pipeline for group statistics. Hours are clipped to [0, 120]."""

from __future__ import annotations

from audit import Substitution
from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of

RELEASE = Release("dp_group_stats", "dp-group-stats", "dp-group-stats 0.1.2", own_randomness=False)
_SAYS = 'docstring of laplace_noise: "Sample from a Laplace distribution calibrated to (epsilon, sensitivity)"'
_EPSILON = 0.8  # of `EpsilonSplit.actual_sum`, by default
_PAIRS = [([40.0, 0.0], [40.0, 500.0]), ([0.0] * 5, [0.0] * 4 + [120.0])]
_REPLACED = Substitution()

ENTRIES = [
    RELEASE.entry("sum", _PAIRS, _SAYS, epsilon=_EPSILON, relation=_REPLACED),
    RELEASE.entry("mean", _PAIRS, f"{_SAYS}; README: noisy_sum / len(clipped)", epsilon=_EPSILON, relation=_REPLACED),
    RELEASE.entry(
        "sum",
        [([0.0], [120.0])],
        _SAYS,
        epsilon=_EPSILON,
        relation=_REPLACED,
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
        refuted="`dp_group_stats/mechanisms.py: laplace_noise` is scale * log(1 - 2 |u|) in doubles, and the README "
        "adds it to the sum in doubles: the last bits tell the sum. The documentation has no caveat.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "Group sizes: the README divides by the exact size, and rounds the size that it shows; so one record is "
        "replaced here, and not added.",
        "The publication policy: whether a cell appears depends on the exact size of its group.",
        "`InMemoryPrivacyLedger` and `compute_adaptive_epsilon`, which draw no noise.",
    ),
)
