"""dwork 0.0.13: an expression language over data frames. A dataset is a column of values from 0 to 10."""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("dwork", "dwork", "dwork 0.0.13")
SAYS = 'summary: "A Python toolkit for differentially private data science & analytics"; dp(epsilon) of an expression'
_ONE = [([0], [0, 1])]

ENTRIES = [
    RELEASE.entry("laplace_noise", _ONE, "laplace_noise(epsilon), which `Float.dp` multiplies by the sensitivity"),
    RELEASE.entry(
        "geometric_noise", _ONE, "geometric_noise(epsilon), which `Integer.dp` multiplies by the sensitivity"
    ),
    RELEASE.entry("len", _ONE, SAYS),
    RELEASE.entry("sum of floats", [([0.0], [0.0, 10.0]), ([0.0], [0.0, 1.0])], SAYS),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="kiprotect/dwork",
    not_audited=(
        "Arithmetic on columns before a sum, filters, and groups.",
        "`exponential_noise`, and one-sided geometric noise (`symmetric=False`), which claim nothing.",
    ),
)
