"""privsyn-core 0.1.1: tables of integers from noisy marginals. The library names no relation; one record is added."""

from __future__ import annotations

from wild.about import About
from wild.entry import Release, notes_of

RELEASE = Release("privsyn", "privsyn", "privsyn-core 0.1.1", budget=17_000, own_randomness=False)
_SAYS = 'PrivSynModel(epsilon, delta), summary: "differentially private discrete tabular synthesis"'
_AT = {"delta": 1e-6, "tolerance": 2.5}
_THREE = [([[0, 0, 0]], [[0, 0, 0], [1, 1, 1]])]

ENTRIES = [
    RELEASE.entry("two columns", [([[0, 0]], [[0, 0], [1, 1]])], _SAYS, **_AT),
    RELEASE.entry("three columns", _THREE, _SAYS, **_AT),
    RELEASE.entry("chosen marginals", _THREE, _SAYS, **_AT),
    RELEASE.entry(
        "no record",
        [([], [[0, 0]])],
        _SAYS,
        **_AT,
        budget=1_000,
        refuted="`privsyn/lib_marginal/marg_select_helper.py: calculate_indif` divides exact counts by their sum, and "
        "`Marginal.calculate_normalize_count` raises ValueError where it is 0. A table without records always raises; "
        "one with a record raises only when its noisy counts are all negative. To mend it, take the frequencies of "
        "an empty table to be equal. The documentation has no caveat.",
    ),
]
CHECKS = [each.check for each in ENTRIES]
NOTES = notes_of(ENTRIES)
ABOUT = About(
    access={
        "*chosen marginals*": "the chosen marginals, `selected_marginals_`",
        "*": "the generated table, or the error",
    },
    not_audited=(
        "Large tables, columns of more than two values, and the combination of marginals that needs many columns.",
        "The dependency scores that the library leaves in a folder of the system's temporary files.",
        "`random_state`: `fit` and `sample` start from the same state of the generator.",
        "Fits of more than two steps to the noisy marginals: these post-process.",
    ),
)
