"""diff-priv-laplace-python 1.0.5: statistics with Laplace noise. One record of a list is replaced."""

from __future__ import annotations

from audit import Substitution
from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("diffpriv_laplace", "diffpriv-laplace", "diff-priv-laplace-python 1.0.5", own_randomness=False)
REPLACED = Substitution()
SAYS = 'docstring of DiffPrivStatistics.{}: "anonymizes the value(s) using the provided privacy budget"'
UNIT = [([0.0, 1.0, 0.0], [0.0, 1.0, 1.0])]
SPREAD = [([0.0, 0.0], [0.0, 1.0])]


ENTRIES = [
    RELEASE.entry(
        "anonymize_sum",
        SPREAD,
        'docstring of DiffPrivLaplaceMechanism.anonymize_sum_with_budget: "for a given privacy budget"',
        relation=REPLACED,
    ),
    RELEASE.entry(
        "anonymize_mean",
        SPREAD,
        'docstring of DiffPrivLaplaceMechanism.anonymize_mean_with_budget: "for a given privacy budget"',
        relation=REPLACED,
    ),
    RELEASE.entry("count", UNIT, SAYS.format("count"), relation=REPLACED),
    RELEASE.entry("proportion", UNIT, SAYS.format("proportion"), relation=REPLACED),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    not_audited=(
        "`min`, whose code is that of `max`, and the functions with `axis`.",
        "`DiffPrivParallelStatisticsQuery`.",
        "The bits of floats: `numpy.random.laplace` around the exact value, in doubles.",
    ),
)
