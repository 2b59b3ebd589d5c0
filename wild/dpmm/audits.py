"""dpmm 0.1.9: generators of tables. The library names no relation; its noise on counts is that of one record more."""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

DELTA = 1e-5  # as in `served.py`
RELEASE = Release("dpmm", "dpmm", "dpmm 0.1.9", budget=17_000)
SAYS = 'README: "end-to-end Differential Privacy guarantees", epsilon=0.9 and proc_epsilon=0.1'
BINS = 'README: "data is discretized with DP (Uniform and PrivTree", epsilon=1'
_TABLE = {"delta": DELTA, "tolerance": 2.5, "budget": 17_000}

ENTRIES = [
    RELEASE.entry("MST", [([[0], [1]], [[0], [1], [1]])], SAYS, **_TABLE),
    RELEASE.entry("PrivTree", [([1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 3.5])], BINS, tolerance=2.5),
    RELEASE.entry("approx_bounds", [([3.0] * 15, [3.0] * 14)], BINS, tolerance=2.5),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    repository="sassoftware/dpmm",
    not_audited=(
        "Pipelines without a domain, for which the library logs `PrivacyLeakage`.",
        "MST on two columns and more, whose choice of marginals takes four seconds a table.",
        "The noise of AIM and PrivBayes.",
        "Generators that were fit to public data first, generation under conditions, and structural zeros.",
        "Dates and time spans, `UniformBinner`, PrivTree without bounds, and the compression of domains on its own.",
        "Fits of more than two steps to the noisy marginals: these post-process.",
    ),
)
