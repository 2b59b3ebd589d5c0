"""dp-group-stats 0.1.2: the Laplace mechanism of a pipeline for group statistics. Hours are clipped to [0, 120]."""

from __future__ import annotations

from audit import Substitution
from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("dp_group_stats", "dp-group-stats", "dp-group-stats 0.1.2", own_randomness=False)
SAYS = 'docstring of laplace_noise: "Sample from a Laplace distribution calibrated to (epsilon, sensitivity)"'
EPSILON = 0.8  # of `EpsilonSplit.actual_sum`, by default
_PAIRS = [([40.0, 0.0], [40.0, 500.0]), ([0.0] * 5, [0.0] * 4 + [120.0])]
REPLACED = Substitution()

ENTRIES = [
    RELEASE.entry("sum", _PAIRS, SAYS, epsilon=EPSILON, relation=REPLACED),
    RELEASE.entry("mean", _PAIRS, f"{SAYS}; README: noisy_sum / len(clipped)", epsilon=EPSILON, relation=REPLACED),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "Group sizes: the README divides by the exact size, and rounds the size that it shows; so one record is "
        "replaced here, and not added.",
        "The publication policy.",
        "`InMemoryPrivacyLedger` and `compute_adaptive_epsilon`, which draw no noise.",
    ),
)
