"""privsyn-core 0.1.1: tables of integers from noisy marginals. The library names no relation; one record is added."""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("privsyn", "privsyn", "privsyn-core 0.1.1", budget=17_000, own_randomness=False)
SAYS = 'PrivSynModel(epsilon, delta), summary: "differentially private discrete tabular synthesis"'
AT = {"delta": 1e-6, "tolerance": 2.5}
_THREE = [([[0, 0, 0]], [[0, 0, 0], [1, 1, 1]])]

ENTRIES = [
    RELEASE.entry("two columns", [([[0, 0]], [[0, 0], [1, 1]])], SAYS, **AT),
    RELEASE.entry("three columns", _THREE, SAYS, **AT),
    RELEASE.entry("chosen marginals", _THREE, SAYS, **AT),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "Large tables, columns of more than two values, and the combination of marginals that needs many columns.",
        "The dependency scores.",
        "`random_state`.",
        "Fits of more than two steps to the noisy marginals: these post-process.",
    ),
)
