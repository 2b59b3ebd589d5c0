"""dwork 0.0.13: an expression language over data frames. A dataset is a column of values from 0 to 10."""

from __future__ import annotations

from wild.about import ALL_BITS, About
from wild.entry import Release, notes_of

RELEASE = Release("dwork", "dwork", "dwork 0.0.13")
_SAYS = 'summary: "A Python toolkit for differentially private data science & analytics"; dp(epsilon) of an expression'
_ONE = [([0], [0, 1])]

ENTRIES = [
    RELEASE.entry("laplace_noise", _ONE, "laplace_noise(epsilon), which `Float.dp` multiplies by the sensitivity"),
    RELEASE.entry(
        "geometric_noise", _ONE, "geometric_noise(epsilon), which `Integer.dp` multiplies by the sensitivity"
    ),
    RELEASE.entry("len", _ONE, _SAYS),
    RELEASE.entry("sum of floats", [([0.0], [0.0, 10.0]), ([0.0], [0.0, 1.0])], _SAYS),
    RELEASE.entry(
        "sum of floats",
        [([0.0], [0.0, 10.0])],
        _SAYS,
        bits=True,
        query=sum,
        budget=20_000,
        tolerance=2.0,
        refuted="`dwork/language/types.py: Float.dp` adds -log(1 - u) / epsilon times the sensitivity to the sum, in "
        "doubles: the last bits tell the sum. The documentation has no caveat.",
    ),
    RELEASE.entry(
        "sum of integers",
        [([0, 3], [0, 3, 1])],
        _SAYS,
        refuted="`dwork/language/types.py: Integer.dp` adds `geometric_noise(epsilon) * sensitivity`: a multiple of "
        "the sensitivity, here 10. The sum modulo 10 is released as it is: epsilon is infinite. Geometric noise at "
        "epsilon / sensitivity, without the factor, would do. Laplace noise may be scaled so; `Float.dp` is right.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="kiprotect/dwork",
    access={"*, bits *": ALL_BITS},
    not_audited=(
        "Arithmetic on columns before a sum, filters, and groups.",
        "`exponential_noise`, and one-sided geometric noise (`symmetric=False`), which claim nothing.",
    ),
)
